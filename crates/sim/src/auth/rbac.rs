//! Role-based access control: which rules a user has, and what a rule allows.

use std::ops::ControlFlow;

use lynceus_object::{Object, Value};

use crate::attributes::{Attributes, User};
use crate::view::View;

const GROUP: &str = "rbac.authorization.k8s.io";

/// The answer to one question, with the reason that access reviews show.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Verdict {
    pub(super) allowed: bool,
    pub(super) reason: String,
}

/// Whether the user's rules allow it.
pub(super) fn decide(view: &dyn View, user: &User, attributes: &Attributes) -> Verdict {
    // Members of this group pass before any rule is read, so that nobody locks everybody out.
    if user.is_in("system:masters") {
        return Verdict { allowed: true, reason: String::new() };
    }
    let mut problems: Vec<String> = Vec::new();
    let mut reason = None;
    visit(view, user, &attributes.namespace, &mut |found| match found {
        Found::Rule { rule, source } if allows(rule, attributes) => {
            reason = Some(format!("RBAC: allowed by {source}"));
            ControlFlow::Break(())
        }
        Found::Rule { .. } => ControlFlow::Continue(()),
        Found::Problem(problem) => {
            if !problems.contains(&problem) {
                problems.push(problem);
            }
            ControlFlow::Continue(())
        }
    });
    match (reason, problems.as_slice()) {
        (Some(reason), _) => Verdict { allowed: true, reason },
        (None, []) => Verdict { allowed: false, reason: String::new() },
        (None, [one]) => Verdict { allowed: false, reason: format!("RBAC: {one}") },
        (None, many) => Verdict { allowed: false, reason: format!("RBAC: [{}]", many.join(", ")) },
    }
}

/// All rules of a user in a namespace (cluster-wide ones included), and what could not be resolved.
pub(super) fn rules_of(view: &dyn View, user: &User, namespace: &str) -> (Vec<Value>, Vec<String>) {
    let (mut rules, mut problems) = (Vec::new(), Vec::new());
    visit(view, user, namespace, &mut |found| {
        match found {
            Found::Rule { rule, .. } => rules.push(rule.clone()),
            Found::Problem(problem) => problems.push(problem),
        }
        ControlFlow::Continue(())
    });
    (rules, problems)
}

/// The rules of the role that a binding refers to; the missing role's name otherwise.
pub(super) fn rules_of_role(
    view: &dyn View,
    role_ref: &Value,
    namespace: &str,
) -> Result<Vec<Value>, MissingRole> {
    let name = role_ref.str_at(&["name"]).unwrap_or_default();
    let role = match role_ref.str_at(&["kind"]).unwrap_or_default() {
        "Role" => view.get(GROUP, "roles", namespace, name),
        "ClusterRole" => view.get(GROUP, "clusterroles", "", name),
        _ => None,
    };
    match role {
        Some(role) => Ok(role.value().items_at(&["rules"]).to_vec()),
        None => {
            Err(MissingRole { is_cluster: role_ref.str_at(&["kind"]) != Some("Role"), name: name.to_owned() })
        }
    }
}

/// A binding that refers to nothing.
pub(super) struct MissingRole {
    pub(super) is_cluster: bool,
    pub(super) name: String,
}

enum Found<'a> {
    Rule { rule: &'a Value, source: &'a str },
    Problem(String),
}

