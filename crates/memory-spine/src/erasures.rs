//! What was erased, on a list beside the store: a backup that is put back knows nothing of erasures that came after it,
//! and must not bring back what somebody asked to be forgotten.

use std::collections::HashMap;
use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use spine_engine::Caller;
use spine_engine::delivery::{Erasure, Forgotten};
use spine_protocol::WorkspaceName;
use spine_server::App;
use spine_store::{Change, UnixMs, all_workspaces};

use crate::command::Failure;

/// The list's name in the data folder.
const LIST_FILE: &str = "erasures.jsonl";
/// Between two looks at what was erased.
const ROUND: Duration = Duration::from_secs(5);

/// One line of the list. It names what was forgotten, and nothing of what it said.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Line {
    workspace: WorkspaceName,
    what: Forgotten,
    at: UnixMs,
}

impl Line {
    /// Whether this erasure of the line's workspace did what the line asks for.
    fn is_done_by(&self, erasure: &Erasure) -> bool {
        self.what == erasure.what && erasure.at >= self.at
    }
}

/// The list of one data folder.
pub struct ErasureList {
    path: PathBuf,
    lines: Vec<Line>,
}

impl ErasureList {
    /// Reads the list.
    pub fn open(data: &Path) -> Result<Self, Failure> {
        let path = data.join(LIST_FILE);
        let lines = match File::open(&path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Vec::new(),
            file => read(file?).map_err(|error| format!("{}: {error}", path.display()))?,
        };
        Ok(Self { path, lines })
    }

    /// Erases again what the store has forgotten that it erased.
    pub async fn replay(&self, app: &App) -> Result<(), Failure> {
        let mut known: HashMap<WorkspaceName, Vec<Erasure>> = HashMap::new();
        for line in &self.lines {
            let caller = Caller::of(line.workspace.clone());
            if !known.contains_key(&line.workspace) {
                known.insert(line.workspace.clone(), app.deliveries.erasures(&caller).await?);
            }
            let done = known.entry(line.workspace.clone()).or_default();
            if done.iter().any(|erasure| line.is_done_by(erasure)) {
                continue;
            }
            let reason = "erased before, and brought back by a backup";
            let erased = app.deliveries.erase(&caller, line.what.clone(), reason, false).await?;
            tracing::warn!(workspace = %line.workspace, memories = erased.memories, "{reason}");
            done.push(erased);
        }
        Ok(())
    }

    /// Writes down what a workspace has erased and the list does not know.
    async fn note(&mut self, app: &App, workspace: &WorkspaceName) -> Result<(), Failure> {
        let erasures = app.deliveries.erasures(&Caller::of(workspace.clone())).await?;
        let new = |erasure: &&Erasure| {
            !self.lines.iter().any(|line| line.at >= erasure.at && names(line, workspace, erasure))
        };
        let line = |erasure: &Erasure| Line {
            workspace: workspace.clone(),
            what: erasure.what.clone(),
            at: erasure.at,
        };
        let lines: Vec<Line> = erasures.iter().filter(new).map(line).collect();
        if lines.is_empty() {
            return Ok(());
        }
        self.lines.extend(lines);
        self.save()
    }

    /// In place of the list before, at once: half a list would forget.
    fn save(&self) -> Result<(), Failure> {
        let beside = self.path.with_extension("jsonl.new");
        let mut file = File::create(&beside)?;
        for line in &self.lines {
            writeln!(file, "{}", serde_json::to_string(line)?)?;
        }
        file.sync_all()?;
        std::fs::rename(&beside, &self.path)?;
        let folder = self.path.parent().map(File::open).transpose()?;
        Ok(folder.map_or(Ok(()), |folder| folder.sync_all())?)
    }
}

fn names(line: &Line, workspace: &WorkspaceName, erasure: &Erasure) -> bool {
    line.workspace == *workspace && line.what == erasure.what
}

fn read(file: File) -> Result<Vec<Line>, Failure> {
    let mut read = Vec::new();
    for (number, line) in BufReader::new(file).lines().enumerate() {
        let line = serde_json::from_str(&line?);
        read.push(line.map_err(|error| format!("line {}: {error}", number + 1))?);
    }
    Ok(read)
}

/// Keeps the list while the server runs.
pub struct ErasureKeeper {
    app: Arc<App>,
    list: ErasureList,
    seen: HashMap<WorkspaceName, Change>,
}

impl ErasureKeeper {
    /// Of a server that runs.
    pub fn new(app: Arc<App>, list: ErasureList) -> Self {
        Self { app, list, seen: HashMap::new() }
    }

    /// Looks again and again; never done.
    pub async fn keep(&mut self) {
        loop {
            self.look().await;
            tokio::time::sleep(ROUND).await;
        }
    }

    /// Writes down what is new in workspaces where something happened.
    pub async fn look(&mut self) {
        if let Err(error) = self.round().await {
            tracing::warn!("the list of erasures could not be kept: {error}");
        }
    }

    async fn round(&mut self) -> Result<(), Failure> {
        for state in all_workspaces(self.app.store.as_ref()).await? {
            if self.seen.get(&state.name) != Some(&state.newest) {
                self.list.note(&self.app, &state.name).await?;
                self.seen.insert(state.name, state.newest);
            }
        }
        Ok(())
    }
}
