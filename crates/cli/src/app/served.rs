//! What commands about applications do where a server answers instead of the cluster itself.

use lynceus_api::{Application, Operation, ResourceStatus};
use lynceus_diff::text;
use lynceus_object::{Object, ObjectKey, Str, Value, json, typed, value};

use super::context::Context;
use super::record::Records;
use super::resources::{self, Row, Which};
use crate::exit::{Doing as _, Outcome};
use crate::format::{self, Output};

/// Asks for a sync: an operation as the API takes it.
pub(super) async fn sync(context: &Context, name: &str, operation: &Operation) -> Outcome {
    let Some(records) = context.records() else { return Ok(()) };
    let operation = typed::from_typed(operation).doing("cannot write the operation")?;
    let mut message = records.about(name);
    for (field, path) in [
        ("revision", &["sync", "revision"][..]),
        ("dryRun", &["sync", "dryRun"]),
        ("prune", &["sync", "prune"]),
        ("strategy", &["sync", "syncStrategy"]),
        ("resources", &["sync", "resources"]),
        ("manifests", &["sync", "manifests"]),
        ("infos", &["info"]),
        ("retryStrategy", &["retry"]),
    ] {
        if let Some(value) = operation.at(path).filter(|value| !value.is_empty()) {
            message.set(&[field], value.clone());
        }
    }
    set_revisions(&mut message, &format::texts(&operation, &["sync", "revisions"]));
    let options = operation.at(&["sync", "syncOptions"]).cloned().unwrap_or_else(|| value!([]));
    message.set(&["syncOptions", "items"], options);
    records
        .api
        .call(&format!("cannot sync application {name}"), "ApplicationService.Sync", message)
        .await
        .map(drop)
}

/// Says which sources have other revisions than their own, by their places.
fn set_revisions(message: &mut Value, revisions: &[impl AsRef<str>]) {
    let given = (1_i64..).zip(revisions).filter(|(_, revision)| !revision.as_ref().is_empty());
    let (places, revisions): (Vec<Value>, Vec<Value>) =
        given.map(|(place, revision)| (Value::Int(place), Value::from(revision.as_ref()))).unzip();
    if !places.is_empty() {
        message.set(&["sourcePositions"], Value::from(places));
        message.set(&["revisions"], Value::from(revisions));
    }
}

/// Deletes an application, with what it has delivered or without.
pub(super) async fn delete(context: &Context, name: &str, cascade: bool, propagation: &str) -> Outcome {
    let Some(records) = context.records() else { return Ok(()) };
    let mut message = records.asking(name, &[("cascade", cascade.into())]);
    if cascade {
        message.set(&["propagationPolicy"], propagation);
    }
    let failed = format!("cannot delete application {name}");
    records.api.call(&failed, "ApplicationService.Delete", message).await.map(drop)
}

/// Prints manifests, from Git or as they are in the cluster.
pub(super) async fn manifests(records: &Records, name: &str, live: bool, revisions: &[Str]) -> Outcome {
    let failed = format!("the manifests of {name} cannot be rendered");
    let objects = match live {
        true => managed(records, name).await?.iter().filter_map(|one| state(one, "liveState")).collect(),
        false => {
            let mut message = records.about(name);
            match revisions {
                [revision] => message.set(&["revision"], revision.as_str()),
                revisions => set_revisions(&mut message, revisions),
            }
            let answer = records.api.call(&failed, "ApplicationService.GetManifests", message).await?;
            let texts = format::texts(&answer, &["manifests"]);
            let read =
                |text: &String| format::object(json::parse(text.as_bytes()).doing(failed.as_str())?, &failed);
            texts.iter().map(read).collect::<Outcome<Vec<Object>>>()?
        }
    };
    print!("{}", format::documents(&objects));
    Ok(())
}

