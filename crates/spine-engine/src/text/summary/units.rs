//! A text as the pieces a summary is made of: sentences, list items, lines of code and of logs.

use std::borrow::Cow;

use super::json;
use super::sentences::sentences;

/// What a piece is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Sentence,
    Item,
    Code,
    LogLine,
}

/// One piece, on one line.
#[derive(Debug)]
pub(super) struct Unit<'a> {
    pub(super) text: Cow<'a, str>,
    pub(super) chars: usize,
    pub(super) kind: Kind,
    /// Which paragraph, list, code block or log it is of.
    pub(super) block: usize,
}

/// The units of the parts of a text, in order.
pub(super) fn split<'a>(parts: &[&'a str]) -> Vec<Unit<'a>> {
    let mut splitter = Splitter { units: Vec::new(), block: 0 };
    parts.iter().for_each(|part| splitter.split_part(part));
    splitter.units
}

struct Splitter<'a> {
    units: Vec<Unit<'a>>,
    block: usize,
}

impl<'a> Splitter<'a> {
    fn split_part(&mut self, mut rest: &'a str) {
        while !rest.is_empty() {
            let line = first_line(rest);
            rest = match fence(line) {
                Some(fence) => self.take_fenced(after(rest, line.len()), fence),
                None if line.trim().is_empty() => after(rest, line.len()),
                None => self.take_paragraph(rest),
            };
        }
    }

