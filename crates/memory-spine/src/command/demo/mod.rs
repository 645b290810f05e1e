//! `memory-spine demo`: a chain of four agents on the payment gateway task, with everything that goes wrong in life.
//! What it says happened was asked of the server first; what did not happen ends it.

mod agent;
mod cast;
mod chain;
mod outage;
mod stage;

use std::path::{Path, PathBuf};

use super::Failure;
use super::agents::print_health;
use super::trace::print_trace;
use crate::cli::Demo;
use stage::Stage;

pub use agent::act;
pub use stage::{Process, ensure, start_server};

/// Plays everything, then leaves the server up.
pub fn play(arguments: &Demo, data: Option<&Path>) -> Result<(), Failure> {
    let folder = Folder::new(data, arguments.keep)?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(play_in(arguments, &folder.path))
}

async fn play_in(arguments: &Demo, data: &Path) -> Result<(), Failure> {
    let mut stage = Stage::open(data, &arguments.listen)?;
    let root = chain::play(&mut stage).await?;
    outage::play(&mut stage, &root).await?;
    finale(&mut stage, &root.envelope).await?;
    if !arguments.once {
        stage.say(&format!("The server stays up at {}: Ctrl-C stops it.", stage.endpoint));
        tokio::signal::ctrl_c().await?;
    }
    Ok(())
}

async fn finale(stage: &mut Stage, root: &str) -> Result<(), Failure> {
    let verified = stage.client.verify(root).await?;
    ensure(verified.intact, "the lineage verifies")?;
    stage.step(&format!(
        "Verified {} envelopes: {}. This is the trace:",
        verified.envelopes, verified.summary
    ));
    print_trace(&stage.client, &stage.screen, root).await?;
    stage.step("And these are the figures:");
    let figures = print_health(&stage.client, &stage.screen).await?;
    let is_zero =
        |pointer: &str| figures.pointer(pointer).and_then(serde_json::Value::as_u64) == Some(0);
    ensure(is_zero("/queue/pending") && is_zero("/queue/accepted"), "nothing is left open")?;
    ensure(is_zero("/queue/parked"), "nothing is left parked")?;
    stage.say(&format!("Everything happened, in {:.1} s.", stage.elapsed_s()));
    Ok(())
}

/// Where the data is, and whether it goes when the play is over.
struct Folder {
    path: PathBuf,
    is_kept: bool,
}

impl Folder {
    fn new(data: Option<&Path>, keep: bool) -> Result<Self, Failure> {
        let own = std::env::temp_dir().join(format!("memory-spine-demo-{}", std::process::id()));
        let path = data.map_or(own, PathBuf::from);
        std::fs::create_dir_all(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        Ok(Self { path: path.canonicalize()?, is_kept: keep || data.is_some() })
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        if self.is_kept {
            eprintln!("the data is in {}", self.path.display());
        } else {
            let _ = std::fs::remove_dir_all(&self.path);
        }
    }
}
