//! A wave that waits for the health of something that becomes healthy only later.

use std::collections::{BTreeMap, BTreeSet};

use jiff::SignedDuration;
use lynceus_api::{HealthStatusCode, annotations};
use lynceus_object::{FieldPath, Object, ObjectKey, Value};

use crate::case::{App, Case, Pods};
use crate::finding::{Evidence, Finding, Findings};
use crate::fix::{Fix, Place, Risk};
use crate::links::service::{is_behind, named_services};
use crate::node::Node;
use crate::rules::Rule;
use crate::rules::container::Container;
use crate::rules::wave_needs::{Turn, turn};
use crate::snapshot::Wanted;
use crate::words;

pub(super) const RULE: Rule = Rule {
    code: "LYN1208",
    title: "A wave waits for something that becomes healthy only later",
    explanation: "\
The sync waits for an object of an early wave to become healthy, and that does not happen before something of a later wave is there:
a service that it asks, a model that a later job trains, a claim that somebody else makes. The later wave never comes.

## Why
Waves were made to order what is applied. They wait for health too, and some kinds are healthy only when everything is running.

## Example
```
InferenceService model  wave 1  Progressing: waiting for the model
Job train               wave 3  not created
```

## What to do
Put the object into the last wave, or what it waits for into an earlier one. Where neither is possible, give the kind a health
check that does not count what comes later.
",
    check,
};

/// What is healthy at all is so within this time, most likely.
const USUAL: SignedDuration = SignedDuration::from_mins(10);

fn check(case: &Case<'_>, findings: &mut Findings) {
    for app in case.apps().filter(|app| app.wanted().len() > 1 && app.is_troubled()) {
        let absent = absent(case, app);
        let Some((&last, _)) = absent.last_key_value() else { continue };
        let has_waited = has_waited(case, app);
        for wanted in app.wanted() {
            let Some(when) = turn(&wanted.object).filter(|when| *when < last) else { continue };
            let Some((live, health)) = holder(case, app, &wanted.object) else { continue };
            let later = later(&absent, when);
            let found = match health {
                HealthStatusCode::Progressing if !has_waited => None,
                HealthStatusCode::Progressing => fed(case, app, wanted, live, when, &later)
                    .or_else(|| found(case, app, wanted, live, when, &later)),
                _ => fed(case, app, wanted, live, when, &later).or_else(|| {
                    asks(case, app, wanted, live, when, &later).filter(|_| is_up(case, app, live))
                }),
            };
            found.into_iter().for_each(|one| findings.add(one));
        }
    }
}

/// What is not there and comes after a turn.
fn later<'a>(absent: &BTreeMap<Turn, Vec<&'a Wanted>>, when: Turn) -> Vec<(Turn, &'a Wanted)> {
    let behind = absent.range(when..).filter(|(turn, _)| **turn > when);
    behind.flat_map(|(turn, all)| all.iter().map(|one| (*turn, *one))).collect()
}

/// An object that reads from a place which something of a later wave is there to fill.
fn fed(
    case: &Case<'_>,
    app: &App<'_>,
    wanted: &Wanted,
    live: &Object,
    when: Turn,
    later: &[(Turn, &Wanted)],
) -> Option<Finding> {
    let read = places(live.at(&["spec"])?);
    let shared = |(turn, one): &(Turn, &Wanted)| {
        let filled = places(Pods::of(&one.object)?.spec);
        Some((*turn, one.object.key(), filled.into_iter().find(|place| read.contains(place))?))
    };
    let (comes, filler, place) = later.iter().find_map(shared)?;
    let key = wanted.object.key();
    let cause = format!(
        "wave {} waits for {} {} to become healthy, which reads {place}, and {} {} of wave {} is to fill it",
        when.wave, key.kind, key.name, filler.kind, filler.name, comes.wave
    );
    Some(finding(case, app, wanted, live, cause).fix(moves(app, &key, &[filler], when, comes)))
}