    /// Code up to the closing fence, or to the end if it is missing.
    fn take_fenced(&mut self, text: &'a str, opening: &str) -> &'a str {
        let closes = |line: &str| fence(line).is_some_and(|fence| fence.starts_with(opening));
        let length = length_of_lines_until(text, closes);
        let (code, rest) = text.split_at_checked(length).unwrap_or((text, ""));
        self.add_code(code);
        after(rest, first_line(rest).len())
    }

    fn take_paragraph(&mut self, text: &'a str) -> &'a str {
        let ends = |line: &str| line.trim().is_empty() || fence(line).is_some();
        let length = length_of_lines_until(text, ends);
        let (paragraph, rest) = text.split_at_checked(length).unwrap_or((text, ""));
        if mostly(paragraph, is_log_line) {
            self.add_log(paragraph);
        } else if mostly(paragraph, is_code_line) {
            self.add_code(paragraph);
        } else {
            self.add_prose(paragraph);
        }
        rest
    }

    /// The lines that say what the code offers, else its first line.
    fn add_code(&mut self, code: &'a str) {
        if let Some(outline) = json::outline(code, FENCED_JSON_CHARS_MAX) {
            self.add(Kind::Code, Cow::Owned(outline));
        } else {
            let lines = || code.lines().map(str::trim).filter(|line| !line.is_empty());
            let first = lines().next().filter(|_| !lines().any(is_signature));
            let kept: Vec<&str> =
                first.into_iter().chain(lines().filter(|l| is_signature(l))).collect();
            kept.into_iter().for_each(|line| self.add(Kind::Code, Cow::Borrowed(line)));
        }
        self.block += 1;
    }

    /// The lines without the frames of a stack; they rarely matter to who reads on.
    fn add_log(&mut self, log: &'a str) {
        let lines = || log.lines().map(str::trim);
        let first = lines().next().filter(|_| lines().all(is_stack_frame));
        let kept: Vec<&str> =
            first.into_iter().chain(lines().filter(|l| !is_stack_frame(l))).collect();
        kept.into_iter().for_each(|line| self.add(Kind::LogLine, Cow::Borrowed(line)));
        self.block += 1;
    }

    /// Sentences, and between them lists: an item goes on as long as its lines are indented.
    fn add_prose(&mut self, mut rest: &'a str) {
        while !rest.is_empty() {
            let line = first_line(rest);
            let is_item = is_item_start(line);
            let goes_on = |line: &str| line.starts_with([' ', '\t']) && !is_item_start(line);
            let length = if is_item {
                line.len() + length_of_lines_until(after(rest, line.len()), |line| !goes_on(line))
            } else {
                length_of_lines_until(rest, is_item_start)
            };
            let (text, next) = rest.split_at_checked(length).unwrap_or((rest, ""));
            if is_item {
                self.add(Kind::Item, on_one_line(text.trim()));
            } else {
                sentences(text).into_iter().for_each(|s| self.add(Kind::Sentence, on_one_line(s)));
            }
            rest = next;
            // A list is one block, whatever stands before and after it.
            let next_is_item = is_item_start(first_line(rest));
            self.block += usize::from(!(is_item && next_is_item));
        }
    }

    fn add(&mut self, kind: Kind, text: Cow<'a, str>) {
        if text.contains(char::is_alphanumeric) {
            let chars = text.chars().count();
            self.units.push(Unit { text, chars, kind, block: self.block });
        }
    }
}

/// JSON between fences is one unit among others.
const FENCED_JSON_CHARS_MAX: usize = 160;

fn first_line(text: &str) -> &str {
    text.split_inclusive('\n').next().unwrap_or_default()
}

fn after(text: &str, bytes: usize) -> &str {
    text.get(bytes..).unwrap_or_default()
}

fn length_of_lines_until(text: &str, ends: impl Fn(&str) -> bool) -> usize {
    text.split_inclusive('\n').take_while(|line| !ends(line)).map(str::len).sum()
}

/// White space as single spaces; no fence survives inside a sentence either.
pub(super) fn on_one_line(text: &str) -> Cow<'_, str> {
    if !text.contains(['\n', '\t']) && !text.contains("  ") && !text.contains("```") {
        return Cow::Borrowed(text);
    }
    let words: Vec<&str> = text.split_whitespace().collect();
    Cow::Owned(words.join(" ").replace("```", ""))
}

/// The marks that open or close a block of code.
fn fence(line: &str) -> Option<&str> {
    let start = line.trim_start();
    ["```", "~~~"].into_iter().find(|mark| start.starts_with(mark))
}

fn is_item_start(line: &str) -> bool {
    let start = line.trim_start();
    let bullet = ["- ", "* ", "+ ", "• "].iter().any(|bullet| start.starts_with(bullet));
    let digits = start.bytes().take_while(u8::is_ascii_digit).count();
    let numbered = (1..=3).contains(&digits)
        && [". ", ") "].iter().any(|end| after(start, digits).starts_with(end));
    bullet || numbered
}

/// At least two lines, and at least half of them.
fn mostly(paragraph: &str, is_such: fn(&str) -> bool) -> bool {
    let (all, such) = paragraph
        .lines()
        .fold((0_usize, 0_usize), |(all, such), line| (all + 1, such + usize::from(is_such(line))));
    such >= 2 && such * 2 >= all
}

const LEVELS: [&str; 8] =
    ["ERROR", "WARN", "INFO", "DEBUG", "TRACE", "FATAL", "CRITICAL", "Traceback"];

/// Only the beginning of a line tells what it is.
const LINE_START_BYTES: usize = 64;

fn is_log_line(line: &str) -> bool {
    let words = line.split_whitespace().take(4);
    let has_level =
        words.map(|word| word.trim_matches(['[', ']', ':', '|'])).any(|w| LEVELS.contains(&w));
    let dated = line.bytes().take(10).filter(u8::is_ascii_digit).count() >= 6;
    has_level || (dated && line.contains(':')) || is_stack_frame(line)
}

fn is_stack_frame(line: &str) -> bool {
    let start = line.trim_start();
    let numbered = start.bytes().next().is_some_and(|b| b.is_ascii_digit())
        && start
            .get(..start.len().min(LINE_START_BYTES))
            .is_some_and(|start| start.contains(": 0x"));
    let named = start.starts_with("at ") && (start.contains('(') || start.contains(':'));
    named || start.starts_with("File \"") || start.starts_with("... ") || numbered
}

fn is_code_line(line: &str) -> bool {
    let line = line.trim();
    let ends = line.ends_with(['{', '}', ';']) || line.ends_with("):") || line.ends_with("},");
    let begins = ["//", "#include", "return ", "@", "&& ", "|| ", "."]
        .iter()
        .any(|start| line.starts_with(start));
    let is_call = line.ends_with(')')
        && line.split_once('(').is_some_and(|(name, _)| {
            !name.is_empty() && !name.contains(|c: char| c.is_whitespace() || c == '[')
        });
    ends || begins || is_call || line.contains(" = ") || line.contains("::") || is_signature(line)
}

const MODIFIERS: [&str; 14] = [
    "pub",
    "pub(crate)",
    "pub(super)",
    "async",
    "export",
    "default",
    "static",
    "public",
    "private",
    "protected",
    "abstract",
    "final",
    "const",
    "unsafe",
];
const DECLARATIONS: [&str; 14] = [
    "fn",
    "def",
    "class",
    "struct",
    "enum",
    "trait",
    "impl",
    "interface",
    "function",
    "func",
    "import",
    "use",
    "package",
    "mod",
];

/// A declaration or an import. Prose may begin with "use" or "import" too, so that the line must also look
/// like code.
fn is_signature(line: &str) -> bool {
    let mut words = line.split_whitespace().skip_while(|word| MODIFIERS.contains(word));
    let declares = words.next().is_some_and(|word| DECLARATIONS.contains(&word));
    let looks_like_code = line.ends_with(['{', ';', ':', ')', '}'])
        || line.contains("::")
        || line.contains('(')
        || line.split_whitespace().count() <= 2;
    (declares && looks_like_code) || (line.starts_with("from ") && line.contains(" import "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(text: &str) -> Vec<(Kind, String)> {
        split(&[text]).into_iter().map(|unit| (unit.kind, unit.text.into_owned())).collect()
    }

    #[test]
    fn each_form_of_text_is_recognised() {
        let text = "Intro here.\nTwo:\n- one\n  more\n- two\n\n```rust\nuse a::b;\nfn x() {\n  y\n}\n```\n\
                    Traceback (most recent call last):\n  File \"a.py\", line 3, in x\nValueError: bad";
        let expected = [
            (Kind::Sentence, "Intro here."),
            (Kind::Sentence, "Two:"),
            (Kind::Item, "- one more"),
            (Kind::Item, "- two"),
            (Kind::Code, "use a::b;"),
            (Kind::Code, "fn x() {"),
            (Kind::LogLine, "Traceback (most recent call last):"),
            (Kind::LogLine, "ValueError: bad"),
        ];
        assert_eq!(kinds(text), expected.map(|(kind, text)| (kind, text.to_owned())));
    }

    #[test]
    fn code_without_fences_and_json_between_fences() {
        let code = "import os\n\ndef main(args):\n    run(args)\n    return 0\n";
        assert_eq!(kinds(code)[1], (Kind::Code, "def main(args):".to_owned()));
        let fenced = "```json\n{\"a\": 1, \"b\": []}\n```";
        assert_eq!(kinds(fenced), [(Kind::Code, "{a: 1, b}".to_owned())]);
        assert_eq!(kinds("Use the cache first. Import it later.").len(), 2);
    }
}
