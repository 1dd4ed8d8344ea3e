//! The values that the templates speak of which made a field.
//!
//! A trace tells what fed a text. A variable that is set once more inside of an `if` leaves no trace of the value that was asked, and neither
//! does a choice between two texts that a helper made; but the template has to name that value.

use std::collections::BTreeSet;

use lynceus_files::FilePath;
use lynceus_helm::Explanation;
use lynceus_object::{FieldPath, Segment};
use lynceus_render::Reason;

use super::desk::read;
use super::{Bench, literal};
use crate::rendering::Traced;

/// The values of which the templates speak that had a part in a field, the innermost template first, as paths of the outermost chart.
pub(super) fn values(bench: &Bench, traced: &Traced) -> Vec<FieldPath> {
    let (Reason::Template(explanation), Some(source)) = (&traced.reason, bench.sources.get(traced.number))
    else {
        return Vec::new();
    };
    let chart = charts(explanation);
    let mut seen: BTreeSet<FilePath> = BTreeSet::new();
    let mut found: Vec<FieldPath> = Vec::new();
    for place in literal::places(explanation) {
        let Some(file) = literal::file_of(source, place) else { continue };
        if !seen.insert(file.clone()) {
            continue;
        }
        let Ok(text) = read(&*traced.tree, &file) else { continue };
        for own in named(&text) {
            let path: FieldPath = chart.iter().chain(own.segments()).cloned().collect();
            if !found.contains(&path) {
                found.push(path);
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

/// The values that the actions of a template name, in their order.
fn named(text: &str) -> Vec<FieldPath> {
    let actions = text.split("{{").skip(1).filter_map(|rest| rest.split("}}").next());
    let actions = actions.filter(|action| !action.trim_start_matches('-').trim_start().starts_with("/*"));
    let mut paths: Vec<FieldPath> = Vec::new();
    for path in actions.flat_map(in_action) {
        if !paths.contains(&path) {
            paths.push(path);
        }
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
        let names: Vec<String> = named(text).iter().map(ToString::to_string).collect();
        assert_eq!(names.join(" "), "a.b c f");
    }
}
