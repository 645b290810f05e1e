//! One chain of agents, played three ways.

use fastrand::Rng;
use serde_json::json;
use spine_engine::Caller;
use spine_engine::assembly::HandoffRequest;
use spine_protocol::{
    AgentName, Envelope, Format, NewConstraint, Scope, TokenizerName, count, render,
};
use spine_store::testing::block_on;

use super::world::{Fact, World};
use super::{BUDGET_TOKENS, LOSS};

/// What reached the last agent, summed over chains.
#[derive(Debug, Clone, Copy, Default)]
pub struct Reached {
    facts: u32,
    facts_of: u32,
    constraints: u32,
    constraints_of: u32,
    intents: u32,
    chains: u32,
}

impl Reached {
    pub(super) fn add(&mut self, other: Self) {
        self.facts += other.facts;
        self.facts_of += other.facts_of;
        self.constraints += other.constraints;
        self.constraints_of += other.constraints_of;
        self.intents += other.intents;
        self.chains += other.chains;
    }

    /// The share of the needed facts.
    pub fn facts(&self) -> f64 {
        f64::from(self.facts) / f64::from(self.facts_of.max(1))
    }

    /// The share of the constraints.
    pub fn constraints(&self) -> f64 {
        f64::from(self.constraints) / f64::from(self.constraints_of.max(1))
    }

    /// The share of chains whose last agent has the user's words.
    pub fn intents(&self) -> f64 {
        f64::from(self.intents) / f64::from(self.chains.max(1))
    }
}

const INTENT: &str = "Build us a client that never surprises the team that runs the service.";
const CONSTRAINTS: [(&str, &str); 3] = [
    ("language", "python"),
    ("security", "no plaintext credentials"),
    ("style", "follow existing patterns in src/clients/"),
];

/// By plain summaries, by a transcript cut to the budget, and through Memory Spine.
pub fn play(world: &World, rng: &mut Rng, agents: usize) -> [Reached; 3] {
    let facts = world.needed(rng);
    let summaries = summaries(rng, &facts, agents);
    let last = summaries.last().cloned().unwrap_or_default();
    let transcript = transcript(rng, &summaries);
    let envelope = through_spine(world, rng, &facts, &summaries);
    let rendered = render(&envelope, &Format::Markdown).unwrap_or_default();
    [seen(&last, &facts), seen(&transcript, &facts), seen(&rendered, &facts)]
}

fn seen(text: &str, facts: &[Fact]) -> Reached {
    Reached {
        facts: facts.iter().filter(|fact| text.contains(&fact.value)).count() as u32,
        facts_of: facts.len() as u32,
        constraints: CONSTRAINTS.iter().filter(|(_, value)| text.contains(value)).count() as u32,
        constraints_of: CONSTRAINTS.len() as u32,
        intents: u32::from(text.contains(INTENT)),
        chains: 1,
    }
}

/// What each agent writes for the next: its own words for what is left of what it was told.
fn summaries(rng: &mut Rng, facts: &[Fact], agents: usize) -> Vec<String> {
    let mut lines: Vec<String> = facts.iter().map(Fact::restated).collect();
    lines.extend(CONSTRAINTS.iter().map(|(name, value)| format!("Keep to {name}: {value}.")));
    lines.push(INTENT.to_owned());
    let mut summaries = Vec::new();
    for _ in 1..agents {
        lines.retain(|_| rng.f64() >= LOSS);
        summaries.push(lines.join(" "));
    }
    summaries
}

/// Everything that was said, with each agent's work in between, cut to the end that fits.
fn transcript(rng: &mut Rng, summaries: &[String]) -> String {
    let work = |rng: &mut Rng| -> String {
        let line = |n: u32| {
            format!(
                "Step {n}: looked at module {}, ran its tests, compared the output.\n",
                rng.u32(..900)
            )
        };
        (0..45).map(line).collect()
    };
    let said: Vec<String> =
        summaries.iter().map(|summary| format!("{summary}\n{}", work(rng))).collect();
    let mut lines: Vec<&str> = said.iter().flat_map(|text| text.lines()).collect();
    let tokens = |line: &str| count(&TokenizerName::O200kBase, line).unwrap_or(0) + 1;
    let mut left = BUDGET_TOKENS;
    lines.reverse();
    let kept = lines.into_iter().take_while(|line| {
        let cost = tokens(line);
        left = left.saturating_sub(cost);
        left > 0
    });
    kept.collect::<Vec<_>>().join("\n")
}

/// The same agents with the same lossy summaries; only the way they hand over differs.
#[allow(clippy::expect_used, reason = "a handoff that fails ends the benchmark")]
fn through_spine(world: &World, rng: &mut Rng, facts: &[Fact], summaries: &[String]) -> Envelope {
    let mut envelope: Option<Envelope> = None;
    for (hop, summary) in summaries.iter().enumerate() {
        let is_last = hop + 1 == summaries.len();
        let said = if is_last { question(rng, facts) } else { format!("Go on. {summary}") };
        let mut request = HandoffRequest::new(agent(hop + 1), said);
        request.max_tokens = Some(BUDGET_TOKENS);
        match &envelope {
            Some(parent) => request.parents = vec![parent.id],
            None => {
                request.intent = Some(INTENT.to_owned());
                request.constraints = CONSTRAINTS
                    .iter()
                    .filter_map(|(name, value)| constraint(name, value))
                    .collect();
            }
        }
        request.max_hops = envelope.is_none().then_some(20);
        let caller = Caller { agent: Some(agent(hop)), ..Caller::of(world.workspace.clone()) };
        let assembled =
            block_on(world.engine.handoffs.assemble(&caller, request)).expect("a handoff");
        world.engine.clock.advance_ms(60_000);
        envelope = Some(assembled.envelope);
    }
    envelope.expect("a chain of at least two agents")
}

/// The last agent's task, in words that the facts were not stored with.
fn question(rng: &mut Rng, facts: &[Fact]) -> String {
    let service = facts.first().map_or("", |fact| fact.service);
    let mut asked: Vec<&str> = facts.iter().map(|fact| fact.topic.asked).collect();
    rng.shuffle(&mut asked);
    format!("Write the {service} client. It has to respect {}.", asked.join(", "))
}

#[allow(clippy::expect_used, reason = "a name of a constant form")]
fn agent(number: usize) -> AgentName {
    format!("agent-{number}").parse().expect("a name")
}

fn constraint(name: &str, value: &str) -> Option<NewConstraint> {
    Some(NewConstraint { name: name.parse().ok()?, value: json!(value), scope: Scope::Lineage })
}
