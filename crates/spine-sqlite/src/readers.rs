//! The pool of readers: threads with a connection each, so that a slow read holds up no caller's runtime. A
//! read of a few rows takes less time than the way to a thread and back: it runs where it is asked for.

use std::future::ready;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};

use rusqlite::Connection;
use spine_store::{ErrorKind, StoreError, StoreFuture};

use crate::connection::open_reader;
use crate::error::{file_error, read_error};
use crate::options::Options;
use crate::queue::{Queue, Refused, Weight};
use crate::reply;

type Job = Box<dyn FnOnce(&Connection) + Send>;

pub(crate) struct Readers {
    queue: Arc<Queue<Job>>,
    threads: Vec<JoinHandle<()>>,
    /// For short reads on the caller's thread.
    here: Vec<Mutex<Connection>>,
}

const ONE_READ: Weight = Weight { commands: 1, bytes: 0 };

impl Readers {
    pub(crate) fn start(path: &Path, options: &Options) -> Result<Self, StoreError> {
        let queue = Arc::new(Queue::new(Weight { commands: options.queue_reads_max, bytes: 0 }));
        let connections = (0..options.caller_connections).map(|_| open_reader(path, options));
        let here = connections.map(|opened| opened.map(Mutex::new)).collect::<Result<_, _>>()?;
        let mut readers = Self { queue, threads: Vec::new(), here };
        for number in 0..options.reader_threads.max(1) {
            let connection = open_reader(path, options)?;
            let queue = Arc::clone(&readers.queue);
            let thread = thread::Builder::new().name(format!("store-reader-{number}"));
            let started = thread.spawn(move || serve(&queue, &connection));
            let started = started.map_err(|error| file_error("start a reader", &error))?;
            readers.threads.push(started);
        }
        Ok(readers)
    }

    /// Runs a read on one of the threads.
    pub(crate) fn run<T: Send + 'static>(
        &self,
        read: impl FnOnce(&Connection) -> rusqlite::Result<T> + Send + 'static,
    ) -> StoreFuture<'static, T> {
        let (answerer, answer) = reply::channel();
        let job: Job = Box::new(move |connection| answerer.send(read(connection)));
        let pushed = self.queue.push(job, ONE_READ);
        Box::pin(async move {
            pushed.map_err(refused)?;
            let answered = answer.await.ok_or_else(|| refused(Refused::Closed))?;
            answered.map_err(read_error)
        })
    }

    /// Runs a read at once on the caller's thread, or, where every connection for that is taken, on one of
    /// the threads. Only for a few rows found by their key: nothing else of the caller runs meanwhile.
    pub(crate) fn run_here<T: Send + 'static>(
        &self,
        read: impl FnOnce(&Connection) -> rusqlite::Result<T> + Send + 'static,
    ) -> StoreFuture<'static, T> {
        match self.here.iter().find_map(|connection| connection.try_lock().ok()) {
            Some(connection) => Box::pin(ready(read(&connection).map_err(read_error))),
            None => self.run(read),
        }
    }

    /// Runs a read here if it is short.
    pub(crate) fn run_here_if<T: Send + 'static>(
        &self,
        short: bool,
        read: impl FnOnce(&Connection) -> rusqlite::Result<T> + Send + 'static,
    ) -> StoreFuture<'static, T> {
        if short { self.run_here(read) } else { self.run(read) }
    }
}

fn serve(queue: &Queue<Job>, connection: &Connection) {
    loop {
        let jobs = queue.take(1);
        if jobs.is_empty() {
            return;
        }
        jobs.into_iter().for_each(|job| job(connection));
    }
}

fn refused(refused: Refused) -> StoreError {
    match refused {
        Refused::Full => StoreError::new(ErrorKind::Overloaded, "the readers' queue is full"),
        Refused::Closed => StoreError::new(ErrorKind::Unavailable, "the readers have stopped"),
    }
}

impl Drop for Readers {
    fn drop(&mut self) {
        self.queue.close();
        for thread in self.threads.drain(..) {
            // A reader that panicked has nothing left to close.
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use spine_store::testing::block_on;

    fn thread_name(_: &Connection) -> rusqlite::Result<Option<String>> {
        Ok(thread::current().name().map(str::to_owned))
    }

    #[test]
    fn short_read_runs_here_unless_every_connection_is_taken() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("spine.db");
        Connection::open(&path).unwrap();
        let readers = Readers::start(&path, &Options::default()).unwrap();
        let here = thread::current().name().map(str::to_owned);
        assert_eq!(block_on(readers.run_here(thread_name)), Ok(here));
        let _taken: Vec<_> = readers.here.iter().map(|connection| connection.lock()).collect();
        let elsewhere = block_on(readers.run_here(thread_name)).unwrap().unwrap();
        assert!(elsewhere.starts_with("store-reader"), "{elsewhere}");
    }
}
