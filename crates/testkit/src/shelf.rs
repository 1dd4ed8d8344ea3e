//! A web server in the test's own process with charts on it: as a chart repository, and as a registry.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::sync::{Arc, Mutex, PoisonError};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use http_body_util::Full;
use hyper_util::rt::TokioIo;
use lynceus_object::{json, value};
use sha2::{Digest as _, Sha256};
use tokio::task::JoinHandle;

/// A server that listens on the loopback device until it is dropped.
pub struct Shelf {
    /// `127.0.0.1:port`.
    pub host: String,
    pages: Arc<Mutex<Pages>>,
    work: JoinHandle<()>,
}

#[derive(Default)]
struct Pages {
    /// The type and the content of each path.
    at: BTreeMap<String, (&'static str, Bytes)>,
    /// The entries of the index, by chart.
    charts: BTreeMap<String, Vec<String>>,
    /// The tags in the registry, by repository.
    tags: BTreeMap<String, Vec<String>>,
    asked: Vec<String>,
    /// The header that lets one in, if not everyone may come.
    key: Option<String>,
}

impl Shelf {
    /// A server with nothing on it.
    #[allow(clippy::expect_used, reason = "a test that cannot set its world up has to stop")]
    pub async fn start() -> Self {
        let pages: Arc<Mutex<Pages>> = Arc::default();
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let host = listener.local_addr().expect("an address").to_string();
        let served = pages.clone();
        let work = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let served = served.clone();
                let service =
                    hyper::service::service_fn(move |request: http::Request<hyper::body::Incoming>| {
                        let key = request.headers().get("authorization").and_then(|key| key.to_str().ok());
                        let answer = answer(&served, request.uri().path(), key);
                        async move { Ok::<_, Infallible>(answer) }
                    });
                let connection = hyper::server::conn::http1::Builder::new();
                tokio::spawn(connection.serve_connection(TokioIo::new(stream), service));
            }
        });
        Shelf { host, pages, work }
    }

    /// Puts a file on the server.
    pub fn put(&self, path: &str, content: impl Into<Bytes>) {
        self.pages().at.insert(path.to_owned(), ("application/octet-stream", content.into()));
    }

    /// Publishes a chart in both ways: below `/charts` as a repository, and in the registry as `charts/NAME`.
    pub fn publish(&self, name: &str, version: &str, files: &[(&str, &str)]) {
        let packed = Bytes::from(pack(name, files));
        let digest = digest(&packed);
        let mut pages = self.pages();
        let entry = format!(
            "  - name: {name}\n    version: {version}\n    digest: {}\n    urls: [{name}-{version}.tgz]\n",
            digest.trim_start_matches("sha256:")
        );
        pages.charts.entry(name.to_owned()).or_default().push(entry);
        let entries: String =
            pages.charts.iter().map(|(name, entries)| format!("  {name}:\n{}", entries.concat())).collect();
        let index = format!("apiVersion: v1\nentries:\n{entries}");
        pages.at.insert("/charts/index.yaml".to_owned(), ("text/yaml", index.into()));
        pages.at.insert(format!("/charts/{name}-{version}.tgz"), ("application/gzip", packed.clone()));
        register(&mut pages, &format!("charts/{name}"), version, CHART, packed);
    }

    /// Publishes files in the registry, as an artifact that is no chart.
    pub fn publish_artifact(&self, repository: &str, tag: &str, files: &[(&str, &str)]) {
        let packed = Bytes::from(pack(".", files));
        register(&mut self.pages(), repository, tag, ARTIFACT, packed);
    }

    /// Lets nobody in but this user.
    pub fn require(&self, user: &str, password: &str) {
        self.pages().key = Some(format!("Basic {}", STANDARD.encode(format!("{user}:{password}"))));
    }

    /// Every path that was asked for, in order.
    pub fn asked(&self) -> Vec<String> {
        self.pages().asked.clone()
    }

    fn pages(&self) -> std::sync::MutexGuard<'_, Pages> {
        self.pages.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Shelf {
    fn drop(&mut self) {
        self.work.abort();
    }
}

/// What a configuration and a layer are said to be.
type MediaTypes = (&'static str, &'static str);

const CHART: MediaTypes =
    ("application/vnd.cncf.helm.config.v1+json", "application/vnd.cncf.helm.chart.content.v1.tar+gzip");
const ARTIFACT: MediaTypes =
    ("application/vnd.oci.empty.v1+json", "application/vnd.oci.image.layer.v1.tar+gzip");
const MANIFEST: &str = "application/vnd.oci.image.manifest.v1+json";

/// Puts one layer into the registry, below a tag.
fn register(pages: &mut Pages, repository: &str, tag: &str, types: MediaTypes, layer: Bytes) {
    let config = Bytes::from_static(b"{}");
    let manifest = value!({
        "schemaVersion": 2,
        "config": {"mediaType": types.0, "digest": digest(&config), "size": config.len()},
        "layers": [{"mediaType": types.1, "digest": digest(&layer), "size": layer.len()}],
    });
    let manifest = Bytes::from(json::to_vec(&manifest));
    // A registry has no plus sign in its tags.
    let tag = tag.replace('+', "_");
    let tags = pages.tags.entry(repository.to_owned()).or_default();
    tags.push(tag.clone());
    let tags = json::to_vec(&value!({"name": repository, "tags": tags.clone()}));
    let root = format!("/v2/{repository}");
    for (path, kind, content) in [
        (format!("{root}/manifests/{}", digest(&manifest)), MANIFEST, manifest.clone()),
        (format!("{root}/manifests/{tag}"), MANIFEST, manifest),
        (format!("{root}/blobs/{}", digest(&layer)), "application/octet-stream", layer),
        (format!("{root}/blobs/{}", digest(&config)), "application/json", config),
        (format!("{root}/tags/list"), "application/json", tags.into()),
    ] {
        pages.at.insert(path, (kind, content));
    }
}

fn answer(pages: &Mutex<Pages>, path: &str, key: Option<&str>) -> http::Response<Full<Bytes>> {
    let mut pages = pages.lock().unwrap_or_else(PoisonError::into_inner);
    pages.asked.push(path.to_owned());
    if pages.key.is_some() && pages.key.as_deref() != key {
        let response =
            http::Response::builder().status(401).header("www-authenticate", "Basic realm=\"shelf\"");
        return response.body(Full::default()).unwrap_or_default();
    }
    let (status, kind, body) = match pages.at.get(path) {
        Some((kind, body)) => (200, *kind, body.clone()),
        None if path == "/v2/" => (200, "application/json", Bytes::from_static(b"{}")),
        None => (404, "text/plain", Bytes::from_static(b"not here")),
    };
    let digest = digest(&body);
    let response = http::Response::builder().status(status).header("content-type", kind);
    let response = response.header("docker-content-digest", digest).body(Full::new(body));
    response.unwrap_or_default()
}

fn digest(bytes: &[u8]) -> String {
    let hash: String = Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect();
    format!("sha256:{hash}")
}

/// The `.tgz` of a chart.
#[allow(clippy::expect_used, reason = "a test that cannot set its world up has to stop")]
fn pack(chart: &str, files: &[(&str, &str)]) -> Vec<u8> {
    let packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    let mut archive = tar::Builder::new(packed);
    for (name, body) in files {
        let mut header = tar::Header::new_ustar();
        header.set_mode(0o644);
        header.set_size(body.len() as u64);
        archive
            .append_data(&mut header, format!("{chart}/{name}"), body.as_bytes())
            .expect("memory can be written to");
    }
    let packed = archive.into_inner().expect("memory can be written to");
    packed.finish().expect("memory can be written to")
}
