//! Several embedded clusters and several replicas of the engine, on one clock, with lines between them that can be cut.
//!
//! `Given` is [`Clusters::add`] and [`Clusters::deliver`], `When` is what the test does to lines, Secrets and replicas,
//! `Then` is [`Clusters::until`].

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures::StreamExt as _;
use futures::future::BoxFuture;
use http::{Method, Request, Response};
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt as _, BodyStream, Full, StreamBody};
use jiff::{SignedDuration, Timestamp};
use kube::Client;
use kube::client::Body;
use lynceus_api::Application;
use lynceus_cluster::{Access, ApplyOptions, Clock, Cluster, ClusterError, Deletion, Reach, Registration};
use lynceus_engine::{Engine, Options, bootstrap};
use lynceus_files::FilePath;
use lynceus_object::{Gvk, Object, ObjectKey, Value, manifest, value};
use lynceus_sim::Sim;
use lynceus_sim::attributes::User;
use lynceus_sim::clock::{Clock as _, ManualClock};
use lynceus_source::compose::{Change, Composition, Layout, Message};
use lynceus_source::{Settings, Sources};
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tower::ServiceExt as _;

use crate::fixture;

/// How long a condition may take on the clock.
const PATIENCE: SignedDuration = SignedDuration::from_mins(30);

/// How far the clock moves at a time.
const STEP: SignedDuration = SignedDuration::from_millis(500);

/// How a line is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Condition {
    /// Requests and answers pass.
    Open,
    /// Connections are refused, and those that stand are cut.
    Cut,
    /// Nothing comes back.
    Silent,
}

/// A line to a cluster, and what has been written over it.
#[derive(Clone)]
pub struct Line {
    condition: Arc<watch::Sender<Condition>>,
    writes: Arc<Mutex<Vec<String>>>,
}

impl Default for Line {
    fn default() -> Self {
        Line { condition: Arc::new(watch::Sender::new(Condition::Open)), writes: Arc::default() }
    }
}

impl Line {
    /// Changes how the line is.
    pub fn set(&self, condition: Condition) {
        self.condition.send_replace(condition);
    }

    /// Every write that has passed: `PATCH /api/v1/…`.
    pub fn writes(&self) -> Vec<String> {
        self.writes.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    async fn pass(&self) -> Result<(), std::io::Error> {
        let mut condition = self.condition.subscribe();
        loop {
            match *condition.borrow_and_update() {
                Condition::Open => return Ok(()),
                Condition::Cut => return Err(std::io::ErrorKind::ConnectionRefused.into()),
                Condition::Silent => {}
            }
            // The sender lives as long as the line.
            let _ = condition.changed().await;
        }
    }

    /// Resolves when the line is no longer open.
    fn closed(&self) -> impl Future<Output = ()> + Send + 'static {
        let mut condition = self.condition.subscribe();
        async move {
            let _ = condition.wait_for(|condition| *condition != Condition::Open).await;
        }
    }

    fn note<B>(&self, request: &Request<B>) {
        if request.method() != Method::GET {
            let line = format!("{} {}", request.method(), request.uri().path());
            self.writes.lock().unwrap_or_else(PoisonError::into_inner).push(line);
        }
    }
}

/// The body of an answer.
type Answer = UnsyncBoxBody<bytes::Bytes, Box<dyn std::error::Error + Send + Sync>>;

/// A cluster that can be reached over lines.
#[derive(Clone)]
struct Site {
    sim: Sim,
    /// The credentials that it accepts; none for any.
    accepts: Arc<Mutex<Option<Access>>>,
    /// The line that everybody shares.
    line: Line,
    /// The view of somebody who always gets through.
    eye: Arc<Cluster>,
}

impl Site {
    /// A client that comes over two lines, with credentials.
    fn client(&self, own: Line, access: Access) -> Client {
        let site = self.clone();
        let service = tower::service_fn(move |request: Request<Body>| {
            let (site, own, access) = (site.clone(), own.clone(), access.clone());
            async move { site.answer(&own, &access, request).await }
        });
        Client::new(service, "default")
    }

