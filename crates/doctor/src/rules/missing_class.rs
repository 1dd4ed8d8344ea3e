//! Classes that are named and not there.

use std::collections::{BTreeMap, BTreeSet};

use lynceus_object::{FieldPath, Object, ObjectKey, Value};

use super::near;
use crate::case::Case;
use crate::finding::{Evidence, Finding, Findings};
use crate::fix::{Fix, Place, Risk};
use crate::links::class::{self, Named};
use crate::node::Node;
use crate::rules::Rule;
use crate::rules::unhealthy::is_in_peace;
use crate::words;

pub(super) const RULE: Rule = Rule {
    code: "LYN0304",
    title: "A class is named that is not there",
    explanation: "\
An Ingress, a Gateway or pods name a class that the cluster has not and that no application brings. An Ingress then gets no address,
and pods are refused. The runtime that a model of KServe names is such a class, too: without it the model is not served.

## Why
Classes come with controllers: the one that brings it is not installed here, or gives its class another name. An Ingress that names none
has the class that is marked as the default, and nobody's if none is.

## Example
```
ingressClassName: nginx-internal        there is IngressClass nginx
pods \"web-1\" is forbidden: no PriorityClass with name high was found
```

## What to do
Name a class that is there, or install what brings the one that is named.
",
    check,
};

fn check(case: &Case<'_>, findings: &mut Findings) {
    let mut missing: BTreeMap<(&str, ObjectKey), Vec<Named<'_>>> = BTreeMap::new();
    for named in class::absent(case) {
        if case.wanted(named.server, &named.class).is_empty() {
            missing.entry((named.server, named.class.clone())).or_default().push(named);
        }
    }
    for ((server, class), users) in missing {
        findings.add(found(case, server, class, &users));
    }
    for server in case.servers() {
        let entries = case.of_kind(server, "networking.k8s.io", "Ingress").iter().copied();
        for entry in entries.filter(|entry| is_unnamed(entry) && case.is_unwell(entry)) {
            if !is_in_peace(case, server, entry) {
                unnamed(case, server, entry).into_iter().for_each(|finding| findings.add(finding));
            }
        }
    }
}

/// Whether an Ingress names no class, in the field or as it was done before there was one.
fn is_unnamed(entry: &Object) -> bool {
    let named = entry.value().str_at(&["spec", "ingressClassName"]);
    named.or_else(|| entry.annotation("kubernetes.io/ingress.class")).is_none()
}

const DEFAULT: &str = "ingressclass.kubernetes.io/is-default-class";

/// An Ingress that names no class where none is the default, so that nobody serves it.
fn unnamed(case: &Case<'_>, server: &str, entry: &Object) -> Option<Finding> {
    let is_class =
        |object: &&Object| object.kind() == "IngressClass" && object.group() == "networking.k8s.io";
    let live = case.of_kind(server, "networking.k8s.io", "IngressClass").iter().copied();
    let wanted = case.apps().filter(|app| app.server() == server).flat_map(|app| app.wanted());
    let all: Vec<&Object> = live.chain(wanted.map(|one| &one.object).filter(is_class)).collect();
    let is_seen = case.is_absent(server, &ObjectKey::new("networking.k8s.io", "IngressClass", "", ""));
    if !is_seen || all.iter().any(|class| class.annotation(DEFAULT) == Some("true")) {
        return None;
    }
    // Where there are no classes at all, some controller may serve what names none.
    let names: BTreeSet<&str> = all.iter().map(|class| class.name()).collect();
    names.first()?;
    let key = entry.key();
    let cause = format!(
        "Ingress {} names no class, and none is the default; there {} {}",
        key.name,
        if names.len() == 1 { "is" } else { "are" },
        words::list(&names)
    );
    let path = FieldPath::fields(["spec", "ingressClassName"]);
    let only = names.first().filter(|_| names.len() == 1);
    let app = case.owner(server, &key);
    let take = only.zip(app.as_ref()).map(|(name, app)| {
        let value = Some(Value::from(*name));
        Fix::new(format!("Name IngressClass {name}"))
            .git(app, Place::Field { object: key.clone(), path: path.clone(), value })
            .risk(Risk::Low, "what does not work now")
            .why("it is there")
    });
    let by_hand = Fix::new("Have a class be the default, or name one")
        .person(format!(
            "name a class in spec.ingressClassName of Ingress {}, or set {DEFAULT}: \"true\" on the class that is meant for all",
            key.name
        ))
        .verify("kubectl get ingressclass");
    let finding = Finding::new(RULE.code, case.node(server, &key), cause).of(app);
    Some(finding.fix(take).fix([by_hand]))
}

