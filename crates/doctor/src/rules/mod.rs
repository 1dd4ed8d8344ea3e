//! The sorts of trouble that the doctor knows, one file each.

mod built;
mod claim_holds_wave;
mod claims;
mod closed_nodes;
mod crashing;
mod fit;
mod host_port;
mod image_missing;
mod image_name;
mod image_not_built;
mod image_platform;
mod lost_node;
mod missing_class;
mod missing_key;
mod missing_object;
mod missing_service;
#[cfg(test)]
mod mixed;
mod near;
mod no_room;
mod node_selector;
mod nowhere;
mod outdated_pods;
mod overridden_tolerations;
mod provisioner;
mod pull;
mod pull_secret;
mod registry_away;
mod room;
mod scheduler;
mod shared_resource;
mod spread;
mod storage_class;
mod switched_off;
mod taint;
mod tolerations;
mod unexposed;
mod unselected;
mod volume_held;
mod volume_limit;
mod volume_unfit;

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
    missing_object::RULE,
    missing_key::RULE,
    missing_service::RULE,
    missing_class::RULE,
    switched_off::RULE,
    unexposed::RULE,
    taint::RULE,
    overridden_tolerations::RULE,
    node_selector::RULE,
    no_room::RULE,
    volume_limit::RULE,
    outdated_pods::RULE,
    lost_node::RULE,
    spread::RULE,
    host_port::RULE,
    closed_nodes::RULE,
    image_missing::RULE,
    pull_secret::RULE,
    image_platform::RULE,
    image_not_built::RULE,
    registry_away::RULE,
    image_name::RULE,
    claim_holds_wave::RULE,
    storage_class::RULE,
    provisioner::RULE,
    volume_unfit::RULE,
    volume_held::RULE,
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
