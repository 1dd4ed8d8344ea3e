//! The roles and bindings that a new cluster starts with.
//!
//! They stand in `bootstrap.txt`, one line per object, its rules indented below it:
//! a role has its name, the labels by which others aggregate it and, after `=`, what it aggregates;
//! a rule has verbs, groups, resources and names, or verbs and paths;
//! a binding has its name, the role, and subjects (`g:` groups, `u:` users, `s:` service accounts).

use lynceus_object::{Map, Object, Value, value};

use super::aggregation::aggregated;

const TABLE: &str = include_str!("bootstrap.txt");
const GROUP: &str = "rbac.authorization.k8s.io";

/// The objects, in the order of the table; aggregated roles have their rules already.
pub fn bootstrap() -> Vec<Object> {
    let mut out: Vec<Object> = Vec::new();
    for line in TABLE.lines() {
        match line.strip_prefix("  ") {
            Some(rule) => {
                if let Some(role) = out.last_mut() {
                    role.value_mut()
                        .as_map_or_insert()
                        .entry("rules")
                        .as_seq_or_insert()
                        .push(read_rule(rule));
                }
            }
            None => out.extend(read_object(line).and_then(|value| Object::new(value).ok())),
        }
    }
    // What is aggregated may aggregate in turn: view into edit, edit into admin.
    loop {
        let roles: Vec<Object> =
            out.iter().filter(|object| object.kind() == "ClusterRole").cloned().collect();
        let changed: Vec<Object> = roles.iter().filter_map(|role| aggregated(role, &roles)).collect();
        if changed.is_empty() {
            return out;
        }
        for role in changed {
            if let Some(known) =
                out.iter_mut().find(|object| object.kind() == "ClusterRole" && object.name() == role.name())
            {
                *known = role;
            }
        }
    }
}

fn read_object(line: &str) -> Option<Value> {
    let mut words = line.split(' ');
    let (kind, name) = (words.next()?, words.next()?);
    let (namespace, name) = match kind {
        "Role" | "RoleBinding" => name.split_once('/')?,
        _ => ("", name),
    };
    let mut labels: Map = [("kubernetes.io/bootstrapping", "rbac-defaults")].into_iter().collect();
    let mut object = value!({
        "apiVersion": format!("{GROUP}/v1"), "kind": kind,
        "metadata": {"name": name, "annotations": {"rbac.authorization.kubernetes.io/autoupdate": "true"}},
    });
    if !namespace.is_empty() {
        object.set(&["metadata", "namespace"], namespace);
    }
    if kind.ends_with("Binding") {
        let (role_kind, role) = words.next()?.split_once(':')?;
        object.set(&["roleRef"], value!({"apiGroup": GROUP, "kind": role_kind, "name": role}));
        let subjects: Vec<Value> = words.filter_map(read_subject).collect();
        if !subjects.is_empty() {
            object.set(&["subjects"], subjects);
        }
    } else {
        let rest: Vec<&str> = words.collect();
        let (own, from) = match rest.iter().position(|word| *word == "=") {
            Some(at) => (&rest[..at], &rest[at + 1..]),
            None => (&rest[..], &[][..]),
        };
        labels.extend(own.iter().map(|label| (format!("{GROUP}/{label}"), "true")));
        object.set(&["rules"], Value::Seq(Default::default()));
        if !from.is_empty() {
            let selectors: Vec<Value> = from
                .iter()
                .map(|label| value!({"matchLabels": {format!("{GROUP}/{label}"): "true"}}))
                .collect();
            object.set(&["aggregationRule", "clusterRoleSelectors"], selectors);
        }
    }
    object.set(&["metadata", "labels"], labels);
    Some(object)
}

fn read_rule(text: &str) -> Value {
    let words: Vec<&str> = text.split(' ').collect();
    let list = |text: &str| -> Value {
        text.split(',').map(|word| if word == "\"\"" { "" } else { word }).collect()
    };
    match words.as_slice() {
        [verbs, paths @ ..]
            if paths.len() == 1 || paths.first().is_some_and(|path| path.starts_with('/')) =>
        {
            value!({"verbs": list(verbs), "nonResourceURLs": paths})
        }
        [verbs, groups, resources] => {
            value!({"verbs": list(verbs), "apiGroups": list(groups), "resources": list(resources)})
        }
        [verbs, groups, resources, names, ..] => value!({
            "verbs": list(verbs), "apiGroups": list(groups), "resources": list(resources), "resourceNames": list(names),
        }),
        _ => Value::Null,
    }
}

fn read_subject(text: &str) -> Option<Value> {
    let (kind, name) = text.split_once(':')?;
    Some(match kind {
        "g" => value!({"kind": "Group", "apiGroup": GROUP, "name": name}),
        "u" => value!({"kind": "User", "apiGroup": GROUP, "name": name}),
        _ => {
            let (namespace, name) = name.split_once('/')?;
            value!({"kind": "ServiceAccount", "name": name, "namespace": namespace})
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_reads_as_roles_and_bindings() {
        let objects = bootstrap();
        let find = |kind: &str, name: &str| {
            objects.iter().find(|object| object.kind() == kind && object.name() == name).unwrap().clone()
        };
        assert_eq!(
            find("ClusterRole", "cluster-admin").at(&["rules"]),
            Some(
                &value!([{"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"]}, {"verbs": ["*"], "nonResourceURLs": ["*"]}])
            )
        );
        assert_eq!(
            find("ClusterRoleBinding", "system:public-info-viewer").at(&["subjects"]),
            Some(&value!([
                {"kind": "Group", "apiGroup": GROUP, "name": "system:authenticated"},
                {"kind": "Group", "apiGroup": GROUP, "name": "system:unauthenticated"}]))
        );
        let rules = |name: &str| find("ClusterRole", name).value().items_at(&["rules"]).len();
        assert!(rules("admin") > rules("edit") && rules("edit") > rules("view") && rules("view") > 5);
        assert_eq!(find("Role", "system:controller:token-cleaner").namespace(), "kube-system");
    }
}
