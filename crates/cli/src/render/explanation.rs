//! Why a field is as it is, in words.

use lynceus_helm::{Fed, Place};
use lynceus_kustomize::{Cause, Explanation};
use lynceus_render::{Field, Reason};

/// The field, and below it what made it.
pub(super) fn text(field: &Field, reason: &Reason) -> String {
    let lines = match reason {
        Reason::File(span) => vec![("written at", span.to_string())],
        Reason::Template(explanation) => of_template(explanation),
        Reason::Kustomization(explanation) => of_kustomization(explanation),
    };
    let lines = lines.into_iter().map(|(label, text)| format!("  {label:<12} {text}\n"));
    format!("{field}\n{}", lines.collect::<String>())
}

fn of_template(explanation: &lynceus_helm::Explanation) -> Vec<(&'static str, String)> {
    let place = |place: &Place| format!("{}:{}:{}", place.template, place.line, place.column);
    let mut lines = vec![("printed by", place(&explanation.place))];
    for (template, from) in explanation.calls.iter().rev() {
        lines.push(match from {
            Some(from) => ("in", format!("{template:?}, called at {}", place(from))),
            None => ("in", format!("{template:?}")),
        });
    }
    lines.extend(explanation.values.iter().map(|fed| ("from", told(fed))));
    lines.extend(explanation.conditions.iter().map(|fed| ("because of", told(fed))));
    lines
}

/// A value, and who gave it.
fn told(fed: &Fed) -> String {
    match &fed.origin {
        Some(origin) => format!("{}, given by {origin}", fed.path),
        None => fed.path.clone(),
    }
}

fn of_kustomization(explanation: &Explanation) -> Vec<(&'static str, String)> {
    let label = |cause: &Cause, otherwise: &'static str| match cause {
        Cause::Written(_) => "written at",
        _ => otherwise,
    };
    let last = if explanation.is_removed { "removed by" } else { "set by" };
    let mut lines = vec![(label(&explanation.last, last), cause(&explanation.last))];
    lines.extend(explanation.before.iter().map(|before| (label(before, "before that"), cause(before))));
    lines
}

fn cause(cause: &Cause) -> String {
    match cause {
        Cause::Written(place) => place.to_string(),
        Cause::Field { field, place, within: Some(within) } => format!("{within}, by {field} at {place}"),
        Cause::Field { field, place, within: None } => format!("{field} at {place}"),
        Cause::Hash => "the hash of its content".to_owned(),
        Cause::Reference { to: Some(to) } => format!("the name of {to}, which it refers to"),
        Cause::Reference { to: None } => "the name of what it refers to".to_owned(),
        Cause::Variable { name, place: Some(place) } => format!("the variable {name} at {place}"),
        Cause::Variable { name, place: None } => format!("the variable {name}"),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use lynceus_api::{ApplicationSource, ApplicationSourceKustomize};
    use lynceus_files::{FilePath, MemoryTree};
    use lynceus_render::Setting;

    use super::*;
    use crate::render::Work;

    /// What is told of a field of the kustomization in `prod`.
    async fn check(field: &str, expected: &str) {
        let files = [
            ("base/kustomization.yaml", "resources: [web.yaml]\n"),
            (
                "base/web.yaml",
                "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web\nspec:\n  replicas: 1\n  paused: true\n  \
                 template:\n    spec:\n      containers:\n      - name: web\n        image: web:1\n",
            ),
            (
                "prod/kustomization.yaml",
                "namePrefix: prod-\nresources: [../base]\npatches:\n- path: scale.yaml\nimages:\n- name: web\n  \
                 newTag: '2'\ncommonLabels:\n  team: shop\n",
            ),
            (
                "prod/scale.yaml",
                "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web\nspec:\n  replicas: 3\n  paused: null\n",
            ),
        ];
        let mut tree = MemoryTree::new();
        for (path, text) in files {
            tree.insert(FilePath::new(path).unwrap(), text.as_bytes());
        }
        let kustomize = ApplicationSourceKustomize {
            images: vec!["web:3".into()],
            ..ApplicationSourceKustomize::default()
        };
        let source = ApplicationSource {
            path: "prod".into(),
            kustomize: Some(kustomize),
            ..ApplicationSource::default()
        };
        let setting = Setting { application: "shop".into(), ..Setting::default() };
        let work = Work::of_tree(Arc::new(tree), source, setting);
        let field: Field = field.parse().unwrap();
        let reason = work.explain(&field).await.unwrap().unwrap();
        assert_eq!(text(&field, &reason), expected);
    }

    #[tokio::test]
    async fn a_field_of_a_kustomization_is_told_from_the_last_to_the_first() {
        check(
            "deployment/prod-web:spec.replicas",
            "deployment/prod-web:spec.replicas\n  \
             set by       prod/scale.yaml:6:3, by patches[0] at prod/kustomization.yaml:4:3\n  \
             written at   base/web.yaml:6:3\n",
        )
        .await;
        check(
            "deployment/prod-web:spec.paused",
            "deployment/prod-web:spec.paused\n  \
             removed by   prod/scale.yaml:7:3, by patches[0] at prod/kustomization.yaml:4:3\n  \
             written at   base/web.yaml:7:3\n",
        )
        .await;
        check(
            "deployment/prod-web:metadata.labels.team",
            "deployment/prod-web:metadata.labels.team\n  set by       commonLabels.team at prod/kustomization.yaml:9:3\n",
        )
        .await;
    }

    #[tokio::test]
    async fn a_parameter_of_the_application_is_told_as_one() {
        check(
            "deployment/prod-web:spec.template.spec.containers[0].image",
            "deployment/prod-web:spec.template.spec.containers[0].image\n  \
             set by       spec.source.kustomize.images at Application\n  \
             written at   base/web.yaml:12:9\n",
        )
        .await;
    }
}
