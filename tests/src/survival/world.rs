//! Fifty services with ten facts each, stored as memories, and the words to ask for them without repeating theirs.

use fastrand::Rng;
use spine_engine::Caller;
use spine_engine::memories::NewMemory;
use spine_store::testing::block_on;

use crate::Engine;

const SERVICES: [&str; 50] = [
    "Aurora", "Birch", "Cobalt", "Dune", "Ember", "Fjord", "Garnet", "Harbor", "Iris", "Juniper",
    "Kestrel", "Lagoon", "Maple", "Nimbus", "Onyx", "Pebble", "Quartz", "Raven", "Sierra",
    "Tundra", "Umber", "Violet", "Willow", "Xenon", "Yarrow", "Zephyr", "Atlas", "Basil", "Cedar",
    "Delta", "Echo", "Falcon", "Grove", "Hazel", "Indigo", "Jasper", "Krill", "Lotus", "Mango",
    "Nectar", "Orchid", "Poppy", "Quill", "Reef", "Saffron", "Thistle", "Umbra", "Vesper",
    "Walnut", "Zinnia",
];

/// A kind of fact: how it is stored, how an agent restates it, and how a later task asks for it.
pub struct Topic {
    stored: &'static str,
    restated: &'static str,
    /// In other words than those it was stored with.
    pub asked: &'static str,
    unit: &'static str,
}

const TOPICS: [Topic; 10] = [
    Topic {
        stored: "Calls to {s} time out after {v} under load.",
        restated: "{s}: give up at {v}.",
        asked: "how long to wait before a request is abandoned",
        unit: "seconds",
    },
    Topic {
        stored: "{s} accepts at most {v} for one client.",
        restated: "{s} throttles beyond {v}.",
        asked: "which rate limit applies to us",
        unit: "requests a minute",
    },
    Topic {
        stored: "Retries against {s} are allowed {v}, never more.",
        restated: "{s}: retry {v} at most.",
        asked: "how often a failed attempt may be repeated",
        unit: "times",
    },
    Topic {
        stored: "The signing keys of {s} rotate every {v}.",
        restated: "{s} changes keys each {v}.",
        asked: "when credentials are renewed",
        unit: "days",
    },
    Topic {
        stored: "Payloads to {s} larger than {v} are rejected.",
        restated: "{s} refuses bodies over {v}.",
        asked: "the maximum size of a message",
        unit: "kilobytes",
    },
    Topic {
        stored: "{s} keeps its audit log for {v}.",
        restated: "{s}: logs stay {v}.",
        asked: "the retention of audit records",
        unit: "weeks",
    },
    Topic {
        stored: "Latency of {s} at the 99th percentile is {v}.",
        restated: "{s} p99: {v}.",
        asked: "how slow the slowest answers are",
        unit: "milliseconds",
    },
    Topic {
        stored: "{s} must not be deployed with fewer than {v}.",
        restated: "{s}: never below {v}.",
        asked: "the minimum number of instances in production",
        unit: "replicas",
    },
    Topic {
        stored: "Backups of {s} are taken every {v}.",
        restated: "{s} is backed up each {v}.",
        asked: "the interval between snapshots for recovery",
        unit: "hours",
    },
    Topic {
        stored: "On-call for {s} answers pages within {v}.",
        restated: "{s}: pages answered in {v}.",
        asked: "how quickly somebody reacts to an incident",
        unit: "minutes",
    },
];

/// One fact about one service.
#[derive(Clone)]
pub struct Fact {
    pub service: &'static str,
    pub topic: &'static Topic,
    /// Its value, which no other fact has.
    pub value: String,
}

impl Fact {
    fn said(&self, form: &str) -> String {
        form.replace("{s}", self.service).replace("{v}", &self.value)
    }

    /// As it is stored.
    pub fn stored(&self) -> String {
        self.said(self.topic.stored)
    }

    /// As an agent restates it.
    pub fn restated(&self) -> String {
        self.said(self.topic.restated)
    }
}

/// The store with its five hundred memories.
pub struct World {
    facts: Vec<Fact>,
    pub(super) engine: Engine,
    pub(super) workspace: spine_protocol::WorkspaceName,
}

#[allow(clippy::expect_used, reason = "a world of constants, for tests and benchmarks")]
impl World {
    /// The same source of randomness gives the same world.
    pub fn new(rng: &mut Rng) -> Self {
        let mut numbers: Vec<u32> = (100..1_000).collect();
        rng.shuffle(&mut numbers);
        let every =
            SERVICES.iter().flat_map(|service| TOPICS.iter().map(move |topic| (*service, topic)));
        let fact = |((service, topic), number): ((&'static str, &'static Topic), u32)| Fact {
            service,
            topic,
            value: format!("{number} {}", topic.unit),
        };
        let facts: Vec<Fact> = every.zip(numbers).map(fact).collect();
        let engine = Engine::new();
        let workspace: spine_protocol::WorkspaceName = "default".parse().expect("a name");
        let caller = Caller { agent: "researcher".parse().ok(), ..Caller::of(workspace.clone()) };
        let mut order: Vec<&Fact> = facts.iter().collect();
        rng.shuffle(&mut order);
        for fact in order {
            let new = NewMemory { text: fact.stored(), ..NewMemory::default() };
            block_on(engine.memories.store(&caller, new)).expect("a memory is stored");
            engine.clock.advance_ms(rng.i64(60_000..7_200_000));
        }
        Self { facts, engine, workspace }
    }

    /// What the last agent will need: six facts about one service.
    pub fn needed(&self, rng: &mut Rng) -> Vec<Fact> {
        let service = SERVICES.get(rng.usize(..SERVICES.len())).copied().unwrap_or_default();
        let mut facts: Vec<Fact> =
            self.facts.iter().filter(|fact| fact.service == service).cloned().collect();
        rng.shuffle(&mut facts);
        facts.truncate(6);
        facts
    }
}
