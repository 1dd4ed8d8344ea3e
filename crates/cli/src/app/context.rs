//! What every `app` command needs: a cluster, and the engine's own functions on it.

use std::sync::Arc;

use lynceus_api::{Application, Kind as _, Tracking};
use lynceus_cluster::Cluster;
use lynceus_engine::{AppKey, Engine, Options, SystemClock, application_gvk};
use lynceus_object::{Object, Value};
use lynceus_source::{Settings, Sources};

use super::Access;
use crate::exit::{Code, Doing as _, Failure, Outcome};
use crate::place;

/// A connection, and an engine that is asked but never runs by itself.
pub(crate) struct Context {
    engine: Arc<Engine>,
    namespace: String,
}

impl Context {
    /// Knows what the cluster serves and nothing else: for commands about the Application object alone.
    pub(crate) async fn light(access: &Access) -> Outcome<Self> {
        Context::open(access, false).await
    }

    /// Has a live picture of the cluster: for commands that compare.
    pub(crate) async fn full(access: &Access) -> Outcome<Self> {
        Context::open(access, true).await
    }

    async fn open(access: &Access, watching: bool) -> Outcome<Self> {
        let kubeconfig = place::kubeconfig(access.kubeconfig.as_deref());
        let failed = "cannot connect to the cluster";
        let client = lynceus_cluster::client(kubeconfig.as_deref(), access.kube_context.as_deref())
            .await
            .doing(failed)?;
        let cluster = if watching {
            Cluster::connect(client, Tracking::default()).await
        } else {
            Cluster::open(client).await
        }
        .doing(failed)?;
        let cache = std::env::temp_dir().join(format!("lynceus-mirrors-{}", user()));
        let sources = Sources::new(cache, Settings::default());
        let options = Options { namespace: access.app_namespace.as_str().into(), ..Options::default() };
        let engine = Engine::new(cluster, sources, Arc::new(SystemClock), options);
        Ok(Context { engine, namespace: access.app_namespace.clone() })
    }

    /// The engine, to ask.
    pub(crate) fn engine(&self) -> &Engine {
        &self.engine
    }

    /// The cluster.
    pub(crate) fn cluster(&self) -> &Cluster {
        self.engine.cluster()
    }

    /// Reads `name` or `namespace/name`.
    pub(crate) fn key(&self, name: &str) -> AppKey {
        match name.split_once('/') {
            Some((namespace, name)) => AppKey::new(namespace, name),
            None => AppKey::new(self.namespace.as_str(), name),
        }
    }

    /// The Application as the server has it now.
    pub(crate) async fn object(&self, name: &str) -> Outcome<Object> {
        let key = self.key(name);
        let found = self
            .cluster()
            .get(&application_gvk(), &key.namespace, &key.name)
            .await
            .doing(format!("cannot read application {}", key.name))?;
        found.ok_or_else(|| {
            let message = format!("there is no application {} in namespace {}", key.name, key.namespace);
            Failure::new(Code::NotFound, message).hint("list them with `lynceus app list`")
        })
    }

    /// The Application as the server has it now, read.
    pub(crate) async fn application(&self, name: &str) -> Outcome<Application> {
        let object = self.object(name).await?;
        Application::from_object(&object).doing(format!("cannot read application {name}"))
    }

    /// Every Application of the namespace, in order.
    pub(crate) async fn objects(&self) -> Outcome<Vec<Object>> {
        self.cluster().list(&application_gvk(), &self.namespace).await.doing("cannot list the applications")
    }

    /// Changes an Application by a merge patch.
    pub(crate) async fn patch(&self, name: &str, patch: &Value) -> Outcome<Application> {
        let key = self.key(name);
        let object = self
            .cluster()
            .patch_record(&application_gvk(), &key.namespace, &key.name, patch)
            .await
            .doing(format!("cannot change application {}", key.name))?;
        Application::from_object(&object).doing(format!("cannot read application {name}"))
    }
}

/// Whose cache of repositories it is: two users must not share one.
fn user() -> String {
    std::env::var("USER").or_else(|_| std::env::var("LOGNAME")).unwrap_or_else(|_| "nobody".to_owned())
}
