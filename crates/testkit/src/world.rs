//! A whole system in one process: Git, a Kubernetes and the engine.
//!
//! `Given` is [`World::commit`] and [`World::apply`], `When` is whatever the test does to either, `Then` is
//! [`World::until`]. By default the Kubernetes is the embedded one on a clock that the world moves, so that hours of
//! waves, retries and polls pass in milliseconds. With `LYNCEUS_RIG=<kubeconfig>` the same scenarios are played on that
//! real cluster, one at a time, each on a cluster that was made as new.
//!
//! A scenario ends with [`World::end`], which writes down what it came to if `LYNCEUS_TRANSCRIPTS` names a folder, so
//! that the two can be compared.

mod call;
mod clean;
mod stage;
mod transcript;
mod turn;
mod wire;

pub use call::{Call, Write};
pub use stage::RIG;
pub use transcript::TRANSCRIPTS;
pub use wire::{Trouble, Wire};

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicUsize, Ordering};

use http::{Method, Request};
use jiff::{SignedDuration, Timestamp};
use kube::client::Body;
use lynceus_api::Application;
use lynceus_cluster::{ApplyOptions, Cluster, ClusterError, Deletion};
use lynceus_engine::{Engine, Options, bootstrap};
use lynceus_files::FilePath;
use lynceus_object::{Gvk, Object, ObjectKey, Value, json, manifest};
use lynceus_source::compose::{Change, Composition, Layout, Message};
use lynceus_source::{CommitId, Settings, Sources};
use stage::{Crew, Stage};
use tokio::task::JoinHandle;

use crate::fixture;

/// The namespace of Applications.
const HOME: &str = "argocd";

/// How long nothing may happen before a scenario counts as over.
const REST: SignedDuration = SignedDuration::from_millis(2_500);

/// How long somebody waits before looking again.
const MOMENT: SignedDuration = SignedDuration::from_millis(200);

/// A system under test.
pub struct World {
    stage: Stage,
    wire: Wire,
    /// The cluster as the engine sees it.
    cluster: Arc<Cluster>,
    /// The cluster as users have it: what they do is not the engine's doing.
    hand: Arc<Cluster>,
    engine: Option<(Arc<Engine>, JoinHandle<()>)>,
    repository: Composition,
    git: Settings,
    folder: PathBuf,
    commits: AtomicI64,
    ended: bool,
}

/// What a world can be told before it begins.
#[derive(Default)]
pub struct Setting {
    /// How Git is read.
    pub git: Settings,
    /// The user in whose name the engine asks the cluster; may do everything if none.
    pub user: Option<String>,
    /// Manifests that are there before the engine starts, such as that user's rights.
    pub given: String,
    /// What the embedded cluster is like. A scenario that says so is for the embedded cluster alone.
    pub stage: Option<lynceus_sim::Stage>,
}

impl World {
    /// An empty cluster, an empty repository, and an engine at work.
    pub async fn new() -> Self {
        World::open(Setting::default()).await
    }

    /// A world whose engine reads Git with these settings.
    pub async fn with(git: Settings) -> Self {
        World::open(Setting { git, ..Setting::default() }).await
    }

    /// A world with everything that can be told it before it begins.
    #[allow(clippy::expect_used, reason = "a test that cannot set its world up has to stop")]
    pub async fn open(setting: Setting) -> Self {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let folder = std::env::temp_dir().join(format!("lynceus-world-{}-{number}", std::process::id()));
        let stage = Stage::open(setting.stage).await;
        if stage.is_real() {
            clean::clean(&stage.client()).await.expect("the rig can be cleaned");
        }
        // Not by the hand below, which would begin to watch what it has just learned of.
        let first = Cluster::open(stage.client(), unhurried()).await.expect("the cluster can be read");
        bootstrap(&first, HOME).await.expect("the cluster can be set up");
        drop(first);
        let hand = Cluster::open(stage.client(), unhurried()).await.expect("the cluster can be read");
        for object in objects(&setting.given) {
            hand.apply(&object, ApplyOptions::default()).await.expect("it can be applied");
        }
        let wire = Wire::default();
        let client = wire.client(stage.client(), setting.user);
        let options = lynceus_cluster::Options { home: HOME.into(), ..unhurried() };
        let cluster = Cluster::connect(client, options).await.expect("the cluster can be read");
        let repository =
            Composition::create(folder.join("repository"), Layout::Bare).expect("a repository can be made");
        let mut world = World {
            stage,
            wire,
            cluster,
            hand,
            engine: None,
            repository,
            git: setting.git,
            folder,
            commits: AtomicI64::new(0),
            ended: false,
        };
        world.start_engine();
        world
    }

    /// The wire between the engine and the cluster.
    pub fn wire(&self) -> &Wire {
        &self.wire
    }

    /// The cluster as users have it.
    pub fn hand(&self) -> &Arc<Cluster> {
        &self.hand
    }

