//! A program whose service account may not do what it does.

mod script;

use std::collections::{BTreeMap, BTreeSet};

use lynceus_api::annotations;
use lynceus_object::{FieldPath, Object, ObjectKey, Value, value};

use crate::case::{Case, Voice};
use crate::finding::{Evidence, Finding, Findings};
use crate::fix::{Fix, Place, Risk};
use crate::limits;
use crate::node::{AppName, Node};
use crate::rules::Rule;
use crate::rules::forbidden::Forbidden;
use crate::rules::missing_role;
use crate::rules::rights::{self, RBAC};
use crate::words;

pub(super) const RULE: Rule = Rule {
    code: "LYN0803",
    title: "A service account may not do what its program needs",
    explanation: "\
A program asks the API server for something that its service account has no right to. Jobs that wait for something in a loop never
end because of it, others fail.

## Why
The Role was written for what the program did before, or the pods use another service account than the one that is bound to it.

## Example
```
imagestreamtags.image.openshift.io \"web:latest\" is forbidden: User \"system:serviceaccount:ci:waiter\" cannot get resource
\"imagestreamtags\" in API group \"image.openshift.io\" in the namespace \"ci\"
```

## What to do
Add exactly the rule that is missing to a Role that is bound to the service account, in Git.
",
    check,
};

/// What one service account lacks.
#[derive(Default)]
pub(super) struct Lacking {
    rights: BTreeSet<Forbidden>,
    pub(super) users: BTreeSet<Node>,
    pub(super) evidence: Vec<Evidence>,
}

fn check(case: &Case<'_>, findings: &mut Findings) {
    for ((server, account), lacking) in gather(case) {
        findings.add(finding(case, server, &account, lacking));
    }
}

/// What service accounts lack, by what programs say and by what their scripts do.
pub(super) fn gather<'a>(case: &Case<'a>) -> BTreeMap<(&'a str, ObjectKey), Lacking> {
    let mut found: BTreeMap<(&'a str, ObjectKey), Lacking> = BTreeMap::new();
    let mut note = |server: &'a str, right: Forbidden, user: Node, seen: Evidence| {
        let Some((namespace, name)) = right.account() else { return };
        let account = ObjectKey::new("", "ServiceAccount", namespace, name);
        let lacking = found.entry((server, account)).or_default();
        lacking.rights.insert(right);
        lacking.users.insert(user);
        if lacking.evidence.len() < limits::EVIDENCE && !lacking.evidence.contains(&seen) {
            lacking.evidence.push(seen);
        }
    };
    for said in case.said().iter().filter(|said| !matches!(said.voice, Voice::Application | Voice::Sync)) {
        if let Some(right) = Forbidden::read(said.text) {
            note(said.server, right, said.node.clone(), said.evidence.clone());
        }
    }
    for server in case.servers() {
        for (right, owner, seen) in script::lacking(case, server) {
            note(server, right, Node::object(server, owner), seen);
        }
    }
    found
}

