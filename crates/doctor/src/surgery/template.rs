//! A change of the literal text of a template.
//!
//! A template is not YAML, but most of what it says of an object usually is. With its actions behind marks it can be read and changed
//! like any other file. Whether the change means what it should only rendering can tell, so that several are offered, the likeliest first.

use lynceus_object::yaml::Version;
use lynceus_object::{FieldPath, Value};

use super::anatomy::Kind;
use super::habits::Habits;
use super::mask::Mask;
use super::page::Page;
use super::plan::{self, Step};
use super::print::Printer;
use super::{Change, Cut, one, site};

/// A field of an object that a template prints.
pub struct Printed<'a> {
    /// The kind of the object.
    pub kind: &'a str,
    /// The field.
    pub path: &'a FieldPath,
    /// A line, from 1, that printed something of it, or of what holds it.
    pub line: usize,
}

/// The text of a template with a field of what it prints changed, in all ways that may do.
pub fn operate_template(text: &str, field: &Printed<'_>, change: &Change) -> Vec<String> {
    let Some(mask) = Mask::new(text, field.line) else { return Vec::new() };
    let page = Page::new(&mask.text);
    let Some(document) = page.documents.iter().rposition(|range| range.start <= mask.at) else {
        return Vec::new();
    };
    let said = page.said(Version::V2);
    let Some(Ok(value)) = said.get(document) else { return Vec::new() };
    let mut texts = Vec::new();
    for path in ways(value, field) {
        let cut = Cut { document, path, change: change.clone() };
        let Ok(plain) = one(&mask.text, &cut) else { continue };
        let before = before_others(&mask.text, value, &cut);
        // What an action prints next may be meant for what was last there.
        if is_before_mark(&mask.text, &plain) {
            texts.extend(before.into_iter().chain([plain]));
        } else {
            texts.extend([plain].into_iter().chain(before));
        }
    }
    let lifted = texts.iter().filter_map(|text| mask.lift(text));
    lifted.filter(|after| !says_twice(text, after)).collect()
}

/// Whether what was added is a key that the map has already, in a block that was left out this time: with another value of the condition
/// there would be two of it.
fn says_twice(before: &str, after: &str) -> bool {
    let (old, new): (Vec<&str>, Vec<&str>) = (before.lines().collect(), after.lines().collect());
    let at = old.iter().zip(&new).take_while(|(one, other)| one == other).count();
    let Some((column, key)) = new.get(at).and_then(|line| key_of(line)) else { return false };
    // A line that was changed is no new one.
    if new.len() <= old.len() {
        return false;
    }
    let is_same = |line: &&&str| key_of(line) == Some((column, key));
    let is_inside = |line: &&&str| key_of(line).is_none_or(|(own, _)| own >= column);
    let (above, below) = old.split_at(at);
    above.iter().rev().take_while(is_inside).any(|line| is_same(&line))
        || below.iter().take_while(is_inside).any(|line| is_same(&line))
}

/// Column and key of a line that has one. An item of a list begins where its dash is.
fn key_of(line: &str) -> Option<(usize, &str)> {
    let text = line.trim_start();
    if text.is_empty() || text.starts_with(['#', '{']) {
        return None;
    }
    let column = line.len() - text.len();
    let key = text.split_once(':').map_or("", |(key, _)| key);
    Some((column, key))
}

/// The field in a document of a template: the whole path in one that is an object, and its end in what others include.
fn ways(document: &Value, field: &Printed<'_>) -> Vec<FieldPath> {
    let segments = field.path.segments();
    match document.get("kind") {
        Some(kind) if kind.as_str() == Some(field.kind) => vec![field.path.clone()],
        Some(_) => Vec::new(),
        None => {
            let is_there = |from: &usize| segments[*from].get(document).is_some();
            let from = (0..segments.len()).filter(is_there);
            from.map(|from| segments[from..].iter().cloned().collect()).collect()
        }
    }
}

