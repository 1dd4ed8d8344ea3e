//! The sorts of trouble that the doctor knows, one file each.

mod backend;
mod cluster_away;
mod cluster_error;
mod cluster_login;
mod container;
mod controller_behind;
mod controller_right;
mod crash_loop;
mod denied;
mod empty_value;
mod endless_job;
mod failed_job;
mod feature_branch;
mod forbidden;
mod held_deletion;
mod invalid_object;
mod issuer;
mod missing_remote_key;
mod missing_right;
mod missing_store;
#[cfg(test)]
mod mixed_tests;
mod out_of_memory;
mod pod_security;
mod probe;
mod project_forbids;
mod quota;
mod rate_limited;
mod rendering;
mod repository_away;
mod repository_login;
mod resemblance;
mod rights;
mod sealed_vault;
mod shared_resource;
mod source_error;
mod source_path;
mod stale_hook;
mod store_refused;
mod store_unreachable;
mod taint;
mod target_revision;
mod too_few_pods;
mod unhealthy;
mod unknown_cluster;
mod unknown_error;
mod unreadable_kind;
mod value_file;
mod webhook_away;
mod wrong_credentials;

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
    taint::RULE,
    missing_store::RULE,
    sealed_vault::RULE,
    store_refused::RULE,
    store_unreachable::RULE,
    wrong_credentials::RULE,
    missing_remote_key::RULE,
    issuer::RULE,
    pod_security::RULE,
    quota::RULE,
    missing_right::RULE,
    webhook_away::RULE,
    denied::RULE,
    controller_right::RULE,
    project_forbids::RULE,
    invalid_object::RULE,
    crash_loop::RULE,
    out_of_memory::RULE,
    probe::RULE,
    endless_job::RULE,
    failed_job::RULE,
    stale_hook::RULE,
    held_deletion::RULE,
    target_revision::RULE,
    source_path::RULE,
    feature_branch::RULE,
    repository_away::RULE,
    repository_login::RULE,
    rendering::RULE,
    empty_value::RULE,
    value_file::RULE,
    cluster_away::RULE,
    cluster_login::RULE,
    rate_limited::RULE,
    unreadable_kind::RULE,
    controller_behind::RULE,
    unknown_cluster::RULE,
    unhealthy::RULE,
    unknown_error::RULE,
    too_few_pods::RULE,
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