fn finding(case: &Case<'_>, server: &str, account: &ObjectKey, lacking: Lacking) -> Finding {
    let Lacking { rights, users, evidence } = lacking;
    let names = words::list(users.iter().map(ToString::to_string));
    let rights_told = words::list(rights.iter().map(Forbidden::told));
    let cause = format!(
        "service account {}/{} may not {rights_told}, which {names} need{}",
        account.namespace,
        account.name,
        if users.len() == 1 { "s" } else { "" }
    );
    let user = users.iter().find_map(Node::key);
    let app = user.and_then(|user| case.owner(server, user)).or_else(|| case.owner(server, account));
    let meant = rights.iter().find_map(|right| rights::meant(case, server, account, right));
    let corrected = meant.as_ref().and_then(|(binding, path, value)| {
        let owner = case.owner(server, &binding.key())?;
        let (object, value) = (binding.key(), Some(Value::from(value.as_str())));
        let title =
            format!("Have {} {} bind {}/{}", binding.kind(), binding.name(), account.namespace, account.name);
        let fix = Fix::new(title)
            .git(&owner, Place::Field { object, path: path.clone(), value })
            .risk(Risk::Low, format!("everything that runs as service account {}", account.name))
            .why("its role has what is lacking, and the account that it names is not there");
        Some(fix)
    });
    let cause = match &meant {
        Some((binding, path, value)) => {
            let named = path.get(binding.value()).map(words::shown).unwrap_or_default();
            format!("{cause}; {} {} has {path} {named} instead of {value}", binding.kind(), binding.name())
        }
        None => cause,
    };
    let seen = meant.as_ref().map(|(binding, path, _)| Evidence::Field {
        object: binding.key(),
        path: path.clone(),
        value: path.get(binding.value()).map(words::shown).unwrap_or_default(),
    });
    let fix = match &app {
        _ if corrected.is_some() => None,
        Some(app) => Some(fix(case, server, app, account, &rights, user)),
        None => {
            Some(Fix::new(format!("Let service account {} {rights_told}", account.name)).person(format!(
                "Bind a Role with these rights to service account {}/{}.",
                account.namespace, account.name
            )))
        }
    };
    let finding = Finding::new(RULE.code, Node::object(server, account.clone()), cause)
        .of(app)
        .seen(evidence)
        .seen(seen)
        .affects(users)
        .fix(corrected)
        .fix(fix);
    let gone: BTreeSet<ObjectKey> =
        rights.iter().flat_map(|right| gone(case, server, account, right.namespace.as_deref())).collect();
    match gone.is_empty() {
        true => finding,
        // What it was given by a role that is not there it would have otherwise.
        false => finding.because(gone.into_iter().map(|role| Node::object(server, role))),
    }
}

/// The roles that an account is bound to and that are not there.
fn gone(case: &Case<'_>, server: &str, account: &ObjectKey, namespace: Option<&str>) -> Vec<ObjectKey> {
    let mut roles = rights::bound(case, server, account, namespace);
    roles.retain(|role| missing_role::is_gone(case, server, role));
    roles
}

/// A role that gives what is lacking.
pub(super) fn role(key: &ObjectKey, lacking: &Lacking) -> Value {
    let rules = Value::Seq(rules(&lacking.rights.iter().collect::<Vec<_>>()).into_iter().collect());
    let mut metadata = value!({"name": (key.name.as_str())});
    if !key.namespace.is_empty() {
        metadata.set(&["namespace"], key.namespace.as_str());
    }
    value!({
        "apiVersion": (format!("{RBAC}/v1")), "kind": (key.kind.as_str()), "metadata": metadata, "rules": rules,
    })
}

fn fix(
    case: &Case<'_>,
    server: &str,
    app: &AppName,
    account: &ObjectKey,
    rights: &BTreeSet<Forbidden>,
    user: Option<&ObjectKey>,
) -> Fix {
    let shown = words::list(rights.iter().map(Forbidden::told));
    let mut fix = Fix::new(format!("Let service account {} {shown}", account.name))
        .risk(Risk::Low, format!("everything that runs as service account {}", account.name));
    let mut places: BTreeMap<Option<&str>, Vec<&Forbidden>> = BTreeMap::new();
    for right in rights {
        places.entry(right.namespace.as_deref()).or_default().push(right);
    }
    for (namespace, rights) in places {
        let rules = rules(&rights);
        let role = rights::bound(case, server, account, namespace).into_iter().find_map(|role| {
            let (owner, wanted) = case.wanted(server, &role).into_iter().next()?;
            Some((owner.name.clone(), &wanted.object))
        });
        fix = match (role, user) {
            (Some((owner, role)), _) => extended(fix, &owner, role, rules),
            (None, Some(user)) => {
                let turn = turn(case, server, user);
                let name = free_name(case, server, account, namespace, user);
                added(fix, app, (account, namespace, &name), rules, user, turn.as_ref())
            }
            (None, None) => {
                fix.person(format!("Bind a Role with these rules to service account {}.", account.name))
            }
        };
    }
    for right in rights.iter().take(limits::NAMED) {
        let place = right.namespace.as_ref().map(|one| format!(" -n {one}")).unwrap_or_default();
        let group = if right.group.is_empty() { String::new() } else { format!(".{}", right.group) };
        fix = fix.verify(format!(
            "kubectl auth can-i {} {}{group}{place} --as {}",
            right.verb, right.resource, right.user
        ));
    }
    fix
}