/// Whether what was added stands right before a mark of something that is further in. The end of a block is in no column.
fn is_before_mark(before: &str, after: &str) -> bool {
    let same = before.bytes().zip(after.bytes()).take_while(|(one, other)| one == other).count();
    let line = before.as_bytes()[..same].iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
    let lines = before.get(line..).unwrap_or_default();
    let is_at_end = before.as_bytes().get(same).is_none_or(|byte| *byte == b'\n');
    lines.lines().nth(usize::from(is_at_end)).is_some_and(|line| line.starts_with(' ') && Mask::is_mark(line))
}

/// One more field before the last or the first of those that are there.
fn before_others(text: &str, document: &Value, cut: &Cut) -> Vec<String> {
    let Ok(steps) = plan::plan(document, &cut.path, &cut.change) else { return Vec::new() };
    let [Step::Field(path, name, value)] = steps.as_slice() else { return Vec::new() };
    let page = Page::new(text);
    let Ok(root) = page.anatomy(cut.document) else { return Vec::new() };
    let Ok(map) = site::find(&page, &root, path) else { return Vec::new() };
    let Kind::Map { flow: false, entries } = &map.node.kind else { return Vec::new() };
    let habits = Habits::of(&page, &root);
    let printer = Printer { habits: &habits };
    let column = page.column(map.node.body);
    let lines: Vec<usize> = entries
        .iter()
        .map(|entry| entry.start)
        .filter(|start| page.starts_line(*start))
        .map(|start| above_comments(&page, page.line_start(start)))
        .collect();
    let mut places: Vec<usize> = lines.last().into_iter().chain(lines.first()).copied().collect();
    places.dedup();
    let field = printer.field(name, value, column);
    let field = format!("{}{field}{}", " ".repeat(column), habits.newline);
    places.into_iter().map(|at| format!("{}{field}{}", &text[..at], &text[at..])).collect()
}

