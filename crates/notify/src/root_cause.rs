//! One trigger of our own: a root cause that was not there before.

use std::collections::BTreeSet;

use lynceus_object::{Str, Value, value};

/// The name of the trigger.
pub const NEW_ROOT_CAUSE: &str = "on-new-root-cause";

/// Something that the doctor found at the root of what is wrong.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RootCause {
    /// What tells it from others, and stays the same while it lasts.
    pub id: Str,
    /// The sort of trouble, such as `LYN0101`.
    pub code: Str,
    /// How bad it is, `P0` to `P3`.
    pub severity: Str,
    /// What is wrong.
    pub subject: String,
    /// Why, in one sentence.
    pub cause: String,
    /// What would mend it, in one sentence; empty if nobody knows.
    pub fix: String,
    /// The applications that stand still because of it, as `namespace/name`.
    pub applications: Vec<Str>,
}

impl RootCause {
    /// What expressions and templates see under `rootCause`.
    pub fn to_value(&self) -> Value {
        let applications: Vec<Value> =
            self.applications.iter().map(|name| Value::from(name.clone())).collect();
        let mut value = value!({
            "id": (self.id.as_str()),
            "code": (self.code.as_str()),
            "severity": (self.severity.as_str()),
            "subject": (self.subject.as_str()),
            "cause": (self.cause.as_str()),
            "fix": (self.fix.as_str()),
        });
        value.set(&["applications"], Value::from(applications));
        value
    }
}

/// The root causes that were not there before, as they are told for one application, in the order in which they were found.
/// One that lasts is told once; one that went away and comes back is told again.
pub fn new_root_causes(before: &BTreeSet<Str>, found: &[RootCause], application: &str) -> Vec<Value> {
    found
        .iter()
        .filter(|cause| !before.contains(&cause.id))
        .filter(|cause| cause.applications.iter().any(|name| name == application))
        .map(RootCause::to_value)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::{RootCause, new_root_causes};

    #[test]
    fn a_root_cause_is_told_while_it_is_new_and_only_to_those_it_stops() {
        let cause = |id: &str, applications: &[&str]| RootCause {
            id: id.into(),
            applications: applications.iter().map(|name| (*name).into()).collect(),
            ..RootCause::default()
        };
        let found =
            [cause("a", &["argocd/shop"]), cause("b", &["argocd/shop", "argocd/bank"]), cause("c", &[])];
        let told = |before: &[&str], application: &str| {
            let before = before.iter().map(|id| (*id).into()).collect();
            let ids = new_root_causes(&before, &found, application);
            ids.iter().map(|cause| cause.str_at(&["id"]).unwrap().to_owned()).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(told(&[], "argocd/shop"), "a b");
        assert_eq!(told(&["a"], "argocd/shop"), "b");
        assert_eq!(told(&["a"], "argocd/bank"), "b");
        assert_eq!(told(&["a", "b", "c"], "argocd/shop"), "");
    }
}
