//! Tokens of service accounts: making them, and finding the user of one.

use std::sync::atomic::{AtomicU64, Ordering};

use jiff::{SignedDuration, Timestamp};
use lynceus_object::{Object, Str, Value, value};
use sha2::{Digest, Sha256};

use super::impersonation::service_account;
use super::token::{Signer, TokenError};
use crate::attributes::User;
use crate::faults::{self, Token};
use crate::view::View;
use crate::{ApiError, FieldError};

/// The issuer of tokens that stand in Secrets.
const LEGACY_ISSUER: &str = "kubernetes/serviceaccount";
const LEGACY: [&str; 4] = [
    "kubernetes.io/serviceaccount/namespace",
    "kubernetes.io/serviceaccount/secret.name",
    "kubernetes.io/serviceaccount/service-account.name",
    "kubernetes.io/serviceaccount/service-account.uid",
];
const GROUP: &str = "authentication.k8s.io";

/// Makes and reads the tokens of one cluster.
#[derive(Debug)]
pub(super) struct Tokens {
    pub(super) signer: Signer,
    pub(super) issuer: String,
    issued: AtomicU64,
}

impl Tokens {
    pub(super) fn new(signer: Signer, issuer: String) -> Self {
        Tokens { signer, issuer, issued: AtomicU64::new(0) }
    }

    /// Answers a TokenRequest for a service account.
    pub(super) fn issue(
        &self,
        view: &dyn View,
        account: &Object,
        mut request: Object,
        now: Timestamp,
    ) -> Result<Object, ApiError> {
        check_names(account, &request)?;
        if request.value().items_at(&["spec", "audiences"]).is_empty() {
            request.set(&["spec", "audiences"], vec![self.issuer.as_str()]);
        }
        let seconds = expiration(&mut request)?;
        for field in ["name", "namespace", "uid"] {
            request.set(&["metadata", field], account.meta_str(field));
        }
        let start = Timestamp::from_second(now.as_second()).unwrap_or(now);
        request.set(&["metadata", "creationTimestamp"], start.to_string());
        let bound = bound_objects(view, account, &request)?;
        let mut own = value!({
            "namespace": account.namespace(),
            "serviceaccount": {"name": account.name(), "uid": account.uid()},
        });
        for (kind, object) in bound {
            own.set(&[kind], object);
        }
        let until = start.as_second() + seconds;
        let claims = value!({
            "aud": request.at(&["spec", "audiences"]), "exp": until, "iat": start.as_second(), "iss": self.issuer,
            "jti": self.token_id(account, now), "kubernetes.io": own, "nbf": start.as_second(),
            "sub": format!("system:serviceaccount:{}:{}", account.namespace(), account.name()),
        });
        let until = start.checked_add(SignedDuration::from_secs(seconds)).unwrap_or(start);
        let token = self.signer.sign(&claims)?;
        request.set(&["status"], value!({"token": token, "expirationTimestamp": until.to_string()}));
        Ok(request)
    }

    /// The token for a Secret of the type `kubernetes.io/service-account-token`.
    pub(super) fn legacy(&self, account: &Object, secret: &str) -> Result<String, ApiError> {
        let [namespace, name, account_name, account_uid] = LEGACY;
        let claims: lynceus_object::Map = [
            ("iss", LEGACY_ISSUER.into()),
            (namespace, Value::from(account.namespace())),
            (name, secret.into()),
            (account_name, account.name().into()),
            (account_uid, account.uid().into()),
            ("sub", format!("system:serviceaccount:{}:{}", account.namespace(), account.name()).into()),
        ]
        .into_iter()
        .collect();
        self.signer.sign(&Value::Map(claims))
    }

    /// A name for a token that no other token has.
    fn token_id(&self, account: &Object, now: Timestamp) -> String {
        let count = self.issued.fetch_add(1, Ordering::Relaxed);
        let digest = Sha256::digest(format!("{}/{}/{count}", account.uid(), now.as_nanosecond()));
        let hex: String = digest.iter().take(16).map(|byte| format!("{byte:02x}")).collect();
        format!("{}-{}-4{}-a{}-{}", &hex[..8], &hex[8..12], &hex[13..16], &hex[17..20], &hex[20..32])
    }

