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
use crate::rules::wave_circle::{self, Crossing};
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
    for circle in judged.crossings.circles() {
        of_circle(&circle).into_iter().for_each(|finding| findings.add(finding));
    }
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
    // Beside its user it comes after whatever it needs itself of earlier waves; only a kind has to be there before.
    let is_kind = key.kind == "CustomResourceDefinition";
    let (title, place) = match is_kind {
        true => (format!("Bring application {other} before {app}"), wave(app) - 1),
        false => (format!("Bring application {other} in the wave of {app}"), wave(app)),
    };
    let moved = |child: &ObjectKey, title: String, place: i64| {
        let parent = parent.as_ref()?;
        let (name, place) = annotated(parent, child, annotations::SYNC_WAVE, place.to_string());
        Some(Fix::new(title).git(&name, place).verify(format!("lynceus app sync {parent}")))
    };
    let fix = moved(&child, title, place)
        .map(|fix| fix.risk(Risk::Low, format!("only when {other} is applied changes")));
    let user_of = ObjectKey::new(GROUP, "Application", app.namespace.clone(), app.name.clone());
    let has_one_parent = places.of(app).is_some_and(|place| Some(&place.parent) == parent.as_ref());
    let after = has_one_parent
        .then(|| moved(&user_of, format!("Let application {app} come after {other}"), wave(other) + 1))
        .flatten()
        .map(|fix| {
            fix.risk(Risk::Medium, format!("{app} and what comes after it"))
                .why("right if what is needed has to wait for something itself")
        });
    Finding::new(RULE.code, Node::Application(other.clone()), cause)
        .of(parent)
        .seen([Evidence::seen(format!(
            "{} {} of {app} needs {} {} of {other}",
            user.kind, user.name, key.kind, key.name
        ))])
        .affects([Node::Application(app.clone())])
        .fix(fix)
        .fix(after)
}

/// Applications that wait for each other: it is enough that one of them brings what is needed before it waits itself.
fn of_circle(circle: &[Crossing<'_, '_>]) -> Option<Finding> {
    let (chosen, needed) = wave_circle::easiest(circle)?;
    let named = |one: &Wanted| format!("{} {}", one.object.kind(), one.object.name());
    let (key, other) = (chosen.late.object.key(), chosen.other);
    let names = words::list(circle.iter().map(|one| one.app.name.to_string()));
    let cause = format!(
        "{names} wait for each other: {} comes in {} of {}, and {} of {} needs it before that",
        named(chosen.late),
        chosen.comes.beside(needed),
        other.name,
        named(chosen.user),
        chosen.app.name
    );
    let told = circle.iter().map(|one| {
        let text = format!(
            "{} of {}, wave {}, needs {} of {}, wave {}",
            named(one.user),
            one.app.name,
            one.needed.wave,
            named(one.late),
            one.other.name,
            one.comes.wave
        );
        one.app.file(one.user, text.clone()).unwrap_or_else(|| Evidence::seen(text))
    });
    let users = circle.iter().map(|one| Node::object(one.app.server(), one.user.object.key()));
    Some(
        Finding::new(RULE.code, Node::object(other.server(), key.clone()), cause)
            .of(Some(other.name.clone()))
            .seen(told.take(limits::NAMED))
            .affects(users)
            .affects(circle.iter().map(|one| one.app.node()))
            .fix(earlier(other, &key, chosen.comes, needed)),
    )
}

#[cfg(test)]
mod tests {
    use crate::tests::{check, roots, told};

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

