//! Projects: what groups of applications may do, and who may do it to them.

mod change;
mod detail;
mod link;
mod policy;
mod token;
mod validation;
mod window;

use lynceus_api::{AppProject, JwtToken, JwtTokens, Kind as _, annotations};
use lynceus_engine::project_kind;
use lynceus_object::{Object, ObjectKey, Value, value};

use super::unknown;
use crate::call::{Answer, Answered, Call};
use crate::refusal::Refusal;
use crate::rights::Resource;

/// Has a question answered.
pub(super) async fn answer(method: &str, call: Call) -> Answered {
    match method {
        "List" => Ok(list(&call).into()),
        "Get" => Ok(shown(&find(&call, call.text("name"))?)?.into()),
        "GetDetailedProject" => detail::detailed(&call),
        "GetGlobalProjects" => detail::globals(&call),
        "ListEvents" => detail::events(&call).await,
        "ListLinks" => link::list(&call),
        "GetSyncWindowsState" => window::active(&call),
        "Create" => change::create(&call).await,
        "Update" => change::update(&call).await,
        "Delete" => change::delete(&call).await,
        "CreateToken" => token::create(&call).await,
        "DeleteToken" => token::delete(&call).await,
        _ => Err(unknown(method)),
    }
}

fn list(call: &Call) -> Value {
    let objects = call.server.engine.home().cache().of_kind(&project_kind());
    let visible = objects.iter().filter(|object| {
        object.namespace() == call.server.namespace()
            && call.caller.may(Resource::Projects, "get", object.name())
    });
    // One that cannot be read must not hide the others.
    let items: Vec<Value> =
        visible.map(|object| shown(object).unwrap_or_else(|_| bare(object).into_value())).collect();
    value!({"metadata": {}, "items": items})
}

/// A project by its name. Only those who may see all that has the name come here, so they may be told.
fn find(call: &Call, name: &str) -> Result<Object, Refusal> {
    let key = ObjectKey::new(lynceus_api::GROUP, "AppProject", call.server.namespace(), name);
    let found = call.server.engine.home().cache().get(&key);
    found.ok_or_else(|| Refusal::not_found(format!("appprojects.argoproj.io {name:?} not found")))
}

/// Reads a project, which may be broken.
fn read(object: &Object) -> Result<AppProject, Refusal> {
    AppProject::from_object(object).map_err(|error| Refusal::invalid(lynceus_engine::words(&error)))
}

/// A project as it is answered.
fn shown(object: &Object) -> Result<Value, Refusal> {
    let mut project = read(&bare(object))?;
    normalize(&mut project);
    Ok(project.to_object().into_value())
}

/// A project without what only the API server and kubectl need.
fn bare(object: &Object) -> Object {
    let mut object = object.clone();
    object.remove(&["metadata", "managedFields"]);
    object.remove(&["metadata", "annotations", annotations::LAST_APPLIED]);
    object
}

/// Tokens stand in two places, of which Git may own one. Each has all of them, the newest first.
fn normalize(project: &mut AppProject) {
    let issued = &mut project.status.jwt_tokens_by_role;
    for role in &mut project.spec.roles {
        let of_status = issued.get(&role.name).map(|tokens| tokens.items.clone()).unwrap_or_default();
        let mut all: Vec<JwtToken> = of_status;
        for token in role.jwt_tokens.drain(..) {
            if !all.iter().any(|known| is_same(known, &token)) {
                all.push(token);
            }
        }
        all.sort_by(|a, b| b.iat.cmp(&a.iat).then_with(|| a.id.cmp(&b.id)));
        role.jwt_tokens.clone_from(&all);
        if !all.is_empty() {
            let tokens = JwtTokens { items: all, ..JwtTokens::default() };
            issued.insert(role.name.clone(), tokens);
        }
    }
}

fn is_same(a: &JwtToken, b: &JwtToken) -> bool {
    match a.id.is_empty() && b.id.is_empty() {
        true => a.iat == b.iat,
        false => a.id == b.id,
    }
}

/// Writes down that somebody has changed a project. That it cannot be written down is no reason to undo the change.
async fn tell(call: &Call, project: &Object, reason: &str, what: &str) {
    let who = match call.caller.name() {
        "" => "Unknown user",
        name => name,
    };
    let engine = &call.server.engine;
    let (labels, message) = (std::collections::BTreeMap::new(), format!("{who} {what}"));
    let (normal, now) = (lynceus_cluster::EventType::Normal, engine.clock().now());
    let told = engine.home().record_event(project, &labels, normal, reason, &message, now);
    if let Err(error) = told.await {
        tracing::warn!(project = project.name(), error = lynceus_engine::words(&error), "an event is lost");
    }
}

/// Nothing at all, as an answer.
fn nothing() -> Answer {
    Answer::One(value!({}))
}

#[cfg(test)]
mod tests;
