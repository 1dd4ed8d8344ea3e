//! Chart repositories behind HTTP, from a server in this process.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod support;

use std::io::Write as _;
use std::sync::Arc;
use std::time::Duration;

use lynceus_object::{Object, value};
use lynceus_source::{Access, Book, Repository, Settings, SourceError, Sources, Step};
use sha2::{Digest as _, Sha256};
use support::Scratch;
use support::web_server::{Reply, Seen, WebServer};

fn settings() -> Settings {
    Settings { environment_proxy: false, max_age: Duration::ZERO, ..Settings::default() }
}

fn me() -> Access {
    Access { username: "me".to_owned(), password: "hidden".into(), ..Access::default() }
}

/// `me:hidden` in base64.
const BASIC: &str = "Basic bWU6aGlkZGVu";

/// Something that looks like an archive.
fn archive(text: &str) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(text.as_bytes()).unwrap();
    encoder.finish().unwrap()
}

fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// An index with one chart: each version with its URL and digest.
fn index(versions: &[(&str, &str, &str)]) -> String {
    let mut text = "apiVersion: v1\nentries:\n  web:\n".to_owned();
    for (version, url, digest) in versions {
        text.push_str(&format!(
            "  - name: web\n    version: {version}\n    urls:\n    - {url}\n    digest: \"{digest}\"\n"
        ));
    }
    text
}

/// A repository with the charts `web` 1.0.0 and 1.1.0, whose archives are their names.
fn shop(seen: &Seen) -> Reply {
    match seen.path.as_str() {
        "/index.yaml" => Reply::ok(index(&[
            ("1.0.0", "charts/web-1.0.0.tgz", ""),
            ("1.1.0", "charts/web-1.1.0.tgz", &sha256(&archive("web-1.1.0"))),
            ("2.0.0-rc.1", "charts/web-2.0.0-rc.1.tgz", ""),
        ])),
        path => match path.strip_prefix("/charts/").and_then(|path| path.strip_suffix(".tgz")) {
            Some(name) => Reply::ok(archive(name)),
            None => Reply::status(404),
        },
    }
}

