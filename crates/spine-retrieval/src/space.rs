//! One workspace in memory, at its newest change: what a search reads.
//!
//! A memory takes its vector (a byte a dimension), its sign bits, eight bytes for each different term
//! and about 150 bytes besides. Word frequencies stay on disk, in the postings; here is only by how
//! much they are off.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use crate::committed::Committed;
use crate::date_words::{DatePart, DateWords};
use crate::limits::IndexLimits;
use crate::names::{NO_NAME, Names};
use crate::recipe::REACH;
use crate::record::Record;
use crate::term_key::TermCount;
use crate::vector::{Vector, Wide, dot, sign_bits, widely};

/// What is kept of one memory besides its vector. The default is no memory.
#[derive(Debug, Clone, Default)]
pub(crate) struct Slot {
    pub(crate) live: bool,
    /// Written since the last commit: postings on disk say something else, or nothing.
    pub(crate) in_tail: bool,
    pub(crate) pinned: bool,
    pub(crate) version: u32,
    pub(crate) change: u64,
    pub(crate) about_ms: i64,
    pub(crate) expires_ms: i64,
    pub(crate) date: DateWords,
    pub(crate) asks: f32,
    pub(crate) length: u32,
    pub(crate) thread: u32,
    pub(crate) author: u32,
    pub(crate) subject: u32,
    pub(crate) kind: u32,
    pub(crate) tags: Box<[u32]>,
    pub(crate) terms: Box<[TermCount]>,
}

/// The interned names of a workspace.
#[derive(Debug, Default)]
pub(crate) struct SpaceNames {
    pub(crate) threads: Names,
    pub(crate) authors: Names,
    pub(crate) subjects: Names,
    pub(crate) kinds: Names,
    pub(crate) tags: Names,
}

/// All memories of a workspace, by number.
pub(crate) struct Space {
    /// Which life of the index it belongs to: a rebuild begins a new one.
    pub(crate) life: u64,
    /// The change up to which it has read.
    pub(crate) read_to: u64,
    pub(crate) names: SpaceNames,
    pub(crate) live: usize,
    pub(crate) total_length: u64,
    /// Written since the commit below, with the change that did it.
    pub(crate) tail: BTreeMap<u32, u64>,
    /// What is on disk, as of the commit that this space knows.
    pub(crate) committed: Arc<Committed>,
    /// For each segment, which memory a document stands for; 0 for none of ours.
    pub(crate) documents: Vec<Vec<u32>>,
    /// By how much the frequencies on disk are off.
    pub(crate) frequency_errors: HashMap<u64, i64>,
    /// Live memories that have no vector yet.
    pub(crate) unembedded: BTreeSet<u32>,
    /// Live memories that expire some day.
    pub(crate) expiring: usize,
    slots: Vec<Slot>,
    /// One more than a memory's length where its postings on disk hold, else 0: small, since every
    /// posting asks for it.
    posted: Vec<u32>,
    vectors: Vec<i8>,
    scales: Vec<f32>,
    norms: Vec<f32>,
    bits: Vec<u64>,
    threads: Vec<Vec<u32>>,
    author_counts: Vec<u32>,
    date_counts: HashMap<DatePart, u64>,
    /// When which way of searching is taken.
    pub(crate) limits: IndexLimits,
    model: u64,
    dimensions: usize,
    mix: f32,
}

/// What a space is told once: model, dimensions, what a neighbour's vector counts, limits.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SpaceOptions {
    pub(crate) model: u64,
    pub(crate) dimensions: usize,
    pub(crate) mix: f32,
    pub(crate) limits: IndexLimits,
}

impl Space {
    pub(crate) fn new(life: u64, options: SpaceOptions, committed: Arc<Committed>) -> Self {
        Self {
            life,
            read_to: 0,
            names: SpaceNames::default(),
            live: 0,
            total_length: 0,
            tail: BTreeMap::new(),
            committed,
            documents: Vec::new(),
            frequency_errors: HashMap::new(),
            unembedded: BTreeSet::new(),
            expiring: 0,
            slots: Vec::new(),
            posted: Vec::new(),
            vectors: Vec::new(),
            scales: Vec::new(),
            norms: Vec::new(),
            bits: Vec::new(),
            threads: Vec::new(),
            author_counts: Vec::new(),
            date_counts: HashMap::new(),
            limits: options.limits,
            model: options.model,
            dimensions: options.dimensions,
            mix: options.mix,
        }
    }

