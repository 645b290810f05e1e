//! Deliveries: written on top of what was read, taken in order, found when due.

use spine_protocol::{AgentName, DeliveryId, EnvelopeId, WorkspaceName};

use super::draft::*;
use crate::limits::DELIVERY_BYTES_MAX;
use crate::{
    Change, Command, Delivery, DeliveryQuery, DeliveryState, ErrorKind, Expected, Priority, Put,
    QueueState, RowKey, Store, UnixMs,
};

pub(super) fn dlv(n: u64) -> DeliveryId {
    DeliveryId::from_parts(n, u128::from(n))
}

fn env(n: u64) -> EnvelopeId {
    EnvelopeId::from_parts(n, u128::from(n))
}

fn agent(name: &str) -> AgentName {
    name.parse().unwrap()
}

pub(super) fn draft(n: u64) -> Delivery {
    Delivery {
        id: dlv(n),
        envelope: env(n),
        root: env(1),
        agent: agent("ann"),
        state: DeliveryState::Pending,
        priority: Priority::Normal,
        order_key: None,
        sequence: Change::ZERO,
        visible_at: AT,
        due_at: None,
        epoch: 0,
        incarnation: 0,
        story: format!("{{\"n\":{n}}}").into_bytes(),
        result: None,
        updated_at: UnixMs(0),
        change: Change::ZERO,
    }
}

fn ordered(n: u64, key: &str) -> Delivery {
    Delivery { order_key: Some(key.parse().unwrap()), ..draft(n) }
}

pub(super) fn put(delivery: Delivery) -> Put {
    Put::Delivery(Box::new(delivery))
}

fn write(store: &dyn Store, deliveries: impl IntoIterator<Item = Delivery>) {
    done(store, deliveries.into_iter().map(put).collect());
}

fn read(store: &dyn Store, n: u64) -> Option<Delivery> {
    get(store.deliveries(&default(), vec![dlv(n)])).pop()
}

/// Writes on top of what is there.
fn edit(store: &dyn Store, n: u64, edit: impl FnOnce(Delivery) -> Delivery) {
    write(store, [edit(read(store, n).unwrap())]);
}

fn set_state(store: &dyn Store, n: u64, state: DeliveryState) {
    edit(store, n, |delivery| Delivery { state, ..delivery });
}

fn later(ms: i64) -> UnixMs {
    UnixMs(AT.0 + ms)
}

fn ids(deliveries: &[Delivery]) -> Vec<u64> {
    deliveries.iter().map(number).collect()
}

pub(super) fn number(delivery: &Delivery) -> u64 {
    delivery.id.unix_ms()
}

fn ready(store: &dyn Store, name: &str, now: UnixMs) -> Vec<u64> {
    ids(&get(store.ready_deliveries(&default(), agent(name), now, 10)))
}

pub(super) fn every_field_of_a_delivery_survives(store: &dyn Store) {
    let full = Delivery {
        envelope: env(7),
        root: env(8),
        agent: agent("bob"),
        state: DeliveryState::Accepted,
        priority: Priority::Critical,
        visible_at: later(-3),
        due_at: Some(later(3)),
        epoch: u32::MAX,
        incarnation: u64::MAX,
        story: (0..=255).collect(),
        result: Some((0..=255).rev().collect()),
        ..ordered(1, "customer 17")
    };
    let receipt = done(store, vec![new("a"), put(full.clone())]);
    let change = receipt.put_change(1);
    let stored = Delivery { sequence: change, change, updated_at: AT, ..full };
    assert_eq!(read(store, 1), Some(stored.clone()));
    // Every one can be replaced by the next write, but for its place in the order.
    let at = later(9);
    let next = Delivery { change, sequence: Change(99), ..draft(1) };
    apply(store, Command { at, ..command(vec![put(next.clone())]) }).unwrap();
    let change = Change(change.0 + 1);
    let expected = Delivery { sequence: stored.sequence, change, updated_at: at, ..next };
    assert_eq!(read(store, 1), Some(expected));
}

