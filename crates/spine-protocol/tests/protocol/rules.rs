//! R1 to R4 and R7, each checked on random lineages by code that shares nothing with the crate's own.

use std::collections::BTreeMap;

use fastrand::Rng;
use serde_json::{Value, json};
use spine_protocol::*;

use crate::random::*;

#[test]
fn r1_intent_is_the_same_byte_for_byte_in_every_envelope_of_a_lineage() {
    property("R1", 1_000, |rng| {
        let lineage = lineage(rng, 6);
        let root = &lineage[0];
        for envelope in &lineage {
            assert_eq!(envelope.task.intent.as_bytes(), root.task.intent.as_bytes());
            assert_eq!(envelope.task.intent_source, root.task.intent_source);
        }
        assert!(
            root.task.intent_source == IntentSource::Given || root.task.intent == root.task.summary
        );
        let mut other = request(rng);
        other.constraints.clear();
        other.intent = Some(format!("{} ", root.task.intent));
        let refused = derive(&lineage[..1], other, stamp(rng, 99)).map(|_| ()).unwrap_err();
        assert_eq!(refused, RuleError::IntentChanged { root: root.id });
    });
}

#[test]
fn r2_constraints_of_one_parent_stay_unless_openly_waived() {
    property("R2, one parent", 1_000, |rng| {
        let mut chain = vec![root(rng)];
        for tick in 1..6 {
            chain.extend(child(rng, &chain[chain.len() - 1..], tick));
        }
        chain.windows(2).for_each(|pair| check_r2(&pair[1], &[&pair[0]]));
    });
}

#[test]
fn r2_constraints_of_several_parents_stay_unless_openly_waived() {
    property("R2, several parents", 1_000, |rng| {
        let lineage = lineage(rng, 8);
        lineage.iter().skip(1).for_each(|child| check_r2(child, &parents_of(child, &lineage)));
    });
}

fn check_r2(child: &Envelope, parents: &[&Envelope]) {
    for parent in parents {
        for waiver in &parent.waived {
            assert!(
                child.waived.contains(waiver),
                "a waiver is on record for the rest of the lineage"
            );
        }
        for carried in parent.constraints.iter().filter(|c| c.scope == Scope::Lineage) {
            let waived = child.waived.iter().any(|w| {
                w.name == carried.name
                    && w.at_hop == child.hop
                    && w.value == carried.value
                    && !w.reason.is_empty()
            });
            let kept = child.constraints.iter().any(|c| {
                c.scope == Scope::Lineage
                    && c.name == carried.name
                    && is_kept(c.name.as_str(), &carried.value, &c.value)
            });
            assert!(kept || waived, "{} lost `{}` of {}", child.id, carried.name, parent.id);
        }
    }
}

fn is_kept(name: &str, old: &Value, new: &Value) -> bool {
    if old == new || old.is_number() && old.as_f64() == new.as_f64() {
        return true;
    }
    match (name, old, new) {
        ("deadline", Value::String(old), Value::String(new)) => new < old,
        ("max_hops", _, _) => new.as_u64() < old.as_u64(),
        (_, Value::Array(old), Value::Array(new)) => old.iter().all(|item| new.contains(item)),
        _ => false,
    }
}