fn found(case: &Case<'_>, server: &str, class: ObjectKey, users: &[Named<'_>]) -> Finding {
    let like = ["", "Cluster"].map(|wide| format!("{wide}{}", class.kind));
    let all = like.iter().flat_map(|kind| case.of_kind(server, &class.group, kind));
    let mut there: Vec<&str> = all
        .filter(|one| one.namespace().is_empty() || one.namespace() == class.namespace)
        .map(|one| one.name())
        .collect();
    there.sort_unstable();
    let near = near::likely(&class.name, there.iter().copied())
        .or(there.first().copied().filter(|_| there.len() == 1));
    let names = words::list(users.iter().map(|one| format!("{} {}", one.holder.kind(), one.holder.name())));
    let others = match there.is_empty() {
        true => String::new(),
        false => format!("; there {} {}", if there.len() == 1 { "is" } else { "are" }, words::list(&there)),
    };
    let cause = format!(
        "there is no {} {}, which {names} names, and nobody brings it{others}",
        class.kind, class.name
    );
    let evidence = users.iter().map(|one| Evidence::Field {
        object: one.holder.key(),
        path: one.path.clone(),
        value: class.name.to_string(),
    });
    Finding::new(RULE.code, Node::object(server, class.clone()), cause)
        .of(users.iter().find_map(|one| case.owner(server, &one.holder.key())))
        .seen(evidence.take(crate::limits::NAMED))
        .affects(users.iter().map(|one| case.node(server, &one.holder.key())))
        .fix(near.and_then(|near| take(case, near, &class, users)))
        .fix([Fix::new(format!("Bring {} {}", class.kind, class.name))
            .person(format!(
                "install what comes with {} {}, or add it to an application",
                class.kind, class.name
            ))
            .verify(format!("kubectl get {}", class.kind.to_lowercase()))])
}

/// Has all who name it name another.
fn take(case: &Case<'_>, other: &str, class: &ObjectKey, users: &[Named<'_>]) -> Option<Fix> {
    let mut fix = Fix::new(format!("Name {} {other}", class.kind));
    for one in users {
        if let Some(app) = case.owner(one.server, &one.holder.key()) {
            let value = Some(Value::from(other));
            fix = fix.git(&app, Place::Field { object: one.holder.key(), path: one.path.clone(), value });
        }
    }
    fix.has_edits().then(|| fix.risk(Risk::Low, "what does not work now").why("it is there"))
}

#[cfg(test)]
mod tests {
    use crate::tests::{check, roots};

