//! What service accounts may do, by the Roles that are bound to them.

use lynceus_object::{FieldPath, GroupKind, Object, ObjectKey, Value};

use crate::case::Case;
use crate::rules::forbidden::Forbidden;
use crate::rules::{missing_role, near};

pub(super) const RBAC: &str = "rbac.authorization.k8s.io";

/// Whether all Roles and bindings of a cluster were seen: without any the cluster was not asked for them.
pub(super) fn are_known(case: &Case<'_>, server: &str) -> bool {
    let kinds = ["Role", "RoleBinding", "ClusterRole", "ClusterRoleBinding"];
    let is_whole = |kind: &&str| {
        case.cluster(server).is_some_and(|view| !view.partial.contains(&GroupKind::new(RBAC, *kind)))
    };
    let any = kinds.iter().any(|kind| !case.of_kind(server, RBAC, kind).is_empty());
    any && kinds.iter().all(is_whole)
}

/// The Roles that are bound to a service account, in a namespace or for the whole cluster.
pub(super) fn bound(
    case: &Case<'_>,
    server: &str,
    account: &ObjectKey,
    namespace: Option<&str>,
) -> Vec<ObjectKey> {
    let wide = case.of_kind(server, RBAC, "ClusterRoleBinding").iter();
    let near = case
        .of_kind(server, RBAC, "RoleBinding")
        .iter()
        .filter(|binding| Some(binding.namespace()) == namespace);
    near.chain(wide)
        .filter(|binding| names(binding, account))
        .filter_map(|binding| role_of(binding))
        .collect()
}

/// The Role that a binding gives.
pub(super) fn role_of(binding: &Object) -> Option<ObjectKey> {
    let part = |field| binding.value().str_at(&["roleRef", field]);
    let namespace = if part("kind")? == "Role" { binding.namespace() } else { "" };
    Some(ObjectKey::new(RBAC, part("kind")?, namespace, part("name")?))
}

fn names(binding: &Object, account: &ObjectKey) -> bool {
    binding.value().items_at(&["subjects"]).iter().any(|subject| {
        let part = |field| subject.str_at(&[field]).unwrap_or_default();
        let namespace = if part("namespace").is_empty() { binding.namespace() } else { part("namespace") };
        match part("kind") {
            "ServiceAccount" => {
                part("name") == account.name.as_str() && namespace == account.namespace.as_str()
            }
            "Group" => {
                matches!(part("name"), "system:authenticated" | "system:serviceaccounts")
                    || part("name") == format!("system:serviceaccounts:{}", account.namespace)
            }
            _ => part("name") == format!("system:serviceaccount:{}:{}", account.namespace, account.name),
        }
    })
}

/// A binding that means an account and names another: the same name in a namespace that has no such account, or a name that differs by a
/// slip. With the field to correct, and what is to stand there.
pub(super) fn meant<'a>(
    case: &Case<'a>,
    server: &str,
    account: &ObjectKey,
    right: &Forbidden,
) -> Option<(&'a Object, FieldPath, String)> {
    let wide = case.of_kind(server, RBAC, "ClusterRoleBinding").iter().copied();
    let near = case.of_kind(server, RBAC, "RoleBinding").iter().copied();
    let near = near.filter(|binding| Some(binding.namespace()) == right.namespace.as_deref());
    near.chain(wide).find_map(|binding| {
        let role = role_of(binding)?;
        let role = case.live(server, &role)?;
        if !role.value().items_at(&["rules"]).iter().any(|rule| permits(rule, right)) {
            return None;
        }
        binding.value().items_at(&["subjects"]).iter().enumerate().find_map(|(place, subject)| {
            let part = |field| subject.str_at(&[field]).unwrap_or_default();
            let namespace =
                if part("namespace").is_empty() { binding.namespace() } else { part("namespace") };
            let named = ObjectKey::new("", "ServiceAccount", namespace, part("name"));
            if part("kind") != "ServiceAccount" || named == *account || !case.is_nowhere(server, &named) {
                return None;
            }
            let path = FieldPath::fields(["subjects"]).index(place);
            let is_account = part("name") == account.name.as_str();
            let is_here = namespace == account.namespace.as_str();
            match (is_account, is_here) {
                (true, _) => Some((binding, path.field("namespace"), account.namespace.to_string())),
                (false, true) if near::slip(part("name"), [account.name.as_str()]).is_some() => {
                    Some((binding, path.field("name"), account.name.to_string()))
                }
                _ => None,
            }
        })
    })
}

/// Whether some Role that is bound to a service account lets it. A Role that was not seen may allow anything; one that is certainly not
/// there allows nothing.
pub(super) fn allows(case: &Case<'_>, server: &str, account: &ObjectKey, right: &Forbidden) -> bool {
    bound(case, server, account, right.namespace.as_deref()).iter().any(|role| {
        !missing_role::is_gone(case, server, role)
            && case.live(server, role).is_none_or(|role| {
                let is_gathered =
                    role.at(&["aggregationRule"]).is_some() && role.value().items_at(&["rules"]).is_empty();
                is_gathered || role.value().items_at(&["rules"]).iter().any(|rule| permits(rule, right))
            })
    })
}

fn permits(rule: &Value, right: &Forbidden) -> bool {
    let has = |field, wanted: &str| {
        let mut words = rule.items_at(&[field]).iter().filter_map(Value::as_str);
        words.any(|word| word == "*" || word == wanted)
    };
    has("verbs", &right.verb) && has("apiGroups", &right.group) && has("resources", &right.resource)
}

/// The group and plural of what a command calls a kind: `deploy`, `deployment`, `deployments.apps`.
pub(super) fn resource(case: &Case<'_>, server: &str, word: &str) -> Option<(String, String)> {
    let word = word.to_lowercase();
    let (name, group) =
        word.split_once('.').map_or((word.as_str(), None), |(name, group)| (name, Some(group)));
    let short = SHORT.iter().find(|(short, _)| *short == name).map_or(name, |(_, long)| long);
    let kinds = case.cluster(server)?.kinds.keys();
    let fits = |kind: &&GroupKind| {
        let singular = kind.kind.to_lowercase();
        (singular == short || plural(&singular) == short) && group.is_none_or(|group| kind.group == group)
    };
    let mut found = kinds.filter(fits);
    let kind = found.next()?;
    // Two kinds of one name cannot be told apart here.
    found.next().is_none().then(|| (kind.group.to_string(), plural(&kind.kind.to_lowercase())))
}

const SHORT: [(&str, &str); 10] = [
    ("deploy", "deployment"),
    ("po", "pod"),
    ("svc", "service"),
    ("cm", "configmap"),
    ("sts", "statefulset"),
    ("ds", "daemonset"),
    ("ns", "namespace"),
    ("sa", "serviceaccount"),
    ("istag", "imagestreamtag"),
    ("pvc", "persistentvolumeclaim"),
];

fn plural(kind: &str) -> String {
    match kind {
        kind if kind.ends_with('s') || kind.ends_with('x') || kind.ends_with("ch") => format!("{kind}es"),
        kind if kind.ends_with("ay") || kind.ends_with("ey") => format!("{kind}s"),
        kind => kind.strip_suffix('y').map_or_else(|| format!("{kind}s"), |stem| format!("{stem}ies")),
    }
}
