//! When a container is started again after it ended: as its pod says, or it itself, or a rule about how it ended.

use lynceus_object::{Object, Value};

use super::program::Role;
use super::scene::Part;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Policy {
    Always,
    OnFailure,
    Never,
}

impl Policy {
    fn of(text: Option<&str>) -> Self {
        match text {
            Some("OnFailure") => Policy::OnFailure,
            Some("Never") => Policy::Never,
            _ => Policy::Always,
        }
    }
}

/// When one container is started again.
#[derive(Debug)]
pub(super) struct Restart<'a> {
    policy: Policy,
    rules: &'a [Value],
}

impl<'a> Restart<'a> {
    /// What holds for a container of a pod.
    pub(super) fn of(pod: &Object, part: &Part<'a>) -> Self {
        let own = part.spec.str_at(&["restartPolicy"]);
        let of_pod = Policy::of(pod.value().str_at(&["spec", "restartPolicy"]));
        let policy = match (part.role, own) {
            (Role::Sidecar, _) => Policy::Always,
            (Role::Guest, _) => Policy::Never,
            (_, Some(own)) => Policy::of(Some(own)),
            // A failed init container is repeated unless the pod may not be.
            (Role::Init, None) if of_pod == Policy::Always => Policy::OnFailure,
            (Role::Main | Role::Init, None) => of_pod,
        };
        // Rules come with a policy of the container's own, or not at all.
        let rules = own.map(|_| part.spec.items_at(&["restartPolicyRules"])).unwrap_or_default();
        Restart { policy, rules }
    }

    /// Whether it is started again after it ended with a code.
    pub(super) fn again(&self, exit_code: i64) -> bool {
        self.rules.iter().any(|rule| fits(rule, exit_code))
            || match self.policy {
                Policy::Always => true,
                Policy::OnFailure => exit_code != 0,
                Policy::Never => false,
            }
    }
}

/// Whether a rule speaks of an exit code. What it then says is always that the container is started again.
fn fits(rule: &Value, exit_code: i64) -> bool {
    let among = rule.items_at(&["exitCodes", "values"]).iter().any(|code| code.as_int() == Some(exit_code));
    match rule.str_at(&["exitCodes", "operator"]) {
        Some("In") => among,
        Some("NotIn") => !among,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::controllers::kind::POD;
    use lynceus_object::value;

    #[test]
    fn a_rule_comes_before_the_container_and_that_before_the_pod() {
        let own = |policy: &str| value!({"name": "main", "restartPolicy": policy});
        let ruled = value!({
            "name": "main", "restartPolicy": "Never",
            "restartPolicyRules": [{"action": "Restart", "exitCodes": {"operator": "In", "values": [42]}}],
        });
        let unless = value!({
            "name": "main", "restartPolicy": "Never",
            "restartPolicyRules": [{"action": "Restart", "exitCodes": {"operator": "NotIn", "values": [3]}}],
        });
        let plain = value!({"name": "main"});
        for (pod_says, container, role, wanted) in [
            ("Always", &plain, Role::Main, [true, true, true]),
            ("OnFailure", &plain, Role::Main, [false, true, true]),
            ("Never", &plain, Role::Main, [false, false, false]),
            ("Always", &own("Never"), Role::Main, [false, false, false]),
            ("Never", &own("OnFailure"), Role::Main, [false, true, true]),
            ("Never", &ruled, Role::Main, [false, false, true]),
            ("Always", &unless, Role::Main, [true, false, true]),
            ("Always", &plain, Role::Init, [false, true, true]),
            ("Always", &own("Never"), Role::Init, [false, false, false]),
            ("Never", &own("Always"), Role::Sidecar, [true, true, true]),
            ("Always", &plain, Role::Guest, [false, false, false]),
        ] {
            let mut pod = POD.named("shop", "web");
            pod.set(&["spec", "restartPolicy"], pod_says);
            let restart = Restart::of(&pod, &Part { spec: container, role });
            assert_eq!(
                [0, 3, 42].map(|code| restart.again(code)),
                wanted,
                "{pod_says} {container:?} {role:?}"
            );
        }
    }
}
