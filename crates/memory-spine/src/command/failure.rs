//! Why a command did not succeed, and the code it ends with.

use std::error::Error;
use std::fmt;
use std::process::ExitCode;

use spine_client::ClientError;

/// The code a command ends with, beside 0 for done and 2 for not understood.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// It failed.
    Failed = 1,
    /// What was typed cannot be understood.
    Usage = 2,
    /// What was named is not there.
    NotFound = 3,
    /// The server said no.
    Refused = 4,
    /// No server answered.
    Unreachable = 5,
    /// Nothing came in time.
    Nothing = 6,
    /// Another process has the data open.
    InUse = 7,
}

/// A line for the person who typed it, and a code for the script.
#[derive(Debug)]
pub struct Failure {
    said: String,
    exit: Exit,
}

impl Failure {
    /// With a code.
    pub fn new(exit: Exit, said: impl Into<String>) -> Self {
        Self { said: said.into(), exit }
    }

    /// The same, with where it happened.
    pub fn at(mut self, place: &str) -> Self {
        self.said = format!("{place}: {}", self.said);
        self
    }

    /// The same, in other words.
    pub fn saying(self, said: String) -> Self {
        Self { said, ..self }
    }

    /// The code.
    pub fn exit_code(&self) -> ExitCode {
        ExitCode::from(self.exit as u8)
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.said)
    }
}

impl<E: Into<Box<dyn Error>>> From<E> for Failure {
    fn from(error: E) -> Self {
        let error = error.into();
        let exit = error.downcast_ref().map_or(Exit::Failed, exit_of);
        Self { said: error.to_string(), exit }
    }
}

fn exit_of(error: &ClientError) -> Exit {
    match error {
        _ if error.is_not_found() => Exit::NotFound,
        ClientError::Refused(_) => Exit::Refused,
        ClientError::Unreachable { .. } | ClientError::TooSlow { .. } => Exit::Unreachable,
        ClientError::Setting { .. } => Exit::Usage,
        ClientError::Unreadable { .. } => Exit::Failed,
    }
}
