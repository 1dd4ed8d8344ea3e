//! The fields that Kustomize changes on its own, read from a table.

use std::collections::HashMap;

use lynceus_object::Str;

use crate::fieldspec::FieldSpec;
use crate::id::Kind;

const TABLE: &str = include_str!("../data/fields.txt");

/// One list of the table.
#[derive(Clone, Debug, Default)]
pub(crate) struct DefaultList {
    /// What the list is called in a configuration.
    pub(crate) name: Str,
    /// Of a name reference: which kind has the name.
    pub(crate) target: Kind,
    /// The fields.
    pub(crate) specs: Vec<FieldSpec>,
}

/// The lists in the order of the table. One that is begun twice is one list.
pub(crate) fn lists() -> Vec<DefaultList> {
    let mut lists: Vec<DefaultList> = Vec::new();
    let mut groups: HashMap<&str, Vec<&str>> = HashMap::new();
    let mut open: Vec<usize> = Vec::new();
    for line in TABLE.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        if let Some(heading) = line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
            open = begin(&mut lists, heading);
        } else if let Some((name, kinds)) = line.split_once(" = ") {
            groups.insert(name, kinds.split_whitespace().collect());
        } else {
            let specs = row(line, &groups);
            for at in &open {
                lists[*at].specs.extend_from_slice(&specs);
            }
        }
    }
    lists
}

fn begin(lists: &mut Vec<DefaultList>, heading: &str) -> Vec<usize> {
    if let Some(target) = heading.strip_prefix("nameReference ") {
        lists.push(DefaultList { name: "nameReference".into(), target: kind(target), specs: Vec::new() });
        return vec![lists.len() - 1];
    }
    let find_or_begin = |name: &str| {
        lists.iter().position(|list| list.name == name).unwrap_or_else(|| {
            lists.push(DefaultList { name: name.into(), ..DefaultList::default() });
            lists.len() - 1
        })
    };
    heading.split_whitespace().map(find_or_begin).collect()
}

fn row(line: &str, groups: &HashMap<&str, Vec<&str>>) -> Vec<FieldSpec> {
    let mut words = line.split_whitespace();
    let path = words.next().unwrap_or_default();
    let (create, path) = match path.strip_prefix('+') {
        Some(path) => (true, path),
        None => (false, path),
    };
    let kinds: Vec<&str> = words
        .flat_map(|word| match groups.get(word) {
            Some(group) => group.clone(),
            None => vec![word],
        })
        .collect();
    let mut specs = Vec::new();
    for path in alternatives(path) {
        for kind in kinds.iter().map(|text| kind(text)) {
            let path = path.replace("<pod>", pod_spec(&kind.kind)).into();
            specs.push(FieldSpec { kind, path, create });
        }
    }
    specs
}

/// Where a kind has the spec of its pods.
fn pod_spec(kind: &str) -> &'static str {
    match kind {
        "Pod" => "spec",
        "PodTemplate" => "template/spec",
        "CronJob" => "spec/jobTemplate/spec/template/spec",
        _ => "spec/template/spec",
    }
}

/// The paths that a path with `{a,b}` in it stands for.
fn alternatives(path: &str) -> Vec<String> {
    let parts = path.split_once('{').and_then(|(head, rest)| Some((head, rest.split_once('}')?)));
    let Some((head, (choices, tail))) = parts else { return vec![path.to_owned()] };
    let tails = alternatives(tail);
    choices
        .split(',')
        .flat_map(|choice| tails.iter().map(move |tail| format!("{head}{choice}{tail}")))
        .collect()
}

/// Reads `group/Kind:version`.
fn kind(text: &str) -> Kind {
    let (group, text) = text.rsplit_once('/').unwrap_or(("", text));
    let (kind, version) = text.split_once(':').unwrap_or((text, ""));
    let kind = if kind == "*" { "" } else { kind };
    Kind { group: group.into(), version: version.into(), kind: kind.into() }
}
