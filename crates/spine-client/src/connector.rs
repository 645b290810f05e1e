//! A connection to a server, with or without TLS.

use std::error::Error;
use std::io;
use std::path::Path;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use http::Uri;
use hyper::rt::{Read, ReadBufCursor, Write};
use hyper_util::client::legacy::connect::{Connected, Connection, HttpConnector};
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName};
use tokio_rustls::rustls::{ClientConfig, RootCertStore};
use tower_service::Service;

use crate::error::ClientError;
use crate::limits::CONNECT_TIME_MAX;

/// Opens connections: plain ones to `http://`, private ones to `https://`.
#[derive(Clone)]
pub struct Connector {
    plain: HttpConnector,
    tls: TlsConnector,
}

impl Connector {
    /// Trusts what browsers trust, and the authorities in a file of PEM where one is named. The list is in the program: the same
    /// on every machine, also where none is installed.
    pub fn new(ca_file: Option<&Path>) -> Result<Self, ClientError> {
        let mut plain = HttpConnector::new();
        plain.set_connect_timeout(Some(CONNECT_TIME_MAX));
        plain.set_nodelay(true);
        plain.enforce_http(false);
        let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .map_err(|error| unusable(error.to_string()))?
            .with_root_certificates(roots(ca_file)?)
            .with_no_client_auth();
        Ok(Self { plain, tls: TlsConnector::from(Arc::new(config)) })
    }
}

fn roots(ca_file: Option<&Path>) -> Result<RootCertStore, ClientError> {
    let mut roots = RootCertStore::from_iter(webpki_roots::TLS_SERVER_ROOTS.iter().cloned());
    let Some(file) = ca_file else { return Ok(roots) };
    let wrong = |why: String| unusable(format!("{}: {why}", file.display()));
    let pem = std::fs::read(file).map_err(|error| wrong(error.to_string()))?;
    let mut found = 0;
    for certificate in CertificateDer::pem_slice_iter(&pem) {
        let certificate = certificate.map_err(|error| wrong(error.to_string()))?;
        roots.add(certificate).map_err(|error| wrong(error.to_string()))?;
        found += 1;
    }
    if found == 0 { Err(wrong("there is no certificate in it".to_owned())) } else { Ok(roots) }
}

fn unusable(problem: String) -> ClientError {
    ClientError::Setting { name: "ca file", problem }
}

type Connecting = Pin<Box<dyn Future<Output = Result<Stream, Failure>> + Send>>;
type Failure = Box<dyn Error + Send + Sync>;

impl Service<Uri> for Connector {
    type Response = Stream;
    type Error = Failure;
    type Future = Connecting;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Failure>> {
        self.plain.poll_ready(context).map_err(Into::into)
    }

    fn call(&mut self, uri: Uri) -> Connecting {
        let private =
            (uri.scheme_str() == Some("https")).then(|| (self.tls.clone(), name_of(&uri)));
        let connecting = self.plain.call(uri);
        Box::pin(async move {
            let stream = connecting.await?.into_inner();
            let Some((tls, name)) = private else { return Ok(Stream::of(stream)) };
            let shaking_hands = tls.connect(name?, stream);
            let private = tokio::time::timeout(CONNECT_TIME_MAX, shaking_hands).await??;
            Ok(Stream::of(private))
        })
    }
}

/// Whom the certificate must be for.
fn name_of(uri: &Uri) -> Result<ServerName<'static>, Failure> {
    let host = uri.host().unwrap_or_default();
    let bare = host.trim_start_matches('[').trim_end_matches(']').to_owned();
    Ok(ServerName::try_from(bare)?)
}

trait Bytes: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> Bytes for T {}

/// One connection.
pub struct Stream(TokioIo<Box<dyn Bytes>>);

impl Stream {
    fn of(stream: impl Bytes + 'static) -> Self {
        Self(TokioIo::new(Box::new(stream)))
    }
}

impl Connection for Stream {
    fn connected(&self) -> Connected {
        Connected::new()
    }
}

impl Read for Stream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_read(context, buffer)
    }
}

impl Write for Stream {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_shutdown(context)
    }
}
