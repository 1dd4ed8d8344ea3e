//! All clusters of an installation: the home cluster, and the destinations that Secrets register.
//!
//! Each destination has a task of its own that connects it, with growing pauses, keeps asking whether it is there, and
//! passes its changes on. So a cluster that is dead, slow or hostile costs its own applications something, and nobody
//! else anything.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard, Weak};

use futures::future::BoxFuture;
use jiff::Timestamp;
use kube::{Client, Config};
use lynceus_api::{ApplicationDestination, IN_CLUSTER_NAME, IN_CLUSTER_SERVER, Tracking};
use lynceus_object::Str;
use tokio::sync::broadcast;
use tokio::task::AbortHandle;
use tracing::{info, warn};

use crate::cache::Change;
use crate::clock::Clock;
use crate::cluster::Cluster;
use crate::error::ClusterError;
use crate::limits;
use crate::member;
use crate::options::{Options, RespectRbac};
use crate::scope::Scope;
use crate::secret::Registration;

/// Makes clients for registered clusters.
pub trait Reach: Send + Sync + 'static {
    /// A client for a cluster, by what its Secret says.
    fn client<'a>(&'a self, registration: &'a Registration) -> BoxFuture<'a, Result<Client, ClusterError>>;
}

/// Reaches clusters with what their Secrets hold.
#[derive(Clone, Default)]
pub struct BySecret {
    /// How the home cluster is reached, for a Secret that gives it other credentials.
    pub home: Option<Config>,
    /// The credential programs that Secrets may name.
    pub allowed: Vec<String>,
}

impl Reach for BySecret {
    fn client<'a>(&'a self, registration: &'a Registration) -> BoxFuture<'a, Result<Client, ClusterError>> {
        Box::pin(crate::credential::client(registration, self.home.as_ref(), &self.allowed))
    }
}

/// How all destinations are watched and used.
#[derive(Clone, Debug, Default)]
pub struct FleetOptions {
    /// How objects are marked as belonging to an application.
    pub tracking: Tracking,
    /// Which kinds are watched.
    pub scope: Scope,
    /// What is made of kinds that may not be read.
    pub respect_rbac: RespectRbac,
    /// Whether the home cluster is a destination too.
    pub in_cluster: bool,
    /// Refuse every write.
    pub read_only: bool,
}

/// How a destination stands.
#[derive(Clone)]
pub enum Link {
    /// Nobody here has asked for it.
    Idle,
    /// It is being connected and read for the first time.
    Connecting,
    /// It answers.
    Up(Arc<Cluster>),
    /// It does not.
    Away(Away),
}

/// Since when, and why, a cluster cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Away {
    /// When it was first noticed.
    pub since: Timestamp,
    /// Why, in one line.
    pub why: String,
}

/// A cluster that applications can be delivered to.
#[derive(Clone)]
pub struct Destination {
    /// Its address.
    pub server: Str,
    /// Its name.
    pub name: Str,
    /// The project that it is registered for; empty for none.
    pub project: Str,
    /// The place, in the order of names, of the replica that is to work on it.
    pub shard: Option<usize>,
    /// How it stands.
    pub link: Link,
}

/// What an application says about its destination, and why it leads nowhere; in Argo CD's words.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DestinationError {
    /// It names the cluster twice.
    #[error("application destination can't have both name and server defined: {name} {server}")]
    Both {
        /// The name.
        name: Str,
        /// The address.
        server: Str,
    },
    /// It does not name it.
    #[error("Destination server missing from app spec")]
    Missing,
    /// No cluster has the name.
    #[error("there are no clusters with this name: {0}")]
    NoName(Str),
    /// Several have it.
    #[error("there are {} clusters with the same name: [{}]", .0.len(), .0.join(" "))]
    SeveralNames(Vec<Str>),
    /// No cluster has the address.
    #[error(
        "error getting cluster by server {server:?}: rpc error: code = NotFound desc = cluster {server:?} not found"
    )]
    NoServer {
        /// The address.
        server: Str,
    },
    /// The home cluster is not to be a destination.
    #[error(
        "error getting cluster by server {server:?}: rpc error: code = NotFound desc = cluster {server:?} is disabled"
    )]
    Disabled {
        /// The address.
        server: Str,
    },
}

/// Something that has happened in the fleet.
#[derive(Clone, Debug)]
pub enum News {
    /// An object of a cluster has changed.
    Changed {
        /// The cluster's address.
        server: Str,
        /// What has changed.
        change: Change,
    },
    /// A cluster has come, gone or been reached, or so much has changed that all of it has to be looked at.
    Everything {
        /// The cluster's address.
        server: Str,
    },
}

