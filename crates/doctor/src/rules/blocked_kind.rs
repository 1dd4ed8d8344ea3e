//! A kind that is not served because whoever brings its definition has not done so.

use std::collections::BTreeSet;

use lynceus_object::GroupKind;

use crate::case::Case;
use crate::finding::{Evidence, Finding, Findings};
use crate::fix::{Action, Fix, Risk};
use crate::links::kind::{self, Provider, Providers, User};
use crate::node::{AppName, Node};
use crate::rules::Rule;
use crate::words;

pub(super) const RULE: Rule = Rule {
    code: "LYN0202",
    title: "The application that brings a kind is stuck",
    explanation: "\
An application has objects of a kind that its cluster does not know. Another application has the definition in its sources and
has not applied it yet.

## Why
The application with the definition comes in an earlier wave and is itself stopped by something. Look at that first: everything
else follows.

## Example
```
application common-services  wave 0  OutOfSync Missing   has CustomResourceDefinition virtualservices.networking.istio.io
application web-apps         wave 4  OutOfSync Missing   has VirtualService dashboard
```

## What to do
Mend and sync the application that brings the definition. Then sync those that use it again.
",
    check,
};

fn check(case: &Case<'_>, findings: &mut Findings) {
    let providers = Providers::new(case);
    for ((server, kind), users) in kind::unserved(case) {
        let providers = providers.of(server, &kind);
        let users: Vec<User<'_, '_>> = users
            .into_iter()
            .filter(|user| !providers.iter().any(|provider| provider.app == user.app.name))
            .collect();
        if !providers.is_empty() && !users.is_empty() {
            findings.add(found(case, server, &kind, &users, &providers));
        }
    }
}

fn found(
    case: &Case<'_>,
    server: &str,
    kind: &GroupKind,
    users: &[User<'_, '_>],
    providers: &[&Provider],
) -> Finding {
    let bringers: BTreeSet<&AppName> = providers.iter().map(|one| &one.app).collect();
    let names = words::list(bringers.iter().map(|name| name.name.as_str()));
    let cause =
        format!("kind {kind} is not served yet: {names} brings its definition and has not applied it");
    let apps: BTreeSet<Node> = users.iter().map(|user| user.app.node()).collect();
    let first = users.first().map(|user| user.app.name.clone());
    let told = users.iter().find_map(|user| Some(user.app.status(user.told?)));
    let sync = bringers.iter().next().map(|name| {
        let fix = Fix::new(format!("Sync {name}, and then what waits for it"))
            .cluster(Action::Sync { application: (*name).clone() })
            .risk(Risk::Low, format!("what {name} brings"))
            .verify(format!("kubectl get crd | grep -i {}", kind.kind.to_lowercase()));
        apps.iter().fold(fix, |fix, app| match app {
            Node::Application(name) => fix.cluster(Action::Sync { application: name.clone() }),
            _ => fix,
        })
    });
    let subject = Node::Kind { cluster: server.into(), kind: kind.clone() };
    Finding::new(RULE.code, subject, cause)
        .of(first)
        .seen(providers.iter().map(|one| stands(case, one)))
        .seen(told)
        .affects(apps)
        .because(bringers.into_iter().map(|name| Node::Application(name.clone())))
        .fix(sync)
}

/// Where the definition is, and how its application is.
fn stands(case: &Case<'_>, provider: &Provider) -> Evidence {
    let app = case.app(&provider.app);
    let file = app.and_then(|app| {
        let wanted = app.wants(&provider.definition)?;
        app.file(wanted, format!("{} brings {}", app.name, provider.definition.name))
    });
    file.unwrap_or_else(|| Evidence::seen(format!("{} has {}", provider.app, provider.definition.name)))
}

#[cfg(test)]
mod tests {
    use crate::tests::{check, roots};

    const CHAIN: &str = "
@app common OutOfSync Missing
@condition InvalidSpecError Namespace for settings /v1, Kind=ConfigMap is missing.
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: virtualservices.networking.istio.io}
spec: {group: networking.istio.io, names: {kind: VirtualService}}
@app web OutOfSync Missing
apiVersion: networking.istio.io/v1
kind: VirtualService
metadata: {name: web, namespace: kf}
";

    #[test]
    fn a_kind_whose_definition_another_application_has_not_applied_is_found() {
        assert_eq!(
            check("LYN0202", CHAIN),
            "P1 LYN0202/web/Kind/VirtualService.networking.istio.io: kind VirtualService.networking.istio.io is not served \
             yet: common brings its definition and has not applied it\n  common.yaml:1: common brings \
             virtualservices.networking.istio.io\n  fix: Sync common, and then what waits for it\n"
        );
    }

    #[test]
    fn what_stops_the_application_that_brings_it_is_the_cause_of_both() {
        assert_eq!(roots(CHAIN), "P0 LYN0204/common/Application/common explains common web\n");
    }

    #[test]
    fn a_definition_that_an_unread_application_lists_counts() {
        let text = "
@app common OutOfSync Missing
@unrendered
@status {resources: [{group: apiextensions.k8s.io, kind: CustomResourceDefinition, name: virtualservices.networking.istio.io, status: OutOfSync}]}
@app web OutOfSync Missing
apiVersion: networking.istio.io/v1
kind: VirtualService
metadata: {name: web, namespace: kf}
";
        assert!(check("LYN0202", text).contains("common brings its definition"));
        assert_eq!(check("LYN0201", text), "");
    }

    #[test]
    fn an_application_that_brings_its_own_definitions_is_not_found() {
        let own = CHAIN.replace("@app web OutOfSync Missing", "---");
        assert_eq!(check("LYN0202", &own), "");
    }
}