#[test]
fn r2_parents_that_conflict_are_both_named() {
    let mut rng = Rng::with_seed(1);
    let named = |rng: &mut Rng, language: &str| {
        let mut request = Request::new("default".parse().unwrap(), agent(rng), agent(rng), "work");
        request.max_tokens = Some(100_000);
        request.constraints = vec![NewConstraint {
            name: "language".parse().unwrap(),
            value: json!(language),
            scope: Scope::Lineage,
        }];
        request
    };
    let seal = |unsealed: Unsealed| unsealed.seal(Packing::default()).unwrap();
    let plain = Request::new("default".parse().unwrap(), agent(&mut rng), agent(&mut rng), "work");
    let root = [seal(derive(&[], plain, stamp(&mut rng, 0)).unwrap())];
    let (python, rust) = (named(&mut rng, "python"), named(&mut rng, "rust"));
    let a = seal(derive(&root, python.clone(), stamp(&mut rng, 1)).unwrap());
    let b = seal(derive(&root, rust.clone(), stamp(&mut rng, 2)).unwrap());
    let parents = [a.clone(), b.clone()];
    let mut join = named(&mut rng, "python");
    join.constraints.clear();
    let conflict =
        derive(&parents, join.clone(), stamp(&mut rng, 3)).map(|_| ()).unwrap_err().to_string();
    for named in [a.id.to_string(), b.id.to_string(), "python".into(), "rust".into()] {
        assert!(conflict.contains(&named), "{conflict}");
    }
    join.waive = vec![NewWaiver {
        name: "language".parse().unwrap(),
        reason: "go settled it".into(),
        by: None,
    }];
    let joined = seal(derive(&parents, join, stamp(&mut rng, 3)).unwrap());
    let values: Vec<&Value> = joined.waived.iter().map(|waiver| &waiver.value).collect();
    assert_eq!(values, [&json!("python"), &json!("rust")]);
}

#[test]
fn r3_an_envelope_never_changes_once_it_has_an_id() {
    property("R3", 1_000, |rng| {
        let lineage = lineage(rng, 4);
        let before: Vec<Vec<u8>> = lineage.iter().map(|e| e.canonical_bytes().to_vec()).collect();
        for envelope in &lineage {
            let again = Envelope::read(envelope.canonical_bytes()).unwrap();
            assert_eq!((again.id, again.digest), (envelope.id, envelope.digest));
            envelope.without_texts(|_| true).unwrap();
            child(rng, std::slice::from_ref(envelope), 50);
        }
        let after: Vec<Vec<u8>> = lineage.iter().map(|e| e.canonical_bytes().to_vec()).collect();
        assert_eq!(before, after);
    });
}

fn records(lineage: &[Envelope]) -> BTreeMap<EnvelopeId, Record> {
    lineage.iter().map(|e| (e.id, Record::Whole(e.canonical_bytes().to_vec()))).collect()
}

fn audit_log(lineage: &[Envelope]) -> Vec<Witness> {
    lineage
        .iter()
        .map(|e| Witness { id: e.id, digest: e.digest, noted_in: "the audit log".into() })
        .collect()
}

fn named(verification: &Verification) -> Vec<EnvelopeId> {
    verification.findings.iter().filter(|f| f.is_damage()).map(Finding::id).collect()
}

#[test]
fn r4_any_altered_byte_is_found_and_named() {
    property("R4, altered", 1_000, |rng| {
        let lineage = lineage(rng, 3);
        let mut records = records(&lineage);
        assert_eq!(verify(&records, &audit_log(&lineage)).to_string(), "intact");
        let victim = lineage[rng.usize(..lineage.len())].id;
        let Some(Record::Whole(bytes)) = records.get_mut(&victim) else { panic!() };
        let index = rng.usize(..bytes.len());
        bytes[index] ^= rng.u8(1..);
        let verification = verify(&records, &[]);
        assert!(named(&verification).contains(&victim), "byte {index} of {victim}: {verification}");
    });
}

#[test]
fn r4_an_envelope_replaced_with_its_recomputed_digest_is_found_and_named() {
    property("R4, replaced", 1_000, |rng| {
        let lineage = lineage(rng, 4);
        let victim = &lineage[rng.usize(..lineage.len())];
        let mut forged = victim.to_value().unwrap();
        forged["task"]["summary"] = json!("send the money elsewhere");
        if victim.hop == 1 {
            forged["task"]["intent_source"] = json!("given");
        }
        forged["digest"] = json!(digest_of(&forged).unwrap());
        let forged = json::canonical(&forged).unwrap();
        Envelope::read(&forged).expect("taken alone, the forgery is valid");
        let mut records = records(&lineage);
        records.insert(victim.id, Record::Whole(forged));
        let has_child = lineage.iter().any(|e| e.parents.iter().any(|p| p.id == victim.id));
        let by_children = verify(&records, &[]);
        assert_eq!(named(&by_children).contains(&victim.id), has_child, "{by_children}");
        let by_log = verify(&records, &audit_log(&lineage));
        assert!(named(&by_log).contains(&victim.id), "{by_log}");
    });
}

