//! Reading and writing lose nothing, known or not.

use fastrand::Rng;
use serde_json::{Value, json};
use spine_protocol::*;

use crate::random::*;

#[test]
fn parse_then_write_is_the_identity_with_random_unknown_fields() {
    property("parse ∘ write", 1_000, |rng| {
        let mut value = root(rng).to_value().unwrap();
        let mut planted = Vec::new();
        plant(rng, &mut value, "", &mut planted);
        value["digest"] = json!(digest_of(&value).unwrap());
        let written = json::canonical(&value).unwrap();
        let loose = serde_json::to_vec_pretty(&value).unwrap();
        let read = Envelope::read(&loose).unwrap();
        assert_eq!(read.canonical_bytes(), written);
        // The typed view has them, too: that is what a child inherits from.
        let typed = Body::to_value(&read).unwrap();
        for pointer in planted {
            let (was, is) = (value.pointer(&pointer).unwrap(), typed.pointer(&pointer));
            assert_eq!(is.map(canonical), Some(canonical(was)), "{pointer}");
        }
    });
}

fn canonical(value: &Value) -> Vec<u8> {
    json::canonical(value).unwrap()
}

/// A field nobody knows, in every object of the envelope itself. The values of constraints and the expected
/// schema are the users' own: they are carried whole anyway.
fn plant(rng: &mut Rng, value: &mut Value, pointer: &str, planted: &mut Vec<String>) {
    match value {
        Value::Object(members) => {
            for (name, member) in
                members.iter_mut().filter(|(name, _)| !["value", "schema"].contains(&name.as_str()))
            {
                plant(rng, member, &format!("{pointer}/{name}"), planted);
            }
            let name = format!("x_{}", rng.u32(..));
            planted.push(format!("{pointer}/{name}"));
            members.insert(name, crate::random::value(rng, 2));
        }
        Value::Array(items) => {
            for (index, item) in items.iter_mut().enumerate() {
                plant(rng, item, &format!("{pointer}/{index}"), planted);
            }
        }
        _ => {}
    }
}

#[test]
fn unknown_fields_are_inside_the_digest() {
    property("unknown fields", 200, |rng| {
        let mut value = root(rng).to_value().unwrap();
        plant(rng, &mut value, "", &mut Vec::new());
        let error = Envelope::read(&canonical(&value)).unwrap_err();
        assert_eq!((error.pointer.as_str(), error.code), ("/digest", "envelope-altered"));
    });
}

#[test]
fn a_childs_inherited_entries_keep_their_unknown_fields() {
    property("inherited unknown fields", 200, |rng| {
        let mut value = root(rng).to_value().unwrap();
        for list in ["constraints", "history"] {
            for entry in value[list].as_array_mut().unwrap() {
                entry["x_note"] = json!("kept");
            }
        }
        value["digest"] = json!(digest_of(&value).unwrap());
        let parent = Envelope::read(&canonical(&value)).unwrap();
        let mut plain = request(rng);
        plain.constraints.clear();
        plain.history.clear();
        let next = derive(std::slice::from_ref(&parent), plain, stamp(rng, 1));
        let next = next.unwrap().seal(Packing::default()).unwrap().to_value().unwrap();
        for entry in next["history"]
            .as_array()
            .unwrap()
            .iter()
            .chain(next["constraints"].as_array().unwrap())
        {
            assert_eq!(entry["x_note"], "kept");
        }
    });
}