/// The places outside of the cluster that a spec names: `s3://models/fraud`. What is asked over HTTP is not filled by anybody.
fn places(spec: &Value) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    match spec {
        Value::Map(map) => map.values().for_each(|part| found.extend(places(part))),
        Value::Seq(items) => items.iter().for_each(|item| found.extend(places(item))),
        other => {
            let text = other.as_str().unwrap_or_default();
            let words =
                text.split(|sign: char| sign.is_whitespace() || matches!(sign, '=' | ',' | '"' | '\''));
            let is_place = |word: &&str| word.contains("://") && !word.starts_with("http");
            found.extend(words.filter(is_place).map(|word| word.trim_end_matches('/').to_owned()));
        }
    }
    found
}

/// Whether its sync waits for longer than things usually take to become healthy.
fn has_waited(case: &Case<'_>, app: &App<'_>) -> bool {
    let since = app.operation().filter(|_| app.is_operating()).and_then(|state| state.started_at);
    since.is_some_and(|since| case.snapshot.taken_at.duration_since(since.timestamp()) >= USUAL)
}

/// What an application wants and what is not there, by its turn.
fn absent<'a>(case: &Case<'a>, app: &App<'a>) -> BTreeMap<Turn, Vec<&'a Wanted>> {
    let mut absent: BTreeMap<Turn, Vec<&'a Wanted>> = BTreeMap::new();
    for wanted in app.wanted() {
        let key = wanted.object.key();
        let when =
            turn(&wanted.object).filter(|_| !key.name.is_empty() && case.is_absent(app.server(), &key));
        if let Some(when) = when {
            absent.entry(when).or_default().push(wanted);
        }
    }
    absent
}

/// The object as it is and its health, if the wave waits for that. Claims have rules of their own, and applications are others' affair.
fn holder<'a>(case: &Case<'a>, app: &App<'_>, object: &Object) -> Option<(&'a Object, HealthStatusCode)> {
    let live = case.live(app.server(), &object.key())?;
    let is_other = matches!(live.kind(), "PersistentVolumeClaim" | "Application");
    let health = case.health(live)?.status;
    let waits = matches!(health, HealthStatusCode::Progressing | HealthStatusCode::Degraded);
    (waits && !is_other).then_some((live, health))
}

/// Whether its pods run, and only do not get ready: a workload that has not come up in time is Degraded.
fn is_up<'a>(case: &Case<'a>, app: &App<'_>, live: &'a Object) -> bool {
    let pods = case.pods(app.server(), live);
    let mut containers =
        pods.iter().flat_map(|pod| Container::all(pod)).filter(|one| !one.is_early).peekable();
    containers.peek().is_some() && containers.all(|one| one.runs())
}

/// Something that asks a service which comes later.
fn asks<'a>(
    case: &Case<'a>,
    app: &App<'a>,
    wanted: &Wanted,
    live: &'a Object,
    when: Turn,
    later: &[(Turn, &'a Wanted)],
) -> Option<Finding> {
    let asked = Pods::of(live).map(|pods| named_services(case, app.server(), &pods)).unwrap_or_default();
    let services: Vec<&Object> = asked.iter().filter_map(|key| case.live(app.server(), key)).collect();
    let is_asked = |one: &'a Wanted| {
        asked.contains(&one.object.key())
            || services.iter().any(|service| is_behind(case, app.server(), service, &one.object))
    };
    let (comes, service) = later.iter().find(|(_, one)| is_asked(one))?;
    let key = wanted.object.key();
    let cause = format!(
        "wave {} waits for {} {} to become healthy, which asks {} {} of wave {}",
        when.wave,
        key.kind,
        key.name,
        service.object.kind(),
        service.object.name(),
        comes.wave
    );
    // A service answers only when its pods are there too.
    let behind = later.iter().map(|(_, one)| &one.object).filter(|one| {
        one.key() != service.object.key() && is_behind(case, app.server(), &service.object, one)
    });
    let needed: Vec<ObjectKey> = [service.object.key()].into_iter().chain(behind.map(Object::key)).collect();
    let moved = moves(app, &key, &needed, when, *comes);
    Some(finding(case, app, wanted, live, cause).fix(moved))
}

