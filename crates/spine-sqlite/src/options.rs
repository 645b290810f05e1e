//! What can be set, and every limit of this store.

/// When a commit counts as written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Durability {
    /// After an fsync for each group of commits. The only one that keeps R8.
    #[default]
    Full,
    /// Without one: a power cut loses answered writes. For the test that shows it.
    Normal,
}

/// How the store is opened. The defaults are for a server; tests change single fields.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    /// When a commit counts as written.
    pub durability: Durability,
    /// Threads that read, each with its own connection.
    pub reader_threads: usize,
    /// Connections for reads of a few rows on the caller's own thread.
    pub caller_connections: usize,
    /// Reads that may wait for one of the threads.
    pub queue_reads_max: usize,
    /// Commands that may wait for the writer.
    pub queue_commands_max: usize,
    /// What those commands may weigh together.
    pub queue_bytes_max: usize,
    /// Commands in one commit; a call's own commands stay together.
    pub commit_commands_max: usize,
    /// Pages in the write-ahead log before they are moved into the file.
    pub checkpoint_pages: u32,
    /// Memory for pages, for each connection that reads.
    pub cache_kib: u32,
    /// The same for the one that writes; what a group changes beyond it is held until its commit. After most commits SQLite
    /// looks through all of it (a page that was moved has had the number of a page far behind the end), so that more than the
    /// pages at hand makes every commit slower.
    pub writer_cache_kib: u32,
    /// The file's largest size in pages, as a quota; `None` is as large as the disk.
    pub file_pages_max: Option<u32>,
    /// How long to wait for a person who holds the file's write lock.
    pub busy_ms_max: u32,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            durability: Durability::Full,
            reader_threads: 4,
            caller_connections: 4,
            queue_reads_max: 10_000,
            queue_commands_max: 20_000,
            queue_bytes_max: 256 * 1024 * 1024,
            commit_commands_max: 2_000,
            checkpoint_pages: 16_000,
            cache_kib: 16 * 1024,
            writer_cache_kib: 4 * 1024,
            file_pages_max: None,
            busy_ms_max: 5_000,
        }
    }
}
