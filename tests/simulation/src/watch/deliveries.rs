//! What may become of a delivery in one step.

use spine_engine::delivery::Delivery;
use spine_engine::delivery::breaker::{Admission, Breaker};
use spine_protocol::{DeliveryId, WorkspaceName};
use spine_store::testing::{ModelStore, block_on};
use spine_store::{Collection, Command, DeliveryReads, DeliveryState, Put, UnixMs};

use super::{Rule, Seen, Watch, is_held};
use crate::disk::Meta;

/// Retries after which one of them must have been delayed: jitter does not draw nothing that often.
const RETRIES_TELLING: u32 = 12;

/// One delivery before and after a command.
struct Turn<'a> {
    meta: &'a Meta,
    command: &'a Command,
    kinds: Vec<&'a str>,
    before: &'a Delivery,
    after: &'a Delivery,
    now: UnixMs,
}

impl Turn<'_> {
    fn is(&self, kind: &str) -> bool {
        self.kinds.contains(&kind)
    }

    fn failed(&self) -> bool {
        ["delivery.nacked", "delivery.lease_expired", "delivery.not_taken"]
            .iter()
            .any(|kind| self.is(kind))
    }

    fn moved(&self) -> bool {
        self.is("delivery.rerouted") || self.is("delivery.requeued")
    }

    fn shown(&self) -> Option<String> {
        let shown = self.meta.shown.as_ref().filter(|(id, _)| *id == self.after.row.id);
        shown.map(|(_, fence)| fence.to_string())
    }

    fn says(&self, what: &str) -> String {
        let (id, from, to) = (self.after.row.id, self.before.state(), self.after.state());
        let (epoch, kinds) = (self.after.row.epoch, self.kinds.join(" "));
        format!("{what}: {id} from {from:?} to {to:?} at epoch {epoch} by {kinds}")
    }
}

impl Watch {
    pub(super) fn delivery_put(
        &mut self,
        meta: &Meta,
        command: &Command,
        id: DeliveryId,
        model: &ModelStore,
        now: UnixMs,
    ) {
        let key = (command.workspace.clone(), id);
        let row = block_on(model.deliveries(&key.0, vec![id])).ok().and_then(|mut rows| rows.pop());
        let Some(Ok(after)) = row.map(Delivery::of_row) else {
            return self.fail(Rule::NothingLost, format!("{id} was written and is not there"));
        };
        let Some(Seen { delivery: before, tried }) = self.rows.get(&key).cloned() else {
            self.check(after.row.epoch == 0, Rule::EpochsGrow, || format!("{id} is born leased"));
            let envelope = (key.0.clone(), after.row.envelope);
            let whole = !self.skeletons.contains(&envelope);
            self.check(whole, Rule::PrunedIsOver, || format!("{id} was sent of a skeleton"));
            self.rows.insert(key, Seen { delivery: after, tried: 0 });
            return;
        };
        let about = command.events.iter().filter(|event| event.delivery == Some(id));
        let kinds = about.map(|event| event.kind.as_ref()).collect();
        let turn = Turn { meta, command, kinds, before: &before, after: &after, now };
        self.check_end(&turn);
        self.check_speaker(&turn);
        self.check_lease(&turn, &key.0);
        self.check_lease_kept(&turn);
        self.check_backoff(&turn);
        let tried = self.count_attempts(&turn, tried);
        self.rows.insert(key, Seen { delivery: after, tried });
    }

    fn check_end(&mut self, turn: &Turn<'_>) {
        let open = turn.before.state().is_open() || turn.before.state() == DeliveryState::Parked;
        self.check(open, Rule::EndIsFinal, || turn.says("what was over changed"));
    }

    /// Who speaks for a lease must hold it.
    fn check_speaker(&mut self, turn: &Turn<'_>) {
        let Some(shown) = turn.shown() else { return };
        let holds = is_held(turn.before) && shown == self.token(turn.before);
        self.check(holds, Rule::LostLeaseIsPowerless, || {
            turn.says(&format!("the lost lease {shown} acted"))
        });
    }

    fn check_lease(&mut self, turn: &Turn<'_>, workspace: &WorkspaceName) {
        let (before, after) = (&turn.before.row, &turn.after.row);
        if after.epoch == before.epoch {
            let same = after.incarnation == before.incarnation;
            let leased = is_held(turn.after) && !is_held(turn.before);
            return self.check(same && !leased, Rule::EpochsGrow, || turn.says("no new epoch"));
        }
        self.check(after.epoch == before.epoch + 1, Rule::EpochsGrow, || turn.says("a leap"));
        let free = before.state == DeliveryState::Pending && is_held(turn.after);
        self.check(free, Rule::OneLease, || turn.says("taken twice"));
        self.check(before.visible_at <= turn.now, Rule::Backoff, || turn.says("taken too early"));
        let token = self.token(turn.after);
        let new = self.given.insert((after.id, token.clone()));
        self.check(new, Rule::TokensDiffer, || turn.says(&format!("{token} was given before")));
        self.check_held_back(turn);
        self.check_order(turn, workspace);
    }

