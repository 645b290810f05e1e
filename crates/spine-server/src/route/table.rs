//! Every route, once: where it is, what a key needs for it, what it does. This is the authorisation table,
//! and what the description of the API is made of.

use http::Method;

use super::Route;
use crate::access::Need;
use crate::mcp;
use crate::operations::{
    admin, agents, alerts, channels, clock, deliveries, envelopes, erasures, events, handoffs,
    health, memories, parked, pipelines, receive, server, settle, stream,
};

const fn get(path: &'static str) -> (Method, &'static str) {
    (Method::GET, path)
}

const fn post(path: &'static str) -> (Method, &'static str) {
    (Method::POST, path)
}

const fn put(path: &'static str) -> (Method, &'static str) {
    (Method::PUT, path)
}

const fn patch(path: &'static str) -> (Method, &'static str) {
    (Method::PATCH, path)
}

const fn delete(path: &'static str) -> (Method, &'static str) {
    (Method::DELETE, path)
}

/// Every route there is.
pub fn routes() -> Vec<Route> {
    [
        memory_routes(),
        envelope_routes(),
        delivery_routes(),
        receiver_routes(),
        agent_routes(),
        channel_routes(),
        parked_routes(),
        health_routes(),
        log_routes(),
        admin_routes(),
        mcp_routes(),
        server_routes(),
    ]
    .concat()
}

/// Those that only a server has whose clock tests move. No description of the API has them.
#[rustfmt::skip]
pub fn test_routes() -> Vec<Route> {
    use Need::Admin;
    vec![
        Route::new(get("/v1/test/clock"), Admin, "get_clock", "Tells the server's time.\n", clock::read).undescribed(),
        Route::new(post("/v1/test/clock"), Admin, "advance_clock", "Lets time pass.\n", clock::move_ahead).undescribed(),
    ]
}

#[rustfmt::skip]
fn memory_routes() -> Vec<Route> {
    use Need::{Read, Write};
    vec![
        Route::new(post("/v1/memories"), Write, "store_memories", "Stores a memory, or many: all or none.\nContent that is there already is not stored again: `duplicate` says so. ", memories::store),
        Route::new(get("/v1/memories"), Read, "list_memories", "Lists memories by filters, or gets some by their ids.\n", memories::list),
        Route::new(post("/v1/memories/search"), Read, "search_memories", "Finds memories by words and by meaning.\nWhat was stored before the call is found by it. ", memories::search),
        Route::new(get("/v1/memories/search"), Read, "search_memories_by_address", "Finds memories, asked in the address.\n", memories::search_by_address),
        Route::new(get("/v1/memories/{id}"), Read, "get_memory", "Gets a memory.\n", memories::get),
        Route::new(patch("/v1/memories/{id}"), Write, "update_memory", "Changes a memory: makes a new version.\nWhat changes nothing makes none. ", memories::update),
        Route::new(delete("/v1/memories/{id}"), Write, "delete_memory", "Deletes a memory, or erases every version of it.\nA mark stays, so that a reference to it is a known gap. ", memories::delete),
        Route::new(get("/v1/memories/{id}/versions"), Read, "list_memory_versions", "Lists the versions of a memory, oldest first.\n", memories::versions),
        Route::new(put("/v1/memories/{id}/pin"), Write, "pin_memory", "Pins a memory: it always travels.\n", memories::pin),
        Route::new(delete("/v1/memories/{id}/pin"), Write, "unpin_memory", "Unpins a memory.\n", memories::unpin),
    ]
}

