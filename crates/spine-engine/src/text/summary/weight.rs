//! How much each unit matters: how central its words are to the text, and what it carries.

use std::collections::HashMap;
use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, AhoCorasickKind};

use super::units::{Kind, Unit};

/// What a unit weighs.
#[derive(Debug, Clone, Copy)]
pub(super) struct Weight {
    pub(super) total: f64,
    /// The byte where it begins to say what must or must not be.
    pub(super) constraint_at: Option<usize>,
}

// Centrality goes from 0 to 1. A plain constraint outweighs everything else together.
const CONSTRAINT_LIFT: f64 = 3.0;
const LIMIT_LIFT: f64 = 0.6;
const DECISION_LIFT: f64 = 0.6;
const ERROR_LIFT: f64 = 0.6;
const NUMBER_LIFT: f64 = 0.2;
/// A text's first unit usually says what it is about.
const FIRST_LIFT: f64 = 0.8;
/// So does what introduces a list.
const INTRODUCTION_LIFT: f64 = 0.4;
/// Among the lines of a log, those without an error say little.
const LOG_LINE_SHARE: f64 = 0.3;
const CODE_SHARE: f64 = 0.6;

/// The weights of all units of a text.
pub(super) fn weigh(units: &[Unit<'_>]) -> Vec<Weight> {
    let centralities = centralities(units);
    let weighed = units.iter().zip(centralities).enumerate();
    weighed.map(|(at, (unit, centrality))| weigh_one(unit, centrality, at == 0)).collect()
}

fn weigh_one(unit: &Unit<'_>, centrality: f64, is_first: bool) -> Weight {
    let cues = Cues::of(&unit.text);
    let lifts = [
        (cues.constraint_at.is_some() && unit.kind != Kind::Code, CONSTRAINT_LIFT),
        (cues.limits, LIMIT_LIFT),
        (cues.decides, DECISION_LIFT),
        (cues.names_error, if unit.kind == Kind::LogLine { 2.0 * ERROR_LIFT } else { ERROR_LIFT }),
        (unit.text.bytes().any(|b| b.is_ascii_digit()), NUMBER_LIFT),
        (is_first, FIRST_LIFT),
        (unit.text.ends_with(':'), INTRODUCTION_LIFT),
    ];
    let lift: f64 = lifts.iter().filter(|(has, _)| *has).map(|(_, lift)| lift).sum();
    let share = match unit.kind {
        Kind::LogLine if !cues.names_error => LOG_LINE_SHARE,
        Kind::Code => CODE_SHARE,
        _ => 1.0,
    };
    Weight { total: (centrality + lift) * share, constraint_at: cues.constraint_at }
}

#[derive(Clone, Copy, PartialEq)]
enum Cue {
    Constraint,
    Limit,
    Decision,
    Error,
}

/// Words that carry what handoffs lose first. Matched in any case, between word boundaries; the names of errors
/// may end a longer word (`ValueError`).
const CUES: &[(Cue, &[&str])] = &[
    (
        Cue::Constraint,
        &[
            "must",
            "never",
            "do not",
            "don't",
            "don’t",
            "shall not",
            "may not",
            "cannot",
            "forbidden",
            "prohibited",
            "not allowed",
            "under no circumstances",
            "mandatory",
            "required",
            "always",
            "muss",
            "müssen",
            "niemals",
            "nie",
            "darf nicht",
            "dürfen nicht",
            "verboten",
            "doit",
            "jamais",
            "interdit",
            "debe",
            "nunca",
            "prohibido",
            "必须",
            "必須",
            "不得",
            "禁止",
            "不要",
            "不能",
            "切勿",
            "しないで",
            "してはいけない",
            "てはならない",
            "必ず",
            "반드시",
            "절대",
        ],
    ),
    (
        Cue::Limit,
        &[
            "only",
            "except",
            "unless",
            "at most",
            "at least",
            "no more than",
            "not",
            "avoid",
            "without",
            "until",
            "deadline",
            "limit",
            "nur",
            "nicht",
            "kein",
            "keine",
            "außer",
            "seulement",
            "sauf",
            "solo",
            "salvo",
            "只",
            "仅",
            "除非",
            "のみ",
            "ただし",
        ],
    ),
    (
        Cue::Decision,
        &[
            "decided",
            "decision",
            "agreed",
            "chose",
            "chosen",
            "rejected",
            "because",
            "therefore",
            "instead of",
            "conclusion",
            "root cause",
            "entschieden",
            "beschlossen",
            "décidé",
            "decidido",
            "决定",
            "決定",
            "结论",
            "結論",
        ],
    ),
    (
        Cue::Error,
        &[
            "error",
            "exception",
            "panicked",
            "fatal",
            "failed",
            "failure",
            "timeout",
            "caused by",
            "错误",
        ],
    ),
];

static CUE_WORDS: LazyLock<(Option<AhoCorasick>, Vec<Cue>)> = LazyLock::new(|| {
    let words = CUES.iter().flat_map(|(cue, words)| words.iter().map(|word| (*cue, *word)));
    let (cues, words): (Vec<Cue>, Vec<&str>) = words.unzip();
    let mut builder = AhoCorasick::builder();
    builder.ascii_case_insensitive(true).kind(Some(AhoCorasickKind::DFA));
    let matcher = builder.build(words).ok();
    (matcher, cues)
});

#[derive(Default)]
struct Cues {
    constraint_at: Option<usize>,
    limits: bool,
    decides: bool,
    names_error: bool,
}

impl Cues {
    fn of(text: &str) -> Self {
        let (matcher, cue_of_word) = &*CUE_WORDS;
        let mut found = Self::default();
        for hit in matcher.iter().flat_map(|matcher| matcher.find_overlapping_iter(text)) {
            let Some(cue) = cue_of_word.get(hit.pattern().as_usize()) else { continue };
            let begins = *cue == Cue::Error || !ends_in_word(text.get(..hit.start()));
            if !begins || begins_in_word(text.get(hit.end()..)) {
                continue;
            }
            match cue {
                Cue::Constraint => found.constraint_at = found.constraint_at.or(Some(hit.start())),
                Cue::Limit => found.limits = true,
                Cue::Decision => found.decides = true,
                Cue::Error => found.names_error = true,
            }
        }
        found
    }
}

fn ends_in_word(before: Option<&str>) -> bool {
    before.and_then(|before| before.chars().next_back()).is_some_and(is_spaced_letter)
}

fn begins_in_word(after: Option<&str>) -> bool {
    after.and_then(|after| after.chars().next()).is_some_and(is_spaced_letter)
}

const CJK_FIRST: char = '\u{2e80}';

/// A letter or digit of a script that puts spaces between words.
fn is_spaced_letter(c: char) -> bool {
    c < CJK_FIRST && c.is_alphanumeric()
}

/// The number of each word, by its hash.
type WordIndex = HashMap<u64, usize>;

/// For each unit the likeness of its words to those of the whole text, the most central being 1.
fn centralities(units: &[Unit<'_>]) -> Vec<f64> {
    let mut index = WordIndex::default();
    let mut units_with: Vec<u32> = Vec::new();
    let words_of: Vec<Vec<usize>> =
        units.iter().map(|unit| distinct_words(&unit.text, &mut index, &mut units_with)).collect();
    let count = units.len() as f64;
    // What many units share is the subject; what nearly all share is grammar.
    let weight_of = |word: &usize| {
        let shared = f64::from(units_with.get(*word).copied().unwrap_or(1));
        shared * (1.0 + count / shared).ln()
    };
    let sums = words_of.iter().map(|words| {
        words.iter().map(weight_of).sum::<f64>() / (words.len() as f64).sqrt().max(1.0)
    });
    let sums: Vec<f64> = sums.collect();
    let most = sums.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
    sums.into_iter().map(|sum| sum / most).collect()
}

/// The numbers of the words in a text, each once, counting the unit for each.
fn distinct_words(text: &str, index: &mut WordIndex, units_with: &mut Vec<u32>) -> Vec<usize> {
    let mut words: Vec<usize> = word_hashes(text)
        .into_iter()
        .map(|hash| {
            let next = index.len();
            *index.entry(hash).or_insert(next)
        })
        .collect();
    words.sort_unstable();
    words.dedup();
    units_with.resize(index.len(), 0);
    for word in &words {
        if let Some(count) = units_with.get_mut(*word) {
            *count += 1;
        }
    }
    words
}

/// Shorter words are mostly grammar.
const WORD_CHARS_MIN: usize = 3;

/// Words in lower case, and pairs of neighbours in scripts without spaces, as hashes.
fn word_hashes(text: &str) -> Vec<u64> {
    let mut hashes = Vec::with_capacity(text.len() / 5);
    let (mut word, mut word_chars, mut before) = (HASH_START, 0, None);
    for c in text.chars().chain([' ']) {
        if is_spaced_letter(c) {
            word = hash_on(word, c.to_lowercase().next().unwrap_or(c));
            word_chars += 1;
        } else {
            if word_chars >= WORD_CHARS_MIN {
                hashes.push(word);
            }
            (word, word_chars) = (HASH_START, 0);
        }
        let cjk = Some(c).filter(|c| *c >= CJK_FIRST && c.is_alphanumeric());
        if let (Some(one), Some(two)) = (before, cjk) {
            hashes.push(hash_on(hash_on(HASH_START, one), two));
        }
        before = cjk;
    }
    hashes
}

// FNV-1a: short words, no adversary who gains by a collision.
const HASH_START: u64 = 0xcbf2_9ce4_8422_2325;

fn hash_on(hash: u64, c: char) -> u64 {
    (hash ^ u64::from(u32::from(c))).wrapping_mul(0x0100_0000_01b3)
}
