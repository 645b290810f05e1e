//! TLS by certificate files.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::ring;

use crate::settings::TlsFiles;

/// Why certificate and key cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("{}: {problem}", file.display())]
pub struct TlsError {
    file: PathBuf,
    problem: String,
}

impl TlsError {
    fn new(file: &Path, problem: impl ToString) -> Self {
        Self { file: file.to_owned(), problem: problem.to_string() }
    }
}

/// Reads both files.
pub fn acceptor(files: &TlsFiles) -> Result<TlsAcceptor, TlsError> {
    let TlsFiles { certificate, key } = files;
    let chain: Vec<CertificateDer<'static>> = CertificateDer::pem_file_iter(certificate)
        .and_then(Iterator::collect)
        .map_err(|error| TlsError::new(certificate, error))?;
    if chain.is_empty() {
        return Err(TlsError::new(certificate, "there is no certificate in this file"));
    }
    let private = PrivateKeyDer::from_pem_file(key).map_err(|error| TlsError::new(key, error))?;
    let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|error| TlsError::new(certificate, error))?
        .with_no_client_auth()
        .with_single_cert(chain, private);
    let mut config = config.map_err(|error| TlsError::new(key, error))?;
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(TlsAcceptor::from(Arc::new(config)))
}

/// Whether certificate and key can be used.
pub fn check_tls(files: &TlsFiles) -> Result<(), TlsError> {
    acceptor(files).map(drop)
}
