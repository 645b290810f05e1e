//! Server-sent events, as they come in: the data of each, and the id to go on behind.

use crate::limits::MESSAGE_BYTES_MAX;

/// One event.
#[derive(Debug, PartialEq, Eq)]
pub struct Event {
    /// Where to go on, if it says.
    pub id: Option<String>,
    /// What it carries; nothing in one that only says that the server is there.
    pub data: Vec<u8>,
}

/// A stream that is read piece by piece.
#[derive(Debug, Default)]
pub struct Events {
    rest: Vec<u8>,
    id: Option<String>,
    data: Option<Vec<u8>>,
}

/// An event beyond its limit: the stream cannot be read on.
#[derive(Debug, PartialEq, Eq)]
pub struct TooLarge;

impl Events {
    /// Takes the next piece, and gives every event that is whole by now.
    pub fn take(&mut self, piece: &[u8]) -> Result<Vec<Event>, TooLarge> {
        let mut whole = Vec::new();
        for part in piece.split_inclusive(|byte| *byte == b'\n') {
            self.rest.extend_from_slice(part);
            if part.ends_with(b"\n") {
                let line = std::mem::take(&mut self.rest);
                whole.extend(self.line(line.trim_ascii_end()));
            }
            let held = self.rest.len() + self.data.as_ref().map_or(0, Vec::len);
            if held > MESSAGE_BYTES_MAX {
                return Err(TooLarge);
            }
        }
        Ok(whole)
    }

    /// An empty line ends an event.
    fn line(&mut self, line: &[u8]) -> Option<Event> {
        if line.is_empty() {
            let data = self.data.take()?;
            return Some(Event { id: self.id.clone(), data });
        }
        let colon = line.iter().position(|byte| *byte == b':').unwrap_or(line.len());
        let (field, value) = line.split_at(colon);
        let value = value.strip_prefix(b":").unwrap_or(value);
        let value = value.strip_prefix(b" ").unwrap_or(value);
        match field {
            b"data" => self.add(value),
            b"id" => self.id = String::from_utf8(value.to_vec()).ok(),
            _ => {}
        }
        None
    }

    fn add(&mut self, value: &[u8]) {
        match &mut self.data {
            None => self.data = Some(value.to_vec()),
            Some(data) => {
                data.push(b'\n');
                data.extend_from_slice(value);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_the_same_however_they_are_cut() {
        let stream =
            b": hello\n\nid: 1/0\nretry: 3000\ndata:\n\nevent: message\r\nid: 2/0\r\ndata: {\"a\":\r\ndata: 1}\r\n\r\ndata: half";
        let expect = [
            Event { id: Some("1/0".to_owned()), data: Vec::new() },
            Event { id: Some("2/0".to_owned()), data: b"{\"a\":\n1}".to_vec() },
        ];
        for size in 1..stream.len() {
            let mut events = Events::default();
            let pieces = stream.chunks(size);
            let found: Vec<Event> = pieces.flat_map(|piece| events.take(piece).unwrap()).collect();
            assert_eq!(found, expect, "in pieces of {size}");
        }
    }
}
