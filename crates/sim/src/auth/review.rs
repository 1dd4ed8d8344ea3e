//! Reviews: questions about credentials and permissions, answered and not stored.

use jiff::Timestamp;
use lynceus_object::{Map, Object, Str, Value, value};

use super::Authenticator;
use super::rbac::{decide, rules_of};
use super::token::TokenError;
use crate::attributes::{Attributes, User};
use crate::kinds::Resource;
use crate::view::View;
use crate::{ApiError, FieldError};

/// Answers a review.
pub(super) fn review(
    authenticator: &Authenticator,
    view: &dyn View,
    user: &User,
    resource: &Resource,
    namespace: &str,
    mut review: Object,
    now: Timestamp,
) -> Result<Object, ApiError> {
    let status = match resource.kind.as_str() {
        "SelfSubjectReview" => {
            let start = Timestamp::from_second(now.as_second()).unwrap_or(now);
            review.set(&["metadata", "creationTimestamp"], start.to_string());
            value!({"userInfo": user.info()})
        }
        "TokenReview" => token_review(authenticator, view, &review, now)?,
        "SelfSubjectAccessReview" => {
            check(resource, &review, namespace)?;
            access(view, user, &review)
        }
        "SubjectAccessReview" | "LocalSubjectAccessReview" => {
            check(resource, &review, namespace)?;
            access(view, &named_user(&review), &review)
        }
        "SelfSubjectRulesReview" => {
            let status = rules(view, user, &review)?;
            review.set(&["spec"], value!({}));
            status
        }
        other => return Err(ApiError::internal(format!("{other} is no review"))),
    };
    review.set(&["status"], status);
    Ok(review)
}

fn words(items: &[Value]) -> Vec<Str> {
    items.iter().filter_map(Value::as_str).map(Str::from).collect()
}

fn token_review(
    authenticator: &Authenticator,
    view: &dyn View,
    review: &Object,
    now: Timestamp,
) -> Result<Value, ApiError> {
    let token = review.value().str_at(&["spec", "token"]).unwrap_or_default();
    if token.is_empty() {
        return Err(ApiError::bad_request("token is required for TokenReview in authentication"));
    }
    let audiences = words(review.value().items_at(&["spec", "audiences"]));
    Ok(match authenticator.user_of_token(view, token, &audiences, now) {
        Ok((user, shared)) => {
            let mut status = value!({"authenticated": true, "user": user.info()});
            if !shared.is_empty() {
                status.set(&["audiences"], shared);
            }
            status
        }
        // Tokens of others are not worth a word more.
        Err(TokenError::Form | TokenError::Signature) => {
            value!({"user": {}, "error": "invalid bearer token"})
        }
        Err(error) => value!({"user": {}, "error": format!("[invalid bearer token, {error}]")}),
    })
}

/// The user that a SubjectAccessReview asks about.
fn named_user(review: &Object) -> User {
    let spec = review.at(&["spec"]).cloned().unwrap_or_default();
    let extra = spec.get("extra").and_then(Value::as_map).into_iter().flat_map(Map::iter);
    User {
        name: spec.str_at(&["user"]).unwrap_or_default().into(),
        uid: spec.str_at(&["uid"]).unwrap_or_default().into(),
        groups: words(spec.items_at(&["groups"])),
        extra: extra.map(|(key, values)| (key.clone(), words(values.as_seq().unwrap_or_default()))).collect(),
    }
}

