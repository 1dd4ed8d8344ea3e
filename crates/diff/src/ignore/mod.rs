//! Fields that are left out of the account.

mod jq;
mod managers;

use lynceus_api::{Glob, ResourceIgnoreDifferences};
use lynceus_object::{Object, Str, Value, patch, value};

use jq::JqPath;

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

#[derive(Clone, Debug)]
struct Rule {
    group: Option<Glob>,
    kind: Option<Glob>,
    name: Str,
    namespace: Str,
    what: What,
}

#[derive(Clone, Debug)]
enum What {
    Pointer(Value),
    Jq(JqPath),
    Managers(Vec<Str>),
}

impl Ignore {
    /// Reads rules. Those that cannot be read are told of and left out.
    pub fn new<'a>(rules: impl IntoIterator<Item = &'a ResourceIgnoreDifferences>) -> (Self, Vec<RuleError>) {
        let mut ignore = Ignore::default();
        let mut errors = Vec::new();
        for rule in rules {
            for pointer in &rule.json_pointers {
                let removal = value!([{"op": "remove", "path": pointer}]);
                ignore.push(rule, What::Pointer(removal));
            }
            for expression in &rule.jq_path_expressions {
                match JqPath::compile(expression) {
                    Ok(path) => ignore.push(rule, What::Jq(path)),
                    Err(why) => errors.push(RuleError::Jq {
                        expression: expression.to_string(),
                        kind: rule.kind.to_string(),
                        why,
                    }),
                }
            }
            if !rule.managed_fields_managers.is_empty() {
                ignore.push(rule, What::Managers(rule.managed_fields_managers.clone()));
            }
        }
        (ignore, errors)
    }

    fn push(&mut self, rule: &ResourceIgnoreDifferences, what: What) {
        self.rules.push(Rule {
            // A pattern that is not one fits nothing.
            group: Glob::new(&rule.group).ok(),
            kind: Glob::new(&rule.kind).ok(),
            name: rule.name.clone(),
            namespace: rule.namespace.clone(),
            what,
        });
    }

    /// Removes the fields that pointers and jq paths name. A rule that does not fit the object does nothing to it.
    pub(crate) fn apply(&self, object: &mut Object) {
        let rules: Vec<&Rule> = self.rules.iter().filter(|rule| rule.is_for(object)).collect();
        for rule in rules {
            let changed = match &rule.what {
                What::Pointer(removal) => patch::json(object.value(), removal).ok(),
                What::Jq(path) => path.delete(object.value()).ok(),
                What::Managers(_) => None,
            };
            if let Some(Ok(changed)) = changed.map(Object::new) {
                *object = changed;
            }
        }
    }

    /// Removes from both sides the fields that differ and that a trusted manager wrote.
    pub(crate) fn apply_managers(&self, desired: &mut Object, live: &mut Object) {
        let mut trusted: Vec<Str> = Vec::new();
        for rule in self.rules.iter().filter(|rule| rule.is_for(desired)) {
            if let What::Managers(managers) = &rule.what {
                trusted.extend(managers.iter().cloned());
            }
        }
        if !trusted.is_empty() {
            managers::remove_differing(&trusted, desired, live);
        }
    }
}

impl Rule {
    fn is_for(&self, object: &Object) -> bool {
        let fits = |glob: &Option<Glob>, text: &str| glob.as_ref().is_some_and(|glob| glob.matches(text));
        fits(&self.group, object.group())
            && fits(&self.kind, object.kind())
            && (self.name.is_empty() || self.name == object.name())
            && (self.namespace.is_empty() || self.namespace == object.namespace())
    }
}
