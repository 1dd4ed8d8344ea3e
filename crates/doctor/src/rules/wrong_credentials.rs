//! Credentials that are there and wrong.

use std::collections::{BTreeMap, BTreeSet};

use lynceus_object::{Object, ObjectKey};

use crate::case::{Case, Pods, Said, Voice};
use crate::finding::{Finding, Findings};
use crate::fix::{Fix, Risk};
use crate::links::{produced, reference, store};
use crate::node::Node;
use crate::rules::Rule;
use crate::rules::backend::{self, Trouble, evidence, has, trouble};

pub(super) const RULE: Rule = Rule {
    code: "LYN0705",
    title: "Credentials are wrong",
    explanation: "\
Something logs in with credentials that are there, and is told that they are wrong. They exist, so nothing is missing, and waiting
does not help.

## Why
A password was changed on one side only, a Secret was filled by hand or from a source that is not the truth, or a database kept the
password of its first start.

## Example
```
Build api-3: fatal: Authentication failed for 'http://gitea.tools.svc/team/api.git/'
```

## What to do
Find out which side is right, and bring the Secret up to date from there. If another operator makes the Secret, mend what it reads.
Restart what has read the old one.
",
    check,
};

const WRONG: [&str; 14] = [
    "password authentication failed",
    "authentication failed",
    "invalid username or password",
    "incorrect username or password",
    "invalid username/password",
    "access denied for user",
    "http basic: access denied",
    "invalid credentials",
    "bad credentials",
    "wrongpass",
    "login failed for user",
    "code: 401",
    "401 unauthorized",
    "with provided credentials",
];
/// Images and repositories have rules of their own.
const OTHERS: [&str; 6] = [
    "failed to pull",
    "pulling image",
    "pull access denied",
    "imagepull",
    "failed to authorize",
    "anonymous token",
];

fn check(case: &Case<'_>, findings: &mut Findings) {
    let mut wrong: BTreeMap<(&str, ObjectKey), Vec<&Said<'_>>> = BTreeMap::new();
    for said in case.said() {
        let is_own = !matches!(said.voice, Voice::Application | Voice::Sync);
        let is_store =
            backend::is_of_secrets(&said.about) && trouble(said.text) == Some(Trouble::Credentials);
        if is_own && (is_store || has(said.text, &WRONG)) && !has(said.text, &OTHERS) {
            wrong.entry((said.server, subject(case, said))).or_default().push(said);
        }
    }
    for ((server, key), said) in wrong {
        findings.add(found(case, server, key, &said));
    }
}

/// The Secret that the credentials stand in if there is only one that can be meant, followed to where it is copied from; else
/// what logs in.
fn subject(case: &Case<'_>, said: &Said<'_>) -> ObjectKey {
    let user = said.node.key().cloned().unwrap_or_else(|| said.about.clone());
    let holder = case.live(said.server, &said.about).or_else(|| case.live(said.server, &user));
    let secrets: BTreeSet<ObjectKey> = holder
        .map(secrets)
        .unwrap_or_default()
        .into_iter()
        .filter(|key| case.live(said.server, key).is_some())
        .collect();
    match secrets.into_iter().collect::<Vec<_>>().as_slice() {
        [only] => source(case, said.server, only),
        _ => user,
    }
}

/// The Secrets that an object names.
fn secrets(object: &Object) -> Vec<ObjectKey> {
    if let Some(pods) = Pods::of(object) {
        return pods.needs().into_iter().map(|(key, ..)| key).filter(|key| key.kind == "Secret").collect();
    }
    let build = object.value().str_at(&["spec", "source", "sourceSecret", "name"]);
    let build = build.map(|name| ObjectKey::new("", "Secret", object.namespace(), name));
    let named = reference::named(object).into_iter().filter(|key| key.kind == "Secret");
    match build {
        Some(build) => vec![build],
        None => named.collect(),
    }
}

