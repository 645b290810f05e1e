//! API keys: what one looks like, what it allows, and what is kept of it.
//!
//! A key is `msk_<id>_<secret>`. Of the secret only its SHA-256 is kept. A slow hash protects secrets that
//! people choose and others can guess; this one is 256 random bits, which nobody can, so that a fast one is as
//! safe and costs a request nothing.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use data_encoding::HEXLOWER;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use spine_protocol::{AgentName, Digest, ParseError, WorkspaceName};
use spine_store::UnixMs;

use super::Need;

/// What every key begins with, so that one in the wrong place is recognised.
pub const PREFIX: &str = "msk_";
const ID_BYTES: usize = 6;
const SECRET_BYTES: usize = 32;

/// What a key allows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Scope {
    /// Everything, also keys and workspaces.
    Admin,
    /// To see what is in its workspaces.
    Read,
    /// To see and to change it.
    Write,
    /// The same, as this agent and no other.
    Agent(AgentName),
}

impl Scope {
    const EXPECTED: &str = "a scope: `admin`, `read`, `write` or `agent:<name>`";

    fn grants(&self, need: Need) -> bool {
        match self {
            Self::Admin => true,
            Self::Read => need <= Need::Read,
            Self::Write | Self::Agent(_) => need <= Need::Write,
        }
    }
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Admin => f.write_str("admin"),
            Self::Read => f.write_str("read"),
            Self::Write => f.write_str("write"),
            Self::Agent(name) => write!(f, "agent:{name}"),
        }
    }
}

impl FromStr for Scope {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        match text {
            "admin" => Ok(Self::Admin),
            "read" => Ok(Self::Read),
            "write" => Ok(Self::Write),
            _ => {
                let name = text.strip_prefix("agent:").and_then(|name| name.parse().ok());
                let agent = name.filter(|name: &AgentName| !name.is_broadcast());
                agent.map(Self::Agent).ok_or_else(|| ParseError::new(Self::EXPECTED, text))
            }
        }
    }
}

impl TryFrom<String> for Scope {
    type Error = ParseError;

    fn try_from(text: String) -> Result<Self, ParseError> {
        text.parse()
    }
}

impl From<Scope> for String {
    fn from(scope: Scope) -> Self {
        scope.to_string()
    }
}

impl JsonSchema for Scope {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Scope".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "type": "string", "description": Self::EXPECTED,
            "pattern": "^(admin|read|write|agent:[A-Za-z0-9][A-Za-z0-9._:@+-]{0,127})$",
        })
    }
}

/// One secret of a key. After a rotation the old one is good for a while.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeptSecret {
    /// SHA-256 of the secret.
    pub hash: Digest,
    /// Until when, if it was replaced.
    pub until: Option<UnixMs>,
}

/// What is kept of a key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Key {
    /// The part of it that is no secret.
    pub id: String,
    /// What its owner calls it.
    pub name: String,
    /// What it allows.
    pub scopes: Vec<Scope>,
    /// Where; none is everywhere.
    pub workspaces: Option<Vec<WorkspaceName>>,
    /// Newest first.
    pub secrets: Vec<KeptSecret>,
    /// When it was made.
    pub created_at: UnixMs,
    /// From when on it is no longer good.
    pub expires_at: Option<UnixMs>,
    /// When it was revoked.
    pub revoked_at: Option<UnixMs>,
}

impl Key {
    /// Whether it is good for anything.
    pub fn is_live(&self, now: UnixMs) -> bool {
        self.revoked_at.is_none() && self.expires_at.is_none_or(|at| now < at)
    }

    /// Whether this secret is one of its own, now.
    pub fn has_secret(&self, secret: &str, now: UnixMs) -> bool {
        let hash = hash_of(secret);
        let is_good = |kept: &KeptSecret| kept.until.is_none_or(|until| now < until);
        self.secrets.iter().any(|kept| is_good(kept) && kept.hash == hash)
    }

    /// Whether it allows what a route needs.
    pub fn grants(&self, need: Need) -> bool {
        self.scopes.iter().any(|scope| scope.grants(need))
    }

    /// Whether it is good in a workspace.
    pub fn covers(&self, workspace: &WorkspaceName) -> bool {
        self.workspaces.as_ref().is_none_or(|all| all.contains(workspace))
    }

