//! Accounts, passwords, sessions and keys.

use lynceus_object::{json, value};

use super::{Stage, accounts};

#[tokio::test]
async fn an_installation_without_passwords_is_given_one_and_the_admin_logs_in_with_it() {
    let stage = Stage::new("").await;
    let password = stage.initial_password().await;
    assert_eq!(password.len(), 16);
    assert_eq!(stage.secret("argocd-secret", "server.secretkey").await.len(), 44);
    assert!(stage.secret("argocd-secret", "lynceus.initialPassword").await.is_empty());
    let token = stage.session("admin", &password).await;
    let said = stage.ask("GET", "/api/v1/session/userinfo", &token, "").await;
    assert_eq!(
        json::to_string(&said.body),
        r#"{"groups":[],"iss":"argocd","loggedIn":true,"username":"admin"}"#
    );
    assert_eq!(
        stage.ask("GET", "/api/v1/session/userinfo", "", "").await.body.bool_at(&["loggedIn"]),
        Some(false)
    );
}

#[tokio::test]
async fn servers_that_start_together_agree_on_one_password() {
    let stage = Stage::new("").await;
    // As if nothing had been there, for several servers at once.
    let nothing =
        value!({"data": {"admin.password": null, "admin.passwordMtime": null, "server.secretkey": null}});
    stage.patch("Secret", "argocd-secret", &nothing).await;
    let before = stage.initial_password().await;
    let servers: Vec<_> = (0..6).map(|_| super::server(&stage.world, &stage.clock)).collect();
    let starting = servers.iter().map(|server| server.prepare());
    for started in futures::future::join_all(starting).await {
        started.unwrap();
    }
    let password = stage.initial_password().await;
    assert_ne!(password, before, "a password that was taken away does not come back");
    stage.session("admin", &password).await;
    assert!(stage.secret("argocd-secret", "lynceus.initialPassword").await.is_empty());
}

#[tokio::test]
async fn a_closed_admin_is_given_no_password() {
    let stage = Stage::new(
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: argocd-cm, namespace: argocd}\ndata: {admin.enabled: \"false\"}\n",
    )
    .await;
    assert!(stage.initial_password().await.is_empty());
    assert_eq!(stage.log_in("admin", "anything").await.status, 401);
}

#[tokio::test]
async fn accounts_log_in_with_what_they_may() {
    let stage = Stage::new(&accounts()).await;
    let alice = stage.session("alice", "password").await;
    assert_eq!(stage.user(&alice).await, "alice");
    assert_eq!(stage.log_in("alice", "passwort").await.text("message"), "Invalid username or password");
    assert_eq!(stage.log_in("robot", "password").await.text("message"), "Invalid username or password");
    stage.patch("ConfigMap", "argocd-cm", &value!({"data": {"accounts.alice.enabled": "false"}})).await;
    assert_eq!(stage.user(&alice).await, "", "a closed account has no sessions");
    assert_eq!(stage.log_in("alice", "password").await.text("message"), "Account alice is disabled");
}

#[tokio::test]
async fn a_session_ends_after_its_time() {
    let stage = Stage::new(&accounts()).await;
    stage.patch("ConfigMap", "argocd-cm", &value!({"data": {"users.session.duration": "10m"}})).await;
    let token = stage.session("alice", "password").await;
    stage.clock.pass(599);
    assert_eq!(stage.user(&token).await, "alice");
    stage.clock.pass(1);
    assert_eq!(stage.user(&token).await, "");
    let said = stage.ask("GET", "/api/v1/account", &token, "").await;
    assert_eq!(
        (said.status, said.text("message")),
        (401, "invalid session: token has expired, or its time has not come")
    );
}

#[tokio::test]
async fn logging_out_ends_the_session_everywhere_and_for_good() {
    let mut stage = Stage::new(&accounts()).await;
    let (one, other) = (stage.session("alice", "password").await, stage.session("alice", "password").await);
    let said = stage.ask("DELETE", "/api/v1/session", &one, "").await;
    assert_eq!(said.status, 200);
    assert!(said.headers["set-cookie"].to_str().unwrap().contains("Max-Age=0"));
    assert_eq!(stage.user(&one).await, "");
    assert_eq!(stage.user(&other).await, "alice");
    stage.restart();
    assert_eq!(stage.user(&one).await, "", "a restart brings no session back");
    assert_eq!(stage.user(&other).await, "alice");
}