#[test]
fn r4_removed_envelopes_are_named_and_pruned_ones_are_no_damage() {
    property("R4, removed", 1_000, |rng| {
        let lineage = lineage(rng, 4);
        let victim = &lineage[rng.usize(..lineage.len())];
        let mut records = records(&lineage);
        records.insert(victim.id, Record::Skeleton(Skeleton::of(victim)));
        let pruned = verify(&records, &audit_log(&lineage));
        assert_eq!(pruned.to_string(), "intact, 1 envelope pruned");
        records.remove(&victim.id);
        let removed = verify(&records, &audit_log(&lineage));
        assert!(named(&removed).contains(&victim.id) && !removed.is_intact());
    });
}

#[test]
fn r4_an_erased_text_leaves_the_lineage_intact() {
    property("R4, erased", 1_000, |rng| {
        let lineage = lineage(rng, 3);
        let erased: Vec<Envelope> =
            lineage.iter().map(|e| e.without_texts(|_| true).unwrap()).collect();
        let texts = lineage.iter().flat_map(|e| &e.memories).filter(|m| m.text.is_some()).count();
        let verification = verify(&records(&erased), &audit_log(&lineage));
        assert!(verification.is_intact(), "{verification}");
        let parts =
            verification.findings.iter().filter(|f| matches!(f, Finding::Erased { .. })).count();
        assert_eq!(parts, texts);
        assert!(
            erased.iter().flat_map(|e| &e.memories).all(|m| m.text.is_none() && m.salt.is_none())
        );
    });
}

#[test]
fn r4_a_branch_rewritten_up_to_its_leaf_is_found_by_the_rules_or_the_log() {
    property("R4, rewritten", 200, |rng| {
        let first = root(rng);
        let Some(second) = child(rng, std::slice::from_ref(&first), 1) else { return };
        let mut forged = first.to_value().unwrap();
        forged["task"]["intent"] = json!("another intent");
        forged["task"]["intent_source"] = json!("given");
        forged["digest"] = json!(digest_of(&forged).unwrap());
        let mut leaf = second.to_value().unwrap();
        leaf["parents"][0]["digest"] = forged["digest"].clone();
        leaf["digest"] = json!(digest_of(&leaf).unwrap());
        let of = |value: &Value| Record::Whole(json::canonical(value).unwrap());
        let records = BTreeMap::from([(first.id, of(&forged)), (second.id, of(&leaf))]);
        assert!(!verify(&records, &[]).is_intact(), "the leaf still has the old intent");
        let by_log = verify(&records, &audit_log(&[first.clone(), second.clone()]));
        assert!(named(&by_log).contains(&first.id) && named(&by_log).contains(&second.id));
    });
}

#[test]
fn r7_hops_count_from_one_and_end_at_the_limit() {
    property("R7", 1_000, |rng| {
        let lineage = lineage(rng, 8);
        for envelope in &lineage {
            let highest = parents_of(envelope, &lineage).iter().map(|p| p.hop).max().unwrap_or(0);
            assert_eq!(envelope.hop, highest + 1);
            assert!(envelope.hop <= envelope.max_hops);
        }
        for child in lineage.iter().skip(1) {
            let limit = parents_of(child, &lineage).iter().map(|p| p.max_hops).min().unwrap();
            let waived =
                child.waived.iter().any(|w| w.name.as_str() == "max_hops" && w.at_hop == child.hop);
            assert!(child.max_hops <= limit || waived);
        }
    });
}

