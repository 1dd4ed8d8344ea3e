//! The field `crds`: what the schemas of custom kinds say about their fields that name other resources.

use std::collections::BTreeMap;

use lynceus_object::{Str, Value, yaml};

use crate::error::KustomizeError;
use crate::fieldspec::FieldSpec;
use crate::id::Kind;

/// What transformers are to do with the fields of custom kinds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct CrdFields {
    /// Fields that hold annotations.
    pub(crate) annotations: Vec<FieldSpec>,
    /// Fields that hold labels.
    pub(crate) labels: Vec<FieldSpec>,
    /// Fields that hold a name that gets a prefix.
    pub(crate) prefixes: Vec<FieldSpec>,
    /// Fields that hold the name of a resource of the kind.
    pub(crate) references: Vec<(Kind, Vec<FieldSpec>)>,
}

/// Reads a file of `crds`: a map from the names of types to their OpenAPI definitions.
pub(crate) fn read_crds(path: &str, text: &[u8]) -> Result<CrdFields, KustomizeError> {
    let wrong = |why: &dyn std::fmt::Display| {
        KustomizeError::new(format!("unable to parse open API definition from '{path}': {why}"))
    };
    if text.is_empty() {
        return Err(wrong(&"the file is empty"));
    }
    let types = yaml::parse(text).map_err(|error| wrong(&error))?;
    check_types(&types).map_err(|why| {
        wrong(&why)
            .hint("`crds` is for OpenAPI definitions; list a CustomResourceDefinition under `resources`")
    })?;
    let mut found = CrdFields::default();
    for (name, api) in types.as_map().into_iter().flat_map(|types| types.iter()) {
        let properties = properties(api);
        if ["kind", "apiVersion", "metadata"].iter().all(|field| properties.contains_key(*field)) {
            let kind = name.rsplit('.').next().unwrap_or_default();
            let kind = Kind { kind: kind.into(), ..Kind::default() };
            Search { types: &types, kind, found: &mut found, path: Vec::new() }.type_(name)?;
        }
    }
    Ok(found)
}

/// Fails where Go could not read definitions: everything down to the properties has to be a map.
fn check_types(types: &Value) -> Result<(), String> {
    let wrong = |value: &Value, wanted: &str| {
        format!("json: cannot unmarshal {} into Go value of type {wanted}", value.type_name())
    };
    let map = |value: &Value, wanted: &str| match value {
        Value::Map(_) | Value::Null => Ok(()),
        other => Err(wrong(other, wanted)),
    };
    map(types, "accumulator.nameToApiMap")?;
    for api in types.as_map().into_iter().flat_map(|types| types.values()) {
        map(api, "accumulator.OpenAPIDefinition")?;
        schema(api).map_or(Ok(()), |schema| map(schema, "spec.Schema"))?;
        for property in properties(api).values() {
            map(property, "spec.Schema")?;
        }
    }
    Ok(())
}

struct Search<'a> {
    types: &'a Value,
    kind: Kind,
    found: &'a mut CrdFields,
    path: Vec<Str>,
}

