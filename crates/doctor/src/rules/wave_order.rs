//! Something needs what comes only after it.

use std::collections::{BTreeMap, HashMap};

use lynceus_api::{GROUP, SyncPhase, annotations, hook, wave};
use lynceus_object::{FieldPath, Object, ObjectKey, Value};

use crate::case::{App, Case, Pods};
use crate::finding::{Evidence, Finding, Findings};
use crate::fix::{Fix, Place, Risk};
use crate::limits;
use crate::links::kind::Providers;
use crate::links::{namespace, produced, reference};
use crate::node::{AppName, Node};
use crate::rules::Rule;
use crate::rules::parenthood::Places;
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

/// When an object is applied: in which phase, and in which wave of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Turn {
    phase: u8,
    pub(super) wave: i64,
}

/// When an object is applied; none if no sync does.
pub(super) fn turn(object: &Object) -> Option<Turn> {
    let phase = |phase: SyncPhase| match phase {
        SyncPhase::PreSync => 0,
        SyncPhase::Sync => 1,
        SyncPhase::PostSync => 2,
        SyncPhase::SyncFail => 3,
    };
    let phase = match hook::is_hook(object) {
        true => hook::sync_types(object).into_iter().filter_map(|one| one.phase()).map(phase).min()?,
        false => 1,
    };
    Some(Turn { phase, wave: wave(object) })
}

/// `wave 3`, `phase PreSync`.
fn turn_text(turn: Turn, other: Turn) -> String {
    match (turn.phase == other.phase, turn.phase) {
        (true, _) => format!("wave {}", turn.wave),
        (false, 0) => "phase PreSync".to_owned(),
        (false, 1) => "phase Sync".to_owned(),
        (false, 2) => "phase PostSync".to_owned(),
        (false, _) => "phase SyncFail".to_owned(),
    }
}

/// Something that comes too late, and who needs it.
struct Late<'c, 'a> {
    app: &'c App<'a>,
    late: &'a Wanted,
    users: Vec<&'a Wanted>,
}

fn check(case: &Case<'_>, findings: &mut Findings) {
    let needs = Needs::new(case);
    let mut late: BTreeMap<(AppName, ObjectKey), Late<'_, '_>> = BTreeMap::new();
    let mut across: BTreeMap<(AppName, AppName), (ObjectKey, ObjectKey)> = BTreeMap::new();
    for app in case.apps().filter(|app| !app.is_fine()) {
        for user in app.wanted() {
            for key in needs.of(app, &user.object) {
                needs.judge(app, user, &key, &mut late, &mut across);
            }
        }
    }
    late.into_values().for_each(|one| findings.add(of_objects(&one)));
    for ((app, other), (user, key)) in across {
        findings.add(of_applications(&needs.places, &app, &other, &user, &key));
    }
}

