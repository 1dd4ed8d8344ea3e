//! A whole system in one process: Git, the embedded Kubernetes and the engine, on a clock that the test moves.
//!
//! `Given` is [`World::commit`] and [`World::apply`], `When` is whatever the test does to either, `Then` is
//! [`World::until`]: hours of waves, retries and polls pass in milliseconds.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use futures::future::BoxFuture;
use jiff::{SignedDuration, Timestamp};
use lynceus_api::{Application, Kind as _};
use lynceus_cluster::{ApplyOptions, Cluster, Deletion};
use lynceus_engine::{AppKey, Clock, Engine, Options, bootstrap};
use lynceus_files::FilePath;
use lynceus_object::{Gvk, Object, ObjectKey, Value, manifest};
use lynceus_sim::Sim;
use lynceus_sim::attributes::User;
use lynceus_sim::clock::{Clock as _, ManualClock};
use lynceus_source::compose::{Change, Composition, Layout, Message};
use lynceus_source::{CommitId, Settings, Sources};
use tokio::task::JoinHandle;

/// How long a condition may take on the world's own clock.
const PATIENCE: SignedDuration = SignedDuration::from_mins(30);

/// How far the clock moves at a time while a condition does not hold.
const STEP: SignedDuration = SignedDuration::from_millis(500);

/// A system under test.
pub struct World {
    clock: ManualClock,
    sim: Sim,
    cluster: Arc<Cluster>,
    engine: Option<(Arc<Engine>, JoinHandle<()>)>,
    repository: Composition,
    git: Settings,
    folder: PathBuf,
}

/// The world's clock, as the engine wants it.
struct Hand(ManualClock);

impl Clock for Hand {
    fn now(&self) -> Timestamp {
        self.0.now()
    }

    fn sleep_until(&self, at: Timestamp) -> BoxFuture<'_, ()> {
        self.0.sleep_until(at)
    }
}

impl World {
    /// An empty cluster, an empty repository, and an engine at work.
    pub async fn new() -> Self {
        World::with(Settings::default()).await
    }

    /// A world whose engine reads Git with these settings.
    #[allow(clippy::expect_used, reason = "a test that cannot set its world up has to stop")]
    pub async fn with(git: Settings) -> Self {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let folder = std::env::temp_dir().join(format!("lynceus-world-{}-{number}", std::process::id()));
        let clock = ManualClock::new("2026-01-01T00:00:00Z".parse().expect("a time"));
        let options = lynceus_sim::Options {
            clock: Some(clock.clone()),
            seed: Some(7),
            ..lynceus_sim::Options::default()
        };
        let sim = Sim::start(options).await.expect("the embedded cluster starts");
        let client = kube::Client::new(sim.service(User::admin()), "default");
        let cluster = Cluster::connect(
            client,
            lynceus_cluster::Options {
                home: "argocd".into(),
                rate: lynceus_cluster::Rate::UNBOUNDED,
                ..lynceus_cluster::Options::default()
            },
        )
        .await
        .expect("the cluster can be read");
        bootstrap(&cluster, "argocd").await.expect("the cluster can be set up");
        let repository =
            Composition::create(folder.join("repository"), Layout::Bare).expect("a repository can be made");
        let mut world = World { clock, sim, cluster, engine: None, repository, git, folder };
        world.start_engine();
        world
    }

    /// Starts an engine; one that runs is stopped as `kill -9` would.
    pub fn start_engine(&mut self) {
        self.kill_engine();
        let sources = Sources::new(self.folder.join("mirrors"), self.git.clone());
        let options = Options { children: true, ..Options::default() };
        let engine = Engine::new(self.cluster.clone(), sources, Arc::new(Hand(self.clock.clone())), options);
        let work = tokio::spawn(engine.clone().run());
        self.engine = Some((engine, work));
    }

    /// Stops the engine in the middle of whatever it does.
    pub fn kill_engine(&mut self) {
        if let Some((_, work)) = self.engine.take() {
            work.abort();
        }
    }

    /// The address of the repository.
    pub fn repository(&self) -> String {
        format!("file://{}", self.folder.join("repository").display())
    }

    /// Commits files to `main`; an empty text removes the file.
    pub fn commit(&self, files: &[(&str, &str)]) -> CommitId {
        self.commit_changes(files.iter().map(|(path, text)| {
            let change =
                if text.is_empty() { Change::Remove } else { Change::Write(text.as_bytes().to_vec()) };
            (*path, change)
        }))
    }