    async fn answer(
        &self,
        own: &Line,
        access: &Access,
        request: Request<Body>,
    ) -> Result<Response<Answer>, std::io::Error> {
        self.line.pass().await?;
        own.pass().await?;
        let accepts = self.accepts.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if accepts.is_some_and(|accepts| accepts != *access) {
            let text = r#"{"kind":"Status","status":"Failure","message":"Unauthorized","reason":"Unauthorized","code":401}"#;
            let body = Full::new(bytes::Bytes::from_static(text.as_bytes())).map_err(Into::into);
            let answer = Response::builder().status(401).body(body.boxed_unsync());
            return answer.map_err(std::io::Error::other);
        }
        own.note(&request);
        let answer = self.sim.service(User::admin()).oneshot(request).await.map_err(std::io::Error::other)?;
        let closed = futures::future::select(Box::pin(own.closed()), Box::pin(self.line.closed()));
        Ok(answer.map(|body| {
            let frames = BodyStream::new(body).map(|frame| frame.map_err(Into::into)).take_until(closed);
            StreamBody::new(frames).boxed_unsync()
        }))
    }
}

/// The clock of the engines, with a wall clock that can jump.
struct Hand {
    clock: ManualClock,
    jump: Arc<Mutex<SignedDuration>>,
}

impl Clock for Hand {
    fn now(&self) -> Timestamp {
        self.clock.now() + *self.jump.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn monotonic(&self) -> Duration {
        Duration::try_from(self.clock.now().duration_since(Timestamp::UNIX_EPOCH)).unwrap_or_default()
    }

    fn sleep(&self, time: Duration) -> BoxFuture<'_, ()> {
        self.clock.sleep_until(self.clock.now() + time)
    }
}

/// How one replica reaches clusters: over lines of its own.
struct Reaching {
    sites: Arc<Mutex<BTreeMap<String, Site>>>,
    lines: Lines,
}

type Lines = Arc<Mutex<BTreeMap<String, Line>>>;

impl Reach for Reaching {
    fn client<'a>(&'a self, registration: &'a Registration) -> BoxFuture<'a, Result<Client, ClusterError>> {
        Box::pin(async move {
            let server = registration.server.to_string();
            let site = self.sites.lock().unwrap_or_else(PoisonError::into_inner).get(&server).cloned();
            let line = line(&self.lines, &server);
            match site {
                Some(site) => Ok(site.client(line, registration.access.clone())),
                None => Err(ClusterError::Configure("there is no such host".into())),
            }
        })
    }
}

fn line(lines: &Lines, server: &str) -> Line {
    lines.lock().unwrap_or_else(PoisonError::into_inner).entry(server.to_owned()).or_default().clone()
}

struct Replica {
    engine: Arc<Engine>,
    work: JoinHandle<()>,
    lines: Lines,
}

/// The name of the line to the home cluster.
pub const HOME: &str = "home";

/// Several clusters and several replicas.
pub struct Clusters {
    clock: ManualClock,
    jump: Arc<Mutex<SignedDuration>>,
    home: Site,
    sites: Arc<Mutex<BTreeMap<String, Site>>>,
    replicas: BTreeMap<String, Replica>,
    repository: Composition,
    folder: PathBuf,
}

#[allow(clippy::expect_used, reason = "a test that cannot set its world up has to stop")]
impl Clusters {
    /// A home cluster, an empty repository, and nobody at work.
    pub async fn new() -> Self {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let folder = std::env::temp_dir().join(format!("lynceus-fleet-{}-{number}", std::process::id()));
        let clock = ManualClock::new("2026-01-01T00:00:00Z".parse().expect("a time"));
        let home = site(&clock).await;
        bootstrap(&home.eye, "argocd").await.expect("the cluster can be set up");
        let repository =
            Composition::create(folder.join("repository"), Layout::Bare).expect("a repository can be made");
        let (jump, sites, replicas) = (Arc::default(), Arc::default(), BTreeMap::new());
        Clusters { clock, jump, home, sites, replicas, repository, folder }
    }

