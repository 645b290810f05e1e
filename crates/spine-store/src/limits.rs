//! Every bound of the store, with its unit last.

use crate::{ErrorKind, StoreError};

/// Commands in one call of `apply`.
pub const APPLY_COMMANDS_MAX: usize = 10_000;
/// Texts, envelopes and answers in one command, together.
pub const COMMAND_BYTES_MAX: usize = 64 * 1024 * 1024;
/// Puts in one command, and events likewise.
pub const COMMAND_PUTS_MAX: usize = 20_000;
/// Rows in one page of any list.
pub const PAGE_ROWS_MAX: usize = 1_000;
/// The rows of one page, together: it ends with the row that reaches this.
pub const PAGE_BYTES_MAX: usize = 8 * 1024 * 1024;
/// Ids or content keys in one read of many.
pub const READ_MANY_KEYS_MAX: usize = 20_000;
/// Hits of one search.
pub const SEARCH_HITS_MAX: usize = 1_000;
/// Words of a kind.
pub const KIND_BYTES_MAX: usize = 64;
/// The name of an author.
pub const AUTHOR_BYTES_MAX: usize = 128;
/// One tag.
pub const TAG_BYTES_MAX: usize = 128;
/// The name of a thread.
pub const THREAD_BYTES_MAX: usize = 1024;
/// An idempotency key.
pub const IDEMPOTENCY_KEY_BYTES_MAX: usize = 255;
/// The name of a record.
pub const RECORD_NAME_BYTES_MAX: usize = 512;
/// The value of a record.
pub const RECORD_BYTES_MAX: usize = 4 * 1024 * 1024;
/// An order key.
pub const ORDER_KEY_BYTES_MAX: usize = 255;
/// The story and the result of a delivery, together.
pub const DELIVERY_BYTES_MAX: usize = 4 * 1024 * 1024;
/// Queues in one overview.
pub const QUEUES_MAX: usize = 1_000;

/// A page size as it is used: at least one row, at most a page.
pub fn page_rows(limit: usize) -> usize {
    limit.clamp(1, PAGE_ROWS_MAX)
}

/// Whether a read of many is within its limit.
pub fn check_read_many(keys: usize) -> Result<(), StoreError> {
    if keys <= READ_MANY_KEYS_MAX {
        return Ok(());
    }
    Err(StoreError::new(ErrorKind::TooLarge, format!("a read of {keys} keys")))
}

/// Whether one call of `apply` is within its limit.
pub fn check_apply(commands: usize) -> Result<(), StoreError> {
    if commands <= APPLY_COMMANDS_MAX {
        return Ok(());
    }
    Err(StoreError::new(ErrorKind::TooLarge, format!("a batch of {commands} commands")))
}
