//! Keys and workspaces.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use spine_protocol::{Timestamp, WorkspaceName};
use spine_store::{RecordName, UnixMs};

use super::page_rows;
use crate::access::key::{Key, Scope};
use crate::access::keyring::{Issued, blank_key};
use crate::access::quota::{Quota, Usage};
use crate::access::{Pass, check_not_reserved};
use crate::limits::KEY_GRACE_DEFAULT;
use crate::problem::{Problem, ProblemKind};
use crate::route::{Call, Created, Json};
use crate::wire::cursor;
use crate::wire::event::PageQuery;
use crate::wire::memory::Seconds;

const LIST: &str = "keys";
/// Every workspace.
const ALL: &str = "*";

/// A key to make.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(example = serde_json::json!({"name": "the coder", "scopes": ["agent:coder"], "workspaces": ["default"]}))]
pub struct KeyBody {
    /// What you call it.
    #[serde(default)]
    #[schemars(length(max = 200))]
    pub name: String,
    /// What it allows: `admin`, `read`, `write`, `agent:<name>`.
    #[schemars(length(min = 1))]
    pub scopes: Vec<Scope>,
    /// Where; `*` is everywhere.
    #[schemars(length(min = 1))]
    pub workspaces: Vec<String>,
    /// After how many seconds it is no longer good; never, if not said.
    pub expires_in: Option<Seconds>,
}

/// A key, without its secret.
#[derive(Debug, Serialize, JsonSchema)]
pub struct KeyDocument {
    /// The part of it that is no secret.
    pub id: String,
    /// What its owner calls it.
    pub name: String,
    /// What it allows.
    pub scopes: Vec<Scope>,
    /// Where; `*` is everywhere.
    pub workspaces: Vec<String>,
    /// When it was made.
    pub created_at: Option<Timestamp>,
    /// From when on it is no longer good.
    pub expires_at: Option<Timestamp>,
    /// When it was revoked.
    pub revoked_at: Option<Timestamp>,
}

impl From<Key> for KeyDocument {
    fn from(key: Key) -> Self {
        let named = |all: Vec<WorkspaceName>| all.iter().map(ToString::to_string).collect();
        Self {
            id: key.id,
            name: key.name,
            scopes: key.scopes,
            workspaces: key.workspaces.map_or_else(|| vec![ALL.to_owned()], named),
            created_at: key.created_at.to_timestamp(),
            expires_at: key.expires_at.and_then(UnixMs::to_timestamp),
            revoked_at: key.revoked_at.and_then(UnixMs::to_timestamp),
        }
    }
}

/// A key that was just made: the only time that it is shown.
#[derive(Debug, Serialize, JsonSchema)]
pub struct IssuedDocument {
    /// The key itself. Keep it: it cannot be shown again.
    pub api_key: String,
    /// What is known of it.
    #[serde(flatten)]
    pub key: KeyDocument,
}

impl From<Issued> for IssuedDocument {
    fn from(issued: Issued) -> Self {
        Self { api_key: issued.token, key: issued.key.into() }
    }
}

/// Keys, by their ids.
#[derive(Debug, Serialize, JsonSchema)]
pub struct KeyListDocument {
    /// The keys.
    pub keys: Vec<KeyDocument>,
    /// What to give as `cursor` for the next page; null at the end.
    pub next_cursor: Option<String>,
}

/// The address of a key.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct KeyPath {
    /// The part of it that is no secret.
    #[schemars(length(min = 1, max = 64))]
    pub id: String,
}

/// How a key gets a new secret.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct RotateBody {
    /// How many seconds the old secret is still good; an hour, if not said.
    pub grace: Option<Seconds>,
}

pub async fn create_key(call: Call<(), (), KeyBody>) -> Result<Created<IssuedDocument>, Problem> {
    let now = call.app.store.now();
    let mut key = blank_key(call.body.name);
    key.scopes = call.body.scopes;
    key.workspaces = workspaces(&call.body.workspaces)?;
    key.expires_at = call.body.expires_in.map(|seconds| now.after(Duration::from(seconds)));
    if key.scopes.is_empty() {
        return Err(invalid("/scopes", "expected at least one scope"));
    }
    check_within(&call.pass, &key)?;
    Ok(Created(Json::of(call.app.keys.create(key).await?.into())))
}

