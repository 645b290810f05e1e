//! Shortening one text at the boundaries of its words.

/// How much is kept before the word that a cut must not lose.
const LEAD_IN_CHARS: usize = 30;

/// At most `chars_max` characters of `text`, with "…" where something is left out. What stands at the byte
/// `keep` stays in it.
pub(super) fn cut(text: &str, keep: Option<usize>, chars_max: usize) -> String {
    let before = keep.and_then(|at| text.get(..at)).unwrap_or_default();
    let chars_before = before.chars().count();
    if before.is_empty() || chars_before + LEAD_IN_CHARS < chars_max {
        return cut_end(text, chars_max);
    }
    let skipped = byte_at(text, chars_before.saturating_sub(LEAD_IN_CHARS));
    let rest = text.get(skipped..).unwrap_or_default();
    let from_word = rest.find(char::is_whitespace).filter(|at| *at < LEAD_IN_CHARS);
    let rest = from_word.and_then(|at| rest.get(at..)).unwrap_or(rest).trim_start();
    match chars_max {
        0 | 1 => cut_end(text, chars_max),
        _ => format!("…{}", cut_end(rest, chars_max - 1)),
    }
}

fn cut_end(text: &str, chars_max: usize) -> String {
    if chars_max == 0 || text.chars().nth(chars_max).is_none() {
        return text.get(..byte_at(text, chars_max)).unwrap_or_default().to_owned();
    }
    let head = text.get(..byte_at(text, chars_max - 1)).unwrap_or_default();
    // Half a word only where there is no space near, as in CJK or a long token.
    let whole_words = head.rfind(char::is_whitespace).filter(|at| *at >= head.len() / 2);
    let head = whole_words.and_then(|at| head.get(..at)).unwrap_or(head);
    format!("{}…", head.trim_end())
}

fn byte_at(text: &str, char_count: usize) -> usize {
    text.char_indices().nth(char_count).map_or(text.len(), |(at, _)| at)
}

#[cfg(test)]
mod tests {
    use super::cut;

    #[test]
    fn cuts_fall_between_words_and_keep_what_they_must() {
        let text = "one two three four five six seven eight nine ten eleven must not twelve";
        assert_eq!(cut(text, None, 15), "one two three…");
        assert_eq!(
            cut(text, text.find("must"), 50),
            "…seven eight nine ten eleven must not twelve"
        );
        assert_eq!(cut("一二三四五六七八九十", None, 5), "一二三四…");
        assert_eq!(cut("short", None, 50), "short");
        assert_eq!((cut(text, None, 0), cut(text, None, 1)), (String::new(), "…".to_owned()));
    }
}
