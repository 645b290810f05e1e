//! A server with TLS, reached by `https://`: only whom its authority vouches for is believed.

use std::path::Path;

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use serde_json::{Value, json};

use crate::program::{House, program, ran};

/// An authority, and a certificate of it for these names; written down in a folder.
fn write_certificates(folder: &Path, names: &[&str]) {
    let mut authority = CertificateParams::new(Vec::new()).unwrap();
    authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let authority = CertifiedIssuer::self_signed(authority, KeyPair::generate().unwrap()).unwrap();
    let names: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
    let key = KeyPair::generate().unwrap();
    let params = CertificateParams::new(names).unwrap();
    let certificate = params.signed_by(&key, &authority).unwrap();
    for (name, pem) in [
        ("ca.pem", authority.pem()),
        ("server.pem", certificate.pem()),
        ("server.key", key.serialize_pem()),
    ] {
        std::fs::write(folder.join(name), pem).unwrap();
    }
}

fn house(names: &[&str]) -> House {
    House::open_with(|folder| {
        write_certificates(folder, names);
        let settings = "[tls]\ncertificate = 'server.pem'\nkey = 'server.key'\n";
        std::fs::write(folder.join("memory-spine.toml"), settings).unwrap();
    })
}

#[test]
fn a_server_with_a_trusted_certificate_is_spoken_to() {
    let house = house(&["localhost", "127.0.0.1"]);
    let stored = house.run(&["store", "--ca-file", "ca.pem", "over TLS"]);
    assert_eq!((stored.code, stored.err.as_str()), (0, ""), "{}", stored.out);
    let mut by_variable = program();
    by_variable
        .args(["search", "TLS", "--endpoint"])
        .arg(house.endpoint.replace("127.0.0.1", "localhost"))
        .env("MEMORY_SPINE_CA_FILE", house.folder.path().join("ca.pem"));
    let found = ran(&mut by_variable, "");
    assert!(found.code == 0 && found.out.contains("over TLS"), "{}{}", found.out, found.err);
}

/// A host's end of the Model Context Protocol goes the same way.
#[test]
fn a_host_speaks_to_it_through_the_program() {
    let house = house(&["127.0.0.1"]);
    let hello = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}});
    let lines = [
        json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello}),
        json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
        json!({"jsonrpc": "2.0", "id": 2, "method": "tools/list"}),
    ];
    let lines: String = lines.iter().map(|line| format!("{line}\n")).collect();
    let said = |more: &[&str]| {
        let mut host = program();
        host.args(["mcp", "--agent", "coder", "--endpoint", &house.endpoint]).args(more);
        ran(host.current_dir(house.folder.path()), &lines)
    };
    let trusted = said(&["--ca-file", "ca.pem"]);
    let answers: Vec<Value> =
        trusted.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(answers.len(), 2, "{}{}", trusted.out, trusted.err);
    assert_eq!(answers[0]["result"]["serverInfo"]["name"], "memory-spine");
    let tools = answers[1]["result"]["tools"].as_array().unwrap();
    assert!(tools.iter().any(|tool| tool["name"] == "handoff_send"), "{}", trusted.out);
    let untrusted = said(&[]);
    let (out, err) = (&untrusted.out, &untrusted.err);
    assert!(format!("{out}{err}").contains("UnknownIssuer"), "{out}{err}");
}

#[test]
fn a_server_that_nobody_vouches_for_is_not_believed() {
    let house = house(&["127.0.0.1"]);
    let unknown = house.run(&["search", "anything"]);
    assert_eq!(unknown.code, 5, "{}", unknown.err);
    assert!(unknown.err.contains("invalid peer certificate: UnknownIssuer"), "{}", unknown.err);
    let other = house.endpoint.replace("127.0.0.1", "localhost");
    let another_name =
        house.run(&["search", "anything", "--ca-file", "ca.pem", "--endpoint", &other]);
    assert_eq!(another_name.code, 5, "{}", another_name.err);
    assert!(another_name.err.contains("invalid peer certificate"), "{}", another_name.err);
}

#[test]
fn a_file_without_authorities_is_named() {
    let house = House::open();
    std::fs::write(house.folder.path().join("empty.pem"), "").unwrap();
    for (file, why) in
        [("empty.pem", "there is no certificate in it"), ("none.pem", "No such file")]
    {
        let refused = house.run(&["search", "anything", "--ca-file", file]);
        assert!(refused.err.contains(&format!("ca file: {file}: {why}")), "{}", refused.err);
    }
}
