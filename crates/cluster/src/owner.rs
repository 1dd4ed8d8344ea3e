//! Who owns an object: the owners that it names, and those that Kubernetes' habits give away.

use lynceus_object::{Object, ObjectKey, Str};

/// An owner, by what is known of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Owner {
    /// The object says so.
    Named(Str),
    /// It follows from what the object is: a token of an account, the endpoints of a service.
    Inferred(ObjectKey),
    /// Its name says that it may be a claim of this StatefulSet; the StatefulSet's templates decide.
    Claimed(ObjectKey),
}

/// The owners of an object, in the order in which it names them.
pub(crate) fn owners(object: &Object) -> Vec<Owner> {
    let named: Vec<Owner> = object.owners().map(|owner| Owner::Named(owner.uid)).collect();
    if named.is_empty() { inferred(object) } else { named }
}

fn inferred(object: &Object) -> Vec<Owner> {
    let sibling =
        |kind: &str, name: &str| Owner::Inferred(ObjectKey::new("", kind, object.namespace(), name));
    match (object.group(), object.kind()) {
        ("", "Endpoints") => vec![sibling("Service", object.name())],
        ("", "Secret") => account(object).map(|name| sibling("ServiceAccount", name)).into_iter().collect(),
        ("", "PersistentVolumeClaim") => sets(object),
        ("operators.coreos.com", "ClusterServiceVersion") => object
            .annotation("olm.operatorGroup")
            .filter(|name| !name.is_empty())
            .map(|name| ObjectKey::new(object.group(), "OperatorGroup", object.namespace(), name))
            .map(Owner::Inferred)
            .into_iter()
            .collect(),
        _ => Vec::new(),
    }
}

/// The account that a token is of.
fn account(secret: &Object) -> Option<&str> {
    let is_token = secret.value().str_at(&["type"]) == Some("kubernetes.io/service-account-token");
    secret.annotation("kubernetes.io/service-account.name").filter(|name| is_token && !name.is_empty())
}

/// The StatefulSets that a claim may be of: it is called `<template>-<set>-<number>`, and names may have dashes.
fn sets(claim: &Object) -> Vec<Owner> {
    let Some((rest, number)) = claim.name().rsplit_once('-') else { return Vec::new() };
    if number.is_empty() || !number.bytes().all(|byte| byte.is_ascii_digit()) {
        return Vec::new();
    }
    rest.match_indices('-')
        .map(|(at, _)| &rest[at + 1..])
        .filter(|set| !set.is_empty())
        .map(|set| Owner::Claimed(ObjectKey::new("apps", "StatefulSet", claim.namespace(), set)))
        .collect()
}

/// Whether a StatefulSet makes claims of this name.
pub(crate) fn claims(set: &Object, claim: &str) -> bool {
    set.value().items_at(&["spec", "volumeClaimTemplates"]).iter().any(|template| {
        let name = template.str_at(&["metadata", "name"]).unwrap_or_default();
        let number = claim
            .strip_prefix(name)
            .and_then(|rest| rest.strip_prefix('-')?.strip_prefix(set.name())?.strip_prefix('-'));
        number.is_some_and(|number| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()))
    })
}

/// Whether an object in one place can own one in another: what lives in a namespace owns nothing outside of it, and the
/// garbage collector treats a reference that says otherwise as one to nothing.
pub(crate) fn can_own(owner: &ObjectKey, child: &ObjectKey) -> bool {
    owner.namespace.is_empty() || owner.namespace == child.namespace
}

#[cfg(test)]
mod tests {
    use super::*;
    use lynceus_object::value;

    fn object(kind: &str, name: &str, more: lynceus_object::Value) -> Object {
        let mut object = Object::new(value!({"apiVersion": "v1", "kind": kind})).unwrap();
        object.set(&["metadata"], more);
        object.set(&["metadata", "name"], name);
        object.set(&["metadata", "namespace"], "shop");
        object
    }

    fn found(object: &Object) -> Vec<String> {
        let text = |owner| match owner {
            Owner::Named(uid) => format!("uid {uid}"),
            Owner::Inferred(key) => key.to_string(),
            Owner::Claimed(key) => format!("perhaps {key}"),
        };
        owners(object).into_iter().map(text).collect()
    }

    #[test]
    fn endpoints_belong_to_the_service_of_their_name() {
        assert_eq!(found(&object("Endpoints", "web", value!({}))), ["/Service/shop/web"]);
    }

    #[test]
    fn a_token_belongs_to_its_account() {
        let annotations = value!({"annotations": {"kubernetes.io/service-account.name": "builder"}});
        let mut token = object("Secret", "builder-token", annotations);
        token.set(&["type"], "kubernetes.io/service-account-token");
        assert_eq!(found(&token), ["/ServiceAccount/shop/builder"]);
        token.set(&["type"], "Opaque");
        assert_eq!(found(&token), [""; 0]);
    }

    #[test]
    fn a_claim_may_be_of_every_set_that_its_name_fits() {
        let claim = object("PersistentVolumeClaim", "data-my-web-0", value!({}));
        assert_eq!(
            found(&claim),
            ["perhaps apps/StatefulSet/shop/my-web", "perhaps apps/StatefulSet/shop/web"]
        );
        let mut set = object("StatefulSet", "web", value!({}));
        set.set(&["spec", "volumeClaimTemplates"], vec![value!({"metadata": {"name": "data-my"}})]);
        assert!(claims(&set, "data-my-web-0"));
        assert!(!claims(&set, "data-web-0"));
        assert!(!claims(&set, "data-my-web-x"));
    }

    #[test]
    fn an_owner_that_is_named_leaves_nothing_to_infer() {
        let owner = value!({"ownerReferences": [{"kind": "A", "name": "a", "uid": "1"}]});
        assert_eq!(found(&object("Endpoints", "web", owner)), ["uid 1"]);
    }
}
