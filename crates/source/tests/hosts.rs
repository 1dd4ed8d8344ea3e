//! Hosts of repositories, from servers in this process that speak their APIs.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod support;

use std::sync::Arc;

use lynceus_api::{PullRequestGenerator, ScmProviderGenerator};
use lynceus_object::{json, to_typed, value, yaml};
use lynceus_source::{
    Aws, GithubApp, Scm, ScmError, ScmKeys, ScmPullRequest, ScmRepository, ScmRules, Settings,
};
use support::web_server::{Reply, Seen, WebServer};

fn scm() -> Scm {
    Scm::new(Settings { environment_proxy: false, ..Settings::default() }, Aws::default())
}

fn keys() -> ScmKeys {
    ScmKeys { token: "hush".into(), ..ScmKeys::default() }
}

fn provider(text: &str, server: &WebServer) -> ScmProviderGenerator {
    to_typed(&yaml::parse_str(&text.replace("API", &server.url(""))).unwrap()).unwrap()
}

fn pulls(text: &str, server: &WebServer) -> PullRequestGenerator {
    to_typed(&yaml::parse_str(&text.replace("API", &server.url(""))).unwrap()).unwrap()
}

/// `organization/repository id url branch sha labels` of each.
fn lines(found: &[ScmRepository]) -> Vec<String> {
    let line = |one: &ScmRepository| {
        let id = one.id.as_ref().map(ToString::to_string).unwrap_or_default();
        let (organization, repository) = (&one.organization, &one.repository);
        let text = format!(
            "{organization}/{repository} {id} {} {} {} {}",
            one.url,
            one.branch,
            one.sha,
            one.labels.join(",")
        );
        text.trim_end().to_owned()
    };
    found.iter().map(line).collect()
}

fn requests(found: &[ScmPullRequest]) -> Vec<String> {
    let line = |one: &ScmPullRequest| {
        format!(
            "{} {} {}->{} {} {} {}",
            one.number,
            one.title,
            one.branch,
            one.target_branch,
            one.head_sha,
            one.author,
            one.labels.join(",")
        )
    };
    found.iter().map(|one| line(one).trim_end().to_owned()).collect()
}

/// All that a host is asked for in turn: repositories, branches of the first, and two paths.
async fn told(text: &str, server: &WebServer, keys: &ScmKeys) -> Vec<String> {
    let (scm, rules, provider) = (scm(), ScmRules::default(), provider(text, server));
    let found = scm.repositories(&provider, keys, &rules).await.unwrap();
    let mut told = lines(&found);
    let branches = scm.branches(&provider, &found[0], keys, &rules).await.unwrap();
    told.extend(lines(&branches).into_iter().map(|line| format!("branch {line}")));
    for path in ["apps/web", "none"] {
        let has = scm.has_path(&provider, &branches[0], path, keys, &rules).await.unwrap();
        told.push(format!("{path} {has}"));
    }
    told
}

/// The part of a path before its query, and whether the query has a pair.
fn asked(seen: &Seen) -> (&str, impl Fn(&str) -> bool) {
    let (path, query) = seen.path.split_once('?').unwrap_or((&seen.path, ""));
    (path, move |pair: &str| query.split('&').any(|one| one == pair))
}