/// The start of the comments above a line, which are about it. Marks are not.
fn above_comments(page: &Page<'_>, mut line: usize) -> usize {
    while let Some(before) = line.checked_sub(1).map(|end| page.line_start(end)) {
        let text = &page.text[before..line];
        if !text.trim_start().starts_with('#') || Mask::is_mark(text) {
            break;
        }
        line = before;
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;
    use lynceus_object::json;

    #[track_caller]
    fn check(text: &str, line: usize, path: &str, change: Option<&str>, expected: &[&str]) {
        let path = FieldPath::parse(path).unwrap();
        let change = match change {
            Some(value) => Change::Set(json::parse(value.as_bytes()).unwrap()),
            None => Change::Remove,
        };
        let field = Printed { kind: "Deployment", path: &path, line };
        assert_eq!(operate_template(text, &field, &change), expected);
    }

    #[test]
    fn a_field_is_added_at_the_end_of_what_holds_it() {
        check(
            "kind: Deployment\nspec:\n  replicas: {{ .Values.replicas }}\n  template:\n    spec:\n      containers:\n      - name: c\n        image: \"{{ .Values.image }}\"\n",
            6,
            "spec.template.spec.hostNetwork",
            Some("true"),
            &[
                "kind: Deployment\nspec:\n  replicas: {{ .Values.replicas }}\n  template:\n    spec:\n      containers:\n      - name: c\n        image: \"{{ .Values.image }}\"\n      hostNetwork: true\n",
                "kind: Deployment\nspec:\n  replicas: {{ .Values.replicas }}\n  template:\n    spec:\n      hostNetwork: true\n      containers:\n      - name: c\n        image: \"{{ .Values.image }}\"\n",
            ],
        );
    }

    #[test]
    fn nothing_gets_into_a_block_or_between_it_and_what_it_is_part_of() {
        let text = |more: &str, end: &str| {
            format!(
                "{{{{- if .Values.on }}}}\nkind: Deployment\nspec:\n{more}  containers:\n  - name: c\n    {{{{- with .Values.resources }}}}\n    resources:\n      {{{{- toYaml . | nindent 6 }}}}\n    {{{{- end }}}}\n{end}  {{{{- if .Values.host }}}}\n  hostNetwork: true\n  {{{{- else }}}}\n  dnsPolicy: Default\n  {{{{- end }}}}\n{{{{- end }}}}\n"
            )
        };
        let field = "  paused: true\n";
        check(&text("", ""), 4, "spec.paused", Some("true"), &[&text(field, ""), &text("", field)]);
    }

    #[test]
    fn a_key_that_a_block_may_print_is_not_said_twice() {
        let text = "kind: Deployment\nspec:\n  containers:\n  - name: c\n    {{- with .Values.inner }}\n    securityContext: {{ toYaml . }}\n    {{- end }}\n  {{- with .Values.outer }}\n  securityContext:\n    {{- toYaml . | nindent 4 }}\n  {{- end }}\n";
        check(text, 3, "spec.securityContext.runAsNonRoot", Some("true"), &[]);
        let other = text.replace("\n  securityContext:", "\n  affinity:");
        let field = Printed {
            kind: "Deployment",
            path: &FieldPath::parse("spec.securityContext.runAsNonRoot").unwrap(),
            line: 3,
        };
        let change = Change::Set(Value::Bool(true));
        assert!(!operate_template(&other, &field, &change).is_empty(), "that of a container is another one");
    }

    #[test]
    fn what_others_include_is_changed_by_the_end_of_the_path() {
        check(
            "{{- define \"other\" -}}\nspec: {}\n{{- end }}\n{{- define \"pod\" -}}\nspec:\n  containers: []\n{{- end }}\n",
            5,
            "spec.template.spec.paused",
            Some("true"),
            &[
                "{{- define \"other\" -}}\nspec: {}\n{{- end }}\n{{- define \"pod\" -}}\nspec:\n  containers: []\n  template:\n    spec:\n      paused: true\n{{- end }}\n",
                "{{- define \"other\" -}}\nspec: {}\n{{- end }}\n{{- define \"pod\" -}}\nspec:\n  template:\n    spec:\n      paused: true\n  containers: []\n{{- end }}\n",
                "{{- define \"other\" -}}\nspec: {}\n{{- end }}\n{{- define \"pod\" -}}\nspec:\n  containers: []\n  paused: true\n{{- end }}\n",
                "{{- define \"other\" -}}\nspec: {}\n{{- end }}\n{{- define \"pod\" -}}\nspec:\n  paused: true\n  containers: []\n{{- end }}\n",
            ],
        );
    }

    #[test]
    fn what_is_literal_is_taken_out() {
        check(
            "kind: Deployment\nspec:\n  a:\n  - {b: c}\n  # Why.\n  replicas: {{ .Values.replicas }}\n",
            3,
            "spec.a",
            None,
            &["kind: Deployment\nspec:\n  # Why.\n  replicas: {{ .Values.replicas }}\n"],
        );
    }

    #[test]
    fn braces_in_strings_and_comments_of_actions_end_nothing() {
        check(
            "{{/* {{ x }} */}}\nkind: Deployment\nspec:\n  a: {{ printf \"}}%s\" .Values.a }}\n  b: 1\n",
            5,
            "spec.b",
            Some("2"),
            &["{{/* {{ x }} */}}\nkind: Deployment\nspec:\n  a: {{ printf \"}}%s\" .Values.a }}\n  b: 2\n"],
        );
    }

    #[test]
    fn what_is_no_yaml_without_its_actions_is_left_alone() {
        check(
            "kind: Deployment\nspec:\n  a: {{- if .x }}\n    b: 1\n  {{- end }}\n",
            4,
            "spec.c",
            Some("1"),
            &[],
        );
        check("kind: Service\nspec:\n  a: 1\n", 3, "spec.c", Some("1"), &[]);
        check("kind: Deployment\n{{ if }}", 1, "spec.c", Some("1"), &[]);
    }
}
