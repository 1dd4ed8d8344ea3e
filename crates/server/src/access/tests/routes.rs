//! Every method of the table, asked by those who may not.

use std::sync::Arc;

use axum::http::HeaderMap;
use lynceus_object::Value;

use super::{Stage, accounts};
use crate::call::Answer;
use crate::method::methods;
use crate::refusal::Code;
use crate::rights::{self, Right};

/// The methods that somebody without any right is answered, because the answer is about them or is filtered by what they
/// may see.
const FOR_THE_KNOWN: [&str; 18] = [
    "AccountService.CanI",
    "AccountService.ListAccounts",
    "ApplicationService.List",
    "ApplicationService.Watch",
    "ApplicationSetService.List",
    "ApplicationSetService.Watch",
    "CertificateService.ListCertificates",
    "ClusterService.List",
    "DoctorService.Examine",
    "DoctorService.Explain",
    "DoctorService.Fix",
    "DoctorService.Rehearse",
    "GPGKeyService.List",
    "ProjectService.List",
    "RepoCredsService.ListRepositoryCredentials",
    "RepoCredsService.ListWriteRepositoryCredentials",
    "RepositoryService.List",
    "RepositoryService.ListRepositories",
];

async fn refused(stage: &Stage, token: &str, call: &str) -> Option<Code> {
    let method = methods().by_call(call).expect("a method");
    let mut headers = HeaderMap::new();
    if !token.is_empty() {
        headers.insert("token", token.parse().unwrap());
    }
    let server: &Arc<crate::server::Server> = &stage.server;
    let request = Value::Map(lynceus_object::Map::new());
    match server.answer(method, &headers, request).await {
        Ok(Answer::One(_) | Answer::List(_) | Answer::Many(_)) => None,
        Err(refusal) => Some(refusal.code),
    }
}

#[tokio::test]
async fn no_method_answers_nobody_but_those_for_everybody() {
    let stage = Stage::new(&accounts()).await;
    for method in methods().iter().filter(|method| rights::of(method) != Right::Open) {
        let call = format!("/{}/{}", method.service, method.name);
        for token in ["", "nonsense", "a.b.c"] {
            assert_eq!(refused(&stage, token, &call).await, Some(Code::Unauthenticated), "{call}");
        }
    }
}

#[tokio::test]
async fn no_method_answers_an_account_without_rights_but_those_about_itself() {
    let stage = Stage::new(&accounts()).await;
    let bob = stage.session("bob", "password").await;
    for method in methods().iter() {
        let (service, name) = method.id();
        let id = format!("{service}.{name}");
        let is_free = matches!(rights::of(method), Right::Open | Right::Known | Right::Account(_));
        let is_listed = FOR_THE_KNOWN.contains(&id.as_str())
            || matches!(
                service,
                "SessionService" | "SettingsService" | "VersionService" | "NotificationService"
            )
            || matches!(id.as_str(), "RepositoryService.ListWriteRepositories")
            || service == "AccountService";
        assert_eq!(is_free, is_listed, "{id}");
        if !is_free {
            let call = format!("/{}/{}", method.service, method.name);
            assert_eq!(refused(&stage, &bob, &call).await, Some(Code::PermissionDenied), "{call}");
        }
    }
}

#[tokio::test]
async fn another_account_is_neither_read_nor_changed_without_the_right() {
    let stage = Stage::new(&accounts()).await;
    let bob = stage.session("bob", "password").await;
    for (verb, path, body) in [
        ("GET", "/api/v1/account/alice", ""),
        ("GET", "/api/v1/account/nobody", ""),
        ("POST", "/api/v1/account/alice/token", "{}"),
        ("DELETE", "/api/v1/account/alice/token/x", ""),
        (
            "PUT",
            "/api/v1/account/password",
            r#"{"name":"alice","currentPassword":"password","newPassword":"long enough"}"#,
        ),
    ] {
        let said = stage.ask(verb, path, &bob, body).await;
        assert_eq!((said.status, said.text("message")), (403, "permission denied"), "{verb} {path}");
    }
}

#[tokio::test]
async fn what_is_measured_is_told_on_a_port_of_its_own() {
    let stage = Stage::new("").await;
    let token = stage.session("admin", &stage.initial_password().await).await;
    for token in ["", token.as_str()] {
        assert_eq!(stage.ask("GET", "/metrics", token, "").await.status, 404);
    }
}