fn github(seen: &Seen) -> Reply {
    assert_eq!(seen.authorization(), Some("Bearer hush"));
    let (path, has) = asked(seen);
    let repository = |name: &str, id: i64, archived: bool| {
        json::to_string(
            &value!({"id": id, "name": name, "owner": {"login": "acme"}, "default_branch": "main", "archived": archived,
            "ssh_url": format!("git@h:acme/{name}.git"), "clone_url": format!("https://h/acme/{name}.git"), "topics": ["a", "b"]}),
        )
    };
    let host = seen.header("host").unwrap().to_owned();
    match path {
        "/api/v3/orgs/acme/repos" if has("page=2") => {
            Reply::ok(format!("[{},{}]", repository("web", 2, false), repository("old", 3, true)))
        }
        "/api/v3/orgs/acme/repos" => Reply::ok(format!("[{}]", repository("shop", 1, false))).header(
            "link",
            format!(
                "<http://{host}{path}?per_page=100&page=2>; rel=\"next\", <http://{host}/x>; rel=\"last\""
            ),
        ),
        "/api/v3/repos/acme/shop/branches/main" => Reply::ok(r#"{"name": "main", "commit": {"sha": "c1"}}"#),
        "/api/v3/repos/acme/shop/branches" => Reply::ok(
            r#"[{"name": "main", "commit": {"sha": "c1"}}, {"name": "f/x", "commit": {"sha": "c2"}}]"#,
        ),
        "/api/v3/repos/acme/shop/contents/apps/web" if has("ref=main") => Reply::ok("[]"),
        "/api/v3/repos/acme/shop/pulls" => Reply::ok(
            r#"[{"number": 7, "title": "T", "head": {"ref": "f", "sha": "c3"}, "base": {"ref": "main"}, "user": {"login": "ada"}, "labels": [{"name": "preview"}]},
                {"number": 8, "title": "U", "head": {"ref": "g", "sha": "c4"}, "base": {"ref": "main"}, "user": {"login": "ada"}, "labels": []}]"#,
        ),
        _ => Reply::status(404),
    }
}

#[tokio::test]
async fn github_names_its_next_page() {
    let server = WebServer::start(github).await;
    assert_eq!(
        told("github: {organization: acme, api: API, excludeArchivedRepos: true}", &server, &keys()).await,
        [
            "acme/shop 1 git@h:acme/shop.git main  a,b",
            "acme/web 2 git@h:acme/web.git main  a,b",
            "branch acme/shop 1 git@h:acme/shop.git main c1 a,b",
            "apps/web true",
            "none false",
        ]
    );
    let all = told(
        "{cloneProtocol: https, github: {organization: acme, api: API, allBranches: true}}",
        &server,
        &keys(),
    )
    .await;
    assert_eq!(all[2], "acme/old 3 https://h/acme/old.git main  a,b");
    assert_eq!(all[4], "branch acme/shop 1 https://h/acme/shop.git f/x c2 a,b");
    let asked = pulls("github: {owner: acme, repo: shop, api: API, labels: [preview]}", &server);
    let found = scm().pull_requests(&asked, &keys(), &ScmRules::default()).await.unwrap();
    assert_eq!(requests(&found), ["7 T f->main c3 ada preview"]);
}

