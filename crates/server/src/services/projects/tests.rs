#![allow(clippy::unwrap_used, reason = "a test that cannot go on has to stop")]

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use lynceus_object::{Value, json, value};

use crate::stage::{ALL, EAST, Stage};

/// Somebody who may look after one project, and nothing else.
const LITTLE: &str = "projects, *, shop\nrepositories, get, https://git.example.com/shop/*";

fn project(spec: Value) -> Value {
    value!({"project": {"metadata": {"name": "shop"}, "spec": spec}})
}

async fn shop(stage: &Stage) {
    let spec = value!({
        "sourceRepos": ["https://git.example.com/shop/*"],
        "destinations": [{"server": "https://kubernetes.default.svc", "namespace": "shop"}],
        "roles": [{"name": "ci", "policies": ["p, proj:shop:ci, applications, sync, shop/*, allow"]}],
    });
    stage.ask(ALL, "ProjectService.Create", project(spec)).await.unwrap();
}

async fn application(stage: &Stage, name: &str) {
    stage
        .given(&value!({
            "apiVersion": "argoproj.io/v1alpha1", "kind": "Application", "metadata": {"name": name},
            "spec": {
                "project": "shop",
                "source": {"repoURL": "https://git.example.com/shop/web", "path": "."},
                "destination": {"server": "https://kubernetes.default.svc", "namespace": "shop"},
            },
        }))
        .await;
}

