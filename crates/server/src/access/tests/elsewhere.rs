//! Logging in with another issuer.

use axum::body::Body;
use axum::http::{Request, header};
use lynceus_object::{Value, value};

use super::issuer::{Issuer, Way};
use super::{Said, Stage, accounts};
use crate::access::jwt;

pub(super) async fn stage(issuer: &Issuer, more: &str) -> Stage {
    let stage = Stage::new(&accounts()).await;
    let secret = value!({"stringData": {"oidc.secret": "hush hush"}});
    stage.patch("Secret", "argocd-secret", &secret).await;
    let config = format!(
        "issuer: {}\nclientID: lynceus\ncliClientID: lynceus-cli\nclientSecret: $oidc.secret\n{more}",
        issuer.address()
    );
    let settings = value!({"data": {"url": "https://lynceus.example", "oidc.config": config}});
    stage.patch("ConfigMap", "argocd-cm", &settings).await;
    let rules = value!({"data": {"policy.csv": "g, devs, role:readonly\np, carol@example.com, logs, get, */*, allow"}});
    stage.patch("ConfigMap", "argocd-rbac-cm", &rules).await;
    stage
}

pub(super) async fn go(stage: &Stage, path: &str, cookie: &str) -> Said {
    let request = Request::get(path).header(header::HOST, "lynceus.example").header(header::COOKIE, cookie);
    stage.send(request.body(Body::empty()).unwrap()).await
}

pub(super) fn header_of(said: &Said, name: &str) -> String {
    let found = said.headers.get_all(name).iter().filter_map(|value| value.to_str().ok());
    found.collect::<Vec<_>>().join("\n")
}

/// The cookie that an answer sets, as a browser sends it back.
pub(super) fn cookie(said: &Said, name: &str) -> String {
    let all = header_of(said, "set-cookie");
    let found = all.lines().find(|line| line.starts_with(&format!("{name}="))).unwrap_or_default();
    found.split(';').next().unwrap_or_default().to_owned()
}

/// Goes the whole way; gives the last answer.
pub(super) async fn log_in(stage: &Stage, issuer: &Issuer) -> Said {
    let left = go(stage, "/auth/login?return_url=/applications", "").await;
    assert_eq!(left.status, 303, "{}", header_of(&left, "location"));
    let back = issuer.agree(&header_of(&left, "location"));
    go(stage, &format!("/auth/callback?{back}"), &cookie(&left, "argocd.oauthstate")).await
}

#[tokio::test]
async fn somebody_logs_in_elsewhere_and_has_the_rights_of_their_groups() {
    let issuer = Issuer::start().await;
    let stage = stage(&issuer, "").await;
    for way in [Way::Rsa, Way::Ec, Way::Ed] {
        issuer.sign_with(way);
        let said = log_in(&stage, &issuer).await;
        assert_eq!(
            (said.status, header_of(&said, "location").as_str()),
            (303, "https://lynceus.example/applications"),
            "{way:?}"
        );
        let token = cookie(&said, "argocd.token").replace("argocd.token=", "");
        let info = stage.ask("GET", "/api/v1/session/userinfo", &token, "").await;
        assert_eq!(
            lynceus_object::json::to_string(&info.body),
            format!(
                r#"{{"groups":["devs"],"iss":"{}","loggedIn":true,"username":"carol@example.com"}}"#,
                issuer.address()
            )
        );
        let can = async |what: &str| {
            stage
                .ask("GET", &format!("/api/v1/account/can-i/{what}"), &token, "")
                .await
                .text("value")
                .to_owned()
        };
        assert_eq!(can("applications/get/a/b").await, "yes");
        assert_eq!(can("applications/sync/a/b").await, "no", "a group that is called like a role is none");
    }
}

#[tokio::test]
async fn groups_are_in_the_claims_that_the_settings_name() {
    let issuer = Issuer::start().await;
    let stage = stage(&issuer, "").await;
    let token = issuer.token("n");
    let can = async |what: &str| {
        stage.ask("GET", &format!("/api/v1/account/can-i/{what}"), &token, "").await.text("value").to_owned()
    };
    let rules = value!({"data": {"scopes": "[email]", "policy.csv": "g, carol@example.com, role:admin"}});
    stage.patch("ConfigMap", "argocd-rbac-cm", &rules).await;
    assert_eq!(can("applications/sync/a/b").await, "yes");
}

