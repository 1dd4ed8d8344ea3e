//! Registering clusters, changing how they are reached, and letting them go.

use lynceus_api::{Time, annotations};
use lynceus_cluster::Registration;
use lynceus_object::{Object, Value, value};

use super::{Entry, entries, find, object, picture, record};
use crate::call::{Answered, Call};
use crate::refusal::{Code, Refusal};
use crate::rights::Resource;
use crate::services::secrets;

/// Registers a cluster, once it has been reached with what was given; with `upsert` changes one that is registered.
pub(super) async fn create(call: &Call) -> Answered {
    let cluster = asked(call)?;
    let address = address(cluster)?;
    let project = cluster.str_at(&["project"]).unwrap_or_default();
    call.caller.need(Resource::Clusters, "create", &object(project, &address))?;
    let wanted = record::secret(&call.server, cluster, &address);
    let known =
        entries(&call.server).into_iter().find(|entry| entry.server == address && entry.secret.is_some());
    let Some(known) = known else {
        tried(call, &wanted).await?;
        let stored = secrets::create(&call.server, &wanted).await?;
        return shown(call, Entry::of(stored)).await;
    };
    if call.flag("upsert") {
        return replace(call, known, cluster, &record::FIELDS).await;
    }
    // Whoever may not see it learns no more than that they may not have it.
    call.caller.need(Resource::Clusters, "get", &known.object())?;
    let stored = known.secret.as_ref().and_then(|secret| secret.at(&["data"]));
    match stored == wanted.at(&["data"]) {
        true => shown(call, known).await,
        false => Err(Refusal::invalid("existing cluster spec is different, use upsert flag to force update")),
    }
}

/// Changes a cluster: all of it, or the fields that are named.
pub(super) async fn update(call: &Call) -> Answered {
    let cluster = asked(call)?;
    let fields = call.texts("updatedFields");
    let fields: Vec<&str> = match fields.is_empty() {
        true => record::FIELDS.to_vec(),
        false => {
            record::FIELDS.into_iter().filter(|field| fields.iter().any(|named| named == field)).collect()
        }
    };
    let known = named(call, cluster)?;
    if let Some(address) = cluster.str_at(&["server"]).map(|text| text.trim_end_matches('/'))
        && !address.is_empty()
        && address != known.server
    {
        return Err(Refusal::invalid("the address of a cluster cannot be changed: register another one"));
    }
    replace(call, known, cluster, &fields).await
}

/// The cluster that an update means: by its id, or as the cluster itself says.
fn named(call: &Call, cluster: &Value) -> Result<Entry, Refusal> {
    if call.request.str_at(&["id", "value"]).is_some_and(|value| !value.is_empty()) {
        return find(call, "update");
    }
    let text = |field| cluster.str_at(&[field]).unwrap_or_default().trim_end_matches('/');
    let wanted = super::Wanted {
        server: text("server").to_owned(),
        name: if text("server").is_empty() { text("name").to_owned() } else { String::new() },
    };
    let found = entries(&call.server).into_iter().find(|entry| !wanted.is_nothing() && wanted.fits(entry));
    match found {
        Some(entry) if call.caller.may(Resource::Clusters, "update", &entry.object()) => Ok(entry),
        _ => Err(wanted.missing(call, "update")),
    }
}

async fn replace(call: &Call, known: Entry, cluster: &Value, fields: &[&str]) -> Answered {
    call.caller.need(Resource::Clusters, "update", &known.object())?;
    if fields.contains(&"project") {
        // To move a cluster into a project is to change it there.
        let project = cluster.str_at(&["project"]).unwrap_or_default();
        call.caller.need(Resource::Clusters, "update", &object(project, &known.server))?;
    }
    let is_new = known.secret.is_none();
    let mut secret = match known.secret {
        Some(secret) => {
            let mut secret = secret;
            record::fill(&mut secret, cluster, fields);
            secret
        }
        None => record::secret(&call.server, cluster, &known.server),
    };
    if secrets::text(&secret, "name").is_empty() {
        secrets::set(&mut secret, "name", &known.name);
    }
    tried(call, &secret).await?;
    let stored = match is_new {
        true => secrets::create(&call.server, &secret).await?,
        false => secrets::replace(&call.server, &secret).await?,
    };
    shown(call, Entry::of(stored)).await
}

/// Lets a cluster go. What was delivered to it stays as it is.
pub(super) async fn delete(call: &Call) -> Answered {
    let entry = find(call, "delete")?;
    let Some(secret) = &entry.secret else {
        let what =
            "in-cluster is not registered by a Secret: set cluster.inClusterEnabled to false in argocd-cm";
        return Err(Refusal::new(Code::FailedPrecondition, what));
    };
    secrets::remove(&call.server, secret).await?;
    Ok(value!({}).into())
}

/// Forgets what is known of a cluster and reads it anew.
pub(super) async fn invalidate(call: &Call) -> Answered {
    let mut entry = find(call, "update")?;
    if let Some(secret) = &entry.secret {
        // Other replicas, and an Argo CD beside us, hear of it by this.
        let mut secret = secret.clone();
        secret.set_annotation(annotations::REFRESH, Time::from(call.server.engine.clock().now()).to_string());
        entry = Entry::of(secrets::replace(&call.server, &secret).await?);
    }
    call.server.engine.fleet().renew(&entry.server).await?;
    shown(call, entry).await
}

fn asked(call: &Call) -> Result<&Value, Refusal> {
    match call.request.get("cluster") {
        Some(cluster @ Value::Map(_)) => Ok(cluster),
        _ => Err(Refusal::invalid("missing payload 'cluster' in request")),
    }
}

fn address(cluster: &Value) -> Result<String, Refusal> {
    let server = cluster.str_at(&["server"]).unwrap_or_default().trim().trim_end_matches('/');
    let is_url = server.starts_with("https://") || server.starts_with("http://");
    match is_url && !server.contains(char::is_whitespace) && !server.contains('@') {
        true => Ok(server.to_owned()),
        false => Err(Refusal::invalid("server is no address of the form https://HOST:PORT")),
    }
}

/// Refuses a cluster that cannot be used as it is described, before it is stored.
async fn tried(call: &Call, secret: &Object) -> Result<(), Refusal> {
    let registration = Registration::read(secret).map_err(|error| Refusal::invalid(error.to_string()))?;
    let version = call.server.engine.fleet().try_out(&registration).await;
    version.map(drop).map_err(|error| {
        let why = lynceus_engine::words(&error);
        Refusal::new(Code::FailedPrecondition, format!("the cluster cannot be used: {why}"))
    })
}

async fn shown(call: &Call, entry: Entry) -> Answered {
    let found = picture::of(&call.server, std::slice::from_ref(&entry)).await;
    Ok(found.into_iter().next().unwrap_or_default().into())
}
