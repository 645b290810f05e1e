//! `memory-spine config`.

use super::Failure;
use crate::cli::ShowConfig;
use crate::config::{Config, DEFAULTS, HEADERS_KEY, Layers};

/// Every setting with where it comes from, in the form of the file.
pub fn show(layers: &Layers, arguments: &ShowConfig) -> Result<(), Failure> {
    if arguments.defaults {
        print!("{DEFAULTS}");
        return Ok(());
    }
    for (key, value, source) in layers.iter() {
        let is_secret = key == HEADERS_KEY && value.as_array().is_some_and(|list| !list.is_empty());
        let shown = if is_secret { "[…]".to_owned() } else { value.to_string() };
        println!("{key} = {shown}  # {source}");
    }
    Config::from_layers(layers)?;
    Ok(())
}
