#![allow(clippy::unwrap_used, reason = "a test that cannot go on has to stop")]

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use lynceus_object::{Value, json, value};

use crate::services::secrets;
use crate::stage::{ALL, EAST, Stage};

fn east(change: &[(&str, Value)]) -> Value {
    let mut cluster = value!({
        "server": EAST.0, "name": "east",
        "config": {"bearerToken": EAST.1, "tlsClientConfig": {"insecure": true}},
    });
    for (field, value) in change {
        cluster.set(&[field], value.clone());
    }
    cluster
}

async fn registered() -> Stage {
    let stage = Stage::new().await;
    let request =
        value!({"cluster": east(&[("labels", value!({"tier": "prod"})), ("project", value!("shop"))])});
    stage.ask(ALL, "ClusterService.Create", request).await.unwrap();
    stage
}

fn by(kind: &str, value: &str) -> Value {
    value!({"id": {"type": kind, "value": value}})
}

#[tokio::test]
async fn a_cluster_is_stored_as_argo_cd_stores_it_and_shown_without_what_lets_one_in() {
    let stage = registered().await;
    let secret = stage.stored("Secret", "cluster-east.example.com-1718225005").await.unwrap();
    assert_eq!(secret.label("argocd.argoproj.io/secret-type"), Some("cluster"));
    assert_eq!(secret.annotation("managed-by"), Some("argocd.argoproj.io"));
    let config = STANDARD.decode(secret.value().str_at(&["data", "config"]).unwrap()).unwrap();
    assert_eq!(
        String::from_utf8(config).unwrap(),
        r#"{"bearerToken":"east-t0ken","tlsClientConfig":{"insecure":true}}"#
    );
    let list = stage.ask(ALL, "ClusterService.List", value!({})).await.unwrap();
    let text = json::to_string(&list);
    assert!(!text.contains("t0ken"), "{text}");
    let names: Vec<&str> =
        list.items_at(&["items"]).iter().filter_map(|item| item.str_at(&["name"])).collect();
    assert_eq!(names, ["east", "in-cluster"]);
    let home = &list.items_at(&["items"])[1];
    assert_eq!(home.str_at(&["server"]), Some("https://kubernetes.default.svc"));
    assert_eq!(home.str_at(&["connectionState", "status"]), Some("Successful"));
    assert!(home.str_at(&["serverVersion"]).is_some_and(|version| version.starts_with("1.")));
    assert!(home.int_at(&["info", "cacheInfo", "resourcesCount"]).is_some_and(|count| count > 0));
    let east = &list.items_at(&["items"])[0];
    assert_eq!(json::to_string(east.get("labels").unwrap()), r#"{"tier":"prod"}"#);
    assert_eq!(json::to_string(east.get("config").unwrap()), r#"{"tlsClientConfig":{"insecure":true}}"#);
}

#[tokio::test]
async fn what_is_asked_for_and_may_not_be_seen_is_answered_as_if_it_did_not_exist() {
    let stage = registered().await;
    for rights in ["clusters, get, other", "clusters, get, https://*", "clusters, get, shopping/*"] {
        let there = stage.said(rights, "ClusterService.Get", by("server", EAST.0)).await;
        let elsewhere = stage.said(rights, "ClusterService.Get", by("server", "https://nowhere")).await;
        assert_eq!(there.replace(EAST.0, "X"), elsewhere.replace("https://nowhere", "X"), "{rights}");
        let there = stage.said(rights, "ClusterService.Get", by("name", "east")).await;
        assert_eq!(there, stage.said(rights, "ClusterService.Get", by("name", "west")).await, "{rights}");
    }
    let little = "clusters, get, shop/*";
    for id in
        [by("server", EAST.0), by("name", "east"), by("name_escaped", "e%61st"), value!({"server": EAST.0})]
    {
        assert!(stage.said(little, "ClusterService.Get", id.clone()).await.contains("east"), "{id:?}");
    }
    let list = stage.ask(little, "ClusterService.List", value!({})).await.unwrap();
    assert_eq!(list.items_at(&["items"]).len(), 1);
    assert_eq!(
        stage.said(little, "ClusterService.Delete", by("name", "east")).await,
        "PermissionDenied: permission denied"
    );
}

#[tokio::test]
async fn one_that_cannot_be_reached_is_not_stored_and_its_credentials_are_not_told() {
    let stage = Stage::new().await;
    let request = |cluster: Value| value!({"cluster": cluster});
    let create = |cluster: Value| stage.said(ALL, "ClusterService.Create", request(cluster));
    let said =
        create(value!({"server": "https://nowhere", "name": "x", "config": {"bearerToken": "hidden"}})).await;
    assert!(said.starts_with("FailedPrecondition: the cluster cannot be used: "), "{said}");
    assert!(!said.contains("hidden"));
    let said =
        create(value!({"server": EAST.0, "config": {"tlsClientConfig": {"certData": "aGlkZGVu"}}})).await;
    assert!(
        said.contains("tlsClientConfig has one of certData and keyData") && !said.contains("aGlkZGVu"),
        "{said}"
    );
    for server in ["", "east", "https://a b", "https://me:hidden@h", "javascript:alert(1)"] {
        assert_eq!(
            create(value!({"server": server, "config": {}})).await,
            "InvalidArgument: server is no address of the form https://HOST:PORT"
        );
    }
    assert_eq!(crate::services::secrets::of_type(&stage.server, "cluster").len(), 0);
}

#[tokio::test]
async fn one_that_is_there_is_replaced_only_with_upsert() {
    let stage = registered().await;
    let same =
        value!({"cluster": east(&[("labels", value!({"tier": "prod"})), ("project", value!("shop"))])});
    assert!(stage.said(ALL, "ClusterService.Create", same).await.contains("east"));
    let other = value!({"cluster": east(&[("name", value!("oriental"))])});
    assert_eq!(
        stage.said(ALL, "ClusterService.Create", other.clone()).await,
        "InvalidArgument: existing cluster spec is different, use upsert flag to force update"
    );
    let mut upsert = other;
    upsert.set(&["upsert"], true);
    assert_eq!(
        stage.said("clusters, create, *", "ClusterService.Create", upsert.clone()).await,
        "PermissionDenied: permission denied"
    );
    assert!(stage.said(ALL, "ClusterService.Create", upsert).await.contains("oriental"));
}

#[tokio::test]
async fn a_change_needs_the_right_on_what_was_and_on_what_will_be() {
    let stage = registered().await;
    let request = |fields: &[&str], cluster: Value| {
        let mut request = by("server", EAST.0);
        request.set(&["cluster"], cluster);
        request.set(&["updatedFields"], fields.to_vec());
        request
    };
    let update = |rights: &'static str, request: Value| stage.said(rights, "ClusterService.Update", request);
    let own = "clusters, *, shop/*";
    let moved = request(&["project"], value!({"project": "other"}));
    assert_eq!(update(own, moved.clone()).await, "PermissionDenied: permission denied");
    assert_eq!(update("clusters, *, other/*", moved.clone()).await, "PermissionDenied: permission denied");
    let freed = request(&[], east(&[]));
    assert_eq!(update(own, freed).await, "PermissionDenied: permission denied");
    // A part that is named is changed, and the rest, credentials too, stays as it was.
    let named =
        update(own, request(&["name", "namespaces"], value!({"name": "orient", "namespaces": ["a", "b"]})))
            .await;
    assert!(named.contains(r#""namespaces":["a","b"]"#) && named.contains("orient"), "{named}");
    let secret = &crate::services::secrets::of_type(&stage.server, "cluster")[0];
    assert!(crate::services::secrets::text(secret, "config").contains(EAST.1));
    assert_eq!(crate::services::secrets::text(secret, "project"), "shop");
    let elsewhere = request(&["name"], value!({"server": "https://elsewhere", "name": "x"}));
    assert_eq!(
        update(ALL, elsewhere).await,
        "InvalidArgument: the address of a cluster cannot be changed: register another one"
    );
    assert!(update(ALL, moved).await.contains(r#""project":"other""#));
}

#[tokio::test]
async fn a_cluster_is_let_go_and_its_secret_with_it() {
    let stage = registered().await;
    let invalidated = stage.said(ALL, "ClusterService.InvalidateCache", by("name", "east")).await;
    assert!(invalidated.contains("2026-01-01T12:00:00Z"), "{invalidated}");
    assert_eq!(
        stage.said("clusters, delete, shop/*", "ClusterService.Delete", by("name", "east")).await,
        "{}"
    );
    assert_eq!(crate::services::secrets::of_type(&stage.server, "cluster").len(), 0);
    assert!(
        stage
            .said(ALL, "ClusterService.Delete", by("name", "in-cluster"))
            .await
            .starts_with("FailedPrecondition")
    );
    // A Secret that somebody else keeps is left to them.
    stage
        .given(&value!({
            "apiVersion": "v1", "kind": "Secret",
            "metadata": {"name": "theirs", "labels": {"argocd.argoproj.io/secret-type": "cluster"}},
            "data": {"server": STANDARD.encode("https://theirs"), "config": STANDARD.encode("{}")},
        }))
        .await;
    assert_eq!(stage.said(ALL, "ClusterService.Delete", by("server", "https://theirs")).await, "{}");
    let left = stage.stored("Secret", "theirs").await.unwrap();
    assert_eq!(left.label("argocd.argoproj.io/secret-type"), None);
}

/// A cluster whose token is of the Secret `manager-token-1` of the service account `manager`.
async fn with_account() -> Stage {
    let stage = Stage::new().await;
    for (kind, name, more) in [
        ("ServiceAccount", "manager", value!({"secrets": [{"name": "other"}, {"name": "manager-token-1"}]})),
        ("Secret", "manager-token-1", value!({"type": "kubernetes.io/service-account-token"})),
    ] {
        let mut object = value!({"apiVersion": "v1", "kind": kind, "metadata": {"name": name, "namespace": "argocd",
            "annotations": {"kubernetes.io/service-account.name": "manager", "team": "a"}}});
        for (field, part) in more.as_map().unwrap().iter() {
            object.set(&[field.as_str()], part.clone());
        }
        stage.given(&object).await;
    }
    let mut claims = value!({});
    for (part, text) in
        [("namespace", "argocd"), ("service-account.name", "manager"), ("secret.name", "manager-token-1")]
    {
        claims.set(&[&format!("kubernetes.io/serviceaccount/{part}")], text);
    }
    let token = crate::access::sign(&claims, b"the cluster's");
    let config = value!({"bearerToken": token, "tlsClientConfig": {"insecure": true}});
    let request = value!({"cluster": east(&[("config", config)])});
    stage.ask(ALL, "ClusterService.Create", request).await.unwrap();
    stage
}

/// The cluster's part: a token for the first Secret that wants one.
async fn fill(stage: &Stage, token: &str) {
    let home = stage.server.engine.home();
    loop {
        let secrets = home.list(&lynceus_object::Gvk::new("", "v1", "Secret"), "argocd").await.unwrap();
        let fresh = secrets
            .into_iter()
            .find(|secret| secret.name().starts_with("manager-token-") && secret.name() != "manager-token-1");
        if let Some(mut secret) = fresh {
            secret.set(&["data", "token"], STANDARD.encode(token));
            home.replace_record(&secret).await.unwrap();
            return;
        }
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn a_token_of_a_service_account_is_renewed_and_the_old_one_ends() {
    let stage = with_account().await;
    let asked = stage.said(ALL, "ClusterService.RotateAuth", by("name", "east"));
    let (said, ()) = tokio::join!(asked, fill(&stage, "n3w"));
    assert_eq!(said, "{}");
    let secret = stage.stored("Secret", "cluster-east.example.com-1718225005").await.unwrap();
    assert_eq!(
        secrets::text(&secret, "config"),
        r#"{"bearerToken":"n3w","tlsClientConfig":{"insecure":true}}"#
    );
    assert!(stage.stored("Secret", "manager-token-1").await.is_none());
    let account = stage.stored("ServiceAccount", "manager").await.unwrap();
    let names: Vec<&str> =
        account.value().items_at(&["secrets"]).iter().filter_map(|one| one.str_at(&["name"])).collect();
    assert_eq!((names.len(), names[0]), (2, "other"));
    let fresh = stage.stored("Secret", names[1]).await.unwrap();
    assert_eq!(fresh.annotation("team"), Some("a"));
}

#[tokio::test]
async fn what_is_no_token_of_a_secret_is_not_renewed_and_the_answer_says_why() {
    let stage = registered().await;
    let said = stage.said(ALL, "ClusterService.RotateAuth", by("name", "east")).await;
    assert!(
        said.starts_with("FailedPrecondition: the token is not of a Secret of a service account"),
        "{said}"
    );
    assert!(!said.contains("t0ken"), "{said}");
    assert_eq!(
        stage.said(ALL, "ClusterService.RotateAuth", by("name", "in-cluster")).await,
        "InvalidArgument: Cluster 'https://kubernetes.default.svc' does not use bearer token authentication"
    );
    assert_eq!(
        stage.said("clusters, get, *", "ClusterService.RotateAuth", by("name", "east")).await,
        "PermissionDenied: permission denied"
    );
}
