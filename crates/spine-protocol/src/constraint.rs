//! What a constraint's value may be, and when a new value keeps to an old one.

use serde_json::Value;

use crate::envelope::{Constraint, Scope};
use crate::json::same;
use crate::limits::HOPS_MAX;
use crate::timestamp::Timestamp;

/// The moment by which the work should be done. Understood, not enforced: late work is flagged overdue.
pub const DEADLINE: &str = "deadline";
/// The hop at which the chain ends, as a constraint.
pub const MAX_HOPS: &str = "max_hops";
/// Not a constraint: the receiver's budget, which callers like to write among the constraints.
pub const MAX_TOKENS: &str = "max_tokens";

/// Whether a value can stand under a name; otherwise what was expected.
pub(crate) fn check_value(name: &str, scope: Scope, value: &Value) -> Result<(), String> {
    match name {
        _ if value.is_null() => {
            Err("expected a string, number, bool, list or object, got null".to_owned())
        }
        DEADLINE if deadline_unix_ms(value).is_none() => Err(format!(
            "expected an RFC 3339 date and time, or a date (the end of that day, UTC), got {value}"
        )),
        MAX_HOPS if scope == Scope::Hop => {
            Err("expected scope `lineage`: a hop limit is for the whole chain".to_owned())
        }
        MAX_HOPS if hops(value).is_none() => {
            Err(format!("expected a whole number from 1 to {HOPS_MAX}, got {value}"))
        }
        MAX_TOKENS => {
            Err("expected the budget in `assembly.max_tokens`: it is no constraint".to_owned())
        }
        _ => Ok(()),
    }
}

/// Whether `new` keeps to `old`: the same as canonical JSON, or tighter.
pub(crate) fn keeps(name: &str, old: &Value, new: &Value) -> bool {
    same(old, new) || is_tighter(name, old, new)
}

fn is_tighter(name: &str, old: &Value, new: &Value) -> bool {
    match (name, old, new) {
        (DEADLINE, _, _) => {
            deadline_unix_ms(old).zip(deadline_unix_ms(new)).is_some_and(|(old, new)| new <= old)
        }
        (MAX_HOPS, _, _) => hops(old).zip(hops(new)).is_some_and(|(old, new)| new <= old),
        (_, Value::Array(old), Value::Array(new)) => {
            old.iter().all(|item| new.iter().any(|candidate| same(item, candidate)))
        }
        _ => false,
    }
}

/// A value that keeps to both, if there is one: the tighter of the two, or two lists as one.
pub(crate) fn reconcile(name: &str, a: &Value, b: &Value) -> Option<Value> {
    if keeps(name, b, a) {
        return Some(a.clone());
    }
    if keeps(name, a, b) {
        return Some(b.clone());
    }
    let (Value::Array(a), Value::Array(b)) = (a, b) else { return None };
    let missing = b.iter().filter(|item| !a.iter().any(|present| same(present, item)));
    Some(Value::Array(a.iter().chain(missing).cloned().collect()))
}

/// The last moment that is still in time.
pub(crate) fn deadline_unix_ms(value: &Value) -> Option<i64> {
    let text = value.as_str()?;
    let moment: Option<Timestamp> = text.parse().ok();
    let end_of_day = || format!("{text}T23:59:59.999Z").parse().ok();
    moment.or_else(end_of_day).map(|moment: Timestamp| moment.unix_ms())
}

/// The hop limit that a constraint asks for.
pub(crate) fn hop_limit(constraint: &Constraint) -> Option<u32> {
    (constraint.name.as_str() == MAX_HOPS).then(|| hops(&constraint.value)).flatten()
}

pub(crate) fn hops(value: &Value) -> Option<u32> {
    let whole = value.as_f64().filter(|hops| hops.fract() == 0.0)?;
    (1.0..=f64::from(HOPS_MAX)).contains(&whole).then_some(whole as u32)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn check(name: &str, old: Value, new: Value, expected: bool) {
        assert_eq!(keeps(name, &old, &new), expected, "{name}: {old} → {new}");
    }

    #[test]
    fn tightening_needs_no_waiver_and_nothing_else_does() {
        check("language", json!("python"), json!("python"), true);
        check("language", json!("python"), json!("rust"), false);
        check("retries", json!(3), json!(3.0), true);
        check("retries", json!(3), json!(2), false);
        check("o", json!({"a": 1, "b": [2]}), json!({"b": [2.0], "a": 1}), true);
        check("o", json!({"a": 1}), json!({"a": 1, "b": 2}), false);
        check("forbid", json!(["a"]), json!(["b", "a"]), true);
        check("forbid", json!(["a", "b"]), json!(["a"]), false);
        check("deadline", json!("2026-01-30T00:00:00Z"), json!("2026-01-29T23:00:00-01:00"), true);
        check("deadline", json!("2026-01-30"), json!("2026-01-30T12:00:00Z"), true);
        check("deadline", json!("2026-01-30T00:00:00Z"), json!("2026-01-31"), false);
        check("max_hops", json!(5), json!(4), true);
        check("max_hops", json!(5), json!(6), false);
    }

    #[test]
    fn two_lists_become_one_and_two_words_do_not() {
        assert_eq!(
            reconcile("f", &json!(["a", "b"]), &json!(["c", "a"])),
            Some(json!(["a", "b", "c"]))
        );
        assert_eq!(reconcile("max_hops", &json!(5), &json!(3)), Some(json!(3)));
        assert_eq!(reconcile("language", &json!("python"), &json!("rust")), None);
    }
}
