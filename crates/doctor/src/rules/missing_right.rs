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
struct Lacking {
    rights: BTreeSet<Forbidden>,
    users: BTreeSet<Node>,
    evidence: Vec<Evidence>,
}

fn check(case: &Case<'_>, findings: &mut Findings) {
    let mut found: BTreeMap<(&str, ObjectKey), Lacking> = BTreeMap::new();
    let mut note = |server, right: Forbidden, user: Node, seen: Evidence| {
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
    for ((server, account), lacking) in found {
        findings.add(finding(case, server, &account, lacking));
    }
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
    let fix = match &app {
        Some(app) => fix(case, server, app, account, &rights, user),
        None => Fix::new(format!("Let service account {} {rights_told}", account.name)).person(format!(
            "Bind a Role with these rights to service account {}/{}.",
            account.namespace, account.name
        )),
    };
    Finding::new(RULE.code, Node::object(server, account.clone()), cause)
        .of(app)
        .seen(evidence)
        .affects(users)
        .fix([fix])
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
                added(fix, app, (account, namespace), rules, user, turn.as_ref())
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

fn added(
    fix: Fix,
    app: &AppName,
    (account, namespace): (&ObjectKey, Option<&str>),
    rules: Vec<Value>,
    beside: &ObjectKey,
    turn: Option<&Value>,
) -> Fix {
    let kind = if namespace.is_some() { "Role" } else { "ClusterRole" };
    let rules = Value::Seq(rules.into_iter().collect());
    let mut metadata = value!({"name": (account.name.as_str())});
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
        "roleRef": {"apiGroup": RBAC, "kind": kind, "name": (account.name.as_str())},
        "subjects": [{"kind": "ServiceAccount", "name": (account.name.as_str()), "namespace": (account.namespace.as_str())}],
    });
    fix.git(app, Place::Add { beside: beside.clone(), object: role })
        .git(app, Place::Add { beside: beside.clone(), object: binding })
}

#[cfg(test)]
mod tests;
