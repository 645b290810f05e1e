//! Counting tokens, from vocabularies inside the binary. Counting means ordinary encoding: special tokens are text.

use std::cell::RefCell;

use crate::envelope::TokenizerName;
use crate::word_counts::WordCounts;

thread_local! {
    static O200K_BASE: RefCell<WordCounts> = RefCell::new(WordCounts::new(bpe_openai::o200k_base()));
    static CL100K_BASE: RefCell<WordCounts> = RefCell::new(WordCounts::new(bpe_openai::cl100k_base()));
}

/// A tokenizer that this crate does not have.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("tokenizer {0:?} is not one of o200k_base, cl100k_base, approx")]
pub struct TokenizerError(pub String);

/// How many tokens a text takes. The vocabulary is loaded at the first count.
pub fn count(tokenizer: &TokenizerName, text: &str) -> Result<u32, TokenizerError> {
    let tokens = match tokenizer {
        TokenizerName::O200kBase => O200K_BASE.with_borrow_mut(|counts| counts.count(text)),
        TokenizerName::Cl100kBase => CL100K_BASE.with_borrow_mut(|counts| counts.count(text)),
        TokenizerName::Approx => approx(text),
        TokenizerName::Other(name) => return Err(TokenizerError(name.clone())),
    };
    Ok(u32::try_from(tokens).unwrap_or(u32::MAX))
}

/// An estimate for models without a public tokenizer, by runs of like characters. Its error is measured by a test
/// and stated in `docs/protocol.md`.
fn approx(text: &str) -> usize {
    let mut tokens = 0;
    let mut run = Run { class: Class::Space, chars: 0 };
    for c in text.chars() {
        let class = Class::of(c);
        if class != run.class {
            tokens += run.tokens();
            run = Run { class, chars: 0 };
        }
        run.chars += 1;
    }
    tokens + run.tokens()
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Word,
    Digit,
    Space,
    Newline,
    Mark,
    Ideograph,
    OtherLetter,
    Pictograph,
}

impl Class {
    fn of(c: char) -> Self {
        match c {
            'a'..='z' | 'A'..='Z' => Self::Word,
            '0'..='9' => Self::Digit,
            ' ' => Self::Space,
            '\n' | '\r' => Self::Newline,
            _ if c.is_ascii() => Self::Mark,
            '\u{c0}'..='\u{24f}' => Self::Word,
            '\u{2e80}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}' | '\u{f900}'..='\u{faff}' => {
                Self::Ideograph
            }
            _ if c.is_alphanumeric() => Self::OtherLetter,
            _ => Self::Pictograph,
        }
    }
}

struct Run {
    class: Class,
    chars: usize,
}

impl Run {
    /// A single space belongs to the word after it.
    fn tokens(&self) -> usize {
        match self.class {
            Class::Word => self.chars.div_ceil(6),
            Class::Digit => self.chars.div_ceil(3),
            Class::Space => usize::from(self.chars > 1),
            Class::Newline => self.chars.div_ceil(4),
            Class::Mark => self.chars.div_ceil(2),
            Class::Ideograph => self.chars,
            Class::OtherLetter => self.chars.div_ceil(3),
            Class::Pictograph => self.chars * 2,
        }
    }
}
