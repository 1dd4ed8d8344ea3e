//! Published attacks on logins, tokens and rights, each as a test of what must not work.

use axum::body::Body;
use axum::http::{Request, header};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use lynceus_object::value;

use super::{Stage, accounts};
use crate::access::jwt;

fn encoded(text: &str) -> String {
    URL_SAFE_NO_PAD.encode(text)
}

/// Tokens for the admin that nobody signed, or somebody else, or in another way.
async fn forgeries(stage: &Stage) -> Vec<(&'static str, String)> {
    let secret = stage.secret("argocd-secret", "server.secretkey").await;
    let now = 1_800_000_000;
    let good = value!({"iss": "argocd", "sub": "admin:login", "iat": now, "nbf": now, "exp": now + 1000, "jti": "x"});
    let with = |field: &str, value: lynceus_object::Value| {
        let mut claims = good.clone();
        claims.set(&[field], value);
        jwt::sign(&claims, secret.as_bytes())
    };
    let without = |field: &str| {
        let mut claims = good.clone();
        claims.remove(&[field]);
        jwt::sign(&claims, secret.as_bytes())
    };
    let body = encoded(&lynceus_object::json::to_string(&good));
    let none = format!("{}.{body}.", encoded(r#"{"alg":"none"}"#));
    let swapped = jwt::sign(&good, secret.as_bytes()).replacen(
        &encoded(r#"{"alg":"HS256","typ":"JWT"}"#),
        &encoded(r#"{"alg":"HS512","typ":"JWT"}"#),
        1,
    );
    vec![
        ("alg none", none),
        ("another algorithm", swapped),
        ("an empty key", jwt::sign(&good, b"")),
        ("another key", jwt::sign(&good, b"guess")),
        ("another issuer", with("iss", "https://evil.example".into())),
        ("no issuer", without("iss")),
        ("an audience", with("aud", "other".into())),
        ("the past", with("exp", (now - 1).into())),
        ("an end that is no time", with("exp", "never".into())),
        ("the future", with("nbf", (now + 60).into())),
        ("no time of issue", without("iat")),
        ("no name of its own", without("jti")),
        ("a key that the account does not have", with("sub", "admin:apiKey".into())),
        ("an account that does not exist", with("sub", "eve:login".into())),
        ("a role as its subject", with("sub", "role:admin".into())),
        ("nobody", with("sub", "".into())),
    ]
}

#[tokio::test]
async fn a_token_that_is_not_good_in_every_way_is_no_session() {
    let stage = Stage::new(&accounts()).await;
    let good = value!({"iss": "argocd", "sub": "admin:login", "iat": 1_800_000_000, "jti": "x"});
    let key = stage.secret("argocd-secret", "server.secretkey").await;
    assert_eq!(
        stage.user(&jwt::sign(&good, key.as_bytes())).await,
        "admin",
        "the way that tokens are made here"
    );
    for (name, token) in forgeries(&stage).await {
        assert_eq!(stage.ask("GET", "/api/v1/account", &token, "").await.status, 401, "{name}");
    }
}

/// CVE-2022-29165.
#[tokio::test]
async fn a_forged_token_is_not_believed_because_nobody_is_allowed() {
    let stage = Stage::new(&accounts()).await;
    stage.patch("ConfigMap", "argocd-cm", &value!({"data": {"users.anonymous.enabled": "true"}})).await;
    for (name, token) in forgeries(&stage).await {
        let said = stage.ask("GET", "/api/v1/account/can-i/applications/get/a/b", &token, "").await;
        assert_eq!(said.text("value"), "no", "{name}");
        assert_eq!(stage.user(&token).await, "", "{name}");
    }
}

/// A caller whose password changes loses its sessions, and keys, from before.
#[tokio::test]
async fn tokens_from_before_a_new_password_are_dead() {
    let stage = Stage::new(&accounts()).await;
    let token = stage.session("alice", "password").await;
    let later = base64::engine::general_purpose::STANDARD.encode("2027-01-15T08:00:01Z");
    stage.patch("Secret", "argocd-secret", &value!({"data": {"accounts.alice.passwordMtime": later}})).await;
    assert_eq!(stage.user(&token).await, "");
}

/// CVE-2024-21652: failures must survive a crash.
#[tokio::test]
async fn too_many_wrong_passwords_lock_an_account_and_no_restart_opens_it() {
    let mut stage = Stage::new(&accounts()).await;
    for _ in 0..5 {
        assert_eq!(stage.log_in("alice", "wrong").await.status, 401);
        stage.restart();
    }
    let said = stage.log_in("alice", "password").await;
    assert_eq!((said.status, said.text("message")), (401, "Invalid username or password"));
    stage.session("bob", "password").await;
    stage.clock.pass(301);
    stage.session("alice", "password").await;
    assert_eq!(stage.secret("lynceus-login-failures", "alice").await, "", "whoever gets in begins anew");
}

/// CVE-2024-21662: whoever floods the list of failures must not push others out of it.
#[tokio::test]
async fn made_up_names_do_not_push_out_the_failures_of_accounts() {
    let stage = Stage::new(&accounts()).await;
    for _ in 0..5 {
        stage.log_in("admin", "wrong").await;
    }
    let flood = (0..300).map(|at| {
        let (stage, name) = (&stage, format!("made-up-{at}"));
        async move {
            stage
                .server
                .access
                .inner
                .failures
                .count(stage.server.access.vault(), &name, false, 1_800_000_000)
                .await
        }
    });
    futures::future::join_all(flood).await;
    let right = stage.initial_password().await;
    assert_eq!(stage.log_in("admin", &right).await.status, 401);
}

/// CVE-2025-61560: attempts at the same time must not see each other's count before it is made.
#[tokio::test]
async fn attempts_at_the_same_time_are_all_counted() {
    let stage = Stage::new(&accounts()).await;
    let servers = [stage.server.clone(), super::server(&stage.world, &stage.clock)];
    let attempts = (0..16).map(|at| {
        let server = servers[at % 2].clone();
        async move {
            server.access.inner.failures.count(server.access.vault(), "alice", true, 1_800_000_000).await
        }
    });
    let let_in = futures::future::join_all(attempts).await.into_iter().filter(|let_in| *let_in).count();
    assert_eq!(let_in, 5);
}

#[tokio::test]
async fn a_wrong_name_and_a_wrong_password_are_answered_alike() {
    let stage = Stage::new(&accounts()).await;
    let (name, password) = (stage.log_in("nobody", "password").await, stage.log_in("alice", "wrong").await);
    assert_eq!((name.status, name.text("message")), (password.status, password.text("message")));
    assert_eq!(stage.log_in("alice", "").await.status, 401);
    assert_eq!(stage.log_in(&"x".repeat(33), "password").await.status, 400);
    // Locked ones too, whether there is such an account or not.
    for _ in 0..6 {
        let (name, password) = (stage.log_in("nobody", "x").await, stage.log_in("alice", "x").await);
        assert_eq!((name.status, name.text("message")), (password.status, password.text("message")));
    }
}

/// CVE-2024-37152.
#[tokio::test]
async fn nobody_is_told_more_of_the_settings_than_a_login_needs() {
    let stage = Stage::new(&accounts()).await;
    let settings = value!({"data": {
        "ui.bannercontent": "internal news", "passwordPattern": "^secret-shape$",
        "resource.customizations.health.example.com_Thing": "hs = {}\nreturn hs",
        "oidc.config": "name: SSO\nissuer: https://sso.example\nclientID: lynceus\nclientSecret: hush\n",
        "dex.config": "connectors:\n- {type: github, name: GitHub, config: {clientSecret: hush}}\n",
    }});
    stage.patch("ConfigMap", "argocd-cm", &settings).await;
    let open = stage.ask("GET", "/api/v1/settings", "", "").await;
    let text = lynceus_object::json::to_string(&open.body);
    for word in ["internal news", "secret-shape", "hush", "Thing", "controllerNamespace"] {
        assert!(!text.contains(word), "{word} in {text}");
    }
    assert_eq!(open.body.str_at(&["oidcConfig", "issuer"]), Some("https://sso.example"));
    assert_eq!(open.body.bool_at(&["userLoginsDisabled"]), Some(false));
    let alice = stage.session("alice", "password").await;
    let known = stage.ask("GET", "/api/v1/settings", &alice, "").await;
    assert_eq!(known.text("uiBannerContent"), "internal news");
    assert_eq!(known.text("controllerNamespace"), "argocd");
    assert!(!lynceus_object::json::to_string(&known.body).contains("hush"));
    assert_eq!(stage.ask("GET", "/api/v1/settings/plugins", "", "").await.status, 401);
}

/// CVE-2024-22424: another page must not act with the cookie of this one.
#[tokio::test]
async fn another_page_cannot_act_with_the_cookie_of_this_one() {
    let stage = Stage::new(&accounts()).await;
    let token = stage.session("alice", "password").await;
    let request = |headers: &[(&str, &str)]| {
        let mut request =
            Request::post("/api/v1/account/alice/token").header(header::HOST, "lynceus.example");
        request = request.header(header::COOKIE, format!("argocd.token={token}"));
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        request.body(Body::from("{}")).unwrap()
    };
    let json = ("content-type", "application/json");
    for (what, headers, status) in [
        ("a form", &[("content-type", "text/plain")][..], 415),
        ("no type", &[], 415),
        ("another site", &[json, ("sec-fetch-site", "cross-site")], 403),
        ("a neighbour", &[json, ("sec-fetch-site", "same-site"), ("origin", "https://evil.example")], 403),
        ("another origin", &[json, ("origin", "https://evil.example")], 403),
        ("an origin that is none", &[json, ("origin", "null")], 403),
        ("this page", &[json, ("sec-fetch-site", "same-origin"), ("origin", "https://lynceus.example")], 200),
        ("an old browser on this page", &[json, ("origin", "https://lynceus.example")], 200),
        ("a program", &[json], 200),
    ] {
        assert_eq!(stage.send(request(headers)).await.status, status, "{what}");
    }
    // A token that a page has to know to send it is no cookie.
    let bearer = Request::post("/api/v1/account/alice/token")
        .header("content-type", "application/json")
        .header("origin", "https://evil.example")
        .header(header::AUTHORIZATION, format!("Bearer {token}"));
    assert_eq!(stage.send(bearer.body(Body::from("{}")).unwrap()).await.status, 200);
}

#[tokio::test]
async fn the_cookie_cannot_be_read_by_scripts_and_is_for_this_page() {
    let stage = Stage::new(&accounts()).await;
    let said = stage.log_in("alice", "password").await;
    let cookie = said.headers["set-cookie"].to_str().unwrap();
    assert!(
        cookie.starts_with("argocd.token=") && cookie.contains("HttpOnly") && cookie.contains("SameSite=Lax")
    );
    for (name, value) in [
        ("x-content-type-options", "nosniff"),
        ("x-frame-options", "DENY"),
        ("referrer-policy", "same-origin"),
    ] {
        assert_eq!(said.headers[name], value);
    }
    assert!(said.headers["content-security-policy"].to_str().unwrap().contains("frame-ancestors"));
}

#[tokio::test]
async fn neither_answers_nor_records_hold_a_password() {
    let stage = Stage::new(&accounts()).await;
    let admin = stage.session("admin", &stage.initial_password().await).await;
    let all = lynceus_object::json::to_string(&stage.ask("GET", "/api/v1/account", &admin, "").await.body);
    assert!(!all.contains("$2a$") && !all.contains("password"), "{all}");
    let wrong = stage.log_in("alice", "hunter2hunter2").await;
    assert!(!lynceus_object::json::to_string(&wrong.body).contains("hunter2"));
}

/// CVE-2023-40025 and CVE-2024-41666: what runs for long must end with the session and with the right.
#[tokio::test]
async fn a_long_answer_ends_with_the_session() {
    use futures::StreamExt as _;
    let stage = Stage::new(&accounts()).await;
    let token = stage.session("alice", "password").await;
    let endless = futures::stream::pending().boxed();
    let mut watched =
        crate::access::while_valid(stage.server.clone(), stage.caller(&token).await, None, endless);
    let waited = tokio::time::timeout(std::time::Duration::from_millis(100), watched.next()).await;
    assert!(waited.is_err(), "it goes on while the session does");
    stage.ask("DELETE", "/api/v1/session", &token, "").await;
    let ended = tokio::time::timeout(std::time::Duration::from_secs(5), watched.next()).await.unwrap();
    assert!(matches!(ended, Some(Err(refusal)) if refusal.message.contains("revoked")));
    assert!(watched.next().await.is_none());
}

#[tokio::test]
async fn many_logins_at_once_are_turned_away() {
    let stage = Stage::new(&accounts()).await;
    let failures = &stage.server.access.inner.failures;
    let places: Vec<_> = (0..50).map(|_| failures.place().unwrap()).collect();
    assert_eq!(stage.log_in("alice", "password").await.status, 429);
    drop(places);
    stage.session("alice", "password").await;
}
