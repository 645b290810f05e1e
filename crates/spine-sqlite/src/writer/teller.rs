//! Telling those who wait how it went, on a thread of its own while the writer goes on with the next group: what was written
//! is remembered first, and then each of them is woken, which for hundreds takes a while.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{self, JoinHandle};

use spine_store::{Outcome, StoreError};

use super::Job;
use crate::error::file_error;
use crate::recent::Recent;

/// Groups that may wait to be told before the writer waits as well.
const GROUPS_MAX: usize = 4;

/// A group, and what came of it.
pub(super) struct Told {
    pub(super) jobs: Vec<Job>,
    pub(super) result: Result<Vec<Vec<Outcome>>, StoreError>,
}

/// The thread, as the writer sees it.
pub(super) struct Teller {
    groups: Option<SyncSender<Told>>,
    thread: Option<JoinHandle<()>>,
}

impl Teller {
    pub(super) fn start(recent: Arc<Recent>) -> Result<Self, StoreError> {
        let (groups, served) = sync_channel(GROUPS_MAX);
        let builder = thread::Builder::new().name("store-teller".to_owned());
        let spawned = builder.spawn(move || serve(&served, &recent));
        let thread = spawned.map_err(|error| file_error("start the teller", &error))?;
        Ok(Self { groups: Some(groups), thread: Some(thread) })
    }

    /// In the order of the calls; whether the thread is there to tell them. Else those who wait learn that no answer will
    /// come.
    pub(super) fn tell(&self, told: Told) -> bool {
        self.groups.as_ref().is_some_and(|groups| groups.send(told).is_ok())
    }
}

/// Everyone is told before the writer's thread ends.
impl Drop for Teller {
    fn drop(&mut self) {
        drop(self.groups.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn serve(groups: &Receiver<Told>, recent: &Recent) {
    for Told { jobs, result } in groups {
        tell(recent, jobs, result);
    }
}

fn tell(recent: &Recent, jobs: Vec<Job>, result: Result<Vec<Vec<Outcome>>, StoreError>) {
    let (commands, answerers): (Vec<_>, Vec<_>) =
        jobs.into_iter().map(|job| (job.commands, job.answerer)).unzip();
    match result {
        Ok(outcomes) => {
            recent.note(commands.into_iter().zip(outcomes.iter().map(Vec::as_slice)));
            answerers.into_iter().zip(outcomes).for_each(|(one, own)| one.send(Ok(own)));
        }
        Err(error) => {
            recent.forget();
            answerers.into_iter().for_each(|one| one.send(Err(error.clone())));
        }
    }
}
