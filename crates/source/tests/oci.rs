//! Charts and artifacts in OCI registries, from a registry in this process.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod support;

use std::collections::BTreeMap;
use std::io::Write as _;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use lynceus_object::{Object, value};
use lynceus_source::{Access, Book, Repository, Settings, SourceError, Sources, Step};
use sha2::{Digest as _, Sha256};
use support::web_server::{Reply, Seen, WebServer};
use support::{Scratch, path};

const CHART_CONFIG: &str = "application/vnd.cncf.helm.config.v1+json";
const CHART_LAYER: &str = "application/vnd.cncf.helm.chart.content.v1.tar+gzip";
const IMAGE_LAYER: &str = "application/vnd.oci.image.layer.v1.tar+gzip";

/// `me:hidden` in base64.
const BASIC: &str = "Basic bWU6aGlkZGVu";

fn settings() -> Settings {
    Settings { environment_proxy: false, max_age: Duration::ZERO, ..Settings::default() }
}

fn me() -> Access {
    Access { username: "me".to_owned(), password: "hidden".into(), ..Access::default() }
}

fn sha256(bytes: &[u8]) -> String {
    let hex: String = Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect();
    format!("sha256:{hex}")
}

/// An archive with one file.
fn archive(name: &str, content: &str) -> Vec<u8> {
    let encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    let mut builder = tar::Builder::new(encoder);
    let mut header = tar::Header::new_gnu();
    header.set_size(content.len() as u64);
    builder.append_data(&mut header, name, content.as_bytes()).unwrap();
    let mut encoder = builder.into_inner().unwrap();
    encoder.flush().unwrap();
    encoder.finish().unwrap()
}

/// What a registry holds, by the path below `/v2/`.
#[derive(Clone, Default)]
struct Shelf(Arc<Mutex<BTreeMap<String, Vec<u8>>>>);

impl Shelf {
    fn put(&self, path: String, bytes: &[u8]) {
        self.0.lock().unwrap().insert(path, bytes.to_vec());
    }

    fn get(&self, path: &str) -> Option<Vec<u8>> {
        self.0.lock().unwrap().get(path).cloned()
    }

    /// Pushes a manifest with one layer, and gives its digest.
    fn push(&self, name: &str, tag: &str, config: &str, layer_type: &str, layer: &[u8]) -> String {
        let digest = sha256(layer);
        let manifest = format!(
            r#"{{"schemaVersion":2,"config":{{"mediaType":"{config}","digest":"{}","size":2}},"layers":[{{"mediaType":"{layer_type}","digest":"{digest}","size":{}}}],"annotations":{{"org.opencontainers.image.version":"{tag}"}}}}"#,
            sha256(b"{}"),
            layer.len()
        );
        self.put(format!("{name}/blobs/{digest}"), layer);
        self.put_manifest(name, tag, &manifest)
    }

    fn put_manifest(&self, name: &str, tag: &str, manifest: &str) -> String {
        let digest = sha256(manifest.as_bytes());
        self.put(format!("{name}/manifests/{tag}"), manifest.as_bytes());
        self.put(format!("{name}/manifests/{digest}"), manifest.as_bytes());
        digest
    }

    fn chart(&self, name: &str, version: &str) -> Vec<u8> {
        let layer = archive("web/Chart.yaml", version);
        self.push(name, &version.replace('+', "_"), CHART_CONFIG, CHART_LAYER, &layer);
        layer
    }

    /// Answers like a registry, with two tags on a page.
    fn answer(&self, seen: &Seen) -> Reply {
        let (path, query) = seen.path.split_once('?').unwrap_or((&seen.path, ""));
        let Some(path) = path.strip_prefix("/v2/") else { return Reply::status(404) };
        match path.strip_suffix("/tags/list") {
            Some(name) => self.tags(name, query),
            None => self.get(path).map_or(Reply::status(404), Reply::ok),
        }
    }

