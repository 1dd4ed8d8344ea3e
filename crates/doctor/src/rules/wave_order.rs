//! Something needs what comes only after it.

use lynceus_api::{GROUP, annotations};
use lynceus_object::{FieldPath, ObjectKey, Value};

use crate::case::{App, Case};
use crate::finding::{Evidence, Finding, Findings};
use crate::fix::{Fix, Place, Risk};
use crate::limits;
use crate::node::{AppName, Node};
use crate::rules::Rule;
use crate::rules::parenthood::Places;
use crate::rules::wave_needs::{Judged, Late, LateApp, Needs, Turn};
use crate::snapshot::Wanted;
use crate::words;

pub(super) const RULE: Rule = Rule {
    code: "LYN1209",
    title: "Something needs what comes only after it",
    explanation: "\
An object cannot be applied, or never becomes healthy, without another one that comes in a later wave, a later phase, or an
application of a later wave. The wave waits for the object, and what the object needs waits for the wave.

## Why
Waves were given one by one; a hook of PreSync uses what the sync itself makes; a definition, a namespace or a service account has
no wave, which is wave 0, and its user a negative one.

## Example
```
Job migrate          hook PreSync          serviceAccountName: migrate
ServiceAccount migrate  phase Sync, wave 0
```

## What to do
Give what is needed the earlier place: the same wave as its user is enough, in the same phase.
",
    check,
};

fn check(case: &Case<'_>, findings: &mut Findings) {
    let needs = Needs::new(case);
    let mut judged = Judged::default();
    for app in case.apps().filter(|app| !app.is_fine()) {
        for user in app.wanted() {
            for key in needs.of(app, &user.object) {
                needs.judge(app, user, &key, &mut judged);
            }
        }
    }
    judged.objects.values().for_each(|one| findings.add(of_objects(one)));
    judged.applications.values().for_each(|one| findings.add(of_applications(&needs.places, one)));
}

fn of_objects(Late { app, late, comes, needed, users }: &Late<'_, '_>) -> Finding {
    let (key, comes, needed) = (late.object.key(), *comes, *needed);
    let names = words::list(users.iter().map(|one| format!("{} {}", one.object.kind(), one.object.name())));
    let verb = if users.len() == 1 { "needs" } else { "need" };
    let cause = format!(
        "{} {} comes in {}, and {names} of {} {verb} it",
        key.kind,
        key.name,
        comes.beside(needed),
        needed.beside(comes)
    );
    let files = users.iter().filter_map(|one| {
        app.file(one, format!("{} {}, {}", one.object.kind(), one.object.name(), needed.beside(comes)))
    });
    let here = app.file(late, format!("{} {}, {}", key.kind, key.name, comes.beside(needed)));
    Finding::new(RULE.code, Node::object(app.server(), key.clone()), cause)
        .of(Some(app.name.clone()))
        .seen(here)
        .seen(files.take(limits::NAMED))
        .affects(users.iter().map(|one| Node::object(app.server(), one.object.key())))
        .affects([app.node()])
        .fix(earlier(app, &key, comes, needed))
        .fix(users.first().and_then(|user| later(app, user, comes, needed)))
}

fn annotated(app: &AppName, key: &ObjectKey, annotation: &str, value: String) -> (AppName, Place) {
    let path = FieldPath::fields(["metadata", "annotations"]).field(annotation);
    (app.clone(), Place::Field { object: key.clone(), path, value: Some(Value::from(value)) })
}

/// What is needed gets the earlier place.
fn earlier(app: &App<'_>, key: &ObjectKey, comes: Turn, needed: Turn) -> Option<Fix> {
    let fix = Fix::new(format!("Bring {} {} in {}", key.kind, key.name, needed.beside(comes)));
    let (name, wave) = annotated(
        &app.name,
        key,
        annotations::SYNC_WAVE,
        (needed.wave - i64::from(comes.phase != needed.phase)).to_string(),
    );
    let fix = match comes.phase == needed.phase {
        true => fix.git(&name, wave),
        // As a hook it is made anew with each sync, which only what holds no state may be.
        false
            if needed.phase == 0
                && matches!(key.kind.as_str(), "ServiceAccount" | "ConfigMap" | "Secret") =>
        {
            let (name, hook) = annotated(&app.name, key, annotations::HOOK, "PreSync".to_owned());
            fix.git(&name, hook).git(&name, wave)
        }
        false => return None,
    };
    Some(
        fix.risk(Risk::Low, format!("only when {} {} is applied changes", key.kind, key.name))
            .why("its user can begin then, and nothing else moves")
            .verify(format!("lynceus app sync {}", app.name)),
    )
}

/// The user gets the later place.
fn later(app: &App<'_>, user: &Wanted, comes: Turn, needed: Turn) -> Option<Fix> {
    let key = user.object.key();
    let fix = Fix::new(format!("Let {} {} come after it", key.kind, key.name));
    let (name, wave) = annotated(&app.name, &key, annotations::SYNC_WAVE, (comes.wave + 1).to_string());
    let fix = match (comes.phase == needed.phase, comes.phase) {
        (true, _) => fix.git(&name, wave),
        (false, 1) => {
            let (name, hook) = annotated(&app.name, &key, annotations::HOOK, "Sync".to_owned());
            fix.git(&name, hook).git(&name, wave)
        }
        _ => return None,
    };
    Some(
        fix.risk(Risk::Medium, format!("{} {} and what comes after it", key.kind, key.name))
            .why("right if what is needed has to wait for something itself"),
    )
}

