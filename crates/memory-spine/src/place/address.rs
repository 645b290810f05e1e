//! The file that says where a server is. It is written when the server listens and removed when it stops; one that was
//! left by a killed server is recognised, because nobody answers there by its name.

use std::fs::OpenOptions;
use std::io::{Read, Write};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::limits::ADDRESS_BYTES_MAX;

const FILE: &str = "server.json";

/// Where a server is, and which start of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Address {
    /// Such as `http://127.0.0.1:8788`.
    pub url: String,
    /// The process.
    pub pid: u32,
    /// What it calls itself in `/healthz`: no other start has this name.
    pub instance: String,
    /// After how long without a connection it ends itself.
    pub idle_exit_s: Option<u64>,
}

impl Address {
    /// As the folder's file says; it may be out of date.
    pub fn read(data: &Path) -> Option<Self> {
        let file = std::fs::File::open(data.join(FILE)).ok()?;
        let mut text = Vec::new();
        file.take(ADDRESS_BYTES_MAX).read_to_end(&mut text).ok()?;
        serde_json::from_slice(&text).ok()
    }

    /// Where to connect to, without TLS.
    pub fn socket(&self) -> Option<SocketAddr> {
        self.url.strip_prefix("http://")?.parse().ok()
    }

    /// Leaves it in the folder, whole or not at all, until the answer is dropped.
    pub fn publish(self, data: &Path) -> std::io::Result<Published> {
        let (file, draft) = (data.join(FILE), data.join(format!(".{FILE}-{}", self.pid)));
        let mut opened =
            OpenOptions::new().create(true).truncate(true).write(true).mode(0o600).open(&draft)?;
        opened.write_all(&serde_json::to_vec(&self)?)?;
        std::fs::rename(&draft, &file)?;
        Ok(Published { file })
    }
}

/// An address that can be read.
pub struct Published {
    file: PathBuf,
}

/// Whoever publishes holds the store's lock: the file is its own.
impl Drop for Published {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.file);
    }
}

/// How a server is reached from this machine.
pub fn url_of(scheme: &str, address: SocketAddr) -> String {
    let mut address = address;
    match address.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => address.set_ip(Ipv4Addr::LOCALHOST.into()),
        IpAddr::V6(ip) if ip.is_unspecified() => address.set_ip(Ipv6Addr::LOCALHOST.into()),
        _ => {}
    }
    format!("{scheme}://{address}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_there_until_it_is_withdrawn() {
        let folder = std::env::temp_dir().join(format!("spine-address-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let address = Address {
            url: url_of("http", "0.0.0.0:8788".parse().unwrap()),
            pid: 1,
            instance: "a".to_owned(),
            idle_exit_s: Some(300),
        };
        assert_eq!(address.url, "http://127.0.0.1:8788");
        assert_eq!(Address::read(&folder), None);
        let published = address.clone().publish(&folder).unwrap();
        assert_eq!(Address::read(&folder), Some(address));
        std::fs::write(folder.join(FILE), "{\"url\": ").unwrap();
        assert_eq!(Address::read(&folder), None);
        drop(published);
        assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 0);
        std::fs::remove_dir(&folder).unwrap();
    }
}
