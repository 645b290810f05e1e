//! Where a list goes on. Opaque to callers, so that what is in it can change.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use crate::limits::CURSOR_BYTES_MAX;
use crate::problem::Problem;

/// The cursor of a list, from the place in it.
pub fn encode(list: &str, place: impl std::fmt::Display) -> String {
    URL_SAFE_NO_PAD.encode(format!("{list}:{place}"))
}

/// The place in a list, from the cursor that it gave.
pub fn decode<T: std::str::FromStr>(
    list: &str,
    cursor: Option<&str>,
) -> Result<Option<T>, Problem> {
    let Some(cursor) = cursor else { return Ok(None) };
    let place = Some(cursor)
        .filter(|cursor| cursor.len() <= CURSOR_BYTES_MAX)
        .and_then(|cursor| URL_SAFE_NO_PAD.decode(cursor).ok())
        .and_then(|bytes| String::from_utf8(bytes).ok())
        .and_then(|text| text.strip_prefix(list)?.strip_prefix(':')?.parse().ok());
    let wrong = || Problem::parameter("cursor", "expected the `next_cursor` of the page before");
    place.map(Some).ok_or_else(wrong)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_is_good_for_its_list_only() {
        let cursor = encode("memories", 17);
        assert_eq!(decode::<u64>("memories", Some(&cursor)).unwrap(), Some(17));
        assert_eq!(decode::<u64>("memories", None).unwrap(), None);
        for wrong in [encode("events", 17), encode("memories", "x"), "!".into(), "a".repeat(5000)] {
            assert!(decode::<u64>("memories", Some(&wrong)).is_err(), "{wrong}");
        }
    }
}
