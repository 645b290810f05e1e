//! Figures with their names, before anybody writes them in a form of his own.

use std::borrow::Cow;

use spine_store::Tally;

/// Figures of one name.
#[derive(Debug, Clone, PartialEq)]
pub struct Family {
    /// With its unit, as Prometheus has it.
    pub name: &'static str,
    /// What it is.
    pub help: &'static str,
    /// What may be done with it.
    pub kind: Kind,
    /// Its figures, told apart by their labels.
    pub points: Vec<Point>,
}

/// What may be done with a figure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// It only grows, and begins again with the process.
    Counter,
    /// It is what it is.
    Gauge,
    /// Numbers in buckets; they only grow.
    Histogram,
}

/// One figure.
#[derive(Debug, Clone, PartialEq)]
pub struct Point {
    /// What tells it from the others of its family: words from fixed lists, and names of agents only where that was set.
    pub labels: Labels,
    /// The figure.
    pub value: Value,
}

/// Names, each with a word.
pub type Labels = Vec<(&'static str, Cow<'static, str>)>;

/// A figure.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// A number.
    Number(f64),
    /// Numbers in buckets.
    Numbers(Tally),
}

impl Family {
    /// One number that only grows.
    pub fn counter(name: &'static str, help: &'static str, value: f64) -> Self {
        Self::of(Kind::Counter, name, help, [(Vec::new(), Value::Number(value))])
    }

    /// One number that is what it is.
    pub fn gauge(name: &'static str, help: &'static str, value: f64) -> Self {
        Self::of(Kind::Gauge, name, help, [(Vec::new(), Value::Number(value))])
    }

    /// Numbers that are what they are, by a label.
    pub fn gauges(
        name: &'static str,
        help: &'static str,
        label: &'static str,
        values: impl IntoIterator<Item = (&'static str, f64)>,
    ) -> Self {
        let point = |(word, value)| (one(label, word), Value::Number(value));
        Self::of(Kind::Gauge, name, help, values.into_iter().map(point))
    }

    /// Numbers in buckets.
    pub fn histogram(name: &'static str, help: &'static str, tally: &Tally) -> Self {
        Self::of(Kind::Histogram, name, help, [(Vec::new(), Value::Numbers(tally.clone()))])
    }

    /// Numbers in buckets, by a label.
    pub fn histograms<'a>(
        name: &'static str,
        help: &'static str,
        label: &'static str,
        tallies: impl IntoIterator<Item = (&'static str, &'a Tally)>,
    ) -> Self {
        let point = |(word, tally): (_, &Tally)| (one(label, word), Value::Numbers(tally.clone()));
        Self::of(Kind::Histogram, name, help, tallies.into_iter().map(point))
    }

    /// Figures with whatever labels.
    pub fn of(
        kind: Kind,
        name: &'static str,
        help: &'static str,
        points: impl IntoIterator<Item = (Labels, Value)>,
    ) -> Self {
        let points = points.into_iter().map(|(labels, value)| Point { labels, value }).collect();
        Self { name, help, kind, points }
    }
}

fn one(label: &'static str, word: &'static str) -> Labels {
    vec![(label, word.into())]
}
