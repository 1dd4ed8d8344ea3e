//! A rehearsal as SARIF 2.1.0, for code scanning.

use std::collections::BTreeMap;

use lynceus_rehearse::{ApplicationReport, Place, Report, Verdict};
use serde_json::{Value, json};

use super::summary;

/// One finding.
struct Found<'a> {
    rule: String,
    /// What the rule is about.
    about: &'static str,
    level: &'static str,
    message: String,
    place: Option<&'a Place>,
}

pub(super) fn log(report: &Report) -> Value {
    let found = all(report);
    let rules: BTreeMap<&str, &str> = found.iter().map(|one| (one.rule.as_str(), one.about)).collect();
    let rule = |(id, about): (&&str, &&str)| json!({"id": id, "shortDescription": {"text": about}});
    json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": {"driver": {
                "name": "lynceus",
                "version": env!("CARGO_PKG_VERSION"),
                "rules": rules.iter().map(rule).collect::<Vec<_>>(),
            }},
            "results": found.iter().map(result).collect::<Vec<_>>(),
        }],
    })
}

fn all(report: &Report) -> Vec<Found<'_>> {
    let stuck = summary::of(report, Verdict::Stuck).into_iter().map(stuck);
    let sets = summary::stuck_sets(report).map(|one| {
        let tree: String = one.reasons.iter().map(ToString::to_string).collect();
        Found {
            rule: "stuck/ApplicationSet".to_owned(),
            about: "An ApplicationSet would get stuck",
            level: "error",
            message: format!("{} would get stuck\n{}", one.name, tree.trim_end()),
            place: one.place.as_ref(),
        }
    });
    let notes = report.notes.iter().map(|note| Found {
        rule: "unreadable".to_owned(),
        about: "A file cannot be read",
        level: "error",
        message: note.message.clone(),
        place: Some(&note.place),
    });
    let deletions = report.mass_deletions.iter().map(|one| Found {
        rule: "mass-deletion".to_owned(),
        about: "Many objects would be deleted",
        level: "warning",
        message: format!("{} would be deleted", summary::mass(one)),
        place: place_of(report, one.application.as_deref()),
    });
    let assumed = report.assumed.iter().filter(|_| report.strict).map(|one| Found {
        rule: "assumed".to_owned(),
        about: "Something has to be there that nobody tells of",
        level: "error",
        message: format!("{}: {} is assumed", one.sort, one.what),
        place: one.needed_by.first().and_then(|name| place_of(report, Some(name))),
    });
    let unknown = report.not_rehearsed.iter().map(|one| Found {
        rule: "not-rehearsed".to_owned(),
        about: "Something could not be rehearsed",
        level: "note",
        message: format!("{} could not be rehearsed: {}", one.what, one.why),
        place: one.place.as_ref(),
    });
    stuck.chain(sets).chain(notes).chain(deletions).chain(assumed).chain(unknown).collect()
}

fn stuck(one: &ApplicationReport) -> Found<'_> {
    let root = one.reasons.iter().flat_map(|reason| reason.roots()).next();
    let rule = root.map_or_else(|| "Stuck".to_owned(), |reason| reason.code.to_string());
    let tree: String = one.reasons.iter().map(ToString::to_string).collect();
    Found {
        rule: format!("stuck/{rule}"),
        about: "An application would get stuck",
        level: "error",
        message: format!("{} would get stuck: {} {}\n{}", one.name, one.sync, one.health, tree.trim_end()),
        place: one.place.as_ref(),
    }
}

fn place_of<'a>(report: &'a Report, name: Option<&str>) -> Option<&'a Place> {
    let one = report.applications.iter().find(|one| Some(one.name.as_str()) == name)?;
    one.place.as_ref()
}

fn result(found: &Found<'_>) -> Value {
    let mut result = json!({
        "ruleId": found.rule, "level": found.level, "message": {"text": found.message},
    });
    // Code scanning wants a place for everything; what has none belongs to the whole.
    let (file, line) = found.place.map_or((".", 1), |place| (place.file.as_str(), place.line.max(1)));
    result["locations"] = json!([{
        "physicalLocation": {"artifactLocation": {"uri": address(file)}, "region": {"startLine": line}},
    }]);
    result
}

/// A path as a relative address: what has a meaning there is written by its number.
fn address(path: &str) -> String {
    let mut out = String::with_capacity(path.len());
    for byte in path.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'-' | b'.' | b'_' | b'~' => {
                out.push(char::from(byte))
            }
            other => out.push_str(&format!("%{other:02X}")),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_an_address_whatever_stands_in_it() {
        assert_eq!(address("my apps/a#b:1é.yaml"), "my%20apps/a%23b%3A1%C3%A9.yaml");
    }
}
