//! How much of a text is questions.

/// The share of sentences that end in a question mark, 0 to 1; notes in brackets do not count.
pub(crate) fn asking_share(text: &str) -> f32 {
    let plain = without_notes(text);
    let (mut sentences, mut asking) = (0u32, 0u32);
    for sentence in plain.split_inclusive(['.', '!', '?']) {
        let sentence = sentence.trim();
        let says_something = sentence.trim_end_matches(['.', '!', '?']).trim() != "";
        // Marks that follow each other belong to one sentence.
        if says_something {
            sentences += 1;
        }
        asking += u32::from(says_something && sentence.ends_with('?'));
    }
    if sentences == 0 { 0.0 } else { asking as f32 / sentences as f32 }
}

fn without_notes(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('[') {
        let Some((_, behind)) = after.split_once(']') else { break };
        plain.push_str(before);
        rest = behind;
    }
    plain + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares() {
        for (text, share) in [
            ("", 0.0),
            ("Done.", 0.0),
            ("Is it done?", 1.0),
            ("It broke. Why?", 0.5),
            ("Look [what is it?] here", 0.0),
            ("No way... really?", 0.5),
            ("[open", 0.0),
        ] {
            assert_eq!(asking_share(text), share, "{text:?}");
        }
    }
}
