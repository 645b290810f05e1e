//! The envelope as a model reads it: a pure function of what the envelope says.
//!
//! A rendering is a row of pieces. Each ends in a newline and the next starts with a mark that no tokenizer joins
//! to it, so that the counts of the pieces add up to the count of the whole.

mod inert;
mod json;
mod markdown;
mod phrases;
mod view;
mod xml;

use crate::MemoryId;
use crate::envelope::{Body, Format, PackedMemory};
use crate::read::ReadError;
use view::{MemoryView, View};

pub use inert::{inert, inline, is_hidden};

/// Which part of a rendering a piece is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Part {
    /// Who hands over to whom, and the document's frame.
    Frame,
    /// What is to be done now, what remains, what is open.
    Task,
    /// What must be kept to, and what was waived.
    Constraints,
    /// The user's words.
    Intent,
    /// What was done and decided.
    History,
    /// What is to be given back.
    ExpectedOutput,
    /// One memory.
    Memory(MemoryId),
    /// Gaps, trimmed items, redactions.
    Missing,
}

/// A piece of a rendering.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Piece {
    /// Which part it belongs to.
    pub part: Part,
    /// Its text.
    pub text: String,
}

impl Piece {
    fn new(part: Part, text: String) -> Self {
        Self { part, text }
    }
}

/// The rendering in a format.
pub fn render(body: &Body, format: &Format) -> Result<String, ReadError> {
    Ok(pieces(body, format)?.into_iter().map(|piece| piece.text).collect())
}

/// The rendering in its pieces, in order.
pub fn pieces(body: &Body, format: &Format) -> Result<Vec<Piece>, ReadError> {
    let view = View::of(body);
    match format {
        Format::Markdown => Ok(markdown::pieces(&view)),
        Format::Xml => Ok(xml::pieces(&view)),
        Format::Json => json::pieces(&view),
        Format::Other(name) => Err(ReadError::at(
            "/assembly/format",
            format!("expected markdown, xml or json, got {name:?}"),
        )),
    }
}

/// One memory's piece alone, as it would stand in `body`: for weighing it before it is packed.
pub fn memory_piece(
    body: &Body,
    memory: &PackedMemory,
    format: &Format,
) -> Result<String, ReadError> {
    let memory = MemoryView::of(memory, &body.created_at);
    match format {
        Format::Markdown => Ok(markdown::memory(&memory)),
        Format::Xml => Ok(xml::memory(&memory)),
        Format::Json => json::memory(&memory, true),
        Format::Other(name) => Err(ReadError::at(
            "/assembly/format",
            format!("expected markdown, xml or json, got {name:?}"),
        )),
    }
}