#[rustfmt::skip]
fn envelope_routes() -> Vec<Route> {
    use Need::{Read, Write};
    vec![
        Route::new(post("/v1/envelopes"), Write, "make_envelope", "Assembles a handoff, or takes in an envelope that was made elsewhere.\nSends nothing. ", envelopes::make),
        Route::new(get("/v1/envelopes/{id}"), Read, "get_envelope", "Gets an envelope, in its canonical bytes.\n", envelopes::get),
        Route::new(get("/v1/envelopes/{id}/render"), Read, "render_envelope", "Shows an envelope as a model reads it.\n", envelopes::rendering),
        Route::new(get("/v1/envelopes/{id}/lineage"), Read, "get_lineage", "Shows the whole task that an envelope belongs to.\n", envelopes::lineage),
        Route::new(get("/v1/envelopes/{id}/trace"), Read, "get_trace", "Tells the whole story of a task: envelopes, deliveries, events.\n", envelopes::trace),
        Route::new(get("/v1/envelopes/{id}/verify"), Read, "verify_lineage", "Checks that a lineage is what it was.\nDigests, parents, rules, and what the log noted. ", envelopes::verify),
        Route::new(get("/v1/envelopes/{id}/trimmed"), Read, "get_trimmed", "Tells what is not in an envelope in full.\n", envelopes::trimmed),
        Route::new(get("/v1/envelopes/{id}/explain"), Read, "explain_envelope", "Tells why each memory is or is not in an envelope.\n", envelopes::explain),
    ]
}

#[rustfmt::skip]
fn delivery_routes() -> Vec<Route> {
    use Need::{Read, Write};
    vec![
        Route::new(post("/v1/handoffs"), Write, "hand_off", "Assembles a handoff and sends it, in one step; or many, each by itself.\n", handoffs::hand_off),
        Route::new(post("/v1/deliveries"), Write, "send_envelopes", "Sends an envelope, or many: all or none.\nAnswers when it is on disk, or when it is as far as `wait` says. ", deliveries::send),
        Route::new(get("/v1/deliveries"), Read, "list_deliveries", "Lists deliveries.\n", deliveries::list),
        Route::new(get("/v1/deliveries/{id}"), Read, "get_delivery", "Gets a delivery, now or when it is as far as said.\n", deliveries::get),
        Route::new(post("/v1/deliveries/{id}/cancel"), Write, "cancel_delivery", "Calls a delivery off, or a whole task.\nWhoever works on it learns at the next heartbeat. ", deliveries::cancel),
    ]
}

#[rustfmt::skip]
fn receiver_routes() -> Vec<Route> {
    use Need::Write;
    vec![
        Route::new(post("/v1/agents/{name}/receive"), Write, "receive_deliveries", "Waits for work and takes it.\n", receive::receive),
        Route::new(get("/v1/agents/{name}/stream"), Write, "stream_deliveries", "Takes work as it comes, as server-sent events.\n", stream::stream),
        Route::new(post("/v1/deliveries/{id}/accept"), Write, "accept_delivery", "Takes the work on.\n", settle::accept),
        Route::new(post("/v1/deliveries/{id}/extend"), Write, "extend_lease", "Says that the receiver is alive.\n", settle::extend),
        Route::new(post("/v1/deliveries/{id}/progress"), Write, "report_progress", "Says how far the receiver is.\n", settle::progress),
        Route::new(post("/v1/deliveries/{id}/ack"), Write, "ack_delivery", "Gives the result back, and hands on if there is a `next`: both or neither.\n", settle::ack),
        Route::new(post("/v1/deliveries/ack"), Write, "ack_deliveries", "Gives many results back, each by itself.\n", settle::ack_many),
        Route::new(post("/v1/deliveries/{id}/nack"), Write, "nack_delivery", "Gives work back that could not be done.\n", settle::nack),
        Route::new(post("/v1/deliveries/{id}/reject"), Write, "reject_delivery", "Refuses work for good, or asks back.\n", settle::reject),
        Route::new(post("/v1/deliveries/{id}/recover"), Write, "recover_references", "Looks up again what a handoff lacks.\nEach memory is its newest version. ", settle::recover),
    ]
}

