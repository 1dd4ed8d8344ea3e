//! A repository that does not answer.

use std::collections::{BTreeMap, BTreeSet};

use crate::case::{App, Case, Said};
use crate::finding::{Evidence, Finding, Findings};
use crate::fix::{Fix, Place, Risk};
use crate::links::service;
use crate::node::Node;
use crate::rules::backend::{UNREACHABLE, evidence, has};
use crate::rules::source_error::{Step, host, host_in, source, told};
use crate::rules::target_revision::sources;
use crate::rules::{Rule, near};
use crate::snapshot::Reach;
use crate::words;

pub(super) const RULE: Rule = Rule {
    code: "LYN1004",
    title: "A repository does not answer",
    explanation: "\
The host of the repository is not found, does not answer, or is cut off by something in between. Applications of it are not compared
with anything newer, and what runs stays as it is.

## Why
The server is down, its name changed, the network or a proxy stands in the way, or the address in the Application is wrong.

## Example
```
failed to list refs: Get \"https://git.example.com/all.git/info/refs\": dial tcp: lookup git.example.com: no such host
```

## What to do
Look whether the host answers from where the controller runs. If the address is wrong, correct `spec.source.repoURL`.
",
    check,
};

/// What is said of one host.
#[derive(Default)]
struct Host<'c, 'a> {
    urls: BTreeSet<String>,
    apps: Vec<&'c App<'a>>,
    said: Vec<&'c Said<'a>>,
    why: Option<String>,
}

fn check(case: &Case<'_>, findings: &mut Findings) {
    let mut hosts: BTreeMap<String, Host<'_, '_>> = BTreeMap::new();
    for (app, said) in told(case, Step::Away) {
        let Some((source, _)) = source(app, said.text) else { continue };
        // A chart may need others from elsewhere.
        let name = host_in(said.text).unwrap_or_else(|| host(&source.repo_url).to_owned());
        let url = if name == host(&source.repo_url) { source.repo_url.to_string() } else { name.clone() };
        let one = hosts.entry(name).or_default();
        one.urls.insert(url);
        one.apps.push(app);
        one.said.push(said);
    }
    for view in &case.snapshot.repositories {
        let Reach::Away(why) = &view.reach else { continue };
        if has(why, &UNREACHABLE)
            || has(why, &["could not resolve", "cannot reach", "timed out", "took longer"])
        {
            let one = hosts.entry(host(&view.url).to_owned()).or_default();
            one.urls.insert(view.url.to_string());
            one.why = Some(why.clone());
        }
    }
    for (name, host) in hosts {
        findings.add(found(case, &name, host));
    }
}

fn found(case: &Case<'_>, name: &str, host: Host<'_, '_>) -> Finding {
    let url = match host.urls.iter().collect::<Vec<_>>().as_slice() {
        [only] => (*only).clone(),
        _ => name.to_owned(),
    };
    let verb = if host.apps.len() == 1 { "comes" } else { "come" };
    let cause =
        format!("{url} does not answer; {} {verb} from there", words::count(host.apps.len(), "application"));
    // A Git server of the cluster is a service like any other.
    let services: Vec<Node> = case
        .servers()
        .filter_map(|server| {
            let key = service::named(name, "").filter(|key| !key.namespace.is_empty())?;
            (case.live(server, &key).is_some() || case.is_planned(server, &key))
                .then(|| case.node(server, &key))
        })
        .collect();
    let fix = Fix::new(format!("Have {name} answer"))
        .person(format!("Find out from where the controller runs why {name} does not answer; if the address is wrong, correct repoURL."))
        .risk(Risk::Low, "nothing that runs is changed")
        .verify(format!("git ls-remote {}", host.urls.iter().next().map(String::as_str).unwrap_or(name)));
    let hosts: BTreeSet<String> = case
        .apps()
        .flat_map(|app| app.application().spec.all_sources())
        .map(|source| self::host(&source.repo_url).to_owned())
        .filter(|other| other != name)
        .collect();
    let near = near::slip(name, hosts.iter().map(String::as_str));
    let cause = cause + &near.map(|near| format!("; others come from {near}")).unwrap_or_default();
    let rename = near.and_then(|near| {
        let mut fix = Fix::new(format!("Come from {near}"));
        for app in &host.apps {
            for (source, path) in
                sources(app).into_iter().filter(|(one, _)| self::host(&one.repo_url) == name)
            {
                let value = Some(source.repo_url.replacen(name, near, 1).into());
                fix = fix.git(&app.name, Place::Application { path: path.field("repoURL"), value });
            }
        }
        let fix = fix
            .risk(Risk::Medium, "what stands there is synced")
            .why("the name differs by a slip of the hand");
        fix.has_edits().then_some(fix)
    });
    let seen = host.why.map(|why| Evidence::seen(format!("{url}: {}", words::quote(&why))));
    Finding::new(RULE.code, Node::Repository(url.as_str().into()), cause)
        .seen(evidence(host.said.iter().copied()))
        .seen(seen)
        .affects(host.apps.iter().map(|app| app.node()))
        .because(services)
        .unless_deeper()
        .fix(rename)
        .fix([fix])
}

#[cfg(test)]
mod tests {
    use crate::tests::check;

    const AWAY: &str = "
@app a Unknown Healthy
@condition ComparisonError rpc error: code = Unknown desc = failed to list refs: Get \"https://git.example.com/all.git/info/refs\": dial tcp: lookup git.example.com: no such host
@app b Unknown Healthy
@condition ComparisonError cannot read https://git.example.com/all.git: cannot reach git.example.com:443: timed out
";

    #[test]
    fn a_host_that_does_not_answer_is_found_once() {
        assert_eq!(
            check("LYN1004", AWAY),
            "P1 LYN1004/-/Repository/https://git.example.com/all.git: https://git.example.com/all.git does not answer; 2 applications come from there\n  status of a: ComparisonError: rpc error: code = Unknown desc = failed to list refs: Get \"https://git.example.com/all.git/info/refs\": dial tcp: lookup git.example.com: no such host\n  status of b: ComparisonError: cannot read https://git.example.com/all.git: cannot reach git.example.com:443: timed out\n  fix: Have git.example.com answer\n"
        );
    }

    #[test]
    fn a_host_that_refuses_who_asks_has_answered() {
        let text = "@app a Unknown Healthy\n@condition ComparisonError rpc error: code = Unknown desc = failed to list refs: authentication required\n";
        assert_eq!(check("LYN1004", text), "");
    }

    #[test]
    fn a_cluster_that_does_not_answer_is_another_trouble() {
        let text = "@app a Unknown Healthy\n@condition ComparisonError Failed to load live state: cluster \"x\" (https://x) cannot be reached: no such host\n";
        assert_eq!(check("LYN1004", text), "");
    }
}
