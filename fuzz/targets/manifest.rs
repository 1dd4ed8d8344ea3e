//! A manifest of which only the head is read: the same head, or the same error, as if all of it had been read.
#![no_main]

use libfuzzer_sys::fuzz_target;
use lynceus_object::yaml::{self, Fields, Wanted};
use lynceus_object::{Map, Value};

struct Head;
struct Metadata;

impl Fields for Head {
    fn wanted(&self, key: &str) -> Option<Wanted<'_>> {
        match key {
            "apiVersion" | "kind" => Some(Wanted::All),
            "metadata" => Some(Wanted::Fields(&Metadata)),
            _ => None,
        }
    }
}

impl Fields for Metadata {
    fn wanted(&self, key: &str) -> Option<Wanted<'_>> {
        matches!(key, "name" | "annotations").then_some(Wanted::All)
    }
}

fn only(value: Value, fields: &dyn Fields) -> Value {
    let Value::Map(map) = value else { return value };
    let kept = map.into_iter().filter_map(|(key, value)| match fields.wanted(&key)? {
        Wanted::All => Some((key, value)),
        Wanted::Fields(inner) => Some((key, only(value, inner))),
    });
    Value::Map(kept.collect::<Map>())
}

fuzz_target!(|data: &[u8]| {
    let told = |read: Result<Value, yaml::Error>| format!("{read:?}");
    let whole = yaml::parse(data).map(|value| only(value, &Head));
    assert_eq!(told(yaml::parse_only(data, &Head)), told(whole));
});