/// What is known of needs, looked up once.
struct Needs<'c, 'a> {
    case: &'c Case<'a>,
    makers: HashMap<(&'a str, ObjectKey), Vec<ObjectKey>>,
    providers: Providers<'a>,
    missing: std::collections::HashSet<(&'a str, lynceus_object::Str)>,
    places: Places,
}

impl<'c, 'a> Needs<'c, 'a> {
    fn new(case: &'c Case<'a>) -> Self {
        Needs {
            case,
            makers: produced::makers(case),
            providers: Providers::new(case),
            missing: namespace::missing(case).into_keys().collect(),
            places: Places::new(case),
        }
    }

    /// What an object cannot be applied or become healthy without, of what is not there.
    fn of(&self, app: &App<'a>, object: &'a Object) -> Vec<ObjectKey> {
        let server = app.server();
        let mut needs = self.of_pods(server, object);
        if self.missing.contains(&(server, object.namespace().into())) {
            needs.push(namespace::key_of(object.namespace()));
        }
        let kind = object.group_kind();
        if self.case.serves(server, &kind) == Some(false) {
            needs.extend(self.providers.of(server, &kind).into_iter().map(|one| one.definition.clone()));
        }
        // What a custom resource names may be there for it to begin, or not; if it is not well, that is why.
        let live = self.case.live(server, &object.key()).filter(|_| object.group().contains('.'));
        if live.is_some_and(|live| self.case.is_unwell(live)) {
            needs.extend(reference::named(object));
        }
        needs.retain(|key| self.case.is_absent(server, key));
        needs
    }

    /// What the pods of a workload that waves wait for cannot start without.
    fn of_pods(&self, server: &'a str, object: &'a Object) -> Vec<ObjectKey> {
        let Some(pods) = Pods::of(object).filter(|_| holds_wave(object)) else { return Vec::new() };
        let mut needs = Vec::new();
        for (key, ..) in pods.needs() {
            let makers = self.makers.get(&(server, key.clone())).cloned();
            let is_wanted = !self.case.wanted(server, &key).is_empty();
            match makers.filter(|_| !is_wanted && key.kind == "Secret" && self.case.is_absent(server, &key)) {
                Some(makers) => needs.extend(makers),
                None => needs.push(key),
            }
        }
        if pods.service_account() != "default" {
            needs.push(ObjectKey::new("", "ServiceAccount", object.namespace(), pods.service_account()));
        }
        needs
    }

    /// Notes what is needed and comes too late.
    fn judge(
        &self,
        app: &'c App<'a>,
        user: &'a Wanted,
        key: &ObjectKey,
        late: &mut BTreeMap<(AppName, ObjectKey), Late<'c, 'a>>,
        across: &mut BTreeMap<(AppName, AppName), (ObjectKey, ObjectKey)>,
    ) {
        let bringers = self.case.wanted(app.server(), key);
        let own = bringers.iter().find(|(bringer, _)| bringer.name == app.name);
        if let Some((_, wanted)) = own {
            if turn(&wanted.object) > turn(&user.object) && turn(&user.object).is_some() {
                let one = late.entry((app.name.clone(), key.clone())).or_insert_with(|| Late {
                    app,
                    late: wanted,
                    users: Vec::new(),
                });
                one.users.push(user);
            }
            return;
        }
        // An application that is there does not wait for its wave any more.
        let is_held = |other: &AppName| {
            let key = ObjectKey::new(GROUP, "Application", other.namespace.clone(), other.name.clone());
            let home = self.case.servers().next().unwrap_or_default();
            self.case.is_absent(home, &key) && self.places.is_before(&app.name, other)
        };
        if !bringers.is_empty() && bringers.iter().all(|(other, _)| is_held(&other.name)) {
            let pair = (app.name.clone(), bringers[0].0.name.clone());
            across.entry(pair).or_insert_with(|| (user.object.key(), key.clone()));
        }
    }
}

/// Whether a wave waits for the pods of an object.
fn holds_wave(object: &Object) -> bool {
    let is_workload = matches!(
        object.kind(),
        "Deployment" | "StatefulSet" | "DaemonSet" | "Job" | "Pod" | "ReplicaSet" | "Rollout"
    );
    let is_idle = object.value().int_at(&["spec", "replicas"]) == Some(0)
        || object.value().bool_at(&["spec", "suspend"]) == Some(true);
    is_workload && !is_idle
}

fn of_objects(Late { app, late, users }: &Late<'_, '_>) -> Finding {
    let key = late.object.key();
    let user = users[0];
    let (Some(comes), Some(needed)) = (turn(&late.object), turn(&user.object)) else {
        return Finding::new(RULE.code, app.node(), String::new());
    };
    let names = words::list(users.iter().map(|one| format!("{} {}", one.object.kind(), one.object.name())));
    let verb = if users.len() == 1 { "needs" } else { "need" };
    let cause = format!(
        "{} {} comes in {}, and {names} of {} {verb} it",
        key.kind,
        key.name,
        turn_text(comes, needed),
        turn_text(needed, comes)
    );
    let files = users.iter().filter_map(|one| {
        app.file(one, format!("{} {}, {}", one.object.kind(), one.object.name(), turn_text(needed, comes)))
    });
    let here = app.file(late, format!("{} {}, {}", key.kind, key.name, turn_text(comes, needed)));
    Finding::new(RULE.code, Node::object(app.server(), key.clone()), cause)
        .of(Some(app.name.clone()))
        .seen(here)
        .seen(files.take(limits::NAMED))
        .affects(users.iter().map(|one| Node::object(app.server(), one.object.key())))
        .affects([app.node()])
        .fix(earlier(app, &key, comes, needed))
        .fix(later(app, user, comes, needed))
}

fn annotated(app: &AppName, key: &ObjectKey, annotation: &str, value: String) -> (AppName, Place) {
    let path = FieldPath::fields(["metadata", "annotations"]).field(annotation);
    (app.clone(), Place::Field { object: key.clone(), path, value: Some(Value::from(value)) })
}

/// What is needed gets the earlier place.
fn earlier(app: &App<'_>, key: &ObjectKey, comes: Turn, needed: Turn) -> Option<Fix> {
    let fix = Fix::new(format!("Bring {} {} in {}", key.kind, key.name, turn_text(needed, comes)));
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

fn of_applications(
    places: &Places,
    app: &AppName,
    other: &AppName,
    user: &ObjectKey,
    key: &ObjectKey,
) -> Finding {
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
