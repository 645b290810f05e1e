//! What is answered to each request.
#![expect(deprecated, reason = "the suite asks for what older revisions have, too")]

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, ClientCapabilities, CompleteRequestParams,
    CompleteResult, CompletionInfo, ErrorData, GetPromptRequestParams, GetPromptResponse,
    ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult, ListToolsResult,
    LoggingLevel, LoggingMessageNotificationParam, PaginatedRequestParams,
    ProgressNotificationParam, ReadResourceRequestParams, ReadResourceResponse, ServerCapabilities,
    ServerConfig, SetLevelRequestParams, SubscribeRequestParams, SubscriptionFilter, Tool,
    UnsubscribeRequestParams,
};
use rmcp::service::{RequestContext, SubscriptionContext, SubscriptionSink};
use rmcp::{RoleServer, ServerHandler};
use serde_json::json;

use crate::asking::{field, given, needs, with_input, with_requests};
use crate::content::{answer, prompt, read, said, text_of};
use crate::listed::{header_tool, prompts, resources, templates, tools};

/// Between two notes of one tool.
const PAUSE: Duration = Duration::from_millis(50);

/// What the suite finds.
#[derive(Clone, Default)]
pub struct Fixtures {
    listening: Arc<Mutex<HashMap<u64, SubscriptionSink>>>,
    next: Arc<AtomicU64>,
}

type Context = RequestContext<RoleServer>;
type Page = Option<PaginatedRequestParams>;

impl Fixtures {
    fn sinks(&self) -> Vec<SubscriptionSink> {
        self.listening.lock().unwrap().values().cloned().collect()
    }
}

async fn log(context: &Context, level: LoggingLevel, text: &str) {
    let note = LoggingMessageNotificationParam::new(level, json!(text));
    let _ = context.peer.notify_logging_message(note).await;
}

async fn progress(context: &Context) {
    let Some(token) = context.meta.get_progress_token() else { return };
    for done in [0.0, 50.0, 100.0] {
        let note = ProgressNotificationParam::new(token.clone(), done).with_total(100.0);
        let _ = context.peer.notify_progress(note).await;
        tokio::time::sleep(PAUSE).await;
    }
}

impl ServerHandler for Fixtures {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_completions()
            .enable_logging()
            .enable_prompts()
            .enable_prompts_list_changed()
            .enable_resources()
            .enable_resources_subscribe()
            .enable_resources_list_changed()
            .enable_tools()
            .enable_tool_list_changed()
            .build();
        ServerConfig::new(capabilities)
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        (name == "test_custom_header").then(header_tool)
    }

    async fn list_tools(&self, _: Page, _: Context) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(tools()))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: Context,
    ) -> Result<CallToolResponse, ErrorData> {
        if request.name.starts_with("test_input_required_result_") {
            return with_input(&request, &context.meta);
        }
        let arguments = request.arguments.unwrap_or_default();
        if let Some(answer) = answer(&request.name, &arguments) {
            return Ok(answer.into());
        }
        let asked = text_of(&arguments, "prompt") + &text_of(&arguments, "message");
        if let Some(answer) = with_requests(&request.name, &asked, &context).await {
            return Ok(answer.into());
        }
        self.noted(&request.name, &context).await
    }

    async fn list_resources(&self, _: Page, _: Context) -> Result<ListResourcesResult, ErrorData> {
        Ok(ListResourcesResult::with_all_items(resources()))
    }

    async fn list_resource_templates(
        &self,
        _: Page,
        _: Context,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        Ok(ListResourceTemplatesResult::with_all_items(templates()))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _: Context,
    ) -> Result<ReadResourceResponse, ErrorData> {
        read(&request.uri).map(Into::into)
    }

    async fn subscribe(&self, _: SubscribeRequestParams, _: Context) -> Result<(), ErrorData> {
        Ok(())
    }

    async fn unsubscribe(&self, _: UnsubscribeRequestParams, _: Context) -> Result<(), ErrorData> {
        Ok(())
    }

    async fn set_level(&self, _: SetLevelRequestParams, _: Context) -> Result<(), ErrorData> {
        Ok(())
    }

    fn accepted_subscription_filter(
        &self,
        requested: &SubscriptionFilter,
    ) -> Option<SubscriptionFilter> {
        Some(requested.clone())
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let key = self.next.fetch_add(1, Ordering::Relaxed);
        self.listening.lock().unwrap().insert(key, context.sink().clone());
        context.cancelled().await;
        self.listening.lock().unwrap().remove(&key);
        Ok(())
    }

    async fn list_prompts(&self, _: Page, _: Context) -> Result<ListPromptsResult, ErrorData> {
        Ok(ListPromptsResult::with_all_items(prompts()))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        _: Context,
    ) -> Result<GetPromptResponse, ErrorData> {
        if request.name == "test_input_required_result_prompt" {
            return Ok(match given(request.input_responses.as_ref(), "user_context") {
                Some(_) => prompt("test_simple_prompt", &Default::default())?.into(),
                None => {
                    let context = field("In which context?", "context", "string");
                    needs([("user_context", context)], None).into()
                }
            });
        }
        prompt(&request.name, &request.arguments.unwrap_or_default()).map(Into::into)
    }

    async fn complete(
        &self,
        _: CompleteRequestParams,
        _: Context,
    ) -> Result<CompleteResult, ErrorData> {
        let values = vec!["paris".to_owned(), "park".to_owned()];
        Ok(CompleteResult::new(CompletionInfo::with_all_values(values).unwrap_or_default()))
    }
}

impl Fixtures {
    /// Tools that tell the client something on the way.
    async fn noted(&self, tool: &str, context: &Context) -> Result<CallToolResponse, ErrorData> {
        match tool {
            "test_tool_with_logging" => {
                for text in
                    ["Tool execution started", "Tool processing data", "Tool execution completed"]
                {
                    log(context, LoggingLevel::Info, text).await;
                    tokio::time::sleep(PAUSE).await;
                }
            }
            "test_logging_tool" => {
                if let Some(level) = context.meta.log_level() {
                    log(context, level, "logged as it was asked").await;
                }
            }
            "test_tool_with_progress" => progress(context).await,
            "test_reconnection" => tokio::time::sleep(2 * PAUSE).await,
            "test_trigger_tool_change" => {
                for sink in self.sinks() {
                    let _ = sink.notify_tool_list_changed().await;
                }
            }
            "test_trigger_prompt_change" => {
                for sink in self.sinks() {
                    let _ = sink.notify_prompt_list_changed().await;
                }
            }
            "test_missing_capability" => {
                let client = context.meta.client_capabilities().unwrap_or_default();
                if client.sampling.is_none() {
                    let needed = ClientCapabilities::builder().enable_sampling().build();
                    return Err(ErrorData::missing_required_client_capability(needed));
                }
            }
            "test_streaming_elicitation" => {
                let value = field("Give a value", "value", "string");
                return Ok(needs([("streaming_elicitation", value)], None).into());
            }
            _ => return Err(ErrorData::invalid_params(format!("there is no tool {tool}"), None)),
        }
        Ok(said("done").into())
    }
}