#[tokio::test]
async fn a_project_is_made_seen_and_deleted_by_those_who_may() {
    let stage = Stage::new().await;
    shop(&stage).await;
    let names = |rights: &'static str| {
        let stage = &stage;
        async move {
            let list = stage.ask(rights, "ProjectService.List", value!({})).await.unwrap();
            let items = list.items_at(&["items"]);
            items
                .iter()
                .filter_map(|item| item.str_at(&["metadata", "name"]).map(str::to_owned))
                .collect::<Vec<_>>()
        }
    };
    assert_eq!(names(ALL).await, ["default", "shop"]);
    assert_eq!(names(LITTLE).await, ["shop"]);
    assert_eq!(names("projects, get, other").await, Vec::<String>::new());
    let get = |rights: &'static str, name: &'static str| {
        stage.said(rights, "ProjectService.Get", value!({"name": name}))
    };
    assert!(get(LITTLE, "shop").await.contains(r#""name":"shop""#));
    // Whether it exists is not told to those who may not see it.
    assert_eq!(get(LITTLE, "default").await, "PermissionDenied: permission denied");
    assert_eq!(get(LITTLE, "nothing").await, "PermissionDenied: permission denied");
    assert_eq!(get(ALL, "nothing").await, "NotFound: appprojects.argoproj.io \"nothing\" not found");
    let delete = |rights: &'static str, name: &'static str| {
        stage.said(rights, "ProjectService.Delete", value!({"name": name}))
    };
    assert_eq!(
        delete(ALL, "default").await,
        "InvalidArgument: name 'default' is reserved and cannot be deleted"
    );
    application(&stage, "web").await;
    assert_eq!(delete(LITTLE, "shop").await, "InvalidArgument: project is referenced by 1 applications");
    let app = stage.stored("Application", "web").await.unwrap();
    stage.server.engine.home().delete_record(&app).await.unwrap();
    assert_eq!(delete("projects, get, *", "shop").await, "PermissionDenied: permission denied");
    assert_eq!(delete(LITTLE, "shop").await, "{}");
    assert!(stage.stored("AppProject", "shop").await.is_none());
}

#[tokio::test]
async fn one_that_is_there_is_replaced_only_with_upsert() {
    let stage = Stage::new().await;
    shop(&stage).await;
    let other = value!({"description": "other"});
    assert_eq!(
        stage.said(ALL, "ProjectService.Create", project(other.clone())).await,
        "InvalidArgument: existing project spec is different, use upsert flag to force update"
    );
    let mut upsert = project(other);
    upsert.set(&["upsert"], true);
    assert_eq!(
        stage.said("projects, create, shop", "ProjectService.Create", upsert.clone()).await,
        "PermissionDenied: permission denied"
    );
    assert!(stage.said(ALL, "ProjectService.Create", upsert).await.contains("other"));
    assert_eq!(
        stage.said("projects, create, other", "ProjectService.Create", project(value!({}))).await,
        "PermissionDenied: permission denied"
    );
    assert_eq!(
        stage.said(ALL, "ProjectService.Create", value!({})).await,
        "InvalidArgument: missing payload 'project' in request"
    );
}

#[tokio::test]
async fn a_change_reaches_no_further_than_its_author_and_leaves_no_application_behind() {
    let stage = Stage::new().await;
    shop(&stage).await;
    application(&stage, "web").await;
    let base = |field: &str, value: Value| {
        let mut spec = value!({
            "sourceRepos": ["https://git.example.com/shop/*"],
            "destinations": [{"server": "https://kubernetes.default.svc", "namespace": "shop"}],
        });
        spec.set(&[field], value);
        project(spec)
    };
    let update = |rights: &'static str, request: Value| stage.said(rights, "ProjectService.Update", request);
    // Who may change a project alone cannot give it repositories, clusters or kinds.
    for (field, value) in [
        ("sourceRepos", value!(["https://git.example.com/shop/*", "*"])),
        ("destinations", value!([{"server": "*", "namespace": "*"}])),
        ("destinations", value!([{"name": "*", "namespace": "*"}])),
        (
            "destinations",
            value!([{"server": "https://kubernetes.default.svc", "name": "*", "namespace": "shop"}]),
        ),
        ("clusterResourceWhitelist", value!([{"group": "*", "kind": "*"}])),
    ] {
        assert_eq!(
            update(LITTLE, base(field, value)).await,
            "PermissionDenied: permission denied",
            "{field}"
        );
    }
    assert_eq!(
        update(ALL, base("sourceRepos", value!(["https://elsewhere/*"]))).await,
        "InvalidArgument: as a result of project update 1 applications source became invalid"
    );
    assert_eq!(
        update(ALL, base("destinations", value!([{"server": "https://b", "namespace": "x"}]))).await,
        "InvalidArgument: as a result of project update 1 applications destination became invalid"
    );
    assert!(update(LITTLE, base("description", value!("new"))).await.contains("new"));
    let bad = value!([{"name": "ci", "policies": ["p, proj:shop:ci, applications, *, */*, allow"]}]);
    assert!(update(ALL, base("roles", bad)).await.starts_with("InvalidArgument: invalid policy rule"));
}

#[tokio::test]
async fn a_project_in_detail_shows_no_credential() {
    let stage = Stage::new().await;
    shop(&stage).await;
    for (name, kind, entries) in [
        (
            "r",
            "repository",
            value!({
                "url": "https://user:hidden0@git.example.com/shop/web", "project": "shop", "username": "hidden1",
                "password": "hidden2", "sshPrivateKey": "hidden3", "bearerToken": "hidden4", "proxy": "http://a:hidden5@p",
                "githubAppPrivateKey": "hidden6", "tlsClientCertKey": "hidden7", "tlsClientCertData": "hidden8",
            }),
        ),
        (
            "c",
            "cluster",
            value!({
                "server": EAST.0, "name": "east", "project": "shop", "config":
                r#"{"bearerToken": "hidden9", "username": "hidden1", "password": "hidden2", "tlsClientConfig": {"keyData": "hidden3"}}"#,
            }),
        ),
    ] {
        let data: Value = entries
            .as_map()
            .unwrap()
            .iter()
            .map(|(key, text)| (key.to_string(), STANDARD.encode(text.as_str().unwrap())))
            .collect::<lynceus_object::Map>()
            .into();
        stage
            .given(&value!({
                "apiVersion": "v1", "kind": "Secret", "data": data,
                "metadata": {
                    "name": name, "labels": {"argocd.argoproj.io/secret-type": kind},
                    "annotations": {"kubectl.kubernetes.io/last-applied-configuration": "{\"stringData\": \"hidden10\"}"},
                },
            }))
            .await;
    }
    let detail = stage
        .said("projects, get, shop", "ProjectService.GetDetailedProject", value!({"name": "shop"}))
        .await;
    assert!(detail.contains("git.example.com/shop/web") && detail.contains("east"), "{detail}");
    assert!(!detail.contains("hidden") && !detail.contains("last-applied"), "{detail}");
}

#[tokio::test]
async fn tokens_are_signed_written_down_and_taken_back() {
    let stage = Stage::new().await;
    shop(&stage).await;
    let asked = value!({"project": "shop", "role": "ci", "expiresIn": 3600, "id": "deploys"});
    let create =
        |rights: &'static str, request: Value| stage.ask(rights, "ProjectService.CreateToken", request);
    assert_eq!(create(ALL, asked.clone()).await.unwrap_err().message, "there is no key to sign with");
    stage
        .given(&value!({
            "apiVersion": "v1", "kind": "Secret", "metadata": {"name": "argocd-secret"},
            "data": {"server.secretkey": STANDARD.encode("a key of the tests")},
        }))
        .await;
    assert_eq!(
        create("projects, update, other", asked.clone()).await.unwrap_err().message,
        "permission denied"
    );
    let token = create(LITTLE, asked.clone()).await.unwrap().str_at(&["token"]).unwrap().to_owned();
    let parts: Vec<&str> = token.split('.').collect();
    let claims = json::parse(&URL_SAFE_NO_PAD.decode(parts[1]).unwrap()).unwrap();
    assert_eq!(
        json::to_string(&claims),
        r#"{"exp":1767272400,"iat":1767268800,"iss":"argocd","jti":"deploys","nbf":1767268800,"sub":"proj:shop:ci"}"#
    );
    let key = ring::hmac::Key::new(ring::hmac::HMAC_SHA256, b"a key of the tests");
    let signed = format!("{}.{}", parts[0], parts[1]);
    assert!(ring::hmac::verify(&key, signed.as_bytes(), &URL_SAFE_NO_PAD.decode(parts[2]).unwrap()).is_ok());
    assert_eq!(create(LITTLE, asked).await.unwrap_err().message, "Token id 'deploys' has been used.");
    let stored = stage.stored("AppProject", "shop").await.unwrap();
    let item = r#"[{"exp":1767272400,"iat":1767268800,"id":"deploys"}]"#;
    assert_eq!(json::to_string(stored.at(&["status", "jwtTokensByRole", "ci", "items"]).unwrap()), item);
    let role = &stored.value().items_at(&["spec", "roles"])[0];
    assert_eq!(json::to_string(role.get("jwtTokens").unwrap()), item);
    // A client with an old picture of the project does not take tokens back.
    let old = project(value!({
        "sourceRepos": ["https://git.example.com/shop/*"], "roles": [{"name": "ci"}],
        "destinations": [{"server": "https://kubernetes.default.svc", "namespace": "shop"}],
    }));
    assert!(stage.said(LITTLE, "ProjectService.Update", old).await.contains("deploys"));
    let gone = value!({"project": "shop", "role": "ci", "id": "deploys"});
    assert_eq!(stage.said(LITTLE, "ProjectService.DeleteToken", gone.clone()).await, "{}");
    assert_eq!(
        stage.said(LITTLE, "ProjectService.DeleteToken", gone).await,
        "NotFound: role 'ci' has no such token"
    );
    let stored = json::to_string(stage.stored("AppProject", "shop").await.unwrap().value());
    assert!(!stored.contains("\"deploys\""), "{stored}");
    assert_eq!(
        stage.said(LITTLE, "ProjectService.CreateToken", value!({"project": "shop", "role": "nobody"})).await,
        "NotFound: role 'nobody' does not exist in project 'shop'"
    );
}

#[tokio::test]
async fn events_and_windows_of_a_project_are_told() {
    let stage = Stage::new().await;
    shop(&stage).await;
    let events = stage.said(LITTLE, "ProjectService.ListEvents", value!({"name": "shop"})).await;
    assert!(events.contains("tester created project"), "{events}");
    let window = |schedule: &str| value!({"kind": "deny", "schedule": schedule, "duration": "1h", "applications": ["*"]});
    let spec = value!({
        "sourceRepos": ["https://git.example.com/shop/*"],
        "destinations": [{"server": "https://kubernetes.default.svc", "namespace": "shop"}],
        "syncWindows": [window("0 12 * * *"), window("0 15 * * *")],
    });
    stage.ask(ALL, "ProjectService.Update", project(spec)).await.unwrap();
    let open = stage.said(LITTLE, "ProjectService.GetSyncWindowsState", value!({"name": "shop"})).await;
    assert!(open.contains("0 12 * * *") && !open.contains("0 15 * * *"), "{open}");
}
