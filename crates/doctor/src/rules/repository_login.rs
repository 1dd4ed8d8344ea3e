//! A repository that does not let the controller in.

use std::collections::BTreeMap;

use crate::case::{App, Case, Said};
use crate::finding::{Evidence, Finding, Findings};
use crate::fix::{Fix, Risk};
use crate::node::Node;
use crate::rules::Rule;
use crate::rules::backend::{evidence, has};
use crate::rules::source_error::{Step, source, told};
use crate::snapshot::Reach;
use crate::words;

pub(super) const RULE: Rule = Rule {
    code: "LYN1005",
    title: "A repository refuses the controller",
    explanation: "\
The host answers, and does not let the controller read: it wants credentials and there are none, it refuses those that there are, or it
shows a key or certificate that nobody has vouched for. Private repositories of some hosts are said not to exist instead.

## Why
There is no repository Secret whose address fits, a token has run out or was taken back, or the known hosts lack the host's key.

## Example
```
failed to list refs: authentication required: Repository not found.
```

## What to do
Add or renew the Secret with the label `argocd.argoproj.io/secret-type: repository` for the address, or the host's key in
`argocd-ssh-known-hosts-cm`.
",
    check,
};

const WORDS: [&str; 10] = [
    "authentication",
    "credentials",
    "not trusted",
    "ssh key",
    "knownhosts",
    "no repository at",
    "repository not found",
    "x509",
    "permission denied",
    "unauthorized",
];

#[derive(Default)]
struct Refusal<'c, 'a> {
    apps: Vec<&'c App<'a>>,
    said: Vec<&'c Said<'a>>,
    why: Option<String>,
}

fn check(case: &Case<'_>, findings: &mut Findings) {
    let mut refused: BTreeMap<String, Refusal<'_, '_>> = BTreeMap::new();
    for (app, said) in told(case, Step::Login) {
        let Some((source, _)) = source(app, said.text) else { continue };
        let one = refused.entry(source.repo_url.to_string()).or_default();
        one.apps.push(app);
        one.said.push(said);
    }
    for view in &case.snapshot.repositories {
        if let Reach::Away(why) = &view.reach
            && has(why, &WORDS)
        {
            refused.entry(view.url.to_string()).or_default().why = Some(why.clone());
        }
    }
    for (url, one) in refused {
        findings.add(found(&url, one));
    }
}

fn found(url: &str, refusal: Refusal<'_, '_>) -> Finding {
    let text = refusal.said.first().map(|said| said.text).or(refusal.why.as_deref()).unwrap_or_default();
    let (what, step) = sort(text);
    let names = words::list(refusal.apps.iter().map(|app| app.name.name.as_str()));
    let whom = if names.is_empty() {
        String::new()
    } else {
        format!(", which {names} need{}", if refusal.apps.len() == 1 { "s" } else { "" })
    };
    let fix = Fix::new(format!("Let the controller in at {url}"))
        .person(format!("{step} ({url})"))
        .risk(Risk::Low, "nothing that runs is changed")
        .why("credentials do not stand in Git")
        .verify(format!(
            "lynceus app get {}",
            refusal.apps.first().map(|app| app.name.to_string()).unwrap_or_default()
        ));
    let seen = refusal.why.as_ref().filter(|_| refusal.said.is_empty());
    Finding::new(RULE.code, Node::Repository(url.into()), format!("{url} {what}{whom}"))
        .seen(evidence(refusal.said.iter().copied()))
        .seen(seen.map(|why| Evidence::seen(format!("{url}: {}", words::quote(why)))))
        .affects(refusal.apps.iter().map(|app| app.node()))
        .fix([fix])
}

/// What is wrong, and what to do about it.
fn sort(text: &str) -> (&'static str, &'static str) {
    if has(text, &["knownhosts", "host key", "the ssh key of"]) {
        return (
            "shows an SSH key that the known hosts do not have",
            "Check the host's key, and add it to argocd-ssh-known-hosts-cm.",
        );
    }
    if has(text, &["x509", "certificate of"]) {
        return (
            "shows a certificate that is not trusted",
            "Add the authority that signed it to argocd-tls-certs-cm, or renew it.",
        );
    }
    if has(
        text,
        &[
            "needs credentials and none",
            "authentication required",
            "could not read username",
            "not found",
            "no repository at",
        ],
    ) {
        return (
            "asks for credentials, or does not exist for who asks",
            "Add a repository Secret with credentials for this address, or correct repoURL.",
        );
    }
    ("refuses the credentials", "Renew the credentials in the repository Secret for this address.")
}

#[cfg(test)]
mod tests {
    use crate::tests::check;

    #[test]
    fn a_repository_that_asks_for_credentials_is_found() {
        let text = "@app a Unknown Healthy\n@condition ComparisonError Failed to load target state: failed to generate manifest for source 1 of 1: rpc error: code = Unknown desc = failed to list refs: authentication required: Repository not found.\n";
        assert_eq!(
            check("LYN1005", text),
            "P1 LYN1005/-/Repository/https://git.example.com/all.git: https://git.example.com/all.git asks for credentials, or does not exist for who asks, which a needs\n  status of a: ComparisonError: Failed to load target state: failed to generate manifest for source 1 of 1: rpc error: code = Unknown desc = failed to list refs: authentication required: Repository not found.\n  fix: Let the controller in at https://git.example.com/all.git\n"
        );
    }

    #[test]
    fn an_unknown_host_key_is_told_apart() {
        let text = "@app a Unknown Healthy\n@condition ComparisonError rpc error: code = Unknown desc = failed to list refs: ssh: handshake failed: knownhosts: key is unknown\n";
        assert!(check("LYN1005", text).contains("shows an SSH key that the known hosts do not have"));
    }

    #[test]
    fn a_host_that_does_not_answer_is_another_trouble() {
        let text = "@app a Unknown Healthy\n@condition ComparisonError rpc error: code = Unknown desc = failed to list refs: dial tcp: lookup x: no such host\n";
        assert_eq!(check("LYN1005", text), "");
    }
}