/// An admin of some workspaces has no say over others.
fn check_within(pass: &Pass, key: &Key) -> Result<(), Problem> {
    let Some(own) = pass.key.as_ref().and_then(|own| own.workspaces.as_ref()) else {
        return Ok(());
    };
    let is_within = |all: &Vec<WorkspaceName>| all.iter().all(|one| own.contains(one));
    if key.workspaces.as_ref().is_some_and(is_within) {
        return Ok(());
    }
    let said = "the key at hand is not for all of these workspaces: use one that is";
    Err(Problem::new(ProblemKind::Forbidden, said))
}

fn workspaces(names: &[String]) -> Result<Option<Vec<WorkspaceName>>, Problem> {
    if names.iter().any(|name| name == ALL) {
        return Ok(None);
    }
    if names.is_empty() {
        return Err(invalid("/workspaces", "expected at least one workspace, or `*`"));
    }
    let mut parsed = Vec::with_capacity(names.len());
    for (index, name) in names.iter().enumerate() {
        let pointer = format!("/workspaces/{index}");
        let name = name.parse::<WorkspaceName>();
        let name = name.map_err(|error| invalid(&pointer, &error.to_string()))?;
        check_not_reserved(&name)?;
        parsed.push(name);
    }
    Ok(Some(parsed))
}

fn invalid(pointer: &str, problem: &str) -> Problem {
    let error = spine_protocol::ReadError::at(pointer, problem);
    Problem::body(ProblemKind::InvalidBody, &error)
}

pub async fn list_keys(call: Call<(), PageQuery, ()>) -> Result<Json<KeyListDocument>, Problem> {
    let after: Option<RecordName> = cursor::decode(LIST, call.query.cursor.as_deref())?;
    let (keys, next) = call.app.keys.page(after, page_rows(call.query.limit)?).await?;
    let own = keys.into_iter().filter(|key| check_within(&call.pass, key).is_ok());
    let next_cursor = next.map(|name| cursor::encode(LIST, name));
    Ok(Json::of(KeyListDocument { keys: own.map(Into::into).collect(), next_cursor }))
}

pub async fn revoke_key(call: Call<KeyPath, (), ()>) -> Result<Json<KeyDocument>, Problem> {
    check_within(&call.pass, &call.app.keys.get(&call.path.id).await?)?;
    Ok(Json::of(call.app.keys.revoke(&call.path.id).await?.into()))
}

pub async fn rotate_key(
    call: Call<KeyPath, (), RotateBody>,
) -> Result<Json<IssuedDocument>, Problem> {
    check_within(&call.pass, &call.app.keys.get(&call.path.id).await?)?;
    let grace = call.body.grace.map_or(KEY_GRACE_DEFAULT, Duration::from);
    Ok(Json::of(call.app.keys.rotate(&call.path.id, grace).await?.into()))
}

/// The address of a workspace.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct WorkspacePath {
    /// Its name.
    pub name: WorkspaceName,
}

/// A workspace: what it may use, and what it does.
#[derive(Debug, Serialize, JsonSchema)]
pub struct WorkspaceDocument {
    /// Its name.
    pub name: WorkspaceName,
    /// What it may use; what is null has no limit.
    pub quota: Quota,
    /// What it uses, at most a minute old.
    pub usage: Usage,
}

pub async fn get_workspace(
    call: Call<WorkspacePath, (), ()>,
) -> Result<Json<WorkspaceDocument>, Problem> {
    described(&call.app, &call.pass, call.path.name).await
}

pub async fn set_workspace(
    call: Call<WorkspacePath, (), Quota>,
) -> Result<Json<WorkspaceDocument>, Problem> {
    check_workspace(&call.pass, &call.path.name)?;
    call.app.quotas.set(&call.path.name, call.body).await?;
    described(&call.app, &call.pass, call.path.name).await
}

async fn described(
    app: &crate::App,
    pass: &Pass,
    name: WorkspaceName,
) -> Result<Json<WorkspaceDocument>, Problem> {
    check_workspace(pass, &name)?;
    let (quota, usage) = (app.quotas.get(&name).await?, app.quotas.usage(&name).await?);
    Ok(Json::of(WorkspaceDocument { name, quota, usage }))
}

fn check_workspace(pass: &Pass, name: &WorkspaceName) -> Result<(), Problem> {
    check_not_reserved(name)?;
    match &pass.key {
        Some(key) if !key.covers(name) => {
            let said = "the key is not for this workspace: use another key";
            Err(Problem::new(ProblemKind::Forbidden, said))
        }
        _ => Ok(()),
    }
}