#[tokio::test]
async fn an_app_of_github_gets_a_token_with_its_key_once() {
    let server = WebServer::start(|seen| match asked(seen).0 {
        "/api/v3/orgs/acme/installation" => Reply::ok(r#"{"id": 42}"#),
        "/api/v3/app/installations/42/access_tokens" => {
            let proof = seen.authorization().unwrap().strip_prefix("Bearer ").unwrap().to_owned();
            assert_eq!(proof.split('.').count(), 3);
            Reply { status: 201, ..Reply::ok(r#"{"token": "hush"}"#) }
        }
        _ => github(seen),
    })
    .await;
    let key = include_str!("keys/rsa-pkcs1.pem");
    let app = GithubApp { id: "1".to_owned(), private_key: key.into(), ..GithubApp::default() };
    let keys = ScmKeys { app: Some(app), ..ScmKeys::default() };
    let (scm, rules) = (scm(), ScmRules::default());
    let provider = provider("github: {organization: acme, api: API}", &server);
    for _ in 0..2 {
        assert_eq!(scm.repositories(&provider, &keys, &rules).await.unwrap().len(), 3);
    }
    let tokens = server.take_paths().into_iter().filter(|path| path.ends_with("access_tokens")).count();
    assert_eq!(tokens, 1);
}

#[tokio::test]
async fn gitlab_numbers_its_next_page() {
    let server = WebServer::start(|seen| {
        assert_eq!(seen.header("private-token"), Some("hush"));
        let (path, has) = asked(seen);
        let project = |id: i64, name: &str| {
            format!(r#"{{"id": {id}, "path": "{name}", "namespace": {{"full_path": "acme/team"}}, "default_branch": "main", "topics": ["t"],
                "ssh_url_to_repo": "git@h:acme/{name}.git", "http_url_to_repo": "https://h/acme/{name}.git"}}"#)
        };
        match path {
            "/api/v4/groups/acme%2Fteam/projects" if has("page=2") => Reply::ok(format!("[{}]", project(2, "web"))),
            "/api/v4/groups/acme%2Fteam/projects" => {
                assert!(has("include_subgroups=true") && has("archived=false") && has("topic=t"));
                Reply::ok(format!("[{}]", project(1, "shop"))).header("x-next-page", "2")
            }
            "/api/v4/projects/1/repository/branches/main" => Reply::ok(r#"{"name": "main", "commit": {"id": "c1"}}"#),
            "/api/v4/projects/1/repository/tree" if has("path=apps") => Reply::ok(r#"[{"path": "apps/web"}]"#),
            "/api/v4/projects/1/repository/tree" => Reply::ok("[]"),
            "/api/v4/projects/acme%2Fteam%2Fshop/merge_requests" => {
                assert!(has("labels=a%2Cb") && has("state=opened"));
                Reply::ok(r#"[{"iid": 7, "title": "T", "source_branch": "f", "target_branch": "main", "sha": "c3", "author": {"username": "ada"}, "labels": ["a", "b"]}]"#)
            }
            _ => Reply::status(404),
        }
    })
    .await;
    assert_eq!(
        told("gitlab: {group: acme/team, api: API, includeSubgroups: true, topic: t}", &server, &keys())
            .await,
        [
            "acme/team/shop 1 git@h:acme/shop.git main  t",
            "acme/team/web 2 git@h:acme/web.git main  t",
            "branch acme/team/shop 1 git@h:acme/shop.git main c1 t",
            "apps/web true",
            "none false",
        ]
    );
    let asked = pulls(
        "gitlab: {project: acme/team/shop, api: API, labels: [a, b], pullRequestState: opened}",
        &server,
    );
    let found = scm().pull_requests(&asked, &keys(), &ScmRules::default()).await.unwrap();
    assert_eq!(requests(&found), ["7 T f->main c3 ada a,b"]);
}

#[tokio::test]
async fn gitea_is_asked_until_a_page_is_empty() {
    let server = WebServer::start(|seen| {
        assert_eq!(seen.authorization(), Some("token hush"));
        let (path, has) = asked(seen);
        match path {
            "/api/v1/orgs/acme/repos" if has("page=1") => {
                Reply::ok(r#"[{"id": 1, "name": "shop", "default_branch": "main", "ssh_url": "git@h:acme/shop.git", "clone_url": "https://h/acme/shop.git"}]"#)
            }
            "/api/v1/orgs/acme/repos" => Reply::ok("[]"),
            "/api/v1/repos/acme/shop/labels" if has("page=1") => Reply::ok(r#"[{"name": "l"}]"#),
            "/api/v1/repos/acme/shop/labels" => Reply::ok("[]"),
            "/api/v1/repos/acme/shop/branches/main" => Reply::ok(r#"{"name": "main", "commit": {"id": "c1"}}"#),
            "/api/v1/repos/acme/shop/contents/apps/web" => Reply::ok("{}"),
            _ => Reply::status(404),
        }
    })
    .await;
    assert_eq!(
        told("gitea: {owner: acme, api: API}", &server, &keys()).await,
        [
            "acme/shop 1 git@h:acme/shop.git main  l",
            "branch acme/shop 1 git@h:acme/shop.git main c1 l",
            "apps/web true",
            "none false",
        ]
    );
}

#[tokio::test]
async fn bitbucket_server_says_where_its_next_page_begins() {
    let server = WebServer::start(|seen| {
        assert_eq!(seen.authorization(), Some("Basic bWU6aHVzaA=="));
        let (path, has) = asked(seen);
        let repository = |id: i64, slug: &str| {
            format!(r#"{{"id": {id}, "slug": "{slug}", "name": "{slug}", "project": {{"key": "ACME"}}, "links": {{"clone": [{{"name": "ssh", "href": "ssh://h/{slug}.git"}}, {{"name": "http", "href": "https://h/{slug}.git"}}]}}}}"#)
        };
        match path {
            "/rest/api/1.0/projects/ACME/repos" if has("start=1") => {
                Reply::ok(format!(r#"{{"values": [{}], "isLastPage": true}}"#, repository(2, "empty")))
            }
            "/rest/api/1.0/projects/ACME/repos" => {
                Reply::ok(format!(r#"{{"values": [{}], "isLastPage": false, "nextPageStart": 1}}"#, repository(1, "shop")))
            }
            "/rest/api/1.0/projects/ACME/repos/shop/branches/default" => Reply::ok(r#"{"displayId": "main"}"#),
            "/rest/api/1.0/projects/ACME/repos/empty/branches/default" => Reply::status(204),
            "/rest/api/1.0/projects/ACME/repos/shop/branches" => {
                Reply::ok(r#"{"values": [{"displayId": "main", "latestCommit": "c1"}, {"displayId": "f", "latestCommit": "c2"}], "isLastPage": true}"#)
            }
            "/rest/api/1.0/projects/ACME/repos/shop/browse/apps/web" if has("at=main") => Reply::ok("{}"),
            "/rest/api/1.0/projects/ACME/repos/shop/pull-requests" => Reply::ok(
                r#"{"values": [{"id": 7, "title": "T", "fromRef": {"displayId": "f", "latestCommit": "c3"}, "toRef": {"displayId": "main"}, "author": {"user": {"name": "ada"}}}], "isLastPage": true}"#,
            ),
            _ => Reply::status(404),
        }
    })
    .await;
    let me = ScmKeys { username: "me".to_owned(), ..keys() };
    assert_eq!(
        told("bitbucketServer: {project: ACME, api: API}", &server, &me).await,
        [
            "ACME/shop 1 ssh://h/shop.git main",
            "ACME/empty 2 ssh://h/empty.git",
            "branch ACME/shop 1 ssh://h/shop.git main c1",
            "apps/web true",
            "none false",
        ]
    );
    let asked = pulls("bitbucketServer: {project: ACME, repo: shop, api: API}", &server);
    let found = scm().pull_requests(&asked, &me, &ScmRules::default()).await.unwrap();
    assert_eq!(requests(&found), ["7 T f->main c3 ada"]);
}

#[tokio::test]
async fn pull_requests_of_bitbucket_cloud_hold_the_address_of_the_next_page() {
    let server = WebServer::start(|seen| {
        assert_eq!(seen.authorization(), Some("Bearer hush"));
        let (path, has) = asked(seen);
        let item = |id: i64| {
            format!(r#"{{"id": {id}, "title": "T", "source": {{"branch": {{"name": "f"}}, "commit": {{"hash": "c3"}}}}, "destination": {{"branch": {{"name": "main"}}}}, "author": {{"nickname": "ada"}}}}"#)
        };
        let host = seen.header("host").unwrap();
        match path {
            "/repositories/acme/shop/pullrequests" if has("page=2") => Reply::ok(format!(r#"{{"values": [{}]}}"#, item(8))),
            "/repositories/acme/shop/pullrequests" => {
                Reply::ok(format!(r#"{{"values": [{}], "next": "http://{host}{path}?page=2"}}"#, item(7)))
            }
            _ => Reply::status(404),
        }
    })
    .await;
    let asked = pulls("bitbucket: {owner: acme, repo: shop, api: API}", &server);
    let found = scm().pull_requests(&asked, &keys(), &ScmRules::default()).await.unwrap();
    assert_eq!(requests(&found), ["7 T f->main c3 ada", "8 T f->main c3 ada"]);
}

#[tokio::test]
async fn azure_counts_what_it_has_told() {
    let server = WebServer::start(|seen| {
        assert_eq!(seen.authorization(), Some("Basic Omh1c2g="));
        let (path, has) = asked(seen);
        let pull = |id: i64| {
            format!(r#"{{"pullRequestId": {id}, "title": "T", "sourceRefName": "refs/heads/f", "targetRefName": "refs/heads/main", "lastMergeSourceCommit": {{"commitId": "c3"}}, "createdBy": {{"uniqueName": "ada@x"}}, "labels": [{{"name": "l"}}]}}"#)
        };
        match path {
            "/acme/team/_apis/git/repositories" => Reply::ok(
                r#"{"value": [{"id": "u1", "name": "shop", "remoteUrl": "https://h/shop", "sshUrl": "git@h/shop", "defaultBranch": "refs/heads/main"}, {"id": "u2", "name": "off", "remoteUrl": "https://h/off", "defaultBranch": "refs/heads/main", "isDisabled": true}, {"id": "u3", "name": "empty", "remoteUrl": "x"}]}"#,
            ),
            "/acme/team/_apis/git/repositories/u1/stats/branches" if has("name=main") => {
                Reply::ok(r#"{"name": "main", "commit": {"commitId": "c1"}}"#)
            }
            "/acme/team/_apis/git/repositories/u1/items" if has("path=apps%2Fweb") => Reply::ok("{}"),
            "/acme/team/_apis/git/repositories/shop/pullrequests" => {
                let (from, count) = if has("%24skip=100") { (100, 1) } else { (0, 100) };
                let items: Vec<String> = (from..from + count).map(pull).collect();
                Reply::ok(format!(r#"{{"value": [{}]}}"#, items.join(",")))
            }
            _ => Reply::status(404),
        }
    })
    .await;
    assert_eq!(
        told("azureDevOps: {organization: acme, teamProject: team, api: API}", &server, &keys()).await,
        [
            "acme/shop u1 https://h/shop main",
            "branch acme/shop u1 https://h/shop main c1",
            "apps/web true",
            "none false",
        ]
    );
    let asked =
        pulls("azuredevops: {organization: acme, project: team, repo: shop, api: API, labels: [l]}", &server);
    let found = scm().pull_requests(&asked, &keys(), &ScmRules::default()).await.unwrap();
    assert_eq!((found.len(), requests(&found)[100].as_str()), (101, "100 T f->main c3 ada l"));
}

#[tokio::test]
async fn code_commit_is_asked_with_signed_requests() {
    let server = WebServer::start(|seen| {
        let authorization = seen.authorization().unwrap();
        assert!(authorization.starts_with("AWS4-HMAC-SHA256 Credential=AKID/"), "{authorization}");
        assert!(authorization.contains("/eu-central-1/") && !authorization.contains("hush"), "{authorization}");
        match seen.header("x-amz-target").unwrap() {
            "CodeCommit_20150413.ListRepositories" => Reply::ok(r#"{"repositories": [{"repositoryName": "shop"}]}"#),
            "CodeCommit_20150413.BatchGetRepositories" => Reply::ok(
                r#"{"repositories": [{"accountId": "1", "repositoryName": "shop", "repositoryId": "u1", "cloneUrlHttp": "https://h/shop", "cloneUrlSsh": "ssh://h/shop", "defaultBranch": "main"}]}"#,
            ),
            "CodeCommit_20150413.GetBranch" => Reply::ok(r#"{"branch": {"branchName": "main", "commitId": "c1"}}"#),
            "CodeCommit_20150413.GetFolder" => Reply::ok(r#"{"subFolders": [{"absolutePath": "apps/web"}]}"#),
            _ => Reply { status: 400, ..Reply::ok(r#"{"__type": "AccessDeniedException"}"#) },
        }
    })
    .await;
    let aws = Aws {
        access_key: "AKID".to_owned(),
        secret_key: "hush".into(),
        endpoint: server.url("/"),
        ..Aws::default()
    };
    let scm = Scm::new(Settings { environment_proxy: false, ..Settings::default() }, aws);
    let asked = provider("awsCodeCommit: {region: eu-central-1}", &server);
    let (none, rules) = (ScmKeys::default(), ScmRules::default());
    let found = scm.repositories(&asked, &none, &rules).await.unwrap();
    assert_eq!(lines(&found), ["1/shop u1 https://h/shop main"]);
    let branches = scm.branches(&asked, &found[0], &none, &rules).await.unwrap();
    assert_eq!(lines(&branches), ["1/shop u1 https://h/shop main c1"]);
    assert!(scm.has_path(&asked, &branches[0], "apps/web", &none, &rules).await.unwrap());
    assert!(!scm.has_path(&asked, &branches[0], "apps/none", &none, &rules).await.unwrap());
    let tagged = provider("awsCodeCommit: {region: eu-central-1, tagFilters: [{key: a}]}", &server);
    let error = scm.repositories(&tagged, &none, &rules).await.unwrap_err();
    assert!(matches!(error, ScmError::Refused { .. }), "{error}");
}

/// What a host says instead of an answer, and how that is told.
#[tokio::test]
async fn what_a_host_says_instead_is_told_without_its_credentials() {
    for (reply, expected) in [
        (Reply::status(401), "answers 401"),
        (Reply::status(403), "check that the token is valid"),
        (Reply::status(404), "of localhost"),
        (Reply::status(500), "answers 500"),
        (Reply::status(429), "lets us ask no more until"),
        (Reply::status(403).header("retry-after", "60"), "lets us ask no more until"),
        (Reply::status(403).header("x-ratelimit-remaining", "0"), "lets us ask no more until"),
        (Reply::ok(""), "it is empty"),
        (Reply::ok("{"), "cannot be read"),
        (Reply::ok("{}"), "is not a list"),
        (Reply::ok("[{\"id\": 1}]"), "an item has no owner.login"),
        (Reply::ok("[").cut(0), "localhost"),
        (Reply::ok("[]").header("link", "<http://[>; rel=\"next\""), "its Link header leads nowhere"),
    ] {
        let server = WebServer::start(move |_| reply.clone()).await;
        let asked = provider("github: {organization: acme, api: API}", &server);
        let error = scm().repositories(&asked, &keys(), &ScmRules::default()).await.unwrap_err().to_string();
        assert!(error.contains(expected) && !error.contains("hush"), "{error}");
    }
}

#[tokio::test]
async fn a_host_that_was_asked_too_often_is_left_alone() {
    let server = WebServer::start(|_| Reply::status(429).header("retry-after", "3600")).await;
    let (scm, rules) = (scm(), ScmRules::default());
    let asked = provider("github: {organization: acme, api: API}", &server);
    let first = scm.repositories(&asked, &keys(), &rules).await.unwrap_err();
    let second = scm.repositories(&asked, &keys(), &rules).await.unwrap_err();
    assert_eq!(first, second);
    assert_eq!(server.take_paths().len(), 1);
}

#[tokio::test]
async fn credentials_stay_with_their_host() {
    let other = Arc::new(WebServer::start(|_| Reply::ok("[]")).await);
    let elsewhere = other.url("/").replace("localhost", "127.0.0.1");
    let server = WebServer::start({
        let elsewhere = elsewhere.clone();
        move |_| Reply::redirect(elsewhere.clone())
    })
    .await;
    let (rules, asked) = (ScmRules::default(), provider("github: {organization: acme, api: API}", &server));
    let error = scm().repositories(&asked, &keys(), &rules).await.unwrap_err().to_string();
    assert!(error.contains("redirects to another host"), "{error}");
    assert!(other.seen().is_empty());
    // A next page elsewhere is asked for as anybody may.
    let server =
        WebServer::start(move |_| Reply::ok("[]").header("link", format!("<{elsewhere}>; rel=\"next\"")))
            .await;
    let asked = provider("github: {organization: acme, api: API}", &server);
    assert!(scm().repositories(&asked, &keys(), &rules).await.unwrap().is_empty());
    assert_eq!(other.seen().len(), 1);
    assert_eq!(other.seen()[0].authorization(), None);
}

#[tokio::test]
async fn a_host_may_be_forbidden() {
    let server = WebServer::start(github).await;
    let asked = provider("github: {organization: acme, api: API}", &server);
    let only = |allowed: &[&str]| ScmRules {
        allowed: allowed.iter().map(|one| (*one).into()).collect(),
        ..ScmRules::default()
    };
    let error = scm().repositories(&asked, &keys(), &only(&["https://git.example.com"])).await.unwrap_err();
    assert!(matches!(error, ScmError::NotAllowed { .. }), "{error}");
    assert!(scm().repositories(&asked, &keys(), &only(&[&server.url("")])).await.is_ok());
    let none = ScmRules { enabled: false, ..ScmRules::default() };
    assert_eq!(scm().repositories(&asked, &keys(), &none).await.unwrap_err(), ScmError::Disabled);
}

#[tokio::test]
async fn a_file_with_certificates_has_to_be_there_and_is_for_hosts_that_are_named() {
    let server = WebServer::start(|_| Reply::ok("[]").header("x-total-count", "0")).await;
    let asked = provider("gitea: {owner: acme, api: API}", &server);
    let rules = ScmRules { authority_file: "/nowhere/ca.crt".into(), ..ScmRules::default() };
    let error = scm().repositories(&asked, &keys(), &rules).await.unwrap_err().to_string();
    assert!(
        error.starts_with(
            "the file /nowhere/ca.crt of applicationsetcontroller.scm.root.ca.path cannot be used"
        ),
        "{error}"
    );
    let folder = std::env::temp_dir().join(format!("lynceus-hosts-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let file = folder.join("ca.crt");
    std::fs::write(&file, "no certificate").unwrap();
    let rules =
        ScmRules { authority_file: file.display().to_string().as_str().into(), ..ScmRules::default() };
    let answer = scm().repositories(&asked, &keys(), &rules).await;
    std::fs::remove_dir_all(&folder).unwrap();
    assert!(answer.is_err(), "what is in it has to be certificates");
}

#[tokio::test]
async fn a_list_that_never_ends_is_cut_off() {
    let server = WebServer::start(|seen| {
        let host = seen.header("host").unwrap();
        let next = format!("<http://{host}{}>; rel=\"next\"", seen.path);
        Reply::ok("[]").header("link", next)
    })
    .await;
    let asked = provider("github: {organization: acme, api: API}", &server);
    let error = scm().repositories(&asked, &keys(), &ScmRules::default()).await.unwrap_err();
    assert!(matches!(error, ScmError::TooMuch { .. }), "{error}");
}

/// What is missing of a list would pass for deleted, so it has to be told.
#[tokio::test]
async fn an_answer_without_its_list_is_no_empty_list() {
    let server = WebServer::start(|seen| match asked(seen).0 {
        path if path.ends_with("/pull-requests") => Reply::ok(r#"{"values": []}"#),
        path if path.ends_with("/pulls") => Reply::ok(
            r#"[{"number": 7, "title": "T", "head": {"ref": "f", "sha": "c"}, "base": {"ref": "m"}, "labels": {}}]"#,
        )
        .header("x-total-count", "1"),
        _ => Reply::ok(r#"{"message": "hello"}"#),
    })
    .await;
    for (generator, expected) in [
        ("bitbucketServer: {project: P, repo: shop, api: API}", "it has no isLastPage"),
        (
            "github: {owner: acme, repo: shop, api: API, labels: [preview]}",
            "labels of an item cannot be read",
        ),
        ("gitea: {owner: acme, repo: shop, api: API}", "labels of an item cannot be read"),
        ("gitlab: {project: acme/shop, api: API}", "it is not a list"),
    ] {
        let error = scm().pull_requests(&pulls(generator, &server), &keys(), &ScmRules::default()).await;
        let error = error.unwrap_err().to_string();
        assert!(error.contains(expected), "{generator}: {error}");
    }
    let aws = Aws {
        access_key: "AKID".to_owned(),
        secret_key: "hush".into(),
        endpoint: server.url("/"),
        ..Aws::default()
    };
    let scm = Scm::new(Settings { environment_proxy: false, ..Settings::default() }, aws);
    let (none, rules) = (ScmKeys::default(), ScmRules::default());
    let asked = provider("awsCodeCommit: {region: eu-central-1, allBranches: true}", &server);
    let error = scm.repositories(&asked, &none, &rules).await.unwrap_err().to_string();
    assert!(error.contains("repositories is not a list"), "{error}");
    let shop = ScmRepository { repository: "shop".into(), ..ScmRepository::default() };
    let error = scm.branches(&asked, &shop, &none, &rules).await.unwrap_err().to_string();
    assert!(error.contains("branches is not a list"), "{error}");
    let error = scm.has_path(&asked, &shop, "a", &none, &rules).await.unwrap_err().to_string();
    assert!(error.contains("it lists nothing of a folder"), "{error}");
}
