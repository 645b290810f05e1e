//! Forgetting, for good.

use std::fs;

use serde_json::json;

use crate::process::{Server, program};

/// A backup from before an erasure was put back, and everything that a person had asked to be forgotten was there again.
#[test]
fn a_restored_backup_does_not_bring_back_what_was_erased() {
    let (folder, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let server = Server::start(folder.path());
    let about = json!({"content": "Ada lives in Zagreb.", "subject": "ada", "pinned": true});
    let secret = server.post("/v1/memories", &about).json()["id"].as_str().unwrap().to_owned();
    let other = server.post("/v1/memories", &json!({"content": "Invoices are due on Mondays."}));
    let other = other.json()["id"].as_str().unwrap().to_owned();
    let handoff = json!({"target_agent": "clerk", "task_summary": "Write to Ada.",
        "intent": "Write to Ada.", "subject": "ada"});
    let agent = [("memory-spine-agent", "desk")];
    let sent = server.send("POST", "/v1/handoffs", &agent, &handoff.to_string()).json();
    let envelope = sent["handoff"]["id"].as_str().unwrap().to_owned();
    let copy = elsewhere.path().join("copy.db");
    let made = program(folder.path(), &["backup", copy.to_str().unwrap()]).output().unwrap();
    assert!(made.status.success(), "{made:?}");
    let erased =
        server.post("/v1/erasures", &json!({"subject": "ada", "reason": "she asked for it"}));
    assert_eq!(erased.json()["memories"], 1, "{:?}", erased.json());
    assert!(server.stop().success());

    put_back(folder.path(), &copy);
    let server = Server::start(folder.path());
    assert_eq!(server.get(&format!("/v1/memories/{secret}")).problem(), "410 /errors/gone");
    assert_eq!(server.get(&format!("/v1/memories/{other}")).status, 200);
    let envelope = server.get(&format!("/v1/envelopes/{envelope}"));
    assert!(!String::from_utf8_lossy(&envelope.body).contains("Zagreb"));
    let erasures = server.get("/v1/erasures").json();
    assert_eq!(erasures["erasures"].as_array().unwrap().len(), 1, "{erasures}");
    // A second start finds it done.
    assert!(server.stop().success());
    let server = Server::start(folder.path());
    assert_eq!(server.get("/v1/erasures").json(), erasures);
}

fn put_back(data: &std::path::Path, copy: &std::path::Path) {
    for file in ["spine.db-wal", "spine.db-shm"] {
        // A clean stop leaves neither.
        let _ = fs::remove_file(data.join(file));
    }
    fs::remove_dir_all(data.join("index")).unwrap();
    fs::copy(copy, data.join("spine.db")).unwrap();
}