    /// Makes a cluster at an address, and registers it by a Secret under a name, with a token.
    pub async fn add(&self, name: &str, token: &str) {
        let site = site(&self.clock).await;
        self.sites.lock().unwrap_or_else(PoisonError::into_inner).insert(server(name), site);
        self.accept(name, token);
        self.register(name, token, "").await;
    }

    /// Writes the Secret of a cluster; `more` is added to its data as YAML lines.
    pub async fn register(&self, name: &str, token: &str, more: &str) {
        self.apply(&secret(name, token, more)).await;
    }

    /// From now on a cluster accepts this token and no other.
    pub fn accept(&self, name: &str, token: &str) {
        let access = registration(name, token).access;
        let sites = self.sites.lock().unwrap_or_else(PoisonError::into_inner);
        let site = sites.get(&server(name)).expect("a cluster");
        *site.accepts.lock().unwrap_or_else(PoisonError::into_inner) = Some(access);
    }

    /// The line of a cluster that everybody shares.
    pub fn line(&self, name: &str) -> Line {
        self.site(name).line
    }

    /// The line of one replica to a cluster, or to [`HOME`].
    pub fn line_of(&self, replica: &str, name: &str) -> Line {
        let to = if name == HOME { HOME.to_owned() } else { server(name) };
        line(&self.replicas[replica].lines, &to)
    }

    fn site(&self, name: &str) -> Site {
        if name == HOME {
            return self.home.clone();
        }
        let sites = self.sites.lock().unwrap_or_else(PoisonError::into_inner);
        sites.get(&server(name)).cloned().expect("a cluster")
    }

    /// Starts a replica that is alone.
    pub async fn start_alone(&mut self) {
        self.start_with("alone", Options { replica: None, ..Options::default() }).await;
    }

    /// Starts a replica among others.
    pub async fn start(&mut self, name: &str) {
        self.start_with(name, Options { replica: Some(name.into()), ..Options::default() }).await;
    }

    /// Starts a replica with options.
    pub async fn start_with(&mut self, name: &str, options: Options) {
        let lines = Lines::default();
        let client = self.home.client(line(&lines, HOME), Access::default());
        let watching = lynceus_cluster::Options {
            home: "argocd".into(),
            read_only: options.observe,
            rate: lynceus_cluster::Rate::UNBOUNDED,
            ..lynceus_cluster::Options::default()
        };
        let cluster = Cluster::connect(client, watching).await.expect("the home cluster can be read");
        let sources = Sources::new(self.folder.join(format!("mirrors-{name}")), Settings::default());
        let clock = Arc::new(Hand { clock: self.clock.clone(), jump: self.jump.clone() });
        let reach = Arc::new(Reaching { sites: self.sites.clone(), lines: lines.clone() });
        let engine = Engine::new(cluster, sources, clock, Options { reach, ..options });
        let work = tokio::spawn(engine.clone().run());
        self.replicas.insert(name.to_owned(), Replica { engine, work, lines });
    }

    /// Ends a replica as `kill -9` would.
    pub fn kill(&mut self, name: &str) {
        if let Some(replica) = self.replicas.remove(name) {
            replica.work.abort();
        }
    }

    /// Asks a replica to stop and waits until it has, while the clock goes on.
    pub async fn stop(&mut self, name: &str) {
        let replica = self.replicas.remove(name).expect("a replica");
        replica.engine.stop();
        for _ in 0..60 {
            self.step().await;
            if replica.work.is_finished() {
                return;
            }
        }
        unreachable!("replica {name} does not stop");
    }

    /// The engine of a replica.
    pub fn engine(&self, name: &str) -> &Arc<Engine> {
        &self.replicas[name].engine
    }

    /// The names of the clusters that a replica holds, in order; the home cluster is `home`.
    pub fn held(&self, replica: &str) -> Vec<String> {
        let name = |server: &str| {
            let end = server.trim_start_matches("https://");
            if end == "kubernetes.default.svc" { HOME.to_owned() } else { end.to_owned() }
        };
        self.engine(replica).held().iter().map(|server| name(server)).collect()
    }

