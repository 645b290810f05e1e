//! One workspace in memory, at its newest change: what a search reads.
//!
//! A memory takes its vector (a byte a dimension), its sign bits, eight bytes for each different term
//! and about 150 bytes besides. Word frequencies stay on disk, in the postings; here is only by how
//! much they are off.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::thread;

use spine_store::Priority;

use crate::committed::Committed;
use crate::date_words::{DatePart, DateWords};
use crate::fast_map::FastMap;
use crate::limits::IndexLimits;
use crate::names::{NO_MEMORY, NO_NAME, Names};
use crate::record::Record;
use crate::sign_bits::{SignBits, SignPart, whole_rows};
use crate::tail::Tail;
use crate::term_key::TermCount;
use crate::vector::{Wide, add_scaled, length, widely};
use crate::vectors::Vectors;

/// Terms of memories that are gone are cleared away when there are more, and more than of live ones.
const UNUSED_TERMS_MAX: usize = 4_096;

/// Vectors that are worth a thread of their own.
const MEASURED_MIN: usize = 4_096;

/// Different terms of a memory, roughly.
const EXPECTED_TERMS: usize = 16;

/// What is kept of one memory besides its vector. The default is no memory.
#[derive(Debug, Clone, Default)]
pub(crate) struct Slot {
    pub(crate) live: bool,
    /// Written since the last commit: postings on disk say something else, or nothing.
    pub(crate) in_tail: bool,
    pub(crate) pinned: bool,
    pub(crate) priority: Priority,
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
    /// Where its terms begin, and how many there are.
    terms: (usize, u32),
    /// Where its postings begin while it is in the tail; there are as many as terms.
    first_posting: u32,
}

impl Slot {
    fn has_posting(&self, place: u32) -> bool {
        place.checked_sub(self.first_posting).is_some_and(|at| at < self.terms.1)
    }
}

