//! Whether a command can be refused in the middle of its writing. Only then does it need a savepoint, and a savepoint
//! has a price: SQLite copies every page that is touched within it.

use spine_store::{Expected, Guard, Put, RowKey};

/// What has to be true ahead of the puts, so that none is refused once another has written; none where that cannot
/// be told.
pub(super) fn conditions(puts: &[Put]) -> Option<Vec<Guard>> {
    let Some((first, rest)) = puts.split_first() else { return Some(Vec::new()) };
    if !refuses_before_it_writes(first) {
        return None;
    }
    let mut guards = Vec::new();
    for put in rest {
        match told_ahead(put) {
            Ahead::Sure => {}
            Ahead::If(guard) => guards.push(guard),
            Ahead::Unsure => return None,
        }
    }
    // Two puts on one row: what the second finds is what the first leaves.
    let of_first = match told_ahead(first) {
        Ahead::If(guard) => Some(guard),
        Ahead::Sure | Ahead::Unsure => None,
    };
    let mut keys: Vec<&RowKey> = guards.iter().chain(&of_first).map(|guard| &guard.key).collect();
    let all = keys.len();
    keys.sort_unstable();
    keys.dedup();
    (keys.len() == all).then_some(guards)
}

enum Ahead {
    /// It is never refused.
    Sure,
    /// It is not refused if this holds.
    If(Guard),
    Unsure,
}

/// A revision first puts the version before aside, and may find its content taken then.
fn refuses_before_it_writes(put: &Put) -> bool {
    !matches!(put, Put::ReviseMemory(..))
}

fn told_ahead(put: &Put) -> Ahead {
    let (key, expected) = match put {
        Put::NewEnvelope(envelope) => (RowKey::Envelope(envelope.id), Expected::Absent),
        Put::PruneEnvelope(id, _) | Put::EraseEnvelopeTexts(id, _) => {
            (RowKey::Envelope(*id), Expected::Present)
        }
        Put::Record(record) => {
            (RowKey::Record(record.key.clone()), Expected::on_top_of(record.change))
        }
        Put::DropRecord(key, change) => (RowKey::Record(key.clone()), Expected::At(*change)),
        Put::Delivery(delivery) => {
            (RowKey::Delivery(delivery.id), Expected::on_top_of(delivery.change))
        }
        Put::DropDelivery(id, change) => (RowKey::Delivery(*id), Expected::At(*change)),
        Put::WakeRecord(..)
        | Put::ForgetIdempotency { .. }
        | Put::EraseEventReasons(_)
        | Put::ForgetEvents { .. } => return Ahead::Sure,
        Put::NewMemory(_)
        | Put::ReviseMemory(..)
        | Put::PinMemory(..)
        | Put::ReleaseContent(_)
        | Put::DeleteMemory(_)
        | Put::PurgeMemory(_) => return Ahead::Unsure,
    };
    Ahead::If(Guard { key, expected })
}
