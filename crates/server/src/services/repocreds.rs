//! Credentials for all repositories whose address begins in a certain way.

use lynceus_api::labels;
use lynceus_object::{Object, Value, value};
use lynceus_source::{redact, same};

use super::repositories::record;
use super::{secrets, unknown};
use crate::call::{Answered, Call};
use crate::refusal::Refusal;
use crate::rights::Resource;
use crate::server::Server;

/// Has a question answered.
pub(super) async fn answer(method: &str, call: Call) -> Answered {
    match method {
        "ListRepositoryCredentials" => Ok(list(&call, READ)),
        "ListWriteRepositoryCredentials" => Ok(list(&call, WRITE)),
        "CreateRepositoryCredentials" => return create(&call, READ).await,
        "CreateWriteRepositoryCredentials" => return create(&call, WRITE).await,
        "UpdateRepositoryCredentials" => return update(&call, READ).await,
        "UpdateWriteRepositoryCredentials" => return update(&call, WRITE).await,
        "DeleteRepositoryCredentials" => return delete(&call, READ).await,
        "DeleteWriteRepositoryCredentials" => return delete(&call, WRITE).await,
        _ => Err(unknown(method)),
    }
    .map(Into::into)
}

/// A sort of credentials.
#[derive(Clone, Copy)]
struct Sort {
    kind: &'static str,
    prefix: &'static str,
    resource: Resource,
}

const READ: Sort =
    Sort { kind: labels::SECRET_TYPE_REPO_CREDS, prefix: "creds", resource: Resource::Repositories };
const WRITE: Sort = Sort {
    kind: labels::SECRET_TYPE_REPO_WRITE_CREDS,
    prefix: "creds-write",
    resource: Resource::WriteRepositories,
};

fn list(call: &Call, sort: Sort) -> Value {
    let (wanted, mut known) = (call.text("url"), secrets::of_type(&call.server, sort.kind));
    known.retain(|secret| {
        let url = secrets::text(secret, "url");
        (wanted.is_empty() || is_at(secret, wanted)) && call.caller.may(sort.resource, "get", &url)
    });
    known.sort_by_key(|secret| secrets::text(secret, "url"));
    let items: Vec<Value> = known.iter().map(record::shown_credentials).collect();
    value!({"metadata": {}, "items": items})
}

async fn create(call: &Call, sort: Sort) -> Answered {
    let (creds, url) = asked(call)?;
    call.caller.need(sort.resource, "create", &url)?;
    let name = format!("{}-{}", sort.prefix, secrets::number(&[&url]));
    let mut wanted = secrets::new(&call.server, &name, sort.kind);
    record::fill(&mut wanted, creds, &url);
    let Some(mut known) = find(&call.server, sort, &url) else {
        return shown(&secrets::create(&call.server, &wanted).await?);
    };
    if call.flag("upsert") {
        call.caller.need(sort.resource, "update", &secrets::text(&known, "url"))?;
        record::fill(&mut known, creds, &url);
        return shown(&secrets::replace(&call.server, &known).await?);
    }
    match known.at(&["data"]) == wanted.at(&["data"]) {
        true => shown(&known),
        false => Err(Refusal::invalid(
            "existing repository credentials spec is different; use upsert flag to force update",
        )),
    }
}

async fn update(call: &Call, sort: Sort) -> Answered {
    let (creds, url) = asked(call)?;
    call.caller.need(sort.resource, "update", &url)?;
    let mut known = find(&call.server, sort, &url).ok_or_else(|| missing(&url))?;
    call.caller.need(sort.resource, "update", &secrets::text(&known, "url"))?;
    record::fill(&mut known, creds, &url);
    shown(&secrets::replace(&call.server, &known).await?)
}

async fn delete(call: &Call, sort: Sort) -> Answered {
    let url = call.needed("url")?;
    call.caller.need(sort.resource, "delete", url)?;
    let known = find(&call.server, sort, url).ok_or_else(|| missing(url))?;
    call.caller.need(sort.resource, "delete", &secrets::text(&known, "url"))?;
    secrets::remove(&call.server, &known).await?;
    Ok(value!({}).into())
}

fn asked(call: &Call) -> Result<(&Value, String), Refusal> {
    let Some(creds @ Value::Map(_)) = call.request.get("creds") else {
        return Err(Refusal::invalid("missing payload 'creds' in request"));
    };
    let url = creds.str_at(&["url"]).unwrap_or_default().trim();
    let is_plain = |c: char| !c.is_control() && !c.is_whitespace() && !matches!(c, '<' | '>' | '"');
    match !url.is_empty() && url.chars().all(is_plain) {
        true => Ok((creds, url.to_owned())),
        false => Err(Refusal::invalid("url is not what the address of a repository can begin with")),
    }
}

fn find(server: &Server, sort: Sort, url: &str) -> Option<Object> {
    secrets::of_type(server, sort.kind).into_iter().find(|secret| is_at(secret, url))
}

fn is_at(secret: &Object, url: &str) -> bool {
    let known = secrets::text(secret, "url");
    same(&known, url) || redact(&known) == url
}

fn missing(url: &str) -> Refusal {
    Refusal::not_found(format!("repository credentials for {:?} not found", redact(url)))
}

fn shown(secret: &Object) -> Answered {
    Ok(record::shown_credentials(secret).into())
}
