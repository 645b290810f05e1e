//! Receivers and the server are killed at random, again and again: no handoff is lost, every one is done, and whoever got one
//! twice got it under the same id.

use std::collections::{HashMap, HashSet};
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use fastrand::Rng;
use serde_json::{Value, json};

use crate::http::try_post;
use crate::process::Server;

const AGENTS: usize = 10;
const BATCH: usize = 50;

/// A receiver's process, and what it says.
struct Agent {
    name: String,
    process: Child,
}

impl Agent {
    fn start(address: &str, number: usize, rng: &mut Rng, heard: &Sender<String>) -> Self {
        let name = format!("agent-{number}");
        let mut process = Command::new(env!("CARGO_BIN_EXE_receiver"))
            .args([address, &name, &rng.u64(..).to_string()])
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let (out, heard) = (process.stdout.take().unwrap(), heard.clone());
        std::thread::spawn(move || {
            for line in BufReader::new(out).lines().map_while(Result::ok) {
                let _ = heard.send(line);
            }
        });
        Self { name, process }
    }
}

impl Drop for Agent {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Sends until the server has answered: with the same key, it is one handoff however often it is sent.
fn send_all(address: &str, handoffs: usize) -> Vec<String> {
    let policy =
        json!({"attempts": 100, "lease_s": 1, "backoff_first_s": 0.01, "backoff_max_s": 0.05});
    let mut sent = Vec::new();
    for batch in 0..handoffs / BATCH {
        let one = |n: usize| {
            let agent = format!("agent-{}", n % AGENTS);
            json!({"target_agent": agent, "task_summary": format!("Part {batch}.{n}."),
                   "include_recent": 0, "send": {"policy": policy}})
        };
        let body = json!({"handoffs": (0..BATCH).map(one).collect::<Vec<_>>()});
        let answer = try_post(address, "/v1/handoffs", "sender", &body).unwrap().json();
        for one in answer["handoffs"].as_array().unwrap() {
            sent.push(one["delivery"]["id"].as_str().unwrap_or_else(|| panic!("{one}")).to_owned());
        }
    }
    sent
}

#[test]
fn killed_receivers_and_a_killed_server_lose_nothing() {
    let soak = std::env::var_os("SPINE_SOAK").is_some();
    let (handoffs, server_kills) = if soak { (1_000, 30) } else { (200, 3) };
    let seed = std::env::var("SPINE_SEED").ok().and_then(|seed| seed.parse().ok());
    let seed = seed.unwrap_or_else(|| fastrand::u64(..));
    println!("SPINE_SEED={seed}");
    let rng = &mut Rng::with_seed(seed);
    let folder = tempfile::tempdir().unwrap();
    let mut server = Server::start(folder.path());
    let address = server.address.clone();
    let sent: HashSet<String> = send_all(&address, handoffs).into_iter().collect();
    assert_eq!(sent.len(), handoffs);
    let (said, heard) = channel();
    let mut agents: Vec<Agent> =
        (0..AGENTS).map(|number| Agent::start(&address, number, rng, &said)).collect();
    let mut story = Story::default();
    let mut killed = 0;
    while story.done.len() < handoffs {
        story.listen(&heard);
        let number = rng.usize(..AGENTS);
        agents[number] = Agent::start(&address, number, rng, &said);
        let share = story.done.len() * (server_kills + 1) / handoffs;
        if killed < server_kills && share > killed {
            server.kill();
            server = Server::start_at(folder.path(), &address, &[]);
            killed += 1;
        }
        story.add_done_in_store(&server);
    }
    println!("{} got for {handoffs} sent, {killed} times the server was killed", story.gots);
    assert!(killed > 0, "the server was never killed");
    assert!(story.got.keys().all(|id| sent.contains(id)), "a delivery that nobody sent");
    for id in &sent {
        let found = server.get(&format!("/v1/deliveries/{id}")).json();
        assert_eq!((&found["state"], &found["result"]["of"]), (&json!("done"), &json!(id)));
    }
    let names: HashSet<&String> = agents.iter().map(|agent| &agent.name).collect();
    assert_eq!(names.len(), AGENTS);
}

/// What was heard so far.
#[derive(Default)]
struct Story {
    got: HashMap<String, usize>,
    gots: usize,
    done: HashSet<String>,
}

impl Story {
    /// Waits for some news, then takes what there is.
    fn listen(&mut self, heard: &Receiver<String>) {
        let first = heard.recv_timeout(Duration::from_secs(30)).ok();
        for line in first.into_iter().chain(heard.try_iter().take(20)) {
            match line.split_once(' ') {
                Some(("got", id)) => {
                    self.gots += 1;
                    *self.got.entry(id.to_owned()).or_default() += 1;
                }
                Some(("done", id)) => {
                    self.done.insert(id.to_owned());
                }
                _ => {}
            }
        }
    }

    /// A receiver that was killed between the server's answer and its own word has still done it.
    fn add_done_in_store(&mut self, server: &Server) {
        let mut cursor = String::new();
        loop {
            let page = server.get(&format!("/v1/deliveries?state=done&limit=500{cursor}")).json();
            let ids = page["deliveries"].as_array().into_iter().flatten();
            self.done.extend(ids.filter_map(|one| one["id"].as_str().map(str::to_owned)));
            match &page["next_cursor"] {
                Value::String(next) => cursor = format!("&cursor={next}"),
                _ => return,
            }
        }
    }
}
