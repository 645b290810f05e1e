//! `memory-spine doctor`: checks what a server needs, one line each.

use std::path::Path;

use spine_sqlite::{CheckDepth, Options, SqliteStore};
use spine_store::ErrorKind;

use super::Failure;
use crate::config::{Config, Layers};
use crate::house::store_file;
use crate::place::Address;

/// What became of one check.
enum Finding {
    Good(String),
    Bad(String),
}

/// Checks everything, also after something was found.
pub fn examine(layers: &Layers) -> Result<(), Failure> {
    let config = match Config::from_layers(layers) {
        Ok(config) => config,
        Err(error) => return Err(format!("settings: {error}").into()),
    };
    let checks = [
        ("data", data(&config.data)),
        ("store", store(&config.data)),
        ("address", address(&config)),
        ("tls", tls(&config)),
    ];
    let mut bad = 0;
    for (name, finding) in checks {
        match finding {
            Finding::Good(said) => println!("ok    {name:<8} {said}"),
            Finding::Bad(said) => {
                bad += 1;
                println!("BAD   {name:<8} {said}");
            }
        }
    }
    if bad == 0 { Ok(()) } else { Err(format!("{bad} of the checks found something").into()) }
}

fn data(folder: &Path) -> Finding {
    match std::fs::create_dir_all(folder).and_then(|()| tempfile_in(folder)) {
        Ok(()) => Finding::Good(format!("{} can be written to", folder.display())),
        Err(error) => {
            Finding::Bad(format!("{}: {error}; check its owner and mode", folder.display()))
        }
    }
}

fn tempfile_in(folder: &Path) -> std::io::Result<()> {
    let probe = folder.join(format!(".doctor-{}", std::process::id()));
    std::fs::write(&probe, b"")?;
    std::fs::remove_file(&probe)
}

fn store(folder: &Path) -> Finding {
    let file = store_file(folder);
    if !file.exists() {
        return Finding::Good("there is none yet: the first start makes it".to_owned());
    }
    match SqliteStore::open(&file, Options::default()) {
        Ok(store) => match store.check(CheckDepth::Quick) {
            Ok(()) => Finding::Good(format!("{} is whole", file.display())),
            Err(error) => Finding::Bad(format!("{error} ({})", error.detail())),
        },
        Err(error) if error.kind() == ErrorKind::InUse => {
            let known = Address::read(folder).map(|known| format!(" ({})", known.url));
            let known = known.unwrap_or_default();
            Finding::Good(format!("it is open in a running server{known}, which was not disturbed"))
        }
        Err(error) => Finding::Bad(format!("{error} ({})", error.detail())),
    }
}

fn address(config: &Config) -> Finding {
    let address = config.server.listen;
    match std::net::TcpListener::bind(address) {
        Ok(_) => Finding::Good(format!("{address} is free")),
        Err(error) if error.kind() == std::io::ErrorKind::AddrInUse => {
            Finding::Good(format!("{address} is taken: a server is running there"))
        }
        Err(error) => Finding::Bad(format!("{address}: {error}; set `listen`")),
    }
}

fn tls(config: &Config) -> Finding {
    match &config.server.tls {
        None => Finding::Good("not set up".to_owned()),
        Some(files) => match spine_server::check_tls(files) {
            Ok(()) => Finding::Good(format!("{} can be used", files.certificate.display())),
            Err(error) => Finding::Bad(error.to_string()),
        },
    }
}