    /// The user of a token. `audiences` are those that the one who asks is; empty: the API server.
    pub(super) fn user(
        &self,
        view: &dyn View,
        token: &str,
        audiences: &[Str],
        now: Timestamp,
    ) -> Result<(User, Vec<Str>), TokenError> {
        let claims = self.signer.verify(token, now)?;
        if faults::has_expired(view, &known(&claims), now) {
            return Err(TokenError::Expired);
        }
        if claims.str_at(&["iss"]) == Some(LEGACY_ISSUER) {
            return legacy_user(view, &claims).map(|user| (user, Vec::new()));
        }
        let mine = [Str::from(self.issuer.as_str())];
        let wanted = if audiences.is_empty() { &mine[..] } else { audiences };
        let shared: Vec<Str> = claims
            .items_at(&["aud"])
            .iter()
            .filter_map(Value::as_str)
            .filter(|audience| wanted.iter().any(|known| known == audience))
            .map(Str::from)
            .collect();
        if shared.is_empty() || claims.str_at(&["iss"]) != Some(&self.issuer) {
            return Err(TokenError::Audience);
        }
        bound_user(view, &claims).map(|user| (user, shared))
    }
}

/// What faults are asked about a token.
fn known(claims: &Value) -> Token<'_> {
    let (namespace, account) = claims.str_at(&["sub"]).and_then(service_account).unwrap_or_default();
    let id = claims.str_at(&["jti"]).unwrap_or_default();
    Token { namespace, account, id, made: claims.int_at(&["iat"]) }
}

fn check_names(account: &Object, request: &Object) -> Result<(), ApiError> {
    for field in ["name", "namespace"] {
        let given = request.meta_str(field);
        if !given.is_empty() && given != account.meta_str(field) {
            let what = if field == "name" { "name" } else { "namespace" };
            let detail = format!("must match the service account {what} if specified");
            let error = FieldError::invalid(format!("metadata.{field}"), format!("{given:?}"), detail);
            return Err(ApiError::invalid(GROUP, "TokenRequest", account.name(), &[error]));
        }
    }
    let uid = request.uid();
    if !uid.is_empty() && uid != account.uid() {
        let why = format!(
            "the UID in the token request ({uid}) does not match the UID of the service account ({})",
            account.uid()
        );
        return Err(ApiError::conflict(GROUP, "TokenRequest", account.name(), &why));
    }
    Ok(())
}

fn expiration(request: &mut Object) -> Result<i64, ApiError> {
    let seconds = request.value().int_at(&["spec", "expirationSeconds"]).unwrap_or(3600);
    request.set(&["spec", "expirationSeconds"], seconds);
    let detail = if seconds < 600 {
        "may not specify a duration less than 10 minutes"
    } else if seconds > 1 << 32 {
        "may not specify a duration larger than 2^32 seconds"
    } else {
        return Ok(seconds);
    };
    let error = FieldError::invalid("spec.expirationSeconds", seconds.to_string(), detail);
    Err(ApiError::invalid(GROUP, "TokenRequest", "", &[error]))
}

