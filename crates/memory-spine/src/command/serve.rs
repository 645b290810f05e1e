//! `memory-spine serve`.

use std::io::Write;
use std::sync::Arc;

use spine_server::{App, Notifier, Parts, Pusher, Server};
use tokio::signal::unix::{SignalKind, signal};

use super::Failure;
use crate::config::Config;
use crate::house::House;
use crate::housekeeping::keep_house;
use crate::logging;
use crate::outbound::{AlertWebhooks, Summariser, WebhookPusher};

/// Serves until a signal says to stop.
pub fn serve(config: &Config) -> Result<(), Failure> {
    logging::start(config);
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let house = Arc::new(
        House::open(config)
            .map_err(|error| format!("{}: {error} ({})", config.data.display(), error.detail()))?,
    );
    let served = runtime.block_on(serve_house(config, house.clone()));
    // Whatever still runs in the background ends before the store is closed.
    runtime.shutdown_timeout(config.server.stop_time_max);
    drop(house);
    served
}

async fn serve_house(config: &Config, house: Arc<House>) -> Result<(), Failure> {
    let pusher = WebhookPusher::new(&config.outbound, config.server.push_time_max)?;
    let (notifier, pusher) = (notifier(config)?, Some(Arc::new(pusher) as Arc<dyn Pusher>));
    let parts = Parts { notifier, pusher, ..house.parts()? };
    let app = Arc::new(App::open(parts, config.server.clone()).await?);
    let server = Server::bind(app.clone()).await?;
    announce(config, &server)?;
    let summarising = summariser(config, &app)?.map(|summariser| tokio::spawn(summariser.run()));
    let keeping = tokio::spawn(keep_house(house, config.retention));
    let stop = told_to_stop()?;
    server.run(stop).await;
    keeping.abort();
    if let Some(summarising) = summarising {
        summarising.abort();
    }
    tracing::info!("stopped");
    Ok(())
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