fn check(resource: &Resource, review: &Object, namespace: &str) -> Result<(), ApiError> {
    let spec = review.at(&["spec"]).cloned().unwrap_or_default();
    let given = |field: &str| spec.get(field).is_some_and(|value| !value.is_null());
    let (about_resource, about_path) = (given("resourceAttributes"), given("nonResourceAttributes"));
    let mut errors = Vec::new();
    let shown_path = || {
        let word =
            |field: &str| spec.str_at(&["nonResourceAttributes", field]).unwrap_or_default().to_owned();
        format!("{{\"Path\":{:?},\"Verb\":{:?}}}", word("path"), word("verb"))
    };
    if about_resource && about_path {
        let detail = "cannot be specified in combination with resourceAttributes";
        errors.push(FieldError::invalid("spec.nonResourceAttributes", shown_path(), detail));
    }
    if !about_resource && !about_path {
        let detail = "exactly one of nonResourceAttributes or resourceAttributes must be specified";
        errors.push(FieldError::invalid("spec.resourceAttributes", "null", detail));
    }
    let is_self = resource.kind.starts_with("Self");
    if !is_self
        && spec.str_at(&["user"]).unwrap_or_default().is_empty()
        && spec.items_at(&["groups"]).is_empty()
    {
        let detail = "at least one of user or group must be specified";
        errors.push(FieldError::invalid("spec.user", "\"\"", detail));
    }
    if resource.kind == "LocalSubjectAccessReview" {
        let asked = spec.str_at(&["resourceAttributes", "namespace"]).unwrap_or_default();
        if about_resource && asked != namespace {
            let detail = "must match metadata.namespace";
            errors.push(FieldError::invalid(
                "spec.resourceAttributes.namespace",
                format!("{asked:?}"),
                detail,
            ));
        }
        if about_path {
            let detail = "disallowed on this kind of request";
            errors.push(FieldError::invalid("spec.nonResourceAttributes", shown_path(), detail));
        }
    }
    if errors.is_empty() {
        return Ok(());
    }
    // The original leaves the kind out.
    Err(ApiError::invalid("authorization.k8s.io", "", "", &errors))
}

fn access(view: &dyn View, user: &User, review: &Object) -> Value {
    let verdict = decide(view, user, &attributes(review));
    let mut status = value!({"allowed": verdict.allowed});
    if !verdict.reason.is_empty() {
        status.set(&["reason"], verdict.reason);
    }
    status
}

fn attributes(review: &Object) -> Attributes {
    let word = |part: &str, field: &str| {
        Str::from(review.value().str_at(&["spec", part, field]).unwrap_or_default())
    };
    if review.at(&["spec", "resourceAttributes"]).is_some_and(|value| !value.is_null()) {
        let part = "resourceAttributes";
        let resource = word(part, "resource");
        return Attributes {
            verb: word(part, "verb"),
            group: word(part, "group"),
            version: word(part, "version"),
            // A question without a resource is still one about resources.
            resource: if resource.is_empty() { " ".into() } else { resource },
            subresource: word(part, "subresource"),
            namespace: word(part, "namespace"),
            name: word(part, "name"),
            path: Str::new(),
        };
    }
    let part = "nonResourceAttributes";
    Attributes { verb: word(part, "verb"), path: word(part, "path"), ..Attributes::default() }
}

fn rules(view: &dyn View, user: &User, review: &Object) -> Result<Value, ApiError> {
    let namespace = review.value().str_at(&["spec", "namespace"]).unwrap_or_default();
    if namespace.is_empty() {
        return Err(ApiError::bad_request("no namespace on request"));
    }
    let (rules, problems) = rules_of(view, user, namespace);
    let pick = |rule: &Value, fields: &[&str]| -> Value {
        let found = fields.iter().filter_map(|field| Some((*field, rule.get(field)?.clone())));
        Value::Map(found.filter(|(_, value)| !value.is_empty()).collect())
    };
    let with = |field: &str| -> Vec<&Value> {
        rules.iter().filter(|rule| !rule.items_at(&[field]).is_empty()).collect()
    };
    let resources: Vec<Value> = with("resources")
        .iter()
        .map(|rule| pick(rule, &["verbs", "apiGroups", "resources", "resourceNames"]))
        .collect();
    let paths: Vec<Value> =
        with("nonResourceURLs").iter().map(|rule| pick(rule, &["verbs", "nonResourceURLs"])).collect();
    let mut status = value!({"resourceRules": resources, "nonResourceRules": paths, "incomplete": false});
    if !problems.is_empty() {
        status.set(&["evaluationError"], problems.join(", "));
    }
    Ok(status)
}