    /// The cluster as the engine sees it.
    pub fn cluster(&self) -> &Arc<Cluster> {
        &self.cluster
    }

    /// What the engine wrote to applications' objects so far, in order: `create configmaps default/a`.
    pub fn written(&self) -> Vec<String> {
        let writes = self.wire.writes();
        let own =
            |write: &&Write| !matches!(write.call.resource.as_str(), "events" | "applications.argoproj.io");
        writes.iter().filter(own).map(Write::to_string).collect()
    }

    /// Starts an engine; one that runs is stopped as `kill -9` would.
    pub fn start_engine(&mut self) {
        self.kill_engine();
        let sources = Sources::new(self.folder.join("mirrors"), self.git.clone());
        let post = lynceus_engine::PostOptions { environment_proxy: false, ..Default::default() };
        let options = Options {
            children: true,
            local_poll: self.stage.local_poll(),
            notifications: Some(post),
            ..Options::default()
        };
        let engine = Engine::new(self.cluster.clone(), sources, self.stage.clock(), options);
        let work = tokio::spawn(engine.clone().run());
        self.engine = Some((engine, work));
    }

    /// Stops the engine in the middle of whatever it does.
    pub fn kill_engine(&mut self) {
        if let Some((_, work)) = self.engine.take() {
            work.abort();
        }
    }

    /// The engine that is at work, for what else is to be asked of it.
    pub fn engine(&self) -> Option<Arc<Engine>> {
        self.engine.as_ref().map(|(engine, _)| engine.clone())
    }

    /// How often ApplicationSets were generated since the engine began, those not counted of which nothing had changed.
    pub fn generations(&self) -> u64 {
        self.engine.as_ref().map_or(0, |(engine, _)| engine.generations())
    }

    /// What would be done for an ApplicationSet that is there, a line for each Application.
    pub async fn preview(&self, namespace: &str, name: &str) -> String {
        let Some((engine, _)) = &self.engine else { return String::new() };
        let found = engine.preview_of_set(&lynceus_engine::AppKey::new(namespace, name)).await;
        match found {
            Some(Ok((_, preview))) => preview.plan.to_string(),
            Some(Err(why)) => why,
            None => "there is none".to_owned(),
        }
    }

    /// How many sources the engine has rendered so far; what it remembered does not count.
    pub fn renderings(&self) -> u64 {
        self.engine.as_ref().map_or(0, |(engine, _)| engine.renderer().renderings())
    }

    /// What the engine finds if it looks at an Application now, without doing anything about it.
    #[allow(clippy::expect_used, reason = "a test that looks without an engine has to stop")]
    pub async fn look(&self, name: &str) -> lynceus_engine::Look {
        let (engine, _) = self.engine.as_ref().expect("an engine at work");
        engine.look(&self.application(name), &lynceus_engine::Aim::default()).await
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
        self.repository.commit("main", &self.message("A change\n"), changes).expect("a commit can be made")
    }

