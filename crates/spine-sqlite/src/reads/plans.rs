//! That every read and write of delivery uses its index, and sorts nothing it need not.

use rusqlite::Connection;
use rusqlite::types::Value;
use spine_store::{DeliveryQuery, DeliveryState, EventQuery};

use super::{deliveries, log, records};
use crate::connection::keep_plans;
use crate::migrations;
use crate::writer::deliveries::{UPDATE, UPDATE_AT};

/// How SQLite would run it, whatever the parameters.
fn plan(sql: &str) -> String {
    let mut connection = Connection::open_in_memory().unwrap();
    keep_plans(&connection).unwrap();
    migrations::run(&mut connection).unwrap();
    let mut statement = connection.prepare(&format!("EXPLAIN QUERY PLAN {sql}")).unwrap();
    let none = vec![Value::Null; statement.parameter_count()];
    let lines = statement.query_map(rusqlite::params_from_iter(none), |row| row.get(3)).unwrap();
    lines.collect::<rusqlite::Result<Vec<String>>>().unwrap().join("; ")
}

fn check(sql: &str, indexes: &[&str]) {
    let plan = plan(sql);
    for index in indexes {
        assert!(plan.contains(index), "{index} is not in: {plan}");
    }
    for waste in ["TEMP B-TREE", "SCAN"] {
        assert!(!plan.contains(waste), "{waste}: {plan}");
    }
}

fn listed(states: &[DeliveryState], agent: Option<&str>) -> String {
    let agent = agent.map(|name| name.parse().unwrap());
    let after = Some(spine_protocol::DeliveryId::from_parts(1, 1));
    let query = DeliveryQuery { states: states.to_vec(), agent, after, ..DeliveryQuery::default() };
    deliveries::list_sql(&"default".parse().unwrap(), &query).0
}

#[test]
fn claim_walks_its_queue_in_order() {
    let open = "deliveries_open (workspace=? AND agent=? AND state=?)";
    let older = "deliveries_order (workspace=? AND agent=? AND order_key=? AND sequence<?)";
    check(&deliveries::ready_sql(), &[open, older]);
    check(deliveries::NEXT_VISIBLE, &[&format!("COVERING INDEX {open}")]);
}

#[test]
fn transition_finds_its_row_by_id() {
    check(UPDATE, &["deliveries_id (workspace=? AND id=?)"]);
    check(UPDATE_AT, &["INTEGER PRIMARY KEY (rowid=?)"]);
}

#[test]
fn what_is_due_is_found_without_reading_the_rest() {
    check(&deliveries::due_sql(), &["deliveries_due (due_ms<?)"]);
    check(records::DUE, &["records_due (due_ms<?)"]);
    check(records::NEXT_DUE, &["COVERING INDEX records_due", "COVERING INDEX deliveries_due"]);
}

#[test]
fn lists_are_driven_by_their_index() {
    let (open, parked) = ([DeliveryState::Pending, DeliveryState::Leased], DeliveryState::Parked);
    check(&listed(&[], Some("ann")), &["deliveries_id (workspace=? AND id>?)"]);
    check(&listed(&[DeliveryState::Done], None), &["deliveries_id (workspace=? AND id>?)"]);
    check(&listed(&[parked], Some("ann")), &["deliveries_parked (workspace=? AND id>?)"]);
    // Few beside those that are done: sorted.
    let by_agent = plan(&listed(&open, Some("ann")));
    assert!(
        by_agent.contains("deliveries_open (workspace=? AND agent=? AND state=?)"),
        "{by_agent}"
    );
    let all = plan(&listed(&open, None));
    assert!(all.contains("deliveries_open (workspace=?"), "{all}");
    check(deliveries::OLD_ROOTS, &["envelopes_kept_roots (workspace=? AND id>?)"]);
}

#[test]
fn queues_are_counted_in_their_indexes() {
    let plan = plan(deliveries::QUEUES);
    for index in ["COVERING INDEX deliveries_open", "COVERING INDEX deliveries_parked"] {
        assert!(plan.contains(index), "{plan}");
    }
}

#[test]
fn events_of_an_envelope_are_found_by_it() {
    let workspace = "default".parse().unwrap();
    let envelopes = vec![spine_protocol::EnvelopeId::from_parts(1, 1)];
    let query = EventQuery { envelopes, after: spine_store::Change(1), ..EventQuery::default() };
    let of_envelope = plan(&log::events_sql(&workspace, &query).0);
    assert!(of_envelope.contains("events_envelope (workspace=? AND envelope=?)"), "{of_envelope}");
    let query = EventQuery { envelopes: Vec::new(), newest_first: true, ..query };
    check(&log::events_sql(&workspace, &query).0, &["PRIMARY KEY (workspace=? AND change<?)"]);
}
