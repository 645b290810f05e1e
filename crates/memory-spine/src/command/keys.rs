//! `memory-spine keys`: asked of the server that has the data open, or done on the data when none has. Both
//! ways are the same request to the same routes; only the way there differs.

use std::sync::Arc;

use http_body_util::{BodyExt, Full};
use hyper::body::Bytes;
use hyper::{Method, Request, Response};
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use spine_server::App;
use spine_store::ErrorKind;
use tokio::net::TcpStream;

use super::Failure;
use crate::cli::{CreateKey, Keys};
use crate::config::Config;
use crate::house::House;
use crate::place::Address;

const KEY_VARIABLE: &str = "MEMORY_SPINE_API_KEY";

/// One request.
struct Ask {
    method: Method,
    path: String,
    body: Option<Value>,
}

/// Does what was asked, and prints the answer.
pub fn run(config: &Config, keys: &Keys) -> Result<(), Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let ask = ask(keys);
    let answer = match House::open(config) {
        Ok(house) => runtime.block_on(on_data(config, house, ask))?,
        Err(error) if error.kind() == ErrorKind::InUse => {
            runtime.block_on(of_server(config, ask))?
        }
        Err(error) => return Err(format!("{error} ({})", error.detail()).into()),
    };
    println!("{answer:#}");
    Ok(())
}

fn ask(keys: &Keys) -> Ask {
    let ask = |method, path: String, body| Ask { method, path, body };
    match keys {
        Keys::List => ask(Method::GET, "/v1/keys?limit=1000".to_owned(), None),
        Keys::Revoke { id } => ask(Method::DELETE, format!("/v1/keys/{id}"), None),
        Keys::Rotate { id, grace } => {
            ask(Method::POST, format!("/v1/keys/{id}/rotate"), Some(json!({"grace": grace})))
        }
        Keys::Create(CreateKey { scopes, workspaces, name, expires_in }) => {
            let body = json!({"scopes": scopes, "workspaces": workspaces, "name": name, "expires_in": expires_in});
            ask(Method::POST, "/v1/keys".to_owned(), Some(body))
        }
    }
}

fn request(ask: Ask, key: Option<String>) -> Result<Request<Full<Bytes>>, Failure> {
    let mut request =
        Request::builder().method(ask.method).uri(ask.path).header("host", "localhost");
    request = request.header("content-type", "application/json");
    if let Some(key) = key {
        request = request.header("authorization", format!("Bearer {key}"));
    }
    let body = ask.body.map(|body| body.to_string()).unwrap_or_default();
    Ok(request.body(Full::new(Bytes::from(body)))?)
}

/// Whoever can open the data may do anything with it: no key is asked for.
async fn on_data(config: &Config, house: House, ask: Ask) -> Result<Value, Failure> {
    let app = Arc::new(App::open(house.parts()?, config.server.clone()).await?);
    let response = spine_server::answer_locally(app, request(ask, None)?).await;
    read(response).await
}

async fn of_server(config: &Config, ask: Ask) -> Result<Value, Failure> {
    if config.server.tls.is_some() {
        return Err(
            "the server runs with TLS: ask it over HTTPS (POST /v1/keys), or stop it first".into(),
        );
    }
    let known = Address::read(&config.data).and_then(|known| known.socket());
    let address = known.unwrap_or(config.server.listen);
    let stream = TcpStream::connect(address).await.map_err(|error| {
        format!("the data is open in another process, and no server answers on {address} ({error}): set `listen` to where it does")
    })?;
    let (mut sender, connection) =
        hyper::client::conn::http1::handshake(TokioIo::new(stream)).await?;
    tokio::spawn(connection);
    read(sender.send_request(request(ask, std::env::var(KEY_VARIABLE).ok())?).await?).await
}

async fn read<B>(response: Response<B>) -> Result<Value, Failure>
where
    B: hyper::body::Body,
    B::Error: std::error::Error + 'static,
{
    let is_good = response.status().is_success();
    let bytes = response.into_body().collect().await?.to_bytes();
    let answer: Value = serde_json::from_slice(&bytes)?;
    if is_good {
        return Ok(answer);
    }
    let detail = answer.get("detail").and_then(Value::as_str).unwrap_or("the server refused");
    Err(detail.to_owned().into())
}