type Visitor<'v> = &'v mut dyn FnMut(Found<'_>) -> ControlFlow<()>;

fn visit(view: &dyn View, user: &User, namespace: &str, visitor: Visitor<'_>) {
    for binding in view.list(GROUP, "clusterrolebindings", None) {
        if visit_binding(view, user, &binding, "", visitor).is_break() {
            return;
        }
    }
    if namespace.is_empty() {
        return;
    }
    for binding in view.list(GROUP, "rolebindings", Some(namespace)) {
        if visit_binding(view, user, &binding, namespace, visitor).is_break() {
            return;
        }
    }
}

fn visit_binding(
    view: &dyn View,
    user: &User,
    binding: &Object,
    namespace: &str,
    visitor: Visitor<'_>,
) -> ControlFlow<()> {
    let subjects = binding.value().items_at(&["subjects"]);
    let Some(subject) = subjects.iter().find(|subject| is_subject(user, subject, namespace)) else {
        return ControlFlow::Continue(());
    };
    let Some(role_ref) = binding.at(&["roleRef"]) else { return ControlFlow::Continue(()) };
    let rules = match rules_of_role(view, role_ref, namespace) {
        Ok(rules) => rules,
        Err(missing) => {
            let kind = if missing.is_cluster { "clusterrole" } else { "role" };
            return visitor(Found::Problem(format!("{kind}.{GROUP} {:?} not found", missing.name)));
        }
    };
    if rules.is_empty() {
        return ControlFlow::Continue(());
    }
    let source = describe(binding, role_ref, subject, namespace);
    rules.iter().try_for_each(|rule| visitor(Found::Rule { rule, source: &source }))
}

fn describe(binding: &Object, role_ref: &Value, subject: &Value, namespace: &str) -> String {
    let word = |value: &Value, field: &str| value.str_at(&[field]).unwrap_or_default().to_owned();
    let (kind, name) = match namespace {
        "" => ("ClusterRoleBinding", binding.name().to_owned()),
        namespace => ("RoleBinding", format!("{}/{namespace}", binding.name())),
    };
    let subject_name = match word(subject, "kind").as_str() {
        "ServiceAccount" => {
            let own = word(subject, "namespace");
            let namespace = if own.is_empty() { namespace } else { &own };
            format!("{}/{namespace}", word(subject, "name"))
        }
        _ => word(subject, "name"),
    };
    format!(
        "{kind} {name:?} of {} {:?} to {} {subject_name:?}",
        word(role_ref, "kind"),
        word(role_ref, "name"),
        word(subject, "kind"),
    )
}

fn is_subject(user: &User, subject: &Value, namespace: &str) -> bool {
    let name = subject.str_at(&["name"]).unwrap_or_default();
    match subject.str_at(&["kind"]).unwrap_or_default() {
        "User" => user.name == name,
        "Group" => user.is_in(name),
        "ServiceAccount" => {
            let own = subject.str_at(&["namespace"]).unwrap_or_default();
            let namespace = if own.is_empty() { namespace } else { own };
            !namespace.is_empty()
                && user.name.strip_prefix("system:serviceaccount:").and_then(|rest| rest.split_once(':'))
                    == Some((namespace, name))
        }
        _ => false,
    }
}

/// Whether a list of a rule has a word or the star.
pub(super) fn has(rule: &Value, field: &str, word: &str) -> bool {
    rule.items_at(&[field]).iter().filter_map(Value::as_str).any(|known| known == word || known == "*")
}

/// Whether one rule allows it.
fn allows(rule: &Value, attributes: &Attributes) -> bool {
    if !has(rule, "verbs", &attributes.verb) {
        return false;
    }
    if !attributes.is_resource() {
        return paths_match(rule, &attributes.path);
    }
    let names = rule.items_at(&["resourceNames"]);
    has(rule, "apiGroups", &attributes.group)
        && resource_matches(rule, &attributes.resource, &attributes.subresource)
        && (names.is_empty() || names.iter().any(|name| name.as_str() == Some(&attributes.name)))
}

fn resource_matches(rule: &Value, resource: &str, subresource: &str) -> bool {
    if subresource.is_empty() {
        return has(rule, "resources", resource);
    }
    has(rule, "resources", &format!("{resource}/{subresource}"))
        || has(rule, "resources", &format!("*/{subresource}"))
}

fn paths_match(rule: &Value, path: &str) -> bool {
    rule.items_at(&["nonResourceURLs"]).iter().filter_map(Value::as_str).any(|known| {
        known == "*" || known == path || known.strip_suffix('*').is_some_and(|start| path.starts_with(start))
    })
}
