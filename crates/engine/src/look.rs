//! One look at an application: what Git wants, what the cluster has, how the two compare.
//!
//! This is the part of a reconcile that writes nothing; `app diff`, `app manifests` and a sync's every pass are the same
//! look.

use jiff::Timestamp;
use lynceus_api::Kind as _;
use lynceus_api::{
    AppProject, Application, ApplicationDestination, ApplicationSource, Options, TrackingId, options,
};
use lynceus_cluster::{Cluster, Destination, Fleet, Link};
use lynceus_diff::{ChangeSet, Ignore, compare_all, pair};
use lynceus_object::{GroupKind, Gvk, Object, ObjectKey, Str};
use lynceus_render::Setting;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::assess::{Assessment, assess};
use crate::condition::Condition;
use crate::desire::{Desired, Wanting, desire};
use crate::key::{AppKey, project_kind};
use crate::project;
use crate::queue::Freshness;
use crate::rendering::{Renderer, Request, Sourced};
use crate::settings::Settings;

/// What a look found.
#[derive(Clone, Default)]
pub struct Look {
    /// The project, if there is one.
    pub project: Option<Arc<AppProject>>,
    /// The sources as they are in Git.
    pub sourced: Vec<Sourced>,
    /// What they want.
    pub desired: Desired,
    /// How the cluster differs.
    pub changes: ChangeSet,
    /// What follows from it.
    pub assessment: Assessment,
    /// What is wrong.
    pub conditions: Vec<Condition>,
    /// Whether there was a comparison at all.
    pub compared: bool,
    /// The cluster that was looked at.
    pub cluster: Option<Arc<Cluster>>,
    /// Whether the cluster could not be looked at because it is away.
    pub away: bool,
    /// Whether kinds that are wanted could not be read.
    pub unread: bool,
}

impl Look {
    fn failed(condition: Condition) -> Self {
        Look { conditions: vec![condition], ..Look::default() }
    }

    /// The errors among what is wrong: with one of them nothing may be synced.
    pub fn errors(&self) -> impl Iterator<Item = &Condition> {
        self.conditions.iter().filter(|condition| condition.kind.is_error())
    }
}

/// What a look is taken with.
pub struct Looker<'a> {
    /// All clusters.
    pub fleet: &'a Arc<Fleet>,
    /// Git.
    pub renderer: &'a Renderer,
    /// What the operator has set.
    pub settings: &'a Settings,
    /// The namespace of the installation.
    pub home: &'a str,
    /// Whether a child Application counts with its own health.
    pub children: bool,
}

/// What is looked at, where that is not simply what the Application says.
#[derive(Clone, Debug, Default)]
pub struct Aim {
    /// Sources to take instead of the application's own, as a rollback does.
    pub sources: Option<Vec<ApplicationSource>>,
    /// Revisions to take instead of the sources' own, in their order.
    pub revisions: Vec<Str>,
    /// Objects to take instead of what the sources give, as a sync of local manifests does.
    pub manifests: Option<Vec<Object>>,
    /// How much is to be found out anew.
    pub freshness: Freshness,
}