/// The memories just before and just behind in the thread; 0 is none.
type Links = (u32, u32);

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
    /// Written since the commit below.
    pub(crate) tail: Tail,
    /// What is on disk, as of the commit that this space knows.
    pub(crate) committed: Arc<Committed>,
    /// For each segment, which memory a document stands for; 0 for none of ours.
    pub(crate) documents: Vec<Vec<u32>>,
    /// Live memories that have no vector yet.
    pub(crate) unembedded: BTreeSet<u32>,
    /// Live memories that expire some day.
    pub(crate) expiring: usize,
    slots: Vec<Slot>,
    /// The terms of all memories, one behind the other, with those of memories that are gone between.
    terms: Vec<TermCount>,
    unused_terms: usize,
    /// A small column for what each candidate asks several times.
    links: Vec<Links>,
    /// One more than a memory's length where its postings on disk hold, else 0: small, since every
    /// posting asks for it.
    posted: Vec<u32>,
    /// Whom each memory is about, `NO_MEMORY` where there is none: small, since most filters name a subject.
    subjects: Vec<u32>,
    subject_counts: FastMap<u32, usize>,
    /// Of each live memory: small, since a query that names a date looks through all.
    dates: Vec<DateWords>,
    vectors: Vectors,
    norms: Vec<f32>,
    bits: SignBits,
    threads: Vec<Vec<u32>>,
    author_counts: Vec<u32>,
    date_counts: FastMap<DatePart, u64>,
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
            tail: Tail::default(),
            committed,
            documents: Vec::new(),
            unembedded: BTreeSet::new(),
            expiring: 0,
            slots: Vec::new(),
            terms: Vec::new(),
            unused_terms: 0,
            links: Vec::new(),
            posted: Vec::new(),
            subjects: Vec::new(),
            subject_counts: FastMap::default(),
            dates: Vec::new(),
            vectors: Vectors::new(options.dimensions),
            norms: Vec::new(),
            bits: SignBits::new(options.dimensions),
            threads: Vec::new(),
            author_counts: Vec::new(),
            date_counts: FastMap::default(),
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

    /// The terms of a memory, sorted.
    #[inline]
    pub(crate) fn terms(&self, slot: &Slot) -> &[TermCount] {
        let (start, count) = slot.terms;
        self.terms.get(start..start + count as usize).unwrap_or_default()
    }

    /// The length of a memory whose postings on disk hold.
    #[inline]
    pub(crate) fn posted_length(&self, number: u32) -> Option<u32> {
        self.posted.get(number as usize)?.checked_sub(1)
    }

    /// The memories in the tail that have a term, each with its length and how often the term stands in it.
    pub(crate) fn posted_in_tail(&self, key: u64) -> impl Iterator<Item = (u32, u32, u32)> {
        self.tail.postings(key).filter_map(|(number, place, count)| {
            let slot = self.slot(number).filter(|slot| slot.has_posting(place))?;
            Some((number, slot.length, count))
        })
    }

    fn note_posted(&mut self, number: u32) {
        let slot = self.slot(number).filter(|slot| !slot.in_tail);
        let posted = slot.map_or(0, |slot| slot.length + 1);
        self.posted.get_mut(number as usize).into_iter().for_each(|place| *place = posted);
    }

    fn note_subject(&mut self, number: u32, subject: u32) {
        self.subjects.get_mut(number as usize).into_iter().for_each(|place| *place = subject);
    }

    fn note_date(&mut self, number: u32, date: DateWords) {
        self.dates.get_mut(number as usize).into_iter().for_each(|place| *place = date);
    }

    /// Live memories whose date has this part, expired ones too.
    pub(crate) fn dated(&self, part: DatePart) -> impl Iterator<Item = u32> {
        let named = self.dates.iter().enumerate().filter(move |(_, date)| part.names(**date));
        named.map(|(number, _)| number as u32)
    }

    /// Whether every number above 0 is a live memory that never expires.
    pub(crate) fn is_dense(&self) -> bool {
        self.live + 1 == self.slots.len() && self.expiring == 0
    }

    /// Whom a memory is about; `NO_MEMORY` where there is none.
    #[inline]
    pub(crate) fn subject(&self, number: u32) -> u32 {
        self.subjects.get(number as usize).copied().unwrap_or(NO_MEMORY)
    }

    /// Live memories about one of these, expired ones too.
    pub(crate) fn subject_count(&self, subjects: &[u32]) -> usize {
        subjects.iter().filter_map(|subject| self.subject_counts.get(subject)).sum()
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
    #[inline]
    pub(crate) fn neighbours(&self, number: u32) -> impl Iterator<Item = u32> + use<> {
        let (before, behind) = self.links(number);
        let near = [self.links(before).0, before, behind, self.links(behind).1];
        near.into_iter().filter(|other| *other != 0)
    }

    /// The memory just before in the thread.
    pub(crate) fn before(&self, number: u32) -> Option<u32> {
        Some(self.links(number).0).filter(|before| *before != 0)
    }

    #[inline]
    fn links(&self, number: u32) -> Links {
        self.links.get(number as usize).copied().unwrap_or_default()
    }

    /// Makes two memories follow each other; number 0 is none and keeps no links.
    fn link(&mut self, before: u32, behind: u32) {
        if let Some(links) = self.links.get_mut(before as usize).filter(|_| before != 0) {
            links.1 = behind;
        }
        if let Some(links) = self.links.get_mut(behind as usize).filter(|_| behind != 0) {
            links.0 = before;
        }
    }

    /// The int8 vector of a memory; zeros when it has none.
    #[inline]
    pub(crate) fn vector(&self, number: u32) -> &[i8] {
        self.vectors.values(number)
    }

    /// What a memory's vector is multiplied by.
    #[inline]
    pub(crate) fn scale(&self, number: u32) -> f32 {
        self.vectors.scale(number)
    }

    /// The length of a memory's vector mixed with its neighbours'.
    #[inline]
    pub(crate) fn norm(&self, number: u32) -> f32 {
        self.norms.get(number as usize).copied().unwrap_or(1.0)
    }

    /// Sign bits of all vectors, each mixed with its neighbours'.
    pub(crate) fn bits(&self) -> &SignBits {
        &self.bits
    }

    /// What a neighbour's vector counts.
    pub(crate) fn mix(&self) -> f32 {
        self.mix
    }

    /// All vectors, one behind the other.
    pub(crate) fn vectors(&self) -> (&[i8], &[f32]) {
        self.vectors.all()
    }

    /// Makes room for what is about to be loaded, and gives the vectors away, to be loaded meanwhile.
    pub(crate) fn expect(&mut self, highest: u32, memories: usize) -> Vectors {
        self.make_room(highest);
        self.terms.reserve(memories * EXPECTED_TERMS);
        std::mem::take(&mut self.vectors)
    }

    /// Takes what is on disk, but for the vector; to be followed by `finish_loading`.
    pub(crate) fn load(&mut self, record: &Record<'_>) {
        self.insert(record);
    }

    /// The vector of a record, if it can be used here.
    pub(crate) fn vector_of<'b>(&self, record: &Record<'b>) -> Option<(&'b [u8], f32)> {
        record.vector(self.model, self.dimensions)
    }

    /// Takes the vectors back, orders the threads and measures the mixed vectors.
    pub(crate) fn finish_loading(&mut self, vectors: Vectors) {
        self.vectors = vectors;
        let mut threads = std::mem::take(&mut self.threads);
        for members in &mut threads {
            members.sort_unstable();
            members.iter().zip(members.iter().skip(1)).for_each(|(a, b)| self.link(*a, *b));
        }
        self.threads = threads;
        self.measure_all();
    }

    /// Takes a memory's new state, which disk does not have yet.
    pub(crate) fn put(&mut self, record: &Record<'_>) {
        let (number, change) = (record.number, record.change);
        let mut touched: Vec<u32> = self.neighbours(number).collect();
        self.remove(number);
        self.make_room(number);
        self.vectors.set(number, self.vector_of(record));
        self.insert(record);
        self.order_last(number);
        touched.extend(self.neighbours(number));
        touched.push(number);
        self.measure(&touched);
        self.mark_tail(number, change);
        self.post(number);
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
        self.tail.mark(number, change);
        if let Some(slot) = self.slots.get_mut(number as usize) {
            slot.in_tail = true;
        }
        self.note_posted(number);
    }

    /// Notes where the terms of a memory in the tail are.
    fn post(&mut self, number: u32) {
        let Some(slot) = self.slots.get_mut(number as usize).filter(|slot| slot.live) else {
            return;
        };
        let (start, count) = slot.terms;
        let terms = self.terms.get(start..start + count as usize).unwrap_or_default();
        slot.first_posting = self.tail.post(number, terms);
    }

    /// Forgets what is now on disk; the caller sets documents right, and what they count that is stale.
    pub(crate) fn settle(&mut self, committed_to: u64) {
        for number in self.tail.settle(committed_to) {
            if let Some(slot) = self.slots.get_mut(number as usize) {
                slot.in_tail = false;
            }
            self.note_posted(number);
        }
        self.tail.numbers().into_iter().for_each(|number| self.post(number));
    }

    fn make_room(&mut self, number: u32) {
        let count = number as usize + 1;
        if self.slots.len() < count {
            self.slots.resize_with(count, Slot::default);
            self.links.resize(count, (0, 0));
            self.posted.resize(count, 0);
            self.subjects.resize(count, NO_MEMORY);
            self.dates.resize(count, DateWords::default());
            self.vectors.resize(count);
            self.norms.resize(count, 1.0);
            self.bits.resize(count);
        }
    }

    fn insert(&mut self, record: &Record<'_>) {
        let number = record.number;
        match self.vector_of(record) {
            Some(_) => self.unembedded.remove(&number),
            None => self.unembedded.insert(number),
        };
        let slot = self.slot_of(record);
        self.count(&slot);
        self.note_subject(number, slot.subject);
        self.note_date(number, slot.date);
        if let Some(members) = self.threads.get_mut(slot.thread as usize) {
            members.push(number);
        }
        if let Some(place) = self.slots.get_mut(number as usize) {
            *place = slot;
        }
        self.note_posted(number);
    }

    fn slot_of(&mut self, record: &Record<'_>) -> Slot {
        let names = &mut self.names;
        let thread = names.threads.intern_some(record.thread);
        if thread != NO_NAME && self.threads.len() <= thread as usize {
            self.threads.push(Vec::new());
        }
        let terms = (self.terms.len(), record.terms().len() as u32);
        self.terms.extend(record.terms());
        Slot {
            live: true,
            in_tail: false,
            pinned: record.pinned,
            priority: record.priority,
            version: record.version,
            change: record.change,
            about_ms: record.about_ms,
            expires_ms: record.expires_ms,
            date: record.date,
            asks: record.asks,
            length: record.length,
            thread,
            author: names.authors.intern_some(record.author),
            subject: names.subjects.intern_some(record.subject),
            kind: names.kinds.intern(record.kind),
            tags: record.tags().map(|tag| names.tags.intern(tag)).collect(),
            terms,
            first_posting: 0,
        }
    }

    fn count(&mut self, slot: &Slot) {
        self.live += 1;
        *self.subject_counts.entry(slot.subject).or_default() += 1;
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

    fn remove(&mut self, number: u32) {
        let Some(place) = self.slots.get_mut(number as usize).filter(|slot| slot.live) else {
            return;
        };
        let slot = std::mem::take(place);
        self.drop_terms(&slot);
        self.live -= 1;
        self.subject_counts.entry(slot.subject).and_modify(|count| *count -= 1);
        self.note_subject(number, NO_MEMORY);
        self.note_date(number, DateWords::default());
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
        let (before, behind) = self.links(number);
        self.link(before, behind);
        self.links.get_mut(number as usize).into_iter().for_each(|links| *links = (0, 0));
        self.vectors.set(number, None);
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
        let at = |place: Option<usize>| place.and_then(|at| members.get(at)).copied();
        let (before, behind) = (at(place.checked_sub(1)), at(Some(place + 1)));
        self.link(before.unwrap_or(0), number);
        self.link(number, behind.unwrap_or(0));
    }

    fn drop_terms(&mut self, slot: &Slot) {
        let (start, count) = slot.terms;
        let terms = self.terms.get(start..start + count as usize).unwrap_or_default();
        self.tail.discount(terms.iter().copied());
        self.unused_terms += terms.len();
        if self.unused_terms > UNUSED_TERMS_MAX.max(self.terms.len() / 2) {
            self.pack_terms();
        }
    }

    fn pack_terms(&mut self) {
        let mut packed = Vec::with_capacity(self.terms.len() - self.unused_terms);
        for slot in &mut self.slots {
            let (start, count) = slot.terms;
            let own = self.terms.get(start..start + count as usize).unwrap_or_default();
            slot.terms = (packed.len(), count);
            packed.extend_from_slice(own);
        }
        (self.terms, self.unused_terms) = (packed, 0);
    }

    fn measure(&mut self, numbers: &[u32]) {
        let mut bits = std::mem::take(&mut self.bits);
        let mut norms = std::mem::take(&mut self.norms);
        for signs in bits.parts_mut(norms.len()) {
            let (numbers, norms) = (numbers.iter().copied(), norms.as_mut_slice());
            widely(Measure { space: self, numbers, first: 0, norms, signs });
        }
        (self.norms, self.bits) = (norms, bits);
    }

    fn measure_all(&mut self) {
        let mut bits = std::mem::take(&mut self.bits);
        let mut norms = std::mem::take(&mut self.norms);
        let threads = thread::available_parallelism().map_or(1, usize::from);
        let share = whole_rows(norms.len().div_ceil(threads).max(MEASURED_MIN));
        let space = &*self;
        thread::scope(|scope| {
            for (part, (norms, signs)) in
                norms.chunks_mut(share).zip(bits.parts_mut(share)).enumerate()
            {
                let first = part * share;
                let numbers = first as u32..(first + norms.len()) as u32;
                let measure = Measure { space, numbers, first, norms, signs };
                scope.spawn(|| widely(measure));
            }
        });
        (self.norms, self.bits) = (norms, bits);
    }
}

/// Mixes each vector with its neighbours' and notes the length and the signs of the result.
struct Measure<'s, N> {
    space: &'s Space,
    numbers: N,
    /// The number whose place comes first.
    first: usize,
    norms: &'s mut [f32],
    signs: SignPart<'s>,
}

impl<N: Iterator<Item = u32>> Wide for Measure<'_, N> {
    type Output = ();

    #[inline(always)]
    fn work(mut self) {
        let space = self.space;
        let mut sum = vec![0f32; space.dimensions];
        for number in self.numbers {
            sum.fill(0.0);
            add_scaled(&mut sum, space.vector(number), space.scale(number));
            for other in space.neighbours(number) {
                add_scaled(&mut sum, space.vector(other), space.mix * space.scale(other));
            }
            let (norm, place) = (length(&sum), number as usize - self.first);
            if let Some(place) = self.norms.get_mut(place) {
                *place = if norm > 0.0 { norm } else { 1.0 };
            }
            self.signs.set(place, &sum);
        }
    }
}
