//! What callers may.

use lynceus_object::value;

use super::{Stage, accounts};
use crate::access::ResourceName;
use crate::rights::Resource;

const PROJECT: &str = r#"
---
apiVersion: argoproj.io/v1alpha1
kind: AppProject
metadata: {name: team, namespace: argocd}
spec:
  roles:
  - name: deploy
    policies:
    - p, proj:team:deploy, applications, sync, team/*, allow
    jwtTokens:
    - {id: old, iat: 1800000000}
status:
  jwtTokensByRole:
    deploy:
      items:
      - {id: new, iat: 1800000000}
"#;

async fn can(stage: &Stage, token: &str, what: &str) -> String {
    stage.ask("GET", &format!("/api/v1/account/can-i/{what}"), token, "").await.text("value").to_owned()
}

#[tokio::test]
async fn policies_say_what_an_account_may() {
    let stage = Stage::new(&accounts()).await;
    let alice = stage.session("alice", "password").await;
    assert_eq!(can(&stage, &alice, "applications/get/shop/web").await, "yes");
    assert_eq!(can(&stage, &alice, "applications/get/shop/argocd/web").await, "yes");
    assert_eq!(can(&stage, &alice, "applications/delete/shop/dear").await, "no");
    assert_eq!(can(&stage, &alice, "applications/get/other/web").await, "no");
    assert_eq!(can(&stage, &alice, "clusters/get/x").await, "no");
    let admin = stage.session("admin", &stage.initial_password().await).await;
    for what in ["applications/get/a/b", "clusters/delete/x", "exec/create/a/b", "logs/get/a/b"] {
        assert_eq!(can(&stage, &admin, what).await, "yes", "{what}");
    }
    let odd = stage.ask("GET", "/api/v1/account/can-i/applications/eat/a", &admin, "").await;
    assert_eq!(
        (odd.status, odd.text("message")),
        (400, "[get create update delete sync override action invoke] does not contain eat")
    );
}

#[tokio::test]
async fn what_is_taken_away_is_gone_at_once() {
    let stage = Stage::new(&accounts()).await;
    let token = stage.session("alice", "password").await;
    let alice = stage.caller(&token).await;
    assert!(alice.may(Resource::Applications, "get", "shop/web"));
    stage.patch("ConfigMap", "argocd-rbac-cm", &value!({"data": {"policy.csv": ""}})).await;
    assert!(!alice.may(Resource::Applications, "get", "shop/web"));
    stage.patch("ConfigMap", "argocd-rbac-cm", &value!({"data": {"policy.default": "role:readonly"}})).await;
    assert!(alice.may(Resource::Applications, "get", "shop/web"));
    assert!(!alice.may(Resource::Applications, "sync", "shop/web"));
}

#[tokio::test]
async fn a_policy_that_cannot_be_read_leaves_only_the_admin() {
    let stage = Stage::new(&accounts()).await;
    let broken = value!({"data": {"policy.csv": "p, alice, applications, *, shop/*, allow\np, alice", "policy.default": "role:admin"}});
    stage.patch("ConfigMap", "argocd-rbac-cm", &broken).await;
    let alice = stage.session("alice", "password").await;
    assert_eq!(can(&stage, &alice, "applications/get/shop/web").await, "no");
    let admin = stage.session("admin", &stage.initial_password().await).await;
    assert_eq!(can(&stage, &admin, "applications/get/shop/web").await, "yes");
}

#[tokio::test]
async fn further_policies_and_expressions_are_read() {
    let stage = Stage::new(&accounts()).await;
    stage
        .patch(
            "ConfigMap",
            "argocd-rbac-cm",
            &value!({"data": {"policy.more.csv": "p, bob, logs, get, */*, allow"}}),
        )
        .await;
    let bob = stage.session("bob", "password").await;
    assert_eq!(can(&stage, &bob, "logs/get/a/b").await, "yes");
    let regex = value!({"data": {"policy.matchMode": "regex", "policy.csv": "p, bob, applications, (get|sync), ^shop/.*$, allow", "policy.more.csv": null}});
    stage.patch("ConfigMap", "argocd-rbac-cm", &regex).await;
    assert_eq!(can(&stage, &bob, "applications/sync/shop/web").await, "yes");
    assert_eq!(can(&stage, &bob, "applications/sync/my-shop/web").await, "no");
}

