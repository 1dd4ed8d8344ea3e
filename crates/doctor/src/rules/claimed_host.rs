//! A host that another object has already.

use lynceus_object::{FieldPath, Object, ObjectKey, Value};

use crate::case::Case;
use crate::finding::{Evidence, Finding, Findings};
use crate::fix::{Fix, Place, Risk};
use crate::rules::Rule;
use crate::words;

pub(super) const RULE: Rule = Rule {
    code: "LYN0307",
    title: "The host belongs to another route",
    explanation: "\
A Route, an Ingress or a route of a gateway asks for a host that an older one has. The router lets the older one keep it and does not
admit the new one: requests still go where they went before.

## Why
Something was moved to another namespace or application and the old one was left behind, or the same host was copied into a second
environment.

## Example
```
Route shop/web: Admitted: False, HostAlreadyClaimed: route legacy/web already exposes web.example.org and is older
```

## What to do
Remove the old one if it is no longer needed. Otherwise give the new one a host of its own.
",
    check,
};

/// What routers call it.
const REASONS: [&str; 3] = ["HostAlreadyClaimed", "HostnameConflict", "HostnameAlreadyInUse"];
const KINDS: [(&str, &str); 4] = [
    ("route.openshift.io", "Route"),
    ("networking.k8s.io", "Ingress"),
    ("gateway.networking.k8s.io", "HTTPRoute"),
    ("gateway.networking.k8s.io", "TLSRoute"),
];

fn check(case: &Case<'_>, findings: &mut Findings) {
    for server in case.servers() {
        for (group, kind) in KINDS {
            for route in case.of_kind(server, group, kind) {
                if let Some((host, said)) = refusal(route) {
                    findings.add(found(case, server, route, host, said));
                }
            }
        }
    }
}

/// The host that a router refuses, and what it says. Routers write below `status.ingress` or `status.parents`, each for itself.
fn refusal(route: &Object) -> Option<(Option<&str>, &str)> {
    let routers = ["ingress", "parents"].iter().flat_map(|field| route.value().items_at(&["status", field]));
    let mut conditions = routers.flat_map(|router| {
        let host = router.str_at(&["host"]);
        router.items_at(&["conditions"]).iter().map(move |one| (host, one))
    });
    let (host, one) = conditions.find(|(_, one)| {
        one.str_at(&["status"]) == Some("False")
            && REASONS.contains(&one.str_at(&["reason"]).unwrap_or_default())
    })?;
    let host = host.or_else(|| hosts(route).next());
    Some((host, one.str_at(&["message"]).unwrap_or_default()))
}

/// The hosts that a route asks for.
fn hosts(route: &Object) -> impl Iterator<Item = &str> {
    let own = route.value().str_at(&["spec", "host"]).into_iter();
    let listed = route.value().items_at(&["spec", "hostnames"]).iter().filter_map(Value::as_str);
    let rules = route.value().items_at(&["spec", "rules"]).iter().filter_map(|rule| rule.str_at(&["host"]));
    own.chain(listed).chain(rules).filter(|host| !host.is_empty())
}

/// The one that has the host: the one that is named in what is said, or the only other one that asks for it.
fn holder<'a>(
    case: &Case<'a>,
    server: &str,
    route: &Object,
    host: Option<&str>,
    said: &str,
) -> Option<&'a Object> {
    let others = case.of_kind(server, route.group(), route.kind()).iter().copied();
    let asks = |other: &&Object| host.is_some_and(|host| hosts(other).any(|one| one == host));
    let mut others =
        others.filter(|other| other.key() != route.key()).filter(asks).filter(|one| refusal(one).is_none());
    let all: Vec<&Object> = others.by_ref().collect();
    let is_named = |other: &&&Object| said.contains(&format!("{}/{}", other.namespace(), other.name()));
    let only = all.first().filter(|_| all.len() == 1);
    all.iter().find(is_named).or(only).copied()
}