/// The smallest rules, one for each resource. Whoever watches lists first, and the other way round is told only afterwards.
fn rules(rights: &[&Forbidden]) -> Vec<Value> {
    let mut verbs: BTreeMap<(&str, &str), BTreeSet<&str>> = BTreeMap::new();
    for right in rights {
        let all = verbs.entry((&right.group, &right.resource)).or_default();
        match right.verb.as_str() {
            "list" | "watch" => all.extend(["list", "watch"]),
            verb => all.extend([verb]),
        }
    }
    let rule = |((group, resource), verbs): ((&str, &str), BTreeSet<&str>)| {
        let verbs = Value::Seq(verbs.into_iter().map(Value::from).collect());
        value!({"apiGroups": [group], "resources": [resource], "verbs": verbs})
    };
    verbs.into_iter().map(rule).collect()
}

fn extended(fix: Fix, app: &AppName, role: &Object, rules: Vec<Value>) -> Fix {
    let mut all = role.value().items_at(&["rules"]).to_vec();
    all.extend(rules);
    let value = Some(Value::Seq(all.into_iter().collect()));
    fix.git(app, Place::Field { object: role.key(), path: FieldPath::fields(["rules"]), value })
}

/// What puts a right before its user: a hook that runs before the sync would not wait for what the sync brings.
fn turn(case: &Case<'_>, server: &str, user: &ObjectKey) -> Option<Value> {
    let (_, wanted) = case.wanted(server, user).into_iter().next()?;
    let object = &wanted.object;
    let (hook, wave) = (object.annotation(annotations::HOOK), case.wave(wanted));
    let mut turn = value!({});
    if let Some(hook) = hook {
        turn.set(&[annotations::HOOK], hook);
    }
    let wave = if hook.is_some() { wave - 1 } else { wave };
    if wave != 0 {
        turn.set(&[annotations::SYNC_WAVE], wave.to_string());
    }
    (!turn.is_empty()).then_some(turn)
}

/// A name that neither a role nor a binding has: the account's own, or with its user's behind it.
fn free_name(
    case: &Case<'_>,
    server: &str,
    account: &ObjectKey,
    namespace: Option<&str>,
    user: &ObjectKey,
) -> String {
    let prefix = if namespace.is_some() { "" } else { "Cluster" };
    let is_taken = |name: &str| {
        ["Role", "RoleBinding"].iter().any(|kind| {
            let key = ObjectKey::new(RBAC, format!("{prefix}{kind}"), namespace.unwrap_or_default(), name);
            case.live(server, &key).is_some() || case.is_planned(server, &key)
        })
    };
    let own = account.name.to_string();
    let numbered = (2..).map(|number| format!("{own}-{}-{number}", user.name));
    let mut names = [own.clone(), format!("{own}-{}", user.name)].into_iter().chain(numbered);
    names.find(|name| !is_taken(name)).unwrap_or(own)
}

fn added(
    fix: Fix,
    app: &AppName,
    (account, namespace, name): (&ObjectKey, Option<&str>, &str),
    rules: Vec<Value>,
    beside: &ObjectKey,
    turn: Option<&Value>,
) -> Fix {
    let kind = if namespace.is_some() { "Role" } else { "ClusterRole" };
    let rules = Value::Seq(rules.into_iter().collect());
    let mut metadata = value!({"name": name});
    if let Some(namespace) = namespace {
        metadata.set(&["namespace"], namespace);
    }
    if let Some(turn) = turn {
        metadata.set(&["annotations"], turn.clone());
    }
    let role = value!({
        "apiVersion": (format!("{RBAC}/v1")), "kind": kind, "metadata": (metadata.clone()), "rules": rules,
    });
    let binding = value!({
        "apiVersion": (format!("{RBAC}/v1")), "kind": (format!("{kind}Binding")), "metadata": metadata,
        "roleRef": {"apiGroup": RBAC, "kind": kind, "name": name},
        "subjects": [{"kind": "ServiceAccount", "name": (account.name.as_str()), "namespace": (account.namespace.as_str())}],
    });
    fix.git(app, Place::Add { beside: beside.clone(), object: role })
        .git(app, Place::Add { beside: beside.clone(), object: binding })
}

#[cfg(test)]
mod tests;
