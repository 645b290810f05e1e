//! The server's own code for the Model Context Protocol (routes, keys, hosts, sessions, streams) with the tools,
//! resources and prompts that the official conformance suite asks for in place of the product's.
#![allow(clippy::unwrap_used, reason = "a test's own server")]

mod asking;
mod content;
mod handler;
mod listed;

use std::sync::Arc;

use spine_engine::Entropy;
use spine_server::mcp::Door;
use spine_server::{App, Parts, Server, Settings};
use spine_store::testing::{ManualClock, ModelRetriever, ModelStore};
use spine_store::{Store, UnixMs};

#[tokio::main]
async fn main() {
    let store: Arc<dyn Store> = Arc::new(ModelStore::new(Arc::new(ManualClock::at(UnixMs(0)))));
    let retriever = Arc::new(ModelRetriever::new(store.clone()));
    let entropy = Arc::new(Entropy::from_seed([7; 32]));
    let parts = Parts {
        store,
        retriever,
        entropy,
        notifier: None,
        pusher: None,
        traces: None,
        clock: None,
    };
    let listen = "127.0.0.1:0".parse().unwrap();
    let mut app = App::open(parts, Settings { listen, ..Settings::default() }).await.unwrap();
    let fixtures = handler::Fixtures::default();
    app.mcp = Door::to(move || fixtures.clone());
    let server = Server::bind(Arc::new(app)).await.unwrap();
    println!("ready http://{}", server.address());
    server.run(std::future::pending()).await;
}
