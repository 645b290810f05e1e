//! Finding the server of a folder, or starting one. Many may do so at once: the store's lock lets one server in, and
//! all others find it.

use std::path::{Path, PathBuf};
use std::process::Child;
use std::time::Instant;

use spine_client::{Client, ClientOptions};

use super::background::{let_go, start};
use super::{Address, BoundedLog};
use crate::command::{Exit, Failure};
use crate::limits::{PROBE_TIME_MAX, START_PAUSE, START_POLL, START_TIME_MAX};

/// The server of a folder, if it is there and is the one that the folder's file means.
async fn find(data: &Path) -> Option<Address> {
    let address = Address::read(data)?;
    if address.url.starts_with("https:") {
        // Its certificate is for a name that the file does not say: whoever asks is told so.
        return Some(address);
    }
    let options = ClientOptions {
        endpoint: address.url.clone(),
        timeout: PROBE_TIME_MAX,
        ..ClientOptions::default()
    };
    let alive = Client::new(options).ok()?.alive().await.ok()?;
    (alive.instance == address.instance).then_some(address)
}

/// A folder whose server is wanted.
#[derive(Debug, Clone)]
pub struct Seek {
    /// The folder.
    pub data: PathBuf,
    /// The file of settings for a server that is started.
    pub settings: Option<PathBuf>,
}

/// What became of a server that was started.
enum Started {
    Runs,
    /// Another has the data open.
    WasSecond,
    Failed,
}

impl Seek {
    /// The server, found or started.
    pub async fn server(&self) -> Result<Address, Failure> {
        let (began, mut child) = (Instant::now(), None);
        loop {
            if let Some(address) = find(&self.data).await {
                child.into_iter().for_each(let_go);
                return Ok(address);
            }
            if began.elapsed() > START_TIME_MAX {
                child.into_iter().for_each(let_go);
                return Err(self.silent());
            }
            child = Some(self.one_more_step(child.take()).await?);
        }
    }

    /// Starts a server, or waits a little for the one that was started.
    async fn one_more_step(&self, child: Option<Child>) -> Result<Child, Failure> {
        let Some(mut child) = child else { return self.start() };
        match outcome(&mut child)? {
            Started::Runs => tokio::time::sleep(START_POLL).await,
            Started::WasSecond => {
                tokio::time::sleep(START_PAUSE).await;
                // The first may be there by now, or may just have stopped.
                return if find(&self.data).await.is_some() { Ok(child) } else { self.start() };
            }
            Started::Failed => return Err(self.failed()),
        }
        Ok(child)
    }

    fn start(&self) -> Result<Child, Failure> {
        start(&self.data, self.settings.as_ref()).map_err(|error| {
            format!("no server could be started on {}: {error}", self.shown()).into()
        })
    }

    fn shown(&self) -> String {
        self.data.display().to_string()
    }

    fn failed(&self) -> Failure {
        let said = BoundedLog::last_line(&self.data).unwrap_or_default();
        let (shown, log) = (self.shown(), "server.log there says more");
        Failure::new(
            Exit::Unreachable,
            format!("the server on {shown} did not start: {said} ({log})"),
        )
    }

    fn silent(&self) -> Failure {
        let (shown, seconds) = (self.shown(), START_TIME_MAX.as_secs());
        let said = format!(
            "{shown} is open in a process that did not say within {seconds} s where it listens: stop it, or look into server.log there"
        );
        Failure::new(Exit::Unreachable, said)
    }
}

fn outcome(child: &mut Child) -> std::io::Result<Started> {
    Ok(match child.try_wait()? {
        None => Started::Runs,
        Some(status) if status.code() == Some(Exit::InUse as i32) => Started::WasSecond,
        // Stopped or killed before it was found: nobody can have been using it.
        Some(status) if status.success() || status.code().is_none() => Started::WasSecond,
        Some(_) => Started::Failed,
    })
}