fn found(case: &Case<'_>, server: &str, route: &Object, host: Option<&str>, said: &str) -> Finding {
    let key = route.key();
    let holder = holder(case, server, route, host, said);
    let who = match holder {
        Some(holder) => format!("{} {}/{} has it already", holder.kind(), holder.namespace(), holder.name()),
        None if said.is_empty() => "another one has it already".to_owned(),
        None => words::quote(said),
    };
    let what = host.map_or_else(|| "a host".to_owned(), |host| format!("host {host}"));
    let cause = format!("{} {} is not admitted for {what}: {who}", key.kind, key.name);
    let seen = Evidence::Field {
        object: key.clone(),
        path: FieldPath::fields(["status"]),
        value: words::quote(if said.is_empty() { "the host is claimed by another" } else { said }),
    };
    Finding::new(RULE.code, case.node(server, &key), cause)
        .of(case.owner(server, &key))
        .seen([seen])
        .fix(holder.map(|holder| release(case, server, &holder.key(), &key)))
        .fix([Fix::new(format!("Give {} {} another host", key.kind, key.name))
            .person(format!("set another host in {} {}, in the files that it comes from", key.kind, key.name))
            .risk(Risk::Low, format!("{} {}, which gets no requests now", key.kind, key.name))
            .why("right where both are needed")])
}

/// The old one taken away, in Git where it stands there.
fn release(case: &Case<'_>, server: &str, old: &ObjectKey, new: &ObjectKey) -> Fix {
    let name = format!("{} {}/{}", old.kind, old.namespace, old.name);
    let fix = Fix::new(format!("Remove {name}"))
        .risk(Risk::High, format!("requests that still go to {name}"))
        .why("right where it was left behind");
    let wanted = |key| case.wanted(server, key).into_iter().next();
    match (wanted(old), wanted(new)) {
        // What both are made of cannot be taken from one of them alone.
        (Some((owner, one)), Some((other, same))) if one.span.is_some() && one.span == same.span => fix
            .person(format!(
                "{} and {} are made of the same files: remove application {0}",
                owner.name, other.name
            )),
        (Some((owner, _)), _) => fix.git(&owner.name, Place::Remove { object: old.clone() }),
        (None, _) => fix.person(format!(
            "kubectl -n {} delete {} {}",
            old.namespace,
            old.kind.to_lowercase(),
            old.name
        )),
    }
}

#[cfg(test)]
mod tests {
    use crate::tests::{check, roots};

    const CLAIMED: &str = "
@app front Synced Degraded
apiVersion: route.openshift.io/v1
kind: Route
metadata: {name: front, namespace: shop}
spec: {host: front.example.org}
@live
apiVersion: route.openshift.io/v1
kind: Route
metadata: {name: front, namespace: shop}
spec: {host: front.example.org}
status:
  ingress:
  - host: front.example.org
    conditions: [{type: Admitted, status: 'False', reason: HostAlreadyClaimed, message: route front already exposes front.example.org and is older}]
---
apiVersion: route.openshift.io/v1
kind: Route
metadata: {name: front, namespace: legacy}
spec: {host: front.example.org}
status: {ingress: [{host: front.example.org, conditions: [{type: Admitted, status: 'True'}]}]}
";

    #[test]
    fn a_host_that_an_older_route_has_is_found() {
        assert_eq!(
            check("LYN0307", CLAIMED),
            "P1 LYN0307/front/Route/front: Route front is not admitted for host front.example.org: Route legacy/front has it already\n  \
             Route shop/front: status: route front already exposes front.example.org and is older\n  fix: Remove Route legacy/front\n  \
             fix: Give Route front another host\n"
        );
        assert_eq!(roots(CLAIMED), "P1 LYN0307/front/Route/front explains front\n");
    }

    #[test]
    fn a_route_that_is_refused_for_something_else_is_not() {
        assert_eq!(check("LYN0307", &CLAIMED.replace("HostAlreadyClaimed", "ExtendedValidationFailed")), "");
    }
}
