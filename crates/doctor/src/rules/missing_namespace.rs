//! A namespace that is not there and that nobody makes.

use lynceus_api::options;
use lynceus_object::{FieldPath, Value, value};

use super::{near, sync_option};
use crate::case::Case;
use crate::finding::{Evidence, Finding, Findings};
use crate::fix::{Fix, Place, Risk};
use crate::limits;
use crate::links::namespace::{self, User};
use crate::node::Node;
use crate::rules::Rule;
use crate::words;

pub(super) const RULE: Rule = Rule {
    code: "LYN0203",
    title: "A namespace is missing, and nobody makes it",
    explanation: "\
Objects belong into a namespace that is not in the cluster. No application brings it, and the one that needs it was not told to
make it.

## Why
The namespace used to be made by hand, or its name is misspelt, or the option CreateNamespace=true was forgotten.

## Example
```
namespaces \"shop\" not found
```

## What to do
Let the application make its namespace with the sync option CreateNamespace=true, or put a Namespace into its sources. If the
name is wrong, mend it.
",
    check,
};

fn check(case: &Case<'_>, findings: &mut Findings) {
    let brought = namespace::brought(case);
    for ((server, name), users) in namespace::missing(case) {
        if !brought.contains(&(server, name.clone())) {
            let there = case.of_kind(server, "", "Namespace").iter().map(|one| one.name());
            let coming = brought.iter().filter(|(one, _)| *one == server).map(|(_, name)| name.as_str());
            let near = near::slip(&name, there.chain(coming));
            findings.add(found(server, &name, near, &users));
        }
    }
}

fn found(server: &str, name: &str, near: Option<&str>, users: &[User<'_, '_>]) -> Finding {
    let apps = words::list(users.iter().map(|user| user.app.name.name.as_str()));
    let verb = if users.len() == 1 { "needs" } else { "need" };
    let is_own = |user: &&User<'_, '_>| user.app.application().spec.destination.namespace == name;
    let misspelt = users
        .iter()
        .filter(is_own)
        .find_map(|user| sync_option::misspelt(user.app, options::sync::CREATE_NAMESPACE));
    let cause = format!(
        "namespace {name} does not exist: {apps} {verb} it, and nobody makes it{}{}",
        misspelt.map(|word| format!(": its sync option {word} is none that there is")).unwrap_or_default(),
        near.map(|near| format!("; there is {near}")).unwrap_or_default()
    );
    Finding::new(RULE.code, Node::object(server, namespace::key_of(name)), cause)
        .of(users.first().map(|user| user.app.name.clone()))
        .seen(users.iter().map(evidence).take(limits::NAMED))
        .affects(users.iter().map(|user| user.app.node()))
        .fix(near.and_then(|near| rename(name, near, users)))
        .fix(users.first().map(|user| fixes(name, user)).unwrap_or_default())
}

/// What was said of the namespace, or an object that belongs there.
fn evidence(user: &User<'_, '_>) -> Evidence {
    let app = user.app;
    let file = || {
        let key = user.objects.first()?;
        app.file(app.wants(key)?, format!("{} {} belongs there", key.kind, key.name))
    };
    let told = user.told.map(|text| app.status(text));
    told.or_else(file).unwrap_or_else(|| Evidence::seen(format!("{} has objects there", app.name)))
}

/// Has those who need it take the one that was meant.
fn rename(name: &str, near: &str, users: &[User<'_, '_>]) -> Option<Fix> {
    let mut fix = Fix::new(format!("Take namespace {near}"));
    for user in users {
        let value = Some(Value::from(near));
        if user.app.application().spec.destination.namespace == name {
            let path = FieldPath::fields(["spec", "destination", "namespace"]);
            fix = fix.git(&user.app.name, Place::Application { path, value });
            continue;
        }
        for object in user.objects.iter().filter(|key| user.app.wants(key).is_some()) {
            let (object, path) = (object.clone(), FieldPath::fields(["metadata", "namespace"]));
            fix = fix.git(&user.app.name, Place::Field { object, path, value: value.clone() });
        }
    }
    fix.has_edits().then(|| {
        fix.risk(Risk::Low, "what is not made now")
            .why("it is there or brought, and its name differs by a slip of the hand")
            .verify(format!("kubectl get namespace {near}"))
    })
}

