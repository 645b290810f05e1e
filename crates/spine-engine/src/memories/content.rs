//! When two memories say the same.
//!
//! The text counts exactly as it is: two spellings may be two meanings. Who said it, in which thread, of
//! whom, of when, and as what kind belong to it. A turn of a conversation is never the same as another:
//! a second "yes" is a second turn.

use spine_protocol::Digest;
use spine_store::{ContentKey, MemoryBody};

/// What the same content is recognised by; `None` for what is never recognised.
pub(super) fn content_key(body: &MemoryBody) -> Option<ContentKey> {
    if body.kind.is_conversation() {
        return None;
    }
    let occurred_at = body.occurred_at.as_ref().map(|at| at.unix_ms().to_string());
    let parts = [
        Some(body.kind.as_str()),
        body.author.as_ref().map(|author| author.as_str()),
        body.thread.as_ref().map(|thread| thread.as_str()),
        body.subject.as_ref().map(|subject| subject.as_str()),
        occurred_at.as_deref(),
        Some(body.text.as_str()),
    ];
    let marks = parts.map(|part| part.map_or(u64::MAX, |part| part.len() as u64).to_be_bytes());
    // Each part after its length: no two different lists of parts give the same bytes.
    let pairs = marks.iter().zip(&parts);
    let bytes: Vec<&[u8]> = pairs
        .flat_map(|(mark, part)| [mark.as_slice(), part.unwrap_or_default().as_bytes()])
        .collect();
    Some(ContentKey::from_digest(&Digest::of(&bytes)))
}

/// Whether two bodies say the same. The key is short; this is the truth behind it.
pub(super) fn same_content(one: &MemoryBody, other: &MemoryBody) -> bool {
    let about = |body: &MemoryBody| body.occurred_at.as_ref().map(|at| at.unix_ms());
    one.text == other.text
        && one.kind == other.kind
        && one.author == other.author
        && one.thread == other.thread
        && one.subject == other.subject
        && about(one) == about(other)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn base() -> MemoryBody {
        MemoryBody {
            text: "yes".to_owned(),
            author: Some("a".parse().unwrap()),
            thread: Some("t".parse().unwrap()),
            ..MemoryBody::default()
        }
    }

    #[test]
    fn what_says_the_same_has_the_same_key() {
        let at = |text: &str| Some(text.parse().unwrap());
        let one = MemoryBody { occurred_at: at("2026-01-15T09:30:00Z"), ..base() };
        let other = MemoryBody {
            occurred_at: at("2026-01-15T10:30:00+01:00"),
            title: Some("another title".to_owned()),
            pinned: true,
            ..base()
        };
        assert_eq!(content_key(&one), content_key(&other));
        assert!(same_content(&one, &other));
    }

    #[test]
    fn what_differs_has_another_key() {
        let moved = MemoryBody { author: Some("at".parse().unwrap()), thread: None, ..base() };
        let others = [
            MemoryBody { text: "yes ".to_owned(), ..base() },
            MemoryBody { author: None, ..base() },
            MemoryBody { thread: None, ..base() },
            MemoryBody { subject: Some("user:1".parse().unwrap()), ..base() },
            MemoryBody { kind: "reasoning".parse().unwrap(), ..base() },
            MemoryBody { occurred_at: Some("2026-01-15T09:30:00Z".parse().unwrap()), ..base() },
            moved,
        ];
        for other in others {
            assert_ne!(content_key(&base()), content_key(&other), "{other:?}");
            assert!(!same_content(&base(), &other));
        }
    }

    #[test]
    fn turns_of_a_conversation_are_never_the_same() {
        let turn = MemoryBody { kind: "conversation".parse().unwrap(), ..base() };
        assert_eq!(content_key(&turn), None);
    }
}