impl Looker<'_> {
    /// Looks at an application.
    pub async fn look(&self, application: &Application, aim: &Aim, now: Timestamp) -> Look {
        let project = match self.project(application) {
            Ok(project) => project,
            Err(condition) => return Look::failed(condition),
        };
        let found = match self.fleet.find_settled(&application.spec.destination).await {
            Ok(found) => found,
            Err(error) => {
                let condition = Condition::invalid_spec(error.to_string());
                return Look { project: Some(project), ..Look::failed(condition) };
            }
        };
        let destination = whole(&application.spec.destination, &found);
        let sources = aim.sources.clone().unwrap_or_else(|| application.spec.all_sources());
        if let Some(condition) = self.invalid_spec(&project, application, &destination, &sources) {
            return Look { project: Some(project), ..Look::failed(condition) };
        }
        let cluster = match &found.link {
            Link::Up(cluster) => cluster.clone(),
            _ => return Look { project: Some(project), away: true, ..Look::failed(away(&found)) },
        };
        let kinds = cluster.kinds();
        let setting = Setting {
            application: AppKey::of(application).tracked_as(self.home),
            namespace: destination.namespace.clone(),
            project: application.spec.project.clone(),
            revision: Str::new(),
            kube_version: kinds.version.clone(),
            api_versions: kinds.api_versions().into_iter().map(Str::from).collect(),
            value_schemes: self.settings.value_schemes.clone(),
            kustomize_options: self.settings.kustomize_options.clone(),
            // Whoever renders knows.
            plugins: false,
        };
        let request = Request {
            book: &self.settings.book,
            setting: &setting,
            sources: &sources,
            revisions: &aim.revisions,
            freshness: aim.freshness,
            now,
        };
        let mut sourced = Vec::with_capacity(sources.len());
        let mut conditions = Vec::new();
        for one in self.renderer.render(&request).await {
            match one {
                Ok(one) => sourced.push(one),
                Err(error) => conditions.push(Condition::comparison(crate::words(&error))),
            }
        }
        if !conditions.is_empty() {
            return Look { project: Some(project), sourced, conditions, ..Look::default() };
        }
        let place = Place { cluster, destination };
        let look = self.compare(application, project.clone(), place, sourced, aim).await;
        // Many kinds fail at once when a cluster goes away: then that is what there is to say.
        if look.unread
            && let link @ Link::Away(_) = self.fleet.recheck(&found.server).await
        {
            let found = Destination { link, ..found };
            return Look { project: Some(project), away: true, ..Look::failed(away(&found)) };
        }
        look
    }

    async fn compare(
        &self,
        application: &Application,
        project: Arc<AppProject>,
        Place { cluster, destination }: Place,
        sourced: Vec<Sourced>,
        aim: &Aim,
    ) -> Look {
        let key = AppKey::of(application);
        let tracked = key.tracked_as(self.home);
        let kinds = cluster.kinds();
        let wanting = Wanting {
            application: &tracked,
            destination: &destination,
            project: &project,
            tracking: &self.settings.tracking,
            kinds: &kinds,
        };
        let rendered = match &aim.manifests {
            Some(objects) => vec![crate::desire::local(objects)],
            None => sourced.iter().map(|one| (*one.rendered).clone()).collect(),
        };
        let mut desired = desire(&rendered, &wanting);
        let watched = cluster.options();
        desired.leave_out(&watched.scope, &watched.server);
        let (live, unread_objects) = live(&cluster, &tracked, &desired).await;
        let pairs = pair(&desired.objects, &live, &destination.namespace, &|kind| kinds.is_namespaced(kind));
        let (ignore, faulty) = Ignore::new(&application.spec.ignore_differences);
        let chosen = application.spec.sync_policy.as_ref().map(|policy| policy.sync_options.as_slice());
        let comparing = lynceus_diff::Settings {
            ignore,
            server_side_apply: Options::from(chosen.unwrap_or_default())
                .has(options::sync::SERVER_SIDE_APPLY),
            ..lynceus_diff::Settings::default()
        };
        let tracking = &self.settings.tracking;
        let is_own = |object: &Object| {
            let owned = tracking.application(object).is_some_and(|owner| owner == tracked);
            // A mark that names another object was copied from it.
            owned && TrackingId::of(object).is_none_or(|id| names(&id.object, object))
        };
        let changes = compare_all(pairs, &comparing, &is_own);
        let assessment = assess(application, &changes, self.children);
        let mut conditions = desired.conditions.clone();
        conditions.extend(faulty.iter().map(|error| Condition::comparison(crate::words(error))));
        let mut unread = unreadable(&cluster, desired.objects.iter().map(Object::group_kind))
            .into_iter()
            .map(Condition::comparison)
            .collect::<Vec<_>>();
        unread.extend(unread_objects);
        let is_unread = !unread.is_empty();
        conditions.extend(unread);
        conditions.extend(failed_comparisons(&changes));
        conditions.extend(self.shared(&tracked, &changes));
        Look {
            project: Some(project),
            sourced,
            desired,
            changes,
            assessment,
            conditions,
            compared: true,
            cluster: Some(cluster),
            away: false,
            unread: is_unread,
        }
    }

    /// Objects that another application claims as well.
    fn shared(&self, tracked: &str, changes: &ChangeSet) -> Vec<Condition> {
        let mut conditions = Vec::new();
        for change in &changes.changes {
            let (Some(_), Some(live)) = (change.pair.desired(), change.pair.live()) else { continue };
            if let Some(owner) = self.settings.tracking.application(live)
                && owner != tracked
            {
                let (kind, name) = (live.kind(), live.name());
                conditions.push(Condition::new(
                    lynceus_api::ApplicationConditionType::SharedResourceWarning,
                    format!("{kind}/{name} is part of applications {tracked} and {owner}"),
                ));
            }
        }
        conditions
    }

    fn project(&self, application: &Application) -> Result<Arc<AppProject>, Condition> {
        let name = if application.spec.project.is_empty() { "default" } else { &application.spec.project };
        let kind = project_kind();
        let key = ObjectKey::new(kind.group, kind.kind, self.home, name);
        let Some(object) = self.fleet.home().cache().get(&key) else {
            return Err(Condition::invalid_spec(format!(
                "Application referencing project {name} which does not exist"
            )));
        };
        AppProject::from_object(&object).map(Arc::new).map_err(|error| {
            Condition::invalid_spec(format!("project {name} cannot be read: {}", crate::words(&error)))
        })
    }

    /// What an application says that its project does not permit, or that makes no sense.
    fn invalid_spec(
        &self,
        project: &AppProject,
        application: &Application,
        destination: &ApplicationDestination,
        sources: &[ApplicationSource],
    ) -> Option<Condition> {
        let name = &project.metadata.name;
        if sources.is_empty() {
            return Some(Condition::invalid_spec("spec.source and spec.sources are both empty"));
        }
        for source in sources {
            if source.repo_url.is_empty() {
                return Some(Condition::invalid_spec("spec.source.repoURL is required"));
            }
            if source.path.is_empty() && source.chart.is_empty() && source.ref_.is_empty() {
                return Some(Condition::invalid_spec("spec.source.path or spec.source.chart are required"));
            }
            if !project::permits_source(project, &source.repo_url) {
                let repository = lynceus_source::redact(&source.repo_url);
                return Some(Condition::invalid_spec(format!(
                    "application repo {repository} is not permitted in project '{name}'"
                )));
            }
        }
        if !project::permits_destination(project, destination) || !self.is_in_scope(project, destination) {
            let named = !application.spec.destination.name.is_empty();
            let server = if named { &destination.name } else { &destination.server };
            let namespace = &destination.namespace;
            return Some(Condition::invalid_spec(format!(
                "application destination server '{server}' and namespace '{namespace}' do not match any of the allowed \
                 destinations in project '{name}'"
            )));
        }
        None
    }

    /// Whether a project that only uses clusters of its own may use this one.
    fn is_in_scope(&self, project: &AppProject, destination: &ApplicationDestination) -> bool {
        !project.spec.permit_only_project_scoped_clusters
            || self.fleet.destinations().iter().any(|known| {
                known.project == project.metadata.name
                    && (known.name == destination.name || known.server == destination.server)
            })
    }
}

