//! A cluster, started.

use std::fs::{File, TryLockError};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use tokio::sync::Mutex;

use crate::ApiError;
use crate::attributes::User;
use crate::auth::{Authenticator, TokenFile};
use crate::bootstrap;
use crate::clock::{Clock, ManualClock, SystemClock};
use crate::controllers::Controllers;
use crate::core::Core;
use crate::http::Service;
use crate::http::server::{ServeError, Server};
use crate::identity::{Identity, IdentityError};
use crate::kinds::Additions;
use crate::local::Local;
use crate::operators::{self, Operator};
use crate::random::Random;
use crate::snapshot;
use crate::stage::Stage;
use crate::store::{OpenError, Recovery, Store};

/// How a cluster is started.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Where objects and certificates are kept; nowhere if there is none.
    pub data_dir: Option<PathBuf>,
    /// The clock to run on; the system's if there is none.
    pub clock: Option<ManualClock>,
    /// The seed of names and uids, for runs that have to end the same way.
    pub seed: Option<u64>,
    /// Whether controllers stay off: objects are then only stored.
    pub without_controllers: bool,
    /// Whether there are no nodes: pods are made by controllers and stay pending.
    pub without_nodes: bool,
    /// Whether requests without credentials are turned away, rather than being the anonymous user's.
    pub without_anonymous: bool,
    /// Tokens that let users in beside those that the cluster gives out.
    pub tokens: TokenFile,
    /// Root certificates, as PEM, that sign for clients beside the cluster's own.
    pub client_roots: String,
    /// What built-in admission adds to new objects.
    pub additions: Additions,
    /// What the cluster is like.
    pub stage: Stage,
    /// Operators beside those that are shipped, or in place of the one with the same name.
    pub operators: Vec<Arc<Operator>>,
}

impl Options {
    /// Those of a cluster that takes the same course every time: its clock begins with the year 2026 and stands still until it
    /// is moved, and names and uids are drawn from one seed.
    pub fn by_hand(stage: Stage) -> Self {
        Options { clock: Some(ManualClock::from_2026()), seed: Some(1), stage, ..Options::default() }
    }
}

