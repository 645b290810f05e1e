//! R2: what a child must keep to, what was waived, and how far the chain may go.

use serde_json::Value;

use super::request::{NewConstraint, NewWaiver, Request, Stamp};
use super::{RuleError, default_max_hops, inherited_max_hops};
use crate::EnvelopeId;
use crate::constraint::{self, MAX_HOPS, keeps, reconcile};
use crate::envelope::{Constraint, Envelope, Scope, Unknown, Waiver};
use crate::name::ConstraintName;
use crate::read::ReadError;

/// What R2 makes of the parents and the request.
pub(super) struct Settled {
    pub constraints: Vec<Constraint>,
    pub waived: Vec<Waiver>,
    pub max_hops: u32,
}

pub(super) fn settle(
    parents: &[Envelope],
    request: &Request,
    stamp: &Stamp,
    hop: u32,
) -> Result<Settled, RuleError> {
    check_given(&request.constraints)?;
    check_waivers(parents, &request.waive)?;
    let maker = Maker { parents, request, stamp, hop };
    let mut constraints = maker.carried()?;
    maker.add_new(&mut constraints)?;
    let mut waived = maker.waivers_on_record();
    waived.extend(maker.new_waivers());
    let max_hops = maker.max_hops(&constraints)?;
    waived.extend(maker.waiver_of_hop_limit());
    Ok(Settled { constraints, waived, max_hops })
}

fn check_given(given: &[NewConstraint]) -> Result<(), RuleError> {
    for (index, constraint) in given.iter().enumerate() {
        let pointer = format!("/constraints/{}", crate::json::escape(constraint.name.as_str()));
        let twin = |c: &NewConstraint| c.name == constraint.name && c.scope == constraint.scope;
        if given.iter().take(index).any(twin) {
            return Err(ReadError::at(pointer, "expected each constraint once").into());
        }
        constraint::check_value(constraint.name.as_str(), constraint.scope, &constraint.value)
            .map_err(|problem| ReadError::at(pointer, problem))?;
    }
    Ok(())
}

fn check_waivers(parents: &[Envelope], waive: &[NewWaiver]) -> Result<(), RuleError> {
    for waiver in waive {
        if waiver.reason.trim().is_empty() {
            let pointer = format!("/waive/{}", crate::json::escape(waiver.name.as_str()));
            return Err(ReadError::at(pointer, "expected a reason, got an empty one").into());
        }
        let is_hop_limit = waiver.name.as_str() == MAX_HOPS && !parents.is_empty();
        if !is_hop_limit && lineage_constraints(parents).all(|(_, c)| c.name != waiver.name) {
            return Err(RuleError::WaiverUnknown {
                name: waiver.name.clone(),
                carried: names_of(parents),
            });
        }
    }
    Ok(())
}

fn names_of(parents: &[Envelope]) -> String {
    let mut names: Vec<String> =
        lineage_constraints(parents).map(|(_, c)| format!("`{}`", c.name)).collect();
    names.sort();
    names.dedup();
    if names.is_empty() { "none".to_owned() } else { names.join(", ") }
}

/// Every constraint that the parents hand down, with the parent that carries it.
pub(super) fn lineage_constraints(
    parents: &[Envelope],
) -> impl Iterator<Item = (EnvelopeId, &Constraint)> {
    parents.iter().flat_map(|parent| {
        let lasting = parent.constraints.iter().filter(|c| c.scope == Scope::Lineage);
        lasting.map(|constraint| (parent.id, constraint))
    })
}

struct Maker<'a> {
    parents: &'a [Envelope],
    request: &'a Request,
    stamp: &'a Stamp,
    hop: u32,
}

