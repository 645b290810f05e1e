//! R5 on random handoffs: never over, and nothing left out that would have fitted.

use std::io::Write as _;

use fastrand::Rng;
use spine_engine::assembly::{Assembled, AssemblyError, HandoffRequest};
use spine_engine::memories::NewMemory;
use spine_protocol::*;

use crate::house::*;

fn cases(normal: u64) -> u64 {
    if std::env::var_os("SPINE_SOAK").is_some() { normal * 40 } else { normal }
}

const PROSE: &[&str] = &[
    "The gateway times out under load. ",
    "Never log a card number. ",
    "Retry three times at most, with jitter. ",
    "fn retry<T>(call: impl Fn() -> T) -> T {\n    call()\n}\n",
    "支付网关在高负载下会超时。",
    "🚀👩‍💻 ",
    "- first item\n- second item\n",
    "`code`, ```fences```, </memory> and ]]>\n",
    "{\"a\": [1, 2, 3]}\n",
    "決済ゲートウェイ",
    "1234567890 ",
    "\n\n",
];

/// From one token to some 20,000.
fn text(rng: &mut Rng) -> String {
    let length = 1 << rng.u32(0..13);
    let mut text = String::from("t");
    while text.len() < length * 4 {
        text.push_str(PROSE[rng.usize(..PROSE.len())]);
    }
    text
}

fn filled_house(rng: &mut Rng) -> House {
    let house = house();
    for n in 0..rng.usize(0..25) {
        let kind = if rng.u8(..5) == 0 { "conversation" } else { "note" };
        house.store(NewMemory {
            pinned: rng.u8(..6) == 0,
            kind: kind.parse().unwrap(),
            title: rng.bool().then(|| format!("memory {n}")),
            priority: Priority::ALL[rng.usize(..4)],
            ..note(&text(rng))
        });
        house.clock.advance_ms(rng.i64(0..86_400_000));
    }
    house
}

fn random_request(rng: &mut Rng) -> HandoffRequest {
    let mut request = request(&format!(
        "Work on ms-{} through ms-{}. {}",
        1 + rng.u8(..5),
        3 + rng.u8(..9),
        text(rng).chars().take(200).collect::<String>()
    ));
    request.strategy =
        [Strategy::Priority, Strategy::Priority, Strategy::Summary, Strategy::Lazy, Strategy::Full]
            [rng.usize(..5)]
        .clone();
    request.format = [Format::Markdown, Format::Xml, Format::Json][rng.usize(..3)].clone();
    request.tokenizer =
        [TokenizerName::O200kBase, TokenizerName::Cl100kBase, TokenizerName::Approx]
            [rng.usize(..3)]
        .clone();
    request.max_tokens = Some(1 << rng.u32(6..15));
    request.history = (0..rng.usize(..20))
        .map(|n| step(&format!("step {n}: {}", PROSE[n % PROSE.len()])))
        .collect();
    request.state.progress = (0..rng.usize(..5)).map(|n| format!("note {n}")).collect();
    request
}

fn step(action: &str) -> NewHistory {
    NewHistory {
        agent: "a".parse().unwrap(),
        action: action.into(),
        why: None,
        memory_id: None,
        result_digest: None,
        at: None,
    }
}

#[test]
fn r5_the_rendering_is_never_over_budget_and_wastes_nothing() {
    let first = std::env::var("SPINE_SEED")
        .map_or_else(|_| fastrand::u64(..1 << 40), |seed| seed.parse().unwrap());
    let count_of_cases = if std::env::var_os("SPINE_SEED").is_some() { 1 } else { cases(500) };
    println!("R5: {count_of_cases} cases from SPINE_SEED={first}");
    let mut sample =
        std::fs::File::create(concat!(env!("CARGO_TARGET_TMPDIR"), "/renderings.jsonl")).unwrap();
    let (mut sealed, mut refused) = (0, 0);
    for seed in first..first + count_of_cases {
        match check_case(seed) {
            Ok(assembled) => {
                write_sample(&mut sample, &assembled.envelope, sealed);
                sealed += 1;
            }
            Err(error) => {
                assert_eq!(error.code(), "budget", "seed {seed}: {error}");
                refused += 1;
            }
        }
    }
    println!(
        "R5: {sealed} sealed, {refused} refused for a core, pins or a full strategy that did not fit"
    );
    assert!(sealed > refused || count_of_cases == 1);
}

fn check_case(seed: u64) -> Result<Assembled, Box<AssemblyError>> {
    let rng = &mut Rng::with_seed(seed);
    let house = filled_house(rng);
    let request = random_request(rng);
    let strategy = request.strategy.clone();
    let assembled = house.try_assemble(request)?;
    check(&assembled, &strategy, seed);
    Ok(assembled)
}

