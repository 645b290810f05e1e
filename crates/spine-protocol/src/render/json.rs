//! JSON for reading: a projection, not the wire form.

use serde::Serialize;

use super::view::*;
use super::{Part, Piece};
use crate::read::ReadError;

pub(super) fn pieces(view: &View) -> Result<Vec<Piece>, ReadError> {
    let mut pieces = vec![
        Piece::new(Part::Frame, "{\n".to_owned()),
        Piece::new(Part::Frame, member("handoff", &view.handoff)?),
        Piece::new(Part::Task, member("task", &view.task)?),
        Piece::new(Part::Constraints, member("constraints", &view.constraints)?),
        Piece::new(Part::Constraints, member("waived", &view.waived)?),
        Piece::new(Part::Intent, member("user_request", &view.user_request)?),
        Piece::new(Part::History, member("done", &view.done)?),
        Piece::new(Part::ExpectedOutput, member("expected_output", &view.expected_output)?),
        Piece::new(Part::Frame, member("note", DATA_NOT_ORDERS)?),
        Piece::new(Part::Frame, "  \"memories\": [\n".to_owned()),
    ];
    for (index, view_of) in view.memories.iter().enumerate() {
        let is_last = index + 1 == view.memories.len();
        pieces.push(Piece::new(Part::Memory(view_of.id), memory(view_of, !is_last)?));
    }
    pieces.push(Piece::new(Part::Frame, "  ],\n".to_owned()));
    let last = format!("  \"not_included\": {}\n", one_line(&view.not_included)?);
    pieces.push(Piece::new(Part::Missing, last));
    pieces.push(Piece::new(Part::Frame, "}\n".to_owned()));
    Ok(pieces)
}

fn member(name: &str, value: &(impl Serialize + ?Sized)) -> Result<String, ReadError> {
    Ok(format!("  \"{name}\": {},\n", one_line(value)?))
}

/// A memory in the list; all but the last have a comma after them.
pub(super) fn memory(memory: &MemoryView, comma: bool) -> Result<String, ReadError> {
    let comma = if comma { "," } else { "" };
    Ok(format!("    {}{comma}\n", one_line(memory)?))
}

fn one_line(value: &(impl Serialize + ?Sized)) -> Result<String, ReadError> {
    serde_json::to_string(value).map_err(|error| ReadError::at("", error.to_string()))
}
