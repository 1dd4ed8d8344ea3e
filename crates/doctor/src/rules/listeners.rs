//! Routes that name a listener which their Gateway has not, or send into a namespace that does not let them.

use lynceus_object::{FieldPath, Object, ObjectKey, value};

use super::missing_service::RULE;
use super::near;
use crate::case::Case;
use crate::finding::{Evidence, Finding, Findings};
use crate::fix::{Fix, Place, Risk};
use crate::words;

const GROUP: &str = "gateway.networking.k8s.io";

pub(super) fn find(case: &Case<'_>, server: &str, findings: &mut Findings) {
    for kind in ["HTTPRoute", "GRPCRoute", "TLSRoute", "TCPRoute"] {
        for route in case.of_kind(server, GROUP, kind).iter().copied().filter(|one| case.is_unwell(one)) {
            parents(case, server, route, findings);
            grants(case, server, route, findings);
        }
    }
}

fn parents(case: &Case<'_>, server: &str, route: &Object, findings: &mut Findings) {
    for (place, parent) in route.value().items_at(&["spec", "parentRefs"]).iter().enumerate() {
        let text = |field| parent.str_at(&[field]).filter(|text: &&str| !text.is_empty());
        let (Some(name), Some(section)) = (text("name"), text("sectionName")) else { continue };
        let namespace = text("namespace").unwrap_or(route.namespace());
        let Some(gateway) = case.live(server, &ObjectKey::new(GROUP, "Gateway", namespace, name)) else {
            continue;
        };
        let listeners = gateway.value().items_at(&["spec", "listeners"]).iter();
        let listeners: Vec<&str> = listeners.filter_map(|one| one.str_at(&["name"])).collect();
        if listeners.is_empty() || listeners.contains(&section) {
            continue;
        }
        let start = || {
            let begins = listeners.iter().copied().filter(|one| section.starts_with(&format!("{one}-")));
            begins.max_by_key(|one| one.len())
        };
        let meant = near::nearest(section, listeners.iter().copied()).or_else(start);
        let meant = meant.or_else(|| near::likely(section, listeners.iter().copied()));
        let key = route.key();
        let path = FieldPath::fields(["spec", "parentRefs"]).index(place).field("sectionName");
        let cause = format!(
            "{} {} names the listener {section} of Gateway {name}, which has {}",
            key.kind,
            key.name,
            words::list(&listeners)
        );
        let app = case.owner(server, &key);
        let fix = meant.zip(app.as_ref()).map(|(meant, app)| {
            let (object, path, value) = (key.clone(), path.clone(), Some(meant.into()));
            Fix::new(format!("Name listener {meant}"))
                .git(app, Place::Field { object, path, value })
                .risk(Risk::Low, "requests that are not answered now")
                .why("it is there")
        });
        let seen = Evidence::Field { object: key.clone(), path, value: section.to_owned() };
        findings.add(Finding::new(RULE.code, case.node(server, &key), cause).of(app).seen([seen]).fix(fix));
    }
}

fn grants(case: &Case<'_>, server: &str, route: &Object, findings: &mut Findings) {
    let parents = route.value().items_at(&["status", "parents"]).iter();
    let mut said = parents
        .flat_map(|one| one.items_at(&["conditions"]))
        .filter_map(|one| one.str_at(&["message"]).filter(|text| text.contains("ReferenceGrant")));
    let Some(said) = said.next() else { return };
    for (rule, one) in route.value().items_at(&["spec", "rules"]).iter().enumerate() {
        for (place, backend) in one.items_at(&["backendRefs"]).iter().enumerate() {
            let namespace = backend.str_at(&["namespace"]).unwrap_or(route.namespace());
            let Some(name) = backend.str_at(&["name"]).filter(|_| namespace != route.namespace()) else {
                continue;
            };
            if said.contains(&format!("{namespace}/{name}")) {
                let path = FieldPath::fields(["spec", "rules"]).index(rule).field("backendRefs").index(place);
                findings.add(ungranted(case, server, route, (path, said), (namespace, name)));
            }
        }
    }
}

fn ungranted(
    case: &Case<'_>,
    server: &str,
    route: &Object,
    (path, said): (FieldPath, &str),
    (namespace, name): (&str, &str),
) -> Finding {
    let key = route.key();
    let cause = format!(
        "{} {} sends to Service {namespace}/{name}, and no ReferenceGrant of namespace {namespace} lets it",
        key.kind, key.name
    );
    let service = ObjectKey::new("", "Service", namespace, name);
    let object = value!({
        "apiVersion": "gateway.networking.k8s.io/v1beta1", "kind": "ReferenceGrant",
        "metadata": {"name": (format!("{}-{}", route.namespace(), key.name)), "namespace": namespace},
        "spec": {
            "from": [{"group": GROUP, "kind": (key.kind.as_str()), "namespace": (route.namespace())}],
            "to": [{"group": "", "kind": "Service", "name": name}],
        },
    });
    let fix = case.owner(server, &service).map(|app| {
        Fix::new(format!("Let {} of namespace {} send to Service {name}", key.kind, route.namespace()))
            .git(&app, Place::Add { beside: service.clone(), object })
            .risk(Risk::Low, format!("who may send to Service {name}"))
            .why("the namespace of a service decides who from elsewhere may send to it")
    });
    Finding::new(RULE.code, case.node(server, &key), cause)
        .of(case.owner(server, &key))
        .seen([
            Evidence::Field {
                object: key.clone(),
                path: path.field("namespace"),
                value: namespace.to_owned(),
            },
            Evidence::seen(words::quote(said)),
        ])
        .fix(fix)
}

#[cfg(test)]
mod tests {
    use crate::tests::check;

    const ROUTE: &str = "
@app shop Synced Degraded
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: shop, namespace: shop}
@live
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: public, namespace: infra}
spec: {listeners: [{name: http}, {name: https}]}
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: shop, namespace: shop}
spec: {parentRefs: [{name: public, namespace: infra, sectionName: http-public}]}
status: {parents: [{parentRef: {name: public}, conditions: [{type: Accepted, status: 'False', message: No listeners match this parent ref}]}]}
";

    #[test]
    fn a_listener_that_the_gateway_has_not_is_found() {
        let found = check("LYN0303", ROUTE);
        assert!(
            found.contains(
                "HTTPRoute shop names the listener http-public of Gateway public, which has http and https\n"
            ),
            "{found}"
        );
        assert!(found.contains("  fix: Name listener http\n"), "{found}");
        assert!(!check("LYN0303", &ROUTE.replace("http-public", "https")).contains("listener"));
    }
}