async fn fetch(sources: &Sources, repository: &Repository, wanted: &str) -> Result<Vec<u8>, SourceError> {
    let version = sources.chart_version(repository, "web", wanted).await?;
    Ok(sources.chart_archive(repository, &version).await?.to_vec())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_chart_is_found_fetched_once_and_kept() {
    let scratch = Scratch::new("charts");
    let server = WebServer::start(shop).await;
    let repository = Repository::charts(server.url(""));
    let sources = Sources::new(scratch.path("cache"), settings());
    assert_eq!(sources.charts(&repository).await.unwrap(), ["web"]);
    let versions = sources.chart_versions(&repository, "web").await.unwrap();
    let versions: Vec<&str> = versions.iter().map(|version| version.version.as_str()).collect();
    assert_eq!(versions, ["2.0.0-rc.1", "1.1.0", "1.0.0"]);
    server.take_paths();
    for (wanted, name) in
        [("^1", "web-1.1.0"), ("1.0.0", "web-1.0.0"), ("", "web-1.1.0"), (">1-0", "web-2.0.0-rc.1")]
    {
        assert_eq!(fetch(&sources, &repository, wanted).await.unwrap(), archive(name), "{wanted}");
    }
    let archives: Vec<String> =
        server.take_paths().into_iter().filter(|path| path != "/index.yaml").collect();
    assert_eq!(archives, ["/charts/web-1.1.0.tgz", "/charts/web-1.0.0.tgz", "/charts/web-2.0.0-rc.1.tgz"]);
    // Another process finds the archives as this one left them.
    let sources = Sources::new(scratch.path("cache"), settings());
    assert_eq!(fetch(&sources, &repository, "1.0.0").await.unwrap(), archive("web-1.0.0"));
    assert_eq!(server.take_paths(), ["/index.yaml"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hundred_applications_make_one_request() {
    let scratch = Scratch::new("charts-shared");
    let server = WebServer::start(shop).await;
    let repository = Repository::charts(server.url(""));
    let sources =
        Sources::new(scratch.path("cache"), Settings { max_age: Duration::from_secs(60), ..settings() });
    let work = (0..100).map(|_| {
        let (sources, repository) = (sources.clone(), repository.clone());
        tokio::spawn(async move { fetch(&sources, &repository, "^1").await.unwrap() })
    });
    for answer in futures::future::join_all(work).await {
        assert_eq!(answer.unwrap(), archive("web-1.1.0"));
    }
    assert_eq!(server.take_paths(), ["/index.yaml", "/charts/web-1.1.0.tgz"]);
    sources.forget(&repository);
    fetch(&sources, &repository, "^1").await.unwrap();
    assert_eq!(server.take_paths(), ["/index.yaml"], "a webhook makes the next question go out");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_index_that_has_not_changed_is_not_sent_again() {
    let scratch = Scratch::new("charts-etag");
    let server = WebServer::start(|seen| match seen.header("if-none-match") {
        Some("\"one\"") => Reply::status(304),
        Some(_) => Reply::status(500),
        None => Reply::ok(index(&[("1.0.0", "a", "")])).header("etag", "\"one\""),
    })
    .await;
    let repository = Repository::charts(server.url(""));
    for _ in 0..2 {
        let sources = Sources::new(scratch.path("cache"), settings());
        for _ in 0..2 {
            assert_eq!(sources.charts(&repository).await.unwrap(), ["web"]);
        }
    }
    let marks: Vec<bool> = server.seen().iter().map(|seen| seen.header("if-none-match").is_some()).collect();
    assert_eq!(marks, [false, true, true, true]);
    server.answer_with(|seen| {
        assert_eq!(seen.header("if-none-match"), Some("\"one\""));
        Reply::ok(index(&[("2.0.0", "a", "")])).header("last-modified", "yesterday")
    });
    let sources = Sources::new(scratch.path("cache"), settings());
    assert_eq!(sources.chart_version(&repository, "web", "").await.unwrap().version, "2.0.0");
    server.answer_with(|seen| {
        assert_eq!(seen.header("if-modified-since"), Some("yesterday"));
        Reply::status(304)
    });
    assert_eq!(sources.chart_version(&repository, "web", "").await.unwrap().version, "2.0.0");
    // A damaged file is not asked about, but fetched again.
    let stored = std::fs::read_dir(scratch.path("cache/charts")).unwrap().next().unwrap().unwrap().path();
    for entry in std::fs::read_dir(stored).unwrap().flatten() {
        if entry.file_name().to_string_lossy().ends_with(".yaml") {
            std::fs::write(entry.path(), "entries:\n").unwrap();
        }
    }
    server.answer_with(|seen| {
        assert_eq!(seen.header("if-modified-since"), None);
        Reply::ok(index(&[("3.0.0", "a", "")]))
    });
    let sources = Sources::new(scratch.path("cache"), settings());
    assert_eq!(sources.chart_version(&repository, "web", "").await.unwrap().version, "3.0.0");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_packed_index_is_unpacked_within_the_limit() {
    let scratch = Scratch::new("charts-gzip");
    let server = WebServer::start(|seen| {
        assert_eq!(seen.header("accept-encoding"), Some("gzip"));
        Reply::ok(archive(&index(&[("1.0.0", "a", "")]))).header("content-encoding", "gzip")
    })
    .await;
    let sources = Sources::new(scratch.path("cache"), Settings { max_index_bytes: 100_000, ..settings() });
    assert_eq!(sources.charts(&Repository::charts(server.url(""))).await.unwrap(), ["web"]);
    server.answer_with(|_| Reply::ok(archive(&" ".repeat(1 << 20))).header("content-encoding", "gzip"));
    let error = sources.charts(&Repository::charts(server.url(""))).await.unwrap_err();
    assert!(matches!(error, SourceError::TooLarge { limit: 100_000, .. }), "{error}");
    server.answer_with(|_| Reply::ok("nonsense").header("content-encoding", "gzip"));
    let error = sources.charts(&Repository::charts(server.url(""))).await.unwrap_err();
    assert!(error.to_string().contains("does not answer like a chart repository"), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn credentials_go_to_the_repository_and_to_no_other_host() {
    let scratch = Scratch::new("charts-auth");
    let other = WebServer::start(shop).await;
    let elsewhere = other.url("/charts/web-1.0.0.tgz");
    let server = WebServer::start(move |seen| match seen.path.as_str() {
        _ if seen.authorization() != Some(BASIC) => Reply::status(401),
        "/index.yaml" => {
            Reply::ok(index(&[("1.0.0", &elsewhere, ""), ("1.1.0", "sent-on", ""), ("1.2.0", "own.tgz", "")]))
        }
        "/sent-on" => Reply::redirect(elsewhere.clone()),
        _ => Reply::ok(archive("own")),
    })
    .await;
    let sources = Sources::new(scratch.path("cache"), settings());
    let repository = Repository::charts(server.url("")).with_access(me());
    for (wanted, content) in [("1.0.0", "web-1.0.0"), ("1.1.0", "web-1.0.0"), ("1.2.0", "own")] {
        assert_eq!(fetch(&sources, &repository, wanted).await.unwrap(), archive(content), "{wanted}");
    }
    assert_eq!(other.seen().len(), 2);
    assert!(other.seen().iter().all(|seen| seen.authorization().is_none()));
    // Unless the user wants it so.
    let passing = repository.clone().with_access(Access { pass_credentials: true, ..me() });
    fetch(&sources, &passing, "1.0.0").await.unwrap();
    assert_eq!(other.seen()[2].authorization(), Some(BASIC));
    // Without them, or with wrong ones, nobody is let in, and nothing comes out of the cache.
    for (access, anonymous) in [(Access::default(), true), (Access { password: "x".into(), ..me() }, false)] {
        let error = fetch(&sources, &repository.clone().with_access(access), "1.2.0").await.unwrap_err();
        assert_eq!(error, SourceError::Authentication { url: server.url(""), anonymous });
    }
    // A user in the URL counts too, and is not shown.
    let url = server.url("").replace("://", "://me:hidden@");
    let inline = Repository::charts(url);
    assert_eq!(fetch(&sources, &inline, "1.2.0").await.unwrap(), archive("own"));
    assert!(!format!("{inline:?}").contains("hidden"));
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_leads_from_https_to_http() {
    let scratch = Scratch::new("charts-tls");
    let plain = WebServer::start(shop).await;
    let (to_index, to_chart) = (plain.url("/index.yaml"), plain.url("/charts/web-1.0.0.tgz"));
    let (server, pem) = WebServer::start_tls(move |seen| match seen.path.as_str() {
        "/down/index.yaml" => Reply::redirect(to_index.clone()),
        "/index.yaml" => Reply::ok(index(&[("1.0.0", &to_chart, "")])),
        _ => Reply::status(404),
    })
    .await;
    let access = Access { certificate_authority: pem, ..me() };
    let sources = Sources::new(scratch.path("cache"), settings());
    let error = sources
        .charts(&Repository::charts(server.url("/down")).with_access(access.clone()))
        .await
        .unwrap_err();
    assert!(
        error.to_string().ends_with("does not answer like a chart repository: it redirects to nowhere"),
        "{error}"
    );
    // An archive that the index names is public then, and gets no credentials even if all hosts should.
    let passing =
        Repository::charts(server.url("")).with_access(Access { pass_credentials: true, ..access.clone() });
    assert_eq!(fetch(&sources, &passing, "1.0.0").await.unwrap(), archive("web-1.0.0"));
    assert!(plain.seen().iter().all(|seen| seen.authorization().is_none()));
    let error = sources.charts(&Repository::charts(server.url(""))).await.unwrap_err();
    assert!(matches!(error, SourceError::Certificate { .. }), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_repository_behind_a_proxy_is_asked_through_it() {
    let scratch = Scratch::new("charts-proxy");
    let proxy = WebServer::start(|_| Reply::ok(index(&[("1.0.0", "a", "")]))).await;
    let access = Access { proxy: proxy.url("").replace("://", "://p:hidden@").into(), ..me() };
    let sources = Sources::new(scratch.path("cache"), settings());
    let repository = Repository::charts("http://charts.example/x").with_access(access.clone());
    assert_eq!(sources.charts(&repository).await.unwrap(), ["web"]);
    assert_eq!(proxy.seen()[0].path, "http://charts.example/x/index.yaml");
    assert_eq!(proxy.seen()[0].authorization(), Some(BASIC));
    let server = WebServer::start(shop).await;
    let access = Access { no_proxy: "localhost".to_owned(), ..access };
    let direct = Repository::charts(server.url("")).with_access(access);
    assert_eq!(sources.charts(&direct).await.unwrap(), ["web"]);
    assert_eq!(proxy.seen().len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn urls_of_the_index_are_read_as_helm_reads_them() {
    let scratch = Scratch::new("charts-urls");
    let server = WebServer::start(|seen| match seen.path.split('?').next().unwrap() {
        "/a/b/index.yaml" => Reply::ok(index(&[
            ("1.0.0", "x.tgz", ""),
            ("1.0.1", "sub/x.tgz", ""),
            ("1.0.2", "../x.tgz", ""),
            ("1.0.3", "/x.tgz", ""),
            ("1.0.4", "x.tgz?other=1", ""),
            ("1.0.5", "file:///etc/passwd", ""),
        ])),
        _ => Reply::ok(archive(&seen.path)),
    })
    .await;
    let sources = Sources::new(scratch.path("cache"), settings());
    for (url, query) in [("/a/b", ""), ("/a/b/", ""), ("/a/b?sig=1", "?sig=1")] {
        let repository = Repository::charts(server.url(url));
        for (wanted, path) in [
            ("1.0.0", "/a/b/x.tgz"),
            ("1.0.1", "/a/b/sub/x.tgz"),
            ("1.0.2", "/a/x.tgz"),
            ("1.0.3", "/x.tgz"),
            ("1.0.4", "/a/b/x.tgz"),
        ] {
            let fetched = fetch(&sources, &repository, wanted).await.unwrap();
            assert_eq!(fetched, archive(&format!("{path}{query}")), "{url} {wanted}");
        }
        let error = fetch(&sources, &repository, "1.0.5").await.unwrap_err();
        assert!(error.to_string().contains("charts are not fetched over file"), "{error}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_not_what_was_announced_is_not_taken() {
    let scratch = Scratch::new("charts-digest");
    let server = WebServer::start(|seen| match seen.path.as_str() {
        "/index.yaml" => Reply::ok(index(&[
            ("1.0.0", "a.tgz", &sha256(&archive("b"))),
            ("1.0.1", "a.tgz", "md5:0"),
            ("1.0.2", "page.tgz", ""),
            ("1.0.3", "cut.tgz", ""),
            ("1.0.4", "gone.tgz", ""),
            ("1.0.5", "large.tgz", ""),
        ])),
        "/a.tgz" => Reply::ok(archive("a")),
        "/page.tgz" => Reply::ok("<html></html>"),
        "/cut.tgz" => Reply::ok(archive("a")).cut(5),
        "/large.tgz" => Reply::ok(vec![0; 70_000]),
        _ => Reply::status(404),
    })
    .await;
    let url = server.url("");
    let sources = Sources::new(scratch.path("cache"), Settings { max_chart_bytes: 65_536, ..settings() });
    let repository = Repository::charts(url.clone());
    let error = async |wanted: &str| fetch(&sources, &repository, wanted).await.unwrap_err();
    assert!(matches!(error("1.0.0").await, SourceError::Digest { what, .. } if what == "chart web 1.0.0"));
    assert_eq!(
        error("1.0.1").await.to_string(),
        format!("{url} is damaged: chart web 1.0.1 has the digest \"md5:0\", which is none")
    );
    assert_eq!(
        error("1.0.2").await.to_string(),
        format!("{url} is damaged: chart web 1.0.2 is not an archive")
    );
    assert!(matches!(error("1.0.3").await, SourceError::Unreachable { .. }));
    assert_eq!(
        error("1.0.4").await.to_string(),
        format!("{url} is damaged: it does not have the archive of chart web 1.0.4")
    );
    assert!(matches!(error("1.0.5").await, SourceError::TooLarge { limit: 65_536, .. }));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_no_chart_or_version_is_told_with_what_there_is() {
    let scratch = Scratch::new("charts-missing");
    let server = WebServer::start(shop).await;
    let url = server.url("");
    let sources = Sources::new(scratch.path("cache"), settings());
    let repository = Repository::charts(url.clone());
    let error = sources.chart_version(&repository, "weeb", "").await.unwrap_err();
    assert_eq!(
        error,
        SourceError::ChartNotFound {
            url: url.clone(),
            chart: "weeb".to_owned(),
            similar: vec!["web".to_owned()]
        }
    );
    for (wanted, nearest) in [
        ("^3", ["2.0.0-rc.1", "1.1.0", "1.0.0"]),
        ("1.0.9", ["1.0.0", "1.1.0", "2.0.0-rc.1"]),
        ("nonsense", ["2.0.0-rc.1", "1.1.0", "1.0.0"]),
    ] {
        let error = sources.chart_version(&repository, "web", wanted).await.unwrap_err();
        let (url, chart, version) = (url.clone(), "web".to_owned(), wanted.to_owned());
        let nearest = nearest.map(str::to_owned).to_vec();
        assert_eq!(error, SourceError::VersionNotFound { url, chart, version, nearest }, "{wanted}");
    }
    server.take_paths();
    for chart in ["../x", "..", "a/b", ""] {
        let error = sources.chart_version(&repository, chart, "").await.unwrap_err();
        assert!(matches!(error, SourceError::ChartName { .. }), "{error}");
    }
    assert_eq!(server.take_paths(), Vec::<String>::new(), "nobody is asked for such a name");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_no_repository_is_told() {
    let scratch = Scratch::new("charts-bad");
    let server = WebServer::start(|_| Reply::status(404)).await;
    let sources = Sources::new(scratch.path("cache"), Settings { max_index_bytes: 1000, ..settings() });
    let repository = Repository::charts(server.url(""));
    let url = server.url("");
    let error = async || sources.charts(&repository).await.unwrap_err().to_string();
    assert_eq!(error().await, format!("there is no repository at {url}"));
    server.answer_with(|_| Reply::ok("<html>Log in</html>"));
    assert_eq!(
        error().await,
        format!("{url} does not answer like a chart repository: its index has no entries")
    );
    server.answer_with(|_| Reply::ok("x".repeat(1001)));
    assert_eq!(error().await, format!("{url} sends more than 1000 bytes"));
    server.answer_with(|_| Reply::ok(index(&[("1.0.0", "a", "")])).cut(30));
    assert!(error().await.starts_with("cannot reach localhost"));
    server.answer_with(|_| Reply::status(503));
    assert!(error().await.ends_with("it answers 503 Service Unavailable"));
    server.answer_with(|seen| Reply::redirect(format!("{}x", seen.path)));
    assert!(error().await.ends_with("it redirects more than 5 times"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_does_not_answer_is_given_up_on() {
    let scratch = Scratch::new("charts-slow");
    let server = WebServer::start(|_| Reply::hang()).await;
    let after = Duration::from_millis(100);
    let sources = Sources::new(scratch.path("cache"), Settings { fetch_timeout: after, ..settings() });
    let error = sources.charts(&Repository::charts(server.url(""))).await.unwrap_err();
    assert_eq!(error, SourceError::Timeout { url: server.url(""), step: Step::Index, after });
    assert!(error.is_transient());
}

#[tokio::test(flavor = "multi_thread")]
async fn an_exact_version_that_is_kept_outlives_its_server() {
    let scratch = Scratch::new("charts-stale");
    let server = WebServer::start(shop).await;
    let repository = Repository::charts(server.url(""));
    let sources = Sources::new(scratch.path("cache"), settings());
    for wanted in ["1.0.0", "1.1.0"] {
        fetch(&sources, &repository, wanted).await.unwrap();
    }
    server.answer_with(|_| Reply::status(502));
    for sources in [sources, Sources::new(scratch.path("cache"), settings())] {
        assert_eq!(fetch(&sources, &repository, "1.0.0").await.unwrap(), archive("web-1.0.0"));
        assert_eq!(fetch(&sources, &repository, "1.1.0").await.unwrap(), archive("web-1.1.0"));
        // A range cannot be answered from memory: the newest may have changed.
        let error = fetch(&sources, &repository, "^1").await.unwrap_err();
        assert!(matches!(error, SourceError::Unreachable { .. }), "{error}");
        let error = fetch(&sources, &repository, "2.0.0-rc.1").await.unwrap_err();
        assert!(matches!(error, SourceError::Unreachable { .. }), "{error}");
    }
    // Nor does what was kept speak for credentials that are no longer taken.
    server.answer_with(|_| Reply::status(403));
    let sources = Sources::new(scratch.path("cache"), settings());
    let error = fetch(&sources, &repository, "1.0.0").await.unwrap_err();
    assert!(matches!(error, SourceError::Authentication { .. }), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn another_repository_cannot_claim_what_is_kept() {
    let scratch = Scratch::new("charts-claim");
    let private = WebServer::start(|seen| match seen.authorization() {
        Some(BASIC) => shop(seen),
        _ => Reply::status(401),
    })
    .await;
    let thief = WebServer::start(|seen| match seen.path.as_str() {
        "/index.yaml" => Reply::ok(index(&[("1.1.0", "a.tgz", &sha256(&archive("web-1.1.0")))])),
        _ => Reply::ok(archive("other")),
    })
    .await;
    let sources = Sources::new(scratch.path("cache"), settings());
    fetch(&sources, &Repository::charts(private.url("")).with_access(me()), "1.1.0").await.unwrap();
    let error = fetch(&sources, &Repository::charts(thief.url("")), "1.1.0").await.unwrap_err();
    assert!(matches!(error, SourceError::Digest { .. }), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_sweep_keeps_what_is_used_within_bounds() {
    let scratch = Scratch::new("charts-sweep");
    let server = WebServer::start(shop).await;
    let (kept, gone) =
        (Repository::charts(server.url("")), Repository::charts(server.url("/")).with_access(me()));
    let settings = Settings { max_chart_cache_bytes: 100_000, ..settings() };
    let sources = Sources::new(scratch.path("cache"), settings.clone());
    for repository in [&kept, &gone] {
        fetch(&sources, repository, "1.0.0").await.unwrap();
    }
    let directories = || std::fs::read_dir(scratch.path("cache/charts")).unwrap().count();
    sources.sweep(std::slice::from_ref(&kept)).await.unwrap();
    assert_eq!(directories(), 2, "what was asked a moment ago may be a dependency");
    sources.sweep(std::slice::from_ref(&kept)).await.unwrap();
    assert_eq!(directories(), 1);
    server.take_paths();
    fetch(&sources, &kept, "1.0.0").await.unwrap();
    assert_eq!(server.take_paths(), ["/index.yaml"]);
    // With less room, the archives go, and come again when they are needed.
    let small = Settings { max_chart_cache_bytes: 0, ..settings };
    let sources = Sources::new(scratch.path("cache"), small);
    sources.sweep(std::slice::from_ref(&kept)).await.unwrap();
    fetch(&sources, &kept, "1.0.0").await.unwrap();
    assert_eq!(server.take_paths(), ["/index.yaml", "/charts/web-1.0.0.tgz"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_damaged_archive_is_fetched_again() {
    let scratch = Scratch::new("charts-damaged");
    let server = WebServer::start(shop).await;
    let repository = Repository::charts(server.url(""));
    let sources = Sources::new(scratch.path("cache"), settings());
    fetch(&sources, &repository, "1.0.0").await.unwrap();
    let stored = std::fs::read_dir(scratch.path("cache/charts")).unwrap().next().unwrap().unwrap().path();
    for entry in std::fs::read_dir(stored.join("archives")).unwrap().flatten() {
        std::fs::write(entry.path(), "damaged").unwrap();
    }
    assert_eq!(fetch(&sources, &repository, "1.0.0").await.unwrap(), archive("web-1.0.0"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_dependency_comes_from_a_known_repository_with_its_own_credentials() {
    let scratch = Scratch::new("charts-dependency");
    let server = WebServer::start(|seen| match seen.authorization() {
        Some(BASIC) => shop(seen),
        _ => Reply::status(401),
    })
    .await;
    let secret = |name: &str, project: &str, password: &str| {
        let mut secret = Object::new(value!({
            "apiVersion": "v1", "kind": "Secret",
            "metadata": {"name": name, "namespace": "argocd", "labels": {"argocd.argoproj.io/secret-type": "repository"}},
        }))
        .unwrap();
        let (url, password) = (server.url(""), password.to_owned());
        secret.set(&["stringData"], value!({"type": "helm", "name": "shop", "url": url, "username": "me", "password": password, "project": project.to_owned()}));
        secret
    };
    let book = Arc::new(Book::read(&[secret("a", "team", "hidden"), secret("b", "", "wrong")]).0);
    let sources = Sources::new(scratch.path("cache"), settings());
    for text in ["@shop", "alias:shop", &server.url("")] {
        let ours = book.dependency(text, "team").unwrap().unwrap();
        assert_eq!(fetch(&sources, &ours, "1.0.0").await.unwrap(), archive("web-1.0.0"), "{text}");
        let theirs = book.dependency(text, "other").unwrap().unwrap();
        assert!(
            matches!(fetch(&sources, &theirs, "1.0.0").await, Err(SourceError::Authentication { .. })),
            "{text}"
        );
    }
    for beside in ["", "file://../other"] {
        assert!(book.dependency(beside, "team").unwrap().is_none());
    }
    assert!(book.dependency("@nothing", "team").is_err());
    assert!(book.dependency("nowhere", "team").is_err());
    assert!(book.dependency("oci://r/charts", "team").unwrap().unwrap().oci);
}