/// All clusters of an installation.
pub struct Fleet {
    home: Arc<Cluster>,
    reach: Arc<dyn Reach>,
    pub(crate) clock: Arc<dyn Clock>,
    members: RwLock<Members>,
    news: broadcast::Sender<News>,
}

#[derive(Default)]
struct Members {
    options: FleetOptions,
    by_server: BTreeMap<Str, Member>,
    /// The destinations that are to be connected.
    wanted: BTreeSet<Str>,
    all_wanted: bool,
}

struct Member {
    registration: Registration,
    link: Link,
    keeper: Option<Keeper>,
}

/// The task that keeps a destination. It ends with its handle.
struct Keeper(AbortHandle);

impl Drop for Keeper {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl Fleet {
    /// A fleet of the home cluster alone, until others are registered.
    pub fn new(home: Arc<Cluster>, reach: Arc<dyn Reach>, clock: Arc<dyn Clock>) -> Arc<Self> {
        let news = broadcast::channel(limits::CHANGES).0;
        let fleet = Arc::new(Fleet { home, reach, clock, members: RwLock::default(), news });
        fleet.register(Vec::new(), FleetOptions { in_cluster: true, ..FleetOptions::default() });
        fleet
    }

    /// The home cluster: where Applications, projects, settings and Leases are.
    pub fn home(&self) -> &Arc<Cluster> {
        &self.home
    }

    /// Hears of everything from now on.
    pub fn news(&self) -> broadcast::Receiver<News> {
        self.news.subscribe()
    }

    /// Takes the clusters as they are registered now. Those that are new are connected if they are wanted, those that
    /// are gone are let go, and one whose credentials have changed is connected anew.
    pub fn register(self: &Arc<Self>, mut registrations: Vec<Registration>, options: FleetOptions) {
        registrations.sort_by(|a, b| a.secret.cmp(&b.secret));
        let mut now: BTreeMap<Str, Registration> = BTreeMap::new();
        if options.in_cluster {
            now.insert(IN_CLUSTER_SERVER.into(), home_registration());
        }
        for registration in registrations {
            let is_home = registration.server == IN_CLUSTER_SERVER;
            if is_home && !options.in_cluster {
                continue;
            }
            // Of two Secrets for one address the first counts; any replaces what goes without saying.
            match now.get(&registration.server) {
                Some(known) if !known.secret.is_empty() => {
                    warn!(server = %registration.server, secret = %registration.secret, first = %known.secret,
                          "a cluster is registered twice; the first Secret counts");
                }
                _ => drop(now.insert(registration.server.clone(), registration)),
            }
        }
        let mut changed = BTreeSet::new();
        {
            let mut members = self.write();
            let gone: Vec<Str> =
                members.by_server.keys().filter(|server| !now.contains_key(*server)).cloned().collect();
            for server in gone {
                info!(%server, "a cluster is no longer registered");
                members.by_server.remove(&server);
                changed.insert(server);
            }
            for (server, registration) in now {
                if members.take(registration) {
                    changed.insert(server);
                }
            }
            members.impose(options);
            self.start(&mut members);
        }
        for server in changed {
            self.tell(News::Everything { server });
        }
    }

    /// Connects every destination, now and when it is registered.
    pub fn want_all(self: &Arc<Self>) {
        let mut members = self.write();
        members.all_wanted = true;
        self.start(&mut members);
    }

    /// Connects a destination.
    pub fn want(self: &Arc<Self>, server: &str) {
        let mut members = self.write();
        members.wanted.insert(server.into());
        self.start(&mut members);
    }

    /// Lets a destination go: its watches end, and what is known of it is forgotten.
    pub fn unwant(&self, server: &str) {
        let mut members = self.write();
        members.wanted.remove(server);
        if members.all_wanted {
            return;
        }
        if let Some(member) = members.by_server.get_mut(server) {
            member.keeper = None;
            member.link = Link::Idle;
        }
    }

    /// The cluster that an application names.
    pub fn find(&self, wanted: &ApplicationDestination) -> Result<Destination, DestinationError> {
        let members = self.read();
        let server = match (wanted.server.as_str(), wanted.name.as_str()) {
            ("", "") => return Err(DestinationError::Missing),
            ("", name) => members.by_name(name)?,
            (server, "") => Str::from(server.trim_end_matches('/')),
            (server, name) => {
                return Err(DestinationError::Both { name: name.into(), server: server.into() });
            }
        };
        match members.by_server.get(&server) {
            Some(member) => Ok(member.destination()),
            None if server == IN_CLUSTER_SERVER => Err(DestinationError::Disabled { server }),
            None => Err(DestinationError::NoServer { server }),
        }
    }

