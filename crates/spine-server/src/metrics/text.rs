//! Figures in the text form of Prometheus.

use std::fmt::Write;

use spine_store::Tally;

use super::family::{Family, Kind, Value};

/// All of them, each with its help and its type.
pub fn text_of(families: &[Family]) -> String {
    let mut text = String::new();
    for family in families {
        write_family(&mut text, family);
    }
    text
}

// Writing to a string does not fail.
fn write_family(text: &mut String, family: &Family) {
    let kind = match family.kind {
        Kind::Counter => "counter",
        Kind::Gauge => "gauge",
        Kind::Histogram => "histogram",
    };
    let name = family.name;
    let _ = writeln!(text, "# HELP {name} {}\n# TYPE {name} {kind}", family.help);
    for point in &family.points {
        // No word and no name of an agent has anything in it that would need escaping.
        let labels = point.labels.iter().map(|(name, word)| format!("{name}=\"{word}\""));
        let label = labels.collect::<Vec<_>>().join(",");
        match &point.value {
            Value::Number(value) => {
                let _ = writeln!(text, "{name}{} {value}", braces(&label));
            }
            Value::Numbers(tally) => write_tally(text, name, &label, tally),
        }
    }
}

fn write_tally(text: &mut String, name: &str, label: &str, tally: &Tally) {
    let comma = if label.is_empty() { "" } else { "," };
    let mut upto = 0;
    for (bound, count) in tally.buckets() {
        upto += count;
        let _ = writeln!(text, "{name}_bucket{{{label}{comma}le=\"{bound}\"}} {upto}");
    }
    let _ = writeln!(text, "{name}_bucket{{{label}{comma}le=\"+Inf\"}} {}", tally.count());
    let _ = writeln!(text, "{name}_sum{} {}", braces(label), tally.sum());
    let _ = writeln!(text, "{name}_count{} {}", braces(label), tally.count());
}

fn braces(label: &str) -> String {
    if label.is_empty() { String::new() } else { format!("{{{label}}}") }
}
