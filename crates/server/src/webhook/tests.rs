#![allow(clippy::unwrap_used, reason = "a test that cannot go on has to stop")]

use axum::body::Body;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Request, StatusCode};
use lynceus_object::{Value, json, value};
use ring::hmac;
use tower::ServiceExt as _;

use super::secret::Secrets;
use super::{read, refresh, route};
use crate::stage::Stage;

fn headers(pairs: &[(&str, &str)]) -> HeaderMap {
    pairs
        .iter()
        .map(|(name, text)| (name.parse::<HeaderName>().unwrap(), HeaderValue::from_str(text).unwrap()))
        .collect()
}

fn hex(algorithm: hmac::Algorithm, secret: &str, body: &[u8]) -> String {
    let tag = hmac::sign(&hmac::Key::new(algorithm, secret.as_bytes()), body);
    tag.as_ref().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// What a webhook without secrets comes to, a line for each event.
fn said(pairs: &[(&str, &str)], body: &Value) -> String {
    match read(&Secrets::default(), &headers(pairs), &json::to_vec(body)) {
        Err((status, why)) => format!("{}: {why}", status.as_u16()),
        Ok(events) => {
            let lines = events.iter().map(|event| {
                let files = event.files.as_ref().map_or("?".to_owned(), |files| {
                    files.iter().map(String::as_str).collect::<Vec<_>>().join(",")
                });
                let default = if event.is_default { " default" } else { "" };
                format!("{} {}{default} [{files}]", event.urls.join(" "), event.reference)
            });
            lines.collect::<Vec<_>>().join("\n")
        }
    }
}

fn github(reference: &str) -> Value {
    value!({
        "ref": reference,
        "repository": {
            "html_url": "https://github.com/acme/shop", "clone_url": "https://github.com/acme/shop.git",
            "ssh_url": "git@github.com:acme/shop.git", "default_branch": "main",
        },
        "commits": [
            {"added": ["web/a.yaml"], "modified": [], "removed": ["old/b.yaml"]},
            {"added": [], "modified": ["web/a.yaml", "c.yaml"], "removed": []},
        ],
    })
}

/// The same of events of pull requests, which say no more than where.
fn pulled(pairs: &[(&str, &str)], body: &Value) -> Vec<String> {
    let events = read(&Secrets::default(), &headers(pairs), &json::to_vec(body)).unwrap();
    assert!(events.iter().all(|event| event.is_pull), "{events:?}");
    events
        .into_iter()
        .flat_map(|event| event.urls.into_iter().chain([event.id]))
        .filter(|text| !text.is_empty())
        .collect()
}

#[test]
fn pull_requests_of_every_host_are_understood() {
    let mut body = github("");
    body.set(&["action"], "opened");
    let urls =
        ["https://github.com/acme/shop", "https://github.com/acme/shop.git", "git@github.com:acme/shop.git"];
    assert_eq!(pulled(&[("x-github-event", "pull_request")], &body), urls);
    assert_eq!(
        pulled(&[("x-gitea-event", "pull_request_sync"), ("x-github-event", "pull_request")], &body),
        urls
    );
    body.set(&["action"], "assigned");
    assert_eq!(pulled(&[("x-github-event", "pull_request")], &body), [""; 0]);
    let gitlab = value!({"project": {"id": 7, "web_url": "https://gitlab.com/acme/shop"}});
    assert_eq!(
        pulled(&[("x-gitlab-event", "Merge Request Hook")], &gitlab),
        ["https://gitlab.com/acme/shop", "7"]
    );
    let cloud = value!({"repository": {"full_name": "acme/shop"}});
    let key = [("x-hook-uuid", "u"), ("x-event-key", "pullrequest:created")];
    assert_eq!(pulled(&key, &cloud), ["https://bitbucket.org/acme/shop"]);
    let own =
        value!({"pullRequest": {"toRef": {"repository": {"slug": "shop", "project": {"key": "ACME"}}}}});
    assert_eq!(
        pulled(&[("x-event-key", "pr:merged")], &own),
        ["https://bitbucket.invalid/scm/ACME/shop.git"]
    );
    assert_eq!(pulled(&[("x-event-key", "pr:comment:added")], &own), [""; 0]);
    let azure = value!({"eventType": "git.pullrequest.updated", "resource": {"repository": {"remoteUrl": "https://dev.azure.com/acme/team/_git/shop"}}});
    assert_eq!(
        pulled(&[("x-vss-activityid", "a")], &azure),
        ["https://dev.azure.com/acme/team/_git/shop", "git@ssh.dev.azure.com:v3/acme/team/shop"]
    );
    // What does not say of which repository is refused.
    let said = said(&[("x-github-event", "pull_request")], &value!({"action": "opened"}));
    assert!(said.starts_with("400"), "{said}");
}

#[test]
fn each_sender_is_known_by_its_headers_and_understood() {
    assert_eq!(
        said(&[("x-github-event", "push")], &github("refs/heads/main")),
        "https://github.com/acme/shop https://github.com/acme/shop.git git@github.com:acme/shop.git refs/heads/main default \
         [c.yaml,old/b.yaml,web/a.yaml]"
    );
    assert_eq!(said(&[("x-github-event", "ping")], &value!({"zen": "x"})), "");
    let gitlab = value!({
        "ref": "refs/tags/v1", "object_kind": "tag_push", "total_commits_count": 0, "commits": [],
        "project": {"web_url": "https://gitlab.com/acme/shop", "git_http_url": "https://gitlab.com/acme/shop.git",
                    "git_ssh_url": "git@gitlab.com:acme/shop.git", "default_branch": "main"},
    });
    assert_eq!(
        said(&[("x-gitlab-event", "Tag Push Hook")], &gitlab),
        "https://gitlab.com/acme/shop https://gitlab.com/acme/shop.git git@gitlab.com:acme/shop.git refs/tags/v1 [?]"
    );
    // Gitea says that it is GitHub and Gogs, too.
    let gitea = [("x-github-event", "push"), ("x-gogs-event", "push"), ("x-gitea-event", "push")];
    assert!(
        said(&gitea, &github("refs/heads/dev")).ends_with("refs/heads/dev [c.yaml,old/b.yaml,web/a.yaml]")
    );
    let cloud = value!({
        "repository": {"full_name": "acme/shop", "links": {"html": {"href": "https://bitbucket.org/acme/shop"}}},
        "push": {"changes": [
            {"new": {"type": "branch", "name": "main"}}, {"new": null, "old": {"type": "tag", "name": "v0"}},
        ]},
    });
    assert_eq!(
        said(&[("x-event-key", "repo:push"), ("x-hook-uuid", "u")], &cloud),
        "https://bitbucket.org/acme/shop https://bitbucket.org/acme/shop refs/heads/main default [?]\n\
         https://bitbucket.org/acme/shop https://bitbucket.org/acme/shop refs/tags/v0 [?]"
    );
    let server = value!({
        "repository": {"links": {
            "clone": [{"name": "ssh", "href": "ssh://git@bb.local:7999/acme/shop.git"},
                      {"name": "http", "href": "https://bb.local/scm/acme/shop.git"}],
            "self": [{"href": "https://bb.local/projects/ACME/repos/shop/browse"}],
        }},
        "changes": [{"ref": {"id": "refs/heads/main", "displayId": "main", "type": "BRANCH"}}],
    });
    assert_eq!(
        said(&[("x-event-key", "repo:refs_changed")], &server),
        "ssh://git@bb.local:7999/acme/shop.git https://bb.local/scm/acme/shop.git \
         https://bb.local/projects/ACME/repos/shop refs/heads/main default [?]"
    );
    let azure = value!({
        "eventType": "git.push",
        "resource": {
            "refUpdates": [{"name": "refs/heads/main"}, {"name": "refs/heads/dev"}],
            "repository": {"remoteUrl": "https://acme@dev.azure.com/acme/team/_git/shop", "defaultBranch": "refs/heads/main"},
        },
    });
    assert_eq!(
        said(&[("x-vss-activityid", "1")], &azure),
        "https://acme@dev.azure.com/acme/team/_git/shop git@ssh.dev.azure.com:v3/acme/team/shop refs/heads/main default [?]\n\
         https://acme@dev.azure.com/acme/team/_git/shop git@ssh.dev.azure.com:v3/acme/team/shop refs/heads/dev [?]"
    );
    let package = value!({
        "action": "published",
        "package": {"name": "charts/web", "namespace": "acme", "package_type": "CONTAINER",
                    "package_version": {"container_metadata": {"tag": {"name": "1.2.0"}}}},
    });
    assert_eq!(said(&[("x-github-event", "package")], &package), "oci://ghcr.io/acme/charts/web 1.2.0 [?]");
    let harbor = value!({
        "type": "PUSH_ARTIFACT",
        "event_data": {"resources": [{"tag": "1.2.0", "resource_url": "harbor.local/acme/web:1.2.0"}]},
    });
    assert_eq!(said(&[], &harbor), "oci://harbor.local/acme/web 1.2.0 [?]");
    assert_eq!(said(&[], &value!({"hello": "world"})), "400: nobody that is known sends this");
}

#[test]
fn what_is_malformed_is_refused_and_nothing_panics() {
    let senders: [&[(&str, &str)]; 9] = [
        &[("x-github-event", "push")],
        &[("x-github-event", "package")],
        &[("x-gitlab-event", "Push Hook")],
        &[("x-gitlab-event", "System Hook")],
        &[("x-gogs-event", "push")],
        &[("x-event-key", "repo:push"), ("x-hook-uuid", "u")],
        &[("x-event-key", "repo:refs_changed")],
        &[("x-vss-activityid", "1")],
        &[],
    ];
    let bodies = [
        "",
        "null",
        "[]",
        "{}",
        "7",
        "{\"repository\": null}",
        "\"\\ud800\"",
        // A list or text where Bitbucket Server has a map, and the other way round.
        r#"{"repository": {"links": {"clone": "x", "self": {}}}, "changes": []}"#,
        r#"{"repository": {"links": {"clone": [{"href": 7}, null, "x"], "self": [[]]}}, "changes": [null]}"#,
        r#"{"repository": {"links": {"clone": [{"href": "https://h/a"}]}}, "changes": "x"}"#,
        r#"{"repository": {"links": {"clone": [{"href": "https://h/a"}]}}, "changes": [{"ref": []}]}"#,
        // No branch where Azure DevOps always has one.
        r#"{"eventType": "git.push", "resource": {"refUpdates": []}}"#,
        r#"{"eventType": "git.push", "resource": {"repository": {"remoteUrl": "https://h/a"}, "refUpdates": [null, {}]}}"#,
        r#"{"eventType": "git.push", "resource": {"repository": {"remoteUrl": "x"}, "refUpdates": "x"}}"#,
        r#"{"eventType": 7, "resource": []}"#,
        // No repository, or one of the wrong sort, where Gogs has one.
        r#"{"ref": "refs/heads/main", "repository": null, "commits": null}"#,
        r#"{"ref": "refs/heads/main", "repository": {"html_url": null}, "commits": [null, 7, {"added": "x"}]}"#,
        r#"{"ref": 7, "repository": {"html_url": "https://h/a"}}"#,
        r#"{"ref": "", "repository": {"html_url": "https://h/a"}}"#,
        r#"{"push": {"changes": [null, {"new": 7}]}, "repository": {"full_name": "a/b"}}"#,
        r#"{"action": "published", "package": {"package_type": "CONTAINER", "name": null}}"#,
        r#"{"type": "PUSH_ARTIFACT", "event_data": {"resources": [null, {"resource_url": ""}]}}"#,
        r#"{"event_name": "push", "ref": "refs/heads/main", "project": {"web_url": []}}"#,
    ];
    for sender in senders {
        for body in bodies {
            match read(&Secrets::default(), &headers(sender), body.as_bytes()) {
                Err((status, _)) => assert_eq!(status, StatusCode::BAD_REQUEST),
                Ok(events) => {
                    assert!(events.iter().all(|event| !event.reference.is_empty()), "{sender:?} {body}")
                }
            }
        }
    }
    let deep = format!("{}{}", "[".repeat(200_000), "]".repeat(200_000));
    assert!(read(&Secrets::default(), &headers(&[("x-github-event", "push")]), deep.as_bytes()).is_err());
}

#[test]
fn what_is_not_signed_with_the_secret_is_refused() {
    let secrets = Secrets::given(&[
        ("webhook.github.secret", "s1"),
        ("webhook.gitlab.secret", "s2"),
        ("webhook.gogs.secret", "s3"),
        ("webhook.bitbucket.uuid", "s4"),
        ("webhook.bitbucketserver.secret", "s5"),
        ("webhook.azuredevops.username", "me"),
        ("webhook.azuredevops.password", "s6"),
        ("webhook.harbor.secret", "s7"),
    ]);
    let body = br#"{"ref": "refs/heads/main", "eventType": "x", "type": "x", "event_data": {"resources": []},
                    "repository": {"html_url": "https://h/a"}, "project": {"web_url": "https://h/a"}}"#;
    let sha256 = |secret: &str| hex(hmac::HMAC_SHA256, secret, body);
    let sha1 = |secret: &str| hex(hmac::HMAC_SHA1_FOR_LEGACY_USE_ONLY, secret, body);
    let good: Vec<(&str, Vec<(&str, String)>)> = vec![
        (
            "github",
            vec![
                ("x-github-event", "push".into()),
                ("x-hub-signature-256", format!("sha256={}", sha256("s1"))),
            ],
        ),
        (
            "old github",
            vec![("x-github-event", "push".into()), ("x-hub-signature", format!("sha1={}", sha1("s1")))],
        ),
        ("gitlab", vec![("x-gitlab-event", "Push Hook".into()), ("x-gitlab-token", "s2".into())]),
        ("gogs", vec![("x-gogs-event", "push".into()), ("x-gogs-signature", sha256("s3"))]),
        ("bitbucket", vec![("x-event-key", "x".into()), ("x-hook-uuid", "s4".into())]),
        (
            "bitbucket server",
            vec![("x-event-key", "x".into()), ("x-hub-signature", format!("sha256={}", sha256("s5")))],
        ),
        ("azure", vec![("x-vss-activityid", "1".into()), ("authorization", "Basic bWU6czY=".into())]),
        ("harbor", vec![("authorization", "s7".into())]),
    ];
    for (name, pairs) in &good {
        let all: Vec<(&str, &str)> = pairs.iter().map(|(name, text)| (*name, text.as_str())).collect();
        assert!(read(&secrets, &headers(&all), body).is_ok(), "{name}");
        // The proof changed, left out, or of other content.
        let (last, proof) = all[all.len() - 1];
        let wrong = match last {
            "authorization" if proof.starts_with("Basic") => "Basic bWU6czc=".to_owned(),
            _ => format!("{}{}", &proof[..proof.len() - 1], if proof.ends_with('0') { '1' } else { '0' }),
        };
        let mut changed = all.clone();
        changed.pop();
        if name != &"bitbucket" && name != &"harbor" {
            assert!(read(&secrets, &headers(&changed), body).is_err(), "{name} without");
        }
        changed.push((last, &wrong));
        assert!(read(&secrets, &headers(&changed), body).is_err(), "{name} changed");
        if last.contains("signature") {
            let other = String::from_utf8_lossy(body).replace("main", "evil");
            assert!(read(&secrets, &headers(&all), other.as_bytes()).is_err(), "{name} of another");
        }
    }
}

