//! Random lineages from a seed, and the loop that runs a property over many of them.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use fastrand::Rng;
use serde_json::{Value, json};
use spine_protocol::*;

/// The normal run, or a hundred times that under soak.
pub fn cases(normal: u64) -> u64 {
    if std::env::var_os("SPINE_SOAK").is_some() { normal * 100 } else { normal }
}

/// Runs `check` with a fresh random source for each case. A failure prints the seed that replays it alone.
pub fn property(name: &str, normal: u64, check: impl Fn(&mut Rng)) {
    let given =
        std::env::var("SPINE_SEED").ok().map(|seed| seed.parse().expect("SPINE_SEED is a number"));
    let (first, count) = given.map_or((fastrand::u64(..1 << 48), cases(normal)), |seed| (seed, 1));
    println!("{name}: {count} cases from SPINE_SEED={first}");
    for seed in first..first + count {
        if let Err(panic) = catch_unwind(AssertUnwindSafe(|| check(&mut Rng::with_seed(seed)))) {
            eprintln!("{name} failed; replay with SPINE_SEED={seed}");
            resume_unwind(panic);
        }
    }
}

pub fn pick<'a, T: ?Sized>(rng: &mut Rng, from: &[&'a T]) -> &'a T {
    from[rng.usize(..from.len())]
}

pub fn agent(rng: &mut Rng) -> AgentName {
    pick(rng, &["researcher", "analyst", "code-generator", "reviewer"]).parse().unwrap()
}

pub fn stamp(rng: &mut Rng, tick: u64) -> Stamp {
    let unix_ms = 1_768_469_400_000 + tick * 1_000;
    let id = EnvelopeId::from_parts(unix_ms, rng.u128(..));
    Stamp { id, created_at: Timestamp::from_unix_ms(unix_ms as i64).unwrap() }
}

const WORDS: &[&str] = &[
    "retry",
    "the payment",
    "gateway\n",
    "with jitter. ",
    "`code`",
    "```",
    "# heading",
    "漢字",
    "👩‍💻",
    "naïve",
    "</memory>",
    "<|endoftext|>",
    "\u{202e}",
    "\r",
    "\u{0}",
    "]]>",
    "&amp;",
    "\"}",
    "- item\n",
    "/",
    "  ",
    "x",
    "do not log card numbers",
    "1234567",
    "\t",
    "~~~",
    "\u{2028}",
    "⟨U+0000",
];

pub fn text(rng: &mut Rng, words: usize) -> String {
    let words: Vec<&str> = (0..=rng.usize(..=words)).map(|_| pick(rng, WORDS)).collect();
    format!("t{}", words.join(pick(rng, &["", " ", "\n"])))
}

pub fn value(rng: &mut Rng, depth: usize) -> Value {
    match rng.u8(..if depth == 0 { 4 } else { 6 }) {
        0 => json!(text(rng, 3)),
        1 => json!(rng.i64(-9_007_199_254_740_991..=9_007_199_254_740_991)),
        2 => json!(rng.f64() * 1e6),
        3 => json!(rng.bool()),
        4 => (0..rng.usize(..4)).map(|_| value(rng, depth - 1)).collect(),
        _ => (0..rng.usize(..4))
            .map(|i| (format!("k{i}{}", text(rng, 1)), value(rng, depth - 1)))
            .collect(),
    }
}

fn constraint(rng: &mut Rng) -> NewConstraint {
    let (name, value) = match rng.u8(..7) {
        0 => ("language", json!(pick(rng, &["python", "rust"]))),
        1 => (
            "forbid",
            (0..rng.usize(1..4)).map(|_| pick(rng, &["secrets", "pii", "eval"])).collect(),
        ),
        2 => ("deadline", json!(format!("2026-0{}-15T00:00:00Z", rng.u8(1..9)))),
        3 => ("max_hops", json!(rng.u8(2..14))),
        4 => ("retries", json!(rng.u8(1..4))),
        5 => ("style", value(rng, 2)),
        _ => ("odd name: ünï", value(rng, 1)),
    };
    let hop = rng.u8(..5) == 0 && name != "max_hops";
    NewConstraint {
        name: name.parse().unwrap(),
        value,
        scope: if hop { Scope::Hop } else { Scope::Lineage },
    }
}

pub fn request(rng: &mut Rng) -> Request {
    let (from, target) = (agent(rng), agent(rng));
    let mut request = Request::new("default".parse().unwrap(), from, target, text(rng, 8));
    request.max_tokens = Some(1_000_000);
    for _ in 0..rng.usize(..3) {
        let new = constraint(rng);
        let is_new = |c: &NewConstraint| c.name != new.name;
        if request.constraints.iter().all(is_new) {
            request.constraints.push(new);
        }
    }
    for _ in 0..rng.usize(..3) {
        request.history.push(step(rng));
    }
    state(rng, &mut request.state);
    request
}

fn step(rng: &mut Rng) -> NewHistory {
    NewHistory {
        agent: agent(rng),
        action: text(rng, 2),
        why: rng.bool().then(|| text(rng, 2)),
        memory_id: rng.bool().then(|| MemoryId::new(rng.u64(1..50)).unwrap()),
        result_digest: rng.bool().then(|| Digest::of(&[&[rng.u8(..)]])),
        at: None,
    }
}

