//! A server over an embedded Kubernetes, for tests: questions in, texts out.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on has to stop")]

use std::sync::Arc;
use std::time::Duration;

use futures::future::BoxFuture;
use jiff::Timestamp;
use kube::Client;
use lynceus_cluster::{Cluster, ClusterError, Reach, Registration};
use lynceus_engine::{Clock, Engine, Options, bootstrap};
use lynceus_object::{Object, Value, json};
use lynceus_sim::Sim;
use lynceus_sim::attributes::User;
use lynceus_source::{Settings, Sources};

use crate::access::Caller;
use crate::call::{Answer, Call};
use crate::method::methods;
use crate::refusal::Refusal;
use crate::rights;
use crate::server::Server;
use crate::services;

/// The rights of somebody who may do everything: resource, action and object, as policies have them.
pub(crate) const ALL: &str = "*, *, *";

/// The other cluster that can be reached, and the token that it takes.
pub(crate) const EAST: (&str, &str) = ("https://east.example.com:6443", "east-t0ken");

/// A server with all that it answers from.
pub(crate) struct Stage {
    /// The server.
    pub(crate) server: Arc<Server>,
    _sim: Sim,
}

impl Stage {
    /// An installation in which nobody has done anything yet.
    pub(crate) async fn new() -> Self {
        let sim = Sim::start(lynceus_sim::Options { without_controllers: true, ..by_hand() })
            .await
            .expect("a cluster");
        let client = || Client::new(sim.service(User::admin()), "default");
        let unhurried = || lynceus_cluster::Options {
            rate: lynceus_cluster::Rate::UNBOUNDED,
            ..lynceus_cluster::Options::default()
        };
        let first = Cluster::open(client(), unhurried()).await.expect("a cluster that can be read");
        bootstrap(&first, "argocd").await.expect("a cluster that can be set up");
        let options = lynceus_cluster::Options { home: "argocd".into(), ..unhurried() };
        let home = Cluster::connect(client(), options).await.expect("a cluster that can be read");
        let sources = Sources::new(std::env::temp_dir().join("lynceus-server-tests"), Settings::default());
        let reach = Arc::new(Roads { east: sim.clone() });
        let engine = Engine::new(home, sources, Arc::new(Still), Options { reach, ..Options::default() });
        Stage { server: Server::new(engine), _sim: sim }
    }

    /// Puts an object into the installation's namespace.
    pub(crate) async fn given(&self, value: &Value) {
        let mut object = Object::new(value.clone()).expect("an object");
        object.set(&["metadata", "namespace"], "argocd");
        self.server.engine.home().create_record(&object).await.expect("it can be stored");
    }

    /// What somebody with some rights is answered.
    pub(crate) async fn ask(&self, rights: &str, method: &str, request: Value) -> Result<Value, Refusal> {
        let found = methods().iter().find(|known| {
            let (service, name) = known.id();
            format!("{service}.{name}") == method
        });
        let method = found.unwrap_or_else(|| panic!("{method} is no method"));
        self.grant(rights).await;
        let caller = Caller::logged_in(&self.server.access, "tester");
        let call = Call { server: self.server.clone(), caller, request };
        rights::of(method).check(&call).await?;
        match services::answer(method, call).await? {
            Answer::One(value) => Ok(value),
            Answer::List(list) => Ok(list.whole()),
            Answer::Many(_) => panic!("a stream"),
        }
    }

    /// Lets the one who asks do this and nothing else: on each line a resource, an action and an object.
    async fn grant(&self, rights: &str) {
        let lines = rights.lines().map(|line| format!("p, tester, {line}, allow"));
        let policy: Vec<String> = lines.collect();
        let change = vec![("policy.csv".to_owned(), Some(policy.join("\n")))];
        services::maps::write(&self.server, "argocd-rbac-cm", change).await.expect("rights");
    }

    /// The same as text: JSON, or the refusal.
    pub(crate) async fn said(&self, rights: &str, method: &str, request: Value) -> String {
        match self.ask(rights, method, request).await {
            Ok(value) => json::to_string(&value),
            Err(refusal) => format!("{:?}: {}", refusal.code, refusal.message),
        }
    }

    /// An object as the cluster has it.
    pub(crate) async fn stored(&self, kind: &str, name: &str) -> Option<Object> {
        let group = if matches!(kind, "AppProject" | "Application") { lynceus_api::GROUP } else { "" };
        let version = if group.is_empty() { "v1" } else { lynceus_api::VERSION };
        let gvk = lynceus_object::Gvk::new(group, version, kind);
        self.server.engine.home().get(&gvk, "argocd", name).await.expect("an answer")
    }
}

fn by_hand() -> lynceus_sim::Options {
    lynceus_sim::Options::by_hand(lynceus_sim::Stage::default())
}

/// A clock that stands still, so that what is written down can be compared.
pub(crate) struct Still;

impl Clock for Still {
    fn now(&self) -> Timestamp {
        Timestamp::from_second(1_767_268_800).expect("noon of the first day of 2026")
    }

    fn monotonic(&self) -> Duration {
        Duration::from_secs(1_000)
    }

    fn sleep(&self, time: Duration) -> BoxFuture<'_, ()> {
        Box::pin(tokio::time::sleep(time))
    }
}

/// The way to other clusters: there is one, which lets those in who have its token.
struct Roads {
    east: Sim,
}

impl Reach for Roads {
    fn client<'a>(&'a self, registration: &'a Registration) -> BoxFuture<'a, Result<Client, ClusterError>> {
        Box::pin(async move {
            let shown = format!("{:?}", registration.access);
            match registration.server == EAST.0 && shown.contains("token") {
                true => Ok(Client::new(self.east.service(User::admin()), "default")),
                false => Err(ClusterError::Configure("there is no such host".into())),
            }
        })
    }
}
