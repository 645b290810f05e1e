//! Whether a value looks random, as secrets are, or was written by a person as a placeholder or a name.

/// What a match must show beyond its form.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Proof {
    /// Nothing but that it is no placeholder.
    NoPlaceholder,
    /// At least this many bits of entropy for each character.
    Entropy(f64),
    /// Entropy, and letters and digits mixed as no name mixes them.
    Random,
}

impl Proof {
    pub(super) fn convinces(self, value: &str) -> bool {
        !is_placeholder(value)
            && match self {
                Self::NoPlaceholder => true,
                Self::Entropy(bits_min) => entropy_bits(value) >= bits_min,
                Self::Random => is_random(value),
            }
    }
}

/// Between 2.5 (words) and 4 (random) for values of a dozen characters.
const RANDOM_ENTROPY_BITS_MIN: f64 = 3.0;
/// `sha256WithRSA` has two changes between letter and digit, a random value of ten characters more.
const RANDOM_CHANGES_MIN: usize = 3;

fn is_random(value: &str) -> bool {
    letter_digit_changes(value) >= RANDOM_CHANGES_MIN
        && entropy_bits(value) >= RANDOM_ENTROPY_BITS_MIN
        && !is_public_id(value)
}

/// Shannon entropy of one character, from the value's own frequencies.
fn entropy_bits(value: &str) -> f64 {
    let mut counts = [0_u32; 256];
    for byte in value.bytes() {
        if let Some(count) = counts.get_mut(usize::from(byte)) {
            *count += 1;
        }
    }
    let total = value.len() as f64;
    let shares = counts.iter().filter(|count| **count > 0).map(|count| f64::from(*count) / total);
    -shares.map(|share| share * share.log2()).sum::<f64>()
}

fn letter_digit_changes(value: &str) -> usize {
    let pairs = value.bytes().zip(value.bytes().skip(1));
    pairs
        .filter(|(one, next)| {
            (one.is_ascii_alphabetic() && next.is_ascii_digit())
                || (one.is_ascii_digit() && next.is_ascii_alphabetic())
        })
        .count()
}

/// A UUID, or a ULID with or without a prefix: identifiers name things and open nothing.
fn is_public_id(value: &str) -> bool {
    let parts: Vec<usize> = value.split('-').map(str::len).collect();
    let is_hex = value.bytes().all(|b| b.is_ascii_hexdigit() || b == b'-');
    let last = value.rsplit('_').next().unwrap_or_default();
    let is_ulid = last.len() == 26
        && last.starts_with(|c: char| ('0'..='7').contains(&c))
        && last.bytes().all(|b| b.is_ascii_digit() || b.is_ascii_uppercase());
    (is_hex && parts == [8, 4, 4, 4, 12]) || is_ulid
}

/// Words that only an example contains; long enough that chance does not spell them.
const PLACEHOLDER_PARTS: [&str; 10] = [
    "example",
    "placeholder",
    "changeme",
    "redacted",
    "your_",
    "your-",
    "yourpass",
    "insert_",
    "dummy_",
    "not_a_real",
];

/// What stands for a password where a form is shown.
const PLACEHOLDER_WORDS: [&str; 26] = [
    "admin",
    "apikey",
    "changeit",
    "dev",
    "dummy",
    "fake",
    "foobar",
    "guest",
    "hidden",
    "mypassword",
    "mysecret",
    "none",
    "null",
    "pass",
    "passwd",
    "password",
    "password123",
    "postgres",
    "pw",
    "pwd",
    "root",
    "secret",
    "test",
    "token",
    "user",
    "username",
];

fn is_placeholder(value: &str) -> bool {
    let lower = value.to_ascii_lowercase();
    PLACEHOLDER_WORDS.contains(&lower.as_str())
        || PLACEHOLDER_PARTS.iter().any(|part| lower.contains(part))
        || is_reference(value)
        || is_mostly_one_run(value)
}

/// A name of the place where the secret is kept: `${TOKEN}`, `<token>`, `{{ token }}`, `DB_PASSWORD`.
fn is_reference(value: &str) -> bool {
    let opens = ["$", "<", "{", "%(", "%{", "[", "...", "process.env.", "os.environ"];
    let is_constant =
        value.contains('_') && value.bytes().all(|b| b.is_ascii_uppercase() || b == b'_');
    is_constant || opens.iter().any(|open| value.starts_with(open))
}

/// Shorter runs happen by chance.
const RUN_CHARS_MIN: usize = 8;

/// `xxxxxxxx`, `********` or `12345678` over at least a quarter of the value. The keys inside private
/// key blocks hold such runs too, but are much longer.
fn is_mostly_one_run(value: &str) -> bool {
    let run = longest_run(value, 0).max(longest_run(value, 1));
    let short_and_same = run == value.len() && run >= 2;
    short_and_same || (run >= RUN_CHARS_MIN && run * 4 >= value.len())
}

/// The most characters in a row of which each is `step` after the one before.
fn longest_run(value: &str, step: u8) -> usize {
    let (mut longest, mut run, mut before) = (0, 0, None);
    for byte in value.bytes() {
        let goes_on = before.is_some_and(|before: u8| before.wrapping_add(step) == byte);
        run = if goes_on { run + 1 } else { 1 };
        longest = longest.max(run);
        before = Some(byte);
    }
    longest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn random_values_are_told_from_names() {
        for random in ["Tr0ub4dor&3", "k3J9xQ2mPv7Z", "9f86d081884c7d65"] {
            assert!(Proof::Random.convinces(random), "{random}");
        }
        let named = [
            "sha256WithRSAEncryption",
            "user_password_field_2",
            "correct-horse-battery",
            "v1.2.3-b4",
            "550e8400-e29b-41d4-a716-446655440000",
            "env_01JHX5C3Q8V6YQJ2ZD0M4T7N9R",
        ];
        for name in named {
            assert!(!Proof::Random.convinces(name), "{name}");
        }
    }

    #[test]
    fn placeholders_are_recognised() {
        for value in [
            "xxxxxxxx",
            "***",
            "${DB_PASSWORD}",
            "DB_PASSWORD",
            "<token>",
            "Password",
            "YOUR_TOKEN_HERE",
        ] {
            assert!(!Proof::NoPlaceholder.convinces(value), "{value}");
        }
        assert!(Proof::NoPlaceholder.convinces("hunter2"));
    }
}