pub(super) fn delivery_that_moved_on_refuses_older_writers(store: &dyn Store) {
    write(store, [draft(1)]);
    let first = read(store, 1).unwrap();
    set_state(store, 1, DeliveryState::Leased);
    let now = read(store, 1).unwrap();
    let (old, gone) = (Expected::At(first.change), Expected::At(Change(1)));
    let cases = [
        (put(draft(1)), 1, Expected::Absent, Some(now.change)),
        (put(first.clone()), 1, old, Some(now.change)),
        (put(Delivery { change: Change(1), ..draft(2) }), 2, gone, None),
        (Put::DropDelivery(dlv(1), first.change), 1, old, Some(now.change)),
        (Put::DropDelivery(dlv(2), Change(1)), 2, gone, None),
    ];
    for (put, n, expected, found) in cases {
        let error = apply(store, command(vec![new("undone"), put.clone()])).unwrap_err();
        let failure = error.guard().unwrap_or_else(|| panic!("{put:?}: {error:?}"));
        assert_eq!(failure.key, RowKey::Delivery(dlv(n)), "{put:?}");
        assert_eq!((failure.expected, failure.found), (expected, found), "{put:?}");
    }
    assert_eq!((read(store, 1), row(store, 1)), (Some(now), None));
}

pub(super) fn dropped_delivery_is_gone(store: &dyn Store) {
    write(store, [Delivery { due_at: Some(AT), ..draft(1) }]);
    let change = read(store, 1).unwrap().change;
    done(store, vec![Put::DropDelivery(dlv(1), change)]);
    assert_eq!((read(store, 1), get(store.next_due())), (None, None));
    assert_eq!(ready(store, "ann", AT), [0; 0]);
    // A new one under its id is as new as any.
    write(store, [draft(2), draft(1)]);
    assert_eq!(ready(store, "ann", AT), [2, 1]);
}

fn drop_delivery(store: &dyn Store, n: u64) -> Put {
    Put::DropDelivery(dlv(n), read(store, n).unwrap().change)
}

/// Refused, with all that is in the same command.
fn refused() -> Put {
    revise(9, "none")
}

/// What left its lane goes on holding up what is behind it, if the lane is not taken off its row.
fn assert_leaves_its_lane(store: &dyn Store) {
    write(store, [ordered(1, "k"), ordered(2, "k")]);
    assert_eq!(ready(store, "ann", AT), [1]);
    edit(store, 1, |delivery| Delivery { order_key: None, ..delivery });
    assert_eq!(ready(store, "ann", AT), [1, 2]);
}

/// The row was taken for that of an earlier delivery under the same id, and its order key was not written.
pub(super) fn delivery_under_an_id_that_was_dropped_is_written_whole(store: &dyn Store) {
    write(store, [draft(1)]);
    done(store, vec![drop_delivery(store, 1)]);
    assert_leaves_its_lane(store);
}

/// The same, where the earlier one had never come to be.
pub(super) fn delivery_under_an_id_that_was_refused_is_written_whole(store: &dyn Store) {
    apply(store, command(vec![put(draft(1)), refused()])).unwrap_err();
    assert_leaves_its_lane(store);
}

/// The same, where another one was to take its place and did not.
pub(super) fn delivery_that_was_not_replaced_is_written_whole(store: &dyn Store) {
    write(store, [ordered(2, "k"), ordered(1, "k")]);
    let puts = vec![drop_delivery(store, 1), put(draft(1)), refused()];
    apply(store, command(puts)).unwrap_err();
    edit(store, 1, |delivery| Delivery { order_key: None, ..delivery });
    assert_eq!(ready(store, "ann", AT), [2, 1]);
}

pub(super) fn failed_command_leaves_deliveries_as_they_were(store: &dyn Store) {
    write(store, [draft(1), draft(2)]);
    let [one, two] = [1, 2].map(|n| read(store, n).unwrap());
    let leased = Delivery { state: DeliveryState::Leased, ..one.clone() };
    let puts =
        vec![put(leased), Put::DropDelivery(two.id, two.change), put(draft(3)), revise(9, "none")];
    apply(store, command(puts)).unwrap_err();
    let found = get(store.deliveries(&default(), [1, 2, 3].map(dlv).into()));
    assert_eq!(found, [one, two]);
}