    const NO_CLASS: &str = "
@app web Synced Progressing
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: web, namespace: shop}
spec: {ingressClassName: ngnix}
@live
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: web, namespace: shop}
spec: {ingressClassName: ngnix}
---
apiVersion: networking.k8s.io/v1
kind: IngressClass
metadata: {name: nginx}
";

    #[test]
    fn a_class_that_is_not_there_is_found() {
        assert_eq!(
            check("LYN0304", NO_CLASS),
            "P1 LYN0304/web/IngressClass/ngnix: there is no IngressClass ngnix, which Ingress web names, and nobody brings it; \
             there is nginx\n  Ingress shop/web: spec.ingressClassName: ngnix\n  fix: Name IngressClass nginx\n  fix: Bring \
             IngressClass ngnix\n"
        );
        assert_eq!(roots(NO_CLASS), "P1 LYN0304/web/IngressClass/ngnix explains web\n");
    }

    #[test]
    fn a_runtime_that_is_not_there_is_found_and_one_of_the_whole_cluster_serves() {
        let model = "\
apiVersion: serving.kserve.io/v1beta1
kind: InferenceService
metadata: {name: fraud, namespace: models}
spec: {predictor: {model: {modelFormat: {name: sklearn}, runtime: sklearn-cpu}}}
";
        let text = format!(
            "@app fraud Synced Degraded\n{model}@live\n{model}status: {{conditions: [{{type: Ready, status: 'False'}}]}}\n---\napiVersion: \
             serving.kserve.io/v1alpha1\nkind: ClusterServingRuntime\nmetadata: {{name: sklearn-gpu}}\n"
        );
        assert_eq!(
            check("LYN0304", &text),
            "P1 LYN0304/fraud/ServingRuntime/sklearn-cpu: there is no ServingRuntime sklearn-cpu, which InferenceService fraud names, \
             and nobody brings it; there is sklearn-gpu\n  InferenceService models/fraud: spec.predictor.model.runtime: \
             sklearn-cpu\n  fix: Name ServingRuntime sklearn-gpu\n  fix: Bring ServingRuntime sklearn-cpu\n"
        );
        assert_eq!(check("LYN0304", &text.replace("name: sklearn-gpu", "name: sklearn-cpu")), "");
    }

    #[test]
    fn an_ingress_that_has_an_address_has_somebody_who_serves_it() {
        let served = NO_CLASS.replace(
            "spec: {ingressClassName: ngnix}\n---",
            "spec: {ingressClassName: ngnix}\nstatus: {loadBalancer: {ingress: [{ip: 10.0.0.1}]}}\n---",
        );
        assert_eq!(check("LYN0304", &served), "");
    }

    #[test]
    fn an_ingress_without_a_class_is_found_where_none_is_the_default() {
        let text = NO_CLASS.replace("spec: {ingressClassName: ngnix}", "spec: {}");
        assert_eq!(
            check("LYN0304", &text),
            "P1 LYN0304/web/Ingress/web: Ingress web names no class, and none is the default; there is nginx\n  fix: Name \
             IngressClass nginx\n  fix: Have a class be the default, or name one\n"
        );
        assert_eq!(roots(&text), "P1 LYN0304/web/Ingress/web explains web\n");
        let marked = text.replace(
            "{name: nginx}",
            "{name: nginx, annotations: {ingressclass.kubernetes.io/is-default-class: 'true'}}",
        );
        assert_eq!(check("LYN0304", &marked), "");
        let old = text.replace(
            "{name: web, namespace: shop}",
            "{name: web, namespace: shop, annotations: {kubernetes.io/ingress.class: nginx}}",
        );
        assert_eq!(check("LYN0304", &old), "");
        let served = text
            .replace("spec: {}\n---", "spec: {}\nstatus: {loadBalancer: {ingress: [{ip: 10.0.0.1}]}}\n---");
        assert_eq!(check("LYN0304", &served), "");
    }

    #[test]
    fn a_class_that_somebody_brings_is_waited_for() {
        let brought = format!(
            "@app ingress OutOfSync Missing\napiVersion: networking.k8s.io/v1\nkind: IngressClass\nmetadata: {{name: ngnix}}\n{NO_CLASS}"
        );
        assert_eq!(check("LYN0304", &brought), "");
    }

    #[test]
    fn an_ingress_that_a_stopped_sync_has_not_come_to_is_told_where_other_classes_are_there() {
        let (wanted, _) = NO_CLASS.split_once("@live").unwrap();
        let class = "apiVersion: networking.k8s.io/v1\nkind: IngressClass\nmetadata: {name: nginx}\n";
        let text = format!("{wanted}@live\n{class}");
        assert_eq!(roots(&text), "P1 LYN0304/web/IngressClass/ngnix explains web\n");
        assert_eq!(check("LYN0304", wanted), "", "a controller may go by the name alone");
        assert_eq!(
            check("LYN0304", &format!("@app ngnix-eu OutOfSync Missing\n{text}")),
            "",
            "it may bring the class"
        );
        let other = format!(
            "{text}---\napiVersion: networking.k8s.io/v1\nkind: Ingress\nmetadata: {{name: other, namespace: shop}}\nspec: \
                             {{ingressClassName: ngnix}}\nstatus: {{loadBalancer: {{ingress: [{{ip: 10.0.0.1}}]}}}}\n"
        );
        assert_eq!(check("LYN0304", &other), "", "somebody serves it");
    }
}
