//! Registering repositories, changing how they are reached, and letting them go.

use lynceus_api::{Time, labels};
use lynceus_object::{Object, Value, value};

use super::{Entry, Sort, entries, find, object, record, trial};
use crate::call::{Answered, Call};
use crate::refusal::{Code, Refusal};
use crate::services::secrets;

/// Registers a repository, once it has been reached with what was given; with `upsert` changes one that is registered.
pub(super) async fn create(call: &Call, sort: Sort) -> Answered {
    let repository = asked(call)?;
    let (url, project) = (address(repository)?, text(repository, "project"));
    call.caller.need(sort.resource, "create", &object(project, &url))?;
    let wanted = secret(call, sort, repository, &url);
    let known =
        entries(&call.server, sort).into_iter().find(|entry| entry.is_at(&url) && entry.project == project);
    let Some(known) = known else {
        Box::pin(tried(call, &wanted)).await?;
        return shown(call, &secrets::create(&call.server, &wanted).await?);
    };
    if call.flag("upsert") {
        return replace(call, sort, &known, repository, &url).await;
    }
    match known.secret.at(&["data"]) == wanted.at(&["data"]) {
        true => {
            // That it is registered does not say that it can be read.
            Box::pin(tried(call, &known.secret)).await?;
            shown(call, &known.secret)
        }
        false => {
            Err(Refusal::invalid("existing repository spec is different; use upsert flag to force update"))
        }
    }
}

/// Changes a repository.
pub(super) async fn update(call: &Call, sort: Sort) -> Answered {
    let repository = asked(call)?;
    let (url, project) = (address(repository)?, text(repository, "project"));
    let known = match find(call, sort, "update", &url, project) {
        // One that moves into a project is not found there yet.
        Err(_) if !project.is_empty() => find(call, sort, "update", &url, "")?,
        found => found?,
    };
    replace(call, sort, &known, repository, &url).await
}

async fn replace(call: &Call, sort: Sort, known: &Entry, repository: &Value, url: &str) -> Answered {
    call.caller.need(sort.resource, "update", &known.object())?;
    // To move a repository into a project is to change it there.
    call.caller.need(sort.resource, "update", &object(text(repository, "project"), url))?;
    let mut secret = known.secret.clone();
    record::fill(&mut secret, repository, url);
    Box::pin(tried(call, &secret)).await?;
    shown(call, &secrets::replace(&call.server, &secret).await?)
}

/// Lets a repository go.
pub(super) async fn delete(call: &Call, sort: Sort) -> Answered {
    let entry = find(call, sort, "delete", call.needed("repo")?, call.text("appProject"))?;
    secrets::remove(&call.server, &entry.secret).await?;
    Ok(value!({}).into())
}

/// Tries a repository without storing anything.
pub(super) async fn validate(call: &Call, sort: Sort) -> Answered {
    let url = record::url(call.needed("repo")?, call.text("type"))?;
    call.caller.need(sort.resource, "create", &object(call.text("project"), &url))?;
    let mut query = call.request.clone();
    // Two fields are written in another way in this message.
    for (here, there) in [("enableOci", "enableOCI"), ("insecureOciForceHttp", "insecureOCIForceHttp")] {
        if let Some(value) = query.remove(&[here]) {
            query.set(&[there], value);
        }
    }
    let secret = secret(call, sort, &query, &url);
    Box::pin(tried(call, &secret)).await?;
    Ok(value!({}).into())
}

fn asked(call: &Call) -> Result<&Value, Refusal> {
    match call.request.get("repo") {
        Some(repository @ Value::Map(_)) => Ok(repository),
        _ => Err(Refusal::invalid("missing payload 'repo' in request")),
    }
}

fn text<'v>(repository: &'v Value, field: &str) -> &'v str {
    repository.str_at(&[field]).unwrap_or_default()
}

fn address(repository: &Value) -> Result<String, Refusal> {
    record::url(text(repository, "repo"), text(repository, "type"))
}

fn secret(call: &Call, sort: Sort, repository: &Value, url: &str) -> Object {
    let number = secrets::number(&[url, text(repository, "project")]);
    let mut secret = secrets::new(&call.server, &format!("{}-{number}", sort.prefix), sort.kind);
    record::fill(&mut secret, repository, url);
    secret
}

/// Refuses a repository that cannot be read as it is described, before it is stored.
async fn tried(call: &Call, secret: &Object) -> Result<(), Refusal> {
    // Whatever it is for, it is read through the same door.
    let mut secret = secret.clone();
    secret.set_label(labels::SECRET_TYPE, labels::SECRET_TYPE_REPOSITORY);
    let book = trial::book(&call.server, Some(&secret));
    let repository = trial::of_entry(&book, &Entry::of(secret));
    trial::attempt(&call.server, &repository, true).await.map_err(|why| {
        Refusal::new(Code::FailedPrecondition, format!("the repository cannot be read: {why}"))
    })
}

fn shown(call: &Call, secret: &Object) -> Answered {
    let mut shown = record::shown(secret);
    let now = Time::from(call.server.engine.clock().now()).to_string();
    shown.set(&["connectionState"], value!({"status": "Successful", "message": "", "attemptedAt": now}));
    Ok(shown.into())
}