    /// The memory with this number, if it is there.
    #[inline]
    pub(crate) fn slot(&self, number: u32) -> Option<&Slot> {
        self.slots.get(number as usize).filter(|slot| slot.live)
    }

    /// The length of a memory whose postings on disk hold.
    #[inline]
    pub(crate) fn posted_length(&self, number: u32) -> Option<u32> {
        self.posted.get(number as usize)?.checked_sub(1)
    }

    fn note_posted(&mut self, number: u32) {
        let slot = self.slot(number).filter(|slot| !slot.in_tail);
        let posted = slot.map_or(0, |slot| slot.length + 1);
        self.posted.get_mut(number as usize).into_iter().for_each(|place| *place = posted);
    }

    /// Every live memory, by number.
    pub(crate) fn live_slots(&self) -> impl Iterator<Item = (u32, &Slot)> {
        self.slots
            .iter()
            .enumerate()
            .filter(|(_, slot)| slot.live)
            .map(|(n, slot)| (n as u32, slot))
    }

    /// One beyond the highest number.
    pub(crate) fn numbers(&self) -> usize {
        self.slots.len()
    }

    /// Live memories whose date has this part.
    pub(crate) fn date_count(&self, part: DatePart) -> u64 {
        self.date_counts.get(&part).copied().unwrap_or_default()
    }

    /// The authors of live memories, with their numbers.
    pub(crate) fn authors(&self) -> impl Iterator<Item = (u32, &str)> {
        let named = self.names.authors.iter().zip(&self.author_counts).enumerate();
        named.filter(|(_, (_, count))| **count > 0).map(|(n, (name, _))| (n as u32, name))
    }

    /// The members of every thread, in order.
    pub(crate) fn threads(&self) -> &[Vec<u32>] {
        &self.threads
    }