    const ENTRY: &str = "
@app edge OutOfSync Progressing
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: web, namespace: edge}
spec: {ingressClassName: nginx}
---
apiVersion: networking.k8s.io/v1
kind: IngressClass
metadata: {name: nginx}
spec: {controller: k8s.io/ingress-nginx}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: controller, namespace: edge, annotations: {argocd.argoproj.io/sync-wave: '3'}}
spec: {template: {spec: {containers: [{name: c, image: c, args: [--controller-class=k8s.io/ingress-nginx]}]}}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: other, namespace: edge, annotations: {argocd.argoproj.io/sync-wave: '3'}}
spec: {template: {spec: {containers: [{name: c, image: c}]}}}
@live
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: web, namespace: edge}
spec: {ingressClassName: nginx}
status: {loadBalancer: {}}
---
apiVersion: networking.k8s.io/v1
kind: IngressClass
metadata: {name: nginx}
spec: {controller: k8s.io/ingress-nginx}
";

    #[test]
    fn an_ingress_whose_controller_comes_later_is_found() {
        let found = check("LYN1209", ENTRY);
        assert!(
            found.starts_with("P1 LYN1209/edge/Deployment/controller: Deployment controller comes in wave 3, and Ingress web of wave 0 needs it"),
            "{found}"
        );
        assert_eq!(found.matches("P1 ").count(), 1, "{found}");
    }

    #[test]
    fn one_that_has_its_address_or_whose_controller_comes_with_it_is_not() {
        let served = ENTRY.replace("loadBalancer: {}", "loadBalancer: {ingress: [{ip: 10.0.0.1}]}");
        assert_eq!(check("LYN1209", &served), "");
        let beside = ENTRY.replace("sync-wave: '3'", "sync-wave: '0'");
        assert_eq!(check("LYN1209", &beside), "");
        let unknown = ENTRY.replace(", args: [--controller-class=k8s.io/ingress-nginx]", "");
        assert_eq!(check("LYN1209", &unknown), "", "either may serve it");
    }

    #[test]
    fn an_ingress_whose_class_comes_later_is_found() {
        let (wanted, _) =
            ENTRY.rsplit_once("---\napiVersion: networking.k8s.io/v1\nkind: IngressClass").unwrap();
        let late = wanted.replacen(
            "metadata: {name: nginx}",
            "metadata: {name: nginx, annotations: {argocd.argoproj.io/sync-wave: '2'}}",
            1,
        );
        let found = check("LYN1209", &late);
        assert!(
            found.contains("IngressClass nginx comes in wave 2, and Ingress web of wave 0 needs it"),
            "{found}"
        );
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
    fn a_service_of_an_application_that_comes_later_is_needed_by_pods_that_do_not_come_up() {
        let text = "
@app apps OutOfSync Progressing
apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: web, namespace: argocd}
---
apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: lamp, namespace: argocd, annotations: {argocd.argoproj.io/sync-wave: '3'}}
@app web Synced Progressing
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec: {template: {spec: {containers: [{name: a, image: a, env: [{name: LAMP, value: 'http://lamp.sea.svc'}]}]}}}
@app lamp OutOfSync Missing
@uncreated
apiVersion: v1
kind: Service
metadata: {name: lamp, namespace: sea}
@live
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec: {replicas: 1, template: {spec: {containers: [{name: a, image: a, env: [{name: LAMP, value: 'http://lamp.sea.svc'}]}]}}}
";
        let found = check("LYN1209", text);
        assert!(
            found.starts_with(
                "P1 LYN1209/apps/Application/lamp: application lamp comes in wave 3, and web of wave 0 needs Service lamp of it\n"
            ) && found.contains("fix: Bring application lamp in the wave of web\n  fix: Let application web come after lamp"),
            "{found}"
        );
    }

    #[test]
    fn an_application_that_is_there_holds_nobody() {
        assert_eq!(check("LYN1209", &ACROSS.replace("@uncreated\n", "")), "");
    }

    const CIRCLE: &str = "
@app blog OutOfSync Degraded
apiVersion: apps/v1
kind: Deployment
metadata: {name: blog, namespace: team}
spec: {template: {spec: {containers: [{name: a, image: a, envFrom: [{configMapRef: {name: shop}}]}]}}}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: blog, namespace: team, annotations: {argocd.argoproj.io/sync-wave: '1'}}
@app shop OutOfSync Degraded
apiVersion: apps/v1
kind: Deployment
metadata: {name: shop, namespace: team}
spec: {template: {spec: {containers: [{name: a, image: a, envFrom: [{configMapRef: {name: blog}}]}]}}}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: shop, namespace: team, annotations: {argocd.argoproj.io/sync-wave: '1'}}
";

    #[test]
    fn applications_whose_waves_wait_for_each_other_are_found_once() {
        assert_eq!(
            check("LYN1209", CIRCLE),
            "P1 LYN1209/blog/ConfigMap/blog: blog and shop wait for each other: ConfigMap blog comes in wave 1 of blog, and \
             Deployment shop of shop needs it before that\n  blog.yaml:1: Deployment blog of blog, wave 0, needs ConfigMap shop \
             of shop, wave 1\n  shop.yaml:1: Deployment shop of shop, wave 0, needs ConfigMap blog of blog, wave 1\n  fix: \
             Bring ConfigMap blog in wave 0\n"
        );
        assert_eq!(roots(CIRCLE), "P0 LYN1209/blog/ConfigMap/blog explains blog shop\n");
    }

    #[test]
    fn where_one_of_two_brings_what_the_other_needs_in_time_nothing_is_found() {
        let begin = CIRCLE.replacen("sync-wave: '1'", "sync-wave: '0'", 1);
        assert_eq!(check("LYN1209", &begin), "");
    }

    #[test]
    fn an_application_that_is_not_created_is_counted_and_told_as_that() {
        let told = told(ACROSS);
        assert!(
            told.starts_with("3 applications, 0 fine (2 OutOfSync; 2 Missing, 1 Progressing)\n"),
            "{told}"
        );
    }
}