    /// Makes the wall clock of all engines jump.
    pub fn jump(&self, by: SignedDuration) {
        *self.jump.lock().unwrap_or_else(PoisonError::into_inner) += by;
    }

    /// Commits files to `main`; an empty text removes the file.
    pub fn commit(&self, files: &[(&str, &str)]) {
        let changes = files.iter().map(|(path, text)| {
            let change =
                if text.is_empty() { Change::Remove } else { Change::Write(text.as_bytes().to_vec()) };
            (FilePath::new(path).expect("a path"), change)
        });
        let message =
            Message { name: "Test", email: "test@example.com", when: self.clock.now(), text: "A change\n" };
        self.repository.commit("main", &message, changes).expect("a commit can be made");
    }

    /// Applies manifests to the home cluster.
    pub async fn apply(&self, text: &str) {
        self.apply_to(HOME, text).await;
    }

    /// Applies manifests to a cluster.
    pub async fn apply_to(&self, cluster: &str, text: &str) {
        let read =
            manifest::read(&FilePath::root(), text.as_bytes(), &lynceus_object::yaml::Options::default());
        assert!(read.diagnostics.is_empty(), "{:?}", read.diagnostics);
        let eye = self.site(cluster).eye;
        for placed in read.objects {
            eye.apply(&placed.object, ApplyOptions::default()).await.expect("it can be applied");
        }
    }

    /// Creates an Application for a path of the repository and a cluster, synced by itself; `more` is merged into it.
    pub async fn deliver(&self, name: &str, path: &str, cluster: &str, more: &Value) {
        let mut object = value!({
            "apiVersion": "argoproj.io/v1alpha1", "kind": "Application",
            "metadata": {"name": name, "namespace": "argocd"},
            "spec": {
                "project": "default",
                "source": {
                    "repoURL": format!("file://{}", self.folder.join("repository").display()),
                    "path": path, "targetRevision": "main",
                },
                "destination": {"namespace": "default", "name": if cluster == HOME { "in-cluster" } else { cluster }},
                "syncPolicy": {"automated": {"prune": true, "selfHeal": true}},
            },
        });
        object = lynceus_object::patch::merge(&object, more).unwrap_or(object);
        self.apply(&lynceus_object::yaml::to_string(&object)).await;
    }

    /// Deletes an object of a cluster.
    pub async fn delete(&self, cluster: &str, kind: &str, namespace: &str, name: &str) {
        let gvk = match kind {
            "Application" => Gvk::new("argoproj.io", "v1alpha1", kind),
            "Job" => Gvk::new("batch", "v1", kind),
            _ => Gvk::new("", "v1", kind),
        };
        let eye = self.site(cluster).eye;
        eye.delete(&gvk, namespace, name, &Deletion::default()).await.expect("it can be deleted");
    }

    /// Changes an Application by a merge patch.
    pub async fn patch(&self, name: &str, patch: &Value) {
        let gvk = Gvk::new("argoproj.io", "v1alpha1", "Application");
        self.home.eye.patch_record(&gvk, "argocd", name, patch).await.expect("it can be patched");
    }

    /// A ConfigMap or Job of a cluster.
    pub fn object(&self, cluster: &str, kind: &str, name: &str) -> Option<Object> {
        let group = if kind == "Job" { "batch" } else { "" };
        self.site(cluster).eye.cache().get(&ObjectKey::new(group, kind, "default", name))
    }

    /// An object of the home namespace.
    pub fn at_home(&self, group: &str, kind: &str, name: &str) -> Option<Object> {
        self.home.eye.cache().get(&ObjectKey::new(group, kind, "argocd", name))
    }

    /// An Application.
    pub fn application(&self, name: &str) -> Application {
        fixture::application(self.home.eye.cache(), name)
    }

    /// `Synced Healthy Succeeded`: what there is to say about an Application in three words.
    pub fn state(&self, name: &str) -> String {
        fixture::state(&self.application(name))
    }

