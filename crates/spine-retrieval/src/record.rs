//! What the index keeps of one memory, as it lies on disk: a fixed head, then terms, vector and names.
//!
//! A record depends on its memory alone, never on others: so an index that grew change by change is
//! the same as one built from nothing, and a deletion leaves nothing to undo. It is read where it lies:
//! loading a workspace takes no record apart first.

use spine_store::{Memory, Priority};

use crate::asks::asking_share;
use crate::date_words::DateWords;
use crate::document_terms::DocumentTerms;
use crate::term_key::TermCount;
use crate::vector::Vector;

/// Bytes before the terms.
const HEAD_BYTES: usize = 68;
/// Where the flags stand above a date.
const PINNED_BIT: u32 = 63;
const PRIORITY_BITS: u32 = 56;
const PRIORITY_MASK: u64 = 0b111;

/// A record on its way in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RecordBytes(Vec<u8>);

impl RecordBytes {
    /// The record of a memory. Without a vector, it will be given one later.
    pub(crate) fn new(
        memory: &Memory,
        number: u32,
        (terms, date): (&DocumentTerms, DateWords),
        vector: Option<(u64, &Vector)>,
    ) -> Self {
        let counts = terms.counts();
        let (model, values, scale) = vector
            .map_or((0, &[][..], 0.0), |(model, vector)| (model, &vector.values, vector.scale));
        let body = &memory.body;
        let mut bytes = Vec::with_capacity(HEAD_BYTES + counts.len() * 8 + values.len() + 64);
        bytes.extend(number.to_le_bytes());
        bytes.extend(memory.version.to_le_bytes());
        bytes.extend(memory.change.0.to_le_bytes());
        bytes.extend(memory.about_at().0.to_le_bytes());
        bytes.extend(body.expires_at.map_or(i64::MAX, |at| at.0).to_le_bytes());
        let flags = u64::from(body.pinned) << PINNED_BIT | (body.priority as u64) << PRIORITY_BITS;
        bytes.extend((date.pack() | flags).to_le_bytes());
        bytes.extend(asking_share(&body.text).to_le_bytes());
        bytes.extend((terms.len() as u32).to_le_bytes());
        bytes.extend(model.to_le_bytes());
        bytes.extend(scale.to_le_bytes());
        bytes.extend((values.len() as u32).to_le_bytes());
        bytes.extend((counts.len() as u32).to_le_bytes());
        counts.iter().for_each(|count| bytes.extend(count.0.to_le_bytes()));
        bytes.extend(values.iter().map(|value| *value as u8));
        push_name(&mut bytes, body.thread.as_ref().map(|thread| thread.as_str()));
        push_name(&mut bytes, body.author.as_ref().map(|author| author.as_str()));
        push_name(&mut bytes, body.subject.as_ref().map(|subject| subject.as_str()));
        push_name(&mut bytes, Some(body.kind.as_str()));
        body.tags.iter().for_each(|tag| push_name(&mut bytes, Some(tag.as_str())));
        Self(bytes)
    }

    pub(crate) fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}

/// Everything that a search needs to know of one memory.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Record<'b> {
    pub(crate) number: u32,
    pub(crate) version: u32,
    pub(crate) change: u64,
    pub(crate) pinned: bool,
    pub(crate) priority: Priority,
    pub(crate) about_ms: i64,
    /// `i64::MAX` when it never expires.
    pub(crate) expires_ms: i64,
    pub(crate) date: DateWords,
    pub(crate) asks: f32,
    /// How many terms there are, repeated ones too.
    pub(crate) length: u32,
    terms: &'b [[u8; 8]],
    pub(crate) thread: Option<&'b str>,
    pub(crate) author: Option<&'b str>,
    pub(crate) subject: Option<&'b str>,
    pub(crate) kind: &'b str,
    tags: &'b [u8],
    /// Which model made the vector.
    model: u64,
    scale: f32,
    values: &'b [u8],
}

impl<'b> Record<'b> {
    /// Only which memory the record is of.
    pub(crate) fn number_of(mut bytes: &[u8]) -> Option<u32> {
        take_u32(&mut bytes)
    }

    /// Reads what `RecordBytes` wrote; `None` when the bytes are something else.
    pub(crate) fn read(bytes: &'b [u8]) -> Option<Self> {
        let mut rest = bytes;
        let (number, version) = (take_u32(&mut rest)?, take_u32(&mut rest)?);
        let (change, about, expires) =
            (take_u64(&mut rest)?, take_u64(&mut rest)?, take_u64(&mut rest)?);
        let (date, asks, length) =
            (take_u64(&mut rest)?, take_u32(&mut rest)?, take_u32(&mut rest)?);
        let (model, scale) = (take_u64(&mut rest)?, take_u32(&mut rest)?);
        let (dimensions, term_count) = (take_u32(&mut rest)?, take_u32(&mut rest)?);
        let (terms, _) = take(&mut rest, term_count as usize * 8)?.as_chunks();
        let values = take(&mut rest, dimensions as usize)?;
        let (thread, author) = (take_name(&mut rest)?, take_name(&mut rest)?);
        let (subject, kind) = (take_name(&mut rest)?, take_name(&mut rest)??);
        let mut tags = rest;
        while !tags.is_empty() {
            take_name(&mut tags)??;
        }
        Some(Self {
            number,
            version,
            change,
            pinned: date >> PINNED_BIT == 1,
            priority: *Priority::ALL.get((date >> PRIORITY_BITS & PRIORITY_MASK) as usize)?,
            about_ms: about as i64,
            expires_ms: expires as i64,
            date: DateWords::unpack(date),
            asks: f32::from_bits(asks),
            length,
            terms,
            thread,
            author,
            subject,
            kind,
            tags: rest,
            model,
            scale: f32::from_bits(scale),
            values,
        })
    }

