//! A kind that the settings exclude from everything.

use std::collections::BTreeMap;

use lynceus_api::ApplicationConditionType;
use lynceus_object::GroupKind;

use crate::case::{App, Case};
use crate::finding::{Finding, Findings, Severity};
use crate::fix::{Fix, Risk};
use crate::limits;
use crate::node::Node;
use crate::rules::Rule;
use crate::words;

pub(super) const RULE: Rule = Rule {
    code: "LYN0205",
    title: "A kind is excluded, so that its objects are never applied",
    explanation: "\
The sources have objects of a kind that the settings of the installation exclude (`resource.exclusions`). They are left out
without an error: whatever waits for what they would do waits for ever.

## Why
Kinds that come and go in numbers, such as Tekton's PipelineRun or TaskRun, are often excluded by default.

## Example
```
ExcludedResourceWarning: Resource tekton.dev/PipelineRun build is excluded in the settings
```

## What to do
Do not start such runs by applying them: use a trigger, a CronJob, or a kind that is tracked (a BuildConfig, a Job). Only if the
kind is really to be delivered, take it out of the exclusions.
",
    check,
};

/// An application, the name of one of its objects, and what it is told of it.
type Told<'c, 'a> = (&'c App<'a>, &'a str, &'a str);

fn check(case: &Case<'_>, findings: &mut Findings) {
    let mut told: BTreeMap<(&str, GroupKind), Vec<Told<'_, '_>>> = BTreeMap::new();
    for app in case.apps() {
        for message in app.told(ApplicationConditionType::ExcludedResourceWarning) {
            if let Some((kind, name)) = parse(message) {
                told.entry((app.server(), kind)).or_default().push((app, name, message));
            }
        }
    }
    for ((server, kind), told) in told {
        findings.add(found(server, kind, &told));
    }
}

/// `Resource tekton.dev/PipelineRun build is excluded in the settings`
fn parse(message: &str) -> Option<(GroupKind, &str)> {
    let (object, _) = message.strip_prefix("Resource ")?.split_once(" is excluded in the settings")?;
    let (kind, name) = object.split_once(' ')?;
    let (group, kind) = kind.rsplit_once('/')?;
    Some((GroupKind::new(group, kind), name))
}

/// Whether objects of a kind are work that is done once, by what such kinds are called everywhere.
fn is_run(kind: &GroupKind) -> bool {
    ["Run", "Workflow", "Job", "Build", "Task"].iter().any(|end| kind.kind.ends_with(end))
}

fn found(server: &str, kind: GroupKind, told: &[Told<'_, '_>]) -> Finding {
    let names = words::list(told.iter().map(|(app, name, _)| format!("{name} of {}", app.name)));
    let verb = if told.len() == 1 { "is" } else { "are" };
    let cause = format!("{} {names} {verb} never applied: the settings exclude the kind", kind.kind);
    let other = match is_run(&kind) {
        true => Fix::new(format!("Have the work done by a kind that is tracked instead of {}", kind.kind))
            .person(format!("replace the {} by a Job, a BuildConfig, or a trigger that makes it", kind.kind))
            .risk(Risk::Low, "the objects were never applied")
            .why("such kinds are excluded because they come and go in numbers"),
        false => Fix::new(format!("Take the {} out of Git", kind.kind))
            .person(format!(
                "remove {names} from the sources, and have it made by whoever looks after such objects"
            ))
            .risk(Risk::Low, "the objects were never applied")
            .why("such kinds are excluded because others write them"),
    };
    let setting = Fix::new(format!("Take {} out of resource.exclusions", kind.kind))
        .person("edit resource.exclusions in ConfigMap argocd-cm")
        .risk(Risk::Medium, "all objects of the kind are watched in every cluster")
        .why("only if objects of the kind are really to be delivered");
    Finding::new(RULE.code, Node::Kind { cluster: server.into(), kind }, cause)
        .of(told.first().map(|(app, ..)| app.name.clone()))
        .severity(Severity::P2)
        .seen(told.iter().take(limits::EVIDENCE).map(|(app, _, message)| app.status(message)))
        .fix([other, setting])
}

#[cfg(test)]
mod tests {
    use crate::tests::check;

    #[test]
    fn an_object_that_the_settings_exclude_is_found() {
        let text = "
@app build Synced Healthy
@condition ExcludedResourceWarning Resource tekton.dev/PipelineRun image is excluded in the settings
";
        assert_eq!(
            check("LYN0205", text),
            "P2 LYN0205/build/Kind/PipelineRun.tekton.dev: PipelineRun image of build is never applied: the settings \
             exclude the kind\n  status of build: Resource tekton.dev/PipelineRun image is excluded in the settings\n  fix: \
             Have the work done by a kind that is tracked instead of PipelineRun\n  fix: Take PipelineRun out of \
             resource.exclusions\n"
        );
    }

    #[test]
    fn what_is_no_work_is_not_to_be_done_by_a_job() {
        let text = "@app db Synced Healthy\n@condition ExcludedResourceWarning Resource discovery.k8s.io/EndpointSlice db is excluded in the settings\n";
        let found = check("LYN0205", text);
        assert!(found.contains("fix: Take the EndpointSlice out of Git\n"), "{found}");
        assert!(!found.contains("work done"), "{found}");
    }

    #[test]
    fn other_warnings_are_not() {
        assert_eq!(
            check(
                "LYN0205",
                "@app build Synced Healthy\n@condition OrphanedResourceWarning Application has 1 orphaned resources\n"
            ),
            ""
        );
    }
}