#[rustfmt::skip]
fn agent_routes() -> Vec<Route> {
    use Need::{Read, Write};
    vec![
        Route::new(get("/v1/agents"), Read, "list_agents", "Lists agents, with their queues and breakers.\n", agents::list),
        Route::new(get("/v1/agents/{name}"), Read, "get_agent", "Shows an agent, its queue and its breaker.\n", agents::get),
        Route::new(put("/v1/agents/{name}"), Write, "register_agent", "Sets an agent's options.\nAn agent exists as soon as it is first used. ", agents::register),
        Route::new(post("/v1/agents/{name}/pause"), Write, "pause_agent", "Gives an agent no work for now.\n", agents::pause),
        Route::new(post("/v1/agents/{name}/resume"), Write, "resume_agent", "Gives an agent work again.\n", agents::resume),
        Route::new(get("/v1/agents/{name}/breaker"), Read, "get_breaker", "Shows an agent's circuit breaker.\n", agents::breaker),
        Route::new(put("/v1/agents/{name}/breaker"), Write, "set_breaker", "Closes an agent's circuit breaker, or holds it open.\n", agents::set_breaker),
    ]
}

#[rustfmt::skip]
fn channel_routes() -> Vec<Route> {
    use Need::{Read, Write};
    vec![
        Route::new(get("/v1/channels"), Read, "list_channels", "Lists channels.\n", channels::list),
        Route::new(get("/v1/channels/{name}"), Read, "get_channel", "Shows a channel; one that nobody has used is empty.\n", channels::get),
        Route::new(put("/v1/channels/{name}/subscribers/{agent}"), Write, "subscribe", "Subscribes an agent to a channel.\n", channels::subscribe),
        Route::new(delete("/v1/channels/{name}/subscribers/{agent}"), Write, "unsubscribe", "Ends a subscription.\n", channels::unsubscribe),
        Route::new(post("/v1/channels/{name}/publish"), Write, "publish", "Sends an envelope to many, and joins their results if asked.\n", channels::publish),
        Route::new(get("/v1/publications/{id}"), Read, "get_publication", "Shows a publication, now or when everything is settled.\n", channels::publication),
        Route::new(get("/v1/pipelines"), Read, "list_pipelines", "Lists pipelines.\n", pipelines::list),
        Route::new(get("/v1/pipelines/{name}"), Read, "get_pipeline", "Shows a pipeline.\n", pipelines::get),
        Route::new(put("/v1/pipelines/{name}"), Write, "set_pipeline", "Sets which agent follows which.\n", pipelines::set),
    ]
}

#[rustfmt::skip]
fn parked_routes() -> Vec<Route> {
    use Need::{Read, Write};
    vec![
        Route::new(get("/v1/parked"), Read, "list_parked", "Lists what waits for a person, oldest first.\nA page may be short of what a `reason` leaves out. ", parked::list),
        Route::new(post("/v1/parked"), Write, "park_envelope", "Sets an envelope aside for a person.\n", parked::park),
        Route::new(post("/v1/parked/requeue"), Write, "requeue_many", "Tries many again.\n", parked::requeue_many),
        Route::new(post("/v1/parked/discard"), Write, "discard_many", "Gives many up.\n", parked::discard_many),
        Route::new(post("/v1/parked/{id}/requeue"), Write, "requeue_delivery", "Tries a delivery again, with the same or another agent.\n", parked::requeue),
        Route::new(post("/v1/parked/{id}/resend"), Write, "resend_delivery", "Sends an edited handoff in place of a parked one.\n", parked::resend),
        Route::new(post("/v1/parked/{id}/resolve"), Write, "resolve_delivery", "Gives the result of work that a person did.\n", parked::resolve),
        Route::new(post("/v1/parked/{id}/discard"), Write, "discard_delivery", "Gives a delivery up.\n", parked::discard),
    ]
}

