//! Text from elsewhere made inert: what cannot be seen is shown, and no text can close its own fence.

use serde_json::Value;

/// The text with every character that hides, reorders or breaks lines shown as its code point. Line ends become
/// `\n`: a reader of Markdown takes a lone `\r` for one, too.
pub fn inert(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\n' | '\t' => shown.push(c),
            '\r' if chars.peek() == Some(&'\n') => {}
            '\r' => shown.push('\n'),
            _ if is_hidden(c) => shown.push_str(&format!("⟨U+{:04X}⟩", u32::from(c))),
            _ => shown.push(c),
        }
    }
    shown
}

/// On one line, for titles, names and steps.
pub fn inline(text: &str) -> String {
    inert(text.trim()).replace('\n', " ⏎ ").replace('\t', " ")
}

/// A JSON value on one line.
pub(super) fn inert_value(value: &Value) -> Value {
    match value {
        Value::String(text) => Value::String(inert(text)),
        Value::Array(items) => items.iter().map(inert_value).collect(),
        Value::Object(members) => {
            members.iter().map(|(name, value)| (inert(name), inert_value(value))).collect()
        }
        other => other.clone(),
    }
}

/// Whether a character hides, reorders or steers what is shown.
pub fn is_hidden(c: char) -> bool {
    c.is_control() || is_bidirectional_control(c) || is_invisible(c)
}

fn is_bidirectional_control(c: char) -> bool {
    matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Line separators, zero-width marks, tag characters (text that a model reads and a person does not see), and
/// code points that XML cannot carry. The joiner of emoji sequences stays.
fn is_invisible(c: char) -> bool {
    matches!(
        c,
        '\u{200b}'
            | '\u{2028}'
            | '\u{2029}'
            | '\u{2060}'..='\u{2064}'
            | '\u{feff}'
            | '\u{fffe}'
            | '\u{ffff}'
            | '\u{e0000}'..='\u{e007f}'
    )
}

/// A fenced block whose fence is longer than any run of backticks inside.
pub(super) fn fenced(label: &str, text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat((longest + 1).max(3));
    let end = if text.ends_with('\n') { "" } else { "\n" };
    format!("{fence}{label}\n{text}{end}{fence}\n")
}

/// Each line behind a mark, so that none can pass for a heading or a fence.
pub(super) fn quoted(text: &str) -> String {
    text.lines().map(|line| format!("> {line}\n")).collect()
}

/// Text between XML tags, and in attributes.
pub(super) fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace("]]>", "]]&gt;")
}

/// An attribute's value.
pub(super) fn attribute(text: &str) -> String {
    escaped(text).replace('"', "&quot;").replace('\n', "&#10;").replace('\t', "&#9;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_hides_is_shown() {
        assert_eq!(
            inert("a\r\nb\rc\u{202e}d\u{0}e\u{e0041}\u{2028}"),
            "a\nb\nc⟨U+202E⟩d⟨U+0000⟩e⟨U+E0041⟩⟨U+2028⟩"
        );
        assert_eq!(inert("👩‍💻 naïve 漢字\tא"), "👩‍💻 naïve 漢字\tא");
        assert_eq!(inline(" a\nb\t"), "a ⏎ b");
    }

    #[test]
    fn a_fence_is_longer_than_what_it_holds() {
        assert_eq!(fenced("x", "a"), "```x\na\n```\n");
        assert_eq!(fenced("x", "````\n"), "`````x\n````\n`````\n");
    }
}