/// Why a cluster did not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The data directory cannot be used.
    #[error("cannot open the data directory")]
    Data(#[source] OpenError),
    /// There are no certificates.
    #[error("cannot set up the cluster's certificates")]
    Identity(#[source] IdentityError),
    /// The first objects could not be made.
    #[error("cannot make the cluster's first objects")]
    Bootstrap(#[source] ApiError),
}

/// An embedded Kubernetes cluster.
#[derive(Clone, Debug)]
pub struct Sim(Arc<Running>);

#[derive(Debug)]
struct Running {
    core: Arc<Core>,
    identity: Identity,
    client_roots: String,
    recovery: Recovery,
    told: Vec<String>,
    manual: Option<ManualClock>,
    controllers: Mutex<Option<Controllers>>,
    /// Held as long as the cluster runs, so that no other process takes the data directory.
    _lock: Option<File>,
}

impl Sim {
    /// Starts a cluster: reads what is stored, makes what is missing, and runs the controllers (on
    /// the system's clock in a task of their own, on a manual clock only when told to).
    pub async fn start(options: Options) -> Result<Self, StartError> {
        let (store, identity, recovery, lock) = match &options.data_dir {
            Some(directory) => open(directory)?,
            None => {
                let identity = Identity::generate().map_err(StartError::Identity)?;
                (Store::ephemeral(), identity, Recovery::default(), None)
            }
        };
        let clock: Arc<dyn Clock> = match &options.clock {
            Some(clock) => Arc::new(clock.clone()),
            None => Arc::new(SystemClock),
        };
        let random = options.seed.map_or_else(Random::from_entropy, Random::seeded);
        let authenticator = Authenticator::new(identity.keys()).map_err(StartError::Bootstrap)?;
        let authenticator = authenticator.with_tokens(options.tokens);
        let authenticator =
            if options.without_anonymous { authenticator.without_anonymous() } else { authenticator };
        let root = identity.root.as_str().into();
        let (additions, mut stage) = (options.additions, options.stage);
        // The objects are needed once, and may be many.
        let begun = stage.snapshot.take();
        stage.snapshot = begun.as_ref().map(|snapshot| Arc::new(snapshot.outline()));
        let core = Arc::new(Core::new(store, clock, random, authenticator, root, additions, stage));
        let local = Local::new(
            Arc::clone(&core),
            User::system("system:kube-controller-manager"),
            "kube-controller-manager",
        );
        let operators = operators::with(&options.operators);
        // A cluster that was there before goes on as it is.
        let told = match begun.filter(|_| snapshot::is_due(&core)) {
            Some(snapshot) => snapshot::load(&core, &snapshot).await,
            None => Vec::new(),
        };
        let controllers = (!options.without_controllers).then(|| match options.without_nodes {
            true => Controllers::new(local, operators).without_nodes(),
            false => Controllers::new(local, operators),
        });
        bootstrap::run(&core).await.map_err(StartError::Bootstrap)?;
        let sim = Sim(Arc::new(Running {
            core,
            identity,
            client_roots: options.client_roots,
            recovery,
            told,
            manual: options.clock,
            controllers: Mutex::new(controllers),
            _lock: lock,
        }));
        if sim.0.manual.is_none() {
            sim.spawn_controllers();
        }
        Ok(sim)
    }

    /// Starts a cluster, and comes back when its controllers have nothing left to do at this time.
    pub async fn start_at_rest(options: Options) -> Result<Self, StartError> {
        let sim = Sim::start(options).await?;
        sim.settle().await;
        Ok(sim)
    }

    /// What had to be repaired in the data directory.
    pub fn recovery(&self) -> &Recovery {
        &self.0.recovery
    }

    /// What is not as it was in the cluster that this one began as.
    pub fn told(&self) -> &[String] {
        &self.0.told
    }

    /// The cluster's certificates.
    pub fn identity(&self) -> &Identity {
        &self.0.identity
    }

    /// A client inside the process, as the administrator.
    pub fn local(&self) -> Local {
        Local::new(Arc::clone(&self.0.core), User::admin(), "lynceus")
    }

    /// The API as a service in this process, for `kube::Client` and the like; requests come from `user`.
    pub fn service(&self, user: User) -> Service {
        Service::new(Arc::clone(&self.0.core), user)
    }

    /// Serves the API over TLS. Port 0 picks a free one.
    pub async fn serve(&self, address: SocketAddr) -> Result<Server, ServeError> {
        let running = &self.0;
        Server::start(Arc::clone(&running.core), &running.identity, &running.client_roots, address).await
    }

    /// A kubeconfig for the administrator.
    pub fn kubeconfig(&self, server: &str) -> String {
        self.0.identity.kubeconfig(server)
    }

    /// Lets the controllers work until they have nothing to do at this time. Gives the time at which
    /// the next one wants to work again.
    pub async fn settle(&self) -> Option<Timestamp> {
        match &mut *self.0.controllers.lock().await {
            Some(controllers) => controllers.settle().await,
            None => None,
        }
    }

    /// Lets one controller look at what it has to do. Says whether one had anything.
    pub async fn step(&self) -> bool {
        match &mut *self.0.controllers.lock().await {
            Some(controllers) => controllers.step().await,
            None => false,
        }
    }

    /// Moves a manual clock on, step by step through everything that is due on the way.
    pub async fn advance(&self, by: SignedDuration) {
        let Some(clock) = &self.0.manual else { return };
        let end = clock.now().saturating_add(by).unwrap_or(Timestamp::MAX);
        loop {
            let due = self.settle().await;
            match due.filter(|due| *due <= end) {
                Some(due) if due > clock.now() => clock.set(due),
                // A timer in the past would fire for ever; settle has had its chance.
                _ => break,
            }
        }
        clock.set(end);
        self.settle().await;
    }

    /// Runs the controllers for as long as the cluster is there.
    fn spawn_controllers(&self) {
        let running = Arc::downgrade(&self.0);
        let clock = Arc::clone(&self.0.core.clock);
        let mut changed = self.0.core.store.follow();
        tokio::spawn(async move {
            loop {
                changed.mark_unchanged();
                let due = match running.upgrade() {
                    Some(running) => Sim(running).settle().await,
                    None => return,
                };
                let due = async {
                    match due {
                        Some(due) => clock.sleep_until(due).await,
                        None => std::future::pending().await,
                    }
                };
                tokio::select! {
                    changed = changed.changed() => if changed.is_err() { return },
                    () = due => {}
                }
            }
        });
    }
}

fn open(directory: &Path) -> Result<(Store, Identity, Recovery, Option<File>), StartError> {
    let lock = lock(directory).map_err(StartError::Data)?;
    let (store, recovery) = Store::open(&directory.join("store")).map_err(StartError::Data)?;
    let identity = Identity::open(&directory.join("pki")).map_err(StartError::Identity)?;
    for repair in &recovery.repairs {
        tracing::warn!("{repair}");
    }
    Ok((store, identity, recovery, Some(lock)))
}

/// Takes the directory for this process. The system lets go of it when the process ends, however.
fn lock(directory: &Path) -> Result<File, OpenError> {
    let path = directory.join("lock");
    let name = path.display().to_string();
    let open = make_private(directory).and_then(|()| File::create(&path));
    let file = open.map_err(|source| OpenError::File { path: name.clone(), source })?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(OpenError::Locked { path: name }),
        Err(TryLockError::Error(source)) => Err(OpenError::File { path: name, source }),
    }
}

/// The directory holds Secrets and keys.
fn make_private(directory: &Path) -> std::io::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::DirBuilderExt;
        builder.mode(0o700);
    }
    builder.create(directory)
}
