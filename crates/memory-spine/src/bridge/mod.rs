//! A host's end of MCP: lines of JSON on standard input and output, carried to the `/mcp` of a server and back. It
//! knows the messages' envelopes and nothing of what is in them; every tool, resource and prompt is the server's.

mod events;
mod fault;
mod flight;
mod lines;
mod link;
mod message;
mod wire;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use data_encoding::HEXLOWER;
use serde_json::{Value, json};
use spine_client::{Client, ClientOptions};
use tokio::signal::unix::{SignalKind, signal};

use crate::limits::{
    GOODBYE_TIME_MAX, LISTEN_PAUSE, PROBE_TIME_MAX, SIGNS_PER_IDLE_TIME, TRIES_MAX,
};
use fault::Fault;
use flight::{CallOff, Flight};
use lines::{Line, Outgoing};
use link::{Link, Links};
use message::{Kind, Message};
use wire::{Answer, Lost};

pub use link::Where;
pub use wire::Wire;

/// One host, from its first line to its last.
struct Bridge {
    links: Links,
    flight: Flight,
    keys: Keys,
    out: Outgoing,
}

/// A key for each call, so that one that is sent again has one effect.
struct Keys {
    bridge: String,
    next: AtomicU64,
}

impl Keys {
    fn new() -> std::io::Result<Self> {
        let mut bytes = [0; 16];
        getrandom::fill(&mut bytes).map_err(std::io::Error::other)?;
        Ok(Self { bridge: HEXLOWER.encode(&bytes), next: AtomicU64::new(1) })
    }

    fn next(&self) -> String {
        format!("mcp-{}-{}", self.bridge, self.next.fetch_add(1, Ordering::Relaxed))
    }
}

/// Carries messages until the host has gone.
pub async fn run(place: Where, wire: Wire) -> std::io::Result<()> {
    let (out, written) = Outgoing::open();
    let links = Links::new(place, wire);
    let bridge = Arc::new(Bridge { links, flight: Flight::new(), keys: Keys::new()?, out });
    let helpers = [tokio::spawn(bridge.clone().listen()), tokio::spawn(bridge.clone().show_life())];
    let (mut terminate, mut interrupt) =
        (signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?);
    tokio::pin!(written);
    let is_heard = tokio::select! {
        () = bridge.clone().take_all() => {
            bridge.let_land().await;
            true
        }
        _ = &mut written => false,
        _ = terminate.recv() => true,
        _ = interrupt.recv() => true,
    };
    bridge.call_all_off().await;
    let _ = tokio::time::timeout(GOODBYE_TIME_MAX, bridge.links.leave()).await;
    helpers.iter().for_each(tokio::task::JoinHandle::abort);
    drop((helpers, bridge));
    if is_heard {
        // What was said last is still being written.
        let _ = tokio::time::timeout(GOODBYE_TIME_MAX, written).await;
    }
    Ok(())
}

impl Bridge {
    async fn take_all(self: Arc<Self>) {
        let mut lines = lines::incoming();
        while let Some(line) = lines.recv().await {
            let message = match line {
                Line::Whole(line) => Message::read(line),
                Line::TooLong => Err(Fault::too_long()),
            };
            match message {
                Ok(message) => self.take(message).await,
                Err(fault) => self.out.say(fault.text().as_bytes()).await,
            }
        }
    }

    /// Requests are carried side by side; what must come before them is carried before anything else is read.
    async fn take(self: &Arc<Self>, message: Message) {
        match message.kind.clone() {
            Kind::Request(id) if message.is_greeting() => self.greet(id, message).await,
            Kind::Request(id) if self.flight.has_room() => self.begin(id, message),
            Kind::Request(id) => self.fail(Fault::too_many(), id).await,
            Kind::Notification | Kind::Response => self.pass_on(message).await,
        }
    }

    async fn fail(&self, fault: Fault, id: Value) {
        self.out.say(fault.to(id).text().as_bytes()).await;
    }

    fn begin(self: &Arc<Self>, id: Value, mut message: Message) {
        message.key = message.is_call().then(|| self.keys.next());
        let (bridge, is_stateless) = (self.clone(), message.version.is_some());
        let (begun, go) = tokio::sync::oneshot::channel::<()>();
        let named = id.clone();
        let task = tokio::spawn(async move {
            // It is in the list before it can leave it.
            let _ = go.await;
            if let Err(fault) = bridge.carry(&id, &message).await {
                bridge.fail(fault, id.clone()).await;
            }
            bridge.flight.end(&id);
        });
        self.flight.begin(&named, is_stateless, task.abort_handle());
        let _ = begun.send(());
    }