    fn tags(&self, name: &str, query: &str) -> Reply {
        let prefix = format!("{name}/manifests/");
        let shelf = self.0.lock().unwrap();
        let all: Vec<&str> = shelf
            .keys()
            .filter_map(|key| key.strip_prefix(&prefix))
            .filter(|tag| !tag.contains(':'))
            .collect();
        if all.is_empty() {
            return Reply::status(404);
        }
        let last = query.split('&').find_map(|part| part.strip_prefix("last="));
        let from = last.and_then(|last| all.iter().position(|tag| *tag == last)).map_or(0, |at| at + 1);
        let page: Vec<&str> = all.iter().skip(from).take(2).copied().collect();
        let body = format!(r#"{{"name":"{name}","tags":["{}"]}}"#, page.join("\",\""));
        if from + 2 >= all.len() {
            return Reply::ok(body);
        }
        let next = format!("</v2/{name}/tags/list?last={}&n=2>; rel=\"next\"", page.last().unwrap());
        Reply::ok(body).header("link", next)
    }
}

async fn registry(shelf: &Shelf) -> WebServer {
    let shelf = shelf.clone();
    WebServer::start(move |seen| shelf.answer(seen)).await
}

fn at(server: &WebServer, name: &str) -> String {
    format!("oci://localhost:{}/{name}", server.address.port())
}

async fn fetch(sources: &Sources, repository: &Repository, wanted: &str) -> Result<Vec<u8>, SourceError> {
    let version = sources.chart_version(repository, "web", wanted).await?;
    Ok(sources.chart_archive(repository, &version).await?.to_vec())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_chart_is_found_by_its_tag_or_in_a_range() {
    let scratch = Scratch::new("oci");
    let shelf = Shelf::default();
    let charts: Vec<Vec<u8>> = ["1.0.0", "1.1.0", "1.1.1+build", "2.0.0-rc.1"]
        .iter()
        .map(|version| shelf.chart("org/web", version))
        .collect();
    shelf.push("org/web", "latest", CHART_CONFIG, CHART_LAYER, b"");
    let server = registry(&shelf).await;
    let repository = Repository::charts(at(&server, "org"));
    let sources = Sources::new(scratch.path("cache"), settings());
    let versions = sources.chart_versions(&repository, "web").await.unwrap();
    let versions: Vec<&str> = versions.iter().map(|version| version.version.as_str()).collect();
    assert_eq!(versions, ["2.0.0-rc.1", "1.1.1+build", "1.1.0", "1.0.0"], "every page is read");
    server.take_paths();
    assert_eq!(fetch(&sources, &repository, "1.0.0").await.unwrap(), charts[0]);
    let paths = server.take_paths();
    assert_eq!(paths.len(), 2, "a tag is asked for without a list: {paths:?}");
    for (wanted, chart) in [("1.1.1+build", 2), ("^1", 2), ("~1.0", 0), (">1-0", 3), ("", 2)] {
        assert_eq!(fetch(&sources, &repository, wanted).await.unwrap(), charts[chart], "{wanted}");
    }
    let found = sources.chart_version(&repository, "web", "1.1.0").await.unwrap();
    assert_eq!(found.digest, Some(sha256(&charts[1])));
    // The same by digest, whose version the chart says itself.
    let digest = found.urls[0].split_once('@').unwrap().1;
    assert_eq!(sources.chart_version(&repository, "web", digest).await.unwrap().version, "1.1.0");
    let error = sources.chart_version(&repository, "web", "^3").await.unwrap_err();
    assert!(matches!(error, SourceError::VersionNotFound { nearest, .. } if nearest[0] == "2.0.0-rc.1"));
    let error = sources.chart_version(&repository, "web", "1.0").await.unwrap_err();
    assert!(
        matches!(error, SourceError::VersionNotFound { nearest, .. } if nearest[0] == "1.0.0"),
        "no range"
    );
    let error = sources.chart_version(&repository, "other", "1.0.0").await.unwrap_err();
    assert_eq!(error.to_string(), format!("{} has no chart \"other\"", at(&server, "org")));
    let error = sources.charts(&repository).await.unwrap_err();
    assert!(matches!(error, SourceError::Unsupported { .. }));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_registry_may_be_written_in_several_ways() {
    let scratch = Scratch::new("oci-forms");
    let shelf = Shelf::default();
    let chart = shelf.chart("org/team/web", "1.0.0");
    let server = registry(&shelf).await;
    let sources = Sources::new(scratch.path("cache"), settings());
    let bare = at(&server, "org/team").replace("oci://", "");
    let mut enabled = Repository::charts(server.url("/org/team"));
    enabled.oci = true;
    for repository in [Repository::charts(bare), enabled] {
        assert_eq!(fetch(&sources, &repository, "1.0.0").await.unwrap(), chart, "{repository:?}");
    }
    let repository = Repository::charts(at(&server, "org"));
    let version = sources.chart_version(&repository, "team/web", "1.0.0").await.unwrap();
    assert_eq!(sources.chart_archive(&repository, &version).await.unwrap().to_vec(), chart);
    server.take_paths();
    for chart in ["../web", "team/../web", "/web", "", "Web", "a b", "a%2fb", "a?b"] {
        let error = sources.chart_version(&repository, chart, "1.0.0").await.unwrap_err();
        assert!(matches!(error, SourceError::ChartName { .. }), "{chart}: {error}");
    }
    for wanted in ["../x", "1.0.0/../../x"] {
        assert!(sources.chart_version(&repository, "team/web", wanted).await.is_err());
    }
    assert!(server.take_paths().iter().all(|path| path.starts_with("/v2/org/team/web/tags/list")));
}

#[tokio::test(flavor = "multi_thread")]
async fn many_applications_share_one_manifest_and_one_download() {
    let scratch = Scratch::new("oci-shared");
    let shelf = Shelf::default();
    let chart = shelf.chart("web", "1.0.0");
    let server = registry(&shelf).await;
    let sources =
        Sources::new(scratch.path("cache"), Settings { max_age: Duration::from_secs(60), ..settings() });
    let repository = Repository::charts(at(&server, ""));
    let work = (0..50).map(|_| {
        let (sources, repository) = (sources.clone(), repository.clone());
        tokio::spawn(async move { fetch(&sources, &repository, "^1").await.unwrap() })
    });
    for answer in futures::future::join_all(work).await {
        assert_eq!(answer.unwrap(), chart);
    }
    assert_eq!(server.take_paths().len(), 3, "tags, manifest and blob");
    sources.forget(&repository);
    fetch(&sources, &repository, "^1").await.unwrap();
    assert_eq!(server.take_paths().len(), 2, "the blob is kept");
}

/// A registry that wants a token, and the service that gives it out to those who have the password.
async fn guarded(shelf: &Shelf) -> (WebServer, WebServer) {
    let service = WebServer::start(|seen| match seen.authorization() {
        Some(BASIC) => Reply::ok(r#"{"token":"t0ken","expires_in":300}"#),
        _ => Reply::status(401),
    })
    .await;
    let realm = service.url("/token");
    let shelf = shelf.clone();
    let server = WebServer::start(move |seen| match seen.authorization() {
        Some("Bearer t0ken") => shelf.answer(seen),
        _ => Reply::status(401).header(
            "www-authenticate",
            format!(r#"Bearer realm="{realm}",service="reg",scope="repository:org/web:pull""#),
        ),
    })
    .await;
    (server, service)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_token_is_got_from_the_service_that_the_registry_names_and_used_again() {
    let scratch = Scratch::new("oci-token");
    let shelf = Shelf::default();
    let chart = shelf.chart("org/web", "1.0.0");
    let (server, service) = guarded(&shelf).await;
    let sources = Sources::new(scratch.path("cache"), settings());
    let repository = Repository::charts(at(&server, "org"));
    let ours = repository.clone().with_access(me());
    for wanted in ["1.0.0", "^1"] {
        assert_eq!(fetch(&sources, &ours, wanted).await.unwrap(), chart);
    }
    let asked = service.seen();
    assert_eq!(asked.len(), 1, "the token is used again");
    assert_eq!(asked[0].path, "/token?service=reg&scope=repository%3Aorg%2Fweb%3Apull");
    assert!(
        server.seen().iter().all(|seen| seen.authorization() != Some(BASIC)),
        "the password went to the service only"
    );
    for (access, anonymous) in [(Access::default(), true), (Access { password: "x".into(), ..me() }, false)] {
        let error = fetch(&sources, &repository.clone().with_access(access), "1.0.0").await.unwrap_err();
        assert_eq!(error, SourceError::Authentication { url: at(&server, "org"), anonymous });
    }
    // A token that is no longer taken is replaced.
    let realm = service.url("/other");
    service.answer_with(|_| Reply::ok(r#"{"access_token":"new"}"#));
    let own = shelf.clone();
    server.answer_with(move |seen| match seen.authorization() {
        Some("Bearer new") => own.answer(seen),
        _ => Reply::status(401).header("WWW-Authenticate", format!("Bearer realm={realm}")),
    });
    assert_eq!(fetch(&sources, &ours, "^1").await.unwrap(), chart);
    assert!(service.seen().last().unwrap().path.ends_with("/other?scope=repository%3Aorg%2Fweb%3Apull"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_password_is_sent_when_it_is_asked_for_or_forced() {
    let scratch = Scratch::new("oci-basic");
    let shelf = Shelf::default();
    let chart = shelf.chart("web", "1.0.0");
    let own = shelf.clone();
    let server = WebServer::start(move |seen| match seen.authorization() {
        Some(BASIC) => own.answer(seen),
        _ => Reply::status(401).header("www-authenticate", "Basic realm=\"x\""),
    })
    .await;
    let sources = Sources::new(scratch.path("cache"), settings());
    let repository = Repository::charts(at(&server, ""));
    assert_eq!(fetch(&sources, &repository.clone().with_access(me()), "1.0.0").await.unwrap(), chart);
    let shown: Vec<bool> = server.seen().iter().map(|seen| seen.authorization().is_some()).collect();
    assert_eq!(shown, [false, true, true], "asked for once");
    let forced = repository.clone().with_access(Access { force_basic: true, ..me() });
    assert_eq!(fetch(&sources, &forced, "1.0.0").await.unwrap(), chart);
    assert!(server.seen()[3..].iter().all(|seen| seen.authorization() == Some(BASIC)));
    let error = fetch(&sources, &repository, "1.0.0").await.unwrap_err();
    assert!(matches!(error, SourceError::Authentication { anonymous: true, .. }), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn credentials_are_not_sent_where_they_do_not_belong() {
    let scratch = Scratch::new("oci-elsewhere");
    let shelf = Shelf::default();
    let chart = shelf.chart("web", "1.0.0");
    // A storage to which blobs are sent on, and which would like to have the password.
    let stored = shelf.clone();
    let storage = WebServer::start(move |seen| match seen.path.strip_prefix("/storage/") {
        Some(path) => Reply::ok(stored.get(path).unwrap()),
        None => Reply::status(401).header("www-authenticate", "Basic realm=\"x\""),
    })
    .await;
    let base = storage.url("/");
    let own = shelf.clone();
    let server = WebServer::start(move |seen| match (seen.authorization(), seen.path.contains("/blobs/")) {
        (Some(BASIC), true) => Reply::redirect(seen.path.replace("/v2/", &format!("{base}storage/"))),
        (Some(BASIC), false) => own.answer(seen),
        _ => Reply::status(401).header("www-authenticate", "Basic realm=\"x\""),
    })
    .await;
    let sources = Sources::new(scratch.path("cache"), settings());
    let repository = Repository::charts(at(&server, "")).with_access(me());
    assert_eq!(fetch(&sources, &repository, "1.0.0").await.unwrap(), chart);
    assert!(storage.seen().iter().all(|seen| seen.authorization().is_none()));
    // The challenge of another host is not answered.
    let base = storage.url("/");
    server.answer_with(move |_| Reply::redirect(format!("{base}wants")));
    let error = fetch(&sources, &repository, "^1").await.unwrap_err();
    assert!(matches!(error, SourceError::Authentication { .. }), "{error}");
    assert!(storage.seen().iter().all(|seen| seen.authorization().is_none()));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_service_for_tokens_without_tls_gets_no_password_of_a_registry_with_tls() {
    let scratch = Scratch::new("oci-realm");
    let service = WebServer::start(|_| Reply::ok(r#"{"token":"t"}"#)).await;
    let realm = service.url("/token");
    let (server, pem) = WebServer::start_tls(move |_| {
        Reply::status(401).header("www-authenticate", format!("Bearer realm=\"{realm}\""))
    })
    .await;
    let sources = Sources::new(scratch.path("cache"), settings());
    let access = Access { certificate_authority: pem, ..me() };
    let error =
        fetch(&sources, &Repository::charts(at(&server, "")).with_access(access), "1.0.0").await.unwrap_err();
    let port = service.address.port();
    assert!(
        error
            .to_string()
            .ends_with(&format!("may not be sent to localhost:{port}: it is reached without TLS")),
        "{error}"
    );
    assert_eq!(service.seen().len(), 0);
    // Nor does the service's redirect take it elsewhere.
    let other = WebServer::start(|_| Reply::ok(r#"{"token":"t"}"#)).await;
    let (realm, to) = (service.url("/token"), other.url("/"));
    service.answer_with(move |_| Reply::redirect(to.clone()));
    let plain = WebServer::start(move |_| {
        Reply::status(401).header("www-authenticate", format!("Bearer realm=\"{realm}\""))
    })
    .await;
    fetch(&sources, &Repository::charts(at(&plain, "")).with_access(me()), "1.0.0").await.unwrap_err();
    assert_eq!(service.seen()[0].authorization(), Some(BASIC));
    assert_eq!(other.seen()[0].authorization(), None);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_not_what_was_announced_is_not_taken() {
    let scratch = Scratch::new("oci-digest");
    let shelf = Shelf::default();
    let layer = shelf.chart("web", "1.0.0");
    let other = shelf.push("web", "1.0.1", "application/json", CHART_LAYER, &layer);
    shelf.push("web", "1.0.2", CHART_CONFIG, "application/json", &layer);
    shelf.put(format!("web/blobs/{}", sha256(&layer)), b"other");
    shelf.put_manifest("web", "1.0.3", "<html>");
    shelf.put_manifest("web", "1.0.4", r#"{"layers":[{"digest":"sha256:../../x","size":1}]}"#);
    shelf.put_manifest("web", "1.0.5", &format!(r#"{{"config":{{"mediaType":"{CHART_CONFIG}"}},"layers":[{{"mediaType":"{CHART_LAYER}","digest":"{}","size":999999999999}}]}}"#, sha256(b"")));
    shelf.put(format!("web/manifests/{}", sha256(b"")), b"{}");
    let server = registry(&shelf).await;
    let sources = Sources::new(scratch.path("cache"), settings());
    let repository = Repository::charts(at(&server, ""));
    let error = async |wanted: &str| fetch(&sources, &repository, wanted).await.unwrap_err().to_string();
    assert!(error("1.0.0").await.starts_with("a blob from oci://localhost"), "{}", error("1.0.0").await);
    assert!(error("1.0.1").await.ends_with("it holds no chart but \"application/json\""));
    assert!(error(&other).await.ends_with("it holds no chart but \"application/json\""));
    assert!(error("1.0.2").await.ends_with("the chart has no layer with an archive"));
    assert!(error("1.0.3").await.contains("a manifest cannot be read"));
    assert!(error("1.0.4").await.contains("which is none"));
    assert!(error(&sha256(b"")).await.starts_with("the manifest from oci://localhost"));
    let announced = shelf.clone();
    server.answer_with(move |seen| announced.answer(seen).header("docker-content-digest", sha256(b"x")));
    assert!(error("1.0.1").await.starts_with("the manifest from"));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_index_of_manifests_and_old_media_types_are_understood() {
    let scratch = Scratch::new("oci-index");
    let shelf = Shelf::default();
    let layer = archive("web/Chart.yaml", "1");
    let image = shelf.push("web", "image", "application/json", "x/y", b"x");
    let chart = shelf.push("web", "old", CHART_CONFIG, "application/tar+gzip", &layer);
    let offered = |digest: &str| format!(r#"{{"mediaType":"x/y","digest":"{digest}","size":1}}"#);
    shelf.put_manifest(
        "web",
        "1.0.0",
        &format!(r#"{{"manifests":[{},{}]}}"#, offered(&image), offered(&chart)),
    );
    shelf.put_manifest("web", "2.0.0", &format!(r#"{{"manifests":[{}]}}"#, offered(&image)));
    let server = registry(&shelf).await;
    let sources = Sources::new(scratch.path("cache"), settings());
    let repository = Repository::charts(at(&server, ""));
    assert_eq!(fetch(&sources, &repository, "1.0.0").await.unwrap(), layer);
    let error = fetch(&sources, &repository, "2.0.0").await.unwrap_err();
    assert!(error.to_string().ends_with("its index offers nothing that can be used"), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_list_of_tags_stays_with_its_registry_and_ends() {
    let scratch = Scratch::new("oci-pages");
    let other = WebServer::start(|_| Reply::ok("{}")).await;
    let next = other.url("/v2/web/tags/list");
    let server = WebServer::start(move |_| {
        Reply::ok(r#"{"tags":["1.0.0"]}"#).header("link", format!("<{next}>; rel=\"next\""))
    })
    .await;
    let sources = Sources::new(scratch.path("cache"), settings());
    let repository = Repository::charts(at(&server, ""));
    let error = sources.chart_versions(&repository, "web").await.unwrap_err();
    assert!(error.to_string().ends_with("its list of tags goes on at another place"), "{error}");
    assert_eq!(other.seen().len(), 0);
    server.answer_with(|seen| {
        Reply::ok(r#"{"tags":["1.0.0"]}"#).header("link", format!("<{}>; rel=next", seen.path))
    });
    let error = sources.chart_versions(&repository, "web").await.unwrap_err();
    assert!(error.to_string().ends_with("its list of tags goes on at another place"), "{error}");
    server.answer_with(|_| Reply::ok(" ".repeat(17 << 20)));
    let error = sources.chart_versions(&repository, "web").await.unwrap_err();
    assert!(matches!(error, SourceError::TooLarge { .. }), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_exact_version_that_is_kept_outlives_its_registry() {
    let scratch = Scratch::new("oci-stale");
    let shelf = Shelf::default();
    let chart = shelf.chart("web", "1.0.0+b");
    let server = registry(&shelf).await;
    let repository = Repository::charts(at(&server, ""));
    fetch(&Sources::new(scratch.path("cache"), settings()), &repository, "1.0.0+b").await.unwrap();
    server.answer_with(|_| Reply::hang());
    let after = Duration::from_millis(100);
    let sources = Sources::new(scratch.path("cache"), Settings { list_timeout: after, ..settings() });
    assert_eq!(fetch(&sources, &repository, "1.0.0+b").await.unwrap(), chart);
    let error = fetch(&sources, &repository, "^1").await.unwrap_err();
    assert_eq!(
        error,
        SourceError::Timeout {
            url: at(&server, "").trim_end_matches('/').to_owned(),
            step: Step::Tags,
            after
        }
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn an_artifact_is_a_tree() {
    let scratch = Scratch::new("oci-artifact");
    let shelf = Shelf::default();
    let old =
        shelf.push("org/app", "v1.0.0", "application/json", IMAGE_LAYER, &archive("deploy/a.yaml", "old"));
    let new =
        shelf.push("org/app", "v1.1.0_b", "application/json", IMAGE_LAYER, &archive("deploy/a.yaml", "new"));
    shelf.push("org/app", "latest", CHART_CONFIG, CHART_LAYER, &archive("web/Chart.yaml", "chart"));
    shelf.push("org/app", "bad", "application/json", IMAGE_LAYER, &archive("x", "x")[..20]);
    let server = registry(&shelf).await;
    let sources = Sources::new(scratch.path("cache"), settings());
    let repository = Repository::artifacts(at(&server, "org/app"));
    assert_eq!(sources.artifact_tags(&repository).await.unwrap(), ["v1.1.0+b", "v1.0.0", "bad", "latest"]);
    for (wanted, digest, tag, file, content) in [
        ("v1.0.0", Some(&old), "v1.0.0", "deploy/a.yaml", "old"),
        (old.as_str(), Some(&old), old.as_str(), "deploy/a.yaml", "old"),
        ("^1", Some(&new), "v1.1.0+b", "deploy/a.yaml", "new"),
        ("", None, "latest", "Chart.yaml", "chart"),
    ] {
        let artifact = sources.artifact(&repository, wanted).await.unwrap();
        assert!(digest.is_none_or(|digest| *digest == artifact.digest), "{wanted}");
        assert_eq!(artifact.tag, tag, "{wanted}");
        let tree = sources.artifact_tree(&repository, &artifact).await.unwrap();
        assert_eq!(&*tree.read(&path(file), 100).unwrap(), content.as_bytes(), "{wanted}");
    }
    let bad = sources.artifact(&repository, "bad").await.unwrap();
    let error = sources.artifact_tree(&repository, &bad).await.err().unwrap();
    assert!(matches!(error, SourceError::Corrupt { .. }), "{error}");
    let error = sources.artifact(&repository, "v9").await.unwrap_err();
    assert!(matches!(error, SourceError::VersionNotFound { .. }), "{error}");
    let missing = Repository::artifacts(at(&server, "org/none"));
    let error = sources.artifact(&missing, "v1").await.unwrap_err();
    assert!(matches!(error, SourceError::RepositoryNotFound { .. }), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_chart_repository_may_point_to_a_registry_which_has_credentials_of_its_own() {
    let scratch = Scratch::new("oci-pointed");
    let shelf = Shelf::default();
    let chart = shelf.chart("charts/web", "1.0.0");
    let (registry, service) = guarded(&shelf).await;
    let url = at(&registry, "charts/web:1.0.0");
    let digest = sha256(&chart);
    let server = WebServer::start(move |_| {
        Reply::ok(format!("entries:\n  web:\n  - name: web\n    version: 1.0.0\n    digest: {digest}\n    urls: [\"{url}\"]\n"))
    })
    .await;
    let mut secret = Object::new(value!({
        "apiVersion": "v1", "kind": "Secret",
        "metadata": {"name": "a", "namespace": "argocd", "labels": {"argocd.argoproj.io/secret-type": "repo-creds"}},
    }))
    .unwrap();
    let host = at(&registry, "charts").replace("oci://", "");
    secret
        .set(&["stringData"], value!({"type": "helm", "url": host, "username": "me", "password": "hidden"}));
    let book = Arc::new(Book::read(&[secret]).0);
    let sources = Sources::new(scratch.path("cache"), settings());
    let repository = book.charts(&server.url(""), "team");
    assert_eq!(fetch(&sources, &repository, "^1").await.unwrap(), chart);
    assert_eq!(service.seen().len(), 1);
    assert!(server.seen().iter().all(|seen| seen.authorization().is_none()));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_registry_is_asked_whether_it_is_there_and_lets_one_in() {
    let scratch = Scratch::new("oci-greeting");
    let closed = WebServer::start(|seen| match (seen.path.as_str(), seen.authorization()) {
        ("/v2/", Some(BASIC)) => Reply::ok("{}"),
        ("/v2/", _) => Reply::status(401).header("www-authenticate", "Basic realm=\"here\""),
        _ => Reply::status(404),
    })
    .await;
    let other = WebServer::start(|_| Reply::status(404)).await;
    let sources = Sources::new(scratch.path("cache"), settings());
    let greet = async |url: String, access: Access| {
        let said = sources.greet(&Repository::charts(url).with_access(access)).await;
        said.map_err(|error| error.to_string())
    };
    let wrong = Access { password: "other".into(), ..me() };
    for name in ["", "org"] {
        assert_eq!(greet(at(&closed, name), me()).await, Ok(()), "{name}");
        // What is public may be read all the same.
        assert_eq!(greet(at(&closed, name), Access::default()).await, Ok(()), "{name}");
        assert!(greet(at(&closed, name), wrong.clone()).await.is_err(), "{name}");
        assert!(greet(at(&other, name), me()).await.is_err(), "{name}");
    }
    assert!(greet("oci://127.0.0.1:1/org".to_owned(), Access::default()).await.is_err());
}
