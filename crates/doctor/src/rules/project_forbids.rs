//! Something that an application's project does not permit.

use std::collections::{BTreeMap, BTreeSet};

use lynceus_api::GROUP;
use lynceus_object::{FieldPath, ObjectKey, Value};

use super::near;
use crate::case::{Case, Said, Voice};
use crate::finding::{Finding, Findings};
use crate::fix::{Fix, Place, Risk};
use crate::node::Node;
use crate::rules::Rule;
use crate::rules::backend::evidence;
use crate::rules::refused_kind::{self, Refused};
use crate::words;

pub(super) const RULE: Rule = Rule {
    code: "LYN0807",
    title: "The project does not permit it",
    explanation: "\
The application's project lists the repositories, destinations and kinds that its applications may use, and what the application asks
for is not among them; or there is no such project.

## Why
A new repository, namespace or cluster-scoped kind came in and the project was not changed with it, or the application is in the
wrong project.

## Example
```
application repo https://git.example.com/new.git is not permitted in project 'shop'
```

## What to do
Add it to the AppProject if that is meant; take a kind out of the blacklist that names it. Otherwise move the application to the
project that it belongs to.
",
    check,
};

/// What is not permitted, and by which project.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Ban {
    project: String,
    what: String,
    field: &'static str,
}

fn check(case: &Case<'_>, findings: &mut Findings) {
    let mut found: BTreeMap<Ban, Vec<&Said<'_>>> = BTreeMap::new();
    for said in case.said().iter().filter(|said| matches!(said.voice, Voice::Application | Voice::Sync)) {
        if let Some(ban) = ban(said, case) {
            found.entry(ban).or_default().push(said);
        }
    }
    for (ban, said) in found {
        findings.add(finding(case, &ban, &said));
    }
}

fn ban(said: &Said<'_>, case: &Case<'_>) -> Option<Ban> {
    let text = said.text;
    let own = || {
        said.app.as_ref().and_then(|app| case.app(app)).map(|app| app.application().spec.project.to_string())
    };
    if let Some((_, rest)) = text.split_once("referencing project ") {
        let project = rest.split_whitespace().next()?.to_owned();
        return rest.contains("does not exist").then(|| Ban { project, what: String::new(), field: "" });
    }
    let project = || quoted_after(text, "project ").or_else(own).unwrap_or_default();
    let (start, end, field, noun) = [
        ("application repo ", " is not permitted", "spec.sourceRepos", "repository"),
        ("application destination ", " do not match any of the allowed", "spec.destinations", "destination"),
        ("application destination ", " is not permitted", "spec.destinations", "destination"),
        ("namespace ", " is not permitted in project", "spec.destinations", "namespace"),
        ("resource ", " is not permitted in project", "the list of kinds that leaves it out", "kind"),
        ("application '", " is not permitted to use project", "spec.sourceNamespaces", "application"),
    ]
    .into_iter()
    .find(|(start, end, ..)| text.contains(start) && text.contains(end))?;
    let what = text.split_once(start)?.1.split_once(end)?.0;
    Some(Ban {
        project: project(),
        what: format!("{noun} {}", what.trim_end_matches('\'').replace('\'', "").trim_start_matches(':')),
        field,
    })
}

/// The word after another one, with or without quotes.
fn quoted_after(text: &str, before: &str) -> Option<String> {
    let (_, rest) = text.rsplit_once(before)?;
    let word = rest.split([' ', ',', '\n']).next()?.trim_matches(['\'', '"', '.']);
    (!word.is_empty()).then(|| word.to_owned())
}

