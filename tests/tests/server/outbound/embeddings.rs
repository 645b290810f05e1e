//! Vectors come from an endpoint; a search does not depend on it.

use std::sync::Mutex;
use std::sync::mpsc::channel;

use serde_json::{Value, json};

use super::stand_in::{Asked, Reply, StandIn};
use crate::delivery::client::text;
use crate::process::Server;

fn serve(endpoint: &StandIn, search_s: f32) -> (Server, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let url = endpoint.url("/v1");
    let settings = format!(
        "outbound.allow_private = true\n[embeddings]\nurl = '{url}'\nmodel = 'tiny'\n\
         dimensions = 4\nsearch_s = {search_s}\n"
    );
    std::fs::write(folder.path().join("memory-spine.toml"), settings).unwrap();
    let key = ("MEMORY_SPINE_EMBEDDINGS_API_KEY", "sk-secret");
    (Server::start_with(folder.path(), &[key]), folder)
}

/// Cars lie in one direction, all else in another. Not of length 1: not every model's are.
fn vectors(asked: &Asked) -> Reply {
    let body = asked.json();
    let is_car = |text: &str| ["car", "automobile"].iter().any(|word| text.contains(word));
    let vector = |input: &Value| match is_car(text(input)) {
        true => json!([3.0, 0.1, 0.0, 0.0]),
        false => json!([0.1, 0.0, 0.0, 5.0]),
    };
    let inputs = body["input"].as_array().unwrap().iter().enumerate();
    let data = inputs.map(|(n, input)| json!({"index": n, "embedding": vector(input)}));
    Reply::json("200 OK", json!({"data": data.collect::<Vec<_>>()}))
}

fn store(server: &Server, content: &str) {
    assert_eq!(server.post("/v1/memories", &json!({"content": content})).status, 201);
}

fn search(server: &Server, query: &str) -> Value {
    server.post("/v1/memories/search", &json!({"query": query, "limit": 1})).json()
}

#[test]
fn meaning_is_what_the_endpoint_says() {
    let endpoint = StandIn::start(|asked, _| vectors(asked));
    let (server, _folder) = serve(&endpoint, 30.0);
    for content in ["Bananas are yellow.", "The automobile is red.", "Rain falls in autumn."] {
        store(&server, content);
    }
    let found = search(&server, "car");
    assert_eq!(found["hits"][0]["memory"]["content"], "The automobile is red.", "{found}");
    assert_eq!(found["degraded"], json!([]));
    let asked = endpoint.next();
    assert_eq!(
        (asked.path.as_str(), asked.header("authorization")),
        ("/v1/embeddings", "Bearer sk-secret")
    );
    assert_eq!(asked.json()["model"], "tiny");
}

/// A dead endpoint costs one search its time; those after it are told at once, and words still find.
#[test]
fn a_dead_endpoint_does_not_slow_every_search() {
    let (_never, wait) = channel::<()>();
    let wait = Mutex::new(wait);
    let endpoint = StandIn::start(move |_, _| {
        let _ = wait.lock().unwrap().recv();
        Reply::empty("500 Oh")
    });
    let (server, _folder) = serve(&endpoint, 0.5);
    store(&server, "The automobile is red.");
    let first = search(&server, "automobile");
    assert_eq!(first["hits"][0]["memory"]["id"], "ms-1", "{first}");
    let said = first["degraded"].to_string();
    assert!(said.contains("the endpoint failed and is asked again in"), "{said}");
    assert!(said.contains("1 memories have no vector yet"), "{said}");
    endpoint.rest();
    let second = search(&server, "automobile");
    assert_eq!(second["hits"][0]["memory"]["id"], "ms-1");
    assert!(second["degraded"].to_string().contains("is asked again in"), "{second}");
    assert_eq!(endpoint.rest().len(), 0, "the endpoint was asked while it was to be left alone");
}
