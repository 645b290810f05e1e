//! Making an envelope from its parents, and checking that somebody else's was made so.
//!
//! [`derive`] is the only way to a new envelope, so that the rules hold by construction.

mod carry;
mod constraints;
mod error;
mod import;
mod request;

pub use error::RuleError;
pub use request::{NewConstraint, NewHistory, NewWaiver, Request, Stamp, StateUpdate};

pub(crate) use import::check as check_succession;

use crate::constraint;
use crate::digest::Digest;
use crate::envelope::*;
use crate::limits::{BUDGET_TOKENS_DEFAULT, HOPS_DEFAULT, PARENTS_MAX};
use crate::read::ReadError;
use crate::seal::Unsealed;
use crate::version::CURRENT;

/// The next envelope after `parents` (none for a new task), with intent, constraints, waivers, history, state
/// and hop as the rules demand. What remains is to pack memories and seal it.
pub fn derive(
    parents: &[Envelope],
    mut request: Request,
    stamp: Stamp,
) -> Result<Unsealed, RuleError> {
    check_one_lineage(parents, &request)?;
    let max_tokens = take_budget(parents, &mut request)?;
    let hop = parents.iter().map(|parent| parent.hop).max().unwrap_or(0) + 1;
    let settled = constraints::settle(parents, &request, &stamp, hop)?;
    check_hop(parents, hop, settled.max_hops)?;
    let task = carry::task(parents, &request)?;
    let history = carry::history(parents, &request, &stamp, hop);
    let body = Body {
        protocol: CURRENT,
        id: stamp.id,
        digest: Digest::of(&[]),
        parents: parents.iter().map(Envelope::parent_ref).collect(),
        root: parents.first().map_or(stamp.id, |parent| parent.root),
        hop,
        max_hops: settled.max_hops,
        workspace: request.workspace,
        from: request.from,
        target: request.target,
        subject: request
            .subject
            .or_else(|| parents.first().and_then(|parent| parent.subject.clone())),
        created_at: stamp.created_at,
        expires_at: request.expires_at,
        priority: request.priority,
        traceparent: request.traceparent,
        task,
        memories: Vec::new(),
        history,
        constraints: settled.constraints,
        waived: settled.waived,
        expected_output: request.expected_output,
        assembly: unpacked(max_tokens),
        completeness: Completeness::default(),
        trimmed: Trimmed::default(),
        redactions: Vec::new(),
        unknown: Unknown::new(),
    };
    Ok(Unsealed::new(body)?)
}

fn check_one_lineage(parents: &[Envelope], request: &Request) -> Result<(), RuleError> {
    if parents.len() > PARENTS_MAX {
        let problem = format!("expected at most {PARENTS_MAX}, got {}", parents.len());
        return Err(ReadError::at("/parents", problem).into());
    }
    let Some(first) = parents.first() else { return Ok(()) };
    for parent in parents {
        if parent.root != first.root {
            return Err(RuleError::LineagesDiffer { first: first.id, second: parent.id });
        }
        if parent.workspace != request.workspace {
            return Err(RuleError::WorkspaceDiffers { parent: parent.id });
        }
        let subject = request.subject.as_ref().or(first.subject.as_ref());
        if parent.subject.as_ref() != subject {
            return Err(RuleError::SubjectDiffers { parent: parent.id });
        }
    }
    Ok(())
}

/// The receiver's budget: given in the call (also among the constraints), else the target's, else the
/// largest of the parents', else the default.
fn take_budget(parents: &[Envelope], request: &mut Request) -> Result<u32, RuleError> {
    let is_budget = |c: &NewConstraint| c.name.as_str() == constraint::MAX_TOKENS;
    let position = request.constraints.iter().position(is_budget);
    let among_constraints = position.map(|index| request.constraints.remove(index));
    let among_constraints = among_constraints.map(|c| whole_tokens(&c.value)).transpose()?;
    if let (Some(argument), Some(constraint)) = (request.max_tokens, among_constraints)
        && argument != constraint
    {
        return Err(RuleError::BudgetTwice { argument, constraint });
    }
    let given = request.max_tokens.or(among_constraints).or(request.target_max_tokens);
    let inherited = parents.iter().map(|parent| parent.assembly.max_tokens).max();
    Ok(given.or(inherited).unwrap_or(BUDGET_TOKENS_DEFAULT))
}

fn whole_tokens(value: &serde_json::Value) -> Result<u32, RuleError> {
    let tokens = value.as_u64().and_then(|tokens| u32::try_from(tokens).ok());
    tokens.ok_or_else(|| {
        ReadError::at(
            "/constraints/max_tokens",
            format!("expected a whole number of tokens, got {value}"),
        )
        .into()
    })
}

fn check_hop(parents: &[Envelope], hop: u32, max_hops: u32) -> Result<(), RuleError> {
    if hop <= max_hops {
        return Ok(());
    }
    Err(RuleError::HopLimit {
        hop,
        max_hops,
        parents: parents.iter().map(|parent| parent.id).collect(),
    })
}

fn unpacked(max_tokens: u32) -> Assembly {
    Assembly {
        strategy: Strategy::Priority,
        max_tokens,
        tokenizer: TokenizerName::O200kBase,
        format: Format::Markdown,
        tokens: 0,
        omitted: Omitted::default(),
        unknown: Unknown::new(),
    }
}

/// The hop limit that a new envelope starts from.
fn inherited_max_hops(parents: &[Envelope]) -> Option<u32> {
    parents.iter().map(|parent| parent.max_hops).min()
}

fn default_max_hops(request: &Request) -> u32 {
    request.max_hops.unwrap_or(HOPS_DEFAULT)
}