    /// The agents it acts as; none is any.
    pub fn agents(&self) -> Vec<&AgentName> {
        let agent = |scope: &'_ Scope| matches!(scope, Scope::Agent(_));
        let named = self.scopes.iter().filter(|scope| agent(scope));
        named
            .filter_map(|scope| if let Scope::Agent(name) = scope { Some(name) } else { None })
            .collect()
    }

    /// Takes a new secret; the old ones are good for the time of grace and no longer.
    pub fn rotate(&mut self, secret: &str, now: UnixMs, grace: Duration) {
        let end = now.after(grace);
        self.secrets.retain(|kept| kept.until.is_none_or(|until| now < until));
        for kept in &mut self.secrets {
            kept.until = Some(kept.until.map_or(end, |until| until.min(end)));
        }
        self.secrets.insert(0, KeptSecret { hash: hash_of(secret), until: None });
    }
}

/// What is kept of a secret.
pub fn hash_of(secret: &str) -> Digest {
    Digest::of(&[b"memory-spine api key\n", secret.as_bytes()])
}

/// A key as it is sent.
pub struct Token<'a> {
    /// Which key.
    pub id: &'a str,
    /// What proves it.
    pub secret: &'a str,
}

impl<'a> Token<'a> {
    /// Takes a key apart.
    pub fn parse(text: &'a str) -> Option<Self> {
        let (id, secret) = text.strip_prefix(PREFIX)?.split_once('_')?;
        let is_hex = |text: &str| text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
        let fits = id.len() == 2 * ID_BYTES && secret.len() == 2 * SECRET_BYTES;
        (fits && is_hex(id) && is_hex(secret)).then_some(Self { id, secret })
    }
}

/// A new id.
pub fn new_id() -> Result<String, getrandom::Error> {
    random_hex::<ID_BYTES>()
}

/// A new secret.
pub fn new_secret() -> Result<String, getrandom::Error> {
    random_hex::<SECRET_BYTES>()
}

fn random_hex<const N: usize>() -> Result<String, getrandom::Error> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes)?;
    Ok(HEXLOWER.encode(&bytes))
}

/// The whole key, to be shown once.
pub fn spelled(id: &str, secret: &str) -> String {
    format!("{PREFIX}{id}_{secret}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(scopes: &[&str]) -> Key {
        Key {
            id: "0".repeat(12),
            name: "test".to_owned(),
            scopes: scopes.iter().map(|scope| scope.parse().unwrap()).collect(),
            workspaces: Some(vec!["a".parse().unwrap()]),
            secrets: vec![KeptSecret { hash: hash_of("one"), until: None }],
            created_at: UnixMs(0),
            expires_at: Some(UnixMs(1_000_000)),
            revoked_at: None,
        }
    }

    #[test]
    fn a_scope_grants_what_it_says() {
        let check = |scopes: &[&str], needs: [bool; 3]| {
            let found = [Need::Read, Need::Write, Need::Admin].map(|need| key(scopes).grants(need));
            assert_eq!(found, needs, "{scopes:?}");
        };
        check(&[], [false, false, false]);
        check(&["read"], [true, false, false]);
        check(&["write"], [true, true, false]);
        check(&["agent:coder"], [true, true, false]);
        check(&["read", "admin"], [true, true, true]);
    }

    #[test]
    fn an_old_secret_is_good_for_the_time_of_grace() {
        let mut key = key(&["read"]);
        key.rotate("two", UnixMs(1_000), Duration::from_secs(60));
        assert!(key.has_secret("two", UnixMs(900_000)));
        assert!(key.has_secret("one", UnixMs(60_999)));
        assert!(!key.has_secret("one", UnixMs(61_000)));
        key.rotate("three", UnixMs(2_000), Duration::ZERO);
        assert!(!key.has_secret("two", UnixMs(2_000)), "without grace the old ones end at once");
        assert!(!key.has_secret("one", UnixMs(2_000)));
        assert!(!key.is_live(UnixMs(1_000_000)), "expired");
    }

    #[test]
    fn a_key_is_taken_apart_or_refused() {
        let whole = spelled(&new_id().unwrap(), &new_secret().unwrap());
        assert!(Token::parse(&whole).is_some());
        for wrong in
            ["", "msk_", "msk_1_2", &whole[1..], &format!("{whole}0"), &whole.to_uppercase()]
        {
            assert!(Token::parse(wrong).is_none(), "{wrong}");
        }
    }
}
