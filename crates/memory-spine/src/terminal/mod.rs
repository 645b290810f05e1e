//! What a person sees: colours on a terminal only, and no text from elsewhere that could steer it.

mod progress;
mod table;

use std::io::{IsTerminal, Write};

use serde::Serialize;
use spine_protocol::{inert, inline, is_hidden};

pub use progress::Progress;
pub use table::Table;

/// How something stands out.
#[derive(Debug, Clone, Copy)]
pub enum Tone {
    /// A heading.
    Strong,
    /// As it should be.
    Good,
    /// Worth a look.
    Odd,
    /// Not as it should be.
    Bad,
}

/// Standard output.
#[derive(Debug, Clone, Copy)]
pub struct Screen {
    is_coloured: bool,
    is_json: bool,
}

impl Screen {
    /// For people, or for scripts.
    pub fn new(is_json: bool) -> Self {
        let is_wanted = std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
        Self { is_coloured: !is_json && is_wanted && std::io::stdout().is_terminal(), is_json }
    }

    /// One line, or several; whoever reads may have gone.
    pub fn say(&self, text: &str) {
        let _ = writeln!(std::io::stdout(), "{text}");
    }

    /// A text for people only.
    pub fn text(&self, text: &str) {
        if !self.is_json {
            self.say(text);
        }
    }

    /// The server's answer for scripts, or else lines for people.
    pub fn show<T: Serialize>(&self, answer: &T, lines: impl FnOnce(&Self)) {
        if !self.is_json {
            return lines(self);
        }
        if let Ok(text) = serde_json::to_string_pretty(answer) {
            self.say(&visible_json(&text));
        }
    }

    /// A text of ours, standing out.
    pub fn paint(&self, tone: Tone, text: &str) -> String {
        if !self.is_coloured {
            return text.to_owned();
        }
        let code = match tone {
            Tone::Strong => 1,
            Tone::Good => 32,
            Tone::Odd => 33,
            Tone::Bad => 31,
        };
        format!("\u{1b}[{code}m{text}\u{1b}[0m")
    }
}

/// A text from elsewhere: what would steer the terminal is shown instead.
pub fn foreign(text: &str) -> String {
    inert(text)
}

/// A text from elsewhere on one line of bounded length.
pub fn foreign_line(text: &str, chars_max: usize) -> String {
    let line = inline(text);
    if line.chars().count() <= chars_max {
        return line;
    }
    let cut: String = line.chars().take(chars_max.saturating_sub(1)).collect();
    format!("{}…", cut.trim_end())
}

/// The same JSON with escapes for characters that steer a terminal: only texts can hold them.
pub fn visible_json(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        if c != '\n' && is_hidden(c) {
            let mut units = [0; 2];
            for unit in c.encode_utf16(&mut units) {
                shown.push_str(&format!("\\u{unit:04x}"));
            }
        } else {
            shown.push(c);
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_foreign_steers_the_terminal() {
        assert_eq!(foreign("a\u{1b}[2Jb\u{9b}31m"), "a⟨U+001B⟩[2Jb⟨U+009B⟩31m");
        assert_eq!(foreign_line("one\ntwo three", 8), "one ⏎ t…");
        let value = serde_json::json!({"a": "\u{9b}x\u{e0041}\u{1b}"});
        let text = visible_json(&value.to_string());
        assert_eq!(text, "{\"a\":\"\\u009bx\\udb40\\udc41\\u001b\"}");
        assert_eq!(serde_json::from_str::<serde_json::Value>(&text).ok(), Some(value));
    }
}
