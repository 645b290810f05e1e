//! Asking the client: by requests of the server in the revisions with sessions, by results that need input in the
//! stateless one.
#![expect(deprecated, reason = "the suite asks for what older revisions have, too")]

use rmcp::RoleServer;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ClientCapabilities, ClientResult,
    ContentBlock, CreateMessageRequest, CreateMessageRequestParams, ElicitRequest,
    ElicitRequestParams, ErrorData, InputRequest, InputRequests, InputRequiredResult,
    InputResponses, ListRootsRequest, RequestMetaObject, SamplingMessage, ServerRequest,
};
use rmcp::service::RequestContext;
use serde_json::{Map, Value, json};
use spine_protocol::Digest;

use crate::content::said;

/// Nobody is kept out by it: it only shows that an altered state is found.
const STATE_KEY: &[u8] = b"conformance";

fn sealed(state: &str) -> String {
    format!("{state}.{}", Digest::of(&[STATE_KEY, state.as_bytes()]))
}

fn opened(state: &str) -> Result<String, ErrorData> {
    let text = state.split_once('.').map(|(text, _)| text.to_owned()).unwrap_or_default();
    match sealed(&text) == state {
        true => Ok(text),
        false => Err(ErrorData::invalid_params("the state was altered", None)),
    }
}

fn form(message: &str, properties: Value, required: Value) -> ElicitRequestParams {
    let schema = json!({"type": "object", "properties": properties, "required": required});
    ElicitRequestParams::FormElicitationParams {
        meta: None,
        message: message.into(),
        requested_schema: serde_json::from_value(schema).unwrap(),
    }
}

/// Asks for one field of a form.
pub fn field(message: &str, name: &str, kind: &str) -> InputRequest {
    let form = form(message, json!({name: {"type": kind}}), json!([name]));
    InputRequest::Elicitation(ElicitRequest::new(form))
}

fn sample(prompt: &str) -> CreateMessageRequestParams {
    CreateMessageRequestParams::new(vec![SamplingMessage::user_text(prompt)], 100)
}

fn roots() -> InputRequest {
    InputRequest::ListRoots(ListRootsRequest::default())
}

fn sampling(prompt: &str) -> InputRequest {
    InputRequest::CreateMessage(CreateMessageRequest::new(sample(prompt)))
}

/// An answer of the client; what is no object is none.
pub fn given<'a>(
    responses: Option<&'a InputResponses>,
    name: &str,
) -> Option<&'a Map<String, Value>> {
    responses.and_then(|all| all.get(name)).and_then(Value::as_object)
}

/// Needs these first.
pub fn needs<const N: usize>(
    requests: [(&str, InputRequest); N],
    state: Option<&str>,
) -> InputRequiredResult {
    let mut all = InputRequests::new();
    all.extend(requests.map(|(name, request)| (name.to_owned(), request)));
    InputRequiredResult::new(Some(all), state.map(sealed))
}

/// Tools that need input, in the stateless revision.
pub fn with_input(
    request: &CallToolRequestParams,
    meta: &RequestMetaObject,
) -> Result<CallToolResponse, ErrorData> {
    let responses = request.input_responses.as_ref();
    let has = |name: &str| given(responses, name).is_some();
    let state = request.request_state.as_deref().map(opened).transpose()?;
    let name = || field("What is your name?", "name", "string");
    let text = |name: &str| given(responses, name).map(|given| json!(given).to_string());
    Ok(match request.name.trim_start_matches("test_input_required_result_") {
        "elicitation" => match text("user_name") {
            Some(text) => said(format!("Hello: {text}")).into(),
            None => needs([("user_name", name())], None).into(),
        },
        "sampling" => match text("capital_question") {
            Some(text) => said(text).into(),
            None => needs([("capital_question", sampling("What is the capital of France?"))], None)
                .into(),
        },
        "list_roots" => match text("client_roots") {
            Some(text) => said(text).into(),
            None => needs([("client_roots", roots())], None).into(),
        },
        "request_state" | "tampered_state" => match state {
            Some(_) => said("state-ok").into(),
            None => {
                let confirm = field("Please confirm", "ok", "boolean");
                needs([("confirm", confirm)], Some("confirm")).into()
            }
        },
        "multiple_inputs" => {
            if state.is_some() && has("user_name") && has("greeting") && has("client_roots") {
                return Ok(said("All inputs received").into());
            }
            let greeting = sampling("Generate a greeting");
            let all = [("user_name", name()), ("greeting", greeting), ("client_roots", roots())];
            needs(all, Some("gather")).into()
        }
        "multi_round" => match state.as_deref() {
            None => needs([("step1", name())], Some("1")).into(),
            Some("1") => {
                let color = field("What is your favourite colour?", "color", "string");
                needs([("step2", color)], Some("2")).into()
            }
            Some(_) => said("Multi-round flow complete").into(),
        },
        "capabilities" if responses.is_some() => said("complete").into(),
        "capabilities" => by_capabilities(&meta.client_capabilities().unwrap_or_default()),
        other => return Err(ErrorData::invalid_params(format!("there is no tool {other}"), None)),
    })
}