/// How the cluster differs from Git, as the server sees it; nothing if it does not.
pub(super) async fn differences(records: &Records, name: &str) -> Outcome<String> {
    let mut out = String::new();
    for one in managed(records, name).await? {
        if one.bool_at(&["hook"]).unwrap_or_default() {
            continue;
        }
        let (live, target) = (state(&one, "normalizedLiveState"), state(&one, "targetState"));
        let desired =
            if live.is_some() && target.is_some() { state(&one, "predictedLiveState") } else { target };
        if live == desired {
            continue;
        }
        if let Some(object) = desired.as_ref().or(live.as_ref()) {
            let heading = text::heading(&object.key());
            out.push_str(&format!("\n{heading}\n{}", text::normal(live.as_ref(), desired.as_ref())));
        }
    }
    Ok(out)
}

/// Prints the resources of an application.
pub(super) async fn resources(
    records: &Records,
    application: &Application,
    which: Which,
    output: Output,
) -> Outcome {
    let name = format!("{}/{}", application.metadata.namespace, application.metadata.name);
    match output {
        Output::Wide | Output::Name => {
            let own = application.status.resources.iter().map(resources::key).filter(|_| which.own);
            let mut rows: Vec<Row> = own.map(|key| (key, false)).collect();
            if which.orphans {
                rows.extend(orphans(records, &name).await?.into_iter().map(|key| (key, true)));
            }
            resources::print(&rows, output);
        }
        Output::Json | Output::Yaml => {
            let live = managed(records, &name).await?;
            let live: Vec<Object> = live.iter().filter_map(|one| state(one, "liveState")).collect();
            match output {
                Output::Json => {
                    let items: Vec<Value> = live.into_iter().map(Object::into_value).collect();
                    println!("{}", format::json(&items.into())?);
                }
                _ => print!("{}", format::documents(&live)),
            }
        }
    }
    Ok(())
}

/// The objects beside an application that belong to nobody.
async fn orphans(records: &Records, name: &str) -> Outcome<Vec<ObjectKey>> {
    let failed = format!("cannot read the resources of {name}");
    let message = records.asking_as("applicationName", name);
    let tree = records.api.call(&failed, "ApplicationService.ResourceTree", message).await?;
    let key = |node: &Value| {
        let [group, kind, namespace, name] =
            ["group", "kind", "namespace", "name"].map(|field| node.str_at(&[field]).unwrap_or_default());
        ObjectKey::new(group, kind, namespace, name)
    };
    Ok(tree.items_at(&["orphanedNodes"]).iter().map(key).collect())
}

/// The resources of an application that are meant by what is known of them.
pub(super) fn meant<'a>(
    application: &'a Application,
    (kind, group, namespace, name): (&str, Option<&str>, &str, &str),
) -> Vec<&'a ResourceStatus> {
    let fits = |wanted: &str, own: &str| wanted.is_empty() || wanted == own;
    let all = application.status.resources.iter();
    all.filter(|one| {
        fits(kind, &one.kind)
            && group.is_none_or(|group| group == one.group.as_str())
            && fits(namespace, &one.namespace)
            && fits(name, &one.name)
    })
    .collect()
}

/// A question about one of them.
pub(super) fn about(records: &Records, name: &str, resource: &ResourceStatus) -> Value {
    let text = |text: &str| Value::from(text);
    records.asking(
        name,
        &[
            ("group", text(&resource.group)),
            ("version", text(&resource.version)),
            ("kind", text(&resource.kind)),
            ("namespace", text(&resource.namespace)),
            ("resourceName", text(&resource.name)),
        ],
    )
}

async fn managed(records: &Records, name: &str) -> Outcome<Vec<Value>> {
    let message = records.asking_as("applicationName", name);
    let failed = format!("cannot read the resources of {name}");
    let answer = records.api.call(&failed, "ApplicationService.ManagedResources", message).await?;
    match answer.items_at(&["items"]) {
        [] if answer.get("items").is_none() => Ok(Vec::new()),
        items => Ok(items.to_vec()),
    }
}

/// A state of an object, which the API tells as text; none if there is none.
fn state(one: &Value, field: &str) -> Option<Object> {
    let text = one.str_at(&[field]).filter(|text| !text.is_empty() && *text != "null")?;
    Object::new(json::parse(text.as_bytes()).ok()?).ok()
}
