//! The figures of `/metrics`, pushed as OTLP: the same names, the same numbers.

use opentelemetry_proto::tonic::collector::metrics::v1::ExportMetricsServiceRequest;
use opentelemetry_proto::tonic::common::v1::{AnyValue, InstrumentationScope, KeyValue, any_value};
use opentelemetry_proto::tonic::metrics::v1::{
    AggregationTemporality, Gauge, Histogram, HistogramDataPoint, Metric, NumberDataPoint,
    ResourceMetrics, ScopeMetrics, Sum, metric, number_data_point,
};
use opentelemetry_proto::tonic::resource::v1::Resource;
use spine_server::metrics::{Family, Kind, Point, Value};
use spine_store::{Tally, UnixMs};

/// From when to when numbers were counted, in nanoseconds since 1970.
#[derive(Clone, Copy)]
pub struct Span {
    began_ns: u64,
    now_ns: u64,
}

impl Span {
    /// From the process's begin until now.
    pub fn new(began: UnixMs, now: UnixMs) -> Self {
        let ns = |at: UnixMs| u64::try_from(at.0).unwrap_or_default() * 1_000_000;
        Self { began_ns: ns(began), now_ns: ns(now) }
    }
}

/// One push.
pub fn request(
    families: Vec<Family>,
    span: Span,
    resource: Resource,
) -> ExportMetricsServiceRequest {
    let metrics = families.into_iter().map(|family| metric(family, span)).collect();
    let scope = InstrumentationScope {
        name: "memory-spine".to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        ..InstrumentationScope::default()
    };
    let scope_metrics = ScopeMetrics { scope: Some(scope), metrics, ..ScopeMetrics::default() };
    let resource_metrics = ResourceMetrics {
        resource: Some(resource),
        scope_metrics: vec![scope_metrics],
        ..ResourceMetrics::default()
    };
    ExportMetricsServiceRequest { resource_metrics: vec![resource_metrics] }
}

fn metric(family: Family, span: Span) -> Metric {
    let (unit, cumulative) = (unit_of(family.name), AggregationTemporality::Cumulative.into());
    let points = family.points;
    let numbers = || points.iter().filter_map(|point| number(point, span)).collect();
    let data = match family.kind {
        Kind::Gauge => metric::Data::Gauge(Gauge { data_points: numbers() }),
        Kind::Counter => metric::Data::Sum(Sum {
            data_points: numbers(),
            aggregation_temporality: cumulative,
            is_monotonic: true,
        }),
        Kind::Histogram => metric::Data::Histogram(Histogram {
            data_points: points.iter().filter_map(|point| histogram(point, span)).collect(),
            aggregation_temporality: cumulative,
        }),
    };
    Metric {
        name: family.name.to_owned(),
        description: family.help.to_owned(),
        unit: unit.to_owned(),
        data: Some(data),
        ..Metric::default()
    }
}

/// What the name says, as UCUM has it.
fn unit_of(name: &str) -> &'static str {
    if name.ends_with("_seconds") { "s" } else { "1" }
}

fn number(point: &Point, span: Span) -> Option<NumberDataPoint> {
    let Value::Number(value) = &point.value else { return None };
    Some(NumberDataPoint {
        attributes: attributes(point),
        start_time_unix_nano: span.began_ns,
        time_unix_nano: span.now_ns,
        value: Some(number_data_point::Value::AsDouble(*value)),
        ..NumberDataPoint::default()
    })
}

fn histogram(point: &Point, span: Span) -> Option<HistogramDataPoint> {
    let Value::Numbers(tally) = &point.value else { return None };
    let (explicit_bounds, mut bucket_counts): (Vec<f64>, Vec<u64>) = tally.buckets().unzip();
    bucket_counts.push(beyond(tally));
    Some(HistogramDataPoint {
        attributes: attributes(point),
        start_time_unix_nano: span.began_ns,
        time_unix_nano: span.now_ns,
        count: tally.count(),
        sum: Some(tally.sum()),
        bucket_counts,
        explicit_bounds,
        ..HistogramDataPoint::default()
    })
}

/// What is above the last bound has a bucket of its own here.
fn beyond(tally: &Tally) -> u64 {
    let within: u64 = tally.buckets().map(|(_, count)| count).sum();
    tally.count().saturating_sub(within)
}

fn attributes(point: &Point) -> Vec<KeyValue> {
    point.labels.iter().map(|(name, word)| attribute(name, word)).collect()
}

/// A word under a name.
pub fn attribute(name: &str, word: &str) -> KeyValue {
    let value = AnyValue { value: Some(any_value::Value::StringValue(word.to_owned())) };
    KeyValue { key: name.to_owned(), value: Some(value), ..KeyValue::default() }
}
