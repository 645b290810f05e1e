//! `memory-spine backup`.

use spine_sqlite::SqliteStore;

use super::Failure;
use crate::cli::Backup;
use crate::config::Config;
use crate::house::store_file;

/// Copies the store into a new file.
pub fn backup(config: &Config, arguments: &Backup) -> Result<(), Failure> {
    let file = store_file(&config.data);
    SqliteStore::backup_of(&file, &arguments.target)
        .map_err(|error| format!("{}: {error} ({})", file.display(), error.detail()))?;
    println!("{} is a copy of {}", arguments.target.display(), file.display());
    Ok(())
}
