//! One look at an application: what Git wants, what the cluster has, how the two compare.
//!
//! This is the part of a reconcile that writes nothing; `app diff`, `app manifests` and a sync's every pass are the same
//! look.

use jiff::Timestamp;
use lynceus_api::Kind as _;
use lynceus_api::{
    AppProject, Application, ApplicationConditionType, ApplicationDestination, ApplicationSource, Options,
    TrackingId, TrackingMethod, options,
};
use lynceus_cluster::{Cluster, Destination, Fleet, Link};
use lynceus_diff::{ChangeSet, DiffError, Ignore, Pair, ServerSide, compare_all, pair};
use lynceus_files::Tree;
use lynceus_object::{GroupKind, Gvk, Object, ObjectKey, Str};
use lynceus_render::Setting;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::assess::{Assessment, Checks, assess};
use crate::claims::{Claim, Claims};
use crate::comparing::{ServerSideDiff, failed_comparisons, failed_rules, is_applied, shared_by};
use crate::condition::Condition;
use crate::desire::{Desired, Wanting, desire};
use crate::flips::{Flips, syncs};
use crate::grace::is_of_the_way;
use crate::key::{AppKey, project_kind};
use crate::oddities;
use crate::predictions::Predictions;
use crate::project::{self, Orphans, orphans};
use crate::queue::Freshness;
use crate::rendering::{Renderer, Request, Sourced};
use crate::settings::Settings;
use crate::spec;

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
    /// Whether there is no comparison because a repository cannot be read now, which says nothing about what is in it.
    pub unfetched: bool,
    /// Whether there is no comparison because a revision lacks the path of a source.
    pub pathless: bool,
    /// Whether something that is wanted could not be read.
    pub unread: bool,
    /// The kinds that could not be read, a sentence for each.
    pub unreadable: Vec<String>,
    /// Whether the health of every object is to stand in the status.
    pub keeps_health: bool,
    /// How the objects were compared.
    pub comparing: Arc<lynceus_diff::Settings>,
    /// Applications, as tracking marks name them, that share objects with this one since this look, or no longer.
    pub concerned: Vec<Str>,
    /// Objects in its namespace that belong to nobody, where its project wants to know.
    pub orphans: Vec<Object>,
}

impl Look {
    fn failed(condition: Condition) -> Self {
        Look { conditions: vec![condition], ..Look::default() }
    }

    /// The errors among what is wrong.
    pub fn errors(&self) -> impl Iterator<Item = &Condition> {
        self.conditions.iter().filter(|condition| condition.kind.is_error())
    }

    /// The errors with which nothing may be synced. A dry run that failed is none of them: a sync may well be what puts
    /// it right, and has a dry run of its own.
    pub fn blockers(&self) -> impl Iterator<Item = &Condition> {
        self.errors().filter(|condition| !self.dry_runs().any(|failed| failed == **condition))
    }

    fn dry_runs(&self) -> impl Iterator<Item = Condition> + '_ {
        failed_comparisons(&self.changes, |error| matches!(error, DiffError::DryRun(_)))
    }

    /// The changes with every ignored field as it is live, which is how they are applied with
    /// `RespectIgnoreDifferences`.
    pub fn respecting(&self) -> Result<ChangeSet, DiffError> {
        let mut changes = self.changes.clone();
        for change in &mut changes.changes {
            if let Pair::Both { desired, live } = &mut change.pair {
                *desired = lynceus_diff::respect(desired, live, &self.comparing)?;
            }
        }
        Ok(changes)
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
    /// What servers said before.
    pub(crate) predictions: &'a Predictions,
    /// What others want.
    pub(crate) claims: &'a Claims,
    /// What differed before.
    pub(crate) flips: &'a Flips,
    /// Whether what is found is remembered as what the application wants. Only of what stands in the cluster and is worked
    /// on: what somebody asks about, a spec that is refused or another revision, is nobody's wish.
    pub(crate) notes: bool,
}

/// What is looked at, where that is not simply what the Application says.
#[derive(Clone, Default)]
pub struct Aim {
    /// Sources to take instead of the application's own, as a rollback does.
    pub sources: Option<Vec<ApplicationSource>>,
    /// Revisions to take instead of the sources' own, in their order.
    pub revisions: Vec<Str>,
    /// Objects to take instead of what the sources give, as a sync of local manifests does.
    pub manifests: Option<Vec<Object>>,
    /// Files to take instead of those of the sources, in their order.
    pub files: Vec<Option<Arc<dyn Tree>>>,
    /// How much is to be found out anew.
    pub freshness: Freshness,
}