fn of_applications(places: &Places, LateApp { app, other, user, key }: &LateApp) -> Finding {
    let wave = |name: &AppName| places.of(name).map_or(0, |place| place.wave);
    let parent = places.of(other).map(|place| place.parent.clone());
    let cause = format!(
        "application {other} comes in wave {}, and {app} of wave {} needs {} {} of it",
        wave(other),
        wave(app),
        key.kind,
        key.name
    );
    let child = ObjectKey::new(GROUP, "Application", other.namespace.clone(), other.name.clone());
    let fix = parent.as_ref().map(|parent| {
        let (name, place) = annotated(parent, &child, annotations::SYNC_WAVE, (wave(app) - 1).to_string());
        Fix::new(format!("Bring application {other} before {app}"))
            .git(&name, place)
            .risk(Risk::Low, format!("only when {other} is applied changes"))
            .verify(format!("lynceus app sync {parent}"))
    });
    Finding::new(RULE.code, Node::Application(other.clone()), cause)
        .of(parent)
        .seen([Evidence::seen(format!(
            "{} {} of {app} needs {} {} of {other}",
            user.kind, user.name, key.kind, key.name
        ))])
        .affects([Node::Application(app.clone())])
        .fix(fix)
}

#[cfg(test)]
mod tests {
    use crate::tests::{check, roots};

    const EARLY: &str = "
@app shop OutOfSync Progressing
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec:
  template:
    spec:
      containers: [{name: web, image: web, envFrom: [{secretRef: {name: db}}]}]
---
apiVersion: v1
kind: Secret
metadata: {name: db, namespace: shop, annotations: {argocd.argoproj.io/sync-wave: '2'}}
@live
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec:
  template:
    spec:
      containers: [{name: web, image: web, envFrom: [{secretRef: {name: db}}]}]
";

    #[test]
    fn a_workload_that_needs_what_a_later_wave_brings_is_found() {
        assert_eq!(
            check("LYN1209", EARLY),
            "P1 LYN1209/shop/Secret/db: Secret db comes in wave 2, and Deployment web of wave 0 needs it\n  shop.yaml:9: Secret \
             db, wave 2\n  shop.yaml:1: Deployment web, wave 0\n  fix: Bring Secret db in wave 0\n  fix: Let Deployment web \
             come after it\n"
        );
        assert_eq!(roots(EARLY), "P1 LYN1209/shop/Secret/db explains shop\n");
    }

    #[test]
    fn a_hook_that_needs_what_the_sync_makes_is_found() {
        let text = "
@app shop OutOfSync Missing
apiVersion: batch/v1
kind: Job
metadata: {name: migrate, namespace: shop, annotations: {argocd.argoproj.io/hook: PreSync}}
spec: {template: {spec: {serviceAccountName: migrate, containers: [{name: a, image: a}]}}}
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: migrate, namespace: shop}
";
        assert!(check("LYN1209", text).starts_with(
            "P1 LYN1209/shop/ServiceAccount/migrate: ServiceAccount migrate comes in phase Sync, and Job migrate of phase \
             PreSync needs it\n"
        ));
    }

    #[test]
    fn what_is_there_or_comes_with_its_user_or_before_it_is_not_found() {
        assert_eq!(check("LYN1209", &EARLY.replace("sync-wave: '2'", "sync-wave: '0'")), "");
        assert_eq!(check("LYN1209", &EARLY.replace("sync-wave: '2'", "sync-wave: '-1'")), "");
        let there =
            format!("{EARLY}---\napiVersion: v1\nkind: Secret\nmetadata: {{name: db, namespace: shop}}\n");
        assert_eq!(check("LYN1209", &there), "");
        assert_eq!(
            check(
                "LYN1209",
                &EARLY.replace("secretRef: {name: db}", "secretRef: {name: db, optional: true}")
            ),
            ""
        );
    }

    const ACROSS: &str = "
@app apps OutOfSync Progressing
apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: web, namespace: argocd, annotations: {argocd.argoproj.io/sync-wave: '1'}}
---
apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: mesh, namespace: argocd, annotations: {argocd.argoproj.io/sync-wave: '2'}}
@app web OutOfSync Missing
apiVersion: networking.istio.io/v1
kind: VirtualService
metadata: {name: web, namespace: kf}
@app mesh OutOfSync Missing
@uncreated
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: virtualservices.networking.istio.io}
spec: {group: networking.istio.io, names: {kind: VirtualService}}
";

    #[test]
    fn applications_of_one_parent_in_the_wrong_order_are_found() {
        assert!(check("LYN1209", ACROSS).starts_with(
            "P1 LYN1209/apps/Application/mesh: application mesh comes in wave 2, and web of wave 1 needs \
             CustomResourceDefinition virtualservices.networking.istio.io of it\n"
        ));
        assert!(
            roots(ACROSS).starts_with("P0 LYN1209/apps/Application/mesh explains apps mesh web\n"),
            "{}",
            roots(ACROSS)
        );
    }

    #[test]
    fn an_application_that_is_there_holds_nobody() {
        assert_eq!(check("LYN1209", &ACROSS.replace("@uncreated\n", "")), "");
    }
}
