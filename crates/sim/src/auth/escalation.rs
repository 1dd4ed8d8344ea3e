//! Nobody gives away what he does not have: roles and bindings are checked against their writer.

use lynceus_object::{Object, Value, value};

use super::authorize;
use super::rbac::{has, rules_of, rules_of_role};
use crate::ApiError;
use crate::attributes::{Attributes, User};
use crate::auth::Decision;
use crate::kinds::Resource;
use crate::view::View;

const GROUP: &str = "rbac.authorization.k8s.io";

/// Refuses a role or binding that would give more than its writer has.
pub fn check_escalation(
    view: &dyn View,
    user: &User,
    resource: &Resource,
    new: &Object,
    old: Option<&Object>,
) -> Result<(), ApiError> {
    if resource.group != GROUP
        || user.is_in("system:masters")
        || old.is_some_and(|old| is_bookkeeping(new, old))
    {
        return Ok(());
    }
    match resource.plural.as_str() {
        "roles" | "clusterroles" => {
            // Whoever makes a role has no name yet to be asked about.
            let name = old.map_or("", |old| old.name());
            check_role(view, user, resource, new, name)
        }
        "rolebindings" | "clusterrolebindings" => check_binding(view, user, resource, new),
        _ => Ok(()),
    }
}

/// Whether only owners and finalizers change, which the garbage collector may do.
fn is_bookkeeping(new: &Object, old: &Object) -> bool {
    let bare = |object: &Object| {
        let mut out = object.value().clone();
        for field in ["ownerReferences", "finalizers", "managedFields", "resourceVersion"] {
            out.remove(&["metadata", field]);
        }
        out
    };
    bare(new) == bare(old)
}

fn is_allowed(view: &dyn View, user: &User, verb: &str, resource: &str, namespace: &str, name: &str) -> bool {
    let attributes = Attributes {
        verb: verb.into(),
        group: GROUP.into(),
        version: "*".into(),
        resource: resource.into(),
        namespace: namespace.into(),
        name: name.into(),
        ..Attributes::default()
    };
    authorize(view, user, &attributes) == Decision::Allow
}

fn check_role(
    view: &dyn View,
    user: &User,
    resource: &Resource,
    role: &Object,
    name: &str,
) -> Result<(), ApiError> {
    if is_allowed(view, user, "escalate", &resource.plural, role.namespace(), name) {
        return Ok(());
    }
    let refuse = |why: &str| ApiError::forbidden(GROUP, &resource.plural, role.name(), why);
    if role.at(&["aggregationRule"]).is_some_and(|rule| !rule.is_empty()) {
        let everything = [
            value!({"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"]}),
            value!({"verbs": ["*"], "nonResourceURLs": ["*"]}),
        ];
        if missing(view, user, "", &everything).is_some() {
            return Err(refuse("must have cluster-admin privileges to use the aggregationRule"));
        }
    }
    match missing(view, user, role.namespace(), role.value().items_at(&["rules"])) {
        Some(why) => Err(refuse(&why)),
        None => Ok(()),
    }
}

fn check_binding(
    view: &dyn View,
    user: &User,
    resource: &Resource,
    binding: &Object,
) -> Result<(), ApiError> {
    let Some(role_ref) = binding.at(&["roleRef"]) else { return Ok(()) };
    let name = role_ref.str_at(&["name"]).unwrap_or_default();
    let plural = if role_ref.str_at(&["kind"]) == Some("Role") { "roles" } else { "clusterroles" };
    if is_allowed(view, user, "bind", plural, binding.namespace(), name) {
        return Ok(());
    }
    let rules = rules_of_role(view, role_ref, binding.namespace())
        .map_err(|_| ApiError::not_found(GROUP, &resource.plural, name))?;
    match missing(view, user, binding.namespace(), &rules) {
        Some(why) => Err(ApiError::forbidden(GROUP, &resource.plural, binding.name(), &why)),
        None => Ok(()),
    }
}

