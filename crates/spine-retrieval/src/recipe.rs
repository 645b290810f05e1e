//! The constants of the ranking, each measured; see `docs` of [`Recipe`].

/// How the parts of a score are weighted. The defaults were measured on conversations; every one lies
/// on a plateau. Zero switches a part off.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Recipe {
    /// Share of words in the base score; the rest is meaning.
    pub words: f64,
    /// Share of meaning in the base score.
    pub meaning: f64,
    /// What a neighbour's word counts, where the memory's own counts 1.
    pub neighbour_words: f64,
    /// What a neighbour's vector counts, where the memory's own counts 1.
    pub neighbour_meaning: f32,
    /// What a word of the date counts.
    pub dates: f64,
    /// Added when the query names the author.
    pub author: f64,
    /// Taken off for a memory that only asks.
    pub asks: f64,
    /// The best base score of the same thread, times this.
    pub thread: f64,
    /// The base score of the question just before, times this.
    pub answer: f64,
}

impl Default for Recipe {
    fn default() -> Self {
        Self {
            words: 0.5,
            meaning: 0.5,
            neighbour_words: 0.3,
            neighbour_meaning: 0.4,
            dates: 1.0,
            author: 0.3,
            asks: 0.2,
            thread: 0.3,
            answer: 0.2,
        }
    }
}

/// Candidates by words, and as many by meaning.
pub(crate) const CANDIDATES: usize = 150;
/// The best candidates by words bring their neighbours.
pub(crate) const EXPANDED: usize = 50;
/// Cosines that lie closer together count less: among few memories the greatest may mean nothing at all.
pub(crate) const MEANING_SPAN_MIN: f64 = 0.3;
/// Neighbours on each side.
pub(crate) const REACH: usize = 2;
/// A word stands in the context of about so many memories when it stands in the text of one.
pub(crate) const SPREAD: f64 = 4.0;
/// Saturation and length weight of the first pass.
pub(crate) const FIRST_K1: f64 = 1.2;
pub(crate) const FIRST_B: f64 = 0.75;
/// Saturation and length weight of the second pass.
pub(crate) const SECOND_K1: f64 = 1.5;
pub(crate) const SECOND_B: f64 = 0.4;
/// Words of a date.
pub(crate) const DATE_WORDS: f64 = 4.0;
