//! Something that is read from a backend of secrets and is not in it.

use std::collections::BTreeMap;

use lynceus_object::{FieldPath, Object, ObjectKey};

use crate::case::{Case, Said};
use crate::finding::{Finding, Findings};
use crate::fix::{Fix, Place, Risk};
use crate::links::store;
use crate::node::Node;
use crate::rules::Rule;
use crate::rules::backend::{Trouble, evidence, trouble};
use crate::rules::near;
use crate::words;

pub(super) const RULE: Rule = Rule {
    code: "LYN0706",
    title: "What is read from a backend of secrets is not in it",
    explanation: "\
The store is fine and the backend answers, but it has no secret of that name, or the secret lacks the property. The Secret is not
made at all, even if everything else that it needs is there.

## Why
A new entry was added to an ExternalSecret and not to the backend, it was written for another environment only, or the name has a
prefix that the backend does not.

## Example
```
error processing spec.data[0] (key: shop/db), err: Secret does not exist
```

## What to do
Write the value to the backend under that name, or correct the name in the ExternalSecret.
",
    check,
};

fn check(case: &Case<'_>, findings: &mut Findings) {
    let mut found: BTreeMap<(&str, ObjectKey), Vec<&Said<'_>>> = BTreeMap::new();
    for said in case.said() {
        let is_secret = said.about.group == "external-secrets.io" && said.about.kind == "ExternalSecret";
        if is_secret && trouble(said.text) == Some(Trouble::NotFound) {
            found.entry((said.server, said.about.clone())).or_default().push(said);
        }
    }
    for ((server, key), said) in found {
        if let Some(secret) = case.live(server, &key) {
            findings.add(finding(case, server, secret, &said));
        }
    }
}

fn finding(case: &Case<'_>, server: &str, secret: &Object, said: &[&Said<'_>]) -> Finding {
    let key = secret.key();
    let lost = store::copied(case, server, secret).into_iter().find(|source| case.is_absent(server, source));
    let asked = said.iter().find_map(|said| asked(said.text));
    let property = said.iter().find_map(|said| property(said.text));
    let there = property.map(|property| properties(case, server, secret, asked, property));
    let near = property.zip(there.as_ref()).and_then(|(property, there)| {
        let only = there.first().copied().filter(|_| there.len() == 1);
        near::likely(property, there.iter().copied()).or(only)
    });
    let (subject, cause) = match (&lost, asked) {
        (None, Some(asked)) if property.is_some() => (
            key.clone(),
            format!(
                "ExternalSecret {} reads property {} of {asked}, which has no such property{}",
                key.name,
                property.unwrap_or_default(),
                there
                    .filter(|all| !all.is_empty())
                    .map(|all| format!("; it has {}", words::list(all)))
                    .unwrap_or_default()
            ),
        ),
        (Some(source), _) => (
            source.clone(),
            format!(
                "there is no Secret {}/{}, which ExternalSecret {} copies",
                source.namespace, source.name, key.name
            ),
        ),
        (None, Some(asked)) => (
            key.clone(),
            format!("ExternalSecret {} reads {asked}, which its backend does not have", key.name),
        ),
        (None, None) => (
            key.clone(),
            format!("ExternalSecret {} reads something that its backend does not have", key.name),
        ),
    };
    let step = match &lost {
        Some(source) => format!(
            "Make Secret {}/{}, or correct the key in ExternalSecret {}.",
            source.namespace, source.name, key.name
        ),
        None => format!(
            "Write it to the backend, or correct remoteRef.{} in ExternalSecret {}.",
            if property.is_some() { "property" } else { "key" },
            key.name
        ),
    };
    let fix = Fix::new("Put into the backend what is read from it")
        .person(step)
        .risk(Risk::Low, format!("the Secret that ExternalSecret {} makes", key.name))
        .verify(format!("kubectl -n {} get externalsecret {}", key.namespace, key.name));
    let finding = Finding::new(RULE.code, Node::object(server, subject), cause)
        .of(case.owner(server, &key))
        .seen(evidence(said.iter().copied()))
        .affects(lost.as_ref().map(|_| case.node(server, &key)))
        .fix(property.zip(near).and_then(|(property, near)| rename(case, server, secret, property, near)))
        .fix([fix]);
    // A Secret that somebody is going to make is only late.
    if lost.is_some() { finding.unless_deeper() } else { finding }
}

/// The property that is not in a secret which is there: `property x does not exist in`, `cannot find property x`.
fn property(text: &str) -> Option<&str> {
    let (_, rest) = text.split_once("property ")?;
    let is_lacking = text.contains("cannot find property") || rest.contains("does not exist in");
    let word = rest.split([' ', ',', '\n']).next()?.trim_matches(['"', '\'', '.']);
    Some(word).filter(|word| is_lacking && !word.is_empty())
}