    async fn greet(&self, id: Value, message: Message) {
        let mut why = String::new();
        for _ in 0..TRIES_MAX {
            match self.links.greet(&message).await {
                Ok(answer) => return self.out.say(&answer).await,
                Err(Lost::Refused(fault)) => return self.fail(fault, id).await,
                Err(lost) => why = lost.after_all_tries(),
            }
        }
        self.fail(Fault::unreachable(&why), id).await;
    }

    /// Carries a request and its answer, again where that does no harm.
    async fn carry(&self, id: &Value, message: &Message) -> Result<(), Fault> {
        let mut why = String::new();
        for _ in 0..TRIES_MAX {
            let link = match self.links.current().await {
                Ok(link) => link,
                Err(Lost::Refused(fault)) => return Err(fault),
                Err(lost) => {
                    why = lost.after_all_tries();
                    continue;
                }
            };
            match self.exchange(&link, id, message).await {
                Ok(()) => return Ok(()),
                Err(Lost::Refused(fault)) => return Err(fault),
                Err(Lost::Cut) if message.takes_work() => {
                    self.links.lost(link.number).await;
                    return Err(Fault::outcome_unknown());
                }
                Err(lost) => {
                    why = lost.after_all_tries();
                    self.links.lost(link.number).await;
                }
            }
        }
        Err(Fault::unreachable(&why))
    }

    /// Done with the message that answers the request.
    async fn exchange(&self, link: &Link, id: &Value, message: &Message) -> Result<(), Lost> {
        let mut answer = self.links.post(link, message).await?;
        while let Some(text) = answer.next().await? {
            let value: Value = serde_json::from_slice(&text).map_err(|_| Lost::Cut)?;
            self.out.say(&text).await;
            if value.get("id") == Some(id) && value.get("method").is_none() {
                return Ok(());
            }
        }
        Err(Lost::Cut)
    }

    async fn pass_on(&self, message: Message) {
        if let Some(id) = &message.cancels {
            match self.flight.call_off(id) {
                CallOff::ToBeSaid => {}
                CallOff::Said | CallOff::Unknown => return,
            }
        }
        // Nobody waits for an answer. A server that is not there has nothing to be told.
        for _ in 0..TRIES_MAX {
            let Ok(link) = self.links.current().await else { return };
            match self.links.post(&link, &message).await {
                Ok(_) | Err(Lost::Refused(_)) => return,
                Err(_) => self.links.lost(link.number).await,
            }
        }
    }

    /// What the server says by itself, on every link that has a session.
    async fn listen(self: Arc<Self>) {
        let mut links = self.links.follow();
        while links.changed().await.is_ok() {
            let Some(link) = links.borrow_and_update().clone() else { continue };
            tokio::select! {
                () = self.listen_on(&link) => {}
                _ = links.changed() => links.mark_changed(),
            }
        }
    }

    async fn listen_on(&self, link: &Link) {
        let mut after = None;
        while let Some(mut answer) = self.links.listen(link, after.as_deref()).await {
            self.hear_out(&mut answer).await;
            after = answer.last_event.or(after);
            tokio::time::sleep(LISTEN_PAUSE).await;
        }
    }

    async fn hear_out(&self, answer: &mut Answer) {
        while let Ok(Some(text)) = answer.next().await {
            self.out.say(&text).await;
        }
    }

    /// A background server ends when nobody is there: now and then it is told that somebody is.
    async fn show_life(self: Arc<Self>) {
        let mut links = self.links.follow();
        while links.changed().await.is_ok() {
            let Some(link) = links.borrow_and_update().clone() else { continue };
            let Some(seconds) = link.idle_exit_s else { continue };
            tokio::select! {
                () = show_life_to(&link.url, Duration::from_secs(seconds) / SIGNS_PER_IDLE_TIME) => {}
                _ = links.changed() => links.mark_changed(),
            }
        }
    }

    /// The host has closed its end: what is nearly answered is answered.
    async fn let_land(&self) {
        let _ = tokio::time::timeout(GOODBYE_TIME_MAX, self.flight.landed()).await;
    }

    async fn call_all_off(&self) {
        for id in self.flight.ids() {
            if self.flight.call_off(&id) == CallOff::ToBeSaid {
                let said = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id, "reason": "the host has gone"}});
                let Ok(message) = Message::read(said.to_string().into_bytes()) else { continue };
                let Some(link) = self.links.known().await else { return };
                let telling = self.links.post(&link, &message);
                let _ = tokio::time::timeout(GOODBYE_TIME_MAX, telling).await;
            }
        }
    }
}

async fn show_life_to(url: &str, pause: Duration) {
    let options = ClientOptions {
        endpoint: url.to_owned(),
        timeout: PROBE_TIME_MAX,
        ..ClientOptions::default()
    };
    let Ok(client) = Client::new(options) else { return };
    loop {
        tokio::time::sleep(pause).await;
        // One that has gone is found anew when it is needed, not before.
        let _ = client.alive().await;
    }
}
