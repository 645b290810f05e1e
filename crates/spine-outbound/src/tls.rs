//! Who is trusted, and the handshake.

use std::sync::Arc;

use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName};
use tokio_rustls::rustls::{self, ClientConfig, RootCertStore};

use crate::error::{OutboundError, OutboundErrorKind};
use crate::target::{Host, Target};

/// Trusts what browsers trust, and the authorities in the given PEM. The list is in the program:
/// the same on every machine, also where none is installed.
pub(crate) fn connector(extra_roots_pem: &[u8]) -> Result<TlsConnector, OutboundError> {
    let mut roots = RootCertStore::from_iter(webpki_roots::TLS_SERVER_ROOTS.iter().cloned());
    for certificate in certificates(extra_roots_pem)? {
        roots.add(certificate).map_err(|error| bad_root(&error.to_string()))?;
    }
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|error| bad_root(&error.to_string()))?
        .with_root_certificates(roots)
        .with_no_client_auth();
    Ok(TlsConnector::from(Arc::new(config)))
}

fn certificates(pem: &[u8]) -> Result<Vec<CertificateDer<'static>>, OutboundError> {
    let found: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(pem).collect();
    let found = found.map_err(|error| bad_root(&error.to_string()))?;
    // Most likely the name of a file where its content should be.
    if found.is_empty() && !pem.is_empty() { Err(bad_root("no certificate")) } else { Ok(found) }
}

fn bad_root(why: &str) -> OutboundError {
    OutboundError::bad_input(format!("extra TLS roots: {why}"))
}

/// Makes a connection private, and sure of who is at its other end.
pub(crate) async fn handshake(
    connector: &TlsConnector,
    target: &Target,
    stream: TcpStream,
) -> Result<TlsStream<TcpStream>, OutboundError> {
    let name = server_name(target)?;
    connector.connect(name, stream).await.map_err(|error| {
        let refused = error.get_ref().is_some_and(|inner| inner.is::<rustls::Error>());
        let kind = match refused {
            true => OutboundErrorKind::TlsFailed,
            false => OutboundErrorKind::CannotConnect,
        };
        OutboundError::new(kind, format!("{target}: TLS handshake: {error}"))
    })
}

fn server_name(target: &Target) -> Result<ServerName<'static>, OutboundError> {
    match &target.host {
        Host::Address(address) => Ok(ServerName::from(*address)),
        Host::Name(name) => ServerName::try_from(name.clone()).map_err(|_| {
            let detail = format!("{target}: no certificate can have this name");
            OutboundError::new(OutboundErrorKind::BadUrl, detail)
        }),
    }
}
