//! A date as the words people search by: "8 may 2023 monday".

use std::sync::LazyLock;

use jiff::civil::{Date, Weekday};
use spine_protocol::Timestamp;
use spine_store::UnixMs;

use crate::words::stem;

const MONTHS: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];
const WEEKDAYS: [&str; 7] =
    ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];

static MONTH_STEMS: LazyLock<Vec<String>> =
    LazyLock::new(|| MONTHS.iter().map(|word| stem(word)).collect());
static WEEKDAY_STEMS: LazyLock<Vec<String>> =
    LazyLock::new(|| WEEKDAYS.iter().map(|word| stem(word)).collect());

/// Day, month, year and weekday (from Monday, 0) of the moment a memory is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct DateWords {
    pub(crate) day: u8,
    pub(crate) month: u8,
    pub(crate) year: i16,
    pub(crate) weekday: u8,
}

impl Default for DateWords {
    /// No date: nothing names it.
    fn default() -> Self {
        Self { day: 0, month: 0, year: i16::MIN, weekday: WEEKDAYS.len() as u8 }
    }
}

impl DateWords {
    /// The date as it was written where the memory was made, else in UTC.
    pub(crate) fn of(occurred_at: Option<&Timestamp>, created_at: UnixMs) -> Self {
        let written = occurred_at.cloned().or_else(|| created_at.to_timestamp());
        let date: Option<Date> =
            written.and_then(|at| at.as_str().get(..10).and_then(|date| date.parse().ok()));
        date.map(Self::from).unwrap_or_default()
    }

    /// What it is counted under.
    pub(crate) fn parts(self) -> [DatePart; 4] {
        let (day, month) = (DatePart::Day(self.day), DatePart::Month(self.month));
        [day, month, DatePart::Year(self.year), DatePart::Weekday(self.weekday)]
    }

    pub(crate) fn pack(self) -> u64 {
        u64::from(self.day)
            | u64::from(self.month) << 8
            | u64::from(self.weekday) << 16
            | u64::from(self.year as u16) << 24
    }

    pub(crate) fn unpack(packed: u64) -> Self {
        let byte = |shift: u32| (packed >> shift) as u8;
        Self { day: byte(0), month: byte(8), weekday: byte(16), year: (packed >> 24) as u16 as i16 }
    }
}

impl From<Date> for DateWords {
    fn from(date: Date) -> Self {
        Self {
            day: date.day().unsigned_abs(),
            month: date.month().unsigned_abs(),
            year: date.year(),
            weekday: weekday(date.weekday()),
        }
    }
}

fn weekday(day: Weekday) -> u8 {
    day.to_monday_zero_offset().unsigned_abs()
}

/// What part of a date a query's term can name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub(crate) enum DatePart {
    /// None at all.
    #[default]
    Nothing,
    /// A day of the month.
    Day(u8),
    /// A month, from 1.
    Month(u8),
    /// A year.
    Year(i16),
    /// A weekday, from Monday, 0.
    Weekday(u8),
}

impl DatePart {
    pub(crate) fn of_term(term: &str) -> Self {
        let position = |stems: &[String]| stems.iter().position(|stem| stem == term);
        if let Some(month) = position(&MONTH_STEMS) {
            return Self::Month(month as u8 + 1);
        }
        if let Some(day) = position(&WEEKDAY_STEMS) {
            return Self::Weekday(day as u8);
        }
        match term.parse::<i16>() {
            Ok(_) if term.starts_with(['0', '+', '-']) => Self::Nothing,
            Ok(day @ 1..=31) => Self::Day(day as u8),
            Ok(year) => Self::Year(year),
            Err(_) => Self::Nothing,
        }
    }

    pub(crate) fn names(self, date: DateWords) -> bool {
        match self {
            Self::Nothing => false,
            Self::Day(day) => date.day == day,
            Self::Month(month) => date.month == month,
            Self::Year(year) => date.year == year,
            Self::Weekday(weekday) => date.weekday == weekday,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_date_is_four_words_and_each_names_it() {
        let at: Timestamp = "2023-05-08T23:30:00-05:00".parse().unwrap();
        let date = DateWords::of(Some(&at), UnixMs(0));
        assert_eq!(DateWords::unpack(date.pack()), date);
        for term in ["8", "may", "2023", "monday"] {
            assert!(DatePart::of_term(term).names(date), "{term}");
        }
        for term in ["9", "june", "2024", "08", "tuesday", "mayor"] {
            assert!(!DatePart::of_term(term).names(date), "{term}");
        }
    }

    #[test]
    fn nothing_names_no_date() {
        let none = DateWords::unpack(DateWords::default().pack());
        assert_eq!(none, DateWords::default());
        for term in ["0", "1", "january", "monday", "sunday", "-32768", "32768"] {
            assert!(!DatePart::of_term(term).names(none), "{term}");
        }
    }
}
