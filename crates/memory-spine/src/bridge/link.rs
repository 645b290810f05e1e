//! The server that is spoken to, and the session with it. When the server has gone, the next message that needs one
//! finds or starts another, and opens a session there as the host opened its own.

use std::sync::Arc;

use hyper::Method;
use hyper::body::Bytes;
use hyper::header::{HeaderMap, HeaderValue};
use serde_json::{Value, json};
use tokio::sync::{Mutex, watch};

use super::fault::Fault;
use super::message::Message;
use super::wire::{Answer, KEY, LAST_EVENT, Lost, METHOD, NAME, SESSION, VERSION, Wire};
use crate::limits::{ANSWER_TIME_MAX, NOTICE_TIME_MAX};
use crate::place::{Address, Seek};

/// The revision that a server assumes if nobody names one.
const VERSION_UNSAID: &str = "2025-03-26";

/// Where the server is looked for.
#[derive(Debug, Clone)]
pub enum Where {
    /// There, by whoever runs it.
    At(String),
    /// On this folder; one is started if none is.
    Folder(Seek),
}

/// A session of the revisions that have them.
#[derive(Debug, Clone)]
pub struct Session {
    id: Option<HeaderValue>,
    version: HeaderValue,
}

/// A server, and the session with it.
#[derive(Debug, Clone)]
pub struct Link {
    /// Where.
    pub url: String,
    /// After how long without a connection the server ends itself.
    pub idle_exit_s: Option<u64>,
    /// None in the stateless revision, and before the host has greeted.
    pub session: Option<Session>,
    /// Each link has a number of its own.
    pub number: u64,
}

/// The way to the server, found anew when it is lost.
pub struct Links {
    place: Where,
    wire: Wire,
    state: Mutex<State>,
    /// The newest link, for whoever follows it.
    newest: watch::Sender<Option<Arc<Link>>>,
}

#[derive(Default)]
struct State {
    link: Option<Arc<Link>>,
    /// What the host opened its session with.
    greeting: Option<Bytes>,
    made: u64,
}

impl Links {
    /// Nothing is looked for yet.
    pub fn new(place: Where, wire: Wire) -> Self {
        Self { place, wire, state: Mutex::default(), newest: watch::Sender::new(None) }
    }

    /// The link as it is now, and every one after it.
    pub fn follow(&self) -> watch::Receiver<Option<Arc<Link>>> {
        self.newest.subscribe()
    }

    /// A link that is good as far as anybody knows.
    pub async fn current(&self) -> Result<Arc<Link>, Lost> {
        let mut state = self.state.lock().await;
        if let Some(link) = &state.link {
            return Ok(link.clone());
        }
        let address = self.find().await?;
        let mut link = Link {
            url: address.url,
            idle_exit_s: address.idle_exit_s,
            session: None,
            number: state.made + 1,
        };
        if let Some(greeting) = state.greeting.clone() {
            let (session, _) = self.open_session(&link, greeting).await?;
            link.session = Some(session);
            self.confirm_session(&link).await?;
        }
        Ok(self.set(&mut state, link))
    }

    /// The link, if there is one.
    pub async fn known(&self) -> Option<Arc<Link>> {
        self.state.lock().await.link.clone()
    }

    /// Whoever was told that a link is lost says so; others may have found a new one by now.
    pub async fn lost(&self, number: u64) {
        let mut state = self.state.lock().await;
        if state.link.as_ref().is_some_and(|link| link.number == number) {
            state.link = None;
        }
    }

    /// Opens the host's session: the answer is the host's.
    pub async fn greet(&self, message: &Message) -> Result<Vec<u8>, Lost> {
        let link = self.current().await?;
        let bare = Link { session: None, ..(*link).clone() };
        let (session, answer) = match self.open_session(&bare, message.text.clone()).await {
            Ok(opened) => opened,
            Err(lost) => {
                self.lost(link.number).await;
                return Err(lost);
            }
        };
        let mut state = self.state.lock().await;
        state.greeting = Some(message.text.clone());
        let number = state.made + 1;
        self.set(&mut state, Link { session: Some(session), number, ..bare });
        Ok(answer)
    }

    /// Ends the session.
    pub async fn leave(&self) {
        let Some(link) = self.state.lock().await.link.take() else { return };
        if let Some(headers) = link.session.as_ref().and_then(Session::headers_if_named) {
            // It would end by itself.
            let _ = self
                .wire
                .send(Method::DELETE, &link.url, headers, Bytes::new(), NOTICE_TIME_MAX)
                .await;
        }
    }

