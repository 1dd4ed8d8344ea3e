use lynceus_object::{Value, value, yaml};

use crate::stage::{ALL, Stage};

/// A set with a list of names.
fn set(names: &[&str]) -> Value {
    let elements: Vec<String> = names.iter().map(|name| format!("{{name: {name}}}")).collect();
    let text = format!(
        "apiVersion: argoproj.io/v1alpha1\nkind: ApplicationSet\nmetadata: {{name: shops}}\nspec:\n  generators: [{{list: {{elements: [{}]}}}}]\n  \
         template:\n    metadata: {{name: '{{{{name}}}}'}}\n    spec: {{project: default, source: {{repoURL: 'https://git.example.com/a', path: p}}, \
         destination: {{name: in-cluster, namespace: shop}}}}\n",
        elements.join(", ")
    );
    yaml::parse_str(&text).unwrap()
}

/// An Application of the set as its controller makes it, with something else about it.
fn application(name: &str, path: &str) -> Value {
    yaml::parse_str(&format!(
        "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {{name: {name}, finalizers: [resources-finalizer.argocd.argoproj.io], \
         ownerReferences: [{{apiVersion: argoproj.io/v1alpha1, kind: ApplicationSet, name: shops, uid: u, controller: true, blockOwnerDeletion: true}}]}}\nspec: \
         {{project: default, source: {{repoURL: 'https://git.example.com/a', path: {path}}}, destination: {{name: in-cluster, namespace: shop}}}}\n"
    ))
    .unwrap()
}

/// `create a, update b: spec.source.path`.
fn steps(report: &Value) -> String {
    let of = |step: &Value| {
        let text = |field: &str| step.str_at(&[field]).unwrap_or_default().to_owned();
        let fields: Vec<String> =
            step.items_at(&["changes"]).iter().map(|one| one.str_at(&["path"]).unwrap().to_owned()).collect();
        let fields = if fields.is_empty() { String::new() } else { format!(": {}", fields.join(" ")) };
        format!("{} {}{fields}", text("act"), text("name"))
    };
    report.items_at(&["report", "steps"]).iter().map(of).collect::<Vec<_>>().join(", ")
}

async fn heard(stage: &Stage, count: usize) {
    let kind = lynceus_engine::application_kind();
    while stage.server.engine.home().cache().of_kind(&kind).len() < count {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn a_preview_says_what_would_be_done_and_nothing_is() {
    let stage = Stage::new().await;
    stage.given(&application("b", "other")).await;
    stage.given(&application("gone", "p")).await;
    heard(&stage, 2).await;
    let asked = value!({"applicationSet": set(&["a", "b"])});
    let report = stage.ask(ALL, "ApplicationSetService.Preview", asked).await.unwrap();
    assert_eq!(
        steps(&report),
        "create a, update b: metadata.ownerReferences[0].uid spec.source.path, delete gone"
    );
    assert_eq!(report.items_at(&["report", "faults"]), []);
    assert!(stage.stored("Application", "a").await.is_none());
    let twice = value!({"applicationSet": set(&["a", "a"])});
    let report = stage.ask(ALL, "ApplicationSetService.Preview", twice).await.unwrap();
    let fault = report.items_at(&["report", "faults"])[0].as_str().unwrap();
    assert!(fault.contains("there is already an Application named a"), "{fault}");
}

#[tokio::test]
async fn deletions_that_would_be_held_are_told_with_what_confirms_them() {
    let stage = Stage::new().await;
    for name in ["a", "b", "c", "d"] {
        stage.given(&application(name, "p")).await;
    }
    heard(&stage, 4).await;
    let asked = value!({"applicationSet": set(&["a"])});
    let report = stage.ask(ALL, "ApplicationSetService.Preview", asked).await.unwrap();
    let held = report.at(&["report", "held"]).unwrap();
    assert_eq!((held.int_at(&["of"]), held.items_at(&["names"]).len()), (Some(4), 3));
    assert!(held.str_at(&["message"]).unwrap().contains("lynceus.dev/confirm-deletions=3-"), "{held:?}");
    assert!(steps(&report).ends_with("keep b, keep c, keep d"), "{}", steps(&report));
}

#[tokio::test]
async fn a_preview_takes_the_right_to_make_it_and_shows_no_application_that_may_not_be_seen() {
    let stage = Stage::new().await;
    stage.given(&application("b", "other")).await;
    heard(&stage, 1).await;
    let asked = || value!({"applicationSet": set(&["b"])});
    let refused = stage.said("applicationsets, get, */*", "ApplicationSetService.Preview", asked()).await;
    assert!(refused.starts_with("PermissionDenied"), "{refused}");
    let may = "applicationsets, create, default/*\napplicationsets, get, default/*";
    let report = stage.ask(may, "ApplicationSetService.Preview", asked()).await.unwrap();
    assert_eq!(steps(&report), "update b");
    let seen = format!("{may}\napplications, get, default/*");
    let report = stage.ask(&seen, "ApplicationSetService.Preview", asked()).await.unwrap();
    assert!(steps(&report).contains("spec.source.path"), "{}", steps(&report));
    let unknown = stage.said(ALL, "ApplicationSetService.Preview", value!({"name": "none"})).await;
    assert!(unknown.starts_with("NotFound"), "{unknown}");
}

#[tokio::test]
async fn what_cannot_be_rehearsed_says_why() {
    let stage = Stage::new().await;
    let mut asked = value!({"applicationSet": set(&["a"]), "rehearse": true});
    asked.set(
        &["applicationSet", "spec", "template", "spec", "source"],
        value!({"repoURL": "https://charts.example.com", "chart": "c"}),
    );
    let report = stage.ask(ALL, "ApplicationSetService.Preview", asked).await.unwrap();
    assert_eq!(
        report.str_at(&["report", "rehearsal", "reason"]),
        Some("no Application of it comes from a Git repository")
    );
}