/// Where a Secret is copied from, if it is copied from one of the cluster.
fn source(case: &Case<'_>, server: &str, secret: &ObjectKey) -> ObjectKey {
    let makers = case.of_kind(server, "external-secrets.io", "ExternalSecret").iter();
    let maker = makers
        .filter(|maker| maker.namespace() == secret.namespace.as_str())
        .find(|maker| produced::made(maker).iter().any(|name| *name == secret.name.as_str()));
    maker
        .and_then(|maker| store::copied(case, server, maker).into_iter().next())
        .unwrap_or_else(|| secret.clone())
}

fn found(case: &Case<'_>, server: &str, key: ObjectKey, said: &[&Said<'_>]) -> Finding {
    let users: BTreeSet<&Node> = said.iter().map(|said| &said.node).collect();
    let names = crate::words::list(users.iter().map(|node| node.to_string()));
    let subject = Node::object(server, key.clone());
    let cause = match key.kind.as_str() {
        "Secret" => format!(
            "the credentials in Secret {}/{} are wrong: {names} cannot log in with them",
            key.namespace, key.name
        ),
        _ => format!("{names} cannot log in: the credentials are wrong"),
    };
    let fix = Fix::new("Bring the credentials up to date")
        .person(format!(
            "Find out which credentials are right, and put them where {} {} gets them from; restart what has read the old ones.",
            key.kind, key.name
        ))
        .risk(Risk::Medium, format!("everything that logs in with {} {}", key.kind, key.name))
        .why("the values of Secrets are not looked at here");
    let finding = Finding::new(RULE.code, subject.clone(), cause)
        .of(case.owner(server, &key))
        .seen(evidence(said.iter().copied()))
        .affects(users.into_iter().filter(|node| **node != subject).cloned())
        .fix([fix]);
    // What makes a Secret may have stopped to bring it up to date.
    if key.kind == "Secret" { finding.unless_deeper() } else { finding }
}

#[cfg(test)]
mod tests {
    use crate::tests::check;

    const BUILD: &str = "
@live
apiVersion: build.openshift.io/v1
kind: Build
metadata: {name: api-3, namespace: ci}
spec: {source: {git: {uri: 'http://gitea.tools.svc/team/api.git'}, sourceSecret: {name: git-login}}}
status: {phase: Failed, reason: FetchSourceFailed, logSnippet: 'fatal: Authentication failed for http://gitea.tools.svc/team/api.git'}
---
apiVersion: v1
kind: Secret
metadata: {name: git-login, namespace: ci}
data: {password: ''}
";

    #[test]
    fn a_build_whose_login_is_wrong_leads_to_the_secret() {
        assert_eq!(
            check("LYN0705", BUILD),
            "P1 LYN0705/ci/Secret/git-login: the credentials in Secret ci/git-login are wrong: Build ci/api-3 cannot log in with them\n  Build ci/api-3: status.logSnippet: fatal: Authentication failed for http://gitea.tools.svc/team/api.git\n  fix: Bring the credentials up to date\n"
        );
    }

    #[test]
    fn a_secret_that_is_copied_from_another_leads_there() {
        let text = format!(
            "{BUILD}---
apiVersion: external-secrets.io/v1
kind: ExternalSecret
metadata: {{name: git-login, namespace: ci}}
spec: {{secretStoreRef: {{name: local}}, data: [{{secretKey: password, remoteRef: {{key: git-source, property: password}}}}]}}
---
apiVersion: external-secrets.io/v1
kind: SecretStore
metadata: {{name: local, namespace: ci}}
spec: {{provider: {{kubernetes: {{remoteNamespace: ci}}}}}}
"
        );
        assert!(
            check("LYN0705", &text)
                .starts_with("P1 LYN0705/ci/Secret/git-source: the credentials in Secret ci/git-source")
        );
    }

    #[test]
    fn an_image_that_is_refused_is_another_trouble() {
        let text = "
@live
apiVersion: v1
kind: Pod
metadata: {name: a, namespace: ci}
spec: {containers: [{name: a, image: x}]}
status:
  phase: Pending
  containerStatuses:
  - {name: a, state: {waiting: {reason: ErrImagePull, message: 'failed to pull and unpack image x: 401 Unauthorized'}}}
";
        assert_eq!(check("LYN0705", text), "");
    }
}