#[tokio::test]
async fn a_projects_token_counts_in_its_project_while_the_project_has_it() {
    let stage = Stage::new(&format!("{}{PROJECT}", accounts())).await;
    let issue = async |id: &str| stage.server.access.issue("proj:team:deploy", id, None).await.unwrap();
    for id in ["new", "old"] {
        let token = issue(id).await;
        assert_eq!(stage.user(&token).await, "proj:team:deploy", "{id}");
        assert_eq!(can(&stage, &token, "applications/sync/team/web").await, "yes");
        assert_eq!(can(&stage, &token, "projects/get/team").await, "yes");
        assert_eq!(can(&stage, &token, "applications/sync/shop/web").await, "no");
        assert_eq!(can(&stage, &token, "applications/get/team/web").await, "no");
        assert_eq!(can(&stage, &token, "projects/get/default").await, "no");
    }
    assert_eq!(stage.user(&issue("other").await).await, "", "a token that the project does not list");
    let token = issue("new").await;
    stage.patch("AppProject", "team", &value!({"status": {"jwtTokensByRole": null}})).await;
    assert_eq!(stage.user(&token).await, "", "a token that was deleted");
    let unknown = stage.server.access.issue("proj:nowhere:deploy", "new", None).await.unwrap();
    assert_eq!(stage.user(&unknown).await, "");
}

#[tokio::test]
async fn objects_of_an_application_have_rights_of_their_own() {
    let stage = Stage::new(&accounts()).await;
    let rule = value!({"data": {"policy.csv": "p, alice, applications, update, shop/*, allow\np, alice, applications, delete/*/Pod/*, shop/*, allow"}});
    stage.patch("ConfigMap", "argocd-rbac-cm", &rule).await;
    let token = stage.session("alice", "password").await;
    let alice = stage.caller(&token).await;
    let pod = ResourceName { group: "", kind: "Pod", namespace: "prod", name: "web" };
    let job = ResourceName { group: "batch", kind: "Job", namespace: "prod", name: "web" };
    assert!(
        alice.may_resource("delete", "shop/web", &pod) && !alice.may_resource("delete", "shop/web", &job)
    );
    assert!(!alice.may_resource("update", "shop/web", &pod), "not inherited unless that is wanted");
    let inherit = value!({"data": {"server.rbac.disableApplicationFineGrainedRBACInheritance": "false"}});
    stage.patch("ConfigMap", "argocd-cm", &inherit).await;
    assert!(alice.may_resource("update", "shop/web", &pod));
}

#[tokio::test]
async fn whoever_may_nothing_of_a_sort_is_told_so_before_anything_is_looked_up() {
    let stage = Stage::new(&format!("{}{PROJECT}", accounts())).await;
    let (alice, bob) = (stage.session("alice", "password").await, stage.session("bob", "password").await);
    let (alice, bob) = (stage.caller(&alice).await, stage.caller(&bob).await);
    assert!(alice.need_some(Resource::Applications, "create").is_ok());
    assert!(alice.need_some(Resource::Clusters, "get").is_err());
    assert!(bob.need_some(Resource::Applications, "get").is_err());
    let token = stage.server.access.issue("proj:team:deploy", "new", None).await.unwrap();
    let token = stage.caller(&token).await;
    assert!(token.need_some(Resource::Applications, "sync").is_ok());
    assert!(token.need_some(Resource::Repositories, "create").is_err());
}

#[tokio::test]
async fn nobody_may_what_everybody_may_where_that_is_allowed() {
    let stage = Stage::new(&accounts()).await;
    stage.patch("ConfigMap", "argocd-rbac-cm", &value!({"data": {"policy.default": "role:readonly"}})).await;
    assert_eq!(stage.ask("GET", "/api/v1/account", "", "").await.status, 401);
    stage.patch("ConfigMap", "argocd-cm", &value!({"data": {"users.anonymous.enabled": "true"}})).await;
    assert_eq!(can(&stage, "", "applications/get/a/b").await, "yes");
    assert_eq!(can(&stage, "", "applications/sync/a/b").await, "no");
    let info = stage.ask("GET", "/api/v1/session/userinfo", "", "").await;
    assert_eq!(info.body.bool_at(&["loggedIn"]), Some(false));
}
