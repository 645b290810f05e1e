//! The figures of one workspace: what the log says, by minute, for all and for each target, over the last day.
//!
//! Nothing is recorded on the way of a handoff but the log itself: figures are read from it, after a restart as well.

use std::collections::{BTreeMap, VecDeque};

use spine_protocol::AgentName;
use spine_store::UnixMs;

use super::minute::Minute;
use super::noted::Noted;

/// A minute.
pub const MINUTE_MS: i64 = 60_000;
/// Minutes that are kept: a day, and the one that runs.
const MINUTES_MAX: usize = 24 * 60 + 1;
/// Targets with figures of their own; those beyond are only in the whole.
pub const TARGETS_MAX: usize = 200;

/// How far back one looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Window {
    /// Five minutes.
    FiveMinutes,
    /// An hour.
    Hour,
    /// A day.
    Day,
}

impl Window {
    /// All of them, the shortest first.
    pub const ALL: [Self; 3] = [Self::FiveMinutes, Self::Hour, Self::Day];

    /// As it is written.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::FiveMinutes => "5m",
            Self::Hour => "1h",
            Self::Day => "24h",
        }
    }

    /// In words.
    pub fn in_words(self) -> &'static str {
        match self {
            Self::FiveMinutes => "5 minutes",
            Self::Hour => "hour",
            Self::Day => "24 hours",
        }
    }

    /// How many minutes it has.
    pub fn minutes(self) -> i64 {
        match self {
            Self::FiveMinutes => 5,
            Self::Hour => 60,
            Self::Day => 24 * 60,
        }
    }
}

/// Minutes in a row, the newest last; those without anything are not there.
#[derive(Debug, Clone, Default)]
pub struct Minutes(VecDeque<(i64, Minute)>);

impl Minutes {
    fn note(&mut self, at: UnixMs, noted: &Noted) {
        let number = at.0.div_euclid(MINUTE_MS);
        let place = self.0.partition_point(|(minute, _)| *minute < number);
        if self.0.get(place).is_none_or(|(minute, _)| *minute != number) {
            self.0.insert(place, (number, Minute::default()));
        }
        if let Some((_, minute)) = self.0.get_mut(place) {
            minute.note(noted);
        }
        if self.0.len() > MINUTES_MAX {
            self.0.pop_front();
        }
    }

    /// Everything from one minute to before another.
    pub fn between(&self, from: i64, until: i64) -> Minute {
        let mut all = Minute::default();
        let within = self.0.iter().filter(|(minute, _)| (from..until).contains(minute));
        within.for_each(|(_, minute)| all.merge(minute));
        all
    }

    /// Everything in a window that ends with the running minute.
    pub fn over(&self, window: Window, now: UnixMs) -> Minute {
        let until = now.0.div_euclid(MINUTE_MS) + 1;
        self.between(until - window.minutes(), until)
    }

    fn forget_before(&mut self, minute: i64) {
        while self.0.front().is_some_and(|(oldest, _)| *oldest < minute) {
            self.0.pop_front();
        }
    }
}

/// The figures of one workspace.
#[derive(Debug, Clone, Default)]
pub struct Figures {
    /// For all targets together.
    pub all: Minutes,
    /// For each target.
    pub targets: BTreeMap<AgentName, Minutes>,
    /// How many events were of targets that have no figures of their own.
    pub left_off: u64,
}

impl Figures {
    /// Counts what an event of this moment tells.
    pub(super) fn note(&mut self, at: UnixMs, noted: &Noted) {
        self.all.note(at, noted);
        let Some(agent) = &noted.receiver else { return };
        if let Some(minutes) = self.targets.get_mut(agent) {
            minutes.note(at, noted);
        } else if self.targets.len() < TARGETS_MAX {
            self.targets.entry(agent.clone()).or_default().note(at, noted);
        } else {
            self.left_off += 1;
        }
    }

    /// Forgets what is older than a day, and targets of which nothing is left.
    pub fn forget_old(&mut self, now: UnixMs) {
        let oldest = now.0.div_euclid(MINUTE_MS) + 1 - Window::Day.minutes();
        self.all.forget_before(oldest);
        self.targets.values_mut().for_each(|minutes| minutes.forget_before(oldest));
        self.targets.retain(|_, minutes| !minutes.0.is_empty());
    }
}
