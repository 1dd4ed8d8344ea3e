//! Tokens of a project's roles, for programs.
//!
//! What a token says is written down in the project, so that one that is taken out of it is no longer good.

use lynceus_api::{AppProject, JwtToken, JwtTokens, Kind as _};
use lynceus_object::{Object, Str, Value, value};

use super::{change, find, normalize, nothing, read, tell};
use crate::access;
use crate::call::{Answered, Call};
use crate::limits;
use crate::refusal::{Code, Refusal};
use crate::rights::Resource;

/// Hands out a token for a role.
pub(super) async fn create(call: &Call) -> Answered {
    let (name, role) = (call.needed("project")?, call.needed("role")?);
    call.caller.need(Resource::Projects, "update", name)?;
    let object = find(call, name)?;
    let mut project = read(&object)?;
    normalize(&mut project);
    let at = role_of(&project, role)?;
    let id: Str = match call.text("id") {
        "" => access::uuid()?.into(),
        id => id.into(),
    };
    let known = &project.spec.roles[at].jwt_tokens;
    if known.iter().any(|token| token.id == id) {
        return Err(Refusal::invalid(format!("Token id '{id}' has been used.")));
    }
    if known.len() >= limits::TOKENS {
        let what = format!("role '{role}' has {} tokens already; delete some", known.len());
        return Err(Refusal::new(Code::ResourceExhausted, what));
    }
    let iat = call.server.engine.clock().now().as_second();
    let lasts = call.request.int_at(&["expiresIn"]).unwrap_or_default();
    if lasts < 0 {
        return Err(Refusal::invalid("expiresIn is less than 0"));
    }
    let exp = if lasts > 0 { iat.saturating_add(lasts) } else { 0 };
    let token = call.server.access.issue(&format!("proj:{name}:{role}"), &id, Some(lasts)).await?;
    project.spec.roles[at].jwt_tokens.push(JwtToken { iat, exp, id, ..JwtToken::default() });
    normalize(&mut project);
    let stored = store(call, &object, &project).await?;
    tell(call, &stored, "ResourceCreated", "created token").await;
    Ok(value!({"token": token}).into())
}

/// Takes a token back.
pub(super) async fn delete(call: &Call) -> Answered {
    let (name, role) = (call.needed("project")?, call.needed("role")?);
    call.caller.need(Resource::Projects, "update", name)?;
    let object = find(call, name)?;
    let mut project = read(&object)?;
    normalize(&mut project);
    let at = role_of(&project, role)?;
    let (iat, id) = (call.request.int_at(&["iat"]).unwrap_or_default(), call.text("id"));
    let is_it = |token: &JwtToken| if id.is_empty() { token.iat == iat } else { token.id == id };
    let tokens = &mut project.spec.roles[at].jwt_tokens;
    let before = tokens.len();
    tokens.retain(|token| !is_it(token));
    if tokens.len() == before {
        return Err(Refusal::not_found(format!("role '{role}' has no such token")));
    }
    let items = tokens.clone();
    let role: Str = role.into();
    match items.is_empty() {
        true => drop(project.status.jwt_tokens_by_role.remove(&role)),
        false => {
            let tokens = JwtTokens { items, ..JwtTokens::default() };
            project.status.jwt_tokens_by_role.insert(role, tokens);
        }
    }
    let stored = store(call, &object, &project).await?;
    tell(call, &stored, "ResourceDeleted", "deleted token").await;
    Ok(nothing())
}

fn role_of(project: &AppProject, role: &str) -> Result<usize, Refusal> {
    let found = project.spec.roles.iter().position(|known| known.name == role);
    found.ok_or_else(|| {
        Refusal::not_found(format!("role '{role}' does not exist in project '{}'", project.metadata.name))
    })
}

/// Writes the tokens alone, and only if nobody has changed the project meanwhile.
async fn store(call: &Call, object: &Object, project: &AppProject) -> Result<Object, Refusal> {
    let made = project.to_object();
    let part = |path: &[&str]| made.at(path).cloned().unwrap_or(Value::Null);
    let mut patch = value!({
        "metadata": {"resourceVersion": object.resource_version()},
        "spec": {"roles": part(&["spec", "roles"])},
    });
    // A merge keeps the roles that the patch does not name, and those whose tokens are gone have to go.
    let mut tokens = part(&["status", "jwtTokensByRole"]);
    let known = object.at(&["status", "jwtTokensByRole"]).and_then(Value::as_map);
    for (role, _) in known.into_iter().flat_map(|known| known.iter()) {
        if tokens.get(role).is_none() {
            tokens.set(&[role], Value::Null);
        }
    }
    patch.set(&["status", "jwtTokensByRole"], tokens);
    let namespace = call.server.namespace();
    Ok(call.server.engine.home().patch_record(&change::gvk(), namespace, object.name(), &patch).await?)
}