/// The properties that a Secret has which would be copied.
fn properties<'a>(
    case: &Case<'a>,
    server: &str,
    secret: &Object,
    asked: Option<&str>,
    not: &str,
) -> Vec<&'a str> {
    let sources = store::copied(case, server, secret).into_iter();
    let mut sources = sources.filter(|source| asked.is_none_or(|asked| source.name == asked));
    let source = sources.find_map(|source| case.live(server, &source));
    let data = source.and_then(|source| source.at(&["data"])).and_then(lynceus_object::Value::as_map);
    data.into_iter()
        .flat_map(|map| map.iter())
        .map(|(name, _)| name.as_str())
        .filter(|name| *name != not)
        .collect()
}

/// Has it read another property.
fn rename(case: &Case<'_>, server: &str, secret: &Object, property: &str, near: &str) -> Option<Fix> {
    let app = case.owner(server, &secret.key())?;
    let data = secret.value().items_at(&["spec", "data"]).iter().enumerate();
    let named = data.filter(|(_, one)| one.str_at(&["remoteRef", "property"]) == Some(property));
    let fix = named.fold(Fix::new(format!("Read property {near}")), |fix, (place, _)| {
        let path = FieldPath::fields(["spec", "data"]).index(place).field("remoteRef").field("property");
        fix.git(&app, Place::Field { object: secret.key(), path, value: Some(near.into()) })
    });
    fix.has_edits().then(|| {
        fix.risk(Risk::Low, format!("the Secret that ExternalSecret {} makes", secret.name()))
            .why("the backend has it, and it is called almost so")
    })
}

/// The name in `(key: x)`.
fn asked(text: &str) -> Option<&str> {
    let (_, rest) = text.split_once("(key: ").or_else(|| text.split_once("for key: "))?;
    rest.split([')', ',', '\n']).next().map(str::trim).filter(|key| !key.is_empty())
}

#[cfg(test)]
mod tests {
    use crate::tests::check;

    const ABSENT: &str = "
@live
apiVersion: external-secrets.io/v1
kind: ExternalSecret
metadata: {name: db, namespace: shop}
spec: {secretStoreRef: {name: vault}, data: [{secretKey: password, remoteRef: {key: shop/db}}]}
status: {conditions: [{type: Ready, status: 'False', reason: SecretSyncedError, message: could not get secret data from provider}]}
---
apiVersion: v1
kind: Event
metadata: {name: a, namespace: shop}
involvedObject: {kind: ExternalSecret, namespace: shop, name: db}
type: Warning
reason: UpdateFailed
message: 'error processing spec.data[0] (key: shop/db), err: Secret does not exist'
";

    #[test]
    fn a_key_that_the_backend_does_not_have_is_found() {
        assert_eq!(
            check("LYN0706", ABSENT),
            "P1 LYN0706/shop/ExternalSecret/db: ExternalSecret db reads shop/db, which its backend does not have\n  event UpdateFailed of ExternalSecret shop/db: error processing spec.data[0] (key: shop/db), err: Secret does not exist\n  fix: Put into the backend what is read from it\n"
        );
    }

    #[test]
    fn a_secret_that_would_be_copied_and_is_not_there_is_the_subject() {
        let store = "---\napiVersion: external-secrets.io/v1\nkind: SecretStore\nmetadata: {name: vault, namespace: shop}\nspec: \
                     {provider: {kubernetes: {remoteNamespace: core}}}\n";
        let text = format!("{ABSENT}{store}").replace("shop/db", "db-source");
        assert!(
            check("LYN0706", &text)
                .starts_with("P1 LYN0706/core/Secret/db-source: there is no Secret core/db-source, which")
        );
    }

    #[test]
    fn a_property_that_the_secret_does_not_have_is_told_with_those_that_it_has() {
        let text = ABSENT.replace("@live", "@app db Synced Degraded").split("---").next().unwrap().to_owned();
        let rest = "---\napiVersion: external-secrets.io/v1\nkind: SecretStore\nmetadata: {name: vault, namespace: shop}\nspec: \
                    {provider: {kubernetes: {remoteNamespace: core}}}\n---\napiVersion: v1\nkind: Secret\nmetadata: {name: source, \
                    namespace: core}\ndata: {password: x, user: x}\n";
        let text = format!("{text}{ABSENT}{rest}")
            .replace("remoteRef: {key: shop/db}", "remoteRef: {key: source, property: passwd}")
            .replace(
                "(key: shop/db), err: Secret does not exist",
                "(key: source), err: property passwd does not exist in data of secret",
            );
        let found = check("LYN0706", &text);
        assert!(
            found.contains(
                "reads property passwd of source, which has no such property; it has password and user\n"
            ),
            "{found}"
        );
        assert!(!found.contains("which its backend does not have"), "{found}");
    }

    #[test]
    fn a_store_that_is_not_ready_is_another_trouble() {
        let other = ABSENT.replace("Secret does not exist", "SecretStore \"vault\" is not ready");
        assert_eq!(check("LYN0706", &other), "");
    }
}
