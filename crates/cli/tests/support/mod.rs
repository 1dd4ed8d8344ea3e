//! The real binary in a folder of its own.
#![allow(dead_code, reason = "not every test needs everything")]

pub(crate) mod bench;
pub(crate) mod folder;

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use lynceus_cluster::Cluster;
use lynceus_files::FilePath;
use lynceus_object::{Gvk, Object, Value, value};
use lynceus_source::compose::{Change, Composition, Layout, Message};

/// How long anything may take on a machine that is busy with other things.
const PATIENCE: Duration = Duration::from_secs(120);

/// How long to leave the cluster alone between two questions.
const PAUSE: Duration = Duration::from_millis(10);

/// A folder with a data directory and a repository.
pub(crate) struct Home {
    pub(crate) folder: PathBuf,
    repository: Composition,
}

impl Home {
    pub(crate) fn new() -> Self {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let folder = std::env::temp_dir().join(format!("lynceus-home-{}-{number}", std::process::id()));
        let repository = Composition::create(folder.join("repository"), Layout::Bare).unwrap();
        Home { folder, repository }
    }

    pub(crate) fn commit(&self, files: &[(&str, String)]) {
        let changes = files
            .iter()
            .map(|(path, text)| (FilePath::new(path).unwrap(), Change::Write(text.clone().into_bytes())));
        let when = "2026-01-01T00:00:00Z".parse().unwrap();
        let message = Message { name: "Test", email: "test@example.com", when, text: "A change\n" };
        self.repository.commit("main", &message, changes).unwrap();
    }

    pub(crate) fn kubeconfig(&self) -> PathBuf {
        self.folder.join("data/kubeconfig")
    }

    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_lynceus"));
        command.args(arguments).current_dir(&self.folder).env_remove("KUBECONFIG").env_remove("RUST_LOG");
        // Nobody's logins but those of the test.
        for name in ["ARGOCD_SERVER", "ARGOCD_AUTH_TOKEN", "ARGOCD_OPTS", "ARGOCD_NAMESPACE"] {
            command.env_remove(name);
        }
        command.env("ARGOCD_CONFIG_DIR", self.folder.join("logins")).stdin(Stdio::null());
        command
    }

    /// Runs a command to its end.
    pub(crate) fn run(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().unwrap()
    }

    /// Runs a command to its end that reads a text.
    pub(crate) fn feed(&self, arguments: &[&str], input: &str) -> Output {
        let mut command = self.command(arguments);
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        // One that does not want to read it all has seen enough.
        let _ = std::io::Write::write_all(&mut child.stdin.take().unwrap(), input.as_bytes());
        child.wait_with_output().unwrap()
    }

    /// Starts `lynceus up` and waits until its cluster answers.
    pub(crate) async fn up(&self, more: &[&str]) -> Up {
        // What the last one left behind does not say that this one is ready.
        let _ = std::fs::remove_file(self.kubeconfig());
        let arguments = [&["up", "--data-dir", "data", "--port", "0"], more].concat();
        let child =
            self.command(&arguments).stdout(Stdio::null()).stderr(Stdio::null()).spawn().map(Guard).unwrap();
        let cluster = until("the cluster", async || connect(&self.kubeconfig()).await).await;
        Up { child, cluster }
    }

    /// An Application that syncs a path of the repository by itself into a namespace of its own name.
    pub(crate) fn application(&self, name: &str, path: &str) -> Object {
        let mut application =
            Object::named(&Gvk::new("argoproj.io", "v1alpha1", "Application"), "argocd", name);
        let url = format!("file://{}", self.folder.join("repository").display());
        application.set(
            &["spec"],
            value!({
                "project": "default",
                "source": {"repoURL": url, "path": path, "targetRevision": "main"},
                "destination": {"server": "https://kubernetes.default.svc", "namespace": name},
                "syncPolicy": {"automated": {}, "syncOptions": ["CreateNamespace=true"]},
            }),
        );
        application
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        // What is left in the temporary folder harms nobody.
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// A process that does not outlive its test.
pub(crate) struct Guard(Child);

impl Drop for Guard {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A running `lynceus up`.
pub(crate) struct Up {
    child: Guard,
    cluster: Arc<Cluster>,
}

impl Up {
    /// Ends it as a power cut would.
    pub(crate) fn kill(self) {
        drop(self.child);
    }

    pub(crate) async fn create(&self, object: &Object) {
        until("the definitions", async || self.cluster.create_record(object).await.ok()).await;
    }

    pub(crate) async fn get(&self, group: &str, kind: &str, namespace: &str, name: &str) -> Option<Object> {
        let version = if group == "argoproj.io" { "v1alpha1" } else { "v1" };
        self.cluster.get(&Gvk::new(group, version, kind), namespace, name).await.unwrap()
    }

    /// Changes an object by a merge patch, as somebody with kubectl would.
    pub(crate) async fn patch(&self, group: &str, kind: &str, namespace: &str, name: &str, patch: &Value) {
        self.patch_as("v1", group, kind, namespace, name, patch).await;
    }

    /// The same for a kind of another version.
    pub(crate) async fn patch_as(
        &self,
        version: &str,
        group: &str,
        kind: &str,
        namespace: &str,
        name: &str,
        patch: &Value,
    ) {
        let gvk = Gvk::new(group, version, kind);
        self.cluster.patch_record(&gvk, namespace, name, patch).await.unwrap();
    }

    /// Every Job of a namespace, as `name uid`.
    pub(crate) async fn jobs(&self, namespace: &str) -> Vec<String> {
        let jobs = self.cluster.list(&Gvk::new("batch", "v1", "Job"), namespace).await.unwrap();
        jobs.iter().map(|job| format!("{} {}", job.name(), job.uid())).collect()
    }

    /// What the events of a namespace say that have a reason, in the order of their names.
    pub(crate) async fn told(&self, namespace: &str, reason: &str) -> Vec<String> {
        let events = self.cluster.list(&Gvk::new("", "v1", "Event"), namespace).await.unwrap();
        let of_reason = events.iter().filter(|event| event.value().str_at(&["reason"]) == Some(reason));
        of_reason.filter_map(|event| Some(event.value().str_at(&["message"])?.to_owned())).collect()
    }

    /// `Synced Healthy Succeeded`.
    pub(crate) async fn state(&self, name: &str) -> String {
        let application = self.get("argoproj.io", "Application", "argocd", name).await;
        let value = application.map(Object::into_value).unwrap_or(Value::Null);
        let word = |path: &[&str]| value.str_at(path).unwrap_or_default().to_owned();
        format!(
            "{} {} {}",
            word(&["status", "sync", "status"]),
            word(&["status", "health", "status"]),
            word(&["status", "operationState", "phase"])
        )
    }
}

/// Asks again and again until there is an answer.
pub(crate) async fn until<T>(what: impl std::fmt::Display, ask: impl AsyncFn() -> Option<T>) -> T {
    let end = Instant::now() + PATIENCE;
    loop {
        if let Some(answer) = ask().await {
            return answer;
        }
        assert!(Instant::now() < end, "{what} never came");
        tokio::time::sleep(PAUSE).await;
    }
}

async fn connect(kubeconfig: &Path) -> Option<Arc<Cluster>> {
    let client = lynceus_cluster::client(Some(kubeconfig), None).await.ok()?;
    Cluster::open(client, lynceus_cluster::Options::default()).await.ok()
}
