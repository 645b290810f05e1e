//! What the index keeps of one memory, and its form on disk: a row of 64-bit words.
//!
//! A record depends on its memory alone, never on others: so an index that grew change by change is
//! the same as one built from nothing, and a deletion leaves nothing to undo.

use spine_store::Memory;

use crate::asks::asking_share;
use crate::date_words::DateWords;
use crate::term_key::{TermCount, count_terms};
use crate::vector::Vector;
use crate::words::terms;

/// Everything that a search needs to know of one memory.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Record {
    pub(crate) number: u32,
    pub(crate) version: u32,
    pub(crate) change: u64,
    pub(crate) pinned: bool,
    pub(crate) about_ms: i64,
    /// `i64::MAX` when it never expires.
    pub(crate) expires_ms: i64,
    pub(crate) date: DateWords,
    pub(crate) asks: f32,
    /// How many terms there are, repeated ones too.
    pub(crate) length: u32,
    pub(crate) terms: Box<[TermCount]>,
    pub(crate) thread: Option<String>,
    pub(crate) author: Option<String>,
    pub(crate) subject: Option<String>,
    pub(crate) kind: String,
    pub(crate) tags: Vec<String>,
    /// Which model made the vector.
    pub(crate) model: u64,
    pub(crate) vector: Option<Vector>,
}

/// What a memory is found by: its title, its text and its tags.
pub(crate) fn searched_terms(memory: &Memory) -> Vec<String> {
    let mut found = terms(&memory.body.text);
    found.extend(memory.body.title.iter().flat_map(|title| terms(title)));
    found.extend(memory.body.tags.iter().flat_map(|tag| terms(tag.as_str())));
    found
}

/// What stands for the memory's meaning: its title and its text.
pub(crate) fn embedded_text(memory: &Memory) -> String {
    match &memory.body.title {
        Some(title) => format!("{title}\n{}", memory.body.text),
        None => memory.body.text.clone(),
    }
}

impl Record {
    /// The record of a memory, still without a vector.
    pub(crate) fn of(memory: &Memory, terms: &[String], number: u32) -> Self {
        let body = &memory.body;
        let owned = |text: Option<&str>| text.map(str::to_owned);
        Self {
            number,
            version: memory.version,
            change: memory.change.0,
            pinned: body.pinned,
            about_ms: memory.about_at().0,
            expires_ms: body.expires_at.map_or(i64::MAX, |at| at.0),
            date: DateWords::of(body.occurred_at.as_ref(), memory.created_at),
            asks: asking_share(&body.text),
            length: terms.len() as u32,
            terms: count_terms(terms),
            thread: owned(body.thread.as_ref().map(|thread| thread.as_str())),
            author: owned(body.author.as_ref().map(|author| author.as_str())),
            subject: owned(body.subject.as_ref().map(|subject| subject.as_str())),
            kind: body.kind.as_str().to_owned(),
            tags: body.tags.iter().map(|tag| tag.as_str().to_owned()).collect(),
            model: 0,
            vector: None,
        }
    }

    /// As words: a fixed head, then terms, vector and names.
    pub(crate) fn encode(&self) -> Vec<u64> {
        let mut words = vec![
            u64::from(self.number) << 32 | u64::from(self.version),
            self.change,
            self.about_ms as u64,
            self.expires_ms as u64,
            self.date.pack() | u64::from(self.pinned) << 63,
            u64::from(self.asks.to_bits()) << 32 | u64::from(self.length),
            self.model,
            self.terms.len() as u64,
        ];
        words.extend(self.terms.iter().map(|term| term.0));
        let (values, scale) = self.vector.as_ref().map_or((&[][..], 0.0), |v| (&v.values, v.scale));
        words.push(u64::from(f32::to_bits(scale)) << 32 | values.len() as u64);
        push_bytes(&mut words, values.iter().map(|value| *value as u8));
        let names = [&self.thread, &self.author, &self.subject];
        names.into_iter().for_each(|name| push_name(&mut words, name.as_deref()));
        push_name(&mut words, Some(&self.kind));
        words.push(self.tags.len() as u64);
        self.tags.iter().for_each(|tag| push_name(&mut words, Some(tag)));
        words
    }