pub(super) fn deliveries_are_read_in_the_order_asked(store: &dyn Store) {
    write(store, [1, 2, 3].map(draft));
    let found = get(store.deliveries(&default(), [3, 9, 1, 3].map(dlv).into()));
    assert_eq!(ids(&found), [3, 1, 3]);
    assert_eq!(get(store.deliveries(&default(), vec![])), vec![]);
}

pub(super) fn ready_ones_are_pending_visible_and_the_agents_own(store: &dyn Store) {
    let states = DeliveryState::ALL.into_iter().zip(10..);
    write(store, states.map(|(state, n)| Delivery { state, ..draft(n) }));
    write(store, [Delivery { visible_at: later(1), ..draft(1) }]);
    write(store, [Delivery { agent: agent("bob"), ..draft(2) }]);
    assert_eq!(ready(store, "ann", AT), [10]);
    assert_eq!(ready(store, "ann", later(1)), [10, 1]);
    assert_eq!(ready(store, "bob", AT), [2]);
    assert_eq!(ready(store, "nobody", AT), [0; 0]);
}

pub(super) fn ready_ones_come_by_priority_and_then_the_oldest_first(store: &dyn Store) {
    let priorities = [Priority::Low, Priority::Normal, Priority::Critical, Priority::High];
    // The larger ids are older: age is what counts.
    for (n, priority) in (1..=8).rev().zip(priorities.into_iter().cycle()) {
        write(store, [Delivery { priority, ..draft(n) }]);
    }
    assert_eq!(ready(store, "ann", AT), [6, 2, 5, 1, 7, 3, 8, 4]);
    let first = get(store.ready_deliveries(&default(), agent("ann"), AT, 3));
    assert_eq!(ids(&first), [6, 2, 5]);
    // A transition does not make it younger.
    set_state(store, 6, DeliveryState::Leased);
    set_state(store, 6, DeliveryState::Pending);
    assert_eq!(ready(store, "ann", AT)[..2], [6, 2]);
}

pub(super) fn order_key_lets_one_at_a_time_through(store: &dyn Store) {
    write(store, [ordered(1, "k"), ordered(2, "k"), ordered(3, "other"), draft(4)]);
    write(store, [Delivery { agent: agent("bob"), ..ordered(5, "k") }]);
    write(store, [Delivery { priority: Priority::Critical, ..ordered(6, "k") }]);
    assert_eq!(ready(store, "ann", AT), [1, 3, 4]);
    assert_eq!(ready(store, "bob", AT), [5]);
    for state in [DeliveryState::Leased, DeliveryState::Accepted] {
        set_state(store, 1, state);
        assert_eq!(ready(store, "ann", AT), [3, 4], "behind one that is {state:?}");
    }
    edit(store, 1, |delivery| Delivery {
        state: DeliveryState::Pending,
        visible_at: later(5),
        ..delivery
    });
    assert_eq!(ready(store, "ann", AT), [3, 4], "behind one that waits for its next try");
    assert_eq!(ready(store, "ann", later(5)), [1, 3, 4]);
    for state in DeliveryState::ALL.into_iter().filter(|state| !state.is_open()) {
        set_state(store, 1, state);
        assert_eq!(ready(store, "ann", AT), [2, 3, 4], "behind one that is {state:?}");
    }
    // Requeued to another agent, it holds up nobody here.
    edit(store, 2, |delivery| Delivery { agent: agent("cleo"), ..delivery });
    assert_eq!(ready(store, "ann", AT), [6, 3, 4]);
    // Whatever comes back, or from elsewhere, goes behind: nothing comes before one that may be on its way to a receiver.
    set_state(store, 1, DeliveryState::Pending);
    edit(store, 5, |delivery| Delivery { agent: agent("ann"), ..delivery });
    set_state(store, 6, DeliveryState::Leased);
    assert_eq!(ready(store, "ann", later(5)), [3, 4]);
    set_state(store, 6, DeliveryState::Done);
    assert_eq!(ready(store, "ann", later(5)), [3, 4, 1]);
    set_state(store, 1, DeliveryState::Done);
    assert_eq!(ready(store, "ann", later(5)), [3, 4, 5]);
}

