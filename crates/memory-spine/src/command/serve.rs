//! `memory-spine serve`.

use std::io::Write;
use std::path::Path;
use std::sync::Arc;

use spine_server::{App, Server};
use spine_store::{ErrorKind, StoreError};
use tokio::signal::unix::{SignalKind, signal};

use super::{Exit, Failure};
use crate::config::Config;
use crate::house::House;
use crate::housekeeping::keep_house;
use crate::logging;
use crate::place::{Address, Published, detach, url_of};

/// Serves until a signal says to stop, or nobody needs it any more.
pub fn serve(config: Config, is_background: bool) -> Result<(), Failure> {
    let config = if is_background { config.in_background() } else { config };
    let config = &config;
    if is_background {
        detach();
        logging::start_in_background(config)?;
    } else {
        logging::start(config);
    }
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let house =
        Arc::new(House::open(&config.data).map_err(|error| cannot_open(&config.data, &error))?);
    let served = runtime.block_on(serve_house(config, house.clone()));
    // Whatever still runs in the background ends before the store is closed.
    runtime.shutdown_timeout(config.server.stop_time_max);
    drop(house);
    served
}

fn cannot_open(data: &Path, error: &StoreError) -> Failure {
    let said = format!("{}: {error} ({})", data.display(), error.detail());
    let exit = if error.kind() == ErrorKind::InUse { Exit::InUse } else { Exit::Failed };
    Failure::new(exit, said)
}

async fn serve_house(config: &Config, house: Arc<House>) -> Result<(), Failure> {
    let app = Arc::new(App::open(house.parts()?, config.server.clone()).await?);
    let server = Server::bind(app.clone()).await?;
    let address = announce(config, &server, &app);
    let keeping = tokio::spawn(keep_house(house));
    let stop = told_to_stop()?;
    server.run(stop).await;
    drop(address);
    keeping.abort();
    tracing::info!("stopped");
    Ok(())
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
