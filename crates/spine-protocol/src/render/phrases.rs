//! Durations in words, relative to the envelope's own moment.

use crate::Timestamp;

/// How long before `now` something was: `3 days`.
pub(super) fn age(then: &Timestamp, now: &Timestamp) -> String {
    duration(now.unix_ms().saturating_sub(then.unix_ms()))
}

/// A span in its largest unit, rounded down.
pub(super) fn duration(ms: i64) -> String {
    const UNITS_MS: [(i64, &str); 6] = [
        (365 * 86_400_000, "year"),
        (30 * 86_400_000, "month"),
        (86_400_000, "day"),
        (3_600_000, "hour"),
        (60_000, "minute"),
        (1_000, "second"),
    ];
    let unit = UNITS_MS.iter().find(|(unit_ms, _)| ms >= *unit_ms);
    unit.map_or_else(|| "moments".to_owned(), |(unit_ms, name)| counted(ms / unit_ms, name))
}

/// `1 day`, `2 days`.
pub(super) fn counted(count: i64, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_read_as_people_say_them() {
        for (ms, words) in [
            (-5, "moments"),
            (999, "moments"),
            (1_000, "1 second"),
            (119_000, "1 minute"),
            (7_200_000, "2 hours"),
            (86_400_000 * 29, "29 days"),
            (86_400_000 * 364, "12 months"),
            (86_400_000 * 800, "2 years"),
        ] {
            assert_eq!(duration(ms), words);
        }
    }
}
