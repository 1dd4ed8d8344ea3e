//! Files that are YAML only after they were rendered.

use super::{Change, FilePath, check, file, refuses};
use crate::surgery::{operate, operate_line};

const TEMPLATE: &str = "\
kind: Deployment
{{- if .Values.on }}
spec:
  replicas: 3 # three
  name: \"web\"
  image: {{ .Values.image }}
  args:
    - a
  - key: x
    value: y
{{- end }}
";

#[test]
fn a_template_is_not_yaml() {
    refuses(
        TEMPLATE,
        "set kind \"X\"",
        "kind cannot be changed in app.yaml: the file has template actions ({{ }}) in it, so that it is not YAML; edit the \
         template by hand",
    );
}

#[test]
fn a_template_that_looks_like_yaml_is_known_by_its_place() {
    let file = FilePath::new("chart/templates/web.yaml").unwrap();
    let cuts = super::cuts("set a \"x\"");
    assert!(operate(&file, "a: \"{{ .Values.a }}\"\n", &cuts).is_err());
    assert!(operate(&file, "a: 1\n", &cuts).is_ok());
}

#[test]
fn braces_in_strings_are_no_template() {
    check("a: '{{ name }}'\nb: 1\n", "set b 2", "a: '{{ name }}'\nb: 2\n");
}

fn line(number: u32, key: &str, change: Change) -> String {
    match operate_line(&file(), TEMPLATE, number, key, &change) {
        Ok(text) => text,
        Err(error) => error.to_string(),
    }
}

fn set(value: impl Into<lynceus_object::Value>) -> Change {
    Change::Set(value.into())
}

#[test]
fn a_line_of_a_template_is_changed() {
    assert_eq!(line(4, "replicas", set(5)), TEMPLATE.replace("3 # three", "5 # three"));
    assert_eq!(line(5, "name", set("app")), TEMPLATE.replace("\"web\"", "\"app\""));
    assert_eq!(line(9, "key", set("z")), TEMPLATE.replace("key: x", "key: z"));
    assert_eq!(line(4, "replicas", Change::Remove), TEMPLATE.replace("  replicas: 3 # three\n", ""));
}

#[test]
fn a_line_that_is_not_just_a_field_is_refused() {
    for (number, key, change, problem) in [
        (6, "image", set("x"), "the line has a template action in it"),
        (2, "if", set("x"), "the line has a template action in it"),
        (4, "name", set("x"), "the line is not a single \"name: value\""),
        (7, "args", set("x"), "the line is not a single \"args: value\""),
        (8, "a", set("x"), "the line is not a single \"a: value\""),
        (9, "key", Change::Remove, "the line is not a single \"key: value\""),
        (40, "key", set("x"), "the file has no line 40"),
        (
            4,
            "replicas",
            set("a\nb"),
            "the text is written in a way that cannot be changed safely; edit it by hand",
        ),
    ] {
        let expected = format!("{key} cannot be changed in app.yaml:{number}: {problem}");
        assert_eq!(line(number, key, change), expected);
    }
}

#[test]
fn a_value_that_may_go_on_below_is_refused() {
    let told = operate_line(&file(), "a: x\n  y\n", 1, "a", &set(1)).unwrap_err().to_string();
    assert_eq!(told, "a cannot be changed in app.yaml:1: what stands below may belong to the value");
}
