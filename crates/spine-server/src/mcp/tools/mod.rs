//! Every tool, once: its name, its manners, what a model reads of it, its function.

mod card;
mod look;
mod memory;
mod receive;
mod review;
mod send;
mod settle;
mod task;
mod wait;

use super::tool::{Manner, Tool};

/// Every tool there is.
pub fn all() -> Vec<Tool> {
    memory_tools()
        .into_iter()
        .chain(sender_tools())
        .chain(receiver_tools())
        .chain(review_tools())
        .collect()
}

#[rustfmt::skip]
fn memory_tools() -> Vec<Tool> {
    use Manner::{Adds, Ends, Reads, Sets};
    vec![
        Tool::new("memory_store", Adds, "Stores a text that other agents, or you later, will need. One fact or decision each. The same content again is not stored twice.", memory::store),
        Tool::new("memory_search", Reads, "Finds memories by words and meaning; without a query, the newest.", memory::search),
        Tool::new("memory_get", Reads, "Reads memories in full by id, newest version. A long text goes on at `offset`.", memory::get),
        Tool::new("memory_update", Sets, "Changes a memory: makes a new version. What is not given stays.", memory::update),
        Tool::new("memory_pin", Sets, "Pins a memory, so that it travels in every handoff; or unpins it.", memory::pin),
        Tool::new("memory_delete", Ends, "Deletes a memory; purge erases every version for good.", memory::delete),
    ]
}

#[rustfmt::skip]
fn sender_tools() -> Vec<Tool> {
    use Manner::{Adds, Ends, Reads};
    vec![
        Tool::new("handoff_send", Adds, "Hands work to another agent: packs the task with the memories it needs, and queues it. Returns at once; with wait_s, when it is taken or done.", send::send),
        Tool::new("handoff_publish", Adds, "Hands the same work to several agents: to `receivers`, or a channel's subscribers. With `join`, their results go to one agent as one handoff.", send::publish),
        Tool::new("handoff_status", Reads, "Shows a delivery or publication, now or when wait_s lets it settle. Without an id: what you hold and what waits for you.", look::status),
        Tool::new("handoff_cancel", Ends, "Calls off a delivery that you sent; `lineage` calls off the whole task.", send::cancel),
        Tool::new("handoff_trace", Reads, "Shows a whole task: its intent, every hop, every delivery, and whether it is intact.", look::trace),
    ]
}

#[rustfmt::skip]
fn receiver_tools() -> Vec<Tool> {
    use Manner::{Adds, Ends, Sets};
    vec![
        Tool::new("handoff_receive", Adds, "Takes the next work for you and accepts it. `text` is the task: do it, then call handoff_complete (or handoff_nack, handoff_reject). Yours for an hour; every call that names it renews that.", receive::receive),
        Tool::new("handoff_progress", Adds, "Notes how far you are with a delivery and keeps it yours. `checkpoint` is given to whoever takes it after you.", settle::progress),
        Tool::new("handoff_complete", Sets, "Gives the result and ends the delivery; `next` hands on to another agent in the same step.", settle::complete),
        Tool::new("handoff_nack", Sets, "Gives a delivery back because you could not do it now; it is tried again.", settle::nack),
        Tool::new("handoff_reject", Ends, "Refuses a delivery for good, or asks its sender a question.", settle::reject),
    ]
}

#[rustfmt::skip]
fn review_tools() -> Vec<Tool> {
    use Manner::{Ends, Reads};
    vec![
        Tool::new("handoff_health", Reads, "Tells whether handoffs go well: a verdict, why, and queues by agent.", look::health),
        Tool::new("handoff_parked", Reads, "Lists deliveries that failed and wait for a person.", review::parked),
        Tool::new("handoff_review", Ends, "Settles a parked delivery, as its user decides: requeue, resend (edited, in `next`), resolve (with the result), or discard.", review::review),
    ]
}
