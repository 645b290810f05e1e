//! `memory-spine serve`.

use std::io::Write;
use std::sync::Arc;

use spine_server::{App, Notifier, Parts, Pusher, Server, Traces};
use tokio::signal::unix::{SignalKind, signal};
use tokio::task::JoinSet;

use super::Failure;
use crate::config::Config;
use crate::erasures::{ErasureKeeper, ErasureList};
use crate::house::House;
use crate::housekeeping::keep_house;
use crate::logging;
use crate::outbound::{AlertWebhooks, Summariser, WebhookPusher};
use crate::telemetry::{OpenTelemetryTraces, Telemetry};

/// Serves until a signal says to stop.
pub fn serve(config: &Config) -> Result<(), Failure> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let telemetry = runtime.block_on(async { Telemetry::start(&config.telemetry) })?;
    logging::start(config, telemetry.as_ref().map(Telemetry::tracer));
    let house = Arc::new(
        House::open(config)
            .map_err(|error| format!("{}: {error} ({})", config.data.display(), error.detail()))?,
    );
    let served = runtime.block_on(serve_house(config, house.clone(), telemetry.clone()));
    telemetry.into_iter().for_each(Telemetry::stop);
    // Whatever still runs in the background ends before the store is closed.
    runtime.shutdown_timeout(config.server.stop_time_max);
    drop(house);
    served
}

async fn serve_house(
    config: &Config,
    house: Arc<House>,
    telemetry: Option<Telemetry>,
) -> Result<(), Failure> {
    let parts = parts(config, &house, telemetry.is_some())?;
    let app = Arc::new(App::open(parts, config.server.clone()).await?);
    let erasures = ErasureList::open(&config.data)?;
    erasures.replay(&app).await?;
    let mut keeper = ErasureKeeper::new(app.clone(), erasures);
    let server = Server::bind(app.clone()).await?;
    announce(config, &server)?;
    let mut background = JoinSet::new();
    background.spawn(keep_house(house, config.retention));
    if let Some(summariser) = summariser(config, &app)? {
        background.spawn(summariser.run());
    }
    if let Some(telemetry) = telemetry.clone() {
        background.spawn(telemetry.push_metrics(app.clone()));
    }
    let stop = told_to_stop()?;
    tokio::select! {
        () = server.run(stop) => {}
        () = keeper.keep() => {}
    }
    background.abort_all();
    keeper.look().await;
    if let Some(telemetry) = telemetry {
        telemetry.push_metrics_once(&app).await;
    }
    tracing::info!("stopped");
    Ok(())
}

/// What the server is made of, with what calls out.
fn parts(config: &Config, house: &House, traced: bool) -> Result<Parts, Failure> {
    let pusher = WebhookPusher::new(&config.outbound, config.server.push_time_max)?;
    Ok(Parts {
        notifier: notifier(config)?,
        pusher: Some(Arc::new(pusher) as Arc<dyn Pusher>),
        traces: traced.then(|| Arc::new(OpenTelemetryTraces) as Arc<dyn Traces>),
        ..house.parts()?
    })
}

fn summariser(config: &Config, app: &App) -> Result<Option<Summariser>, Failure> {
    let Some(settings) = config.summaries.clone() else { return Ok(None) };
    let (store, memories) = (app.store.clone(), app.memories.clone());
    Ok(Some(Summariser::new(&config.outbound, settings, store, memories)?))
}

fn notifier(config: &Config) -> Result<Option<Arc<dyn Notifier>>, Failure> {
    if config.alerts.webhooks.is_empty() {
        return Ok(None);
    }
    Ok(Some(Arc::new(AlertWebhooks::new(&config.outbound, config.alerts.clone())?)))
}

/// One line for whoever started it: `ready` and the address.
fn announce(config: &Config, server: &Server) -> Result<(), Failure> {
    let scheme = if config.server.tls.is_some() { "https" } else { "http" };
    let address = server.address();
    tracing::info!(%address, data = %config.data.display(), "ready");
    let mut out = std::io::stdout();
    // Whoever started it may not be reading.
    let _ = writeln!(out, "ready {scheme}://{address}").and_then(|()| out.flush());
    Ok(())
}

fn told_to_stop() -> Result<impl Future<Output = ()>, Failure> {
    let (mut terminate, mut interrupt) =
        (signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?);
    Ok(async move {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
        tracing::info!("stopping");
    })
}
