//! The values that the templates speak of which made a field.
//!
//! A trace tells what fed a text. A variable that is set once more inside of an `if` leaves no trace of the value that was asked, and neither
//! does a choice between two texts that a helper made; but the template has to name that value.

use std::collections::BTreeSet;

use lynceus_files::{FilePath, Span};
use lynceus_helm::Explanation;
use lynceus_object::{FieldPath, Segment};
use lynceus_render::Reason;

use super::desk::read;
use super::{Bench, literal};
use crate::rendering::Traced;

/// The values of which the templates speak that had a part in a field, the innermost template first, as paths of the outermost chart.
pub(super) fn values(bench: &Bench, traced: &Traced) -> Vec<FieldPath> {
    read_of(bench, traced).into_iter().map(|(path, _)| path).collect()
}

/// The same with where each is spoken of first. Those come first that are spoken of in the lines that printed the field.
pub(super) fn spoken(bench: &Bench, traced: &Traced) -> Vec<(FieldPath, Span)> {
    let mut found = read_of(bench, traced);
    let Reason::Template(explanation) = &traced.reason else { return found };
    let lines: Vec<usize> = literal::places(explanation).map(|place| place.line).collect();
    found.sort_by_key(|(_, span)| !lines.iter().any(|line| u32::try_from(*line) == Ok(span.line)));
    found
}

fn read_of(bench: &Bench, traced: &Traced) -> Vec<(FieldPath, Span)> {
    let (Reason::Template(explanation), Some(source)) = (&traced.reason, bench.sources.get(traced.number))
    else {
        return Vec::new();
    };
    let chart = charts(explanation);
    let mut seen: BTreeSet<FilePath> = BTreeSet::new();
    let mut found: Vec<(FieldPath, Span)> = Vec::new();
    for place in literal::places(explanation) {
        let Some(file) = literal::file_of(source, place) else { continue };
        if !seen.insert(file.clone()) {
            continue;
        }
        let Ok(text) = read(&*traced.tree, &file) else { continue };
        for (own, line) in named(&text) {
            let path: FieldPath = chart.iter().chain(own.segments()).cloned().collect();
            if !found.iter().any(|(known, _)| *known == path) {
                found.push((path, Span { file: file.clone(), line, column: 0 }));
            }
        }
    }
    found
}

/// The charts that the template of an object is inside of, without the outermost. Those that it includes are given its own values.
fn charts(explanation: &Explanation) -> Vec<Segment> {
    let Some((outermost, _)) = explanation.calls.first() else { return Vec::new() };
    let mut names = Vec::new();
    let mut parts = outermost.split('/').skip(1);
    while let (Some("charts"), Some(name)) = (parts.next(), parts.next()) {
        names.push(Segment::Field(name.into()));
    }
    names
}

/// The values that the actions of a template name, in their order, each with the line of the first action that does.
fn named(text: &str) -> Vec<(FieldPath, u32)> {
    let (mut paths, mut line): (Vec<(FieldPath, u32)>, u32) = (Vec::new(), 1);
    for (number, part) in text.split("{{").enumerate() {
        let action = part.split("}}").next().filter(|_| number > 0).unwrap_or_default();
        if !action.trim_start_matches('-').trim_start().starts_with("/*") {
            for path in in_action(action) {
                if !paths.iter().any(|(known, _)| *known == path) {
                    paths.push((path, line));
                }
            }
        }
        line = line.saturating_add(u32::try_from(part.matches('\n').count()).unwrap_or_default());
    }
    paths
}

/// The values that one action names.
pub(super) fn in_action(action: &str) -> Vec<FieldPath> {
    let named = action.match_indices(".Values.").map(|(at, word)| {
        let rest = &action[at + word.len()..];
        let end = rest.find(|sign: char| !(sign.is_alphanumeric() || matches!(sign, '_' | '.')));
        let name = rest[..end.unwrap_or(rest.len())].trim_end_matches('.');
        FieldPath::fields(name.split('.').filter(|part| !part.is_empty()))
    });
    named.filter(|path| !path.is_root()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_named_by_actions_and_not_by_what_is_written_around_them() {
        let text = "a: {{ $name }}{{- if and .Values.a.b (not $.Values.c) }}{{/* .Values.d */}} .Values.e \
                    {{ $name = (.root.Values.f | quote) }}{{ .Values.a.b }}{{ range .Values }}{{ end }}";
        let names: Vec<String> = named(text).iter().map(|(path, _)| path.to_string()).collect();
        assert_eq!(names.join(" "), "a.b c f");
    }

    #[test]
    fn values_are_named_with_the_line_of_the_action() {
        let text =
            "a: {{ .Values.a }}\nb: |\n  {{- if .Values.b }}{{ .Values.a }}\n{{ end }}{{ .Values.c }}\n";
        let names: Vec<String> = named(text).iter().map(|(path, line)| format!("{path} {line}")).collect();
        assert_eq!(names, ["a 1", "b 3", "c 4"]);
    }
}
