//! What every `app` command needs: a cluster, and the engine's own functions on it.

use std::sync::Arc;

use jiff::Timestamp;
use lynceus_api::{Application, Kind as _, ResourceStatus};
use lynceus_cluster::{Cluster, ClusterError};
use lynceus_diff::mask;
use lynceus_engine::{Aim, AppKey, Engine, Options, SystemClock, application_gvk, window};
use lynceus_object::selector::Selector;
use lynceus_object::{Gvk, Object, Value};
use lynceus_source::{Settings, Sources};

use super::record::Records;
use super::{Access, show};
use crate::exit::{Code, Doing as _, Failure, Outcome};
use crate::{format, place};

// Applications that are chosen by what they are like.
#[derive(clap::Args, Clone, Debug, Default)]
pub(crate) struct Choice {
    /// Those with these labels, instead of names: `team=shop,tier in (web)`.
    #[arg(short = 'l', long, default_value = "")]
    pub(crate) selector: String,
    /// Those of these projects.
    #[arg(skip)]
    pub(crate) projects: Vec<String>,
}

impl Choice {
    fn is_made(&self) -> bool {
        !self.selector.is_empty() || !self.projects.is_empty()
    }

    fn has_project(&self, object: &Object) -> bool {
        let project = object.value().str_at(&["spec", "project"]).unwrap_or_default();
        self.projects.is_empty() || self.projects.iter().any(|wanted| wanted == project)
    }
}

impl std::fmt::Display for Choice {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if !self.selector.is_empty() {
            write!(f, " selector {}", self.selector)?;
        }
        if !self.projects.is_empty() {
            write!(f, " projects {}", self.projects.join(" "))?;
        }
        Ok(())
    }
}

/// Where Applications are, and who looks at them.
pub(crate) struct Context {
    place: Place,
    namespace: String,
}

/// The two places to ask.
enum Place {
    /// The cluster, with an engine that is asked but never runs by itself.
    Here(Arc<Engine>),
    /// A server that one has logged in to.
    There(Box<Records>),
}

impl Context {
    /// Knows what the cluster serves and nothing else: for commands about the Application object alone.
    pub(crate) async fn light(access: &Access) -> Outcome<Self> {
        match Records::remote(access)? {
            Some(records) => Ok(Context::there(access, records)),
            None => Context::open(access, false).await,
        }
    }

    /// Has a live picture of the cluster: for commands that compare.
    pub(crate) async fn full(access: &Access) -> Outcome<Self> {
        match Records::remote(access)? {
            Some(records) => Ok(Context::there(access, records)),
            None => Context::here(access).await,
        }
    }

    /// The same, of the cluster itself whatever somebody has logged in to.
    pub(crate) async fn here(access: &Access) -> Outcome<Self> {
        Context::open(access, true).await
    }

    fn there(access: &Access, records: Records) -> Self {
        Context { place: Place::There(Box::new(records)), namespace: access.app_namespace.clone() }
    }

    async fn open(access: &Access, watching: bool) -> Outcome<Self> {
        let kubeconfig = place::kubeconfig(access.kubeconfig.as_deref());
        let failed = "cannot connect to the cluster";
        let client = lynceus_cluster::client(kubeconfig.as_deref(), access.kube_context.as_deref())
            .await
            .doing(failed)?;
        let watched = lynceus_cluster::Options {
            home: access.app_namespace.as_str().into(),
            rate: lynceus_cluster::Rate::read(|name| std::env::var(name).ok()),
            ..lynceus_cluster::Options::default()
        };
        let cluster = match watching {
            true => Cluster::connect(client, watched).await,
            false => Cluster::open(client, watched).await,
        }
        .doing(failed)?;
        let cache = std::env::temp_dir().join(format!("lynceus-mirrors-{}", user()));
        let sources = Sources::new(cache, Settings::default());
        // How a child is is shown, unless the settings say that it does not count; nobody waits for it here.
        let options =
            Options { namespace: access.app_namespace.as_str().into(), children: true, ..Options::default() };
        let engine = Engine::new(cluster, sources, Arc::new(SystemClock), options);
        Ok(Context { place: Place::Here(engine), namespace: access.app_namespace.clone() })
    }

    /// The engine, to ask.
    pub(crate) fn engine(&self) -> Outcome<&Engine> {
        match &self.place {
            Place::Here(engine) => Ok(engine),
            Place::There(_) => Err(Failure::new(Code::Other, "this needs the cluster itself, not a server")
                .hint("add --core, which goes to the cluster of the kubeconfig")),
        }
    }

    /// The server, if one is asked.
    pub(super) fn records(&self) -> Option<&Records> {
        match &self.place {
            Place::Here(_) => None,
            Place::There(records) => Some(records),
        }
    }

    /// The resources of an application: as they are now, or as a server has seen them last.
    pub(crate) async fn resources(&self, application: &Application) -> Vec<ResourceStatus> {
        let Place::Here(engine) = &self.place else { return application.status.resources.clone() };
        let look = engine.look(application, &Aim::default()).await;
        // What only the controller can render, with a plugin say, is shown as it found it last.
        if look.compared { look.assessment.resources } else { application.status.resources.clone() }
    }

    /// The head of `app get`, with how the project's windows stand.
    pub(crate) fn summary(&self, application: &Application) -> String {
        let now = Timestamp::now();
        let project = self.engine().ok().and_then(|engine| engine.project(application).ok());
        let windows = project.map(|project| window::standing(application, &project, now));
        show::summary(application, windows.as_ref(), now)
    }