fn state(rng: &mut Rng, state: &mut StateUpdate) {
    state.progress = (0..rng.usize(..3)).map(|_| text(rng, 2)).collect();
    state.remaining = rng.bool().then(|| vec![text(rng, 2)]);
    for _ in 0..rng.usize(..2) {
        let (why, by) = (rng.bool().then(|| text(rng, 1)), None);
        state.decisions.push(Decision { what: text(rng, 2), why, by, unknown: Unknown::new() });
    }
    for _ in 0..rng.usize(..2) {
        let question = pick(rng, &["which retries?", "whose key?", "why now?"]).to_owned();
        let answer = rng.bool().then(|| pick(rng, &["three", "none"]).to_owned());
        state.open_questions.push(Question { question, answer, unknown: Unknown::new() });
    }
}

pub fn packing(rng: &mut Rng) -> Packing {
    let count = rng.usize(..4);
    let memories = (1..=count).map(|n| memory(rng, n as u64)).collect();
    let gaps = (0..rng.usize(..3)).map(|_| Gap {
        reference: text(rng, 1),
        reason: "deleted".into(),
        unknown: Unknown::new(),
    });
    let gaps: Vec<Gap> = gaps.collect();
    Packing {
        memories,
        tokenizer: if rng.u8(..4) == 0 { TokenizerName::O200kBase } else { TokenizerName::Approx },
        format: [Format::Markdown, Format::Xml, Format::Json][rng.usize(..3)].clone(),
        completeness: Completeness {
            requested: 5,
            included: 5 - gaps.len() as u32,
            gaps,
            unknown: Unknown::new(),
        },
        ..Packing::default()
    }
}

pub fn memory(rng: &mut Rng, number: u64) -> PackedMemory {
    let detail = [Detail::Ref, Detail::Summary, Detail::Full][rng.usize(..3)];
    let text = (detail != Detail::Ref).then(|| text(rng, 12));
    PackedMemory {
        id: MemoryId::new(number).unwrap(),
        version: rng.u32(1..5),
        detail,
        title: rng.bool().then(|| self::text(rng, 2)),
        salt: text.as_ref().map(|_| Salt::from_random(rng.u128(..))),
        text,
        text_digest: None,
        priority: Priority::ALL[rng.usize(..4)],
        source: Source::Requested,
        relevance: rng.bool().then(|| rng.f64()),
        tokens: rng.u32(..100),
        created_at: Timestamp::from_unix_ms(1_768_000_000_000 + rng.i64(0..400_000_000)).unwrap(),
        occurred_at: None,
        author: rng.bool().then(|| self::text(rng, 1)),
        unknown: Unknown::new(),
    }
}

/// A lineage: a chain, or a graph where work was fanned out and joined.
pub fn lineage(rng: &mut Rng, size: usize) -> Vec<Envelope> {
    let mut envelopes = vec![root(rng)];
    for tick in 1..=(size as u64) {
        let wanted = rng.usize(1..4);
        let mut parents: Vec<Envelope> = Vec::new();
        for _ in 0..wanted {
            // Mostly the newest, so that chains grow long.
            let index = if rng.bool() { envelopes.len() - 1 } else { rng.usize(..envelopes.len()) };
            if parents.iter().all(|parent| parent.id != envelopes[index].id) {
                parents.push(envelopes[index].clone());
            }
        }
        envelopes.extend(child(rng, &parents, tick));
    }
    envelopes
}

pub fn root(rng: &mut Rng) -> Envelope {
    let mut request = request(rng);
    request.intent = rng.bool().then(|| text(rng, 10));
    request.subject = rng.bool().then(|| "user:123".parse().unwrap());
    let stamp = stamp(rng, 0);
    derive(&[], request, stamp).unwrap().seal(packing(rng)).unwrap()
}

/// A child as a sender makes one who, told that a rule stands in the way, waives what it names. None at the end
/// of the chain.
pub fn child(rng: &mut Rng, parents: &[Envelope], tick: u64) -> Option<Envelope> {
    let mut request = request(rng);
    let stamp = stamp(rng, tick);
    loop {
        let name = match derive(parents, request.clone(), stamp.clone()) {
            Ok(unsealed) => return Some(unsealed.seal(packing(rng)).unwrap()),
            Err(
                RuleError::ConstraintChanged { name, .. }
                | RuleError::ConstraintConflict { name, .. },
            ) => name,
            Err(RuleError::HopLimit { .. }) => return None,
            Err(error) => panic!("unexpected: {error}"),
        };
        if request.waive.iter().any(|waiver| waiver.name == name) {
            // Waived for the lineage, and still looser than what this receiver alone was to keep to.
            request.constraints.retain(|constraint| constraint.name != name);
            continue;
        }
        request.max_hops = (name.as_str() == "max_hops").then_some(20).or(request.max_hops);
        request.waive.push(NewWaiver { name, reason: "the user agreed".into(), by: None });
    }
}

pub fn parents_of<'a>(child: &Envelope, all: &'a [Envelope]) -> Vec<&'a Envelope> {
    let by_id = |id| all.iter().find(|envelope| envelope.id == id).unwrap();
    child.parents.iter().map(|parent| by_id(parent.id)).collect()
}