fn finding(case: &Case<'_>, ban: &Ban, said: &[&Said<'_>]) -> Finding {
    let apps: BTreeSet<_> = said.iter().filter_map(|said| said.app.clone()).collect();
    let names = words::list(apps.iter().map(|app| app.name.as_str()));
    let own = case.snapshot.projects.iter().map(|project| project.metadata.name.as_str());
    let wanted = case.apps().flat_map(|app| app.wanted()).map(|wanted| &wanted.object);
    let wanted = wanted.filter(|one| (one.group(), one.kind()) == (GROUP, "AppProject"));
    let near = near::slip(&ban.project, own.chain(wanted.map(|one| one.name())).chain(["default"]));
    let near = near.filter(|_| ban.field.is_empty());
    let hint = near.map(|near| format!("; there is {near}")).unwrap_or_default();
    let cause = match ban.field {
        "" => format!("there is no project {}, which {names} should be in{hint}", ban.project),
        _ => format!(
            "project {} does not permit {}, which {names} need{}",
            ban.project,
            ban.what,
            if apps.len() == 1 { "s" } else { "" }
        ),
    };
    let project = ObjectKey::new(GROUP, "AppProject", case.snapshot.home.clone(), ban.project.as_str());
    let refused = refused_kind::refused(case, said.first().copied(), &project, &ban.what);
    let step = match (ban.field, &refused) {
        ("", _) => format!(
            "Add AppProject {} to Git, or set spec.project of {names} to one that there is.",
            ban.project
        ),
        (_, Some(refused)) => {
            format!("{}, or move {names} to a project that permits it.", refused.step(&ban.project))
        }
        (field, None) => format!(
            "Add it to {field} of AppProject {}, or move {names} to a project that permits it.",
            ban.project
        ),
    };
    let fix = Fix::new(format!("Have project {} permit it, or use another project", ban.project))
        .person(step)
        .risk(Risk::Medium, format!("what all applications of project {} may do", ban.project))
        .why("what a project permits is for people to decide");
    let rename = near.map(|near| {
        let path = FieldPath::fields(["spec", "project"]);
        let fix = apps.iter().fold(Fix::new(format!("Take project {near}")), |fix, app| {
            fix.git(app, Place::Application { path: path.clone(), value: Some(Value::from(near)) })
        });
        fix.risk(Risk::Low, names.clone()).why("it is there, and its name differs by a slip of the hand")
    });
    let server = case.servers().next().unwrap_or_default();
    // A project may deny several things to several applications: what it denies to one is that one's affair.
    let subject = match apps.iter().next() {
        Some(app) if apps.len() == 1 && !ban.field.is_empty() => Node::Application(app.clone()),
        _ => Node::object(server, project),
    };
    let affected: BTreeSet<Node> = said
        .iter()
        .map(|said| said.node.clone())
        .chain(apps.iter().cloned().map(Node::Application))
        .filter(|node| *node != subject)
        .collect();
    let finding = Finding::new(RULE.code, subject.clone(), cause)
        .of(apps.into_iter().next())
        .seen(evidence(said.iter().copied()))
        .affects(affected)
        .seen(refused.iter().flat_map(Refused::seen))
        .about(refused.iter().flat_map(Refused::fields))
        .fix(rename)
        .fix([fix]);
    if ban.field.is_empty() { finding.unless_deeper() } else { finding }
}

#[cfg(test)]
mod tests {
    use crate::tests::{check, roots};

    #[test]
    fn a_repository_that_a_project_does_not_permit_is_found_once() {
        let app = |name: &str| {
            format!(
                "@app {name} Unknown Unknown\n@condition InvalidSpecError application repo https://git.example.com/new.git is not permitted in project 'shop'\n"
            )
        };
        assert_eq!(
            check("LYN0807", &format!("{}{}", app("a"), app("b"))),
            "P1 LYN0807/a/AppProject/shop: project shop does not permit repository https://git.example.com/new.git, which a and b need\n  status of a: InvalidSpecError: application repo https://git.example.com/new.git is not permitted in project 'shop'\n  status of b: InvalidSpecError: application repo https://git.example.com/new.git is not permitted in project 'shop'\n  fix: Have project shop permit it, or use another project\n"
        );
    }