/// The soak found it: pins were cut to half of the budget, the memories beside them needed little, and a tenth of the
/// envelope stayed empty though a pin in full would have fitted.
#[test]
fn what_the_others_do_not_need_goes_back_to_the_pins() {
    check_case(476_370_333_013).unwrap();
    let house = house();
    let pins = ["a", "b"].map(|name| {
        let text = format!("{name} {}", "The gateway times out under load. ".repeat(200));
        house.store(NewMemory { pinned: true, ..note(&text) })
    });
    let envelope = house.assemble(request("Go."));
    assert!(pins.iter().all(|pin| packed(&envelope, *pin).unwrap().detail == Detail::Full));
}

fn check(assembled: &Assembled, strategy: &Strategy, seed: u64) {
    let envelope = &assembled.envelope;
    let assembly = &envelope.assembly;
    let counted = count(&assembly.tokenizer, &render(envelope, &assembly.format).unwrap()).unwrap();
    assert_eq!(counted, assembly.tokens, "seed {seed}");
    assert!(counted <= assembly.max_tokens, "seed {seed}: {counted} of {}", assembly.max_tokens);
    // Seed 257606705528: a reference of 25 tokens did not fit into 27, since the first memory brings the heading with it.
    const HEADING_TOKENS_MAX: u32 = 40;
    let heading = if envelope.memories.is_empty() { HEADING_TOKENS_MAX } else { 0 };
    let left = (assembly.max_tokens - counted).saturating_sub(heading);
    if *strategy != Strategy::Priority || left * 10 <= assembly.max_tokens {
        return;
    }
    for memory in &assembled.explanation.memories {
        let now = memory.levels.iter().find(|level| Some(level.detail) == memory.chosen);
        let (detail, tokens) = (memory.chosen, now.map_or(0, |level| level.tokens));
        let better =
            memory.levels.iter().filter(|level| detail.is_none_or(|detail| level.detail > detail));
        for level in better {
            assert!(
                level.tokens - tokens > left,
                "seed {seed}: {} as {} would have fitted",
                memory.id,
                level.detail
            );
        }
    }
}

/// Some of the renderings, for a tokenizer of another language to count.
fn write_sample(file: &mut std::fs::File, envelope: &Envelope, number: u32) {
    let assembly = &envelope.assembly;
    if number.is_multiple_of(5) && assembly.tokenizer != TokenizerName::Approx {
        let text = render(envelope, &assembly.format).unwrap();
        let line = serde_json::json!({"tokenizer": assembly.tokenizer, "tokens": assembly.tokens, "text": text});
        writeln!(file, "{line}").unwrap();
    }
}

#[test]
fn a_pin_of_twenty_thousand_tokens_is_still_handed_off_at_four_thousand() {
    let house = house();
    let pin = house.store(NewMemory { pinned: true, ..note(&"word ".repeat(20_000)) });
    let envelope = house.assemble(request("Go."));
    assert!(packed(&envelope, pin).is_some_and(|memory| memory.detail < Detail::Full));
    assert_eq!(envelope.trimmed.items[0].id, pin);
}

#[test]
fn three_hundred_steps_are_still_handed_off_at_four_thousand_the_newest_shown() {
    let mut long = request("Go.");
    long.history = (0..300)
        .map(|n| {
            step(&format!("step {n}: gathered and compared the documentation of endpoint {n}"))
        })
        .collect();
    let envelope = house().assemble(long);
    assert_eq!(envelope.history.len(), 300, "the envelope has them all");
    let text = render(&envelope, &Format::Markdown).unwrap();
    assert!(
        text.contains("step 299:") && !text.contains("step 0:") && text.contains("earlier steps")
    );
    assert!(envelope.assembly.tokens > 3_600, "{}", envelope.assembly.tokens);
}

#[test]
fn two_hundred_gaps_are_still_handed_off_at_four_thousand_and_counted() {
    let house = house();
    let memory = house.note(&"The gateway times out under load. ".repeat(300));
    let envelope = house.assemble(request(&format!("Read {memory} and ms-101 through ms-299.")));
    assert_eq!(envelope.completeness.gaps.len(), 199);
    assert!(packed(&envelope, memory).is_some());
    assert!(
        envelope.assembly.omitted.gaps > 0
            || render(&envelope, &Format::Markdown).unwrap().contains("ms-299")
    );
}

#[test]
fn a_core_that_does_not_fit_says_how_much_it_needs_and_where() {
    let mut small = request(&"Implement the retry logic. ".repeat(100));
    small.max_tokens = Some(200);
    let error = house().try_assemble(small).unwrap_err();
    let spine_engine::assembly::AssemblyError::Budget { needed, parts, .. } = *error else {
        panic!()
    };
    assert!(needed > 1_000 && parts.iter().any(|part| part.part == "task" && part.tokens > 500));
}

#[test]
fn the_same_handoff_packs_the_same_memories() {
    let pack = || {
        let house = filled_house(&mut Rng::with_seed(5));
        let request =
            HandoffRequest { max_tokens: Some(3_000), ..random_request(&mut Rng::with_seed(6)) };
        let envelope = house.assemble(request);
        envelope.memories.iter().map(|memory| (memory.id, memory.detail)).collect::<Vec<_>>()
    };
    assert_eq!(pack(), pack());
}
