//! Guardrails that can be checked are checked: no secret travels under a constraint that forbids it.

use spine_protocol::{Constraint, Redaction, Unsealed};
use spine_store::Memory;

use super::AssemblyError;
use super::offer::Offer;
use crate::text::secrets::{find_secrets, forbids_secrets, redacted};

/// Whether a constraint of this envelope forbids plaintext credentials.
pub(super) fn is_guarded(unsealed: &Unsealed) -> bool {
    forbid_secrets(&unsealed.body().constraints)
}

/// Whether one of these constraints forbids plaintext credentials.
pub(crate) fn forbid_secrets(constraints: &[Constraint]) -> bool {
    constraints.iter().any(|c| forbids_secrets(c.name.as_str(), &c.value))
}

/// Refuses a secret in the core, and blacks out those in the history.
pub(super) fn guard_envelope(unsealed: &mut Unsealed) -> Result<Vec<Redaction>, AssemblyError> {
    check_core(unsealed)?;
    Ok(unsealed.redact_history(without_secrets))
}

/// What travels word for word cannot be blacked out: a secret in it refuses the call.
fn check_core(unsealed: &Unsealed) -> Result<(), AssemblyError> {
    let body = unsealed.body();
    let constraints =
        body.constraints.iter().map(|c| (format!("constraint `{}`", c.name), c.value.to_string()));
    let core = [
        ("the intent".to_owned(), body.task.intent.clone()),
        ("the summary".to_owned(), body.task.summary.clone()),
    ];
    for (place, text) in core.into_iter().chain(constraints) {
        if let Some(secret) = find_secrets(&text).first() {
            return Err(AssemblyError::SecretInCore { place, kind: secret.kind.to_owned() });
        }
    }
    Ok(())
}

fn without_secrets(text: &str) -> (String, Vec<String>) {
    let (clean, kinds) = redacted(text);
    (clean, kinds.into_iter().map(str::to_owned).collect())
}

/// Blacks out in the envelope, never in the store.
pub(super) fn redact(offer: &mut Offer) {
    offer.redacted_kinds = redact_memory(&mut offer.memory);
}

/// Blacks out what a guarded envelope would not carry; the kinds of what was there.
pub(crate) fn redact_memory(memory: &mut Memory) -> Vec<String> {
    let (body, mut found) = (&mut memory.body, Vec::new());
    for text in
        [Some(&mut body.text), body.summary.as_mut(), body.title.as_mut()].into_iter().flatten()
    {
        let (clean, kinds) = without_secrets(text);
        *text = clean;
        found.extend(kinds);
    }
    found.sort();
    found.dedup();
    found
}