impl Maker<'_> {
    /// The parents' constraints that are not waived, each once, tightened where the request says so.
    fn carried(&self) -> Result<Vec<Constraint>, RuleError> {
        let mut carried: Vec<Constraint> = Vec::new();
        for (parent, constraint) in lineage_constraints(self.parents) {
            if self.waiver_of(&constraint.name).is_some() {
                continue;
            }
            let next = self.tightened_by_request(constraint)?;
            match carried.iter_mut().find(|c| c.name == next.name) {
                None => carried.push(next),
                Some(present) => self.join(present, next, parent)?,
            }
        }
        Ok(carried)
    }

    fn tightened_by_request(&self, carried: &Constraint) -> Result<Constraint, RuleError> {
        let Some(given) = self.given(&carried.name, Scope::Lineage) else {
            return Ok(carried.clone());
        };
        if crate::json::same(&carried.value, &given.value) {
            return Ok(carried.clone());
        }
        if !keeps(carried.name.as_str(), &carried.value, &given.value) {
            return Err(changed(carried, given));
        }
        Ok(self.set_now(carried, given.value.clone()))
    }

    /// Two parents carry it: one value that keeps to both, or an error that names both.
    fn join(
        &self,
        present: &mut Constraint,
        other: Constraint,
        parent: EnvelopeId,
    ) -> Result<(), RuleError> {
        let Some(value) = reconcile(present.name.as_str(), &present.value, &other.value) else {
            return Err(self.conflict(present, &other, parent));
        };
        if crate::json::same(&value, &present.value) {
            return Ok(());
        }
        *present = if crate::json::same(&value, &other.value) {
            other
        } else {
            self.set_now(present, value)
        };
        Ok(())
    }

    fn conflict(&self, present: &Constraint, other: &Constraint, second: EnvelopeId) -> RuleError {
        let is_source =
            |(_, c): &(EnvelopeId, &Constraint)| c.name == present.name && c.value == present.value;
        let first = lineage_constraints(self.parents).find(is_source).map_or(second, |(id, _)| id);
        RuleError::ConstraintConflict {
            name: present.name.clone(),
            first,
            first_value: present.value.clone(),
            second,
            second_value: other.value.clone(),
        }
    }

    fn set_now(&self, constraint: &Constraint, value: Value) -> Constraint {
        let (set_by, since) = (self.request.from.clone(), self.stamp.id);
        Constraint { value, set_by, since, ..constraint.clone() }
    }

    /// The request's constraints that no parent carries, then those for this receiver only.
    fn add_new(&self, constraints: &mut Vec<Constraint>) -> Result<(), RuleError> {
        for given in self.given_with(Scope::Lineage) {
            if !constraints.iter().any(|c| c.name == given.name) {
                constraints.push(self.new_constraint(given));
            }
        }
        for given in self.given_with(Scope::Hop) {
            self.check_for_one_receiver(given, constraints)?;
            constraints.push(self.new_constraint(given));
        }
        Ok(())
    }

    fn given_with(&self, scope: Scope) -> impl Iterator<Item = &NewConstraint> {
        self.request.constraints.iter().filter(move |given| given.scope == scope)
    }

    /// For one receiver a lineage's constraint can be tightened, not loosened.
    fn check_for_one_receiver(
        &self,
        given: &NewConstraint,
        lasting: &[Constraint],
    ) -> Result<(), RuleError> {
        let Some(carried) =
            lasting.iter().find(|c| c.name == given.name && c.scope == Scope::Lineage)
        else {
            return Ok(());
        };
        if keeps(given.name.as_str(), &carried.value, &given.value) {
            return Ok(());
        }
        if lineage_constraints(self.parents).any(|(_, c)| c.name == given.name) {
            return Err(changed(carried, given));
        }
        let pointer = format!("/constraints/{}", crate::json::escape(given.name.as_str()));
        let problem = format!(
            "expected {} or tighter for one receiver, as the same request sets it for the lineage",
            carried.value
        );
        Err(ReadError::at(pointer, problem).into())
    }

    fn new_constraint(&self, given: &NewConstraint) -> Constraint {
        Constraint {
            name: given.name.clone(),
            value: given.value.clone(),
            scope: given.scope,
            set_by: self.request.from.clone(),
            since: self.stamp.id,
            unknown: Unknown::new(),
        }
    }

    fn waivers_on_record(&self) -> Vec<Waiver> {
        let mut waived: Vec<Waiver> = Vec::new();
        for waiver in self.parents.iter().flat_map(|parent| &parent.waived) {
            if !waived.contains(waiver) {
                waived.push(waiver.clone());
            }
        }
        waived
    }

    /// One entry for each value given up: parents may differ in theirs.
    fn new_waivers(&self) -> Vec<Waiver> {
        let mut waivers: Vec<Waiver> = Vec::new();
        for (_, constraint) in lineage_constraints(self.parents) {
            let Some(waiver) = self.waiver_of(&constraint.name) else { continue };
            let entry = self.waiver_entry(waiver, constraint.value.clone());
            if !waivers.contains(&entry) {
                waivers.push(entry);
            }
        }
        waivers
    }

    fn waiver_entry(&self, waiver: &NewWaiver, value: Value) -> Waiver {
        Waiver {
            name: waiver.name.clone(),
            value,
            reason: waiver.reason.clone(),
            by: waiver.by.clone().unwrap_or_else(|| self.request.from.clone()),
            at_hop: self.hop,
            unknown: Unknown::new(),
        }
    }

    /// The limit is a field of every envelope; where it was also a constraint, that waiver is on record already.
    fn waiver_of_hop_limit(&self) -> Option<Waiver> {
        let waiver = self.hop_limit_waiver()?;
        let limit = Value::from(inherited_max_hops(self.parents)?);
        let mut constraints = lineage_constraints(self.parents);
        let recorded =
            constraints.any(|(_, c)| c.name == waiver.name && crate::json::same(&c.value, &limit));
        (!recorded).then(|| self.waiver_entry(waiver, limit))
    }

    fn max_hops(&self, constraints: &[Constraint]) -> Result<u32, RuleError> {
        let asked = constraints.iter().filter_map(constraint::hop_limit).min();
        let given = self.request.max_hops.into_iter().chain(asked).min();
        let Some(inherited) = inherited_max_hops(self.parents) else {
            return Ok(default_max_hops(self.request).min(asked.unwrap_or(u32::MAX)));
        };
        if self.hop_limit_waiver().is_some() {
            return given.ok_or(RuleError::HopLimitMissing);
        }
        match self.request.max_hops {
            Some(raised) if raised > inherited => Err(hop_limit_raised(inherited, raised)),
            _ => Ok(inherited.min(given.unwrap_or(inherited))),
        }
    }

    fn hop_limit_waiver(&self) -> Option<&NewWaiver> {
        self.request.waive.iter().find(|waiver| waiver.name.as_str() == MAX_HOPS)
    }

    fn waiver_of(&self, name: &ConstraintName) -> Option<&NewWaiver> {
        self.request.waive.iter().find(|waiver| waiver.name == *name)
    }

    fn given(&self, name: &ConstraintName, scope: Scope) -> Option<&NewConstraint> {
        self.request.constraints.iter().find(|c| c.name == *name && c.scope == scope)
    }
}

fn changed(carried: &Constraint, given: &NewConstraint) -> RuleError {
    let (name, given) = (carried.name.clone(), given.value.clone());
    RuleError::ConstraintChanged { name, carried: carried.value.clone(), given }
}

pub(super) fn hop_limit_raised(carried: u32, given: u32) -> RuleError {
    match MAX_HOPS.parse() {
        Ok(name) => {
            RuleError::ConstraintChanged { name, carried: carried.into(), given: given.into() }
        }
        Err(error) => ReadError::at("/max_hops", error.to_string()).into(),
    }
}