    /// The cluster that an application names, once it is known how it stands: one that nobody has asked for yet is
    /// connected first.
    pub async fn find_settled(
        self: &Arc<Self>,
        wanted: &ApplicationDestination,
    ) -> Result<Destination, DestinationError> {
        let mut news = self.news();
        loop {
            let found = self.find(wanted)?;
            match found.link {
                Link::Idle => self.want(&found.server),
                Link::Connecting => {
                    // To have missed some is as good as to have heard one.
                    let _ = news.recv().await;
                }
                Link::Up(_) | Link::Away(_) => return Ok(found),
            }
        }
    }

    /// Every destination, in the order of addresses.
    pub fn destinations(&self) -> Vec<Destination> {
        self.read().by_server.values().map(Member::destination).collect()
    }

    /// What a project may deliver to because it is registered for that project alone: its clusters, in all namespaces or in
    /// those that the Secret names.
    pub fn of_project(&self, project: &str) -> Vec<ApplicationDestination> {
        if project.is_empty() {
            return Vec::new();
        }
        let state = self.read();
        let own = state.by_server.values().map(|member| &member.registration);
        own.filter(|one| one.project == project)
            .flat_map(|one| {
                let all = [Str::from("*")];
                let namespaces = if one.namespaces.is_empty() { &all[..] } else { &one.namespaces };
                let to = |namespace: &Str| ApplicationDestination {
                    server: one.server.clone(),
                    name: one.name.clone(),
                    namespace: namespace.clone(),
                    ..ApplicationDestination::default()
                };
                namespaces.iter().map(to).collect::<Vec<_>>()
            })
            .collect()
    }

    /// Asks a cluster whether it is there, when something else says that it might not be.
    pub async fn answers(&self, cluster: &Cluster) -> Result<(), ClusterError> {
        member::probe(&cluster.door, &*self.clock).await
    }

    /// Asks a destination whether it is there, when something says that it might not be, and gives how it stands.
    pub async fn recheck(&self, server: &str) -> Link {
        let (registration, link) = match self.read().by_server.get(server) {
            Some(member) => (member.registration.clone(), member.link.clone()),
            None => return Link::Idle,
        };
        let Link::Up(cluster) = &link else { return link };
        match self.answers(cluster).await {
            Ok(()) => link,
            Err(error) => {
                let why = member::reason(&error, &registration);
                let away = Link::Away(Away { since: self.clock.now(), why });
                self.set_link(&registration, away.clone());
                away
            }
        }
    }

    /// Tries a cluster that is not registered yet, or is about to be registered otherwise: the version of Kubernetes that
    /// it says it is, within a short time. Nothing of it is kept.
    pub async fn try_out(&self, registration: &Registration) -> Result<String, ClusterError> {
        let door = if is_home(registration) {
            self.home.door.clone()
        } else {
            let client = self.reach.client(registration).await?;
            crate::door::Door::new(client, crate::turn::Rate::UNBOUNDED, true)
        };
        let version = member::version(&door, &*self.clock).await?;
        Ok(version.str_at(&["gitVersion"]).unwrap_or_default().to_owned())
    }

    /// A cluster as a Secret describes it, to read and change a few objects by name. Nothing of it is kept.
    pub async fn open(&self, registration: &Registration) -> Result<Arc<Cluster>, ClusterError> {
        if is_home(registration) {
            return Ok(self.home.clone());
        }
        Cluster::open(self.reach.client(registration).await?, crate::Options::default()).await
    }

    /// Forgets what is known of a destination and reads it anew.
    pub async fn renew(self: &Arc<Self>, server: &str) -> Result<(), ClusterError> {
        let at_home = {
            let mut members = self.write();
            let Some(member) = members.by_server.get_mut(server) else { return Ok(()) };
            let at_home = is_home(&member.registration);
            if !at_home && member.keeper.take().is_some() {
                member.link = Link::Idle;
            }
            self.start(&mut members);
            at_home
        };
        // Applications live there too, so what is known of the home cluster is never thrown away.
        if at_home { self.home.rediscover().await } else { Ok(()) }
    }

    /// Since when, and why, a destination is away, if it is.
    pub(crate) fn absence(&self, server: &str) -> Option<Away> {
        match &self.read().by_server.get(server)?.link {
            Link::Away(away) => Some(away.clone()),
            _ => None,
        }
    }

    /// Connects a registered cluster.
    pub(crate) async fn connect(&self, registration: &Registration) -> Result<Arc<Cluster>, ClusterError> {
        if is_home(registration) {
            return Ok(self.home.clone());
        }
        let client = self.reach.client(registration).await?;
        member::probe(
            &crate::door::Door::new(client.clone(), crate::turn::Rate::UNBOUNDED, true),
            &*self.clock,
        )
        .await?;
        let rate = self.home.options().rate;
        let options = Options { rate, ..self.read().options_for(registration) };
        let cluster = Cluster::connect(client, options).await?;
        // The settings may have changed while it was read.
        let members = self.read();
        impose(&members.options, &cluster);
        Ok(cluster)
    }

