//! Certificates: who is believed.

use std::sync::Arc;

use rcgen::{CertificateParams, CertifiedIssuer, KeyPair};
use spine_outbound::OutboundErrorKind::{self, BadInput, TlsFailed};
use spine_outbound::{Outbound, OutboundOptions};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};

use crate::stand_in::{StandIn, answer, local, outbound, post};

/// An authority, and a server that shows a certificate of it for these names.
async fn server(names: &[&str], expired: bool) -> (String, StandIn) {
    let mut authority = CertificateParams::new(Vec::new()).unwrap();
    authority.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
    let authority = CertifiedIssuer::self_signed(authority, KeyPair::generate().unwrap()).unwrap();
    let names: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
    let mut params = CertificateParams::new(names).unwrap();
    if expired {
        params.not_after = rcgen::date_time_ymd(2001, 1, 1);
    }
    let key = KeyPair::generate().unwrap();
    let certificate = params.signed_by(&key, &authority).unwrap();
    let acceptor = acceptor(certificate.der().clone(), &key);
    let stand_in = StandIn::listen(Some(acceptor), |_, _| answer("200 OK", &[], "")).await;
    (authority.pem(), stand_in)
}

fn acceptor(certificate: CertificateDer<'static>, key: &KeyPair) -> TlsAcceptor {
    let key = PrivateKeyDer::try_from(key.serialize_der()).unwrap();
    let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate], key)
        .unwrap();
    TlsAcceptor::from(Arc::new(config))
}

fn trusting(pem: &str) -> Outbound {
    outbound(OutboundOptions { extra_roots_pem: pem.as_bytes().to_vec(), ..local() })
}

async fn check(
    host: &str,
    outbound: &Outbound,
    server: &StandIn,
    wanted: Result<u16, OutboundErrorKind>,
) {
    let url = format!("https://{host}:{}/", server.port);
    assert_eq!(post(outbound, &url).await, wanted, "{url}");
    let reached = if wanted.is_ok() { 1 } else { 0 };
    assert_eq!(server.asked().len(), reached, "requests that {url} has seen");
}

#[tokio::test]
async fn a_certificate_of_a_trusted_authority_is_believed() {
    let (pem, server) = server(&["localhost"], false).await;
    check("localhost", &trusting(&pem), &server, Ok(200)).await;
    let (pem, server) = self::server(&["127.0.0.1"], false).await;
    check("127.0.0.1", &trusting(&pem), &server, Ok(200)).await;
}

#[tokio::test]
async fn a_certificate_of_nobody_is_not() {
    let (_, server) = server(&["localhost"], false).await;
    check("localhost", &outbound(local()), &server, Err(TlsFailed)).await;
    let (other_pem, _) = self::server(&["localhost"], false).await;
    check("localhost", &trusting(&other_pem), &server, Err(TlsFailed)).await;
}

#[tokio::test]
async fn a_certificate_of_another_name_is_not() {
    let (pem, server) = server(&["agents.example"], false).await;
    check("localhost", &trusting(&pem), &server, Err(TlsFailed)).await;
    check("127.0.0.1", &trusting(&pem), &server, Err(TlsFailed)).await;
}

#[tokio::test]
async fn an_expired_certificate_is_not() {
    let (pem, server) = server(&["localhost"], true).await;
    check("localhost", &trusting(&pem), &server, Err(TlsFailed)).await;
}

#[tokio::test]
async fn a_server_without_tls_is_not() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("https://{}/", listener.local_addr().unwrap());
    tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let plain = b"HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n";
        tokio::io::AsyncWriteExt::write_all(&mut stream, plain).await.unwrap();
        std::future::pending::<()>().await;
    });
    assert_eq!(post(&outbound(local()), &url).await, Err(TlsFailed));
}

#[test]
fn roots_that_cannot_be_read_are_refused() {
    let pem = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
    let options = OutboundOptions { extra_roots_pem: pem.into(), ..local() };
    assert_eq!(Outbound::new(options).err().map(|error| error.kind()), Some(BadInput));
    let options = OutboundOptions { extra_roots_pem: b"/etc/ca.pem".to_vec(), ..local() };
    assert_eq!(Outbound::new(options).err().map(|error| error.kind()), Some(BadInput));
}