#[rustfmt::skip]
fn health_routes() -> Vec<Route> {
    use Need::{Nothing, Read, Write};
    vec![
        Route::new(get("/v1/health"), Read, "get_health", "Tells how things stand: one verdict, why, and every figure.\n", health::health),
        Route::new(get("/v1/alerts"), Read, "list_alerts", "Lists alerts: open ones first, then the newest.\n", alerts::list),
        Route::new(post("/v1/alerts/test"), Write, "test_alerts", "Sends a notice to every webhook, and waits for the answers.\n", alerts::test),
        Route::new(post("/v1/alerts/{id}/ack"), Write, "acknowledge_alert", "Says that somebody looks after an alert.\n", alerts::acknowledge),
        Route::new(post("/v1/alerts/{id}/silence"), Write, "silence_alert", "Tells nobody of an alert's kind and target for a while.\n", alerts::silence),
        Route::new(get("/metrics"), Nothing, "get_metrics", "Gives the figures to Prometheus.\n", health::metrics),
    ]
}

#[rustfmt::skip]
fn log_routes() -> Vec<Route> {
    use Need::{Read, Write};
    vec![
        Route::new(post("/v1/erasures"), Write, "erase", "Forgets a subject or a memory everywhere, or says what that would be.\nIt is on record, and lineages stay verifiable. ", erasures::erase),
        Route::new(get("/v1/erasures"), Read, "list_erasures", "Lists what was forgotten, oldest first.\n", erasures::list),
        Route::new(get("/v1/events"), Read, "follow_events", "Follows what happens, as server-sent events.\nResume with `Last-Event-ID`. ", events::events),
        Route::new(get("/v1/audit"), Read, "list_audit", "Lists what happened, oldest first.\n", events::audit),
    ]
}

#[rustfmt::skip]
fn admin_routes() -> Vec<Route> {
    use Need::Admin;
    vec![
        Route::new(post("/v1/keys"), Admin, "create_key", "Makes an API key. It is shown this once.\nThe first key ends the time without keys: from then on every request needs one. ", admin::create_key),
        Route::new(get("/v1/keys"), Admin, "list_keys", "Lists the keys, without their secrets.\n", admin::list_keys),
        Route::new(delete("/v1/keys/{id}"), Admin, "revoke_key", "Revokes a key, at once.\n", admin::revoke_key),
        Route::new(post("/v1/keys/{id}/rotate"), Admin, "rotate_key", "Gives a key a new secret; the old one is good for a while.\n", admin::rotate_key),
        Route::new(get("/v1/workspaces/{name}"), Admin, "get_workspace", "Shows what a workspace may use, and what it uses.\n", admin::get_workspace),
        Route::new(put("/v1/workspaces/{name}"), Admin, "set_workspace", "Sets what a workspace may use.\n", admin::set_workspace),
    ]
}

/// What a message needs beyond `read` is asked of the key when its tool is known.
#[rustfmt::skip]
fn mcp_routes() -> Vec<Route> {
    use Need::Read;
    vec![
        Route::new(post("/mcp"), Read, "mcp_message", "Takes a message of the Model Context Protocol.\n", mcp::message).undescribed(),
        Route::new(get("/mcp"), Read, "mcp_stream", "Follows what a session is told.\n", mcp::stream).undescribed(),
        Route::new(delete("/mcp"), Read, "mcp_end", "Ends a session.\n", mcp::end).undescribed(),
    ]
}

#[rustfmt::skip]
fn server_routes() -> Vec<Route> {
    use Need::Nothing;
    vec![
        Route::new(get("/healthz"), Nothing, "is_alive", "Tells whether the process lives.\n", server::alive),
        Route::new(get("/readyz"), Nothing, "is_ready", "Tells whether the store can be used.\n", server::ready),
        Route::new(get("/openapi.json"), Nothing, "describe_api", "Describes this API.\n", server::description),
        Route::new(get("/"), Nothing, "show_front_page", "Shows the dashboard.\n", server::front),
        Route::new(get("/assets/{name}"), Nothing, "get_dashboard_file", "Gets a file of the dashboard.\n", server::asset),
    ]
}
