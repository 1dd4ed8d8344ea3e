//! Fields that are left out of the account.

mod jq;
mod managers;
mod rule;
mod tally;

use lynceus_api::ResourceIgnoreDifferences;
use lynceus_object::Object;

use jq::{JqError, JqPath};
use rule::{Rule, What};

pub use rule::Place;
pub(crate) use tally::Tally;
pub use tally::{RuleReport, RuleVerdict};

/// The rules of an application and of the settings, ready to be applied.
#[derive(Clone, Debug, Default)]
pub struct Ignore {
    rules: Vec<Rule>,
}

/// A rule that could not be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RuleError {
    /// A jq expression is not one, or does what a path has no need to do.
    #[error("jq path {expression:?} of the rule for {kind}: {why}")]
    Jq {
        /// The expression.
        expression: String,
        /// The kind that the rule is for.
        kind: String,
        /// What is wrong with it.
        why: String,
    },
}

impl Ignore {
    /// Reads the rules of an application. Those that cannot be read are told of and left out.
    pub fn new<'a>(rules: impl IntoIterator<Item = &'a ResourceIgnoreDifferences>) -> (Self, Vec<RuleError>) {
        let mut ignore = Ignore::default();
        let mut errors = Vec::new();
        for (number, rule) in rules.into_iter().enumerate() {
            errors.extend(ignore.add(rule, Place::Application(number)));
        }
        (ignore, errors)
    }

    /// Adds a rule; what cannot be read of it is given back and left out.
    pub fn add(&mut self, rule: &ResourceIgnoreDifferences, place: Place) -> Vec<RuleError> {
        let mut errors = Vec::new();
        for pointer in &rule.json_pointers {
            self.rules.push(Rule::new(rule, place, What::pointer(pointer)));
        }
        for expression in &rule.jq_path_expressions {
            match JqPath::compile(expression) {
                Ok(path) => self.rules.push(Rule::new(rule, place, What::Jq(expression.clone(), path))),
                Err(why) => errors.push(RuleError::Jq {
                    expression: expression.to_string(),
                    kind: rule.kind.to_string(),
                    why,
                }),
            }
        }
        if !rule.managed_fields_managers.is_empty() {
            let managers = What::Managers(rule.managed_fields_managers.clone());
            self.rules.push(Rule::new(rule, place, managers));
        }
        errors
    }

    /// These rules and then those of another set, which is what is set for all.
    #[must_use]
    pub fn and(mut self, other: &Ignore) -> Self {
        self.rules.extend(other.rules.iter().cloned());
        self
    }

    /// Whether there is no rule.
    pub fn is_empty(&self) -> bool {
        self.rules.is_empty()
    }

    pub(crate) fn tally(&self) -> Tally {
        Tally::of(&self.rules)
    }

    pub(crate) fn reports(&self, tally: Tally) -> Vec<RuleReport> {
        tally.reports(&self.rules)
    }

    fn of<'a>(&'a self, object: &'a Object) -> impl Iterator<Item = (usize, &'a Rule)> {
        self.rules.iter().enumerate().filter(|(_, rule)| rule.is_for(object))
    }

    /// The object without the fields that pointers and jq paths name, for those who do not count what was left out.
    pub fn strip(&self, object: &mut Object) {
        self.apply(object, &mut self.tally());
    }

    /// Removes the fields that pointers and jq paths name. A rule that does not fit the object does nothing to it.
    pub(crate) fn apply(&self, object: &mut Object, tally: &mut Tally) {
        for (number, rule) in self.rules.iter().enumerate() {
            if matches!(rule.what, What::Managers(_)) || !rule.is_for(object) {
                continue;
            }
            match rule.what.apply(object) {
                Ok(left_out) => tally.note(number, left_out.fields, left_out.whole),
                Err(JqError::Misfit(_)) => tally.note(number, 0, None),
                Err(error) => tally.fail(number, error.to_string()),
            }
        }
    }

    /// Removes from both sides the fields that differ and that a trusted manager wrote.
    pub(crate) fn apply_managers(&self, desired: &mut Object, live: &mut Object, tally: &mut Tally) {
        for (number, rule) in self.rules.iter().enumerate() {
            if let What::Managers(managers) = &rule.what
                && rule.is_for(desired)
            {
                let fields = managers::remove_differing(managers, desired, live);
                tally.note(number, fields, None);
            }
        }
    }

    /// Counts what the rules would leave out of two sides that are the same without them; `None` if a rule has to be
    /// followed to be sure that they are the same with it.
    pub(crate) fn pass_over(&self, desired: &Object, live: &Object, tally: &mut Tally) -> Option<()> {
        if self.rules.is_empty() {
            return Some(());
        }
        if self.of(desired).any(|(_, rule)| matches!(rule.what, What::Jq(..))) {
            return None;
        }
        for (number, rule) in self.of(desired) {
            match &rule.what {
                What::Pointer(pointer) => {
                    let sides = [pointer.names(desired), pointer.names(live)];
                    for left_out in sides {
                        tally.note(number, left_out.fields, left_out.whole);
                    }
                }
                // What does not differ is not left out.
                What::Managers(_) | What::Jq(..) => tally.note(number, 0, None),
            }
        }
        Some(())
    }
}
