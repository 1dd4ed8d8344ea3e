use lynceus_object::{Object, Value, value};

use super::*;

fn definition(spec_schema: Value) -> Object {
    Object::new(value!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": "tests.example.com"},
        "spec": {"group": "example.com", "scope": "Namespaced", "names": {"plural": "tests", "kind": "Test"},
            "versions": [{"name": "v1", "served": true, "storage": true,
                "schema": {"openAPIV3Schema": {"type": "object", "properties": {"spec": spec_schema}}}}]}}))
    .unwrap()
}

fn check(mut definition: Object, expected: &[&str]) {
    default(&mut definition);
    prepare(&mut definition, None, "");
    let found: Vec<String> = validate(&definition, None).iter().map(ToString::to_string).collect();
    assert_eq!(found, expected);
}

fn with(path: &[&str], value: impl Into<Value>) -> Object {
    let mut out = definition(value!({"type": "object"}));
    out.set(path, value);
    out
}

#[test]
fn a_plain_definition_is_fine() {
    check(
        definition(value!({"type": "object", "properties": {"n": {"type": "integer", "default": 1}}})),
        &[],
    );
}

#[test]
fn names_have_to_agree() {
    check(
        with(&["metadata", "name"], "other.example.com"),
        &["metadata.name: Invalid value: \"other.example.com\": must be spec.names.plural+\".\"+spec.group"],
    );
    check(
        with(&["spec", "scope"], "Global"),
        &["spec.scope: Unsupported value: \"Global\": supported values: \"Cluster\", \"Namespaced\""],
    );
    check(
        with(&["spec", "names", "shortNames"], vec!["Bad"]),
        &[
            "spec.names.shortNames[0]: Invalid value: \"Bad\": a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')",
        ],
    );
}

#[test]
fn a_schema_has_to_be_structural() {
    check(
        definition(value!({"properties": {"a": {"type": "array"}}})),
        &[
            "spec.validation.openAPIV3Schema.properties[spec].properties[a].items: Required value: must be specified",
            "spec.validation.openAPIV3Schema.properties[spec].type: Required value: must not be empty for specified object fields",
        ],
    );
    let mut rooted = definition(value!({"type": "object"}));
    let versions = value!([{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": {"type": "object",
        "oneOf": [{"properties": {"b": {"type": "string"}}}]}}}]);
    rooted.set(&["spec", "versions"], versions);
    check(
        rooted,
        &[
            "spec.validation.openAPIV3Schema.oneOf[0].properties[b].type: Forbidden: must be empty to be structural",
            "spec.validation.openAPIV3Schema.properties[b]: Required value: because it is defined in spec.validation.openAPIV3Schema.oneOf[0].properties[b]",
        ],
    );
}

#[test]
fn list_types_need_their_keys() {
    check(
        definition(
            value!({"type": "array", "x-kubernetes-list-type": "map", "items": {"type": "object", "properties": {"n": {"type": "string"}}},
            "x-kubernetes-list-map-keys": ["n"]}),
        ),
        &[
            "spec.validation.openAPIV3Schema.properties[spec].items.properties[n].default: Required value: this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property",
        ],
    );
    check(
        definition(value!({"type": "object", "x-kubernetes-list-type": "set"})),
        &[
            "spec.validation.openAPIV3Schema.properties[spec].type: Invalid value: \"object\": must be array if x-kubernetes-list-type is specified",
        ],
    );
}

#[test]
fn defaults_have_to_be_valid() {
    check(
        definition(
            value!({"type": "object", "properties": {"n": {"type": "integer", "minimum": 1, "default": 0}}}),
        ),
        &[
            "spec.validation.openAPIV3Schema.properties[spec].properties[n].default: Invalid value: 0:  in body should be greater than or equal to 1",
        ],
    );
}

#[test]
fn rules_have_to_compile() {
    check(
        definition(value!({"type": "object", "properties": {"n": {"type": "integer"}},
            "x-kubernetes-validations": [{"rule": "self.m > 1"}]})),
        &[
            "spec.validation.openAPIV3Schema.properties[spec].x-kubernetes-validations[0].rule: Invalid value: {\"Rule\":\"self.m \\u003e 1\",\"Message\":\"\",\"MessageExpression\":\"\",\"Reason\":null,\"FieldPath\":\"\",\"OptionalOldSelf\":null}: compilation failed: ERROR: <input>:1:5: undefined field 'm'\n | self.m > 1\n | ....^",
        ],
    );
}

#[test]
fn one_version_is_stored() {
    let versions = value!([{"name": "v1", "served": true, "storage": false, "schema": {"openAPIV3Schema": {"type": "object"}}}]);
    let mut definition = with(&["spec", "versions"], versions);
    default(&mut definition);
    prepare(&mut definition, None, "");
    let found = validate(&definition, None);
    assert!(
        found.iter().any(|error| error.detail == "must have exactly one version marked as storage version"),
        "{found:?}"
    );
}

#[test]
fn what_is_established_cannot_be_renamed() {
    let mut old = definition(value!({"type": "object"}));
    default(&mut old);
    prepare(&mut old, None, "");
    old.set(&["status", "conditions"], value!([{"type": "Established", "status": "True"}]));
    old.set(&["metadata", "resourceVersion"], "1");
    let mut new = old.clone();
    new.set(&["spec", "scope"], "Cluster");
    let found: Vec<String> = validate(&new, Some(&old)).iter().map(ToString::to_string).collect();
    assert_eq!(found, ["spec.scope: Invalid value: \"Cluster\": field is immutable"]);
}
