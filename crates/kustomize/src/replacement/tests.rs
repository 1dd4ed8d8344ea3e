use lynceus_object::yaml;

use super::apply_replacements;
use crate::fixture::{print, resources};
use crate::record::{Decode, Mode};
use crate::schema::Schema;
use crate::transformers;

const TEXT: &str = "\
apiVersion: v1
data:
  host: h.example.com
  port: \"8080\"
kind: ConfigMap
metadata:
  name: source
numbers:
  version: 1.10
---
apiVersion: v1
data:
  c.json: '{\"b\":\"x\",\"a\":{\"host\":\"old\",\"port\":1}}'
  c.yaml: |-
    # settings
    z: 'old' # here
    a: 1
  url: http://old:80/path
kind: ConfigMap
metadata:
  name: target
spec:
  list:
  - name: web
    port: 1
  - name: web-side
    port: 2
";

fn replaced(replacement: &str) -> Result<String, String> {
    let written = Decode::decode(&yaml::parse_str(replacement).unwrap(), Mode::Strict).unwrap();
    let replacements = [transformers::replacement(&written)];
    let mut resources = resources(TEXT);
    apply_replacements(&replacements, &mut resources, &Schema::new()).map_err(|error| error.message)?;
    Ok(print(&resources).split_once("---\n").unwrap().1.to_owned())
}

/// Copies one field to one other, and looks for a line of the result.
fn check(from: &str, to: &str, options: &str, expected: &str) {
    let text = format!(
        "source: {{name: source, fieldPath: {from}}}\ntargets:\n- select: {{name: target}}\n  fieldPaths: ['{to}']\n  \
         options: {{{options}}}\n"
    );
    let printed = replaced(&text).unwrap();
    assert!(printed.contains(expected), "{to}: {printed}");
}

fn fails(text: &str, expected: &str) {
    assert_eq!(replaced(text), Err(expected.to_owned()));
}

#[test]
fn a_field_gets_the_text_and_keeps_its_type() {
    check("data.port", "spec.list.0.port", "", "port: 8080\n");
    check("data.port", "data.url", "", "url: \"8080\"\n");
    check("numbers.version", "data.url", "", "url: \"1.10\"\n");
}

#[test]
fn what_is_made_gets_the_type_that_the_text_has() {
    check("data.port", "spec.new.port", "create: true", "new:\n    port: 8080\n");
    check("data.port", "spec.items.[name=a].port", "create: true", "items:\n  - name: a\n    port: 8080\n");
}

#[test]
fn parts_between_delimiters_are_replaced_or_added() {
    check("data.host", "data.url", "delimiter: /, index: 2", "url: http://h.example.com/path\n");
    check("data.host", "data.url", "delimiter: /, index: -1", "url: h.example.com/http://old:80/path\n");
    check("data.host", "data.url", "delimiter: /, index: 9", "url: http://old:80/path/h.example.com\n");
}

#[test]
fn items_are_found_by_an_expression_for_a_part_of_their_key() {
    check("data.port", "spec.list.[name=web].port", "", "port: 8080\n  - name: web-side\n    port: 8080\n");
    check("data.port", "spec.list.[name=^web$].port", "", "port: 8080\n  - name: web-side\n    port: 2\n");
    check("data.port", "spec.list.*.port", "", "port: 8080\n  - name: web-side\n    port: 8080\n");
}

#[test]
fn fields_inside_of_json_and_yaml_are_set() {
    let json = "c.json: '{\"a\":{\"host\":\"h.example.com\",\"port\":1},\"b\":\"x\"}'\n";
    check("data.host", r"data.c\.json.a.host", "", json);
    check("data.host", "data.[c.yaml].z", "", "    # settings\n    z: 'h.example.com' # here\n    a: 1\n");
}

#[test]
fn a_value_may_stand_in_the_replacement_itself() {
    let text = "sourceValue: '5'\ntargets: [{select: {name: target}, fieldPaths: [spec.list.0.port]}]";
    assert!(replaced(text).unwrap().contains("port: 5\n"));
}

#[test]
fn rejected_resources_stay_as_they_are() {
    let text = "sourceValue: x\ntargets: [{select: {kind: ConfigMap}, reject: [{name: target}], fieldPaths: [data.host]}]";
    assert_eq!(replaced(text).unwrap(), TEXT.split_once("---\n").unwrap().1);
}

#[test]
fn what_is_not_there_is_an_error() {
    fails(
        "source: {name: source, fieldPath: data.none}\ntargets: [{select: {name: target}}]",
        "fieldPath `data.none` is missing for replacement source [noKind].[noVer].[noGrp]/source.[noNs]",
    );
    fails(
        "source: {name: nobody}\ntargets: [{select: {name: target}}]",
        "nothing selected by [noKind].[noVer].[noGrp]/nobody.[noNs]",
    );
    fails(
        "source: {kind: ConfigMap}\ntargets: [{select: {name: target}}]",
        "multiple matches for selector ConfigMap.[noVer].[noGrp]/[noName].[noNs]",
    );
    fails(
        "source: {name: source}\ntargets: [{select: {name: target}, fieldPaths: [spec.none]}]",
        "unable to find field \"spec.none\" in replacement target",
    );
    fails(
        "source: {name: source}\ntargets: [{select: {name: target}, fieldPaths: [spec.list.7.port]}]",
        "unable to find field \"spec.list.7.port\" in replacement target: index 7 specified but only 2 elements found",
    );
    fails(
        "source: {name: source}\ntargets: []",
        "replacements must specify a source and at least one target",
    );
    fails("source: {name: source}\ntargets: [{fieldPaths: [a]}]", "target must specify resources to select");
}

#[test]
fn a_number_does_not_become_a_word() {
    fails(
        "source: {name: source}\ntargets: [{select: {name: target}, fieldPaths: [spec.list.0.port]}]",
        "cannot decode !!str as a !!int",
    );
}
