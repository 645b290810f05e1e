//! Every route, once: where it is, what a key needs for it, what it does. This is the authorisation table,
//! and what the description of the API is made of.

use http::Method;

use super::Route;
use crate::access::Need;
use crate::operations::{admin, envelopes, events, memories, server};

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
    [memory_routes(), envelope_routes(), log_routes(), admin_routes(), server_routes()].concat()
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
        Route::new(get("/v1/envelopes/{id}/verify"), Read, "verify_lineage", "Checks that a lineage is what it was.\nDigests, parents, rules, and what the log noted. ", envelopes::verify),
        Route::new(get("/v1/envelopes/{id}/trimmed"), Read, "get_trimmed", "Tells what is not in an envelope in full.\n", envelopes::trimmed),
        Route::new(get("/v1/envelopes/{id}/explain"), Read, "explain_envelope", "Tells why each memory is or is not in an envelope.\n", envelopes::explain),
    ]
}

#[rustfmt::skip]
fn log_routes() -> Vec<Route> {
    use Need::Read;
    vec![
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

#[rustfmt::skip]
fn server_routes() -> Vec<Route> {
    use Need::Nothing;
    vec![
        Route::new(get("/healthz"), Nothing, "is_alive", "Tells whether the process lives.\n", server::alive),
        Route::new(get("/readyz"), Nothing, "is_ready", "Tells whether the store can be used.\n", server::ready),
        Route::new(get("/openapi.json"), Nothing, "describe_api", "Describes this API.\n", server::description),
        Route::new(get("/"), Nothing, "show_front_page", "Shows a page for people.\n", server::front),
    ]
}