pub(super) fn next_visible_is_the_first_pending_ones(store: &dyn Store) {
    let next = |name| get(store.next_visible(&default(), agent(name)));
    assert_eq!(next("ann"), None);
    write(
        store,
        [(1, 7), (2, 5), (3, 9)].map(|(n, ms)| Delivery {
            visible_at: later(ms),
            priority: if n == 2 { Priority::Low } else { Priority::High },
            ..draft(n)
        }),
    );
    assert_eq!((next("ann"), next("bob")), (Some(later(5)), None));
    set_state(store, 2, DeliveryState::Leased);
    assert_eq!(next("ann"), Some(later(7)));
}

pub(super) fn due_deliveries_come_from_all_workspaces_earliest_first(store: &dyn Store) {
    let other: WorkspaceName = "other".parse().unwrap();
    let due = |n, ms| Delivery { due_at: Some(later(ms)), ..draft(n) };
    write(store, [due(3, 3), due(1, 1), draft(9)]);
    let puts = vec![put(due(2, 2)), put(due(4, 4))];
    apply(store, Command { workspace: other.clone(), ..command(puts) }).unwrap();
    let found = |ms, limit| {
        let due = get(store.due_deliveries(later(ms), limit));
        due.into_iter().map(|(workspace, d)| (workspace, d.id)).collect::<Vec<_>>()
    };
    let expected = [(default(), dlv(1)), (other, dlv(2)), (default(), dlv(3))];
    assert_eq!(found(3, 9), expected);
    assert_eq!(found(9, 2), expected[..2]);
    assert_eq!(found(0, 9), []);
    assert_eq!(get(store.next_due()), Some(later(1)));
    edit(store, 1, |delivery| Delivery { due_at: None, ..delivery });
    assert_eq!(get(store.next_due()), Some(later(2)));
}

pub(super) fn deliveries_of_a_lineage_are_paged_by_id(store: &dyn Store) {
    write(store, [5, 1, 3].map(draft));
    write(store, [Delivery { root: env(2), ..draft(2) }]);
    let page = get(store.lineage_deliveries(&default(), env(1), None, 2));
    assert_eq!(ids(&page.items), [1, 3]);
    let rest = get(store.lineage_deliveries(&default(), env(1), page.next, 2));
    assert_eq!((ids(&rest.items), rest.next), (vec![5], None));
    // It follows the row.
    edit(store, 3, |delivery| Delivery { root: env(2), ..delivery });
    assert_eq!(ids(&get(store.lineage_deliveries(&default(), env(2), None, 9)).items), [2, 3]);
}

pub(super) fn each_part_of_a_delivery_query_narrows(store: &dyn Store) {
    for (state, n) in DeliveryState::ALL.into_iter().zip(1..) {
        let name = if n % 2 == 0 { "ann" } else { "bob" };
        let put = put(Delivery { state, agent: agent(name), ..draft(n) });
        apply(store, Command { at: later(n as i64), ..command(vec![put]) }).unwrap();
    }
    let any = || DeliveryQuery { limit: 10, ..DeliveryQuery::default() };
    let (pending, parked) = (DeliveryState::Pending, DeliveryState::Parked);
    let ann = || Some(agent("ann"));
    let open = DeliveryState::ALL[..3].to_vec();
    let cases = [
        (any(), vec![1, 2, 3, 4, 5, 6, 7]),
        (DeliveryQuery { states: vec![parked], ..any() }, vec![7]),
        (DeliveryQuery { states: vec![pending, parked], ..any() }, vec![1, 7]),
        (DeliveryQuery { states: open.clone(), ..any() }, vec![1, 2, 3]),
        (DeliveryQuery { states: open.clone(), agent: ann(), ..any() }, vec![2]),
        (DeliveryQuery { states: vec![parked], agent: ann(), ..any() }, vec![]),
        (DeliveryQuery { agent: ann(), ..any() }, vec![2, 4, 6]),
        (DeliveryQuery { since: Some(later(3)), until: Some(later(5)), ..any() }, vec![3, 4, 5]),
        (DeliveryQuery { newest_first: true, states: open, ..any() }, vec![3, 2, 1]),
        (DeliveryQuery { newest_first: true, after: Some(dlv(3)), ..any() }, vec![2, 1]),
    ];
    for (query, expected) in cases {
        let page = get(store.list_deliveries(&default(), query.clone()));
        assert_eq!((ids(&page.items), page.next), (expected, None), "{query:?}");
    }
}