fn found<'a>(
    case: &Case<'a>,
    app: &App<'a>,
    wanted: &Wanted,
    live: &'a Object,
    when: Turn,
    later: &[(Turn, &'a Wanted)],
) -> Option<Finding> {
    if let Some(found) = asks(case, app, wanted, live, when, later) {
        return Some(found);
    }
    let key = wanted.object.key();
    let name = format!("{} {}", key.kind, key.name);
    // Of custom kinds nobody can say what they wait for; if nothing better is found, it is the order.
    let waits = live.group().contains('.') && app.awaits(&key);
    let (last, _) = later.last().filter(|_| waits)?;
    let names =
        words::list(later.iter().map(|(_, one)| format!("{} {}", one.object.kind(), one.object.name())));
    let verb = if later.len() == 1 { "waits" } else { "wait" };
    let cause =
        format!("wave {} waits for {name} to become healthy, and {names} {verb} behind it", when.wave);
    let move_last = Fix::new(format!("Put {name} into the last wave"))
        .git(&app.name, placed(&key, last.wave + 1))
        .risk(Risk::Low, format!("only when {name} is applied changes"))
        .why("nothing waits behind it then, and it becomes healthy when it can");
    let check = Fix::new(format!("Give {} a health check that does not wait", key.kind))
        .person(format!(
            "set resource.customizations.health.{}_{} in ConfigMap argocd-cm to a script that calls it Healthy while it \
             waits for what comes later",
            key.group, key.kind
        ))
        .risk(Risk::Medium, format!("the health of every {} in all applications", key.kind))
        .why("right where the kind is never healthy before everything else is");
    Some(finding(case, app, wanted, live, cause).unless_deeper().fix([move_last, check]))
}

fn finding(case: &Case<'_>, app: &App<'_>, wanted: &Wanted, live: &Object, cause: String) -> Finding {
    let said = case.health(live).map(|health| format!("{}: {}", health.status, health.message));
    let key = wanted.object.key();
    Finding::new(RULE.code, Node::object(app.server(), key.clone()), cause)
        .of(Some(app.name.clone()))
        .seen(app.file(wanted, format!("{} {}", key.kind, key.name)))
        .seen(said.map(|said| {
            Evidence::seen(
                format!("{} {} is {said}", key.kind, key.name).trim_end_matches([':', ' ']).to_owned(),
            )
        }))
        .affects([app.node()])
}

fn moves(app: &App<'_>, key: &ObjectKey, needed: &[ObjectKey], when: Turn, comes: Turn) -> [Fix; 2] {
    let names = words::list(needed.iter().map(|one| format!("{} {}", one.kind, one.name)));
    let first = Fix::new(format!("Bring {names} in wave {}", when.wave));
    let first = needed
        .iter()
        .fold(first, |fix, one| fix.git(&app.name, placed(one, when.wave)))
        .risk(Risk::Low, format!("only when {names} is applied changes"))
        .why("what is asked is there when it is asked")
        .verify(format!("lynceus app sync {}", app.name));
    let last = Fix::new(format!("Let {} {} come after it", key.kind, key.name))
        .git(&app.name, placed(key, comes.wave + 1))
        .risk(Risk::Low, format!("only when {} {} is applied changes", key.kind, key.name))
        .why("right if what is asked needs the waves before it");
    [first, last]
}

fn placed(key: &ObjectKey, wave: i64) -> Place {
    let path = FieldPath::fields(["metadata", "annotations"]).field(annotations::SYNC_WAVE);
    Place::Field { object: key.clone(), path, value: Some(Value::from(wave.to_string())) }
}

#[cfg(test)]
mod tests {
    use crate::tests::check;

    const MODEL: &str = "
@app ml OutOfSync Progressing
@status {operationState: {phase: Running, message: 'waiting for healthy state of serving.kserve.io/InferenceService/model', operation: {}, startedAt: '2026-01-01T11:00:00Z'}}
apiVersion: serving.kserve.io/v1beta1
kind: InferenceService
metadata: {name: model, namespace: ml}
spec: {predictor: {}}
---
apiVersion: batch/v1
kind: Job
metadata: {name: train, namespace: ml, annotations: {argocd.argoproj.io/sync-wave: '3'}}
spec: {template: {spec: {containers: [{name: a, image: a}]}}}
@live
apiVersion: serving.kserve.io/v1beta1
kind: InferenceService
metadata: {name: model, namespace: ml}
spec: {predictor: {}}
";

    #[test]
    fn a_model_that_is_trained_behind_its_service_is_found() {
        let found = check("LYN1208", MODEL);
        assert!(
            found.starts_with(
                "P1 LYN1208/ml/InferenceService/model: wave 0 waits for InferenceService model to become healthy, and Job \
                 train waits behind it\n"
            ),
            "{found}"
        );
    }

    #[test]
    fn a_model_that_cannot_be_loaded_before_a_later_job_has_made_it_is_found() {
        let reading = MODEL.replace("predictor: {}", "predictor: {model: {storageUri: 's3://models/fraud'}}");
        let reading = reading.replace("image: a}", "image: a, args: ['--output=s3://models/fraud/']}");
        let failed = format!(
            "{reading}status: {{conditions: [{{type: Ready, status: 'False', reason: ModelLoadFailed, message: no model}}], \
             modelStatus: {{transitionStatus: BlockedByFailedLoad}}}}\n"
        );
        for text in [reading, failed] {
            let found = check("LYN1208", &text);
            let cause = "which reads s3://models/fraud, and Job train of wave 3 is to fill it\n";
            assert!(found.contains(cause), "{found}");
        }
    }

    #[test]
    fn one_whose_result_is_not_complete_is_waited_for_though_another_is_named() {
        let result = "syncResult: {revision: a, resources: [{group: serving.kserve.io, version: v1beta1, kind: InferenceService, namespace: \
                      ml, name: model, status: Synced, hookPhase: Running}]}, startedAt";
        let other =
            MODEL.replace("serving.kserve.io/InferenceService/model'", "/Service/web and 1 more resources'");
        assert_eq!(check("LYN1208", &other), "");
        assert!(
            check("LYN1208", &other.replace("startedAt", result))
                .contains("InferenceService/model: wave 0 waits")
        );
    }

    #[test]
    fn what_nothing_waits_behind_is_not() {
        assert_eq!(check("LYN1208", &MODEL.replace("sync-wave: '3'", "sync-wave: '-1'")), "");
        assert_eq!(check("LYN1208", &MODEL.replace("phase: Running", "phase: Succeeded")), "");
        assert_eq!(check("LYN1208", &MODEL.replace("T11:00:00Z", "T11:58:00Z")), "");
    }

    #[test]
    fn a_workload_that_asks_a_service_of_a_later_wave_is_found() {
        let spec = "spec:
  replicas: 1
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: web, env: [{name: API, value: 'http://api.shop.svc:80'}]}]}
";
        let text = format!(
            "@app shop OutOfSync Progressing
@status {{operationState: {{phase: Running, operation: {{}}, startedAt: '2026-01-01T11:00:00Z'}}}}
apiVersion: apps/v1
kind: Deployment
metadata: {{name: web, namespace: shop}}
{spec}---
apiVersion: v1
kind: Service
metadata: {{name: api, namespace: shop, annotations: {{argocd.argoproj.io/sync-wave: '1'}}}}
@live
apiVersion: apps/v1
kind: Deployment
metadata: {{name: web, namespace: shop, generation: 1}}
{spec}status: {{observedGeneration: 1, replicas: 1, updatedReplicas: 1, unavailableReplicas: 1}}
"
        );
        assert!(check("LYN1208", &text).starts_with(
            "P1 LYN1208/shop/Deployment/web: wave 0 waits for Deployment web to become healthy, which asks Service api of \
             wave 1\n"
        ));
    }
}