    /// The cluster.
    pub(crate) fn cluster(&self) -> Outcome<&Cluster> {
        Ok(self.engine()?.home())
    }

    /// An object as it may be shown: without what the server keeps for itself, and without secrets.
    pub(crate) fn shown(&self, object: &Object) -> Object {
        let object = format::clean(object);
        // A server hides what is to be hidden.
        let Ok(engine) = self.engine() else { return object };
        let settings = engine.settings();
        mask(None, Some(&object), &settings.comparing.hidden_annotations).1.unwrap_or_default()
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
        if let Some(records) = self.records() {
            return object_of(records.get(name).await?, name);
        }
        let key = self.key(name);
        let found = self
            .cluster()?
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

    /// Every Application, in order.
    pub(crate) async fn objects(&self) -> Outcome<Vec<Object>> {
        let failed = "cannot list the applications";
        if let Some(records) = self.records() {
            let list = records.api.call(failed, "ApplicationService.List", records.everywhere()).await?;
            return list.items_at(&["items"]).iter().map(|item| object_of(item.clone(), "")).collect();
        }
        self.enabled().await.doing(failed)
    }

    /// The Applications of the installation's namespace and of those that it is told to look at. What somebody may not read
    /// beside their own is told, and the rest is shown.
    async fn enabled(&self) -> Result<Vec<Object>, ClusterError> {
        let (Place::Here(engine), home) = (&self.place, self.namespace.as_str()) else {
            return Ok(Vec::new());
        };
        let (cluster, kind) = (engine.home(), application_gvk());
        let own = async || cluster.list(&kind, home).await;
        let params = match cluster.get(&Gvk::new("", "v1", "ConfigMap"), home, PARAMETERS).await {
            Err(error) if error.is_forbidden() => None,
            params => params?,
        };
        let patterns = params.map(|params| patterns(&params)).unwrap_or_default();
        if patterns.is_empty() {
            return own().await;
        }
        match cluster.list(&kind, "").await {
            Err(error) if error.is_forbidden() => {
                eprintln!("note: only namespace {home} is shown: {}", lynceus_engine::words(&error));
                own().await
            }
            found => {
                let mut found = found?;
                let is_enabled = |one: &str| one == home || lynceus_api::fits_any(&patterns, one);
                found.retain(|object| is_enabled(object.namespace()));
                Ok(found)
            }
        }
    }

    /// The Applications that are meant: those that are named, or those with the labels and of the projects. None is an
    /// error.
    pub(crate) async fn chosen(&self, names: &[String], choice: &Choice) -> Outcome<Vec<String>> {
        if !choice.is_made() {
            let hint = "name one, or choose by label: -l KEY=VALUE";
            let nothing = || Failure::new(Code::Other, "no application is named").hint(hint);
            return if names.is_empty() { Err(nothing()) } else { Ok(names.to_vec()) };
        }
        if !names.is_empty() {
            let message = "applications cannot be named and chosen by label at the same time";
            return Err(Failure::new(Code::Other, message).hint("leave out the names, or --selector"));
        }
        let wanted = Selector::parse(&choice.selector).doing("cannot read --selector")?;
        let found: Vec<String> = self
            .objects()
            .await?
            .iter()
            .filter(|object| wanted.matches(|key| object.label(key)))
            .filter(|object| choice.has_project(object))
            .map(|object| format!("{}/{}", object.namespace(), object.name()))
            .collect();
        if found.is_empty() {
            let message = format!("no matching apps found for filter:{choice}");
            return Err(Failure::new(Code::Other, message).hint("see what there is:\nlynceus app list"));
        }
        Ok(found)
    }

    /// Changes an Application by a merge patch.
    pub(crate) async fn patch(&self, name: &str, patch: &Value) -> Outcome<Application> {
        if let Some(records) = self.records() {
            let object = object_of(records.merge(name, patch).await?, name)?;
            return Application::from_object(&object).doing(format!("cannot read application {name}"));
        }
        let key = self.key(name);
        let object = self
            .cluster()?
            .patch_record(&application_gvk(), &key.namespace, &key.name, patch)
            .await
            .doing(format!("cannot change application {}", key.name))?;
        Application::from_object(&object).doing(format!("cannot read application {name}"))
    }
}

/// Where an installation is told which other namespaces have Applications.
const PARAMETERS: &str = "argocd-cmd-params-cm";

fn patterns(params: &Object) -> Vec<String> {
    let text = params.value().str_at(&["data", "application.namespaces"]).unwrap_or_default();
    text.split(',').map(str::trim).filter(|one| !one.is_empty()).map(str::to_owned).collect()
}

/// An Application that a server has told of. Argo CD leaves out what kind of object it is.
fn object_of(mut value: Value, name: &str) -> Outcome<Object> {
    value.set(&["apiVersion"], format!("{}/{}", lynceus_api::GROUP, lynceus_api::VERSION));
    value.set(&["kind"], Application::KIND);
    format::object(value, &format!("cannot read application {name}"))
}

/// Whose cache of repositories it is: two users must not share one.
fn user() -> String {
    std::env::var("USER").or_else(|_| std::env::var("LOGNAME")).unwrap_or_else(|_| "nobody".to_owned())
}