async fn application(stage: &Stage, name: &str, source: Value, paths: &str) {
    let mut application = value!({
        "apiVersion": "argoproj.io/v1alpha1", "kind": "Application", "metadata": {"name": name},
        "spec": {"project": "default", "source": source, "destination": {"server": "https://kubernetes.default.svc"}},
    });
    if !paths.is_empty() {
        application
            .set(&["metadata", "annotations"], value!({"argocd.argoproj.io/manifest-generate-paths": paths}));
    }
    stage.given(&application).await;
}

#[tokio::test]
async fn only_those_look_again_who_follow_what_was_pushed() {
    let stage = Stage::new().await;
    let git = |revision: &str, path: &str| value!({"repoURL": "git@github.com:Acme/shop.git", "targetRevision": revision, "path": path});
    application(&stage, "by-head", git("HEAD", "web"), "").await;
    application(&stage, "by-branch", git("main", "web"), "").await;
    application(&stage, "by-reference", git("refs/heads/main", "web"), "").await;
    application(&stage, "other-branch", git("dev", "web"), "").await;
    application(&stage, "by-range", git("1.*", "web"), "").await;
    application(&stage, "own-path", git("main", "web"), ".").await;
    application(&stage, "shared-path", git("main", "api"), ".;/c.yaml").await;
    application(&stage, "glob-path", git("main", "api"), "/web/*.yaml").await;
    application(&stage, "elsewhere-path", git("main", "api"), ".").await;
    application(
        &stage,
        "other-repository",
        value!({"repoURL": "https://github.com/acme/shop2", "path": "."}),
        "",
    )
    .await;
    application(
        &stage,
        "other-host",
        value!({"repoURL": "https://github.com.evil/acme/shop", "path": "."}),
        "",
    )
    .await;
    application(
        &stage,
        "chart",
        value!({"repoURL": "ghcr.io/acme/charts", "chart": "web", "targetRevision": "1.*"}),
        "",
    )
    .await;
    let told = async |body: &Value, event: &str| {
        let events =
            read(&Secrets::default(), &headers(&[("x-github-event", event)]), &json::to_vec(body)).unwrap();
        refresh::all(&stage.server, &events).await.join(" ")
    };
    assert_eq!(
        told(&github("refs/heads/main"), "push").await,
        "by-branch by-head by-reference glob-path own-path shared-path"
    );
    let marked = stage.stored("Application", "by-head").await.unwrap();
    assert_eq!(marked.annotation("argocd.argoproj.io/refresh"), Some("normal"));
    let untouched = stage.stored("Application", "other-branch").await.unwrap();
    assert_eq!(untouched.annotation("argocd.argoproj.io/refresh"), None);
    assert_eq!(told(&github("refs/tags/1.4.0"), "push").await, "by-range");
    let package = value!({
        "action": "published",
        "package": {"name": "charts/web", "namespace": "acme", "package_type": "CONTAINER",
                    "package_version": {"container_metadata": {"tag": {"name": "1.2.0"}}}},
    });
    assert_eq!(told(&package, "package").await, "chart");
    // An address on this machine cannot be told of from outside.
    let local =
        value!({"ref": "refs/heads/main", "repository": {"html_url": "file:///etc", "clone_url": "/etc"}});
    assert_eq!(told(&local, "push").await, "");
}

