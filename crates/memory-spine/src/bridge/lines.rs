//! Lines in, lines out, each on a thread of its own: standard input and output block.

use std::io::{BufRead, Write};

use tokio::sync::mpsc;

use crate::limits::{LINE_BYTES_MAX, LINES_WAITING_MAX};

/// One line from the host.
#[derive(Debug, PartialEq, Eq)]
pub enum Line {
    /// As it was written, without its end.
    Whole(Vec<u8>),
    /// Longer than is taken; the rest of it was skipped.
    TooLong,
}

/// Every line of standard input; the end of them is the end of the channel.
pub fn incoming() -> mpsc::Receiver<Line> {
    let (sender, receiver) = mpsc::channel(LINES_WAITING_MAX);
    std::thread::spawn(move || {
        let mut input = std::io::stdin().lock();
        while let Ok(Some(line)) = read_line(&mut input, LINE_BYTES_MAX) {
            if sender.blocking_send(line).is_err() {
                return;
            }
        }
    });
    receiver
}

/// The next line that is not empty, within its limit.
fn read_line(input: &mut impl BufRead, bytes_max: usize) -> std::io::Result<Option<Line>> {
    let (mut line, mut is_too_long) = (Vec::new(), false);
    loop {
        let buffer = input.fill_buf()?;
        if buffer.is_empty() {
            // What has no end was not finished: whoever wrote it has gone.
            return Ok(None);
        }
        let end = buffer.iter().position(|byte| *byte == b'\n');
        let part = buffer.get(..end.unwrap_or(buffer.len())).unwrap_or_default();
        is_too_long = is_too_long || line.len() + part.len() > bytes_max;
        if !is_too_long {
            line.extend_from_slice(part);
        }
        let used = part.len() + usize::from(end.is_some());
        input.consume(used);
        if end.is_none() {
            continue;
        }
        if is_too_long {
            return Ok(Some(Line::TooLong));
        }
        if !line.trim_ascii().is_empty() {
            return Ok(Some(Line::Whole(line)));
        }
        line.clear();
    }
}

/// Where messages for the host go. Clones write to the same place.
#[derive(Debug, Clone)]
pub struct Outgoing(mpsc::Sender<Vec<u8>>);

impl Outgoing {
    /// Standard output, and what is done when all of it is written or nobody reads it any more.
    pub fn open() -> (Self, tokio::sync::oneshot::Receiver<()>) {
        let (sender, mut receiver) = mpsc::channel::<Vec<u8>>(LINES_WAITING_MAX);
        let (finished, end) = tokio::sync::oneshot::channel();
        std::thread::spawn(move || {
            let mut output = std::io::stdout().lock();
            while let Some(message) = receiver.blocking_recv() {
                if output.write_all(&message).and_then(|()| output.flush()).is_err() {
                    break;
                }
            }
            let _ = finished.send(());
        });
        (Self(sender), end)
    }

    /// One message, on one line: between the parts of JSON, an end of line is as good as a space.
    pub async fn say(&self, message: &[u8]) {
        let spaced = |byte: &u8| if matches!(byte, b'\n' | b'\r') { b' ' } else { *byte };
        let mut line: Vec<u8> = message.iter().map(spaced).collect();
        line.push(b'\n');
        // Nobody may be left to read it.
        let _ = self.0.send(line).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expect: &[Option<&str>]) {
        // The smallest buffer, so that every line is read in parts.
        let mut input = std::io::BufReader::with_capacity(2, text.as_bytes());
        let mut found = Vec::new();
        while let Some(line) = read_line(&mut input, 5).unwrap() {
            found.push(match line {
                Line::Whole(line) => Some(String::from_utf8(line).unwrap()),
                Line::TooLong => None,
            });
        }
        let expect: Vec<_> = expect.iter().map(|line| line.map(str::to_owned)).collect();
        assert_eq!(found, expect, "{text:?}");
    }

    #[test]
    fn lines_are_whole_and_bounded() {
        check("", &[]);
        check("one\n\n  \ntwo\r\nlast", &[Some("one"), Some("two\r")]);
        check("12345\n123456\n1234567890123\nabc\n", &[Some("12345"), None, None, Some("abc")]);
    }
}
