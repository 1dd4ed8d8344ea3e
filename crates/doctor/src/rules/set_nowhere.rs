//! A template of an ApplicationSet that comes to no project or no cluster.

use lynceus_object::{FieldPath, Object, ObjectKey, Value};

use crate::case::Case;
use crate::finding::{Evidence, Findings, Severity};
use crate::fix::{Fix, Place, Risk};
use crate::node::AppName;
use crate::rules::Rule;
use crate::rules::near;
use crate::rules::sets::{self, Complaint, Sort};
use crate::words;

pub(super) const RULE: Rule = Rule {
    code: "LYN1405",
    title: "An ApplicationSet makes Applications without a project or a cluster",
    explanation: "\
The template of an ApplicationSet, filled with one of its elements, names a project that there is not, or a destination that is no registered
cluster, or none at all. That Application is not created, and none of the others is deleted meanwhile.

## Why
A parameter is empty or missing: without `goTemplateOptions: [missingkey=error]` a key that is not there becomes nothing. Or the project is
created later, or the cluster was registered under another name or address.

## Example
```
spec.generators[0].list, element 2: application destination spec is invalid: there is no cluster with the name eu-1
```

## What to do
Correct the parameter, create the project, or register the cluster (`lynceus cluster add`). `lynceus appset generate FILE` prints what the
template comes to.
",
    check,
};

fn check(case: &Case<'_>, findings: &mut Findings) {
    for Complaint { set, message, .. } in sets::complaints(case, Sort::Nowhere) {
        let cause = format!(
            "ApplicationSet {} makes an Application that cannot be: {}",
            set.name(),
            words::quote(message)
        );
        let finding = sets::finding(case, RULE.code, set, cause, "ErrorOccurred").severity(Severity::P1);
        let finding = finding.seen(template(set)).about(asked(case, set, message));
        let by_hand = Fix::new("Correct the parameter, or make what it names")
            .person(format!(
                "spec.generators and spec.template of ApplicationSet {}/{}",
                set.namespace(),
                set.name()
            ))
            .verify(format!("lynceus appset preview {}/{}", set.namespace(), set.name()));
        findings.add(finding.fix(meant(case, set, message).into_iter().chain([by_hand])));
    }
}

/// What the template says about project and destination.
fn template(set: &Object) -> Vec<Evidence> {
    let fields: [&[&str]; 2] =
        [&["spec", "template", "spec", "project"], &["spec", "template", "spec", "destination"]];
    let shown = fields.iter().map(|path| Evidence::Field {
        object: set.key(),
        path: FieldPath::fields(path.iter().copied()),
        value: set.at(path).map(words::shown).unwrap_or_default(),
    });
    shown.collect()
}

/// The field of the template that is complained of: where its value comes from is what has to be corrected.
fn asked(case: &Case<'_>, set: &Object, message: &str) -> Option<(AppName, ObjectKey, FieldPath)> {
    let fields: &[&str] = match message.contains("references project ") {
        true => &["project"],
        false => &["destination.name", "destination.server", "destination"],
    };
    let mut paths = fields
        .iter()
        .map(|field| FieldPath::fields(["spec", "template", "spec"].into_iter().chain(field.split('.'))));
    let path = paths.find(|path| path.get(set.value()).is_some())?;
    Some((sets::brought_by(case, set)?, set.key(), path))
}

/// The project that was probably meant, where the template names one itself.
fn meant(case: &Case<'_>, set: &Object, message: &str) -> Option<Fix> {
    let name = message.split_once("references project ")?.1.split_once(' ')?.0;
    let path = ["spec", "template", "spec", "project"];
    let owner = sets::brought_by(case, set)?;
    let projects = case.snapshot.projects.iter().map(|project| project.metadata.name.as_str());
    let meant = near::likely(name, projects)?;
    (set.value().str_at(&path) == Some(name)).then(|| {
        let place = Place::Field {
            object: set.key(),
            path: FieldPath::fields(path),
            value: Some(Value::from(meant)),
        };
        Fix::new(format!("Name the project {meant}"))
            .git(&owner, place)
            .risk(Risk::Low, format!("the Applications of {} are of project {meant}", set.name()))
            .why(format!("there is a project {meant}, and none that is called {name}"))
    })
}

#[cfg(test)]
mod tests {
    use lynceus_api::AppProject;

    use crate::tests::{check, check_snapshot, snapshot};

    const NOWHERE: &str = "@app apps Synced Healthy
apiVersion: argoproj.io/v1alpha1
kind: ApplicationSet
metadata: {name: shops, namespace: argocd}
@live
apiVersion: argoproj.io/v1alpha1
kind: ApplicationSet
metadata: {name: shops, namespace: argocd}
spec: {template: {spec: {project: shpo, destination: {name: '{{cluster}}'}}}}
status:
  conditions:
  - {type: ErrorOccurred, status: 'True', reason: ApplicationValidationError, message: 'spec.generators[0].list, element 2: application references project shpo which does not exist'}
";

    #[test]
    fn a_project_that_is_not_there_is_found_with_the_one_that_is_meant() {
        let mut snapshot = snapshot(NOWHERE);
        let mut project = AppProject::default();
        project.metadata.name = "shop".into();
        snapshot.projects.push(project);
        assert_eq!(
            check_snapshot("LYN1405", &snapshot),
            "P1 LYN1405/apps/ApplicationSet/shops: ApplicationSet shops makes an Application that cannot be: spec.generators[0].list, element 2: \
             application references project shpo which does not exist\n  ApplicationSet argocd/shops: status.conditions.ErrorOccurred: \
             spec.generators[0].list, element 2: application references project shpo which does not exist\n  ApplicationSet argocd/shops: \
             spec.template.spec.project: shpo\n  ApplicationSet argocd/shops: spec.template.spec.destination: {\"name\":\"{{cluster}}\"}\n  fix: Name \
             the project shop\n  fix: Correct the parameter, or make what it names\n"
        );
    }

    #[test]
    fn an_error_about_something_else_is_not() {
        assert_eq!(
            check(
                "LYN1405",
                &NOWHERE.replace("application references project shpo which does not exist", "it is empty")
            ),
            ""
        );
    }
}