    /// Up to two memories before and two behind in the thread, in order.
    pub(crate) fn neighbours(&self, number: u32) -> impl Iterator<Item = u32> + '_ {
        let (members, place) = self.place(number);
        let from = place.saturating_sub(REACH);
        let near = members.get(from..members.len().min(place + REACH + 1)).unwrap_or_default();
        near.iter().copied().filter(move |other| *other != number)
    }

    /// The memory just before in the thread.
    pub(crate) fn before(&self, number: u32) -> Option<u32> {
        let (members, place) = self.place(number);
        members.get(place.checked_sub(1)?).copied()
    }

    fn place(&self, number: u32) -> (&[u32], usize) {
        let thread = self.slot(number).map_or(NO_NAME, |slot| slot.thread);
        let members = self.threads.get(thread as usize).map_or(&[][..], Vec::as_slice);
        (members, members.binary_search(&number).unwrap_or(0))
    }

    /// The int8 vector of a memory; zeros when it has none.
    #[inline]
    pub(crate) fn vector(&self, number: u32) -> &[i8] {
        let start = number as usize * self.dimensions;
        self.vectors.get(start..start + self.dimensions).unwrap_or_default()
    }

    /// What a memory's vector is multiplied by.
    #[inline]
    pub(crate) fn scale(&self, number: u32) -> f32 {
        self.scales.get(number as usize).copied().unwrap_or_default()
    }

    /// The length of a memory's vector mixed with its neighbours'.
    #[inline]
    pub(crate) fn norm(&self, number: u32) -> f32 {
        self.norms.get(number as usize).copied().unwrap_or(1.0)
    }

    /// Sign bits of all vectors, some words for each number.
    pub(crate) fn bits(&self) -> &[u64] {
        &self.bits
    }

    /// Words of sign bits for each number.
    pub(crate) fn bit_words(&self) -> usize {
        self.dimensions.div_ceil(64)
    }

    /// What a neighbour's vector counts.
    pub(crate) fn mix(&self) -> f32 {
        self.mix
    }

    /// All vectors, one behind the other.
    pub(crate) fn vectors(&self) -> (&[i8], &[f32]) {
        (&self.vectors, &self.scales)
    }

    /// Takes what is on disk; to be followed by `finish_loading`.
    pub(crate) fn load(&mut self, record: Record) {
        self.insert(record);
    }

    /// Orders the threads and measures the mixed vectors.
    pub(crate) fn finish_loading(&mut self) {
        self.threads.iter_mut().for_each(|members| members.sort_unstable());
        let all: Vec<u32> = self.live_slots().map(|(number, _)| number).collect();
        self.measure(&all);
    }

    /// Takes a memory's new state, which disk does not have yet.
    pub(crate) fn put(&mut self, record: Record) {
        let (number, change) = (record.number, record.change);
        let mut touched: Vec<u32> = self.neighbours(number).collect();
        self.remove(number);
        record.terms.iter().for_each(|term| self.adjust_frequency(*term, 1));
        self.insert(record);
        self.order_last(number);
        touched.extend(self.neighbours(number));
        touched.push(number);
        self.measure(&touched);
        self.mark_tail(number, change);
    }

    /// Takes the end of a memory, which disk does not have yet.
    pub(crate) fn end(&mut self, number: u32, change: u64) {
        let touched: Vec<u32> = self.neighbours(number).collect();
        self.remove(number);
        self.measure(&touched);
        self.make_room(number);
        self.mark_tail(number, change);
    }

    fn mark_tail(&mut self, number: u32, change: u64) {
        self.tail.insert(number, change);
        if let Some(slot) = self.slots.get_mut(number as usize) {
            slot.in_tail = true;
        }
        self.note_posted(number);
    }

    /// Forgets what is now on disk; the caller sets frequencies and documents right.
    pub(crate) fn settle(&mut self, committed_to: u64) {
        let settled: Vec<u32> = self
            .tail
            .iter()
            .filter(|(_, change)| **change <= committed_to)
            .map(|(n, _)| *n)
            .collect();
        for number in settled {
            self.tail.remove(&number);
            if let Some(slot) = self.slots.get_mut(number as usize) {
                slot.in_tail = false;
            }
            self.note_posted(number);
        }
    }

    /// Counts a term more or less often than disk does.
    pub(crate) fn adjust_frequency(&mut self, term: TermCount, by: i64) {
        *self.frequency_errors.entry(term.key()).or_default() += by;
    }

    fn make_room(&mut self, number: u32) {
        let count = number as usize + 1;
        if self.slots.len() < count {
            self.slots.resize_with(count, Slot::default);
            self.posted.resize(count, 0);
            self.vectors.resize(count * self.dimensions, 0);
            self.scales.resize(count, 0.0);
            self.norms.resize(count, 1.0);
            self.bits.resize(count * self.bit_words(), 0);
        }
    }

    fn insert(&mut self, record: Record) {
        let number = record.number;
        self.make_room(number);
        self.set_vector(number, record.vector.as_ref().filter(|_| record.model == self.model));
        let slot = self.slot_of(record);
        self.count(&slot);
        if let Some(members) = self.threads.get_mut(slot.thread as usize) {
            members.push(number);
        }
        if let Some(place) = self.slots.get_mut(number as usize) {
            *place = slot;
        }
        self.note_posted(number);
    }

    fn slot_of(&mut self, record: Record) -> Slot {
        let names = &mut self.names;
        let thread = names.threads.intern_some(record.thread.as_deref());
        if thread != NO_NAME && self.threads.len() <= thread as usize {
            self.threads.push(Vec::new());
        }
        Slot {
            live: true,
            in_tail: false,
            pinned: record.pinned,
            version: record.version,
            change: record.change,
            about_ms: record.about_ms,
            expires_ms: record.expires_ms,
            date: record.date,
            asks: record.asks,
            length: record.length,
            thread,
            author: names.authors.intern_some(record.author.as_deref()),
            subject: names.subjects.intern_some(record.subject.as_deref()),
            kind: names.kinds.intern(&record.kind),
            tags: record.tags.iter().map(|tag| names.tags.intern(tag)).collect(),
            terms: record.terms,
        }
    }

    fn count(&mut self, slot: &Slot) {
        self.live += 1;
        self.expiring += usize::from(slot.expires_ms != i64::MAX);
        self.total_length += u64::from(slot.length);
        if slot.author != NO_NAME {
            let needed = slot.author as usize + 1;
            self.author_counts.resize(self.author_counts.len().max(needed), 0);
        }
        self.author_counts.get_mut(slot.author as usize).into_iter().for_each(|count| *count += 1);
        for part in slot.date.parts() {
            *self.date_counts.entry(part).or_default() += 1;
        }
    }

    fn set_vector(&mut self, number: u32, vector: Option<&Vector>) {
        let zero = Vector { values: vec![0; self.dimensions], scale: 0.0 };
        let fits = vector.filter(|vector| vector.values.len() == self.dimensions);
        match fits {
            Some(_) => self.unembedded.remove(&number),
            None => self.unembedded.insert(number),
        };
        let vector = fits.unwrap_or(&zero);
        let (start, words) = (number as usize * self.dimensions, self.bit_words());
        let place = self.vectors.get_mut(start..start + self.dimensions);
        place.into_iter().for_each(|place| place.copy_from_slice(&vector.values));
        let places = self.bits.iter_mut().skip(number as usize * words);
        places.zip(sign_bits(&vector.values)).for_each(|(place, word)| *place = word);
        self.scales.get_mut(number as usize).into_iter().for_each(|scale| *scale = vector.scale);
    }

    fn remove(&mut self, number: u32) {
        let Some(place) = self.slots.get_mut(number as usize).filter(|slot| slot.live) else {
            return;
        };
        let slot = std::mem::take(place);
        slot.terms.iter().for_each(|term| self.adjust_frequency(*term, -1));
        self.live -= 1;
        self.expiring -= usize::from(slot.expires_ms != i64::MAX);
        self.total_length -= u64::from(slot.length);
        self.author_counts.get_mut(slot.author as usize).into_iter().for_each(|count| *count -= 1);
        for part in slot.date.parts() {
            self.date_counts.entry(part).and_modify(|count| *count -= 1);
        }
        if let Some(members) = self.threads.get_mut(slot.thread as usize)
            && let Ok(place) = members.binary_search(&number)
        {
            members.remove(place);
        }
        self.set_vector(number, None);
        self.unembedded.remove(&number);
        self.note_posted(number);
    }

    /// Puts the last member of a thread where it belongs: at the end, unless it is older.
    fn order_last(&mut self, number: u32) {
        let thread = self.slot(number).map_or(NO_NAME, |slot| slot.thread);
        let Some(members) = self.threads.get_mut(thread as usize) else { return };
        members.pop();
        let place = members.partition_point(|member| *member < number);
        members.insert(place, number);
    }

    fn measure(&mut self, numbers: &[u32]) {
        let norms = widely(Norms { space: self, numbers });
        for (number, norm) in numbers.iter().zip(norms) {
            self.norms.get_mut(*number as usize).into_iter().for_each(|place| *place = norm);
        }
    }

    /// The length of `v + mix × the sum of the neighbours' v`.
    #[inline(always)]
    fn mixed_norm(&self, number: u32) -> f32 {
        let near: Vec<u32> = self.neighbours(number).collect();
        let mut square = self.product(number, number);
        for (at, other) in near.iter().enumerate() {
            square += 2.0 * self.mix * self.product(number, *other);
            square += self.mix * self.mix * self.product(*other, *other);
            for third in near.iter().skip(at + 1) {
                square += 2.0 * self.mix * self.mix * self.product(*other, *third);
            }
        }
        if square > 0.0 { square.sqrt() } else { 1.0 }
    }

    #[inline(always)]
    fn product(&self, a: u32, b: u32) -> f32 {
        let whole = dot(self.vector(a), self.vector(b));
        whole as f32 * self.scale(a) * self.scale(b)
    }
}

struct Norms<'s> {
    space: &'s Space,
    numbers: &'s [u32],
}

impl Wide for Norms<'_> {
    type Output = Vec<f32>;

    #[inline(always)]
    fn work(self) -> Vec<f32> {
        let mut norms = Vec::with_capacity(self.numbers.len());
        for number in self.numbers {
            norms.push(self.space.mixed_norm(*number));
        }
        norms
    }
}