pub(super) fn lists_of_deliveries_are_paged_in_both_orders(store: &dyn Store) {
    write(store, (1..=5).map(draft));
    let parts = [vec![], vec![DeliveryState::Pending]];
    let orders = [(false, [[1, 2], [3, 4]], 5), (true, [[5, 4], [3, 2]], 1)];
    for (states, (newest_first, pages, last)) in parts.iter().flat_map(|s| orders.map(|o| (s, o))) {
        let page = |after| {
            let states = states.clone();
            let query =
                DeliveryQuery { states, newest_first, after, limit: 2, ..Default::default() };
            get(store.list_deliveries(&default(), query))
        };
        let (mut after, mut found) = (None, Vec::new());
        while found.is_empty() || after.is_some() {
            let next = page(after);
            found.push(ids(&next.items));
            after = next.next;
        }
        let [one, two] = pages.map(Vec::from);
        assert_eq!(found, [one, two, vec![last]], "{states:?}, newest first: {newest_first}");
    }
}

pub(super) fn queues_count_what_is_open_or_parked(store: &dyn Store) {
    let states = [
        ("bob", DeliveryState::Pending, 7),
        ("bob", DeliveryState::Pending, 5),
        ("bob", DeliveryState::Leased, 1),
        ("bob", DeliveryState::Accepted, 1),
        ("bob", DeliveryState::Accepted, 1),
        ("bob", DeliveryState::Done, 1),
        ("bob", DeliveryState::Parked, 1),
        ("ann", DeliveryState::Parked, 1),
        ("zoe", DeliveryState::Rejected, 1),
    ];
    write(
        store,
        states.into_iter().zip(1..).map(|((name, state, ms), n)| Delivery {
            agent: agent(name),
            state,
            visible_at: later(ms),
            ..draft(n)
        }),
    );
    let ann = QueueState { parked: 1, ..QueueState::new(agent("ann")) };
    let bob = QueueState {
        pending: 2,
        leased: 1,
        accepted: 2,
        parked: 1,
        oldest_pending: Some(later(5)),
        ..QueueState::new(agent("bob"))
    };
    assert_eq!(get(store.queues(&default())), [ann, bob]);
}

pub(super) fn deliveries_of_other_workspaces_are_not_seen(store: &dyn Store) {
    write(store, [ordered(1, "k")]);
    let mine = read(store, 1).unwrap();
    let ws: WorkspaceName = "other".parse().unwrap();
    assert_eq!(get(store.deliveries(&ws, vec![dlv(1)])), vec![]);
    assert_eq!(get(store.ready_deliveries(&ws, agent("ann"), AT, 9)), vec![]);
    assert_eq!(get(store.next_visible(&ws, agent("ann"))), None);
    assert_eq!(get(store.lineage_deliveries(&ws, env(1), None, 9)).items, vec![]);
    let all = DeliveryQuery { limit: 9, ..DeliveryQuery::default() };
    assert_eq!(get(store.list_deliveries(&ws, all)).items, vec![]);
    assert_eq!(get(store.queues(&ws)), vec![]);
    let from_other = |put| Command { workspace: ws.clone(), ..command(vec![put]) };
    apply(store, from_other(put(mine.clone()))).unwrap_err();
    apply(store, from_other(Put::DropDelivery(dlv(1), mine.change))).unwrap_err();
    // An older one elsewhere under the same order key is in nobody's way.
    apply(store, from_other(put(ordered(2, "k")))).unwrap();
    assert_eq!(ids(&get(store.ready_deliveries(&ws, agent("ann"), AT, 9))), [2]);
    assert_eq!((read(store, 1), read(store, 2)), (Some(mine), None));
}

pub(super) fn delivery_beyond_its_limit_is_refused(store: &dyn Store) {
    let half = vec![b' '; DELIVERY_BYTES_MAX / 2];
    let of = |more: usize| {
        let story = vec![b' '; DELIVERY_BYTES_MAX / 2 + more];
        put(Delivery { story, result: Some(half.clone()), ..draft(1) })
    };
    assert_eq!(apply(store, command(vec![of(1)])).unwrap_err().kind(), ErrorKind::TooLarge);
    done(store, vec![of(0)]);
    assert_eq!(read(store, 1).unwrap().result, Some(half));
}
