//! How far something is, on one line of standard error; on a terminal only.

use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};

const WIDTH: usize = 30;
const PAUSE: Duration = Duration::from_millis(100);

/// A line that is written over.
#[derive(Debug)]
pub struct Progress {
    is_shown: bool,
    last: Option<Instant>,
}

impl Progress {
    /// Nothing yet.
    pub fn new() -> Self {
        Self { is_shown: std::io::stderr().is_terminal(), last: None }
    }

    /// So far, of the whole if that is known.
    pub fn at(&mut self, part: Option<f64>, said: &str) {
        if !self.is_shown || self.last.is_some_and(|last| last.elapsed() < PAUSE) {
            return;
        }
        self.last = Some(Instant::now());
        let bar = part.map(bar).unwrap_or_default();
        let _ = write!(std::io::stderr(), "\r\u{1b}[K{bar}{said}");
        let _ = std::io::stderr().flush();
    }

    /// Leaves an empty line.
    pub fn end(&mut self) {
        if self.is_shown {
            let _ = write!(std::io::stderr(), "\r\u{1b}[K");
        }
    }
}

fn bar(part: f64) -> String {
    let full = ((part.clamp(0.0, 1.0) * WIDTH as f64) as usize).min(WIDTH);
    format!("[{}{}] {:>3.0} %  ", "#".repeat(full), "·".repeat(WIDTH - full), part * 100.0)
}
