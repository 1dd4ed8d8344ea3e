use std::collections::BTreeMap;

use http::Request;
use lynceus_object::Gvk;

use super::*;
use crate::kinds::resource_of;

/// Objects by group, resource, namespace and name.
#[derive(Default)]
struct Shelf(BTreeMap<(String, String, String, String), Object>);

impl View for Shelf {
    fn get(&self, group: &str, resource: &str, namespace: &str, name: &str) -> Option<Object> {
        self.0.get(&(group.into(), resource.into(), namespace.into(), name.into())).cloned()
    }

    fn list(&self, group: &str, resource: &str, namespace: Option<&str>) -> Vec<Object> {
        self.0
            .iter()
            .filter(|((g, r, n, _), _)| {
                g == group && r == resource && namespace.is_none_or(|wanted| wanted == n)
            })
            .map(|(_, object)| object.clone())
            .collect()
    }
}

impl Shelf {
    fn with(mut self, value: Value) -> Self {
        let object = Object::new(value).unwrap();
        let resource = resource_of(&object.gvk()).unwrap();
        let key = (
            resource.group.to_string(),
            resource.plural.to_string(),
            object.namespace().into(),
            object.name().into(),
        );
        self.0.insert(key, object);
        self
    }

    fn stock() -> Self {
        bootstrap().into_iter().fold(Shelf::default(), |shelf, object| shelf.with(object.into_value()))
    }

