//! One way to make a tool: a line in a table, a function from a typed question to a typed answer. What a model
//! reads of it comes from those types.

use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, LazyLock};

use rmcp::model::{JsonObject, Tool as Described, ToolAnnotations};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::asker::Asker;
use super::fit::fit;
use super::{schema, tools};
use crate::access::Need;
use crate::limits::MCP_RESULT_TOKENS_MAX;
use crate::problem::{Problem, ProblemKind};
use crate::route::Input;

type Running = Pin<Box<dyn Future<Output = Result<Value, Problem>> + Send>>;
type Run = Box<dyn Fn(Asker, Value) -> Running + Send + Sync>;

/// What a host may show of a tool's manners.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Manner {
    /// Changes nothing.
    Reads,
    /// Adds something; twice is two.
    Adds,
    /// Sets something; twice is once.
    Sets,
    /// Takes something away, or ends it; twice is once.
    Ends,
}

impl Manner {
    fn need(self) -> Need {
        if self == Self::Reads { Need::Read } else { Need::Write }
    }

    fn annotations(self) -> ToolAnnotations {
        let says = ToolAnnotations::new().open_world(false);
        match self {
            Self::Reads => says.read_only(true),
            Self::Adds => says.read_only(false).destructive(false).idempotent(false),
            Self::Sets => says.read_only(false).destructive(false).idempotent(true),
            Self::Ends => says.read_only(false).destructive(true).idempotent(true),
        }
    }
}

/// One tool.
pub struct Tool {
    /// What a key must allow.
    pub need: Need,
    described: Described,
    run: Run,
}

impl Tool {
    /// A tool, with everything that can be known of it from its function's types.
    pub fn new<I, O, F, Fut>(
        name: &'static str,
        manner: Manner,
        says: &'static str,
        function: F,
    ) -> Self
    where
        I: Input,
        O: Serialize + JsonSchema + Send + 'static,
        F: Fn(Asker, I) -> Fut + Clone + Send + Sync + 'static,
        Fut: Future<Output = Result<O, Problem>> + Send + 'static,
    {
        let described = Described::new(name, says, schema::input::<I>())
            .with_raw_output_schema(Arc::new(schema::output::<O>()))
            .with_annotations(manner.annotations());
        let run = move |asker: Asker, arguments: Value| -> Running {
            let function = function.clone();
            Box::pin(async move {
                let input = I::read(&arguments);
                let input =
                    input.map_err(|error| Problem::body(ProblemKind::InvalidBody, &error))?;
                written(&function(asker, input).await?)
            })
        };
        Self { need: manner.need(), described, run: Box::new(run) }
    }

    /// Does what is asked, if the key allows it.
    pub async fn call(&self, asker: Asker, arguments: JsonObject) -> Result<Value, Problem> {
        asker.pass.check(self.need)?;
        let (app, workspace) = (asker.app.clone(), asker.pass.caller.workspace.clone());
        let answer = (self.run)(asker, Value::Object(arguments)).await?;
        if self.need == Need::Write {
            app.wake.up(&workspace);
        }
        Ok(answer)
    }
}

fn written(output: &impl Serialize) -> Result<Value, Problem> {
    serde_json::to_value(output).map_err(|error| {
        let said = "the answer cannot be written: report this";
        Problem::new(ProblemKind::Internal, said).logged(error.to_string())
    })
}

/// A result within the limit. A handoff's text is not cut: it was packed for its own budget.
pub fn within_limit(mut result: Value) -> Value {
    let text = result.get_mut("text").map(Value::take);
    let mut result = fit(result, MCP_RESULT_TOKENS_MAX);
    if let (Some(text), Some(members)) = (text, result.as_object_mut()) {
        members.insert("text".to_owned(), text);
    }
    result
}

static TOOLS: LazyLock<Vec<Tool>> = LazyLock::new(tools::all);

/// As the protocol lists them.
pub fn described_tools() -> Vec<Described> {
    TOOLS.iter().map(|tool| tool.described.clone()).collect()
}

/// The tool of this name.
pub fn find(name: &str) -> Option<&'static Tool> {
    TOOLS.iter().find(|tool| tool.described.name == name)
}

/// How the tool of this name is described.
pub fn describe(name: &str) -> Option<Described> {
    find(name).map(|tool| tool.described.clone())
}