    /// Says how a destination stands, if it is still registered as it was.
    pub(crate) fn set_link(&self, registration: &Registration, link: Link) {
        let server = registration.server.clone();
        {
            let mut members = self.write();
            let Some(member) = members.by_server.get_mut(&server) else { return };
            if member.keeper.is_none() || !member.registration.connects_like(registration) {
                return;
            }
            member.link = link;
        }
        self.tell(News::Everything { server });
    }

    /// Passes news on. That nobody listens is no error.
    pub(crate) fn tell(&self, news: News) {
        let _ = self.news.send(news);
    }

    /// Starts what is wanted and not yet kept.
    fn start(self: &Arc<Self>, members: &mut Members) {
        let (all, wanted) = (members.all_wanted, members.wanted.clone());
        for (server, member) in &mut members.by_server {
            if member.keeper.is_some() || !(all || wanted.contains(server)) {
                continue;
            }
            if is_home(&member.registration) {
                member.link = Link::Up(self.home.clone());
            } else if matches!(member.link, Link::Idle) {
                member.link = Link::Connecting;
            }
            let task = tokio::spawn(member::keep(
                Arc::downgrade(self),
                self.clock.clone(),
                member.registration.clone(),
            ));
            member.keeper = Some(Keeper(task.abort_handle()));
        }
    }

    fn read(&self) -> RwLockReadGuard<'_, Members> {
        self.members.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, Members> {
        self.members.write().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Members {
    /// Takes a registration and tells whether anything about it is new.
    fn take(&mut self, registration: Registration) -> bool {
        let member = self.by_server.entry(registration.server.clone()).or_insert_with(|| Member {
            registration: registration.clone(),
            link: Link::Idle,
            keeper: None,
        });
        if member.registration == registration && member.keeper.is_some() {
            return false;
        }
        if !member.registration.connects_like(&registration) {
            info!(server = %registration.server, "a cluster's registration has changed; connecting anew");
            // How it stands is not known to have changed until the new connection says so.
            member.keeper = None;
        }
        member.registration = registration;
        true
    }

    fn impose(&mut self, options: FleetOptions) {
        for member in self.by_server.values() {
            if let Link::Up(cluster) = &member.link {
                impose(&options, cluster);
            }
        }
        self.options = options;
    }

    fn options_for(&self, registration: &Registration) -> Options {
        Options {
            server: registration.server.clone(),
            tracking: self.options.tracking.clone(),
            namespaces: registration.namespaces.clone(),
            cluster_resources: registration.cluster_resources,
            scope: self.options.scope.clone(),
            respect_rbac: self.options.respect_rbac,
            read_only: self.options.read_only,
            home: Str::new(),
            ..Options::default()
        }
    }

    fn by_name(&self, name: &str) -> Result<Str, DestinationError> {
        let named = self.by_server.values().filter(|member| member.registration.name == name);
        let mut servers: Vec<Str> = named.map(|member| member.registration.server.clone()).collect();
        match servers.len() {
            1 => Ok(servers.remove(0)),
            0 if name == IN_CLUSTER_NAME && self.by_server.contains_key(IN_CLUSTER_SERVER) => {
                Ok(IN_CLUSTER_SERVER.into())
            }
            0 => Err(DestinationError::NoName(name.into())),
            _ => Err(DestinationError::SeveralNames(servers)),
        }
    }
}

impl Member {
    fn destination(&self) -> Destination {
        let Registration { server, name, project, shard, .. } = self.registration.clone();
        Destination { server, name, project, shard, link: self.link.clone() }
    }
}

fn impose(options: &FleetOptions, cluster: &Cluster) {
    cluster.set_tracking(options.tracking.clone());
    cluster.set_scope(options.scope.clone(), options.respect_rbac);
}

/// The home cluster where no Secret says anything about it.
fn home_registration() -> Registration {
    Registration {
        secret: Str::new(),
        server: IN_CLUSTER_SERVER.into(),
        name: IN_CLUSTER_NAME.into(),
        namespaces: Vec::new(),
        cluster_resources: false,
        project: Str::new(),
        shard: None,
        access: crate::secret::Access::default(),
    }
}

/// Whether a registration means the connection that we have anyway.
fn is_home(registration: &Registration) -> bool {
    registration.server == IN_CLUSTER_SERVER
        && registration.namespaces.is_empty()
        && registration.access.is_anonymous()
}

/// For what a task holds of its fleet.
pub(crate) type WeakFleet = Weak<Fleet>;