impl Aim {
    /// Whether what is looked at is not from where the Application says.
    fn is_local(&self) -> bool {
        self.manifests.is_some() || !self.files.is_empty()
    }
}

/// What an application stands on: nothing of it is read before there is all of this.
struct Ground {
    project: Arc<AppProject>,
    sources: Vec<ApplicationSource>,
    found: Destination,
    destination: ApplicationDestination,
}

impl Looker<'_> {
    /// Looks at an application.
    pub async fn look(&self, application: &Application, aim: &Aim, now: Timestamp) -> Look {
        let Ground { project, sources, found, destination } = match self.ground(application, aim).await {
            Ok(ground) => ground,
            Err(look) => return *look,
        };
        let cluster = match &found.link {
            Link::Up(cluster) => cluster.clone(),
            _ => return Look { project: Some(project), away: true, ..Look::failed(away(&found)) },
        };
        let setting = self.setting(application, &destination, &cluster);
        let request = Request {
            book: &self.settings.book,
            setting: &setting,
            project: &project,
            sources: &sources,
            revisions: &aim.revisions,
            files: &aim.files,
            keyring: &self.settings.keyring,
            freshness: aim.freshness,
            now,
        };
        let mut sourced = Vec::with_capacity(sources.len());
        let mut conditions = Vec::new();
        let (mut unfetched, mut pathless) = (true, false);
        for one in self.renderer.render(&request).await {
            match one {
                Ok(one) => sourced.push(one),
                Err(error) => {
                    unfetched &= is_of_the_way(&error);
                    pathless |= error.is_pathless();
                    conditions.push(Condition::comparison(crate::words(&error)));
                }
            }
        }
        if !conditions.is_empty() {
            let project = Some(project);
            return Look { project, sourced, conditions, unfetched, pathless, ..Look::default() };
        }
        let place = Place { cluster, destination };
        let mut look = self.compare(application, project.clone(), place, sourced, aim, now).await;
        self.flips.mark(&setting.application, &mut look.changes, &syncs(application), now, self.notes);
        // Many kinds fail at once when a cluster goes away: then that is what there is to say.
        if look.unread
            && let link @ Link::Away(_) = self.fleet.recheck(&found.server).await
        {
            let found = Destination { link, ..found };
            return Look { project: Some(project), away: true, ..Look::failed(away(&found)) };
        }
        look
    }

    /// What is wrong with an application before anything of its sources is read: its project, or what that does not permit,
    /// its sources as they are written, its destination.
    pub async fn objections(&self, application: &Application) -> Vec<Condition> {
        match self.ground(application, &Aim::default()).await {
            Ok(_) => Vec::new(),
            Err(look) => look.conditions,
        }
    }

    /// What an application stands on, or what there is to see if it stands on nothing.
    async fn ground(&self, application: &Application, aim: &Aim) -> Result<Ground, Box<Look>> {
        let project = self.project(application).map_err(|condition| Box::new(Look::failed(condition)))?;
        let refused = |conditions| Look { project: Some(project.clone()), conditions, ..Look::default() };
        let sources = aim.sources.clone().unwrap_or_else(|| application.spec.all_sources());
        let mut wrong = spec::sources(&project, &sources, application.spec.has_multiple_sources());
        let found = match self.fleet.find_settled(&application.spec.destination).await {
            Ok(found) => found,
            Err(error) => {
                wrong.push(Condition::invalid_spec(error.to_string()));
                return Err(Box::new(refused(wrong)));
            }
        };
        let destination = whole(&application.spec.destination, &found);
        let in_scope = self.is_in_scope(&project, &destination);
        wrong.extend(spec::destination(&project, application, &destination, in_scope));
        wrong.extend(aim.is_local().then(|| not_local(&project, &sources)).flatten());
        match wrong.is_empty() {
            true => Ok(Ground { project, sources, found, destination }),
            false => Err(Box::new(refused(wrong))),
        }
    }

    /// What the sources of an application are rendered with.
    pub(crate) fn setting(
        &self,
        application: &Application,
        destination: &ApplicationDestination,
        cluster: &Cluster,
    ) -> Setting {
        let kinds = cluster.kinds();
        Setting {
            application: AppKey::of(application).tracked_as(self.home),
            namespace: destination.namespace.clone(),
            project: application.spec.project.clone(),
            revision: Str::new(),
            kube_version: kinds.version.clone(),
            api_versions: kinds.api_versions(),
            value_schemes: self.settings.value_schemes.clone(),
            kustomize_options: self.settings.kustomize_options.clone(),
            // Whoever renders knows.
            plugins: false,
            tools: self.settings.tools,
            directory_bytes: Some(self.settings.directory_bytes),
        }
    }

    async fn compare(
        &self,
        application: &Application,
        project: Arc<AppProject>,
        Place { cluster, destination }: Place,
        sourced: Vec<Sourced>,
        aim: &Aim,
        now: Timestamp,
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
        let (mut live, unread_objects) = live(&cluster, &tracked, &desired).await;
        // What the project does not permit, or the settings exclude, is not the application's: it is neither shown nor
        // pruned.
        live.retain(|object| {
            let namespaced = !object.namespace().is_empty();
            !watched.scope.excludes(&object.group_kind(), &watched.server)
                && project::permits_object(&project, object, namespaced, &destination).is_ok()
        });
        let pairs = pair(&desired.objects, &live, &destination.namespace, &|kind| kinds.is_namespaced(kind));
        let (ignore, faulty) = Ignore::new(&application.spec.ignore_differences);
        let mut comparing = self.comparing(application, ignore, &sourced);
        let chosen = ServerSideDiff::of(application, self.settings);
        if chosen.on {
            let predictions = self.predictions.ask(&cluster, &pairs).await;
            comparing.server_side =
                Some(ServerSide { predictions, include_mutations: chosen.include_mutations });
        }
        let tracking = &self.settings.tracking;
        let is_own = |object: &Object| {
            let owned = tracking.application(object).is_some_and(|owner| owner == tracked);
            // A mark that names another object was copied from it; a label names none.
            let by_label = tracking.method == TrackingMethod::Label;
            owned && (by_label || TrackingId::of(object).is_none_or(|id| names(&id.object, object)))
        };
        let changes = compare_all(pairs, &comparing, &is_own);
        let checks = Checks { custom: self.settings.health.clone(), children: self.children, now };
        let mut assessment = assess(application, &changes, &checks);
        let mut conditions = desired.conditions.clone();
        conditions.extend(oddities::of_application(application));
        conditions.extend(faulty.iter().map(|error| Condition::comparison(crate::words(error))));
        let stops_all = self.settings.unreadable_kinds_stop_all;
        let unreadable = match stops_all {
            true => unreadable(&cluster, cluster.cache().errors().into_keys()),
            false => unreadable(&cluster, desired.objects.iter().map(Object::group_kind)),
        };
        let is_unread = !unreadable.is_empty() || !unread_objects.is_empty();
        // What the project does not permit cannot be told of, nor can anything where all stands or falls together.
        assessment.forget(|kind, name| {
            let namespaced = kinds.is_namespaced(kind) == Some(true);
            is_unread && stops_all || !project::permits_kind(&project, kind, name, namespaced)
        });
        conditions.extend(unreadable.iter().map(Condition::comparison));
        conditions.extend(unread_objects);
        conditions.extend(oddities::of_rules(&changes));
        let managed = changes.changes.iter().map(lynceus_diff::Change::key).collect();
        let place = Place { cluster, destination };
        let orphans = self.orphans(&project, &place, &managed);
        conditions.extend(told(&project, &orphans));
        let cluster = place.cluster;
        conditions.extend(failed_comparisons(&changes, |_| true));
        conditions.extend(failed_rules(&changes));
        let concerned = match self.notes && !aim.is_local() {
            true => self.claims.note(&tracked, &watched.server, &desired),
            // What is only tried is nobody's wish.
            false => Vec::new(),
        };
        conditions.extend(self.shared(&key, &watched.server, &desired, &changes));
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
            unfetched: false,
            pathless: false,
            unread: is_unread,
            unreadable,
            keeps_health: self.settings.persist_health,
            comparing: Arc::new(comparing),
            concerned,
            orphans,
        }
    }

    /// How the objects of an application are compared.
    fn comparing(
        &self,
        application: &Application,
        own: Ignore,
        sourced: &[Sourced],
    ) -> lynceus_diff::Settings {
        let chosen = application.spec.sync_policy.as_ref().map(|policy| policy.sync_options.as_slice());
        let tracking = &self.settings.tracking;
        lynceus_diff::Settings {
            server_side_apply: Options::from(chosen.unwrap_or_default())
                .has(options::sync::SERVER_SIDE_APPLY),
            former_tracking_label: (tracking.method != TrackingMethod::Label).then(|| tracking.label.clone()),
            applied: is_applied(application, sourced),
            ..self.settings.comparing.settings(own)
        }
    }

    /// Objects that another application wants as well, or that carry another one's mark.
    fn shared(&self, key: &AppKey, server: &str, desired: &Desired, changes: &ChangeSet) -> Vec<Condition> {
        let tracked = key.tracked_as(self.home);
        let mut conditions = Vec::new();
        for change in &changes.changes {
            let Some(wanted) = change.pair.desired() else { continue };
            let mut others = self.claims.others(&tracked, server, &wanted.key());
            if let Some(owner) = change.pair.live().and_then(|live| self.settings.tracking.application(live))
                && owner != tracked
                && !others.iter().any(|other| other.application == owner)
            {
                others.push(Claim { application: owner, file: Str::new() });
            }
            let file = desired.spans.get(&wanted.key()).map(|span| span.file.to_string()).unwrap_or_default();
            conditions.extend(others.iter().map(|other| shared_by(key, wanted, &file, other)));
        }
        conditions
    }

    /// The project with all that counts for it, if the application may use it.
    pub(crate) fn project(&self, application: &Application) -> Result<Arc<AppProject>, Condition> {
        let name = if application.spec.project.is_empty() { "default" } else { &application.spec.project };
        let project = self.whole_project(name)?;
        let AppKey { namespace, name: application } = AppKey::of(application);
        if !project::permits_namespace(&project, &namespace, self.home) {
            let message = format!(
                "application '{application}' in namespace '{namespace}' is not permitted to use project '{name}'"
            );
            return Err(Condition::new(ApplicationConditionType::UnknownError, message));
        }
        Ok(Arc::new(project))
    }

    /// A project with what is registered for it alone, and with the rules of those that hold for it too.
    pub(crate) fn whole_project(&self, name: &str) -> Result<AppProject, Condition> {
        let kind = project_kind();
        let find = |name: &str| {
            let key = ObjectKey::new(kind.group.clone(), kind.kind.clone(), self.home, name);
            self.fleet.home().cache().get(&key)
        };
        let Some(object) = find(name) else {
            return Err(Condition::invalid_spec(format!(
                "Application referencing project {name} which does not exist"
            )));
        };
        let mut project = AppProject::from_object(&object).map_err(|error| {
            Condition::invalid_spec(format!("project {name} cannot be read: {}", crate::words(&error)))
        })?;
        let own = self.settings.book.repositories().iter().filter(|repository| repository.project == name);
        project.spec.source_repos.extend(own.map(|repository| repository.url.as_str().into()));
        project.spec.destinations.extend(self.fleet.of_project(name));
        let global = |name: &str| AppProject::from_object(&find(name)?).ok();
        Ok(project::merged(project, &object, &self.settings.global_projects, &global))
    }

    /// Objects in the application's namespace that belong to nobody, where the project wants to know.
    fn orphans(
        &self,
        project: &AppProject,
        Place { cluster, destination }: &Place,
        managed: &BTreeSet<ObjectKey>,
    ) -> Vec<Object> {
        let is_application = |tracked: &str| {
            self.fleet.home().cache().get(&AppKey::from_tracked(tracked, self.home).object_key()).is_some()
        };
        let tracking = &self.settings.tracking;
        let wanted = Orphans { project, destination, managed, tracking, is_application: &is_application };
        orphans(cluster.cache(), &wanted)
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

/// What is said of objects that belong to nobody, unless the project only wants to see them.
fn told(project: &AppProject, orphans: &[Object]) -> Option<Condition> {
    let warns = project.spec.orphaned_resources.as_ref().is_some_and(|settings| settings.warn != Some(false));
    (warns && !orphans.is_empty()).then(|| {
        let message = format!("Application has {} orphaned resources", orphans.len());
        Condition::new(ApplicationConditionType::OrphanedResourceWarning, message)
    })
}

/// Objects that are not from Git carry no signature.
fn not_local(project: &AppProject, sources: &[ApplicationSource]) -> Option<Condition> {
    let is_git =
        |source: &ApplicationSource| source.chart.is_empty() && !source.repo_url.starts_with("oci://");
    let has_policy =
        |source: &ApplicationSource| !matches!(project::policy(project, &source.repo_url), Ok(None));
    let signed = sources.iter().any(|source| is_git(source) && has_policy(source));
    signed.then(|| Condition::comparison("Cannot use local manifests when source integrity is enforced"))
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
