//! The page of all sorts of findings: docs/findings.md.

use std::fmt::Write as _;

use crate::rules::{RULES, Rule};

const HEAD: &str = "\
# Findings

Every sort of trouble that `lynceus doctor` knows, by its code. A code never changes its meaning. `lynceus explain LYN0401` prints one of
them; `lynceus explain --all > docs/findings.md` has written this page. [doctor.md](doctor.md) says how to read a report.
";

/// The page in Markdown: a table of all, then what is said about each.
pub fn page() -> String {
    let mut out = format!("{HEAD}\n| code | what it is |\n|---|---|\n");
    // Writing to a string cannot fail.
    for rule in RULES {
        let _ = writeln!(out, "| [{}](#{}) | {} |", rule.code, anchor(rule), rule.title.replace('|', "\\|"));
    }
    for rule in RULES {
        let _ = write!(out, "\n## {}: {}\n\n{}\n", rule.code, rule.title, below(rule.explanation));
    }
    out
}

/// The place of a heading, as GitHub names it.
fn anchor(rule: &Rule) -> String {
    let heading = format!("{}: {}", rule.code, rule.title).to_lowercase();
    let kept = heading.chars().filter(|one| one.is_alphanumeric() || matches!(one, ' ' | '-' | '_'));
    kept.map(|one| if one == ' ' { '-' } else { one }).collect()
}

/// An explanation whose headings stand below the rule's own. What is in a block of code is none.
fn below(explanation: &str) -> String {
    let mut is_code = false;
    let mut out = Vec::new();
    for line in explanation.trim_end().lines() {
        is_code ^= line.starts_with("```");
        let is_heading = !is_code && line.starts_with('#');
        out.push(if is_heading { format!("#{line}") } else { line.to_owned() });
    }
    out.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_says_what_the_rules_say() {
        let written = include_str!("../../../docs/findings.md");
        let first = written.lines().zip(page().lines().map(ToOwned::to_owned)).find(|(old, new)| old != new);
        assert!(
            written == page(),
            "docs/findings.md is not what the rules say; write it anew:\n  cargo run -- explain --all > docs/findings.md\n\
             the first difference: {first:?}"
        );
    }

    #[test]
    fn headings_are_moved_and_code_is_not() {
        assert_eq!(
            below("a\n## Why\n```\n# no heading\n```\n## Do\n"),
            "a\n### Why\n```\n# no heading\n```\n### Do"
        );
    }
}
