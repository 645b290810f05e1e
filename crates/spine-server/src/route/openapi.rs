//! The description of the API, OpenAPI 3.1, from the table of routes and the types of their handlers.

use schemars::generate::{SchemaGenerator, SchemaSettings};
use serde_json::{Map, Value, json};

use super::input::{Input, is_nothing};
use super::output::Output;
use super::{Route, routes};
use crate::access::Need;
use crate::problem::{PROBLEM_JSON, ProblemDocument, ProblemKind};

/// What a route's types say of it.
pub(crate) type Describe = fn(&mut SchemaGenerator) -> Described;

/// Parameters, body and answer of one route.
pub(crate) struct Described {
    path: Vec<Value>,
    query: Vec<Value>,
    body: Option<Value>,
    status: u16,
    content: Option<Map<String, Value>>,
}

pub(crate) fn describe<P: Input, Q: Input, B: Input, A: Output>(
    generator: &mut SchemaGenerator,
) -> Described {
    let schema = A::schema(generator);
    let with_types = |schema: schemars::Schema| {
        let one = json!({"schema": schema});
        A::MEDIA_TYPES.iter().map(|name| ((*name).to_owned(), one.clone())).collect()
    };
    Described {
        path: parameters::<P>(generator, "path"),
        query: parameters::<Q>(generator, "query"),
        body: (!is_nothing::<B>()).then(|| generator.subschema_for::<B>().to_value()),
        status: A::STATUS.as_u16(),
        content: schema.map(with_types),
    }
}

/// One for each field of a type.
fn parameters<T: Input>(generator: &mut SchemaGenerator, place: &str) -> Vec<Value> {
    let schema = T::json_schema(generator).to_value();
    let required = schema.get("required").cloned().unwrap_or_default();
    let is_required = |name: &str| required.as_array().is_some_and(|r| r.iter().any(|r| r == name));
    let fields = schema.get("properties").and_then(Value::as_object);
    fields
        .into_iter()
        .flatten()
        .map(|(name, schema)| parameter(name, place, schema, place == "path" || is_required(name)))
        .collect()
}

fn parameter(name: &str, place: &str, schema: &Value, required: bool) -> Value {
    let mut schema = schema.clone();
    let description = schema.as_object_mut().and_then(|schema| schema.remove("description"));
    without_null(&mut schema);
    let description = description.unwrap_or_default();
    json!({"name": name, "in": place, "required": required, "description": description, "schema": schema})
}

/// A parameter that is not sent is absent, never null.
fn without_null(schema: &mut Value) {
    let Some(members) = schema.as_object_mut() else { return };
    if members.get("default").is_some_and(Value::is_null) {
        members.remove("default");
    }
    if let Some(Value::Array(types)) = members.get_mut("type") {
        types.retain(|name| name != "null");
        if let [one] = types.as_slice() {
            let one = one.clone();
            members.insert("type".to_owned(), one);
        }
    }
    if let Some(Value::Array(variants)) = members.get_mut("anyOf") {
        variants.retain(|variant| variant.get("type") != Some(&json!("null")));
    }
    if let Some(Value::Array(words)) = members.get_mut("enum") {
        words.retain(|word| !word.is_null());
    }
}

/// The whole document.
pub fn openapi() -> Value {
    let settings = SchemaSettings::draft2020_12()
        .with(|settings| settings.definitions_path = "/components/schemas".into());
    let mut generator = settings.into_generator();
    let problem = generator.subschema_for::<ProblemDocument>().to_value();
    let mut paths: Map<String, Value> = Map::new();
    for route in routes().into_iter().filter(|route| route.is_described) {
        let described = (route.describe)(&mut generator);
        let entry = paths.entry(route.path.to_owned()).or_insert_with(|| json!({}));
        if let Some(methods) = entry.as_object_mut() {
            let method = route.method.as_str().to_lowercase();
            methods.insert(method, operation(&route, described, &problem));
        }
    }
    let schemas = Value::Object(generator.take_definitions(true));
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Memory Spine",
            "version": env!("CARGO_PKG_VERSION"),
            "description": "One durable memory for a team of AI agents, and a reliable way to hand work to each other. Errors are RFC 9457 problems; `docs/http.md` is a guide.",
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "servers": [{"url": "/"}],
        "paths": paths,
        "components": {
            "schemas": schemas,
            "parameters": header_parameters(),
            "securitySchemes": {"key": {"type": "http", "scheme": "bearer", "description": "An API key, `msk_…`. Not needed on a server without keys."}},
        },
    })
}

