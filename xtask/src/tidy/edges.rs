//! The edges between crates, compared with the table in ARCHITECTURE.md.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::{Report, Source};
use crate::run;

/// What a crate may depend on; `None` is anything.
type Allowed = BTreeMap<String, Option<BTreeSet<String>>>;

pub(super) fn check(sources: &[Source], report: &mut Report) -> Result<(), String> {
    let page = sources
        .iter()
        .find(|source| source.path == "ARCHITECTURE.md")
        .ok_or("there is no ARCHITECTURE.md to read the crates from")?;
    let allowed = table(&page.text);
    if allowed.is_empty() {
        return Err("ARCHITECTURE.md has no table of crates".to_owned());
    }
    let metadata =
        run::output(run::command("cargo").args(["metadata", "--no-deps", "--format-version", "1"]))?;
    let metadata: Value =
        serde_json::from_str(&metadata).map_err(|error| format!("cargo metadata: {error}"))?;
    for (from, to) in edges(&metadata) {
        match allowed.get(&from) {
            None => report.problems.push(format!("ARCHITECTURE.md does not name the crate `{from}`")),
            Some(Some(targets)) if !targets.contains(&to) => {
                report.problems.push(format!("`{from}` may not depend on `{to}` (ARCHITECTURE.md)"));
            }
            Some(_) => {}
        }
    }
    Ok(())
}

/// Reads the rows `| 2 | `object` | … | files |`.
fn table(page: &str) -> Allowed {
    let mut allowed = Allowed::new();
    for line in page.lines().filter(|line| line.starts_with('|')) {
        let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
        let [_, name, _, targets] = cells.as_slice() else { continue };
        let Some(name) = name.strip_prefix('`').and_then(|name| name.strip_suffix('`')) else { continue };
        let targets = match *targets {
            "any" => None,
            "–" => Some(BTreeSet::new()),
            list => Some(list.split(',').map(|target| target.trim().to_owned()).collect()),
        };
        allowed.insert(name.to_owned(), targets);
    }
    allowed
}

/// Every edge between two crates of the workspace that the product has; tests may use what they like.
fn edges(metadata: &Value) -> Vec<(String, String)> {
    let noun = |name: &str| name.strip_prefix("lynceus-").unwrap_or(name).to_owned();
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let mut edges = Vec::new();
    for package in list(&metadata["packages"]) {
        let from = noun(package["name"].as_str().unwrap_or_default());
        for dependency in list(&package["dependencies"]) {
            let name = dependency["name"].as_str().unwrap_or_default();
            if name.starts_with("lynceus-") && dependency["kind"] != "dev" {
                edges.push((from.clone(), noun(name)));
            }
        }
    }
    edges.sort();
    edges
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_gives_each_crate_what_it_may_depend_on() {
        let page = "| # | crate | one line | may depend on |\n|---|---|---|---|\n\
                    | 1 | `files` | Files. | – |\n| 2 | `object` | Objects. | files |\n| – | `testkit` | Tests. | any |\n";
        let allowed = table(page);
        assert_eq!(allowed["files"], Some(BTreeSet::new()));
        assert_eq!(allowed["object"], Some(BTreeSet::from(["files".to_owned()])));
        assert_eq!(allowed["testkit"], None);
    }
}