#[tokio::test]
async fn a_password_is_changed_by_whoever_knows_the_old_one() {
    let stage = Stage::new(&accounts()).await;
    let token = stage.session("alice", "password").await;
    let change = async |token: &str, old: &str, new: &str, name: &str| {
        let body = value!({"currentPassword": old, "newPassword": new, "name": name});
        stage.ask("PUT", "/api/v1/account/password", token, &json::to_string(&body)).await
    };
    assert_eq!(
        change(&token, "wrong", "long enough", "").await.text("message"),
        "current password does not match"
    );
    assert_eq!(
        change(&token, "password", "short", "").await.text("message"),
        "new password does not match the following expression: ^.{8,32}$"
    );
    assert_eq!(change(&token, "password", "long enough", "bob").await.status, 403);
    stage.clock.pass(2);
    assert_eq!(change(&token, "password", "long enough", "").await.status, 200);
    assert_eq!(stage.user(&token).await, "", "sessions from before are over");
    assert_eq!(stage.log_in("alice", "password").await.status, 401);
    stage.session("alice", "long enough").await;

    let admin = stage.session("admin", &stage.initial_password().await).await;
    let own = stage.initial_password().await;
    assert_eq!(change(&admin, &own, "for bob only", "bob").await.status, 200);
    stage.session("bob", "for bob only").await;
    assert_eq!(change(&admin, &own, "for nobody", "carol").await.status, 404);
}

#[tokio::test]
async fn keys_of_an_account_count_until_they_are_deleted() {
    let stage = Stage::new(&accounts()).await;
    let alice = stage.session("alice", "password").await;
    let made =
        stage.ask("POST", "/api/v1/account/alice/token", &alice, r#"{"id":"ci","expiresIn":"3600"}"#).await;
    let key = made.text("token").to_owned();
    assert_eq!(stage.user(&key).await, "alice");
    let twice = stage.ask("POST", "/api/v1/account/alice/token", &alice, r#"{"id":"ci"}"#).await;
    assert_eq!((twice.status, twice.text("message")), (409, "account already has token with id 'ci'"));
    let own = stage.ask("GET", "/api/v1/account/alice", &alice, "").await;
    assert_eq!(
        json::to_string(&own.body),
        r#"{"capabilities":["login","apiKey"],"enabled":true,"name":"alice","tokens":[{"expiresAt":1800003600,"id":"ci","issuedAt":1800000000}]}"#
    );
    assert_eq!(
        stage.secret("argocd-secret", "accounts.alice.tokens").await,
        r#"[{"exp":1800003600,"iat":1800000000,"id":"ci"}]"#
    );
    assert_eq!(stage.ask("DELETE", "/api/v1/account/alice/token/ci", &alice, "").await.status, 200);
    assert_eq!(stage.user(&key).await, "");
    assert_eq!(stage.ask("DELETE", "/api/v1/account/alice/token/ci", &alice, "").await.status, 404);

    let admin = stage.session("admin", &stage.initial_password().await).await;
    let no = stage.ask("POST", "/api/v1/account/bob/token", &admin, "{}").await;
    assert_eq!(no.text("message"), "account 'bob' does not have apiKey capability");
    assert_eq!(stage.ask("POST", "/api/v1/account/robot/token", &admin, "{}").await.status, 200);
}

#[tokio::test]
async fn everybody_sees_their_own_account_and_the_admin_all() {
    let stage = Stage::new(&accounts()).await;
    let names = async |token: &str| {
        let said = stage.ask("GET", "/api/v1/account", token, "").await;
        let names: Vec<String> = said
            .body
            .items_at(&["items"])
            .iter()
            .filter_map(|item| Some(item.str_at(&["name"])?.to_owned()))
            .collect();
        names.join(" ")
    };
    let (alice, bob) = (stage.session("alice", "password").await, stage.session("bob", "password").await);
    assert_eq!(names(&alice).await, "alice");
    assert_eq!(stage.ask("GET", "/api/v1/account/alice", &bob, "").await.status, 403);
    let admin = stage.session("admin", &stage.initial_password().await).await;
    assert_eq!(names(&admin).await, "admin alice bob robot");
}