/// Only what the client says it can do is asked of it.
fn by_capabilities(client: &ClientCapabilities) -> CallToolResponse {
    let name = || field("What is your name?", "name", "string");
    let mut all = InputRequests::new();
    let wanted = [
        (client.elicitation.is_some(), "user_name", name()),
        (client.sampling.is_some(), "greeting", sampling("Generate a greeting")),
        (client.roots.is_some(), "client_roots", roots()),
    ];
    let can = wanted.into_iter().filter(|(can, ..)| *can);
    all.extend(can.map(|(_, name, request)| (name.to_owned(), request)));
    match all.is_empty() {
        true => said("nothing can be asked of this client").into(),
        false => InputRequiredResult::from_input_requests(all).into(),
    }
}

/// Asks by a request of the server.
async fn ask(context: &RequestContext<RoleServer>, request: ServerRequest) -> CallToolResult {
    let failed = |text: String| CallToolResult::error(vec![ContentBlock::text(text)]);
    match context.peer.send_request(request).await {
        Ok(ClientResult::CreateMessageResult(result)) => {
            let text = result.message.content.first().and_then(|content| content.as_text());
            said(format!("LLM response: {}", text.map_or("", |text| text.text.as_str())))
        }
        Ok(ClientResult::ElicitResult(result)) => said(format!(
            "User response: action={}, content={}",
            json!(result.action).as_str().unwrap_or_default(),
            json!(result.content)
        )),
        Ok(other) => failed(format!("that is no answer: {other:?}")),
        Err(error) => failed(error.to_string()),
    }
}

/// Tools that ask the client in the revisions with sessions.
pub async fn with_requests(
    tool: &str,
    said: &str,
    context: &RequestContext<RoleServer>,
) -> Option<CallToolResult> {
    let elicit = |form| ServerRequest::ElicitRequest(ElicitRequest::new(form));
    let request = match tool {
        "test_sampling" => {
            ServerRequest::CreateMessageRequest(CreateMessageRequest::new(sample(said)))
        }
        "test_elicitation" => {
            let fields = json!({"username": {"type": "string"}, "email": {"type": "string"}});
            elicit(form(said, fields, json!(["username", "email"])))
        }
        "test_elicitation_sep1034_defaults" => {
            elicit(form("Please review the defaults", defaults(), json!([])))
        }
        "test_elicitation_sep1330_enums" => elicit(form("Please choose", choices(), json!([]))),
        _ => return None,
    };
    Some(ask(context, request).await)
}

fn defaults() -> Value {
    json!({
        "name": {"type": "string", "default": "John Doe"},
        "age": {"type": "integer", "default": 30},
        "score": {"type": "number", "default": 95.5},
        "status": {"type": "string", "enum": ["active", "inactive", "pending"], "default": "active"},
        "verified": {"type": "boolean", "default": true},
    })
}

fn choices() -> Value {
    let words = json!(["option1", "option2", "option3"]);
    let titled = json!([
        {"const": "value1", "title": "First"},
        {"const": "value2", "title": "Second"},
        {"const": "value3", "title": "Third"},
    ]);
    json!({
        "untitledSingle": {"type": "string", "enum": words},
        "titledSingle": {"type": "string", "oneOf": titled},
        "legacyEnum": {"type": "string", "enum": ["opt1", "opt2", "opt3"], "enumNames": ["One", "Two", "Three"]},
        "untitledMulti": {"type": "array", "items": {"type": "string", "enum": words}},
        "titledMulti": {"type": "array", "items": {"anyOf": titled}},
    })
}