/// What the user would give without having it, in the original's words.
fn missing(view: &dyn View, user: &User, namespace: &str, rules: &[Value]) -> Option<String> {
    let (own, problems) = rules_of(view, user, namespace);
    let lacking: Vec<Simple> = rules
        .iter()
        .flat_map(break_down)
        .filter(|simple| !own.iter().any(|rule| covers(rule, simple)))
        .collect();
    if lacking.is_empty() {
        return None;
    }
    let groups: Vec<String> = user.groups.iter().map(|group| format!("{:?}", group.as_str())).collect();
    let mut message = format!(
        "user {:?} (groups=[{}]) is attempting to grant RBAC permissions not currently held:\n{}",
        user.name.as_str(),
        groups.join(" "),
        compact(lacking).join("\n")
    );
    if !problems.is_empty() {
        message.push_str(&format!("; resolution errors: [{}]", problems.join(", ")));
    }
    Some(message)
}

/// One verb on one thing.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Simple {
    Resource { group: String, resource: String, name: Option<String>, verb: String },
    Path { path: String, verb: String },
}

fn break_down(rule: &Value) -> Vec<Simple> {
    let words = |field: &str| -> Vec<String> {
        rule.items_at(&[field]).iter().filter_map(Value::as_str).map(str::to_owned).collect()
    };
    let names: Vec<Option<String>> = match words("resourceNames") {
        names if names.is_empty() => vec![None],
        names => names.into_iter().map(Some).collect(),
    };
    let mut out = Vec::new();
    for group in words("apiGroups") {
        for resource in words("resources") {
            for verb in words("verbs") {
                for name in &names {
                    out.push(Simple::Resource {
                        group: group.clone(),
                        resource: resource.clone(),
                        name: name.clone(),
                        verb: verb.clone(),
                    });
                }
            }
        }
    }
    for path in words("nonResourceURLs") {
        for verb in words("verbs") {
            out.push(Simple::Path { path: path.clone(), verb });
        }
    }
    out
}

fn covers(rule: &Value, simple: &Simple) -> bool {
    match simple {
        Simple::Resource { group, resource, name, verb } => {
            let names = rule.items_at(&["resourceNames"]);
            let part = resource.split_once('/').map(|(_, part)| format!("*/{part}"));
            has(rule, "verbs", verb)
                && has(rule, "apiGroups", group)
                && (has(rule, "resources", resource)
                    || part.is_some_and(|part| has(rule, "resources", &part)))
                && (names.is_empty()
                    || name
                        .as_ref()
                        .is_some_and(|name| names.iter().any(|known| known.as_str() == Some(name))))
        }
        Simple::Path { path, verb } => {
            has(rule, "verbs", verb)
                && rule.items_at(&["nonResourceURLs"]).iter().filter_map(Value::as_str).any(|known| {
                    known == path || known.strip_suffix('*').is_some_and(|start| path.starts_with(start))
                })
        }
    }
}

/// What differs only by verb becomes one line; lines are sorted.
fn compact(simples: Vec<Simple>) -> Vec<String> {
    let mut groups: Vec<(Simple, Vec<String>)> = Vec::new();
    let mut lines: Vec<String> = Vec::new();
    for simple in simples {
        match &simple {
            Simple::Path { path, verb } => {
                lines.push(format!("{{NonResourceURLs:[{path:?}], Verbs:[{verb:?}]}}"))
            }
            Simple::Resource { group, resource, name, verb } => {
                let key = Simple::Resource {
                    group: group.clone(),
                    resource: resource.clone(),
                    name: name.clone(),
                    verb: String::new(),
                };
                match groups.iter_mut().find(|(known, _)| *known == key) {
                    Some((_, verbs)) => verbs.push(format!("{verb:?}")),
                    None => groups.push((key, vec![format!("{verb:?}")])),
                }
            }
        }
    }
    for (key, verbs) in groups {
        if let Simple::Resource { group, resource, name, .. } = key {
            let name = name.map(|name| format!("ResourceNames:[{name:?}], ")).unwrap_or_default();
            let verbs = verbs.join(" ");
            lines.push(format!("{{APIGroups:[{group:?}], Resources:[{resource:?}], {name}Verbs:[{verbs}]}}"));
        }
    }
    lines.sort();
    lines.dedup();
    lines
}
