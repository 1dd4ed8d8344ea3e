//! What Git wants beside what the cluster has, and what is rendered. Secrets are masked in all of it.

use lynceus_api::{Application, hook};
use lynceus_diff::{Change, FieldChange, Pair, Verdict, mask};
use lynceus_engine::{Aim, Freshness, Look};
use lynceus_object::{Object, Str, Value, json, value};

use crate::call::{Answer, Answered, Call};
use crate::refusal::{Code, Refusal};

/// Every object of an application, as it is wanted and as it is.
pub(super) async fn resources(call: &Call) -> Answered {
    let application = call.application("get", "applicationName")?;
    let look = call.server.engine.look(&application, &Aim::default()).await;
    let changes = match look.compared {
        true => look.changes.changes,
        false => unknown(call, &application, &look).await?,
    };
    let is_meant = |change: &&Change| {
        let key = change.key();
        [
            ("group", key.group.as_str()),
            ("kind", &key.kind),
            ("namespace", &key.namespace),
            ("name", &key.name),
        ]
        .iter()
        .all(|(field, text)| call.text(field).is_empty() || call.text(field) == *text)
    };
    let items: Value = changes.iter().filter(is_meant).map(|change| item(call, change)).collect();
    Ok(Answer::One(value!({"items": items})))
}

/// What an application has in its cluster while nobody can say what it wants: nothing of it is said to differ.
async fn unknown(call: &Call, application: &Application, look: &Look) -> Result<Vec<Change>, Refusal> {
    let Ok(found) = call.server.engine.belongings_in(application, look.clone()).await else {
        return Err(uncompared(look));
    };
    let is_there = |object: &Object| Change { pair: Pair::Extra(object.clone()), verdict: Verdict::Same };
    Ok(found.managed().map(is_there).collect())
}

pub(super) fn refuse_uncompared(look: &Look) -> Result<(), Refusal> {
    match look.compared {
        true => Ok(()),
        false => Err(uncompared(look)),
    }
}

fn uncompared(look: &Look) -> Refusal {
    let words: Vec<&str> = look.errors().map(|condition| condition.message.as_str()).collect();
    Refusal::new(Code::FailedPrecondition, words.join("; "))
}

fn item(call: &Call, change: &Change) -> Value {
    let key = change.key();
    let settings = call.server.engine.settings();
    let (desired, live) =
        mask(change.pair.desired(), change.pair.live(), &settings.comparing.hidden_annotations);
    let text = |object: Option<&Object>| {
        object.map_or_else(|| "null".to_owned(), |object| json::to_string(object.value()))
    };
    let (normalized, predicted, fields) = match &change.verdict {
        Verdict::Update(update) => (Some(&update.live), Some(&update.predicted), update.fields.as_slice()),
        Verdict::Create => (None, desired.as_ref(), [].as_slice()),
        Verdict::Prune => (live.as_ref(), None, [].as_slice()),
        _ => (live.as_ref(), live.as_ref(), [].as_slice()),
    };
    let is_hook = change.pair.desired().or(change.pair.live()).is_some_and(hook::is_hook);
    value!({
        "group": key.group, "kind": key.kind, "namespace": key.namespace, "name": key.name,
        "targetState": text(desired.as_ref()),
        "liveState": text(live.as_ref()),
        "normalizedLiveState": text(normalized),
        "predictedLiveState": text(predicted),
        "resourceVersion": change.pair.live().map(|live| live.resource_version().to_owned()).unwrap_or_default(),
        "hook": is_hook,
        "modified": change.modified().unwrap_or(false),
        // Not a field of Argo CD's: who wrote what differs.
        "fields": fields.iter().map(field).collect::<Value>(),
    })
}

fn field(change: &FieldChange) -> Value {
    let mut shown = value!({"path": change.path.to_string(), "origin": change.origin.as_str()});
    for (name, value) in [("desired", &change.desired), ("live", &change.live)] {
        if let Some(value) = value {
            shown.set(&[name], value.clone());
        }
    }
    if let Some(writer) = &change.writer {
        shown.set(&["writer"], value!({
            "manager": writer.manager.clone(), "operation": writer.operation.clone(), "time": writer.time.clone(),
        }));
    }
    shown
}

/// The comparison of objects that somebody sends along with what the server would make of them.
pub(super) async fn server_side(call: &Call) -> Answered {
    let application = call.application("get", "appName")?;
    let manifests: Vec<Object> =
        call.texts("targetManifests").iter().map(|text| parsed(text)).collect::<Result<_, _>>()?;
    let look = looked(call, &application, Some(manifests), Vec::new()).await?;
    let items: Value = look.changes.changes.iter().map(|change| item(call, change)).collect();
    let modified = look.changes.changes.iter().any(|change| change.modified() == Some(true));
    Ok(Answer::One(value!({"items": items, "modified": modified})))
}

fn parsed(text: &str) -> Result<Object, Refusal> {
    let value = json::parse(text.as_bytes())
        .map_err(|error| Refusal::invalid(format!("a manifest is no JSON: {error}")))?;
    Object::new(value).map_err(|_| Refusal::invalid("a manifest is no object"))
}

async fn looked(
    call: &Call,
    application: &Application,
    manifests: Option<Vec<Object>>,
    revisions: Vec<Str>,
) -> Result<Look, Refusal> {
    let aim = Aim { revisions, manifests, freshness: Freshness::Latest, ..Aim::default() };
    let look = call.server.engine.look(application, &aim).await;
    refuse_uncompared(&look)?;
    Ok(look)
}

/// What an application's sources give.
pub(super) async fn manifests(call: &Call) -> Answered {
    let application = call.application("get", "name")?;
    let mut revisions: Vec<Str> = call.texts("revisions").into_iter().map(Str::from).collect();
    if revisions.is_empty() && !call.text("revision").is_empty() {
        revisions.push(call.text("revision").into());
    }
    let look = looked(call, &application, None, revisions).await?;
    Ok(Answer::One(rendered(call, &application, &look)))
}

pub(super) fn rendered(call: &Call, application: &Application, look: &Look) -> Value {
    let shown = |object: &Object| Value::from(json::to_string(call.server.discreet(object).value()));
    let revision = look.sourced.first().map(|sourced| sourced.revision.clone()).unwrap_or_default();
    let kind = look
        .sourced
        .first()
        .map(|sourced| lynceus_api::ApplicationSourceType::from(sourced.rendered.source_type).to_string())
        .unwrap_or_default();
    value!({
        "manifests": look.desired.objects.iter().map(shown).collect::<Value>(),
        "namespace": application.spec.destination.namespace.clone(),
        "server": application.spec.destination.server.clone(),
        "revision": revision,
        "sourceType": kind,
    })
}
