//! From a URL to a connection: look up, check every address, connect to one that was checked.

use std::net::{SocketAddr, ToSocketAddrs};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use hyper::Uri;
use tokio::net::TcpStream;
use tokio::sync::Semaphore;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;
use tower_service::Service;

use crate::connection::Connection;
use crate::error::{OutboundError, OutboundErrorKind};
use crate::limits::ADDRESSES_TRIED_MAX;
use crate::reach::Reach;
use crate::target::{Host, Target};
use crate::tls;

/// The only way out. Whoever has a connection had its address checked here.
#[derive(Clone)]
pub(crate) struct Connector {
    pub(crate) reach: Arc<Reach>,
    pub(crate) tls: TlsConnector,
    pub(crate) lookups: Arc<Semaphore>,
    pub(crate) connect_time_max: Duration,
}

impl Service<Uri> for Connector {
    type Response = Connection;
    type Error = OutboundError;
    type Future = Pin<Box<dyn Future<Output = Result<Connection, OutboundError>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), OutboundError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, uri: Uri) -> Self::Future {
        let connector = self.clone();
        Box::pin(async move {
            let target = Target::of(&uri)?;
            let connecting = connector.connect(&target);
            let in_time = timeout(connector.connect_time_max, connecting).await;
            in_time.unwrap_or_else(|_| Err(timed_out(&target)))
        })
    }
}

impl Connector {
    async fn connect(&self, target: &Target) -> Result<Connection, OutboundError> {
        let addresses = self.reach.check(target, self.look_up(target).await?)?;
        let stream = self.first_open(target, &addresses).await?;
        if target.https {
            Ok(Connection::new(tls::handshake(&self.tls, target, stream).await?))
        } else {
            Ok(Connection::new(stream))
        }
    }

    async fn look_up(&self, target: &Target) -> Result<Vec<SocketAddr>, OutboundError> {
        let port = target.port;
        let name = match &target.host {
            Host::Address(address) => return Ok(vec![SocketAddr::new(*address, port)]),
            Host::Name(name) => name.clone(),
        };
        let lookups = Arc::clone(&self.lookups);
        let permit = lookups.acquire_owned().await.map_err(|_| unknown(target, "closing"))?;
        let found = tokio::task::spawn_blocking(move || {
            let found = (name.as_str(), port).to_socket_addrs().map(Vec::from_iter);
            // Given back here and not before: a look-up goes on when its request gave up.
            drop(permit);
            found
        });
        let found = found.await.map_err(|error| unknown(target, &error.to_string()))?;
        found.map_err(|error| unknown(target, &error.to_string()))
    }

    /// Each address has its share of the time, so that a silent one does not take it all.
    async fn first_open(
        &self,
        target: &Target,
        addresses: &[SocketAddr],
    ) -> Result<TcpStream, OutboundError> {
        let tried = addresses.len().min(ADDRESSES_TRIED_MAX);
        let share = self.connect_time_max / u32::try_from(tried.max(1)).unwrap_or(1);
        let mut failure = unknown(target, "no address");
        for address in addresses.iter().take(tried) {
            failure = match timeout(share, TcpStream::connect(address)).await {
                Ok(Ok(stream)) => return Ok(without_delay(stream)),
                Ok(Err(error)) => unreachable_at(target, address, &error),
                Err(_) => timed_out(target),
            };
        }
        Err(failure)
    }
}

/// Requests are written whole. Where this cannot be set they are only slower.
fn without_delay(stream: TcpStream) -> TcpStream {
    let _ = stream.set_nodelay(true);
    stream
}

fn unknown(target: &Target, why: &str) -> OutboundError {
    let detail = format!("{target}: cannot look the host up: {why}");
    OutboundError::new(OutboundErrorKind::CannotConnect, detail)
}

fn unreachable_at(target: &Target, address: &SocketAddr, error: &std::io::Error) -> OutboundError {
    let detail = format!("{target}: cannot connect to {address}: {error}");
    OutboundError::new(OutboundErrorKind::CannotConnect, detail)
}

fn timed_out(target: &Target) -> OutboundError {
    OutboundError::new(OutboundErrorKind::TimedOut, format!("{target}: connecting took too long"))
}
