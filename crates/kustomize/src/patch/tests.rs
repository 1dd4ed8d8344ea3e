use lynceus_object::value;

use super::{JsonPatch, Patch, PatchOptions, apply_patches, apply_strategic_patches};
use crate::error::KustomizeError;
use crate::fixture::{load, print, resources};
use crate::record::{Decode, Mode};
use crate::schema::Schema;
use crate::selector::Selector;
use crate::transformers;

const TWO: &str = "\
apiVersion: v1
data:
  k: v
kind: ConfigMap
metadata:
  labels:
    app: web
  name: one
---
apiVersion: v1
kind: ConfigMap
metadata:
  name: two
  namespace: shop
";

fn target(value: lynceus_object::Value) -> Option<Selector> {
    Some(transformers::selector(&Decode::decode(&value, Mode::Strict).unwrap()))
}

fn applied(text: &str, patch: Result<Patch, KustomizeError>) -> Result<String, String> {
    let mut resources = resources(text);
    let patch = patch.map_err(|error| error.message)?;
    apply_patches(&[patch], &mut resources, &Schema::new()).map_err(|error| error.message)?;
    Ok(print(&resources))
}

fn inline(text: &str, target: Option<Selector>) -> Result<Patch, KustomizeError> {
    Patch::inline(text, target, PatchOptions::default(), load)
}

#[test]
fn a_strategic_patch_finds_what_it_names() {
    let patch = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: two, namespace: shop}\ndata: {x: y}\n";
    let expected = TWO.replace("---\napiVersion: v1\n", "---\napiVersion: v1\ndata:\n  x: \"y\"\n");
    assert_eq!(applied(TWO, inline(patch, None)), Ok(expected));
}

#[test]
fn a_strategic_patch_without_its_resource_is_an_error() {
    let patch = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: three}\n";
    let id = "ConfigMap.v1.[noGrp]/three.[noNs]";
    assert_eq!(
        applied(TWO, inline(patch, None)),
        Err(format!(
            "no resource matches strategic merge patch \"{id}\": no matches for Id {id}; failed to find unique target \
             for patch {id}"
        ))
    );
}

#[test]
fn names_and_namespaces_stay_unless_the_patch_may_change_them() {
    let patch = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: other, namespace: other}\n";
    let selected = || target(value!({"name": "one"}));
    assert_eq!(applied(TWO, inline(patch, selected())), Ok(TWO.to_owned()));
    let options = PatchOptions { allow_name_change: true, allow_kind_change: false };
    let renamed = applied(TWO, Patch::inline(patch, selected(), options, load));
    assert_eq!(renamed, Ok(TWO.replace("name: one", "name: other")));
}

#[test]
fn renaming_to_a_name_that_is_taken_is_an_error() {
    let patch = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: same}\n";
    let options = PatchOptions { allow_name_change: true, allow_kind_change: false };
    let text = TWO.replace("\n  namespace: shop", "");
    assert_eq!(
        applied(&text, Patch::inline(patch, target(value!({"kind": "ConfigMap"})), options, load)),
        Err("may not add resource with an already registered id: ConfigMap.v1.[noGrp]/same.[noNs]".to_owned())
    );
}

#[test]
fn with_a_target_a_null_label_is_its_text() {
    let patch = "kind: ConfigMap\nmetadata:\n  name: x\n  labels: {app: null, version: 1.10}\n";
    let expected = TWO.replace("app: web", "app: \"null\"\n    version: \"1.10\"");
    assert_eq!(applied(TWO, inline(patch, target(value!({"name": "one"})))), Ok(expected));
}

#[test]
fn a_patch_may_delete_a_resource() {
    let patch = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: one}\n$patch: delete\n";
    let expected = TWO.split_once("---\n").unwrap().1.to_owned();
    assert_eq!(applied(TWO, inline(patch, None)), Ok(expected));
}

#[test]
fn operations_are_read_from_yaml_and_from_json() {
    let expected = TWO.replacen("k: v", "k: w", 1);
    for patch in [
        "- {op: replace, path: /data/k, value: w}",
        "[{\"op\": \"replace\", \"path\": \"/data/k\", \"value\": \"w\"}]",
    ] {
        assert_eq!(applied(TWO, inline(patch, target(value!({"name": "one"})))), Ok(expected.clone()));
    }
}

#[test]
fn operations_find_annotations_where_there_are_none() {
    let patch = "- {op: add, path: /metadata/annotations/a, value: 1000000}\n";
    let expected =
        TWO.replace("metadata:\n  labels", "metadata:\n  annotations:\n    a: \"1e+06\"\n  labels");
    assert_eq!(applied(TWO, inline(patch, target(value!({"name": "one"})))), Ok(expected));
}

#[test]
fn operations_need_a_target() {
    let patch = "- {op: remove, path: /data}";
    assert_eq!(
        applied(TWO, inline(patch, None)),
        Err("must specify a target for JSON patch [patch in the kustomization]".to_owned())
    );
}

#[test]
fn what_is_neither_sort_of_patch_is_an_error() {
    let error = Patch::file("p.yaml", "a: b", None, PatchOptions::default(), load).unwrap_err();
    assert_eq!(error.message, "unable to parse SM or JSON patch from [path: \"p.yaml\"]");
}

#[test]
fn several_patches_may_not_have_one_target() {
    let patch = "kind: A\nmetadata: {name: a}\n---\nkind: B\nmetadata: {name: b}\n";
    let error = applied(TWO, inline(patch, target(value!({})))).unwrap_err();
    assert!(error.starts_with("Multiple Strategic-Merge Patches in one `patches` entry"), "{error}");
}

#[test]
fn patches_of_one_field_come_one_after_the_other() {
    let one = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: one}\ndata: {a: b}\n";
    let patches = load(&format!("{one}---\n{}", one.replace("a: b", "c: d"))).unwrap();
    let mut resources = resources(TWO);
    apply_strategic_patches(&patches, &mut resources, &Schema::new()).unwrap();
    assert_eq!(print(&resources), TWO.replace("data:\n  k: v", "data:\n  a: b\n  c: d\n  k: v"));
}

#[test]
fn patches_json6902_need_a_name_and_operations() {
    let read = |target, text: &str| JsonPatch::read(target, None, text).map_err(|error| error.message);
    assert_eq!(read(None, "[]").unwrap_err(), "must specify the target name");
    let named = || target(value!({"name": "one"}));
    assert_eq!(read(named(), "").unwrap_err(), "empty file path and empty jsonOp");
    assert_eq!(read(named(), "[]").unwrap_err(), "patch appears to be empty; file=");
    let patch = read(named(), "- {op: remove, path: /data}").unwrap();
    let mut resources = resources(TWO);
    patch.apply(&mut resources, &Schema::new()).unwrap();
    assert_eq!(print(&resources), TWO.replace("data:\n  k: v\n", ""));
}