#[tokio::test]
async fn a_webhook_needs_no_login_and_may_only_be_so_large() {
    let stage = Stage::new().await;
    stage
        .given(&value!({
            "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "argocd-cm"},
            "data": {"webhook.maxPayloadSizeMB": "1"},
        }))
        .await;
    let post = async |body: Vec<u8>, more: &[(&str, &str)]| {
        let mut request = Request::post("/api/webhook").header("x-github-event", "push");
        for (name, text) in more {
            request = request.header(*name, *text);
        }
        let response =
            route(stage.server.clone()).oneshot(request.body(Body::from(body)).unwrap()).await.unwrap();
        response.status().as_u16()
    };
    assert_eq!(post(json::to_vec(&github("refs/heads/main")), &[]).await, 200);
    assert_eq!(post(b"{".to_vec(), &[]).await, 400);
    assert_eq!(post(vec![b' '; (1 << 20) + 1], &[]).await, 413);
    assert_eq!(post(Vec::new(), &[("content-length", "99999999999")]).await, 413);
    let endless = futures::stream::repeat_with(|| {
        Ok::<_, std::convert::Infallible>(axum::body::Bytes::from_static(&[b' '; 4096]))
    });
    let request = Request::post("/api/webhook")
        .header("x-github-event", "push")
        .body(Body::from_stream(endless))
        .unwrap();
    let response = route(stage.server.clone()).oneshot(request).await.unwrap();
    assert_eq!(response.status(), StatusCode::PAYLOAD_TOO_LARGE);
}