/// Where an application goes.
struct Place {
    cluster: Arc<Cluster>,
    destination: ApplicationDestination,
}

/// The destination with both its address and its name.
pub(crate) fn whole(wanted: &ApplicationDestination, found: &Destination) -> ApplicationDestination {
    ApplicationDestination { server: found.server.clone(), name: found.name.clone(), ..wanted.clone() }
}

/// What is said of an application whose cluster cannot be used now.
pub(crate) fn away(found: &Destination) -> Condition {
    let Destination { server, name, link, .. } = found;
    let what = match link {
        Link::Away(away) => {
            let since = lynceus_api::Time::from(away.since);
            format!("cannot be reached since {since}: {}", away.why)
        }
        _ => "is not connected yet".to_owned(),
    };
    Condition::comparison(format!("Failed to load live state: cluster {name:?} ({server}) {what}"))
}

/// The live objects that carry the application's mark, and those that it wants whatever mark they carry; each whole,
/// because the cache keeps only the metadata of what nobody manages.
async fn live(cluster: &Cluster, tracked: &str, desired: &Desired) -> (Vec<Object>, Vec<Condition>) {
    let cache = cluster.cache();
    let mut found: BTreeMap<ObjectKey, Object> = BTreeMap::new();
    let mut wanted: BTreeMap<ObjectKey, Gvk> = BTreeMap::new();
    for object in cache.of_application(tracked) {
        let key = object.key();
        match cache.is_whole(&key) {
            true => drop(found.insert(key, object)),
            false => drop(wanted.insert(key, object.gvk())),
        }
    }
    let named = desired.objects.iter().filter(|object| !object.name().is_empty());
    wanted
        .extend(named.map(|object| (object.key(), object.gvk())).filter(|(key, _)| !found.contains_key(key)));
    let kinds = cluster.kinds();
    let mut conditions = Vec::new();
    for (key, gvk) in wanted {
        // A kind that is not served has no objects, and one that cannot be read is told of once for all of them.
        if kinds.get(&gvk).is_none() || cache.errors().contains_key(&key.group_kind()) {
            continue;
        }
        match cluster.live(&key, &gvk).await {
            Ok(Some(object)) => drop(found.insert(key, object)),
            Ok(None) => {}
            Err(error) => conditions.push(Condition::comparison(format!(
                "{key} cannot be read from the cluster: {}",
                crate::words(&error)
            ))),
        }
    }
    (found.into_values().collect(), conditions)
}

/// Those of some kinds that cannot be read, in order, with the reason: what is said of them would be a guess.
pub(crate) fn unreadable(cluster: &Cluster, kinds: impl IntoIterator<Item = GroupKind>) -> Vec<String> {
    let errors = cluster.cache().errors();
    let kinds: BTreeSet<GroupKind> = kinds.into_iter().collect();
    let failed = kinds.into_iter().filter_map(|kind| Some((errors.get(&kind)?, kind)));
    failed
        .filter(|(error, _)| !error.partial)
        .map(|(error, kind)| format!("{kind} cannot be read from the cluster: {}", error.message))
        .collect()
}

/// Whether a tracking mark names this object. That of a cluster-scoped one carries the application's namespace.
fn names(mark: &ObjectKey, object: &Object) -> bool {
    let mut key = object.key();
    if key.namespace.is_empty() {
        key.namespace = mark.namespace.clone();
    }
    key == *mark
}

fn failed_comparisons(changes: &ChangeSet) -> impl Iterator<Item = Condition> + '_ {
    changes.changes.iter().filter_map(|change| match &change.verdict {
        lynceus_diff::Verdict::Failed(error) => Some(Condition::comparison(format!(
            "{} cannot be compared: {}",
            change.key(),
            crate::words(error)
        ))),
        _ => None,
    })
}