/// The claims that tie a token to other objects.
fn bound_objects(
    view: &dyn View,
    account: &Object,
    request: &Object,
) -> Result<Vec<(&'static str, Value)>, ApiError> {
    let Some(reference) = request.at(&["spec", "boundObjectRef"]).filter(|reference| !reference.is_null())
    else {
        return Ok(Vec::new());
    };
    let word = |field: &str| reference.str_at(&[field]).unwrap_or_default();
    let (claim, resource, namespace) = match (word("apiVersion"), word("kind")) {
        ("v1" | "", "Pod") => ("pod", "pods", account.namespace()),
        ("v1" | "", "Secret") => ("secret", "secrets", account.namespace()),
        ("v1" | "", "Node") => ("node", "nodes", ""),
        (version, kind) => {
            let gvk = lynceus_object::Gvk::from_manifest(version, kind);
            return Err(ApiError::bad_request(format!("cannot bind token to object of type {gvk}")));
        }
    };
    let name = word("name");
    let object =
        view.get("", resource, namespace, name).ok_or_else(|| ApiError::not_found("", resource, name))?;
    if claim == "pod" && object.value().str_at(&["spec", "serviceAccountName"]) != Some(account.name()) {
        return Err(ApiError::bad_request(format!(
            "cannot bind token for serviceaccount {:?} to pod running with different serviceaccount name.",
            account.name()
        )));
    }
    let uid = word("uid");
    if !uid.is_empty() && uid != object.uid() {
        let why = format!(
            "the UID in the bound object reference ({uid}) does not match the UID in record. The object might have been deleted and then recreated"
        );
        return Err(ApiError::conflict("", word("kind"), name, &why));
    }
    let mut out = vec![(claim, value!({"name": name, "uid": object.uid()}))];
    if claim == "pod"
        && let Some(node) = object.value().str_at(&["spec", "nodeName"]).filter(|node| !node.is_empty())
    {
        let mut found = value!({"name": node});
        if let Some(node) = view.get("", "nodes", "", node) {
            found.set(&["uid"], node.uid());
        }
        out.push(("node", found));
    }
    Ok(out)
}

fn bound_user(view: &dyn View, claims: &Value) -> Result<User, TokenError> {
    let own = claims.get("kubernetes.io").ok_or(TokenError::Form)?;
    let namespace = own.str_at(&["namespace"]).unwrap_or_default();
    let name = own.str_at(&["serviceaccount", "name"]).unwrap_or_default();
    let alive = |resource: &str, namespace: &str, claim: &str| {
        own.get(claim).is_none_or(|bound| {
            let object = view.get("", resource, namespace, bound.str_at(&["name"]).unwrap_or_default());
            object.is_some_and(|object| Some(object.uid()) == bound.str_at(&["uid"]))
        })
    };
    // A pod's node is told for information; it may be gone.
    let node_alive = own.get("pod").is_some() || alive("nodes", "", "node");
    if !alive("serviceaccounts", namespace, "serviceaccount")
        || !alive("pods", namespace, "pod")
        || !alive("secrets", namespace, "secret")
        || !node_alive
    {
        return Err(TokenError::Invalidated);
    }
    let mut user = account_user(namespace, name, own.str_at(&["serviceaccount", "uid"]).unwrap_or_default());
    let mut tell = |key: &str, value: Option<&str>| {
        if let Some(value) = value {
            user.extra.insert(ecow::eco_format!("authentication.kubernetes.io/{key}"), vec![value.into()]);
        }
    };
    let id = claims.str_at(&["jti"]).map(|id| format!("JTI={id}"));
    tell("credential-id", id.as_deref());
    for kind in ["pod", "node"] {
        tell(&format!("{kind}-name"), own.str_at(&[kind, "name"]));
        tell(&format!("{kind}-uid"), own.str_at(&[kind, "uid"]));
    }
    Ok(user)
}

fn legacy_user(view: &dyn View, claims: &Value) -> Result<User, TokenError> {
    let [namespace, secret, name, uid] = LEGACY.map(|claim| claims.str_at(&[claim]).unwrap_or_default());
    let account = view.get("", "serviceaccounts", namespace, name).ok_or(TokenError::Invalidated)?;
    let stored = view.get("", "secrets", namespace, secret).ok_or(TokenError::Invalidated)?;
    if account.uid() != uid
        || stored.is_deleting()
        || service_account(claims.str_at(&["sub"]).unwrap_or_default()) != Some((namespace, name))
    {
        return Err(TokenError::Invalidated);
    }
    Ok(account_user(namespace, name, uid))
}

fn account_user(namespace: &str, name: &str, uid: &str) -> User {
    User { uid: uid.into(), ..User::service_account(namespace, name) }
}
