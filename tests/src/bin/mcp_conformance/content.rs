//! What is answered, word for word as the suite expects it.

use rmcp::model::{
    AudioContent, CallToolResult, ContentBlock, ErrorData, GetPromptResult, ImageContent,
    JsonObject, PromptMessage, ReadResourceResult, ResourceContents, Role,
};
use serde_json::{Value, json};

/// One red pixel.
const PNG: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==";
/// Silence.
const WAV: &str = "UklGRiQAAABXQVZFZm10IBAAAAABAAEARKwAAIhYAQACABAAZGF0YQAAAAA=";

/// A text as a tool's answer.
pub fn said(text: impl Into<String>) -> CallToolResult {
    CallToolResult::success(vec![ContentBlock::text(text)])
}

/// The answer of a tool that only answers.
pub fn answer(tool: &str, arguments: &JsonObject) -> Option<CallToolResult> {
    Some(match tool {
        "test_simple_text" => said("This is a simple text response for testing."),
        "test_image_content" => {
            CallToolResult::success(vec![ContentBlock::image(PNG, "image/png")])
        }
        "test_audio_content" => {
            let audio = ContentBlock::Audio(AudioContent::new(WAV, "audio/wav"));
            CallToolResult::success(vec![audio])
        }
        "test_embedded_resource" => {
            let text = text_at(
                "test://embedded-resource",
                "text/plain",
                "This is an embedded resource content.",
            );
            CallToolResult::success(vec![ContentBlock::resource(text)])
        }
        "test_multiple_content_types" => CallToolResult::success(vec![
            ContentBlock::text("Multiple content types test:"),
            ContentBlock::image(PNG, "image/png"),
            ContentBlock::resource(text_at(
                "test://mixed-content-resource",
                "application/json",
                r#"{"test":"data","value":123}"#,
            )),
        ]),
        "test_error_handling" => {
            let text = "This tool intentionally returns an error for testing";
            CallToolResult::error(vec![ContentBlock::text(text)])
        }
        "json_schema_2020_12_tool" => said(format!("Hello, {}!", text_of(arguments, "name"))),
        "test_custom_header" => said(text_of(arguments, "value")),
        _ => return None,
    })
}

/// An argument.
pub fn text_of(arguments: &JsonObject, name: &str) -> String {
    arguments.get(name).and_then(Value::as_str).unwrap_or_default().to_owned()
}

fn text_at(uri: &str, media_type: &str, text: &str) -> ResourceContents {
    ResourceContents::text(text, uri).with_mime_type(media_type)
}

/// What is at an address.
pub fn read(uri: &str) -> Result<ReadResourceResult, ErrorData> {
    let id = uri.strip_prefix("test://template/").and_then(|rest| rest.strip_suffix("/data"));
    let contents = match (uri, id) {
        ("test://static-text", _) => {
            text_at(uri, "text/plain", "This is the content of the static text resource.")
        }
        ("test://static-binary", _) => ResourceContents::blob(PNG, uri).with_mime_type("image/png"),
        (_, Some(id)) => {
            let text =
                json!({"id": id, "templateTest": true, "data": format!("Data for ID: {id}")});
            text_at(uri, "application/json", &text.to_string())
        }
        _ => {
            let data = Some(json!({"uri": uri}));
            return Err(ErrorData::resource_not_found(format!("there is no {uri}"), data));
        }
    };
    Ok(ReadResourceResult::new(vec![contents]))
}

/// A prompt that needs nothing from the client.
pub fn prompt(name: &str, arguments: &JsonObject) -> Result<GetPromptResult, ErrorData> {
    let user = |text: String| PromptMessage::new_text(Role::User, text);
    let messages = match name {
        "test_simple_prompt" => vec![user("This is a simple prompt for testing.".to_owned())],
        "test_prompt_with_arguments" => {
            let (one, two) = (text_of(arguments, "arg1"), text_of(arguments, "arg2"));
            vec![user(format!("Prompt with arguments: arg1='{one}', arg2='{two}'"))]
        }
        "test_prompt_with_embedded_resource" => {
            let uri = text_of(arguments, "resourceUri");
            let text = text_at(&uri, "text/plain", "Embedded resource content for testing.");
            let resource = PromptMessage::new(Role::User, ContentBlock::resource(text));
            vec![resource, user("Please process the embedded resource above.".to_owned())]
        }
        "test_prompt_with_image" => {
            let image = ContentBlock::Image(ImageContent::new(PNG, "image/png"));
            let image = PromptMessage::new(Role::User, image);
            vec![image, user("Please analyze the image above.".to_owned())]
        }
        _ => return Err(ErrorData::invalid_params(format!("there is no prompt {name}"), None)),
    };
    Ok(GetPromptResult::new(messages))
}
