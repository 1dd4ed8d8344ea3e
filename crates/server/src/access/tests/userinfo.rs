//! Groups that an issuer tells only when it is asked.

use axum::body::Body;
use axum::http::{Request, header};
use lynceus_object::{Value, value};

use super::elsewhere::{cookie, header_of, log_in, stage};
use super::issuer::Issuer;
use super::{Said, Stage};

/// The answer to a browser that has logged in.
async fn by_browser(stage: &Stage, login: &Said, path: &str) -> Said {
    let cookies = [cookie(login, "argocd.token"), cookie(login, "lynceus.carried")].join("; ");
    let request = Request::get(path).header(header::COOKIE, cookies).body(Body::empty()).unwrap();
    stage.send(request).await
}

async fn groups(stage: &Stage, login: &Said) -> String {
    let info = by_browser(stage, login, "/api/v1/session/userinfo").await;
    lynceus_object::json::to_string(info.body.get("groups").unwrap_or(&Value::Null))
}

/// An issuer whose tokens name no groups.
async fn quiet() -> Issuer {
    let issuer = Issuer::start().await;
    issuer.say(value!({"groups": null}));
    issuer.tell(value!({"sub": "1234", "groups": ["devs", "role:admin"]}));
    issuer
}

#[tokio::test]
async fn groups_are_asked_of_the_issuer_where_the_settings_want_it() {
    for (settings, expected) in [
        ("", "[]"),
        ("enableUserInfoGroups: true\n", r#"["devs"]"#),
        ("enableUserInfoGroups: true\nuserInfoPath: /own/people\n", r#"["devs"]"#),
        ("enableUserInfoGroups: \"true\"\nuserInfoCacheExpiration: 5m\n", r#"["devs"]"#),
        ("enableUserInfoGroups: false\nuserInfoPath: /own/people\n", "[]"),
    ] {
        let issuer = quiet().await;
        let stage = stage(&issuer, settings).await;
        let login = log_in(&stage, &issuer).await;
        assert_eq!(login.status, 303, "{settings}");
        assert_eq!(groups(&stage, &login).await, expected, "{settings}");
        let may = by_browser(&stage, &login, "/api/v1/account/can-i/applications/get/a/b").await;
        assert_eq!(may.text("value"), if expected == "[]" { "no" } else { "yes" }, "{settings}");
        let may = by_browser(&stage, &login, "/api/v1/account/can-i/applications/sync/a/b").await;
        assert_eq!(may.text("value"), "no", "a group that is called like a role is none");
    }
}

#[tokio::test]
async fn an_answer_counts_for_as_long_as_the_settings_say() {
    let issuer = quiet().await;
    let kept = stage(&issuer, "enableUserInfoGroups: true\nuserInfoCacheExpiration: 5m\n").await;
    let login = log_in(&kept, &issuer).await;
    issuer.tell(value!({"sub": "1234", "groups": ["others"]}));
    for _ in 0..10 {
        assert_eq!(groups(&kept, &login).await, r#"["devs"]"#);
    }
    assert_eq!(issuer.asked(), 1);
    let fresh = stage(&issuer, "enableUserInfoGroups: true\nuserInfoCacheExpiration: 0s\n").await;
    let login = log_in(&fresh, &issuer).await;
    assert_eq!(groups(&fresh, &login).await, r#"["others"]"#);
    issuer.tell(value!({"sub": "1234", "groups": ["devs"]}));
    assert_eq!(groups(&fresh, &login).await, r#"["devs"]"#);
}

/// Any server can ask, because the browser carries with what; nobody else can, and the browser cannot read it.
#[tokio::test]
async fn a_server_that_did_not_see_the_login_asks_as_well() {
    let issuer = quiet().await;
    let mut stage = stage(&issuer, "enableUserInfoGroups: true\n").await;
    let login = log_in(&stage, &issuer).await;
    let carried = header_of(&login, "set-cookie");
    let carried = carried.lines().find(|line| line.starts_with("lynceus.carried=")).unwrap();
    assert!(carried.contains("HttpOnly") && carried.contains("SameSite=Lax"), "{carried}");
    stage.restart();
    assert_eq!(groups(&stage, &login).await, r#"["devs"]"#);
    assert_eq!(issuer.asked(), 2);
    // Without it, or with another's, what the token says counts.
    stage.restart();
    let token = cookie(&login, "argocd.token").replace("argocd.token=", "");
    let said = stage.ask("GET", "/api/v1/account/can-i/applications/get/a/b", &token, "").await;
    assert_eq!(said.text("value"), "no");
    for forged in ["AAAA", "lynceus", ""] {
        let cookies = format!("argocd.token={token}; lynceus.carried={forged}");
        let request =
            Request::get("/api/v1/account/can-i/applications/get/a/b").header(header::COOKIE, cookies);
        assert_eq!(stage.send(request.body(Body::empty()).unwrap()).await.text("value"), "no", "{forged}");
    }
    assert_eq!(issuer.asked(), 2);
}

#[tokio::test]
async fn nobody_is_let_in_by_what_an_issuer_says_of_another_or_does_not_say() {
    let issuer = quiet().await;
    let stage = stage(&issuer, "enableUserInfoGroups: true\nuserInfoCacheExpiration: 0s\n").await;
    issuer.tell(value!({"sub": "4321", "groups": ["devs"]}));
    assert_eq!(log_in(&stage, &issuer).await.status, 503);
    issuer.tell(Value::Null);
    let mut stage = stage;
    stage.restart();
    assert_eq!(log_in(&stage, &issuer).await.status, 401);
    issuer.tell(value!({"sub": "1234", "groups": ["devs"]}));
    stage.restart();
    let login = log_in(&stage, &issuer).await;
    assert_eq!(groups(&stage, &login).await, r#"["devs"]"#);
    issuer.tell(Value::Null);
    assert_eq!(by_browser(&stage, &login, "/api/v1/account").await.status, 401, "the issuer has ended it");
}

#[tokio::test]
async fn settings_that_say_no_time_are_told_as_broken() {
    let issuer = quiet().await;
    let stage = stage(&issuer, "enableUserInfoGroups: true\nuserInfoCacheExpiration: soon\n").await;
    assert_eq!(super::elsewhere::go(&stage, "/auth/login", "").await.status, 503);
}