    fn binding(self, name: &str, namespace: &str, role: &str, subject: Value) -> Self {
        let kind = if namespace.is_empty() { "ClusterRoleBinding" } else { "RoleBinding" };
        self.with(value!({
            "apiVersion": "rbac.authorization.k8s.io/v1", "kind": kind, "metadata": {"name": name, "namespace": namespace},
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": role}, "subjects": [subject]}))
    }
}

fn ask(verb: &str, resource: &str, namespace: &str) -> Attributes {
    let (group, resource) = resource.split_once(':').unwrap_or(("", resource));
    let (resource, subresource) = resource.split_once('/').unwrap_or((resource, ""));
    Attributes {
        verb: verb.into(),
        group: group.into(),
        resource: resource.into(),
        subresource: subresource.into(),
        namespace: namespace.into(),
        ..Attributes::default()
    }
}

fn alice() -> User {
    User::new("alice", &["devs", "system:authenticated"])
}

fn answer(view: &dyn View, user: &User, attributes: &Attributes) -> String {
    match authorize(view, user, attributes) {
        Decision::Allow => "yes".into(),
        Decision::Deny(reason) => forbidden(user, attributes, &reason).message,
    }
}

#[test]
fn rules_come_through_bindings() {
    let view = Shelf::stock()
        .binding("a", "shop", "edit", value!({"kind": "User", "name": "alice"}))
        .binding("b", "", "view", value!({"kind": "Group", "name": "ops"}))
        .binding("c", "shop", "gone", value!({"kind": "User", "name": "bob"}));
    let bob = User::new("bob", &["system:authenticated"]);
    let ops = User::new("olga", &["ops"]);
    for (user, attributes, expected) in [
        (&alice(), ask("create", "apps:deployments", "shop"), "yes"),
        (&alice(), ask("get", "pods/log", "shop"), "yes"),
        (
            &alice(),
            ask("list", "pods", "other"),
            "pods is forbidden: User \"alice\" cannot list resource \"pods\" in API group \"\" in the namespace \"other\"",
        ),
        (&ops, ask("list", "pods", ""), "yes"),
        (
            &ops,
            ask("list", "secrets", ""),
            "secrets is forbidden: User \"olga\" cannot list resource \"secrets\" in API group \"\" at the cluster scope",
        ),
        (
            &bob,
            ask("get", "apps:deployments/scale", "shop"),
            "deployments.apps is forbidden: User \"bob\" cannot get resource \"deployments/scale\" in API group \"apps\" in the namespace \"shop\": RBAC: clusterrole.rbac.authorization.k8s.io \"gone\" not found",
        ),
        (&User::system("system:x"), ask("delete", "nodes", ""), "yes"),
    ] {
        assert_eq!(answer(&view, user, &attributes), expected);
    }
}

#[test]
fn paths_are_open_by_rule_too() {
    let view = Shelf::stock();
    let get = |path: &str| Attributes { verb: "get".into(), path: path.into(), ..Attributes::default() };
    assert_eq!(answer(&view, &User::anonymous(), &get("/healthz")), "yes");
    assert_eq!(answer(&view, &alice(), &get("/apis/apps/v1")), "yes");
    assert_eq!(
        answer(&view, &User::anonymous(), &get("/apis")),
        "forbidden: User \"system:anonymous\" cannot get path \"/apis\""
    );
}

fn authenticator() -> Authenticator {
    let key = rcgen::KeyPair::generate().unwrap();
    let keys = Keys {
        admin_token: "secret".into(),
        signing_key: key.serialize_der(),
        issuer: "https://kubernetes.default.svc".into(),
        root: None,
    };
    Authenticator::new(keys).unwrap()
}

fn login(
    authenticator: &Authenticator,
    view: &dyn View,
    headers: &[(&str, &str)],
    now: Timestamp,
) -> Result<User, ApiError> {
    let mut request = Request::builder().uri("/api");
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let (parts, ()) = request.body(()).unwrap().into_parts();
    authenticator.authenticate(view, &parts, None, now)
}

#[test]
fn a_token_of_the_file_lets_its_user_in() {
    let file = TokenFile::read("known,alice,7,ops").unwrap();
    let authenticator = authenticator().with_tokens(file);
    let now: Timestamp = "2026-01-01T00:00:00Z".parse().unwrap();
    let with = |token: &str| login(&authenticator, &Shelf::default(), &[("authorization", token)], now);
    let user = with("Bearer known").unwrap();
    assert_eq!((user.name.as_str(), user.uid.as_str()), ("alice", "7"));
    assert_eq!(user.groups, ["ops", "system:authenticated"]);
    assert_eq!(with("Bearer other").unwrap_err().code, 401);
}

fn account() -> Value {
    value!({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "robot", "namespace": "shop", "uid": "u-1"}})
}

#[test]
fn a_token_is_good_until_it_expires_or_its_account_is_gone() {
    let authenticator = authenticator();
    let view = Shelf::default().with(account());
    let now: Timestamp = "2026-01-01T00:00:00Z".parse().unwrap();
    let request = Object::new(value!({"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {"expirationSeconds": 600}})).unwrap();
    let issued = authenticator.issue(&view, &Object::new(account()).unwrap(), request, now).unwrap();
    assert_eq!(issued.value().str_at(&["status", "expirationTimestamp"]), Some("2026-01-01T00:10:00Z"));
    let bearer = format!("Bearer {}", issued.value().str_at(&["status", "token"]).unwrap());
    let at = |view: &dyn View, time: &str| {
        login(&authenticator, view, &[("authorization", &bearer)], time.parse().unwrap())
    };
    let user = at(&view, "2026-01-01T00:05:00Z").unwrap();
    assert_eq!(user.name, "system:serviceaccount:shop:robot");
    assert_eq!(
        user.groups,
        ["system:serviceaccounts", "system:serviceaccounts:shop", "system:authenticated"]
    );
    assert!(user.extra.contains_key("authentication.kubernetes.io/credential-id"));
    assert_eq!(at(&view, "2026-01-01T00:10:00Z").unwrap_err().code, 401);
    assert_eq!(at(&Shelf::default(), "2026-01-01T00:05:00Z").unwrap_err().code, 401);
    let forged = format!("{}x", &bearer[..bearer.len() - 1]);
    assert!(login(&authenticator, &view, &[("authorization", &forged)], now).is_err());
}

#[test]
fn short_lived_tokens_are_refused() {
    let request = Object::new(value!({"spec": {"expirationSeconds": 5}})).unwrap();
    let error = authenticator().issue(
        &Shelf::default(),
        &Object::new(account()).unwrap(),
        request,
        Timestamp::UNIX_EPOCH,
    );
    assert_eq!(
        error.unwrap_err().message,
        "TokenRequest.authentication.k8s.io \"\" is invalid: spec.expirationSeconds: Invalid value: 5: may not specify a duration less than 10 minutes"
    );
}

#[test]
fn tokens_of_secrets_live_as_long_as_the_secret() {
    let authenticator = authenticator();
    let secret = value!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "robot-token", "namespace": "shop"}});
    let view = Shelf::default().with(account()).with(secret);
    let token = authenticator.secret_token(&Object::new(account()).unwrap(), "robot-token").unwrap();
    let bearer = format!("Bearer {token}");
    let name = |view: &dyn View| {
        login(&authenticator, view, &[("authorization", &bearer)], Timestamp::UNIX_EPOCH)
            .map(|user| user.name)
    };
    assert_eq!(name(&view).unwrap(), "system:serviceaccount:shop:robot");
    assert!(name(&Shelf::default().with(account())).is_err());
}

#[test]
fn nobody_and_the_administrator() {
    let authenticator = authenticator();
    let login =
        |headers: &[(&str, &str)]| login(&authenticator, &Shelf::default(), headers, Timestamp::UNIX_EPOCH);
    assert_eq!(login(&[]).unwrap(), User::anonymous());
    assert_eq!(login(&[("authorization", "Bearer secret")]).unwrap(), User::admin());
    assert_eq!(login(&[("authorization", "Bearer wrong")]).unwrap_err().message, "Unauthorized");
}

#[test]
fn whoever_brings_nothing_can_be_turned_away() {
    let authenticator = authenticator().without_anonymous();
    let login =
        |headers: &[(&str, &str)]| login(&authenticator, &Shelf::default(), headers, Timestamp::UNIX_EPOCH);
    assert_eq!(login(&[]).unwrap_err().code, 401);
    assert_eq!(login(&[("authorization", "Basic YmFkOndyb25n")]).unwrap_err().code, 401);
    assert_eq!(login(&[("authorization", "Bearer secret")]).unwrap(), User::admin());
}

#[test]
fn acting_as_others_needs_permission() {
    let authenticator = authenticator();
    let view = Shelf::stock().with(account());
    let go = |headers: &[(&str, &str)]| {
        let mut all = vec![("authorization", "Bearer secret")];
        all.extend_from_slice(headers);
        login(&authenticator, &view, &all, Timestamp::UNIX_EPOCH)
    };
    let user =
        go(&[("impersonate-user", "jane"), ("impersonate-group", "devs"), ("impersonate-extra-scopes", "x")])
            .unwrap();
    assert_eq!((user.name.as_str(), user.groups.len()), ("jane", 2));
    assert_eq!(user.extra["scopes"], ["x"]);
    let robot = go(&[("impersonate-user", "system:serviceaccount:shop:robot")]).unwrap();
    assert_eq!(
        robot.groups,
        ["system:serviceaccounts", "system:serviceaccounts:shop", "system:authenticated"]
    );
    assert_eq!(
        go(&[("impersonate-group", "devs")]).unwrap_err().message,
        "requested &user.DefaultInfo{Name:\"\", UID:\"\", Groups:[]string{\"devs\"}, Extra:map[string][]string(nil)} without impersonating a user name"
    );
    let refused =
        login(&authenticator, &view, &[("impersonate-user", "jane")], Timestamp::UNIX_EPOCH).unwrap_err();
    assert_eq!(
        refused.message,
        "users \"jane\" is forbidden: User \"system:anonymous\" cannot impersonate resource \"users\" in API group \"\" at the cluster scope"
    );
}

#[test]
fn nobody_gives_what_he_does_not_have() {
    let gvk = |kind: &str| Gvk::new("rbac.authorization.k8s.io", "v1", kind);
    let view = Shelf::stock().binding("a", "shop", "admin", value!({"kind": "User", "name": "alice"}));
    let role = Object::new(value!({"metadata": {"name": "r", "namespace": "shop"}, "rules": [
        {"verbs": ["get", "list"], "apiGroups": [""], "resources": ["nodes"]},
        {"verbs": ["get"], "apiGroups": [""], "resources": ["pods"]}]}))
    .unwrap();
    let error =
        check_escalation(&view, &alice(), resource_of(&gvk("Role")).unwrap(), &role, None).unwrap_err();
    assert_eq!(
        error.message,
        "roles.rbac.authorization.k8s.io \"r\" is forbidden: user \"alice\" (groups=[\"devs\" \"system:authenticated\"]) is attempting to grant RBAC permissions not currently held:\n{APIGroups:[\"\"], Resources:[\"nodes\"], Verbs:[\"get\" \"list\"]}"
    );
    let binding = |role: &str| {
        Object::new(value!({"metadata": {"name": "b", "namespace": "shop"}, "roleRef": {"kind": "ClusterRole", "name": role}})).unwrap()
    };
    let check = |role: &str| {
        check_escalation(&view, &alice(), resource_of(&gvk("RoleBinding")).unwrap(), &binding(role), None)
    };
    assert_eq!(check("view"), Ok(()));
    assert!(check("cluster-admin").unwrap_err().message.contains("{NonResourceURLs:[\"*\"], Verbs:[\"*\"]}"));
    assert_eq!(
        check("nope").unwrap_err().message,
        "rolebindings.rbac.authorization.k8s.io \"nope\" not found"
    );
}

#[test]
fn access_reviews_give_their_reason() {
    let view = Shelf::stock().binding("a", "shop", "view", value!({"kind": "User", "name": "alice"}));
    let authenticator = authenticator();
    let review = |kind: &str, spec: Value| {
        let gvk = Gvk::new("authorization.k8s.io", "v1", kind);
        let object = Object::new(value!({"spec": spec})).unwrap();
        let outcome = authenticator.review(
            &view,
            &alice(),
            resource_of(&gvk).unwrap(),
            "",
            object,
            Timestamp::UNIX_EPOCH,
        );
        match outcome {
            Ok(object) => serde_json::to_string(object.at(&["status"]).unwrap()).unwrap(),
            Err(error) => error.message,
        }
    };
    let attributes = value!({"verb": "get", "resource": "pods", "namespace": "shop"});
    assert_eq!(
        review("SelfSubjectAccessReview", value!({"resourceAttributes": attributes})),
        "{\"allowed\":true,\"reason\":\"RBAC: allowed by RoleBinding \\\"a/shop\\\" of ClusterRole \\\"view\\\" to User \\\"alice\\\"\"}"
    );
    assert_eq!(
        review("SubjectAccessReview", value!({"resourceAttributes": attributes, "user": "bob"})),
        "{\"allowed\":false}"
    );
    assert_eq!(
        review("SubjectAccessReview", value!({"resourceAttributes": attributes})),
        ".authorization.k8s.io \"\" is invalid: spec.user: Invalid value: \"\": at least one of user or group must be specified"
    );
}