    /// Commits changes of any sort to `main`.
    #[allow(clippy::expect_used, reason = "a test that cannot commit has to stop")]
    pub fn commit_changes<'a>(&self, changes: impl IntoIterator<Item = (&'a str, Change)>) -> CommitId {
        let changes =
            changes.into_iter().map(|(path, change)| (FilePath::new(path).expect("a path"), change));
        let message =
            Message { name: "Test", email: "test@example.com", when: self.clock.now(), text: "A change\n" };
        self.repository.commit("main", &message, changes).expect("a commit can be made")
    }

    /// Points `main` at another commit, as a push by force does.
    #[allow(clippy::expect_used, reason = "a test that cannot push has to stop")]
    pub fn force(&self, commit: CommitId) {
        self.repository.branch("main", commit).expect("a branch can be moved");
    }

    /// What is said of an Application: `ComparisonError: …`, one line for each condition.
    pub fn said(&self, name: &str) -> String {
        let conditions = self.application(name).status.conditions;
        let lines =
            conditions.iter().map(|condition| format!("{}: {}\n", condition.type_, condition.message));
        lines.collect()
    }

    /// Applies manifests as a user would with kubectl.
    #[allow(clippy::expect_used, reason = "a test that cannot apply has to stop")]
    pub async fn apply(&self, text: &str) {
        let read =
            manifest::read(&FilePath::root(), text.as_bytes(), &lynceus_object::yaml::Options::default());
        assert!(read.diagnostics.is_empty(), "{:?}", read.diagnostics);
        for placed in read.objects {
            self.cluster.apply(&placed.object, ApplyOptions::default()).await.expect("it can be applied");
        }
    }

    /// Creates an Application for a path of the repository; `more` is merged into its spec.
    pub async fn deliver(&self, name: &str, path: &str, more: &Value) {
        let mut object = Object::named(&Gvk::new("argoproj.io", "v1alpha1", "Application"), "argocd", name);
        object.set(
            &["spec"],
            lynceus_object::value!({
                "project": "default",
                "source": {"repoURL": self.repository(), "path": path, "targetRevision": "main"},
                "destination": {"server": "https://kubernetes.default.svc", "namespace": "default"},
            }),
        );
        let spec = object.at(&["spec"]).cloned().unwrap_or_default();
        let merged = lynceus_object::patch::merge(&spec, more).unwrap_or(spec);
        object.set(&["spec"], merged);
        self.apply(&lynceus_object::yaml::to_string(object.value())).await;
    }

    /// Deletes an object.
    #[allow(clippy::expect_used, reason = "a test that cannot delete has to stop")]
    pub async fn delete(&self, api_version: &str, kind: &str, namespace: &str, name: &str) {
        let gvk = Gvk::from_manifest(api_version, kind);
        self.cluster.delete(&gvk, namespace, name, &Deletion::default()).await.expect("it can be deleted");
    }

    /// Changes an object by a merge patch.
    #[allow(clippy::expect_used, reason = "a test that cannot patch has to stop")]
    pub async fn patch(&self, api_version: &str, kind: &str, namespace: &str, name: &str, patch: &Value) {
        let gvk = Gvk::from_manifest(api_version, kind);
        self.cluster.patch_record(&gvk, namespace, name, patch).await.expect("it can be patched");
    }

    /// An object as the cluster has it.
    pub fn object(&self, group: &str, kind: &str, namespace: &str, name: &str) -> Option<Object> {
        self.cluster.cache().get(&ObjectKey::new(group, kind, namespace, name))
    }

    /// Every object of a kind.
    pub fn objects(&self, group: &str, kind: &str) -> Vec<Object> {
        self.cluster.cache().of_kind(&lynceus_object::GroupKind::new(group, kind))
    }

    /// An Application.
    pub fn application(&self, name: &str) -> Application {
        self.cluster
            .cache()
            .get(&AppKey::new("argocd", name).object_key())
            .and_then(|object| Application::from_object(&object).ok())
            .unwrap_or_default()
    }

    /// `Synced Healthy Succeeded`: what there is to say about an Application in three words.
    pub fn state(&self, name: &str) -> String {
        let status = self.application(name).status;
        let phase = status.operation_state.map(|state| state.phase.to_string()).unwrap_or_default();
        format!("{} {} {phase}", status.sync.status, status.health.status).trim().to_owned()
    }

    /// Lets time pass until something is so. Panics with the Applications' state if it never is.
    pub async fn until(&self, what: &str, holds: impl Fn(&World) -> bool) {
        let end = self.clock.now() + PATIENCE;
        loop {
            self.settle().await;
            if holds(self) {
                return;
            }
            assert!(self.clock.now() < end, "{what} never came:\n{}", self.describe());
            self.sim.advance(STEP).await;
        }
    }

    /// Lets some time pass.
    pub async fn pass(&self, time: SignedDuration) {
        let end = self.clock.now() + time;
        while self.clock.now() < end {
            self.settle().await;
            self.sim.advance(STEP).await;
        }
        self.settle().await;
    }

    /// Lets everybody do what they can do now.
    async fn settle(&self) {
        for _ in 0..4 {
            self.sim.settle().await;
            // Watches, the cache and the engine are tasks of this thread, and reading Git is another thread's.
            for _ in 0..60 {
                tokio::task::yield_now().await;
            }
            tokio::time::sleep(std::time::Duration::from_micros(200)).await;
        }
    }

    fn describe(&self) -> String {
        let mut out = format!("at {}\n", self.clock.now());
        for object in self.objects("argoproj.io", "Application") {
            out.push_str(&lynceus_object::yaml::to_string(object.at(&["status"]).unwrap_or(&Value::Null)));
        }
        out
    }
}

impl Drop for World {
    fn drop(&mut self) {
        self.kill_engine();
        // What is left in the temporary folder harms nobody.
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}
