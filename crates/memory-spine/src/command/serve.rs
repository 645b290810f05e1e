//! `memory-spine serve`.

use std::io::Write;
use std::path::Path;
use std::sync::Arc;

use spine_server::{App, Notifier, Parts, Pusher, Server, TestClock, Traces};
use spine_store::{ErrorKind, StoreError};
use tokio::signal::unix::{SignalKind, signal};
use tokio::task::JoinSet;

use super::{Exit, Failure};
use crate::cli::Serve;
use crate::config::Config;
use crate::erasures::{ErasureKeeper, ErasureList};
use crate::following::follow_writes;
use crate::house::House;
use crate::housekeeping::keep_house;
use crate::logging;
use crate::outbound::{AlertWebhooks, Summariser, WebhookPusher};
use crate::place::{Address, Published, detach, url_of};
use crate::telemetry::{OpenTelemetryTraces, Telemetry};

/// Serves until a signal says to stop, or nobody needs it any more.
pub fn serve(config: Config, arguments: &Serve) -> Result<(), Failure> {
    let is_background = arguments.background;
    let config = if is_background { config.in_background() } else { config };
    let config = &config;
    if is_background {
        detach();
    }
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let telemetry = runtime.block_on(async { Telemetry::start(&config.telemetry) })?;
    let tracer = telemetry.as_ref().map(Telemetry::tracer);
    if is_background {
        logging::start_in_background(config, tracer)?;
    } else {
        logging::start(config, tracer);
    }
    let clock = arguments.test_clock.then(|| test_clock(config)).transpose()?;
    let house = open(config, clock).map_err(|error| cannot_open(&config.data, &error))?;
    let house = Arc::new(house);
    let served = runtime.block_on(serve_house(config, house.clone(), telemetry.clone()));
    telemetry.into_iter().for_each(Telemetry::stop);
    // Whatever still runs in the background ends before the store is closed.
    runtime.shutdown_timeout(config.server.stop_time_max);
    drop(house);
    served
}

fn open(config: &Config, clock: Option<Arc<TestClock>>) -> Result<House, StoreError> {
    match clock {
        Some(clock) => House::open_with_clock(config, clock),
        None => House::open(config),
    }
}

/// Whoever can move time can end every lease and expire every memory: only on this machine, and never in silence.
fn test_clock(config: &Config) -> Result<Arc<TestClock>, Failure> {
    let address = config.server.listen;
    if !address.ip().is_loopback() {
        let said = format!(
            "--test-clock: {address} can be reached from other machines; listen on 127.0.0.1"
        );
        return Err(Failure::new(Exit::Usage, said));
    }
    tracing::warn!(
        "TEST CLOCK: whoever reaches this server can move its time; do not use it with data that matter"
    );
    Ok(Arc::new(TestClock::default()))
}

fn cannot_open(data: &Path, error: &StoreError) -> Failure {
    let said = format!("{}: {error} ({})", data.display(), error.detail());
    let exit = if error.kind() == ErrorKind::InUse { Exit::InUse } else { Exit::Failed };
    Failure::new(exit, said)
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
    let address = announce(config, &server, &app);
    let mut background = JoinSet::new();
    let moves = app.clock.as_ref().map(|clock| clock.moves());
    if config.embeddings.is_none() {
        background.spawn(follow_writes(house.clone()));
    }
    background.spawn(keep_house(house, config.retention, moves));
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
    drop(address);
    background.abort_all();
    keeper.look().await;
    if let Some(telemetry) = telemetry {
        telemetry.push_last_metrics(&app).await;
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

/// One line for whoever started it, `ready` and the address, and a file for whoever looks for it in the data folder.
fn announce(config: &Config, server: &Server, app: &App) -> Option<Published> {
    let scheme = if config.server.tls.is_some() { "https" } else { "http" };
    let address = server.address();
    tracing::info!(%address, data = %config.data.display(), "ready");
    let known = Address {
        url: url_of(scheme, address),
        pid: std::process::id(),
        instance: app.instance.clone(),
        idle_exit_s: config.server.idle_time_max.map(|idle| idle.as_secs()),
    };
    let published = known.publish(&config.data);
    let mut out = std::io::stdout();
    // Whoever started it may not be reading.
    let _ = writeln!(out, "ready {scheme}://{address}").and_then(|()| out.flush());
    let unpublished = |error: &std::io::Error| tracing::warn!(%error, "the address could not be left in the data folder");
    published.inspect_err(unpublished).ok()
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