    /// Each term once with its count, sorted.
    pub(crate) fn terms(&self) -> impl ExactSizeIterator<Item = TermCount> + use<'b> {
        self.terms.iter().map(|bytes| TermCount(u64::from_le_bytes(*bytes)))
    }

    pub(crate) fn tags(&self) -> impl Iterator<Item = &'b str> + use<'b> {
        let mut rest = self.tags;
        std::iter::from_fn(move || take_name(&mut rest).flatten())
    }

    /// The vector and its scale, if this model made it.
    pub(crate) fn vector(&self, model: u64, dimensions: usize) -> Option<(&'b [u8], f32)> {
        let fits = self.model == model && self.values.len() == dimensions;
        fits.then_some((self.values, self.scale))
    }
}

/// A length, 0 for none and one more otherwise, then the bytes.
fn push_name(bytes: &mut Vec<u8>, name: Option<&str>) {
    bytes.extend(name.map_or(0, |name| name.len() as u32 + 1).to_le_bytes());
    bytes.extend_from_slice(name.unwrap_or_default().as_bytes());
}

fn take<'b>(rest: &mut &'b [u8], length: usize) -> Option<&'b [u8]> {
    let (taken, behind) = rest.split_at_checked(length)?;
    *rest = behind;
    Some(taken)
}

fn take_u32(rest: &mut &[u8]) -> Option<u32> {
    let (bytes, behind) = rest.split_first_chunk()?;
    *rest = behind;
    Some(u32::from_le_bytes(*bytes))
}

fn take_u64(rest: &mut &[u8]) -> Option<u64> {
    let (bytes, behind) = rest.split_first_chunk()?;
    *rest = behind;
    Some(u64::from_le_bytes(*bytes))
}

fn take_name<'b>(rest: &mut &'b [u8]) -> Option<Option<&'b str>> {
    let Some(length) = take_u32(rest)?.checked_sub(1) else { return Some(None) };
    std::str::from_utf8(take(rest, length as usize)?).ok().map(Some)
}

#[cfg(test)]
mod tests {
    use super::*;
    use spine_store::{Change, MemoryBody, UnixMs};

    fn memory() -> Memory {
        let body = MemoryBody {
            text: "It broke again. Why?".into(),
            thread: Some("run-1".parse().unwrap()),
            subject: Some("user:1".parse().unwrap()),
            tags: vec!["api".parse().unwrap(), "überlang-mehr-als-acht".parse().unwrap()],
            pinned: true,
            priority: Priority::High,
            occurred_at: Some("2023-05-08T10:00:00Z".parse().unwrap()),
            ..MemoryBody::default()
        };
        let (created_at, updated_at) = (UnixMs(5), UnixMs(6));
        let id = spine_protocol::MemoryId::new(7).unwrap();
        Memory { id, version: 3, change: Change(99), created_at, updated_at, body }
    }

    #[test]
    fn a_record_reads_back_as_it_was_written_and_a_part_of_it_does_not() {
        let memory = memory();
        let mut terms = DocumentTerms::new("space");
        terms.add_text(&memory.body.text);
        let vector = Vector { values: vec![1, -2, 3], scale: 0.25 };
        let date = DateWords { day: 8, month: 5, year: 2023, weekday: 0 };
        let written = RecordBytes::new(&memory, 7, (&terms, date), Some((4, &vector)));
        let record = Record::read(written.as_bytes()).unwrap();
        assert_eq!((record.number, record.version, record.change), (7, 3, 99));
        assert_eq!((record.pinned, record.priority), (true, Priority::High));
        assert_eq!((record.expires_ms, record.asks), (i64::MAX, 0.5));
        assert_eq!(record.date, date);
        assert_eq!(record.terms().collect::<Vec<_>>(), terms.counts());
        assert_eq!((record.thread, record.author, record.kind), (Some("run-1"), None, "note"));
        assert_eq!(record.subject, Some("user:1"));
        assert_eq!(record.tags().collect::<Vec<_>>(), ["api", "überlang-mehr-als-acht"]);
        assert_eq!(record.vector(4, 3), Some((&[1, 254, 3][..], 0.25)));
        assert_eq!((record.vector(5, 3), record.vector(4, 2)), (None, None));
        let untagged = written.as_bytes().len() - record.tags.len();
        for cut in 0..untagged {
            assert!(Record::read(&written.as_bytes()[..cut]).is_none(), "cut at {cut}");
        }
    }
}
