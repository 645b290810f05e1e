//! Where the server of a data folder is: it leaves its address in the folder, and where none runs one is started.

mod address;
mod background;
mod log;
mod seek;

use std::path::PathBuf;

use crate::config::ConfigError;

pub use address::{Address, Published, url_of};
pub use background::detach;
pub use log::BoundedLog;
pub use seek::Seek;

/// In the home folder: the programs that start a bridge do so in folders of their own.
const HOME_FOLDER: &str = ".memory-spine";

/// The folder that agents on this machine share if nobody names another.
pub fn shared_folder() -> Result<PathBuf, ConfigError> {
    std::env::home_dir().map(|home| home.join(HOME_FOLDER)).ok_or_else(|| ConfigError::File {
        file: "the home folder".to_owned(),
        problem: "it is not known: name a folder with --data".to_owned(),
    })
}
