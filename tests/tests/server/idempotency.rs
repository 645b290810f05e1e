//! The same request twice is one effect, also after a restart, also at the same moment.

use serde_json::json;

use crate::http::send;
use crate::process::Server;

const BODY: &str = r#"{"content": "said once", "kind": "conversation"}"#;

#[test]
fn a_repeated_request_gives_the_first_answer_also_after_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path());
    let key = [("idempotency-key", "k1")];
    let first = server.send("POST", "/v1/memories", &key, BODY);
    assert_eq!(first.status, 201);
    assert!(server.stop().success());
    let server = Server::start(folder.path());
    let second = server.send("POST", "/v1/memories", &key, BODY);
    assert_eq!((second.status, second.json()["id"].clone()), (201, first.json()["id"].clone()));
    let other = server.send("POST", "/v1/memories", &key, r#"{"content": "another"}"#);
    assert_eq!(other.problem(), "409 /errors/idempotency-conflict");
    assert_eq!(server.get("/v1/memories").json()["memories"].as_array().unwrap().len(), 1);
}

#[test]
fn two_at_once_are_one_effect() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path());
    let ids: Vec<String> = std::thread::scope(|scope| {
        let ask = || {
            send(
                &server.address,
                "POST",
                "/v1/memories",
                &[("idempotency-key", "k")],
                BODY.as_bytes(),
            )
        };
        let asked: Vec<_> = (0..8).map(|_| scope.spawn(ask)).collect();
        asked.into_iter().map(|one| one.join().unwrap().json()["id"].to_string()).collect()
    });
    let expected = json!("ms-1").to_string();
    assert!(ids.iter().all(|id| *id == expected), "{ids:?}");
}