    #[test]
    fn destinations_and_kinds_and_projects_are_told_apart() {
        let found = |text: &str| {
            check("LYN0807", &format!("@app a Unknown Unknown\n@condition InvalidSpecError {text}\n"))
        };
        assert!(found("application destination server 'https://x' and namespace 'n' do not match any of the allowed destinations in project 'shop'").contains("project shop does not permit destination server https://x and namespace n, which a needs"));
        assert!(
            found("Application referencing project shop which does not exist")
                .contains("there is no project shop, which a should be in")
        );
        assert!(
            found("resource :Namespace is not permitted in project shop")
                .contains("project shop does not permit kind Namespace")
        );
    }

    #[test]
    fn what_a_project_denies_to_one_explains_only_that_one() {
        let text = "@app rogue Unknown Unknown\n@spec {project: t}\n@condition InvalidSpecError application destination server 'https://x' and namespace 'n' do not match any of the allowed destinations in project 't'\n@app viewer Unknown Unknown\n@spec {project: t}\n@condition InvalidSpecError application repo https://git.example.com/new.git is not permitted in project 't'\n";
        assert_eq!(
            roots(text),
            "P1 LYN0807/rogue/Application/rogue explains rogue\nP1 LYN0807/viewer/Application/viewer explains viewer\n"
        );
    }

    /// An application with an object of a kind that its project refuses.
    fn refused(kind: &str, lists: &str) -> String {
        crate::tests::roots_with_fixes(&format!(
            "@app projects Synced Healthy\napiVersion: argoproj.io/v1alpha1\nkind: AppProject\nmetadata: {{name: t, namespace: \
             argocd}}\nspec: {{{lists}}}\n@app a OutOfSync Missing\n@spec {{project: t}}\n@condition InvalidSpecError resource {kind} \
             is not permitted in project t\n"
        ))
    }

    #[test]
    fn a_kind_that_a_blacklist_names_is_taken_out_of_it() {
        let fixes = refused(":Secret", "namespaceResourceBlacklist: [{group: '', kind: Secret}]");
        assert!(
            fixes.contains(
                "    Take Secret out of spec.namespaceResourceBlacklist[0] of AppProject t, or move a to a project that permits it.\n"
            ),
            "{fixes}"
        );
        let lists = "clusterResourceWhitelist: [{group: '*', kind: '*'}], clusterResourceBlacklist: [{group: example.org, kind: 'R*'}]";
        let fixes = refused("example.org:Realm", lists);
        assert!(
            fixes.contains(
                "    Have the rule in spec.clusterResourceBlacklist[0] of AppProject t leave example.org:Realm out, or move a to"
            ),
            "{fixes}"
        );
    }

    #[test]
    fn a_kind_is_added_only_to_a_whitelist_that_lacks_it() {
        let listed = refused(":Secret", "namespaceResourceWhitelist: [{group: '', kind: ConfigMap}]");
        assert!(
            listed.contains("    Add Secret to spec.namespaceResourceWhitelist of AppProject t, or"),
            "{listed}"
        );
        let cluster = refused("example.org:Realm", "sourceRepos: ['*']");
        assert!(
            cluster
                .contains("    Add example.org:Realm to spec.clusterResourceWhitelist of AppProject t, or"),
            "{cluster}"
        );
        let both = "namespaceResourceWhitelist: [], namespaceResourceBlacklist: [{group: '', kind: Secret}]";
        let fixes = refused(":Secret", both);
        assert!(
            fixes.contains(
                "    Take Secret out of spec.namespaceResourceBlacklist[0] and add it to spec.namespaceResourceWhitelist of \
                 AppProject t, or"
            ),
            "{fixes}"
        );
    }

    #[test]
    fn another_invalid_spec_is_another_trouble() {
        let text = "@app a Unknown Unknown\n@condition InvalidSpecError Namespace for x /v1, Kind=ConfigMap is missing.\n";
        assert_eq!(check("LYN0807", text), "");
    }
}
