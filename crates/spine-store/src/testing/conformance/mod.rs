//! What every store must do, as small named checks. A store passes all of them or is no store.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod commands;
mod deliveries;
mod draft;
mod envelopes;
mod isolation;
mod lists;
mod log;
mod memories;
mod pages;
mod records;

use crate::Store;

/// One check, on a store of its own.
type Check = (&'static str, fn(&dyn Store));

macro_rules! checks {
    ($($module:ident :: { $($name:ident),+ $(,)? }),+ $(,)?) => {
        &[$($((concat!(stringify!($module), "::", stringify!($name)), $module::$name as fn(&dyn Store)),)+)+]
    };
}

const CHECKS: &[Check] = checks![
    commands::{
        numbers_start_at_one_and_follow_on,
        failed_guard_fails_alone,
        failed_put_undoes_the_whole_command,
        guards_hold_or_say_what_they_found,
        puts_see_the_puts_before_them,
        known_idempotency_key_has_no_second_effect,
        idempotency_key_is_new_again_after_its_time,
        idempotency_of_a_failed_command_is_not_recorded,
        expired_idempotency_records_are_forgotten_oldest_first,
        what_is_too_large_is_refused,
        nothing_to_apply_is_no_error,
        many_writers_get_distinct_numbers,
    },
    memories::{
        every_field_survives,
        awkward_texts_survive,
        revision_keeps_the_older_version,
        pin_is_no_new_version,
        delete_leaves_a_tombstone_and_the_versions,
        purge_leaves_nothing_but_the_mark,
        gone_memories_take_no_further_writes,
        content_key_has_one_live_holder,
        many_are_read_in_the_order_asked,
    },
    lists::{
        each_part_of_a_filter_narrows,
        expired_memories_are_not_listed,
        pages_follow_on_in_both_orders,
        changes_give_each_memory_once_at_its_newest,
    },
    pages::{
        large_memories_come_on_more_pages,
        large_versions_come_on_more_pages,
        large_envelopes_come_on_more_pages,
        large_deliveries_come_on_more_pages,
    },
    envelopes::{
        bytes_survive_and_ids_are_unique,
        lineage_is_paged_by_id,
        pruned_envelope_is_a_skeleton_and_no_old_root,
        a_pruned_envelope_is_there_but_not_live,
        a_lineage_is_written_when_one_of_it_is,
        erased_envelope_has_new_bytes_and_no_notes,
        only_envelopes_that_are_there_lose_something,
        old_roots_are_paged_by_id,
    },
    log::{
        events_are_in_commit_order,
        events_name_memories_that_were_new,
        workspaces_are_listed_with_their_newest_change,
        events_of_some_envelopes_or_kinds_are_paged_in_both_orders,
        oldest_events_are_forgotten,
        reasons_are_erased_from_the_events_of_one_envelope,
    },
    records::{
        record_is_written_on_top_of_what_was_read,
        record_that_moved_on_refuses_older_writers,
        dropped_record_is_gone_and_its_name_free,
        records_are_guarded_rows,
        waking_brings_forward_and_disturbs_nobody,
        failed_command_leaves_records_as_they_were,
        records_are_read_in_the_order_asked,
        records_are_listed_by_prefix_in_pages,
        due_records_come_from_all_workspaces_earliest_first,
        records_of_other_workspaces_are_not_seen,
        record_beyond_its_limit_is_refused,
    },
    deliveries::{
        every_field_of_a_delivery_survives,
        delivery_that_moved_on_refuses_older_writers,
        dropped_delivery_is_gone,
        delivery_under_an_id_that_was_dropped_is_written_whole,
        delivery_under_an_id_that_was_refused_is_written_whole,
        delivery_that_was_not_replaced_is_written_whole,
        failed_command_leaves_deliveries_as_they_were,
        deliveries_are_read_in_the_order_asked,
        ready_ones_are_pending_visible_and_the_agents_own,
        ready_ones_come_by_priority_and_then_the_oldest_first,
        order_key_lets_one_at_a_time_through,
        next_visible_is_the_first_pending_ones,
        due_deliveries_come_from_all_workspaces_earliest_first,
        deliveries_of_a_lineage_are_paged_by_id,
        each_part_of_a_delivery_query_narrows,
        lists_of_deliveries_are_paged_in_both_orders,
        queues_count_what_is_open_or_parked,
        deliveries_of_other_workspaces_are_not_seen,
        delivery_beyond_its_limit_is_refused,
    },
    isolation::{
        workspaces_number_for_themselves,
        foreign_rows_are_as_rows_that_never_existed,
    },
];

/// Runs every check, each on a fresh store.
pub fn run<S: Store>(make_store: impl Fn() -> S) {
    for (name, check) in CHECKS {
        eprintln!("conformance: {name}");
        check(&make_store());
    }
}
