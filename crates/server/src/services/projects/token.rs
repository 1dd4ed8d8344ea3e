//! Tokens of a project's roles, for programs.
//!
//! What a token says is written down in the project, so that one that is taken out of it is no longer good.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use lynceus_api::{AppProject, JwtToken, JwtTokens, Kind as _};
use lynceus_object::{Object, ObjectKey, Str, Value, json, value};
use ring::hmac;
use ring::rand::{SecureRandom as _, SystemRandom};

use super::{change, find, normalize, nothing, read, tell};
use crate::call::{Answered, Call};
use crate::limits;
use crate::refusal::{Code, Refusal};
use crate::rights::Resource;
use crate::server::Server;
use crate::services::secrets;

/// Hands out a token for a role.
pub(super) async fn create(call: &Call) -> Answered {
    let (name, role) = (call.needed("project")?, call.needed("role")?);
    call.caller.need(Resource::Projects, "update", name)?;
    let object = find(call, name)?;
    let mut project = read(&object)?;
    normalize(&mut project);
    let at = role_of(&project, role)?;
    let id: Str = match call.text("id") {
        "" => random_id()?.into(),
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
    let token = issue(&call.server, &format!("proj:{name}:{role}"), iat, exp, &id)?;
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

/// A token in Argo CD's form, signed with the installation's key.
fn issue(server: &Server, subject: &str, iat: i64, exp: i64, id: &str) -> Result<String, Refusal> {
    let secret =
        server.engine.home().cache().get(&ObjectKey::new("", "Secret", server.namespace(), "argocd-secret"));
    let key = secret.map(|secret| secrets::text(&secret, "server.secretkey")).unwrap_or_default();
    if key.is_empty() {
        let what = "argocd-secret has no server.secretkey to sign tokens with";
        return Err(Refusal::new(Code::FailedPrecondition, what));
    }
    let mut claims = value!({"iss": "argocd", "sub": subject, "nbf": iat, "iat": iat, "jti": id});
    if exp > 0 {
        claims.set(&["exp"], exp);
    }
    let part = |value: &Value| URL_SAFE_NO_PAD.encode(json::to_vec(value));
    let signed = format!("{}.{}", part(&value!({"alg": "HS256", "typ": "JWT"})), part(&claims));
    let tag = hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, key.as_bytes()), signed.as_bytes());
    Ok(format!("{signed}.{}", URL_SAFE_NO_PAD.encode(tag)))
}

/// An id that nobody can guess, in the form of a UUID.
fn random_id() -> Result<String, Refusal> {
    let mut bytes = [0_u8; 16];
    SystemRandom::new()
        .fill(&mut bytes)
        .map_err(|_| Refusal::new(Code::Internal, "the machine gives no random numbers"))?;
    bytes[6] = (bytes[6] & 0x0f) | 0x40;
    bytes[8] = (bytes[8] & 0x3f) | 0x80;
    let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    Ok(format!("{}-{}-{}-{}-{}", &hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..]))
}
