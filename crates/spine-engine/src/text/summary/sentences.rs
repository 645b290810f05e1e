//! Where sentences end, in European prose and in CJK.

/// A line that is shorter did not break because it was full: it ends a sentence.
const FULL_LINE_BYTES_MIN: usize = 50;

/// Abbreviations after which a sentence goes on.
const ABBREVIATIONS: [&str; 19] = [
    "abb", "approx", "art", "bzw", "ca", "cf", "dr", "eq", "ex", "fig", "ggf", "inkl", "mr", "mrs",
    "nr", "prof", "resp", "vgl", "vs",
];
/// Abbreviations that also end a sentence, if the next word begins with a capital.
const CLOSING_ABBREVIATIONS: [&str; 7] = ["al", "co", "etc", "inc", "ltd", "no", "usw"];

/// What may end a sentence.
const MARKS: [char; 9] = ['.', '!', '?', '…', '\n', '。', '！', '？', '｡'];

/// The sentences of a paragraph, trimmed, none of them empty.
pub(crate) fn sentences(paragraph: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let (mut start, mut line_start) = (0, 0);
    for (at, mark) in paragraph.match_indices(MARKS) {
        let before = paragraph.get(start..at).unwrap_or_default();
        let rest = paragraph.get(at + mark.len()..).unwrap_or_default();
        let (ends, rest) = if mark == "\n" {
            let was_full = at - line_start >= FULL_LINE_BYTES_MIN;
            line_start = at + mark.len();
            (!was_full, rest)
        } else {
            (ends_sentence(before, mark, rest), without_closers(rest))
        };
        if ends {
            let end = paragraph.len() - rest.len();
            found.push(paragraph.get(start..end).unwrap_or_default());
            start = end;
        }
    }
    found.push(paragraph.get(start..).unwrap_or_default());
    found.into_iter().map(str::trim).filter(|sentence| !sentence.is_empty()).collect()
}

fn ends_sentence(before: &str, mark: &str, rest: &str) -> bool {
    match mark {
        "!" | "?" | "…" => is_followed_by_space(rest),
        "." => is_followed_by_space(rest) && !is_abbreviation(before, rest),
        _ => true,
    }
}

/// So decimals, URLs, versions and file names do not end sentences.
fn is_followed_by_space(rest: &str) -> bool {
    let rest = without_closers(rest);
    rest.is_empty() || rest.starts_with(char::is_whitespace)
}

fn without_closers(rest: &str) -> &str {
    rest.trim_start_matches(['"', '\'', ')', ']', '”', '’', '»', '」', '』', '）', '*', '`'])
}

fn is_abbreviation(before: &str, rest: &str) -> bool {
    let word = before.rsplit([' ', '\n', '\t', '(', '"']).next().unwrap_or_default();
    let lower = word.to_lowercase();
    let goes_on = rest.trim_start().starts_with(|c: char| c.is_lowercase() || c.is_ascii_digit());
    let is_initial = word.chars().count() == 1 && word.chars().all(char::is_uppercase);
    let is_dotted = word.contains('.')
        && word.split('.').all(|part| (1..=2).contains(&part.len()))
        && word.chars().all(|c| c.is_alphabetic() || c == '.');
    let is_numbering = !word.is_empty()
        && before.trim_start_matches(['#', ' ']) == word
        && word.chars().all(|c| c.is_ascii_digit());
    ABBREVIATIONS.contains(&lower.as_str())
        || (CLOSING_ABBREVIATIONS.contains(&lower.as_str()) && goes_on)
        || is_initial
        || is_dotted
        || is_numbering
}

#[cfg(test)]
mod tests {
    use super::sentences;

    #[test]
    fn sentences_end_where_a_reader_ends_them() {
        let cases: &[(&str, &[&str])] = &[
            ("One. Two! Three? Four", &["One.", "Two!", "Three?", "Four"]),
            (
                "Use v1.2.3, e.g. at 3.5 ms. Then stop.",
                &["Use v1.2.3, e.g. at 3.5 ms.", "Then stop."],
            ),
            (
                "See ms-4821. See https://a.b/c.d?e=f. Done.",
                &["See ms-4821.", "See https://a.b/c.d?e=f.", "Done."],
            ),
            (
                "Dr. Weber and J. Doe met, z.B. in Bonn. Gut.",
                &["Dr. Weber and J. Doe met, z.B. in Bonn.", "Gut."],
            ),
            (
                "Logs, etc. are kept. Logs, etc. Then more.",
                &["Logs, etc. are kept.", "Logs, etc.", "Then more."],
            ),
            ("He said \"no.\" She left.", &["He said \"no.\"", "She left."]),
            ("use postgres. never mysql.", &["use postgres.", "never mysql."]),
            ("決定しました。禁止！本当？はい", &["決定しました。", "禁止！", "本当？", "はい"]),
            ("他说「好。」然后走了。", &["他说「好。」", "然后走了。"]),
            ("Short line\nAnother line", &["Short line", "Another line"]),
            ("1. first thing", &["1. first thing"]),
            ("## 2. The plan", &["## 2. The plan"]),
            ("...", &["..."]),
            ("  ", &[]),
        ];
        for (text, expected) in cases {
            assert_eq!(sentences(text), *expected);
        }
    }

    #[test]
    fn a_wrapped_line_goes_on() {
        let text = "This line is long enough to have been wrapped by an editor\nand goes on here.";
        assert_eq!(sentences(text), [text]);
        let text = "This line ends in the first word of the next sentence. It\ngoes on here.";
        assert_eq!(sentences(text)[1], "It\ngoes on here.");
    }
}