fn operation(route: &Route, described: Described, problem: &Value) -> Value {
    let (summary, more) = route.says.split_once('\n').unwrap_or((route.says, ""));
    let mut operation = json!({
        "operationId": route.id,
        "summary": summary,
        "description": format!("{}{}", more, needs(route.need)),
        "tags": [tag(route)],
        "responses": responses(route, &described, problem),
    });
    let mut parameters = described.path;
    parameters.extend(described.query);
    parameters.extend(
        headers_of(route).map(|name| json!({"$ref": format!("#/components/parameters/{name}")})),
    );
    if let Some(members) = operation.as_object_mut() {
        members.insert("parameters".to_owned(), parameters.into());
        if let Some(schema) = described.body {
            let body =
                json!({"required": true, "content": {"application/json": {"schema": schema}}});
            members.insert("requestBody".to_owned(), body);
        }
        if route.need != Need::Nothing {
            members.insert("security".to_owned(), json!([{"key": []}, {}]));
        }
    }
    operation
}

fn tag(route: &Route) -> &'static str {
    let below = route.path.strip_prefix("/v1/").unwrap_or("server");
    below.split('/').next().unwrap_or(below)
}

fn needs(need: Need) -> String {
    match need {
        Need::Nothing => "Open to everybody.".to_owned(),
        need => format!("Needs a key with the scope `{need}`."),
    }
}

fn headers_of(route: &Route) -> impl Iterator<Item = &'static str> {
    let in_workspace = matches!(route.need, Need::Read | Need::Write);
    let workspace = in_workspace.then_some("Workspace");
    let agent = in_workspace.then_some("Agent");
    let idempotency = (route.need == Need::Write).then_some("IdempotencyKey");
    let is_one_memory = route.path == "/v1/memories/{id}" && route.need == Need::Write;
    let if_match = is_one_memory.then_some("IfMatch");
    let resume = (route.path == "/v1/events").then_some("LastEventId");
    let hands_off = matches!(route.id, "make_envelope" | "hand_off");
    let delivery = hands_off.then_some("Delivery");
    [workspace, agent, idempotency, if_match, resume, delivery].into_iter().flatten()
}

fn header_parameters() -> Value {
    let header = |name: &str, says: &str, pattern: &str, example: &str| {
        json!({
            "name": name, "in": "header", "required": false, "description": says,
            "schema": {"type": "string", "pattern": pattern}, "example": example,
        })
    };
    let name = "^[A-Za-z0-9][A-Za-z0-9._:@+-]{0,127}$";
    json!({
        "Workspace": header("Memory-Spine-Workspace", "The workspace; `default` if not said.", name, "default"),
        "Agent": header("Memory-Spine-Agent", "The agent that asks; a key that names one decides.", name, "analyst"),
        "IdempotencyKey": header("Idempotency-Key", "Makes a repeated request give the first one's answer, for 24 hours unless the server is set otherwise.", "^[ -~]{1,255}$", "order-17-step-3"),
        "Delivery": header("Memory-Spine-Delivery", "The delivery that the caller works on: what it hands off follows that one's envelope.", "^dlv_[0-7][0-9A-HJKMNP-TV-Z]{25}$", "dlv_01JHX5C3Q8V6YQJ2ZD0M4T7N9R"),
        "IfMatch": header("If-Match", "The version that the caller has read, as in its ETag.", "^\"[0-9]+\"$", "\"1\""),
        "LastEventId": header("Last-Event-ID", "Go on behind this event.", "^[0-9]{1,15}$", "17"),
    })
}

fn responses(route: &Route, described: &Described, problem: &Value) -> Value {
    let mut responses = Map::new();
    let mut success = json!({"description": "What was asked for."});
    if let (Some(content), Some(members)) = (&described.content, success.as_object_mut()) {
        members.insert("content".to_owned(), Value::Object(content.clone()));
    }
    responses.insert(described.status.to_string(), success);
    for kind in problems_of(route, described) {
        let status = kind.status().as_u16().to_string();
        responses.entry(status).or_insert_with(|| problem_response(kind.title(), problem));
    }
    responses.insert("default".to_owned(), problem_response("Any other problem", problem));
    Value::Object(responses)
}

fn problem_response(says: &str, problem: &Value) -> Value {
    json!({"description": says, "content": {PROBLEM_JSON: {"schema": problem}}})
}

/// What can be expected of a route by its form.
fn problems_of(route: &Route, described: &Described) -> Vec<ProblemKind> {
    use ProblemKind::*;
    let mut kinds = vec![InvalidParameter, HostRefused, Overloaded, Internal, Unavailable];
    if route.need != Need::Nothing {
        kinds.extend([Unauthenticated, Forbidden]);
    }
    if !described.path.is_empty() {
        kinds.extend([NotFound, Gone]);
    }
    if described.body.is_some() {
        kinds.extend([InvalidBody, UnsupportedMediaType, TooLarge, RequestTimeout]);
    }
    if route.need == Need::Write {
        kinds.extend([IdempotencyConflict, DiskFull]);
    }
    if headers_of(route).any(|name| name == "IfMatch") {
        kinds.push(VersionConflict);
    }
    kinds
}
