//! What `kubectl auth reconcile` does to roles and bindings, which Argo CD runs before it applies them.
//!
//! It adds the rules and subjects that are missing, and the apply that follows puts the whole lists, which are atomic, in
//! their place; so of the two only the apply is sent. What it does beyond that is here.

use lynceus_object::{Object, Value};

/// Whether an object is one that is reconciled.
pub(crate) fn applies_to(object: &Object) -> bool {
    object.api_version() == "rbac.authorization.k8s.io/v1"
        && matches!(object.kind(), "Role" | "ClusterRole" | "RoleBinding" | "ClusterRoleBinding")
}

/// Whether two bindings are to different roles. A binding cannot be moved to another role, so it is made anew.
pub(crate) fn binds_another_role(live: &Object, desired: &Object) -> bool {
    let role = |object: &Object| {
        let name = |field| object.value().str_at(&["roleRef", field]).unwrap_or_default().to_owned();
        (name("kind"), name("name"))
    };
    applies_to(desired) && desired.kind().ends_with("RoleBinding") && role(live) != role(desired)
}

/// A change of a role, together with what reconciling adds: a role that Git does not want to be aggregated is aggregated
/// no more, even if it was somebody else who made it so.
pub(crate) fn reconciled(mut change: Value, desired: &Object, live: &Object) -> Value {
    let has = |object: &Object| object.at(&["aggregationRule"]).is_some_and(|rule| !rule.is_null());
    if applies_to(desired) && desired.kind() == "ClusterRole" && has(live) && !has(desired) {
        change.set(&["aggregationRule"], Value::Null);
    }
    change
}

#[cfg(test)]
mod tests {
    use super::*;
    use lynceus_object::{json, value};

    fn object(kind: &str, more: &[(&str, Value)]) -> Object {
        let api_version = "rbac.authorization.k8s.io/v1";
        let mut object =
            Object::new(value!({"apiVersion": api_version, "kind": kind, "metadata": {"name": "a"}}))
                .unwrap();
        for (field, value) in more {
            object.set(&[field], value.clone());
        }
        object
    }

    #[test]
    fn a_binding_to_another_role_is_made_anew() {
        let to = |name: &str| {
            object("RoleBinding", &[("roleRef", value!({"kind": "Role", "name": name, "apiGroup": "x"}))])
        };
        assert!(binds_another_role(&to("reader"), &to("writer")));
        assert!(!binds_another_role(&to("reader"), &to("reader")));
    }

    #[test]
    fn a_role_that_git_does_not_aggregate_is_aggregated_no_more() {
        let aggregated = object("ClusterRole", &[("aggregationRule", value!({"clusterRoleSelectors": []}))]);
        let plain = object("ClusterRole", &[]);
        let told = |desired, live| json::to_string(&reconciled(value!({}), desired, live));
        assert_eq!(told(&plain, &aggregated), r#"{"aggregationRule":null}"#);
        assert_eq!(told(&aggregated, &aggregated), "{}");
        assert_eq!(told(&plain, &plain), "{}");
    }
}