    /// Reads what `encode` wrote; `None` when the words are something else.
    pub(crate) fn decode(words: &[u64]) -> Option<Self> {
        let (&[first, change, about, expires, date, figures, model, term_count], rest) =
            words.split_first_chunk()?;
        let (terms, mut rest) = rest.split_at_checked(term_count as usize)?;
        let vector = take_vector(&mut rest)?;
        let (thread, author) = (take_name(&mut rest)?, take_name(&mut rest)?);
        let (subject, kind) = (take_name(&mut rest)?, take_name(&mut rest)??);
        let tag_count = take(&mut rest)?;
        let tags = (0..tag_count).map(|_| take_name(&mut rest)?).collect::<Option<_>>()?;
        Some(Self {
            number: (first >> 32) as u32,
            version: first as u32,
            change,
            pinned: date >> 63 == 1,
            about_ms: about as i64,
            expires_ms: expires as i64,
            date: DateWords::unpack(date),
            asks: f32::from_bits((figures >> 32) as u32),
            length: figures as u32,
            terms: terms.iter().map(|word| TermCount(*word)).collect(),
            thread,
            author,
            subject,
            kind,
            tags,
            model,
            vector,
        })
    }
}

fn push_bytes(words: &mut Vec<u64>, bytes: impl Iterator<Item = u8>) {
    let bytes: Vec<u8> = bytes.collect();
    words.extend(bytes.chunks(8).map(|chunk| {
        let mut word = [0; 8];
        word.iter_mut().zip(chunk).for_each(|(to, from)| *to = *from);
        u64::from_le_bytes(word)
    }));
}

/// A length, 0 for none and one more otherwise, then the bytes.
fn push_name(words: &mut Vec<u64>, name: Option<&str>) {
    words.push(name.map_or(0, |name| name.len() as u64 + 1));
    push_bytes(words, name.unwrap_or_default().bytes());
}

fn take(rest: &mut &[u64]) -> Option<u64> {
    let (word, behind) = rest.split_first()?;
    *rest = behind;
    Some(*word)
}

fn take_bytes(rest: &mut &[u64], length: usize) -> Option<Vec<u8>> {
    let (words, behind) = rest.split_at_checked(length.div_ceil(8))?;
    *rest = behind;
    let mut bytes = Vec::with_capacity(words.len() * 8);
    words.iter().for_each(|word| bytes.extend_from_slice(&word.to_le_bytes()));
    bytes.truncate(length);
    Some(bytes)
}

fn take_name(rest: &mut &[u64]) -> Option<Option<String>> {
    let Some(length) = (take(rest)? as usize).checked_sub(1) else { return Some(None) };
    String::from_utf8(take_bytes(rest, length)?).ok().map(Some)
}

fn take_vector(rest: &mut &[u64]) -> Option<Option<Vector>> {
    let head = take(rest)?;
    let length = head as u32 as usize;
    let (words, behind) = rest.split_at_checked(length.div_ceil(8))?;
    *rest = behind;
    let mut values = Vec::with_capacity(words.len() * 8);
    words.iter().for_each(|word| values.extend(word.to_le_bytes().map(|byte| byte as i8)));
    values.truncate(length);
    let scale = f32::from_bits((head >> 32) as u32);
    Some((length > 0).then_some(Vector { values, scale }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_reads_back_as_it_was_written() {
        let record = Record {
            number: 7,
            version: 3,
            change: 99,
            pinned: true,
            about_ms: -5,
            expires_ms: i64::MAX,
            date: DateWords { day: 8, month: 5, year: 2023, weekday: 0 },
            asks: 0.5,
            length: 3,
            terms: count_terms(&["a".into(), "b".into(), "a".into()]),
            thread: Some("run-1".into()),
            author: None,
            subject: Some(String::new()),
            kind: "note".into(),
            tags: vec!["api".into(), "überlang, mehr als acht".into()],
            model: 4,
            vector: Some(Vector { values: vec![1, -2, 3], scale: 0.25 }),
        };
        let words = record.encode();
        assert_eq!(Record::decode(&words), Some(record));
        for cut in 0..words.len() {
            assert_eq!(Record::decode(&words[..cut]), None, "cut at {cut}");
        }
    }
}
