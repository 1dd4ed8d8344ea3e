//! An issuer of certificates that is not there, or not ready.

use std::collections::BTreeMap;

use lynceus_object::{FieldPath, Object, ObjectKey, Value};

use super::near;
use crate::case::Case;
use crate::finding::{Evidence, Finding, Findings};
use crate::fix::{Fix, Place, Risk};
use crate::node::Node;
use crate::rules::Rule;
use crate::words;

const GROUP: &str = "cert-manager.io";

pub(super) const RULE: Rule = Rule {
    code: "LYN0707",
    title: "An issuer of certificates is missing or not ready",
    explanation: "\
Certificates name an Issuer or ClusterIssuer that does not exist, or that cannot issue: its account is not registered, or the key
pair that it signs with is not there. The certificates' Secrets are not made, and what mounts them does not start.

## Why
The issuer is brought by another application or in another namespace, or its name differs between environments.

## Example
```
Certificate web-tls: Referenced \"ClusterIssuer\" not found: clusterissuer.cert-manager.io \"letsencrypt\" not found
```

## What to do
Add the issuer, or name one that there is. A ClusterIssuer serves all namespaces, an Issuer only its own.
",
    check,
};

fn check(case: &Case<'_>, findings: &mut Findings) {
    for server in case.servers() {
        for kind in ["Issuer", "ClusterIssuer"] {
            for issuer in case.of_kind(server, GROUP, kind).iter().filter(|issuer| is_refused(issuer)) {
                findings.add(unready(case, server, issuer));
            }
        }
        for (key, users) in absent(case, server) {
            findings.add(missing(case, server, &key, &users));
        }
    }
}

/// Whether an issuer says that it cannot issue, and not only that it is being set up.
fn is_refused(issuer: &Object) -> bool {
    crate::case::condition(issuer, "Ready") == Some("False")
}

fn unready(case: &Case<'_>, server: &str, issuer: &Object) -> Finding {
    let key = issuer.key();
    let conditions = issuer.value().items_at(&["status", "conditions"]).iter();
    let said = conditions
        .filter_map(|one| one.str_at(&["message"]))
        .find(|text| !text.is_empty())
        .unwrap_or_default();
    let why = if said.is_empty() { String::new() } else { format!(": {}", words::quote(said)) };
    let seen = Evidence::Field {
        object: key.clone(),
        path: FieldPath::fields(["status", "conditions"]),
        value: words::quote(said),
    };
    let fix = Fix::new(format!("Have {} {} issue", key.kind, key.name))
        .person(format!("Mend what {} {} says is wrong.", key.kind, key.name))
        .risk(Risk::Low, "the certificates that it issues")
        .verify("kubectl get issuers,clusterissuers -A");
    Finding::new(
        RULE.code,
        Node::object(server, key.clone()),
        format!("{} {} cannot issue{why}", key.kind, key.name),
    )
    .of(case.owner(server, &key))
    .seen([seen])
    .because(secrets(issuer, server))
    .unless_deeper()
    .fix([fix])
}

/// The Secret that an issuer signs with.
fn secrets(issuer: &Object, server: &str) -> Option<Node> {
    let name = issuer.value().str_at(&["spec", "ca", "secretName"])?;
    // That of a ClusterIssuer is where cert-manager itself is, which only its own settings say.
    (!issuer.namespace().is_empty())
        .then(|| Node::object(server, ObjectKey::new("", "Secret", issuer.namespace(), name)))
}

/// Issuers that are named and nowhere, with what names them.
fn absent<'a>(case: &Case<'a>, server: &str) -> BTreeMap<ObjectKey, Vec<&'a Object>> {
    let mut named: BTreeMap<ObjectKey, Vec<&'a Object>> = BTreeMap::new();
    for certificate in case.of_kind(server, GROUP, "Certificate").iter().filter(|one| case.is_unwell(one)) {
        let part = |field| {
            certificate.value().str_at(&["spec", "issuerRef", field]).filter(|text: &&str| !text.is_empty())
        };
        let (Some(name), kind) = (part("name"), part("kind").unwrap_or("Issuer")) else { continue };
        if part("group").is_some_and(|group| group != GROUP) {
            continue;
        }
        let namespace = if kind == "ClusterIssuer" { "" } else { certificate.namespace() };
        let key = ObjectKey::new(GROUP, kind, namespace, name);
        if case.is_nowhere(server, &key) {
            named.entry(key).or_default().push(certificate);
        }
    }
    named
}