fn fixes(name: &str, user: &User<'_, '_>) -> Vec<Fix> {
    let app = &user.app.name;
    let is_destination = user.app.application().spec.destination.namespace == name;
    let verify = format!("kubectl get namespace {name}");
    let option = is_destination.then(|| {
        let fix = Fix::new(format!("Let {app} make namespace {name}"));
        sync_option::set(fix, user.app, options::sync::CREATE_NAMESPACE)
            .risk(Risk::Low, format!("namespace {name} is made"))
            .why("it is the application's own namespace, and one line is enough")
            .verify(verify.clone())
    });
    let manifest = user.objects.first().map(|beside| {
        let object = value!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": (name)}});
        Fix::new(format!("Put Namespace {name} into the sources of {app}"))
            .git(app, Place::Add { beside: beside.clone(), object })
            .risk(Risk::Low, format!("namespace {name} is made"))
            .why("Git has it then, with its labels, for everybody who uses it")
            .verify(verify.clone())
    });
    option.into_iter().chain(manifest).collect()
}

#[cfg(test)]
mod tests {
    use crate::tests::{check, roots};

    const MISSING: &str = "
@app shop OutOfSync Missing
@spec {destination: {namespace: shop}}
apiVersion: v1
kind: ConfigMap
metadata: {name: a, namespace: shop}
@live
apiVersion: v1
kind: Namespace
metadata: {name: default}
";

    #[test]
    fn a_namespace_that_nobody_makes_is_found() {
        assert_eq!(
            check("LYN0203", MISSING),
            "P1 LYN0203/shop/Namespace/shop: namespace shop does not exist: shop needs it, and nobody makes it\n  \
             shop.yaml:1: ConfigMap a belongs there\n  fix: Let shop make namespace shop\n  fix: Put Namespace shop into the \
             sources of shop\n"
        );
        assert_eq!(roots(MISSING), "P1 LYN0203/shop/Namespace/shop explains shop\n");
    }

    #[test]
    fn a_namespace_that_is_called_almost_so_is_taken_first() {
        let found = check(
            "LYN0203",
            &MISSING.replace("{name: default}", "{name: shopp}").replace(": shop}", ": shops}"),
        );
        assert!(found.contains("nobody makes it; there is shopp\n"), "{found}");
        assert!(
            found.contains("  fix: Take namespace shopp\n  fix: Let shop make namespace shops\n"),
            "{found}"
        );
    }

    #[test]
    fn what_the_server_said_is_enough() {
        let text = "
@app shop OutOfSync Missing
@unrendered
@status {operationState: {phase: Failed, operation: {}, startedAt: '2026-01-01T10:00:00Z', syncResult: {revision: a, resources: [{group: '', version: v1, kind: ConfigMap, namespace: shop, name: a, status: SyncFailed, message: 'namespaces \"shop\" not found'}]}}}
";
        assert!(check("LYN0203", text).contains("status of shop: namespaces \"shop\" not found\n"));
    }

    #[test]
    fn a_namespace_that_is_there_or_is_made_is_not_found() {
        assert_eq!(check("LYN0203", &MISSING.replace("{name: default}", "{name: shop}")), "");
        let made = MISSING.replace(
            "{destination: {namespace: shop}}",
            "{destination: {namespace: shop}, syncPolicy: {syncOptions: [CreateNamespace=true]}}",
        );
        assert_eq!(check("LYN0203", &made), "");
        let brought = format!(
            "@app base OutOfSync Missing\napiVersion: v1\nkind: Namespace\nmetadata: {{name: shop}}\n{MISSING}"
        );
        assert_eq!(check("LYN0203", &brought), "");
    }
}
