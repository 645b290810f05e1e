//! Listening: accepts connections, each within its limits, until told to stop; then lets open requests
//! finish.

use std::convert::Infallible;
use std::future::Future;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::response::Response;
use http::Request;
use hyper::body::Incoming;
use hyper::server::conn::{http1, http2};
use hyper::service::{Service, service_fn};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::graceful::{GracefulShutdown, Watcher};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio_rustls::TlsAcceptor;

use crate::App;
use crate::drive::{drive, run_due};
use crate::limits::{ACCEPT_PAUSE, HEADERS_BYTES_MAX, HTTP2_STREAMS_MAX, TLS_HANDSHAKE_MAX};
use crate::presence::{Guest, Presence};
use crate::push::push_deliveries;
use crate::retention::prune_lineages;
use crate::settings::Settings;
use crate::site::{Sender, Site};
use crate::tls::{TlsError, acceptor};
use crate::watch::watch;

/// Why the server cannot listen.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The address cannot be taken.
    #[error("cannot listen on {address}: {error}; stop whatever listens there, or set `listen`")]
    Listen {
        /// Where.
        address: SocketAddr,
        /// Why.
        error: std::io::Error,
    },
    /// Others could come in.
    #[error(
        "{address} can be reached from other machines and there are no keys: make one with `memory-spine keys create --scope admin --workspace '*'`, or listen on 127.0.0.1"
    )]
    KeysNeeded {
        /// Where it was to listen.
        address: SocketAddr,
    },
    /// Certificate or key cannot be used.
    #[error(transparent)]
    Tls(#[from] TlsError),
}

/// A server that has its address and answers from now on.
pub struct Server {
    app: Arc<App>,
    listener: TcpListener,
    tls: Option<TlsAcceptor>,
}

impl Server {
    /// Takes the address.
    pub async fn bind(app: Arc<App>) -> Result<Self, ServeError> {
        let address = app.settings.listen;
        if !address.ip().is_loopback() && !app.keys.is_used() {
            return Err(ServeError::KeysNeeded { address });
        }
        let tls = app.settings.tls.as_ref().map(acceptor).transpose()?;
        let taken = TcpListener::bind(address).await;
        let listener = taken.map_err(|error| ServeError::Listen { address, error })?;
        Ok(Self { app, listener, tls })
    }

    /// Where it listens; with port 0 in the settings, the port it was given.
    pub fn address(&self) -> SocketAddr {
        self.listener.local_addr().unwrap_or(self.app.settings.listen)
    }

    /// Answers until `stop`, then lets open requests finish within their limit.
    pub async fn run(self, stop: impl Future<Output = ()>) {
        let Self { app, listener, tls } = self;
        let settings = &app.settings;
        let connections = Arc::new(Semaphore::new(settings.connections_max));
        let (open, presence) = (GracefulShutdown::new(), Presence::default());
        let site = Arc::new(Site::of(app.clone()));
        let driving = tokio::spawn(drive(app.clone()));
        let watching = tokio::spawn(watch(app.clone()));
        let pushing = tokio::spawn(push_deliveries(app.clone()));
        let pruning = tokio::spawn(prune_lineages(app.clone()));
        tokio::select! {
            () = accept(&listener, tls.as_ref(), &connections, &open, &presence, &site, settings) => {}
            () = stop => {}
            () = presence.deserted(settings.idle_time_max) => tracing::info!("nobody is there: stopping"),
        }
        drop(listener);
        app.stop();
        let push_abort = pushing.abort_handle();
        // Pushes that are under way may still be answered.
        let finishing = async { tokio::join!(open.shutdown(), pushing) };
        let finished = tokio::time::timeout(settings.stop_time_max, finishing).await;
        if finished.is_err() {
            tracing::warn!("open requests did not finish in time and were cut off");
        }
        push_abort.abort();
        driving.abort();
        watching.abort();
        pruning.abort();
        // What was taken for somebody who has gone is given back before the store closes.
        run_due(&app).await;
    }
}

async fn accept(
    listener: &TcpListener,
    tls: Option<&TlsAcceptor>,
    connections: &Arc<Semaphore>,
    open: &GracefulShutdown,
    presence: &Presence,
    site: &Arc<Site>,
    settings: &Settings,
) {
    // A full server lets new ones wait in the system's queue.
    while let Ok(place) = connections.clone().acquire_owned().await {
        let stream = match listener.accept().await {
            Ok((stream, _)) => stream,
            Err(error) => {
                tracing::warn!(%error, "a connection could not be accepted");
                tokio::time::sleep(ACCEPT_PAUSE).await;
                continue;
            }
        };
        let (tls, watcher, guest) = (tls.cloned(), open.watcher(), presence.enter());
        let (site, header_time_max) = (site.clone(), settings.header_time_max);
        let connection = Connection { site, header_time_max, watcher, _guest: guest };
        tokio::spawn(async move {
            connection.serve(stream, tls).await;
            drop(place);
        });
    }
}

struct Connection {
    site: Arc<Site>,
    header_time_max: Duration,
    watcher: Watcher,
    _guest: Guest,
}

impl Connection {
    async fn serve(self, stream: TcpStream, tls: Option<TlsAcceptor>) {
        // Answers are small and awaited; a failure only makes them slower.
        let _ = stream.set_nodelay(true);
        match tls {
            None => self.http1(stream).await,
            // Apart: it takes five times as much room.
            Some(tls) => Box::pin(self.over_tls(stream, tls)).await,
        }
    }

    async fn over_tls(self, stream: TcpStream, tls: TlsAcceptor) {
        match tokio::time::timeout(TLS_HANDSHAKE_MAX, tls.accept(stream)).await {
            Ok(Ok(stream)) if stream.get_ref().1.alpn_protocol() == Some(b"h2") => {
                self.http2(stream).await;
            }
            Ok(Ok(stream)) => self.http1(stream).await,
            Ok(Err(error)) => tracing::debug!(%error, "a TLS handshake failed"),
            Err(_) => tracing::debug!("a TLS handshake took too long"),
        }
    }

    async fn http1(self, stream: impl AsyncRead + AsyncWrite + Send + Unpin + 'static) {
        let connection = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(self.header_time_max)
            .max_buf_size(HEADERS_BYTES_MAX)
            .serve_connection(TokioIo::new(stream), answers(self.site));
        if let Err(error) = self.watcher.watch(connection).await {
            tracing::debug!(%error, "a connection ended early");
        }
    }

    async fn http2(self, stream: impl AsyncRead + AsyncWrite + Send + Unpin + 'static) {
        let connection = http2::Builder::new(TokioExecutor::new())
            .timer(TokioTimer::new())
            .keep_alive_interval(Some(self.header_time_max))
            .max_concurrent_streams(HTTP2_STREAMS_MAX)
            .max_header_list_size(u32::try_from(HEADERS_BYTES_MAX).unwrap_or(u32::MAX))
            .serve_connection(TokioIo::new(stream), answers(self.site));
        if let Err(error) = self.watcher.watch(connection).await {
            tracing::debug!(%error, "a connection ended early");
        }
    }
}

/// One request after the other, from one connection.
fn answers(
    site: Arc<Site>,
) -> impl Service<Request<Incoming>, Response = Response, Error = Infallible, Future: Send + 'static>
{
    service_fn(move |request: Request<Incoming>| {
        let (site, request) = (site.clone(), Box::new(request.map(Body::new)));
        async move { Ok::<_, Infallible>(site.answer(request, Sender::Network).await) }
    })
}
