//! Fields to change that are told by the descriptions of types in the files of `crds`.

use std::collections::BTreeMap;

use lynceus_object::yaml::{self, Options};
use lynceus_object::{Str, Value};

use crate::config::{Config, NameReference};
use crate::error::KustomizeError;
use crate::fieldspec::{FieldSpec, FieldSpecs};
use crate::id::Kind;
use crate::limits::MAX_DEPTH;
use crate::settings;

/// The fields that the types of one file tell.
pub(crate) fn read(text: &[u8]) -> Result<Config, KustomizeError> {
    let types = yaml::parse_with(text, &Options::default())
        .map_err(|error| KustomizeError::new(error.to_string()))?;
    let types = match types {
        Value::Null => return Ok(Config::default()),
        Value::Map(map) => map,
        other => {
            let words = format!("cannot unmarshal {} into descriptions of types", other.type_name());
            return Err(KustomizeError::new(words));
        }
    };
    let types: BTreeMap<Str, Value> = types.into_iter().collect();
    let mut config = Config::default();
    for (name, description) in &types {
        let is_object = ["kind", "apiVersion", "metadata"]
            .iter()
            .all(|field| properties(description).get(field).is_some());
        if !is_object {
            continue;
        }
        let kind = name.rsplit('.').next().unwrap_or_default();
        let kind = Kind { kind: kind.into(), ..Kind::default() };
        let mut found = Found { types: &types, kind, config: Config::default() };
        found.look(name, &mut Vec::new())?;
        config = config.merged(&found.config)?;
    }
    Ok(config)
}

/// The properties of a type.
fn properties(description: &Value) -> &Value {
    let schema = settings::field(description, "Schema").unwrap_or(&Value::Null);
    schema.get("properties").unwrap_or(&Value::Null)
}

/// What was found of one kind.
struct Found<'a> {
    types: &'a BTreeMap<Str, Value>,
    kind: Kind,
    config: Config,
}

impl Found<'_> {
    fn look(&mut self, type_name: &str, path: &mut Vec<Str>) -> Result<(), KustomizeError> {
        if path.len() > MAX_DEPTH {
            return Err(KustomizeError::new(format!("the type {type_name} contains itself")));
        }
        let types = self.types;
        let Some(properties) = types.get(type_name).and_then(|found| properties(found).as_map()) else {
            return Ok(());
        };
        for (name, property) in properties.iter() {
            path.push(name.clone());
            self.note(property, path)?;
            if let Some(reference) = property.str_at(&["$ref"]) {
                self.look(reference, path)?;
            }
            path.pop();
        }
        Ok(())
    }

    fn note(&mut self, property: &Value, path: &[Str]) -> Result<(), KustomizeError> {
        let told =
            |name: &str| settings::field(property, &format!("x-kubernetes-{name}")).and_then(Value::as_str);
        let spec = |more: Option<&str>| {
            let steps: Vec<&str> = path.iter().map(Str::as_str).chain(more).collect();
            FieldSpec { kind: self.kind.clone(), path: steps.join("/").into(), create: false }
        };
        for (mark, specs) in [
            ("annotation", &mut self.config.common_annotations),
            ("label-selector", &mut self.config.common_labels),
            ("identity", &mut self.config.name_prefix),
        ] {
            if told(mark).is_some() {
                *specs = specs.merged(&FieldSpecs::new(vec![spec(None)]))?;
            }
        }
        if let (Some(version), Some(kind)) = (told("object-ref-api-version"), told("object-ref-kind")) {
            let name = told("object-ref-name-key").unwrap_or("name");
            self.config.add_name_reference(NameReference {
                target: Kind { version: version.into(), kind: kind.into(), ..Kind::default() },
                referrers: vec![spec(Some(name))],
            })?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_of_properties_become_fields_to_change() {
        let file = br#"{
            "example.com/v1.Bee": {"Schema": {"properties": {
                "kind": {}, "apiVersion": {}, "metadata": {},
                "spec": {"$ref": "example.com/v1.BeeSpec"}
            }}},
            "example.com/v1.BeeSpec": {"Schema": {"properties": {
                "beeRef": {"x-kubernetes-object-ref-api-version": "v1beta1", "x-kubernetes-object-ref-kind": "Bee"},
                "selector": {"x-kubernetes-label-selector": ""},
                "note": {"x-kubernetes-annotation": ""},
                "id": {"x-kubernetes-identity": ""}
            }}}
        }"#;
        let config = read(file).unwrap();
        let paths =
            |specs: &FieldSpecs| specs.specs().iter().map(|spec| spec.path.to_string()).collect::<Vec<_>>();
        assert_eq!(paths(&config.common_labels), ["spec/selector"]);
        assert_eq!(paths(&config.common_annotations), ["spec/note"]);
        assert_eq!(paths(&config.name_prefix), ["spec/id"]);
        let reference = &config.name_reference[0];
        assert_eq!(reference.target.to_string(), "Bee.v1beta1.[noGrp]");
        assert_eq!(reference.referrers[0].path, "spec/beeRef/name");
    }

    #[test]
    fn a_type_that_contains_itself_is_an_error() {
        let file = b"a.A: {Schema: {properties: {kind: {}, apiVersion: {}, metadata: {}, x: {$ref: a.A}}}}";
        assert!(read(file).unwrap_err().message.contains("contains itself"));
    }
}
