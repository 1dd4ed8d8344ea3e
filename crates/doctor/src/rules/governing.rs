//! StatefulSets whose pods are to have names by a Service that is not there.

use lynceus_object::{FieldPath, Object, ObjectKey, Value, value};

use crate::case::Case;
use crate::finding::{Evidence, Finding, Findings, Severity};
use crate::fix::{Fix, Place, Risk};
use crate::node::{AppName, Node};
use crate::words;

/// Looks for StatefulSets of applications that name a Service which nobody brings. Their pods run; only what asks for one of them by its name
/// gets no answer. A pod that is alone is not told from others, so that a set of one is spoken of only where its Service is called almost so.
pub(super) fn find(case: &Case<'_>, server: &str, findings: &mut Findings) {
    let live = case.of_kind(server, "apps", "StatefulSet").iter().copied();
    let wanted = case.apps().filter(|app| app.server() == server).flat_map(|app| app.wanted());
    let absent = wanted.map(|one| &one.object).filter(|one| {
        (one.group(), one.kind()) == ("apps", "StatefulSet") && case.is_absent(server, &one.key())
    });
    for set in live.chain(absent) {
        let Some(name) = set.value().str_at(&["spec", "serviceName"]).filter(|name| !name.is_empty()) else {
            continue;
        };
        let key = ObjectKey::new("", "Service", set.namespace(), name);
        let is_made = || {
            let origins = case.origins();
            !case.wanted(server, &key).is_empty()
                || origins.is_listed(server, &key)
                || !origins.of(server, &key).is_empty()
        };
        // What an operator makes it makes with all that belongs to it.
        let owner = case.owner(server, &set.key()).filter(|_| set.controller().is_none());
        if let Some(app) = owner.filter(|_| case.is_absent(server, &key) && !is_made()) {
            let near = near(case, server, &key);
            let is_several = set.value().int_at(&["spec", "replicas"]).unwrap_or(1) > 1;
            if is_several || near.is_some() {
                findings.add(found(server, set, &key, &app, near));
            }
        }
    }
}

/// The Service of the namespace that is called almost as one.
fn near<'a>(case: &Case<'a>, server: &str, key: &ObjectKey) -> Option<&'a str> {
    let there = case.of_kind(server, "", "Service").iter().copied();
    super::near::nearest(&key.name, there.filter(|one| one.namespace() == key.namespace).map(Object::name))
}

fn found(server: &str, set: &Object, key: &ObjectKey, app: &AppName, near: Option<&str>) -> Finding {
    let hint = near.map(|near| format!("; there is {near}")).unwrap_or_default();
    let cause = format!(
        "Service {} is named by StatefulSet {} and defined nowhere, so that its pods have no names of their own{hint}",
        key.name,
        set.name()
    );
    Finding::new("LYN0303", Node::object(server, key.clone()), cause)
        .of(Some(app.clone()))
        .severity(Severity::P3)
        .seen([Evidence::Field {
            object: set.key(),
            path: FieldPath::fields(["spec", "serviceName"]),
            value: words::quote(&key.name),
        }])
        .fix([bring(set, key, app)])
}

/// The Service that is named, for the pods of the set. The name itself cannot be changed in a set that is there.
fn bring(set: &Object, key: &ObjectKey, app: &AppName) -> Fix {
    let selector = set.at(&["spec", "selector", "matchLabels"]).cloned().unwrap_or(Value::Null);
    let object = value!({
        "apiVersion": "v1", "kind": "Service",
        "metadata": {"name": (key.name.as_str()), "namespace": (key.namespace.as_str())},
        "spec": {"clusterIP": "None", "selector": selector},
    });
    Fix::new(format!("Add Service {} without an address", key.name))
        .git(app, Place::Add { beside: set.key(), object })
        .risk(Risk::Low, "nothing that is there")
        .why("the name cannot be changed in a StatefulSet that is there")
        .verify(format!("kubectl -n {} get service {}", key.namespace, key.name))
}

#[cfg(test)]
mod tests {
    use crate::tests::check;

    const SET: &str = "
@app search Synced Healthy
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: es, namespace: shop}
spec: {replicas: 2, serviceName: es-headless, selector: {matchLabels: {app: es}}, template: {metadata: {labels: {app: es}}, spec: {containers: [{name: es, image: es}]}}}
@live
apiVersion: v1
kind: Service
metadata: {name: web, namespace: shop}
";

    #[test]
    fn a_service_that_gives_pods_their_names_is_missed() {
        assert_eq!(
            check("LYN0303", SET),
            "P3 LYN0303/search/Service/es-headless: Service es-headless is named by StatefulSet es and defined nowhere, so that its \
             pods have no names of their own\n  StatefulSet shop/es: spec.serviceName: es-headless\n  fix: Add Service es-headless \
             without an address\n"
        );
    }

    #[test]
    fn one_that_is_there_or_is_to_come_or_is_an_operators_is_not() {
        assert_eq!(check("LYN0303", &SET.replace("name: web,", "name: es-headless,")), "");
        let other = "@app other OutOfSync Missing\napiVersion: v1\nkind: Service\nmetadata: {name: es-headless, namespace: shop}\n";
        assert_eq!(check("LYN0303", &format!("{other}{SET}")), "");
        let made = SET.replace("namespace: shop}\nspec", "namespace: shop, ownerReferences: [{apiVersion: es/v1, kind: Es, name: a, uid: u, controller: true}]}\nspec");
        assert_eq!(check("LYN0303", &made), "");
        assert_eq!(check("LYN0303", &SET.replace("serviceName: es-headless, ", "")), "");
        let alone = SET.replace("replicas: 2", "replicas: 1");
        assert_eq!(check("LYN0303", &alone), "");
        let slip = alone.replace("name: web,", "name: es-headles,");
        assert!(check("LYN0303", &slip).contains("no names of their own; there is es-headles\n"));
    }
}
