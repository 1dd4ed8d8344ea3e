#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on has to stop")]

use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};

use lynceus_files::FilePath;
use lynceus_object::{Value, json, value};
use lynceus_source::compose::{Change, Composition, Layout, Message};

use crate::services::secrets;
use crate::stage::{ALL, Stage};

/// A repository on this machine, with a chart in it. It goes when the test ends.
struct Git(PathBuf);

impl Git {
    fn new() -> Self {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let folder = std::env::temp_dir().join(format!("lynceus-server-git-{}-{number}", std::process::id()));
        let repository = Composition::create(folder.clone(), Layout::Bare).expect("a repository");
        let when = jiff::Timestamp::from_second(1_767_225_600).expect("a time");
        let message = Message { name: "Test", email: "test@example.com", when, text: "One\n" };
        let files = [("web/Chart.yaml", "name: web\nversion: 1.0.0\n"), ("web/values.yaml", "replicas: 2\n")];
        let changes = files.map(|(path, text)| {
            (FilePath::new(path).expect("a path"), Change::Write(text.as_bytes().to_vec()))
        });
        repository.commit("main", &message, changes).expect("a commit");
        Git(folder)
    }

    fn url(&self) -> String {
        format!("file://{}", self.0.display())
    }
}

impl Drop for Git {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn repo(url: &str, more: &[(&str, &str)]) -> Value {
    let mut repo = value!({"repo": url, "type": "git"});
    for (field, text) in more {
        repo.set(&[field], *text);
    }
    value!({"repo": repo})
}

#[tokio::test]
async fn a_repository_is_tried_stored_and_shown_without_what_lets_one_in() {
    let (stage, git) = (Stage::new().await, Git::new());
    let secrets_of = || secrets::of_type(&stage.server, "repository");
    let hidden =
        [("username", "me"), ("password", "hidden1"), ("project", "shop"), ("proxy", "http://a:hidden2@p:1")];
    let made = stage.said(ALL, "RepositoryService.CreateRepository", repo(&git.url(), &hidden)).await;
    assert!(made.contains(&git.url()) && !made.contains("hidden"), "{made}");
    let secret = &secrets_of()[0];
    assert_eq!(secret.name(), format!("repo-{}", secrets::number(&[&git.url(), "shop"])));
    assert_eq!(secrets::text(secret, "password"), "hidden1");
    assert_eq!(secrets::text(secret, "type"), "git");
    for rights in [ALL, "repositories, get, shop/*"] {
        let list = stage.said(rights, "RepositoryService.ListRepositories", value!({})).await;
        assert!(list.contains(r#""status":"Successful""#) && list.contains(r#""username":"me""#), "{list}");
        assert!(!list.contains("hidden"), "{list}");
    }
    for rights in ["repositories, get, other/*", "repositories, get, file://*", "write-repositories, get, *"]
    {
        let list = stage.said(rights, "RepositoryService.List", value!({})).await;
        assert_eq!(list, r#"{"items":[],"metadata":{}}"#, "{rights}");
    }
    let query = value!({"repo": git.url(), "appProject": "shop"});
    let refs = stage.said("repositories, get, shop/*", "RepositoryService.ListRefs", query.clone()).await;
    assert_eq!(refs, r#"{"branches":["main"],"tags":[]}"#);
    assert_eq!(
        stage.said("repositories, get, other/*", "RepositoryService.ListRefs", query.clone()).await,
        "PermissionDenied: permission denied"
    );
    assert_eq!(
        stage.said("repositories, *, shop/*", "RepositoryService.DeleteRepository", query).await,
        "{}"
    );
    assert_eq!(secrets_of().len(), 0);
}

#[tokio::test]
async fn what_cannot_be_read_is_not_stored_and_the_reason_holds_no_secret() {
    let stage = Stage::new().await;
    let gone = repo("file:///nowhere/at/all", &[("password", "hidden1")]);
    let said = stage.said(ALL, "RepositoryService.CreateRepository", gone).await;
    assert!(said.starts_with("FailedPrecondition: the repository cannot be read: "), "{said}");
    let nowhere = stage.said(ALL, "RepositoryService.CreateRepository", repo("file:///nowhere", &[])).await;
    let why = "there is no repository at file:///nowhere";
    assert_eq!(nowhere, format!("FailedPrecondition: the repository cannot be read: {why}"));
    let closed = repo("https://me:hidden2@127.0.0.1:1/a.git", &[("password", "hidden1")]);
    let said = stage.said(ALL, "RepositoryService.CreateRepository", closed).await;
    assert!(said.starts_with("FailedPrecondition: the repository cannot be read: "), "{said}");
    assert!(!said.contains("hidden"), "{said}");
    let validate =
        value!({"repo": "https://127.0.0.1:1/a.git", "password": "hidden1", "sshPrivateKey": "hidden2"});
    let said = stage.said(ALL, "RepositoryService.ValidateAccess", validate.clone()).await;
    assert!(said.starts_with("FailedPrecondition") && !said.contains("hidden"), "{said}");
    assert_eq!(
        stage
            .said("repositories, create, https://elsewhere/*", "RepositoryService.ValidateAccess", validate)
            .await,
        "PermissionDenied: permission denied"
    );
    let script = repo("javascript:alert(1)", &[]);
    assert!(
        stage.said(ALL, "RepositoryService.CreateRepository", script).await.starts_with("InvalidArgument")
    );
    assert_eq!(secrets::of_type(&stage.server, "repository").len(), 0);
}

#[tokio::test]
async fn one_that_is_registered_already_is_tried_as_well() {
    let (stage, git) = (Stage::new().await, Git::new());
    let request = repo(&git.url(), &[]);
    let create = || stage.said(ALL, "RepositoryService.CreateRepository", request.clone());
    assert!(create().await.contains(r#""status":"Successful""#));
    assert!(create().await.contains(r#""status":"Successful""#), "the same again changes nothing");
    let url = git.url();
    drop(git);
    let said = create().await;
    assert_eq!(
        said,
        format!("FailedPrecondition: the repository cannot be read: there is no repository at {url}")
    );
}

#[tokio::test]
async fn one_that_is_there_is_replaced_only_with_upsert_and_moved_only_by_those_who_may() {
    let (stage, git) = (Stage::new().await, Git::new());
    let create = |request: Value| stage.said(ALL, "RepositoryService.CreateRepository", request);
    create(repo(&git.url(), &[("project", "shop")])).await;
    let named = repo(&git.url(), &[("project", "shop"), ("name", "web")]);
    assert_eq!(
        create(named.clone()).await,
        "InvalidArgument: existing repository spec is different; use upsert flag to force update"
    );
    let mut upsert = named.clone();
    upsert.set(&["upsert"], true);
    assert!(create(upsert).await.contains(r#""name":"web""#));
    let update = |rights: &'static str, request: Value| {
        stage.said(rights, "RepositoryService.UpdateRepository", request)
    };
    let moved = repo(&git.url(), &[("project", "other")]);
    for rights in ["repositories, *, shop/*", "repositories, *, other/*"] {
        assert_eq!(update(rights, moved.clone()).await, "PermissionDenied: permission denied", "{rights}");
    }
    assert!(update(ALL, moved).await.contains(r#""project":"other""#));
    // The same answer for one that may not be seen and for one that is not there.
    let get =
        |url: String| stage.said("repositories, get, x/*", "RepositoryService.Get", value!({"repo": url}));
    assert_eq!(get(git.url()).await, get("file:///nowhere".to_owned()).await);
}

#[tokio::test]
async fn what_is_in_a_repository_is_told_to_those_whose_project_may_use_it() {
    let (stage, git) = (Stage::new().await, Git::new());
    stage.ask(ALL, "RepositoryService.CreateRepository", repo(&git.url(), &[])).await.unwrap();
    let apps = value!({"repo": git.url(), "revision": "main", "appProject": "default"});
    assert_eq!(
        stage.said(ALL, "RepositoryService.ListApps", apps).await,
        r#"{"items":[{"path":"web","type":"Helm"}]}"#
    );
    let source = value!({"repoURL": git.url(), "path": "web", "targetRevision": "main"});
    let details = value!({"source": source, "appName": "web", "appProject": "default"});
    let said = stage.said(ALL, "RepositoryService.GetAppDetails", details.clone()).await;
    assert!(said.contains(r#""parameters":[{"name":"replicas","value":"2"}]"#), "{said}");
    // Neither without the right to make the application, nor for a project that may not use the repository.
    assert_eq!(
        stage.said("repositories, get, *", "RepositoryService.GetAppDetails", details.clone()).await,
        "PermissionDenied: permission denied"
    );
    let project =
        value!({"project": {"metadata": {"name": "closed"}, "spec": {"sourceRepos": ["https://other/*"]}}});
    stage.ask(ALL, "ProjectService.Create", project).await.unwrap();
    let mut closed = details;
    closed.set(&["appProject"], "closed");
    assert_eq!(
        stage.said(ALL, "RepositoryService.GetAppDetails", closed).await,
        "PermissionDenied: permission denied"
    );
}

#[tokio::test]
async fn repositories_that_are_written_to_have_rights_and_secrets_of_their_own() {
    let (stage, git) = (Stage::new().await, Git::new());
    let request = repo(&git.url(), &[("username", "me"), ("password", "hidden")]);
    assert_eq!(
        stage.said("repositories, *, *", "RepositoryService.CreateWriteRepository", request.clone()).await,
        "PermissionDenied: permission denied"
    );
    stage.ask("write-repositories, *, *", "RepositoryService.CreateWriteRepository", request).await.unwrap();
    assert_eq!(secrets::of_type(&stage.server, "repository").len(), 0);
    let secret = &secrets::of_type(&stage.server, "repository-write")[0];
    assert_eq!(secret.name(), format!("repo-write-{}", secrets::number(&[&git.url()])));
    let list =
        stage.said("write-repositories, get, *", "RepositoryService.ListWriteRepositories", value!({})).await;
    assert!(list.contains(&git.url()) && !list.contains("hidden"), "{list}");
}

#[tokio::test]
async fn credentials_for_many_repositories_are_kept_and_never_told() {
    let stage = Stage::new().await;
    let creds = |more: &[(&str, &str)]| {
        let mut creds = value!({"url": "https://git.example.com/shop", "type": "git"});
        for (field, text) in more {
            creds.set(&[field], *text);
        }
        value!({"creds": creds})
    };
    let first = creds(&[("username", "me"), ("password", "hidden1")]);
    let said = |rights: &'static str, method: &'static str, request: Value| {
        let stage = &stage;
        async move { stage.said(rights, &format!("RepoCredsService.{method}"), request).await }
    };
    let made = said(ALL, "CreateRepositoryCredentials", first.clone()).await;
    assert_eq!(made, r#"{"type":"git","url":"https://git.example.com/shop","username":"me"}"#);
    let secret = secrets::of_type(&stage.server, "repo-creds")[0].clone();
    assert_eq!(secret.name(), format!("creds-{}", secrets::number(&["https://git.example.com/shop"])));
    let other = creds(&[("sshPrivateKey", "hidden2"), ("username", "token-as-user")]);
    assert_eq!(
        said(ALL, "CreateRepositoryCredentials", other.clone()).await,
        "InvalidArgument: existing repository credentials spec is different; use upsert flag to force update"
    );
    // A name without a password may be a token.
    assert_eq!(
        said(ALL, "UpdateRepositoryCredentials", other).await,
        r#"{"type":"git","url":"https://git.example.com/shop"}"#
    );
    let secret = &secrets::of_type(&stage.server, "repo-creds")[0];
    assert_eq!(
        (secrets::text(secret, "password"), secrets::text(secret, "sshPrivateKey")),
        (String::new(), "hidden2".to_owned())
    );
    let list = said(ALL, "ListRepositoryCredentials", value!({})).await;
    assert!(list.contains("git.example.com") && !list.contains("hidden"), "{list}");
    let none = said("repositories, get, https://other/*", "ListRepositoryCredentials", value!({})).await;
    assert_eq!(none, r#"{"items":[],"metadata":{}}"#);
    let url = value!({"url": "https://git.example.com/shop"});
    assert_eq!(
        said("repositories, delete, https://other/*", "DeleteRepositoryCredentials", url.clone()).await,
        "PermissionDenied: permission denied"
    );
    assert_eq!(said(ALL, "DeleteRepositoryCredentials", url).await, "{}");
    assert_eq!(json::to_string(&value!(secrets::of_type(&stage.server, "repo-creds").len())), "0");
}