    /// By count and not by the clock, so that the same commit has the same name on every stage.
    #[allow(clippy::expect_used, reason = "a test that cannot commit has to stop")]
    fn message<'a>(&self, text: &'a str) -> Message<'a> {
        let count = self.commits.fetch_add(1, Ordering::Relaxed);
        let when = Timestamp::from_second(1_767_225_600 + count).expect("a time");
        Message { name: "Test", email: "test@example.com", when, text }
    }

    /// Commits files to `main` with a signature, which `sign` makes of what is signed.
    pub fn commit_signed(&self, files: &[(&str, &str)], sign: &mut dyn FnMut(&[u8]) -> String) -> CommitId {
        self.commit_signed_as("A change\n", files, sign)
    }

    /// The same, with a message.
    #[allow(clippy::expect_used, reason = "a test that cannot commit has to stop")]
    pub fn commit_signed_as(
        &self,
        text: &str,
        files: &[(&str, &str)],
        sign: &mut dyn FnMut(&[u8]) -> String,
    ) -> CommitId {
        let changes = files.iter().map(|(path, text)| {
            (FilePath::new(path).expect("a path"), Change::Write(text.as_bytes().to_vec()))
        });
        let message = self.message(text);
        self.repository.signed_commit("main", &message, changes, sign).expect("a commit can be made")
    }

    /// Points `main` at another commit, as a push by force does.
    #[allow(clippy::expect_used, reason = "a test that cannot push has to stop")]
    pub fn force(&self, commit: CommitId) {
        self.repository.branch("main", commit).expect("a branch can be moved");
    }

    /// What is said of an Application: `ComparisonError: …`, one line for each condition.
    pub fn said(&self, name: &str) -> String {
        fixture::said(&self.application(name))
    }

    /// Applies manifests as a user would with kubectl. A kind that was defined just now may take a moment to be served.
    #[allow(clippy::expect_used, reason = "a test that cannot apply has to stop")]
    pub async fn apply(&self, text: &str) {
        for object in objects(text) {
            let mut patience = 50;
            loop {
                match self.hand.apply(&object, ApplyOptions::default()).await {
                    Err(ClusterError::UnknownKind { .. }) if patience > 0 => patience -= 1,
                    other => break drop(other.expect("it can be applied")),
                }
                self.pass(MOMENT).await;
            }
        }
    }

    /// Sends any request as a user who may do everything, and gives the code and the answer.
    #[allow(clippy::expect_used, reason = "a test that cannot ask has to stop")]
    pub async fn ask(&self, method: &str, path: &str, media_type: &str, body: &Value) -> (u16, Value) {
        let method = Method::from_bytes(method.as_bytes()).expect("a method");
        let request = Request::builder().method(method).uri(path).header("content-type", media_type);
        let request = request.body(Body::from(json::to_vec(body))).expect("a request");
        let answer = self.stage.client().send(request).await.expect("an answer");
        let code = answer.status().as_u16();
        let bytes = answer.into_body().collect_bytes().await.expect("a whole answer");
        (code, json::parse(&bytes).unwrap_or_default())
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
        self.hand.delete(&gvk, namespace, name, &Deletion::default()).await.expect("it can be deleted");
    }

    /// Changes an object by a merge patch.
    #[allow(clippy::expect_used, reason = "a test that cannot patch has to stop")]
    pub async fn patch(&self, api_version: &str, kind: &str, namespace: &str, name: &str, patch: &Value) {
        let gvk = Gvk::from_manifest(api_version, kind);
        self.hand.patch_record(&gvk, namespace, name, patch).await.expect("it can be patched");
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
        fixture::application(self.cluster.cache(), name)
    }

    /// `Synced Healthy Succeeded`: what there is to say about an Application in three words.
    pub fn state(&self, name: &str) -> String {
        fixture::state(&self.application(name))
    }

    /// Lets time pass until something is so. Panics with the Applications' state if it never is.
    pub async fn until(&self, what: &str, holds: impl Fn(&World) -> bool) {
        let end = self.stage.now() + self.stage.patience();
        loop {
            self.stage.settle(&self.crew()).await;
            if holds(self) {
                return;
            }
            assert!(self.stage.now() < end, "{what} never came:\n{}", self.describe());
            self.stage.wait(self.cluster.cache()).await;
        }
    }

    /// Lets some time pass in which nothing should happen; on a real cluster only a few seconds of it.
    pub async fn pass(&self, time: SignedDuration) {
        self.stage.pass(time, &self.crew()).await;
    }

    /// Ends the scenario: lets everything come to rest, and writes down what it came to.
    #[allow(
        clippy::expect_used,
        reason = "a transcript that cannot be written would pass as one that agrees"
    )]
    pub async fn end(mut self) {
        self.ended = true;
        let Some(file) = transcript::file() else { return };
        self.pass(REST).await;
        let hide = [(self.folder.display().to_string(), "WORLD")];
        let applications = self.objects("argoproj.io", "Application");
        let text = transcript::text(&applications, &self.wire.writes(), &hide);
        std::fs::create_dir_all(file.parent().unwrap_or(&file)).expect("the folder can be made");
        std::fs::write(file, text).expect("the transcript can be written");
    }

    fn crew(&self) -> Crew<'_> {
        let engine = self.engine.as_ref().map(|(engine, _)| engine.as_ref());
        Crew { cache: self.cluster.cache(), engine }
    }

    fn describe(&self) -> String {
        let mut out = format!("at {}\n", self.stage.now());
        for object in self.objects("argoproj.io", "Application") {
            out.push_str(&lynceus_object::yaml::to_string(object.at(&["status"]).unwrap_or(&Value::Null)));
        }
        for write in self.wire.writes().iter().rev().take(20).rev() {
            out.push_str(&format!("{write}\n"));
        }
        out
    }
}

/// A client without a limit: what is tested here is not how long it waits for its turn.
fn unhurried() -> lynceus_cluster::Options {
    lynceus_cluster::Options { rate: lynceus_cluster::Rate::UNBOUNDED, ..lynceus_cluster::Options::default() }
}

/// The objects of manifests.
fn objects(text: &str) -> Vec<Object> {
    let read = manifest::read(&FilePath::root(), text.as_bytes(), &lynceus_object::yaml::Options::default());
    assert!(read.diagnostics.is_empty(), "{:?}", read.diagnostics);
    read.objects.into_iter().map(|placed| placed.object).collect()
}

impl Drop for World {
    fn drop(&mut self) {
        self.kill_engine();
        // What is left in the temporary folder harms nobody.
        let _ = std::fs::remove_dir_all(&self.folder);
        let noted = self.ended || transcript::file().is_none();
        assert!(noted || std::thread::panicking(), "a scenario has to say where it ends: world.end().await");
    }
}