impl Search<'_> {
    fn type_(&mut self, name: &str) -> Result<(), KustomizeError> {
        if self.path.len() > crate::limits::MAX_DEPTH {
            return Err(KustomizeError::new(format!("the type {name} of a custom kind contains itself")));
        }
        let types = self.types;
        let Some(api) = types.get(name) else { return Ok(()) };
        for (field, property) in properties(api) {
            self.path.push(field.into());
            self.property(property)?;
            self.path.pop();
        }
        Ok(())
    }

    fn property(&mut self, property: &Value) -> Result<(), KustomizeError> {
        let has = |name: &str| extension(property, name).is_some();
        let here = self.spec(None);
        if has("x-kubernetes-annotation") {
            add(&mut self.found.annotations, here.clone());
        }
        if has("x-kubernetes-label-selector") {
            add(&mut self.found.labels, here.clone());
        }
        if has("x-kubernetes-identity") {
            add(&mut self.found.prefixes, here);
        }
        let version = extension(property, "x-kubernetes-object-ref-api-version");
        let kind = extension(property, "x-kubernetes-object-ref-kind");
        if let (Some(version), Some(kind)) = (version, kind) {
            let name = extension(property, "x-kubernetes-object-ref-name-key").unwrap_or("name");
            let referrer = self.spec(Some(name));
            let kind = Kind { group: Str::new(), version: version.into(), kind: kind.into() };
            match self.found.references.iter_mut().find(|(known, _)| *known == kind) {
                Some((_, referrers)) => add(referrers, referrer),
                None => self.found.references.push((kind, vec![referrer])),
            }
        }
        match property.str_at(&["$ref"]) {
            Some(name) => self.type_(name),
            None => Ok(()),
        }
    }

    fn spec(&self, last: Option<&str>) -> FieldSpec {
        let steps: Vec<&str> = self.path.iter().map(Str::as_str).chain(last).collect();
        FieldSpec { kind: self.kind.clone(), path: steps.join("/").into(), create: false }
    }
}

fn add(list: &mut Vec<FieldSpec>, spec: FieldSpec) {
    if !list.contains(&spec) {
        list.push(spec);
    }
}

/// The schema of a type. Names of fields count without regard to case, as in Go.
fn schema(api: &Value) -> Option<&Value> {
    api.get("Schema").or_else(|| api.get("schema"))
}

fn properties(api: &Value) -> BTreeMap<&str, &Value> {
    let properties = schema(api).and_then(|schema| schema.get("properties")).and_then(Value::as_map);
    properties.into_iter().flat_map(|map| map.iter()).map(|(name, value)| (name.as_str(), value)).collect()
}

fn extension<'v>(property: &'v Value, name: &str) -> Option<&'v str> {
    property.str_at(&[name])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn extensions_tell_which_fields_name_something() {
        let text = br##"{
          "example.com/v1.Bee": {
            "Schema": {"properties": {
              "apiVersion": {"type": "string"}, "kind": {"type": "string"},
              "metadata": {"$ref": "k8s.io/meta/v1.ObjectMeta"},
              "spec": {"$ref": "example.com/v1.BeeSpec"}
            }}
          },
          "example.com/v1.BeeSpec": {
            "Schema": {"properties": {
              "action": {"type": "string"},
              "secretRef": {
                "x-kubernetes-object-ref-api-version": "v1", "x-kubernetes-object-ref-kind": "Secret",
                "$ref": "example.com/v1.Ref"
              },
              "target": {"x-kubernetes-label-selector": "", "x-kubernetes-annotation": "", "x-kubernetes-identity": ""}
            }}
          },
          "example.com/v1.Ref": {"Schema": {"properties": {"name": {"type": "string"}}}}
        }"##;
        let found = read_crds("crd.json", text).unwrap();
        let spec = |path: &str| FieldSpec {
            kind: Kind { kind: "Bee".into(), ..Kind::default() },
            path: path.into(),
            create: false,
        };
        let secret = Kind { group: Str::new(), version: "v1".into(), kind: "Secret".into() };
        assert_eq!(found.references, [(secret, vec![spec("spec/secretRef/name")])]);
        assert_eq!(found.labels, [spec("spec/target")]);
        assert_eq!(found.annotations, [spec("spec/target")]);
        assert_eq!(found.prefixes, [spec("spec/target")]);
    }

    #[test]
    fn what_is_no_definition_is_an_error() {
        let error = read_crds("crd.yaml", b"- a").unwrap_err();
        assert!(error.message.starts_with("unable to parse open API definition from 'crd.yaml'"));
    }

    #[test]
    fn a_custom_resource_definition_does_not_belong_here() {
        let text =
            b"apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: a}\n";
        let error = read_crds("crd.yaml", text).unwrap_err();
        assert_eq!(
            error.message,
            "unable to parse open API definition from 'crd.yaml': json: cannot unmarshal string into Go value of type \
             accumulator.OpenAPIDefinition"
        );
    }
}
