//! `memory-spine config`.

use super::Failure;
use crate::cli::ShowConfig;
use crate::config::{Config, DEFAULTS, Layers, shown};

/// Every setting with where it comes from, in the form of the file.
pub fn show(layers: &Layers, arguments: &ShowConfig) -> Result<(), Failure> {
    if arguments.defaults {
        print!("{DEFAULTS}");
        return Ok(());
    }
    for (key, value, source) in layers.iter() {
        println!("{key} = {}  # {source}", shown(key, value));
    }
    Config::from_layers(layers)?;
    Ok(())
}