    /// Sends a message over a link.
    pub async fn post(&self, link: &Link, message: &Message) -> Result<Answer, Lost> {
        let (mut headers, mut had_session) = (HeaderMap::new(), false);
        if let Some(version) = &message.version {
            headers.insert(VERSION, header(version)?);
        } else if let Some(session) = &link.session {
            headers = session.headers();
            had_session = session.id.is_some();
        }
        if !message.method.is_empty() {
            headers.insert(METHOD, header(&message.method)?);
        }
        if let Some(key) = &message.key {
            headers.insert(KEY, header(key)?);
        }
        if let Some(name) = message.name_for_header() {
            headers.insert(NAME, header(&name)?);
        }
        let text = message.text.clone();
        let response =
            self.wire.send(Method::POST, &link.url, headers, text, ANSWER_TIME_MAX).await?;
        Answer::of(response, had_session).await
    }

    /// Opens the stream of what the server has to say by itself; none if there is none.
    pub async fn listen(&self, link: &Link, after: Option<&str>) -> Option<Answer> {
        let mut headers = link.session.as_ref()?.headers_if_named()?;
        if let Some(after) = after {
            headers.insert(LAST_EVENT, header(after).ok()?);
        }
        let sent = self.wire.send(Method::GET, &link.url, headers, Bytes::new(), ANSWER_TIME_MAX);
        Answer::of(sent.await.ok()?, true).await.ok()
    }

    fn set(&self, state: &mut State, link: Link) -> Arc<Link> {
        state.made = link.number;
        let link = Arc::new(link);
        state.link = Some(link.clone());
        self.newest.send_replace(Some(link.clone()));
        link
    }

    async fn find(&self) -> Result<Address, Lost> {
        let seek = match &self.place {
            Where::Folder(seek) => seek,
            Where::At(url) => {
                let url = url.trim_end_matches('/').to_owned();
                return Ok(Address { url, pid: 0, instance: String::new(), idle_exit_s: None });
            }
        };
        let found = seek.server().await;
        let address =
            found.map_err(|failure| Lost::Refused(Fault::unreachable(&failure.to_string())))?;
        if address.url.starts_with("https:") {
            let said = format!(
                "{} speaks TLS: name it with --endpoint, by the name that its certificate is for",
                address.url
            );
            return Err(Lost::Refused(Fault::unreachable(&said)));
        }
        Ok(address)
    }

    async fn open_session(&self, link: &Link, greeting: Bytes) -> Result<(Session, Vec<u8>), Lost> {
        let message = Message::read(greeting.to_vec()).map_err(Lost::Refused)?;
        let mut headers = HeaderMap::new();
        headers.insert(METHOD, header(&message.method)?);
        let sent = self.wire.send(Method::POST, &link.url, headers, greeting, ANSWER_TIME_MAX);
        let response = sent.await?;
        let id = response.headers().get(SESSION).cloned();
        let text = Answer::of(response, false).await?.next().await?.ok_or(Lost::Cut)?;
        let answer: Value = serde_json::from_slice(&text).unwrap_or_default();
        let version = answer.pointer("/result/protocolVersion").and_then(Value::as_str);
        let version = header(version.unwrap_or(VERSION_UNSAID))?;
        Ok((Session { id, version }, text))
    }

    /// What the host said after it had greeted the server before this one.
    async fn confirm_session(&self, link: &Link) -> Result<(), Lost> {
        let said = json!({"jsonrpc": "2.0", "method": "notifications/initialized"}).to_string();
        let message = Message::read(said.into_bytes()).map_err(Lost::Refused)?;
        self.post(link, &message).await.map(drop)
    }
}

impl Session {
    fn headers(&self) -> HeaderMap {
        let mut headers = HeaderMap::new();
        headers.insert(VERSION, self.version.clone());
        if let Some(id) = &self.id {
            headers.insert(SESSION, id.clone());
        }
        headers
    }

    fn headers_if_named(&self) -> Option<HeaderMap> {
        self.id.as_ref().map(|_| self.headers())
    }
}

fn header(text: &str) -> Result<HeaderValue, Lost> {
    let said = "a name in this message holds a character that cannot be sent on: use plain letters";
    HeaderValue::from_str(text).map_err(|_| Lost::Refused(Fault::refused(400, said)))
}