    /// As the agent stood when the receiver's call last looked.
    fn check_held_back(&mut self, turn: &Turn<'_>) {
        let Some(standing) = turn.meta.standing.get(&turn.after.row.agent) else {
            return self.fail(Rule::HeldBack, turn.says("nobody looked how its agent stands"));
        };
        self.check(!standing.paused, Rule::HeldBack, || turn.says("its agent is paused"));
        let id = turn.after.row.id;
        let probes = standing.breaker.probe == Some(id);
        let fits = match standing.breaker.admits(turn.now) {
            Admission::All => true,
            Admission::Probe => probes || makes_probe(turn.command, id),
            Admission::None(_) => probes,
        };
        self.check(fits, Rule::HeldBack, || turn.says("the breaker is open, and it is no probe"));
    }

    fn check_order(&mut self, turn: &Turn<'_>, workspace: &WorkspaceName) {
        let own = &turn.after.row;
        if own.order_key.is_none() {
            return;
        }
        let siblings = self.rows.iter().filter(|((at, id), _)| at == workspace && *id != own.id);
        let rows = siblings.map(|(_, seen)| &seen.delivery);
        let same = rows
            .filter(|other| other.row.order_key == own.order_key && other.row.agent == own.agent);
        let ahead = same.filter(|other| {
            is_held(other)
                || (other.state().is_open() && other.row.sequence < turn.before.row.sequence)
        });
        let ahead: Vec<String> = ahead.map(|other| other.row.id.to_string()).collect();
        self.check(ahead.is_empty(), Rule::Order, || turn.says(&format!("before {ahead:?}")));
    }

    fn check_lease_kept(&mut self, turn: &Turn<'_>) {
        if !is_held(turn.before) || is_held(turn.after) {
            return;
        }
        let token = (turn.before.row.id, self.token(turn.before));
        let until = turn.before.story.lease.as_ref().map(|lease| lease.until);
        let over = until.is_some_and(|until| until <= turn.now);
        let spoken = turn.shown().is_some();
        let fair = match turn.after.state() {
            DeliveryState::Pending if turn.is("delivery.released") => !self.handed.contains(&token),
            _ if turn.is("delivery.lease_expired") => over,
            DeliveryState::Pending => {
                spoken && (turn.is("delivery.nacked") || turn.is("delivery.not_taken"))
            }
            DeliveryState::Done | DeliveryState::Rejected => spoken,
            _ => true,
        };
        self.check(fair, Rule::LeaseIsKept, || turn.says("a living lease was taken away"));
    }

    fn check_backoff(&mut self, turn: &Turn<'_>) {
        let again = turn.failed() && turn.after.state() == DeliveryState::Pending && !turn.moved();
        if !again {
            return;
        }
        let (at, visible) = (turn.command.at.0, turn.after.row.visible_at.0);
        if let Some(asked) = turn.meta.after_ms.filter(|_| turn.is("delivery.nacked")) {
            let fits = visible >= at + i64::try_from(asked).unwrap_or_default();
            return self.check(fits, Rule::Backoff, || turn.says("sooner than was asked for"));
        }
        let longest = turn.after.story.policy.backoff_ms_max;
        let fits = visible <= at + i64::try_from(longest).unwrap_or(i64::MAX);
        self.check(fits, Rule::Backoff, || turn.says("later than the policy allows"));
        self.retried += 1;
        self.delayed += u32::from(visible > at);
        let spread = self.retried < RETRIES_TELLING || self.delayed > 0;
        self.check(spread, Rule::Backoff, || turn.says("no retry was ever delayed"));
    }

    fn count_attempts(&mut self, turn: &Turn<'_>, tried: u32) -> u32 {
        let tried = tried + u32::from(turn.failed());
        let most = turn.after.story.policy.attempts_max;
        let again = turn.after.state().is_open() && !turn.moved();
        let fits = tried < most || !again || !turn.failed();
        self.check(fits, Rule::Attempts, || turn.says(&format!("tried {tried} times of {most}")));
        if turn.moved() { 0 } else { tried }
    }
}

fn makes_probe(command: &Command, id: DeliveryId) -> bool {
    command.puts.iter().any(|put| match put {
        Put::Record(record) if record.key.collection == Collection::Breaker => {
            let breaker = serde_json::from_slice::<Breaker>(&record.value);
            breaker.is_ok_and(|breaker| breaker.probe == Some(id))
        }
        _ => false,
    })
}