fn missing(case: &Case<'_>, server: &str, key: &ObjectKey, users: &[&Object]) -> Finding {
    let names =
        words::list(users.iter().map(|user| format!("Certificate {}/{}", user.namespace(), user.name())));
    let there = case.of_kind(server, GROUP, &key.kind).iter();
    let there = there.filter(|one| one.namespace() == key.namespace.as_str()).map(|one| one.name());
    let near = near::likely(&key.name, there);
    let wide = other_kind(case, server, key).filter(|_| near.is_none());
    let cause = format!(
        "there is no {} {}{}, which {names} name{}{}",
        key.kind,
        key.name,
        case.of_cluster(server),
        if users.len() == 1 { "s" } else { "" },
        match (near, wide) {
            (Some(near), _) => format!("; there is {near}"),
            (None, Some(kind)) => format!("; there is a {kind} of that name"),
            (None, None) => String::new(),
        }
    );
    let seen = users.iter().take(crate::limits::NAMED).map(|user| Evidence::Field {
        object: user.key(),
        path: FieldPath::fields(["spec", "issuerRef"]),
        value: user.at(&["spec", "issuerRef"]).map(words::shown).unwrap_or_default(),
    });
    let fix = Fix::new(format!("Add {} {}", key.kind, key.name))
        .person(format!(
            "Add {} {} to Git, or name an issuer that there is in spec.issuerRef.",
            key.kind, key.name
        ))
        .risk(Risk::Low, "the certificates that name it")
        .verify("kubectl get certificates -A");
    Finding::new(RULE.code, Node::object(server, key.clone()), cause)
        .of(users.first().and_then(|user| case.owner(server, &user.key())))
        .seen(seen)
        .affects(users.iter().map(|user| case.node(server, &user.key())))
        .fix(near.and_then(|near| set(case, server, ("name", near), users)))
        .fix(wide.and_then(|kind| set(case, server, ("kind", kind), users)))
        .fix([fix])
}