    /// What is said of an Application: `ComparisonError: …`, one line for each condition.
    pub fn said(&self, name: &str) -> String {
        fixture::said(&self.application(name))
    }

    /// Lets time pass until something is so. Panics with the Applications' state if it never is.
    pub async fn until(&self, what: &str, holds: impl Fn(&Clusters) -> bool) {
        let end = self.clock.now() + PATIENCE;
        loop {
            self.settle().await;
            if holds(self) {
                return;
            }
            assert!(self.clock.now() < end, "{what} never came:\n{}", self.describe());
            self.step().await;
        }
    }

    /// Lets some time pass.
    pub async fn pass(&self, time: SignedDuration) {
        let end = self.clock.now() + time;
        while self.clock.now() < end {
            self.step().await;
        }
    }

    async fn step(&self) {
        self.settle().await;
        self.clock.advance(STEP);
        self.settle().await;
    }

    /// Lets everybody do what they can do now.
    async fn settle(&self) {
        let sites: Vec<Site> =
            self.sites.lock().unwrap_or_else(PoisonError::into_inner).values().cloned().collect();
        for _ in 0..3 {
            self.home.sim.settle().await;
            for site in &sites {
                site.sim.settle().await;
            }
            for _ in 0..60 {
                tokio::task::yield_now().await;
            }
            // Reading Git is another thread's, and watches pause for moments of the machine's own time.
            tokio::time::sleep(Duration::from_micros(200)).await;
        }
    }

    fn describe(&self) -> String {
        let mut out = format!("at {}\n", self.clock.now());
        for object in self.home.eye.cache().of_kind(&lynceus_engine::application_kind()) {
            out.push_str(&lynceus_object::yaml::to_string(object.at(&["status"]).unwrap_or(&Value::Null)));
        }
        for name in self.replicas.keys() {
            out.push_str(&format!("{name} holds {:?}\n", self.held(name)));
        }
        out
    }
}

impl Drop for Clusters {
    fn drop(&mut self) {
        for replica in self.replicas.values() {
            replica.work.abort();
        }
        // What is left in the temporary folder harms nobody.
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

#[allow(clippy::expect_used, reason = "a test that cannot set its world up has to stop")]
async fn site(clock: &ManualClock) -> Site {
    let options =
        lynceus_sim::Options { clock: Some(clock.clone()), seed: Some(7), ..lynceus_sim::Options::default() };
    let sim = Sim::start(options).await.expect("the embedded cluster starts");
    let client = Client::new(sim.service(User::admin()), "default");
    let eye = Cluster::connect(
        client,
        lynceus_cluster::Options {
            home: "argocd".into(),
            rate: lynceus_cluster::Rate::UNBOUNDED,
            ..Default::default()
        },
    )
    .await
    .expect("the cluster can be read");
    Site { sim, accepts: Arc::default(), line: Line::default(), eye }
}

fn server(name: &str) -> String {
    format!("https://{name}")
}

fn secret(name: &str, token: &str, more: &str) -> String {
    format!(
        "apiVersion: v1\nkind: Secret\nmetadata:\n  name: cluster-{name}\n  namespace: argocd\n  labels:\n    \
         argocd.argoproj.io/secret-type: cluster\nstringData:\n  server: {}\n  name: {name}\n  config: \
         '{{\"bearerToken\": \"{token}\"}}'\n{more}",
        server(name)
    )
}

/// The registration that a Secret with this token is.
#[allow(clippy::expect_used, reason = "a test that cannot set its world up has to stop")]
fn registration(name: &str, token: &str) -> Registration {
    let config = format!("{{\"bearerToken\": \"{token}\"}}");
    let mut secret = Object::named(&Gvk::new("", "v1", "Secret"), "argocd", name);
    secret.set(&["data", "server"], base64(&server(name)));
    secret.set(&["data", "config"], base64(&config));
    Registration::read(&secret).expect("a registration")
}

fn base64(text: &str) -> String {
    use ::base64::Engine as _;
    ::base64::engine::general_purpose::STANDARD.encode(text)
}
