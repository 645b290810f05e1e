//! What there is, by name.

use rmcp::model::{JsonObject, Prompt, PromptArgument, Resource, ResourceTemplate, Tool};
use serde_json::{Value, json};

/// Tools that take nothing.
const PLAIN: &[(&str, &str)] = &[
    ("test_simple_text", "Answers with text"),
    ("test_image_content", "Answers with an image"),
    ("test_audio_content", "Answers with a sound"),
    ("test_embedded_resource", "Answers with a resource"),
    ("test_multiple_content_types", "Answers with several kinds of content"),
    ("test_tool_with_logging", "Logs while it works"),
    ("test_error_handling", "Always fails"),
    ("test_tool_with_progress", "Tells how far it is"),
    ("test_elicitation_sep1034_defaults", "Asks the user, with defaults"),
    ("test_elicitation_sep1330_enums", "Asks the user to choose"),
    ("test_reconnection", "Closes its stream before it answers"),
    ("test_trigger_tool_change", "Tells of changed tools"),
    ("test_trigger_prompt_change", "Tells of changed prompts"),
    ("test_missing_capability", "Needs a client that samples"),
    ("test_streaming_elicitation", "Asks for input"),
    ("test_logging_tool", "Logs if it is asked to"),
    ("test_input_required_result_elicitation", "Asks for a name"),
    ("test_input_required_result_sampling", "Asks for a sample"),
    ("test_input_required_result_list_roots", "Asks for roots"),
    ("test_input_required_result_request_state", "Keeps its state with the client"),
    ("test_input_required_result_multiple_inputs", "Asks for three things at once"),
    ("test_input_required_result_multi_round", "Asks twice"),
    ("test_input_required_result_tampered_state", "Refuses a state that was altered"),
    ("test_input_required_result_capabilities", "Asks for what the client can do"),
];

/// Every tool.
pub fn tools() -> Vec<Tool> {
    let nothing = || object(json!({"type": "object", "properties": {}}));
    let plain = PLAIN.iter().map(|(name, says)| Tool::new(*name, *says, nothing()));
    plain
        .chain([text_tool("test_sampling", "prompt"), text_tool("test_elicitation", "message")])
        .chain([header_tool(), schema_tool()])
        .collect()
}

fn text_tool(name: &'static str, field: &str) -> Tool {
    let schema = json!({
        "type": "object", "properties": {field: {"type": "string"}}, "required": [field],
    });
    Tool::new(name, "Asks the client", object(schema))
}

/// Whose argument also travels in a header.
pub fn header_tool() -> Tool {
    let schema = json!({
        "type": "object",
        "properties": {"value": {"type": "string", "x-mcp-header": "Value"}},
        "required": ["value"],
    });
    Tool::new("test_custom_header", "Reads a header", object(schema))
}

/// With everything that a newer JSON Schema has.
fn schema_tool() -> Tool {
    let schema = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "$defs": {"address": {
            "$anchor": "address", "type": "object",
            "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
        }},
        "properties": {"name": {"type": "string"}, "address": {"$ref": "#/$defs/address"}},
        "allOf": [{"anyOf": [{"required": ["name"]}, {"required": ["address"]}]}],
        "if": {"required": ["address"]},
        "then": {"properties": {"address": {"required": ["street"]}}},
        "else": {"required": ["name"]},
        "additionalProperties": false,
    });
    Tool::new("json_schema_2020_12_tool", "Has a schema of 2020-12", object(schema))
}

fn object(value: Value) -> JsonObject {
    value.as_object().cloned().unwrap_or_default()
}

/// Every resource.
pub fn resources() -> Vec<Resource> {
    vec![
        Resource::new("test://static-text", "text").with_mime_type("text/plain"),
        Resource::new("test://static-binary", "image").with_mime_type("image/png"),
    ]
}

/// The one form of further addresses.
pub fn templates() -> Vec<ResourceTemplate> {
    let template = ResourceTemplate::new("test://template/{id}/data", "data");
    vec![template.with_mime_type("application/json")]
}

/// Every prompt.
pub fn prompts() -> Vec<Prompt> {
    let argument =
        |name: &str| PromptArgument::new(name).with_description("An argument").with_required(true);
    let prompt = |name: &str, arguments| Prompt::new(name, Some("A prompt"), arguments);
    vec![
        prompt("test_simple_prompt", None),
        prompt("test_prompt_with_arguments", Some(vec![argument("arg1"), argument("arg2")])),
        prompt("test_prompt_with_embedded_resource", Some(vec![argument("resourceUri")])),
        prompt("test_prompt_with_image", None),
        prompt("test_input_required_result_prompt", None),
    ]
}
