//! Which memories could travel, and for which reason.

use std::collections::BTreeMap;

use spine_protocol::{Body, Envelope, MemoryId, Source};

use super::limits::{ASPECT_HITS, ASPECTS_ASKED_MAX, QUERY_BYTES_MAX, REFERENCES_MAX};
use super::request::HandoffRequest;
use super::value::strength;
use crate::text::mentions::mentioned;
use crate::text::summary::sentences;

/// What an aspect finds counts a little less than what the whole finds.
const ASPECT_WEIGHT: f64 = 0.9;
/// "Go on." asks for nothing.
const TELLING_WORDS_MIN: usize = 3;

/// The references of a handoff, each once with its strongest source.
#[derive(Debug, Default)]
pub(super) struct References {
    by_id: BTreeMap<MemoryId, Source>,
    /// Ranges that were longer than can be taken, and references beyond the limit, in words.
    pub cut: Vec<String>,
}

impl References {
    /// Asked for by id, mentioned in the summary, named by a new step; then whatever the parents carried.
    pub fn of(request: &HandoffRequest, body: &Body, parents: &[Envelope]) -> Self {
        let mut references = Self::default();
        let mentions = mentioned(&request.summary);
        references.cut =
            mentions.cut.iter().map(|cut| format!("{} through {}", cut.from, cut.to)).collect();
        references.add(mentions.ids, &Source::Mentioned);
        references.add(request.history.iter().filter_map(|step| step.memory_id), &Source::History);
        references.add(request.memory_refs.iter().copied(), &Source::Requested);
        references.add(body.history.iter().filter_map(|step| step.memory_id), &Source::Inherited);
        references.add(
            parents.iter().flat_map(|parent| &parent.memories).map(|memory| memory.id),
            &Source::Inherited,
        );
        references
    }

    /// What a parent missed is asked for again.
    pub fn ask_again(&mut self, parents: &[Envelope]) {
        let gaps = parents.iter().flat_map(|parent| &parent.completeness.gaps);
        self.add(gaps.filter_map(|gap| gap.reference.parse().ok()), &Source::Requested);
    }

    fn add(&mut self, ids: impl IntoIterator<Item = MemoryId>, source: &Source) {
        for id in ids {
            if self.by_id.len() >= REFERENCES_MAX && !self.by_id.contains_key(&id) {
                self.cut.push(id.to_string());
                continue;
            }
            let known = self.by_id.entry(id).or_insert_with(|| source.clone());
            if strength(source) < strength(known) {
                known.clone_from(source);
            }
        }
    }

    pub fn ids(&self) -> Vec<MemoryId> {
        self.by_id.keys().copied().collect()
    }

    pub fn source(&self, id: MemoryId) -> Option<&Source> {
        self.by_id.get(&id)
    }
}

/// What the search is asked, and how much its answer counts.
pub(super) struct Question {
    pub text: String,
    pub weight: f64,
    /// Asked for at most so many hits; none is as many as can be weighed.
    pub hits_max: Option<usize>,
}

/// The whole first: the summary, then the intent, then what is still open. Then one question for each aspect of the
/// summary, since a task asks for several things, and in one long question the one with the most common words drowns the
/// others.
pub(super) fn questions(body: &Body) -> Vec<Question> {
    let open = body.task.state.open_questions.iter().filter(|question| question.answer.is_none());
    let mut parts = vec![body.task.summary.as_str()];
    if body.task.intent != body.task.summary {
        parts.push(&body.task.intent);
    }
    parts.extend(open.map(|question| question.question.as_str()));
    let whole = Question { text: bounded(&parts.join("\n")), weight: 1.0, hits_max: None };
    let aspects = aspects(&body.task.summary).into_iter().take(ASPECTS_ASKED_MAX);
    let alone = aspects.map(|aspect| Question {
        text: bounded(&aspect),
        weight: ASPECT_WEIGHT,
        hits_max: Some(ASPECT_HITS),
    });
    std::iter::once(whole).chain(alone).collect()
}

/// The clauses of a summary, each behind its first one: that names the topic. None where there is only one.
fn aspects(summary: &str) -> Vec<String> {
    let clauses = sentences(summary)
        .into_iter()
        .flat_map(|sentence| sentence.split([',', ';', '，', '；', '、']));
    let is_telling = |clause: &&str| clause.split_whitespace().count() >= TELLING_WORDS_MIN;
    let mut clauses = clauses.map(str::trim).filter(is_telling);
    let Some(topic) = clauses.next() else { return Vec::new() };
    clauses.map(|clause| format!("{topic} {clause}")).collect()
}

fn bounded(text: &str) -> String {
    let end = (0..=QUERY_BYTES_MAX.min(text.len())).rev().find(|end| text.is_char_boundary(*end));
    text.get(..end.unwrap_or(0)).unwrap_or_default().to_owned()
}
