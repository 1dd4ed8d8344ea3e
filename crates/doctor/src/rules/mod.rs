//! The sorts of trouble that the doctor knows, one file each.

mod admission;
mod autoscaled_replicas;
mod blocked_kind;
mod closed_window;
mod difference;
mod early_health;
mod excluded_kind;
mod failed_sync;
mod healing_off;
mod idle_rule;
mod immutable_field;
mod manual_sync;
mod mass_deletion;
mod missing_kind;
mod missing_namespace;
mod orphaned_application;
mod orphaned_resource;
mod ownership;
mod parenthood;
mod pruning_off;
mod repeated_resource;
mod server_default;
mod shared_resource;
mod skipped;
mod stuck_operation;
mod taint;
mod umbrella;
mod unserved_version;
mod unset_namespace;
mod wave_needs;
mod wave_order;
mod wide_rule;
mod written_field;

use crate::case::Case;
use crate::finding::{Code, Findings};

/// One sort of trouble: how it is told from others, and everything that is said about it.
pub struct Rule {
    /// Its stable code.
    pub code: Code,
    /// What it is, in a few words.
    pub title: &'static str,
    /// What it means, why it happens, an example and what to do, in Markdown. `lynceus explain` prints it.
    pub explanation: &'static str,
    /// Looks for it. A rule that cannot tell says nothing.
    pub check: fn(&Case<'_>, &mut Findings),
}

/// All rules, in the order of their codes.
pub const RULES: &[Rule] = &[
    shared_resource::RULE,
    umbrella::RULE,
    orphaned_application::RULE,
    orphaned_resource::RULE,
    repeated_resource::RULE,
    missing_kind::RULE,
    blocked_kind::RULE,
    missing_namespace::RULE,
    unset_namespace::RULE,
    excluded_kind::RULE,
    unserved_version::RULE,
    taint::RULE,
    immutable_field::RULE,
    written_field::RULE,
    server_default::RULE,
    admission::RULE,
    wide_rule::RULE,
    idle_rule::RULE,
    autoscaled_replicas::RULE,
    manual_sync::RULE,
    closed_window::RULE,
    failed_sync::RULE,
    stuck_operation::RULE,
    healing_off::RULE,
    pruning_off::RULE,
    mass_deletion::RULE,
    early_health::RULE,
    wave_order::RULE,
    skipped::RULE,
];

/// A rule by its code, in any case.
pub fn rule(code: &str) -> Option<&'static Rule> {
    RULES.iter().find(|rule| rule.code.eq_ignore_ascii_case(code))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rule_has_a_code_of_its_own_in_order_and_says_what_to_do() {
        let codes: Vec<&str> = RULES.iter().map(|rule| rule.code).collect();
        let mut sorted = codes.clone();
        sorted.sort_unstable();
        sorted.dedup();
        assert_eq!(codes, sorted);
        for rule in RULES {
            assert!(rule.code.len() == 7 && rule.code.starts_with("LYN"), "{}", rule.code);
            for part in ["## Why", "## Example", "## What to do"] {
                assert!(rule.explanation.contains(part), "{} lacks {part}", rule.code);
            }
        }
    }
}