#[tokio::test]
async fn the_way_there_has_a_challenge_and_two_secrets() {
    let issuer = Issuer::start().await;
    let stage =
        stage(&issuer, "requestedScopes: [profile]\nrequestedIDTokenClaims: {groups: {essential: true}}\n")
            .await;
    let said = go(&stage, "/auth/login", "").await;
    let place = header_of(&said, "location");
    let (address, query) = place.split_once('?').unwrap();
    assert_eq!(address, format!("{}/authorize", issuer.address()));
    let query: std::collections::HashMap<String, String> = crate::request::pairs(query).into_iter().collect();
    assert_eq!((query["code_challenge_method"].as_str(), query["code_challenge"].len()), ("S256", 43));
    // CVE-2022-31034: as much chance as there can be.
    assert_eq!((query["state"].len(), query["nonce"].len()), (43, 43));
    assert_eq!(query["scope"], "openid profile");
    assert_eq!(query["redirect_uri"], "https://lynceus.example/auth/callback");
    assert_eq!(query["claims"], r#"{"id_token":{"groups":{"essential":true}}}"#);
    let cookie = header_of(&said, "set-cookie");
    assert!(
        cookie.contains("HttpOnly") && cookie.contains("SameSite=Lax") && cookie.contains("Path=/auth"),
        "{cookie}"
    );
}

#[tokio::test]
async fn a_browser_comes_back_to_this_server_and_with_what_it_left_with() {
    let issuer = Issuer::start().await;
    let stage = stage(&issuer, "").await;
    for place in ["https://evil.example", "//evil.example", "https://lynceus.example.evil.example"] {
        assert_eq!(go(&stage, &format!("/auth/login?return_url={place}"), "").await.status, 400, "{place}");
    }
    let left = go(&stage, "/auth/login", "").await;
    let other = go(&stage, "/auth/login", "").await;
    let back = issuer.agree(&header_of(&left, "location"));
    let state = |said: &Said| cookie(said, "argocd.oauthstate");
    assert_eq!(go(&stage, &format!("/auth/callback?{back}"), "").await.status, 400, "without a cookie");
    assert_eq!(
        go(&stage, &format!("/auth/callback?{back}"), &state(&other)).await.status,
        400,
        "another browser's"
    );
    let forged = format!(
        "argocd.oauthstate={}",
        jwt::sign(
            &value!({"iss": "lynceus-login", "state": "s", "nonce": "n", "exp": 1_900_000_000}),
            b"guess"
        )
    );
    assert_eq!(go(&stage, "/auth/callback?code=code-0&state=s", &forged).await.status, 400, "made up");
    let session = stage.session("alice", "password").await;
    assert_eq!(
        go(&stage, "/auth/callback?code=code-0&state=", &format!("argocd.oauthstate={session}")).await.status,
        400,
        "a session"
    );
    stage.clock.pass(601);
    assert_eq!(go(&stage, &format!("/auth/callback?{back}"), &state(&left)).await.status, 400, "too late");
    assert_eq!(go(&stage, "/auth/callback?error=x&error_description=%3Cscript%3E", "").await.status, 401);
    // What a browser carries on its way is no session.
    let carried = state(&left).replace("argocd.oauthstate=", "");
    assert_eq!(stage.user(&carried).await, "");
}

#[tokio::test]
async fn a_token_of_the_issuer_has_to_be_good_in_every_way() {
    let issuer = Issuer::start().await;
    let stage = stage(&issuer, "").await;
    assert_eq!(stage.user(&issuer.token("n")).await, "carol@example.com");
    let wrong: [(&str, Value); 9] = [
        ("for somebody else", value!({"aud": "other"})),
        ("for somebody else too", value!({"aud": ["other"]})),
        ("for nobody", value!({"aud": null})),
        ("of another issuer", value!({"iss": "https://evil.example"})),
        ("of an issuer that begins alike", value!({"iss": format!("{}/", issuer.address())})),
        ("of the past", value!({"exp": 1_799_999_999})),
        ("without an end", value!({"exp": null})),
        ("of the future", value!({"nbf": 1_800_001_000})),
        ("nobody's", value!({"sub": ""})),
    ];
    for (what, claims) in wrong {
        issuer.say(claims);
        assert_eq!(stage.ask("GET", "/api/v1/account", &issuer.token("n"), "").await.status, 401, "{what}");
    }
    issuer.say(value!({"aud": ["x", "lynceus-cli"]}));
    assert_eq!(stage.user(&issuer.token("n")).await, "carol@example.com", "for the program that people use");
    issuer.say(value!({}));
    let mut changed = issuer.token("n");
    changed.truncate(changed.len() - 4);
    assert_eq!(stage.user(&changed).await, "", "another signature");
    // A key that everybody knows must not be taken for one that is shared.
    let claims = value!({"iss": issuer.address(), "sub": "x", "aud": "lynceus", "exp": 1_800_000_600});
    assert_eq!(stage.user(&jwt::sign(&claims, &issuer.public_bytes())).await, "");
    let unsigned = issuer.token("n");
    let body = unsigned.split('.').nth(1).unwrap();
    let none = base64::Engine::encode(&base64::engine::general_purpose::URL_SAFE_NO_PAD, r#"{"alg":"none"}"#);
    assert_eq!(stage.user(&format!("{none}.{body}.")).await, "");
}

/// Nothing is wrong with the issuer, so nobody is told that it is.
#[tokio::test]
async fn a_code_that_the_issuer_does_not_know_is_a_refused_login() {
    let issuer = Issuer::start().await;
    let stage = stage(&issuer, "").await;
    for code in ["made-up", "", "..%2F..", "%00"] {
        let left = go(&stage, "/auth/login", "").await;
        let back = issuer.agree(&header_of(&left, "location"));
        let (_, state) = back.split_once('&').unwrap();
        let said =
            go(&stage, &format!("/auth/callback?code={code}&{state}"), &cookie(&left, "argocd.oauthstate"))
                .await;
        assert_eq!(said.status, if code.is_empty() { 400 } else { 401 }, "{code:?}");
        assert!(!header_of(&said, "set-cookie").contains("argocd.token"), "{code:?}");
    }
    // A code serves once.
    let left = go(&stage, "/auth/login", "").await;
    let back = format!("/auth/callback?{}", issuer.agree(&header_of(&left, "location")));
    let carried = cookie(&left, "argocd.oauthstate");
    assert_eq!(go(&stage, &back, &carried).await.status, 303);
    assert_eq!(go(&stage, &back, &carried).await.status, 401);
    assert_eq!(log_in(&stage, &issuer).await.status, 303, "the issuer is asked again at once");
}

#[tokio::test]
async fn an_issuer_that_does_not_take_us_is_told_as_broken() {
    let issuer = Issuer::start().await;
    let stage = stage(&issuer, "").await;
    stage.patch("Secret", "argocd-secret", &value!({"stringData": {"oidc.secret": "wrong"}})).await;
    assert_eq!(log_in(&stage, &issuer).await.status, 503);
}

#[tokio::test]
async fn the_answer_to_another_login_is_not_taken() {
    let issuer = Issuer::start().await;
    let stage = stage(&issuer, "").await;
    issuer.say(value!({"nonce": "another"}));
    assert_eq!(log_in(&stage, &issuer).await.status, 400);
}

#[tokio::test]
async fn a_new_key_of_the_issuer_is_found() {
    let issuer = Issuer::start().await;
    let stage = stage(&issuer, "").await;
    assert_eq!(stage.user(&issuer.token("n")).await, "carol@example.com");
    issuer.rename_key("two");
    assert_eq!(stage.user(&issuer.token("n")).await, "carol@example.com");
}

#[tokio::test]
async fn whoever_logs_out_is_out() {
    let issuer = Issuer::start().await;
    let more = "logoutURL: https://sso.example/bye?token={{token}}&to={{logoutRedirectURL}}\n";
    let stage = stage(&issuer, more).await;
    let said = log_in(&stage, &issuer).await;
    let session = cookie(&said, "argocd.token");
    let token = session.replace("argocd.token=", "");
    let bye = go(&stage, "/auth/logout", &session).await;
    assert_eq!(bye.status, 303);
    let place = header_of(&bye, "location");
    assert!(
        place.starts_with("https://sso.example/bye?token=")
            && place.ends_with("&to=https%3A%2F%2Flynceus.example"),
        "{place}"
    );
    assert!(header_of(&bye, "set-cookie").contains("Max-Age=0"));
    assert_eq!(stage.user(&token).await, "");
}

/// An issuer's subject is not one of ours, whatever it is called.
#[tokio::test]
async fn nobody_becomes_admin_by_what_they_are_called_elsewhere() {
    let issuer = Issuer::start().await;
    let stage = stage(&issuer, "").await;
    for name in ["admin", "role:admin", "proj:default:x", "alice"] {
        issuer.say(
            value!({"sub": name, "groups": ["role:admin", "admin"], "federated_claims": {"user_id": name}}),
        );
        let token = issuer.token("n");
        let said = stage.ask("GET", "/api/v1/account/can-i/applications/sync/a/b", &token, "").await;
        assert_eq!(said.text("value"), "no", "{name}");
        let own = stage.ask("POST", "/api/v1/account/alice/token", &token, "{}").await;
        assert_eq!(own.status, 403, "{name}");
    }
}

/// CVE-2022-31105.
#[tokio::test]
async fn an_issuer_whose_certificate_is_not_known_is_not_asked() {
    let (issuer, certificate) = Issuer::start_tls().await;
    let unknown = stage(&issuer, "").await;
    assert_eq!(go(&unknown, "/auth/login", "").await.status, 503);
    assert_eq!(unknown.user(&issuer.token("n")).await, "");
    let indented: String = certificate.lines().map(|line| format!("  {line}\n")).collect();
    let known = stage(&issuer, &format!("rootCA: |\n{indented}")).await;
    assert_eq!(log_in(&known, &issuer).await.status, 303);
    assert_eq!(known.user(&issuer.token("n")).await, "carol@example.com");
}

#[tokio::test]
async fn without_an_issuer_there_is_no_way_elsewhere() {
    let stage = Stage::new(&accounts()).await;
    assert_eq!(go(&stage, "/auth/login", "").await.status, 404);
    assert_eq!(go(&stage, "/auth/callback?code=x&state=y", "").await.status, 404);
    assert_eq!(go(&stage, "/auth/logout", "").await.status, 303);
}