/// The other kind of issuer, if one of that name is there or wanted and serves those who name it.
fn other_kind(case: &Case<'_>, server: &str, key: &ObjectKey) -> Option<&'static str> {
    (key.kind == "Issuer").then_some("ClusterIssuer").filter(|kind| {
        let other = ObjectKey::new(GROUP, *kind, "", key.name.clone());
        case.live(server, &other).is_some() || !case.wanted(server, &other).is_empty()
    })
}

/// Has the certificates name another issuer, or another kind of it.
fn set(case: &Case<'_>, server: &str, (field, value): (&str, &str), users: &[&Object]) -> Option<Fix> {
    let title = if field == "kind" { format!("Say that it is a {value}") } else { format!("Name {value}") };
    let fix = users.iter().fold(Fix::new(title), |fix, user| match case.owner(server, &user.key()) {
        Some(app) => {
            let path = FieldPath::fields(["spec", "issuerRef", field]);
            fix.git(&app, Place::Field { object: user.key(), path, value: Some(Value::from(value)) })
        }
        None => fix,
    });
    let fix = fix.risk(Risk::Low, "the certificates that name it").verify("kubectl get certificates -A");
    let why = if field == "kind" { "it is called so" } else { "it is there, and is called almost so" };
    fix.has_edits().then(|| fix.why(why))
}

#[cfg(test)]
mod tests {
    use crate::tests::check;

    const CERTIFICATE: &str = "
@live
apiVersion: cert-manager.io/v1
kind: Certificate
metadata: {name: web, namespace: shop}
spec: {secretName: web-tls, issuerRef: {kind: ClusterIssuer, name: letsencrypt}}
status: {conditions: [{type: Ready, status: 'False', reason: DoesNotExist, message: Issuing certificate as Secret does not exist}]}
";

    #[test]
    fn an_issuer_that_is_nowhere_is_found() {
        assert_eq!(
            check("LYN0707", CERTIFICATE),
            "P1 LYN0707/-/ClusterIssuer/letsencrypt: there is no ClusterIssuer letsencrypt, which Certificate shop/web names\n  Certificate shop/web: spec.issuerRef: {\"kind\":\"ClusterIssuer\",\"name\":\"letsencrypt\"}\n  fix: Add ClusterIssuer letsencrypt\n"
        );
    }

    #[test]
    fn an_issuer_of_the_other_kind_is_named() {
        let text = CERTIFICATE.replace("kind: ClusterIssuer, name: letsencrypt", "name: company");
        let wanted = text.replace("@live", "@app web Synced Degraded");
        let wide = "---\napiVersion: cert-manager.io/v1\nkind: ClusterIssuer\nmetadata: {name: company}\nstatus: \
                    {conditions: [{type: Ready, status: 'True'}]}\n";
        let found = check("LYN0707", &format!("{wanted}{text}{wide}"));
        assert!(found.contains("names; there is a ClusterIssuer of that name\n"), "{found}");
        assert!(found.contains("  fix: Say that it is a ClusterIssuer\n"), "{found}");
    }

    #[test]
    fn an_issuer_that_is_called_almost_so_is_named() {
        let wanted = CERTIFICATE.replace("@live", "@app web Synced Degraded");
        let text =
            format!("{wanted}{CERTIFICATE}").replace("name: letsencrypt", "name: letsencrypt-production");
        let there = "---\napiVersion: cert-manager.io/v1\nkind: ClusterIssuer\nmetadata: {name: letsencrypt-prod}\nstatus: \
                     {conditions: [{type: Ready, status: 'True'}]}\n";
        let found = check("LYN0707", &format!("{text}{there}"));
        assert!(found.contains("names; there is letsencrypt-prod\n"), "{found}");
        assert!(found.contains("fix: Name letsencrypt-prod\n"), "{found}");
        assert!(
            !check("LYN0707", &format!("{text}{}", there.replace("letsencrypt-prod", "selfsigned")))
                .contains("there is self")
        );
    }

    #[test]
    fn an_issuer_that_says_that_it_cannot_issue_is_found() {
        let issuer = "---\napiVersion: cert-manager.io/v1\nkind: ClusterIssuer\nmetadata: {name: letsencrypt}\nspec: {ca: {secretName: \
                      pair}}\nstatus: {conditions: [{type: Ready, status: 'False', reason: ErrGetKeyPair, message: 'Error getting \
                      keypair for CA issuer: secrets \"pair\" not found'}]}\n";
        assert_eq!(
            check("LYN0707", &format!("{CERTIFICATE}{issuer}")),
            "P1 LYN0707/-/ClusterIssuer/letsencrypt: ClusterIssuer letsencrypt cannot issue: Error getting keypair for CA issuer: secrets \"pair\" not found\n  ClusterIssuer letsencrypt: status.conditions: Error getting keypair for CA issuer: secrets \"pair\" not found\n  fix: Have ClusterIssuer letsencrypt issue\n"
        );
    }

    #[test]
    fn issuers_of_others_and_those_that_are_ready_are_fine() {
        let other =
            CERTIFICATE.replace("name: letsencrypt", "name: letsencrypt, group: awspca.cert-manager.io");
        assert_eq!(check("LYN0707", &other), "");
        let ready = "---\napiVersion: cert-manager.io/v1\nkind: ClusterIssuer\nmetadata: {name: letsencrypt}\nstatus: {conditions: \
                     [{type: Ready, status: 'True'}]}\n";
        assert_eq!(check("LYN0707", &format!("{CERTIFICATE}{ready}")), "");
    }
}