#[test]
fn r7_the_limit_is_raised_only_by_a_waiver() {
    let mut rng = Rng::with_seed(2);
    let plain = || {
        Request::new("default".parse().unwrap(), "a".parse().unwrap(), "b".parse().unwrap(), "work")
    };
    let mut first = plain();
    first.max_hops = Some(1);
    let root = derive(&[], first, stamp(&mut rng, 0)).unwrap().seal(Packing::default()).unwrap();
    let parents = [root];
    let mut next = plain();
    let at_limit = derive(&parents, next.clone(), stamp(&mut rng, 1)).map(|_| ()).unwrap_err();
    assert_eq!(at_limit.code(), "hop-limit");
    next.max_hops = Some(3);
    let raised = derive(&parents, next.clone(), stamp(&mut rng, 1)).map(|_| ()).unwrap_err();
    assert_eq!(raised.code(), "constraint-changed");
    let reason = "the review needs two more".to_owned();
    next.waive = vec![NewWaiver {
        name: "max_hops".parse().unwrap(),
        reason,
        by: Some("maria".parse().unwrap()),
    }];
    let allowed = derive(&parents, next.clone(), stamp(&mut rng, 1))
        .unwrap()
        .seal(Packing::default())
        .unwrap();
    assert_eq!((allowed.hop, allowed.max_hops), (2, 3));
    assert_eq!(
        (allowed.waived[0].value.clone(), allowed.waived[0].by.as_str()),
        (json!(1), "maria")
    );
    next.max_hops = None;
    let unsaid = derive(&parents, next, stamp(&mut rng, 1)).map(|_| ()).unwrap_err();
    assert_eq!(unsaid, RuleError::HopLimitMissing);
}

#[test]
fn what_derive_makes_import_accepts_and_what_breaks_a_rule_it_refuses() {
    property("import", 1_000, |rng| {
        let lineage = lineage(rng, 5);
        for child in lineage.iter().skip(1) {
            let parents: Vec<Envelope> = parents_of(child, &lineage).into_iter().cloned().collect();
            assert!(Envelope::import(child.canonical_bytes(), &parents).is_ok());
            let mut forged = child.to_value().unwrap();
            let expected = break_a_rule(rng, &mut forged);
            let Some(expected) = expected else { continue };
            forged["digest"] = json!(digest_of(&forged).unwrap());
            let error = Envelope::import(&json::canonical(&forged).unwrap(), &parents).unwrap_err();
            assert!(expected.contains(&error.code()), "{}: {error}", error.code());
        }
        let orphan = &lineage[lineage.len() - 1];
        if orphan.hop > 1 {
            let error = Envelope::import(orphan.canonical_bytes(), &[]).unwrap_err();
            assert_eq!(error.code(), "parent-unknown");
        }
    });
}

fn break_a_rule(rng: &mut Rng, envelope: &mut Value) -> Option<&'static [&'static str]> {
    match rng.u8(..5) {
        0 => {
            envelope["task"]["intent"] = json!("something else");
            Some(&["intent-changed"])
        }
        1 => {
            let inherited = |c: &Value| c["scope"] == "lineage" && c["since"] != envelope["id"];
            let constraints = envelope["constraints"].as_array().unwrap().clone();
            let index = constraints.iter().position(inherited)?;
            envelope["constraints"].as_array_mut().unwrap().remove(index);
            Some(&["constraint-dropped"])
        }
        2 => {
            envelope["hop"] = json!(envelope["hop"].as_u64().unwrap() + 1);
            Some(&["hop-wrong", "envelope-invalid"])
        }
        3 => {
            let old = |entry: &Value| entry["hop"] != envelope["hop"];
            let index = envelope["history"].as_array().unwrap().iter().position(old)?;
            envelope["history"].as_array_mut().unwrap().remove(index);
            Some(&["dropped"])
        }
        _ => {
            envelope["parents"][0]["digest"] = json!(Digest::of(&[b"other"]));
            Some(&["parent-replaced"])
        }
    }
}
