//! Servers start when they are needed, one for a folder, and end when nobody needs them.

use std::net::TcpListener;
use std::process::Stdio;
use std::time::{Duration, Instant};

use serde_json::json;

use crate::folder::{Folder, eventually, is_running};
use crate::host::{Host, STATELESS, WITH_SESSION};

#[test]
fn many_hosts_at_once_share_one_server() {
    let folder = Folder::new();
    let mut hosts: Vec<Host> =
        (0..6).map(|n| Host::silent(&folder, &format!("agent-{n}"), STATELESS)).collect();
    let asked: Vec<u64> = hosts.iter_mut().map(|host| host.send("tools/list", json!({}))).collect();
    for (host, id) in hosts.iter_mut().zip(asked) {
        let answer = host.answer(id);
        assert!(answer["result"]["tools"].is_array(), "{answer}");
    }
    assert_eq!(folder.starts(), 1);
}

#[test]
fn the_server_outlives_whoever_started_it_and_ends_when_nobody_is_there() {
    let folder = Folder::with_idle_s(2);
    let first = Host::start(&folder, "first");
    let (pid, address) = (folder.server_pid(), folder.address());
    let mut second = Host::start_as(&folder, "second", STATELESS);
    second.ask("tools/list", json!({}));
    first.kill();
    // Longer than the idle time: the second is silent, and there all the same.
    let quiet = Instant::now();
    eventually("time passes", || quiet.elapsed() > Duration::from_secs(5));
    assert_eq!(folder.address(), address);
    assert!(is_running(pid));
    second.close();
    eventually("the server ends", || !is_running(pid));
    assert_eq!(folder.address(), None);
    let mut third = Host::start(&folder, "third");
    third.ask("tools/list", json!({}));
    assert_eq!(folder.starts(), 2);
}

/// Nobody answers there, somebody else does, or there is only noise.
#[test]
fn an_address_that_was_left_behind_is_not_believed() {
    let nobody = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let elsewhere = Folder::new();
    let _other = Host::start(&elsewhere, "other");
    let other = elsewhere.address().unwrap();
    let stale = [
        json!({"url": format!("http://{nobody}"), "pid": 1, "instance": "x", "idle_exit_s": null})
            .to_string(),
        json!({"url": other["url"], "pid": other["pid"], "instance": "x", "idle_exit_s": null})
            .to_string(),
        "{".to_owned(),
        String::new(),
    ];
    for (nth, left) in stale.iter().enumerate() {
        let folder = Folder::new();
        std::fs::write(folder.data().join("server.json"), left).unwrap();
        let mut host = Host::start(&folder, "coder");
        host.call("memory_store", json!({"content": format!("number {nth}")}));
        let found = folder.address().unwrap();
        assert!(found["instance"] != "x" && found["instance"] != other["instance"], "{found}");
    }
}

#[test]
fn a_server_that_was_started_by_hand_is_used_and_not_started_twice() {
    let folder = Folder::new();
    let mut command = folder.program(&["serve", "--listen", "127.0.0.1:0"]);
    let mut server = command.stdout(Stdio::null()).spawn().unwrap();
    eventually("the server leaves its address", || folder.address().is_some());
    for version in [WITH_SESSION, STATELESS] {
        Host::start_as(&folder, "coder", version).call("memory_search", json!({}));
    }
    assert_eq!(folder.server_pid(), server.id());
    assert!(!folder.data().join("server.log").exists());
    let stopped = std::process::Command::new("kill").arg(server.id().to_string()).status().unwrap();
    assert!(stopped.success() && server.wait().unwrap().success());
    assert_eq!(folder.address(), None);
}

#[test]
fn a_folder_that_cannot_be_served_is_named() {
    let folder = Folder::new();
    std::fs::write(
        folder.data().join("spine.db"),
        "this is no database, however long one looks at it",
    )
    .unwrap();
    let mut host = Host::silent(&folder, "coder", STATELESS);
    let answer = host.ask("tools/list", json!({}));
    assert_eq!(answer["error"]["code"], -32010, "{answer}");
    let said = answer["error"]["message"].as_str().unwrap();
    assert!(said.contains("did not start") && said.contains("server.log"), "{said}");
}
