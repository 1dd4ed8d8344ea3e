//! Everything that there is to see at one moment, for the doctor.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use futures::StreamExt as _;
use lynceus_api::{AppProject, Application, GROUP, HealthStatusCode, Kind as _, SyncStatusCode};
use lynceus_cluster::{Cluster, ClusterError, Destination, Kind, Link};
use lynceus_diff::{ChangeSet, Pair, mask};
use lynceus_doctor::{
    AppName, ClusterView, Delivery, EngineView, Reach, RepositoryView, SETTINGS, Snapshot, Wanted,
    misnamed_value_files, optional_value_files, value_files,
};
use lynceus_files::{FilePath, Span};
use lynceus_object::{Gvk, Object, ObjectKey, Str};
use lynceus_source::Repository;

use crate::engine::Engine;
use crate::key::{application_gvk, application_kind, project_kind};
use crate::limits;
use crate::look::{Aim, Look};
use crate::mend::idle_patches;
use crate::queue::Freshness;

/// Kinds that say nothing of what is wrong: who leads, and how much is used.
const PASSING: [(&str, &str); 4] = [
    ("coordination.k8s.io", "Lease"),
    ("metrics.k8s.io", "NodeMetrics"),
    ("metrics.k8s.io", "PodMetrics"),
    // Told of by the core group as well.
    ("events.k8s.io", "Event"),
];

impl Engine {
    /// Everything that there is to see now. Nothing is changed, and what cannot be seen is said to be unseen.
    pub async fn snapshot(&self) -> Snapshot {
        let mut unseen = Vec::new();
        let applications = self.deliveries(&mut unseen).await;
        let mut servers: BTreeSet<Str> = applications.iter().map(|one| one.server.clone()).collect();
        servers.insert(lynceus_api::IN_CLUSTER_SERVER.into());
        let clusters = self.cluster_views(&servers, &mut unseen).await;
        let repositories = self.repository_views(&applications).await;
        let mut projects = Vec::new();
        for object in self.home().cache().of_kind(&project_kind()) {
            match AppProject::from_object(&object) {
                Ok(project) => projects.push(project),
                Err(error) => unseen.push(format!("project {}: {}", object.name(), crate::words(&error))),
            }
        }
        let settings = SETTINGS.iter().filter_map(|name| {
            let key = ObjectKey::new("", "ConfigMap", self.options().namespace.clone(), *name);
            self.home().cache().get(&key)
        });
        let complaints = self.settings().diagnostics.iter().map(|one| one.to_text()).collect();
        let mut snapshot = Snapshot {
            taken_at: self.clock().now(),
            home: self.options().namespace.clone(),
            applications,
            projects,
            settings: settings.collect(),
            clusters,
            repositories,
            withheld: Vec::new(),
            refused: Vec::new(),
            lost_images: BTreeMap::new(),
            // Most of the queue is for later; how far behind it is, the queue does not say.
            engine: EngineView { waiting: None, complaints },
            unseen,
        };
        Box::pin(self.try_misnamed(&mut snapshot)).await;
        snapshot.withheld = Box::pin(self.withheld(&snapshot)).await;
        snapshot
    }

    /// Tries what the value files would change that are passed over because of their names, where something is not well.
    async fn try_misnamed(&self, snapshot: &mut Snapshot) {
        for one in misnamed_value_files(snapshot).into_iter().take(limits::OVERRIDDEN) {
            let is_it = |delivery: &&mut Delivery| {
                AppName::of(&delivery.application) == one.application
                    && delivery.rendered
                    && !delivery.uncreated
                    && !is_fine(delivery)
            };
            let Some(delivery) = snapshot.applications.iter_mut().find(is_it) else { continue };
            delivery.passed_over.extend(self.passed_over(&one).await);
        }
    }

    async fn deliveries(&self, unseen: &mut Vec<String>) -> Vec<Delivery> {
        let mut applications = Vec::new();
        for object in self.applications(unseen).await {
            match Application::from_object(&object) {
                Ok(application) => applications.push(application),
                Err(error) => unseen.push(format!("application {}: {}", object.name(), crate::words(&error))),
            }
        }
        let mut deliveries = self.looked_at(applications).await;
        // What waits in a later wave of another application has to be known, too: it may hold what an earlier one needs.
        let mut begin = 0;
        for _ in 0..limits::SNAPSHOT_GENERATIONS {
            let coming = self.coming(&deliveries, begin);
            if coming.is_empty() {
                break;
            }
            begin = deliveries.len();
            let coming = self.looked_at(coming).await;
            deliveries.extend(coming.into_iter().map(|one| Delivery { uncreated: true, ..one }));
        }
        place(&mut deliveries);
        let unwell = deliveries.iter_mut().filter(|one| one.rendered && !one.uncreated && !is_fine(one));
        for delivery in unwell.take(limits::OVERRIDDEN) {
            let name = AppName::of(&delivery.application);
            delivery.overrides = self.overrides(&name, delivery.file.as_ref()).await;
            delivery.untagged = self.untagged(&name, &delivery.wanted).await;
        }
        deliveries
    }

    async fn looked_at(&self, applications: Vec<Application>) -> Vec<Delivery> {
        let looks = futures::stream::iter(applications.into_iter().map(|application| async move {
            let aim = Aim { freshness: Freshness::Recent, ..Aim::default() };
            let look = self.look(&application, &aim).await;
            let is_by_chance = look.sourced.iter().any(|one| one.rendered.is_by_chance);
            let mut delivery = self.delivery(application, look);
            let name = AppName::of(&delivery.application);
            if is_by_chance {
                delivery.chances = self.chances(&name, &delivery.wanted).await;
            }
            if !delivery.rendered {
                delivery.idle_patches = self.failing_patches(&name).await;
                delivery.hollow = self.hollow(&name).await;
            }
            delivery
        }));
        looks.buffered(limits::SNAPSHOT_LOOKS).collect().await
    }

    /// The Applications that the deliveries from one on want and that are not there.
    fn coming(&self, deliveries: &[Delivery], begin: usize) -> Vec<Application> {
        let settings = self.settings();
        let of = |one: &Application| (one.metadata.namespace.clone(), one.metadata.name.clone());
        let mut known: BTreeSet<(Str, Str)> = deliveries.iter().map(|one| of(&one.application)).collect();
        let homely = deliveries.iter().skip(begin).filter(|one| one.server == lynceus_api::IN_CLUSTER_SERVER);
        let wanted = homely.flat_map(|one| &one.wanted).map(|one| &one.object);
        let applications = wanted.filter(|object| {
            (object.group(), object.kind()) == (GROUP, "Application")
                && settings.takes_applications_from(object.namespace(), &self.options().namespace)
        });
        // One that cannot be read is told of when it is applied.
        let read = applications.filter_map(|object| Application::from_object(object).ok());
        read.filter(|one| known.insert(of(one))).collect()
    }

    /// The Applications as the server has them, of the namespaces that may have some.
    async fn applications(&self, unseen: &mut Vec<String>) -> Vec<Object> {
        let settings = self.settings();
        let is_ours =
            |object: &Object| settings.takes_applications_from(object.namespace(), &self.options().namespace);
        let mut listed = match self.home().list(&application_gvk(), "").await {
            Ok(listed) => listed,
            Err(error) => {
                unseen.push(format!("the applications as they are now: {}", crate::words(&error)));
                self.home().cache().of_kind(&application_kind())
            }
        };
        listed.retain(is_ours);
        listed.sort_by_key(Object::key);
        listed
    }

    fn delivery(&self, application: Application, look: Look) -> Delivery {
        let server = match self.fleet().find(&application.spec.destination) {
            Ok(found) => found.server,
            Err(_) => application.spec.destination.server.clone(),
        };
        let wanted = look.desired.objects.iter().map(|object| Wanted {
            object: self.veiled(object),
            span: look.desired.spans.get(&object.key()).cloned(),
        });
        let idle_patches = idle_patches(&application, &look.sourced);
        Delivery {
            idle_patches,
            chances: Vec::new(),
            passed_over: Vec::new(),
            hollow: Vec::new(),
            untagged: Vec::new(),
            uncreated: false,
            file: None,
            server,
            rendered: look.compared,
            wanted: wanted.collect(),
            changes: self.veiled_changes(look.changes),
            overrides: Vec::new(),
            application,
        }
    }

    /// An object without what is secret.
    fn veiled(&self, object: &Object) -> Object {
        mask(None, Some(object), &self.settings().comparing.hidden_annotations).1.unwrap_or_default()
    }

    fn veiled_changes(&self, mut changes: ChangeSet) -> ChangeSet {
        for change in &mut changes.changes {
            match &mut change.pair {
                Pair::Missing(object) | Pair::Extra(object) => *object = self.veiled(object),
                Pair::Both { desired, live } => {
                    let hidden = &self.settings().comparing.hidden_annotations;
                    let (one, other) = mask(Some(desired), Some(live), hidden);
                    (*desired, *live) = (one.unwrap_or_default(), other.unwrap_or_default());
                }
            }
        }
        for hook in &mut changes.hooks {
            *hook = self.veiled(hook);
        }
        changes
    }

    async fn cluster_views(&self, servers: &BTreeSet<Str>, unseen: &mut Vec<String>) -> Vec<ClusterView> {
        let mut views = Vec::new();
        for Destination { server, name, link, .. } in self.fleet().destinations() {
            if !servers.contains(&server) {
                continue;
            }
            let view = match link {
                Link::Up(cluster) => self.view(&cluster, server, name, unseen).await,
                Link::Away(away) => ClusterView {
                    server,
                    name,
                    reach: Reach::Away(away.why.to_string()),
                    ..ClusterView::default()
                },
                Link::Idle | Link::Connecting => {
                    unseen.push(format!("cluster {name} ({server}): it is not connected"));
                    ClusterView {
                        server,
                        name,
                        reach: Reach::Away("not connected".into()),
                        ..ClusterView::default()
                    }
                }
            };
            views.push(view);
        }
        // The home cluster comes first.
        views.sort_by_key(|view| view.server != lynceus_api::IN_CLUSTER_SERVER);
        views
    }

    async fn view(
        &self,
        cluster: &Arc<Cluster>,
        server: Str,
        name: Str,
        unseen: &mut Vec<String>,
    ) -> ClusterView {
        let kinds = cluster.kinds();
        let mut view = ClusterView { server, name, version: kinds.version.clone(), ..ClusterView::default() };
        if kinds.broken_groups.is_empty() {
            view.kinds = kinds.iter().map(|kind| (kind.gvk.group_kind(), kind.namespaced)).collect();
        }
        for (group, why) in &kinds.broken_groups {
            unseen.push(format!("kinds of {group}: {why}"));
        }
        let wanted: Vec<Kind> = kinds.watchable().filter(|kind| !is_passing(&kind.gvk)).cloned().collect();
        let lists = futures::stream::iter(wanted.into_iter().map(|kind| async move {
            let listed = cluster.list(&kind.gvk, "").await;
            (kind, listed)
        }));
        let lists: Vec<(Kind, Result<Vec<Object>, ClusterError>)> =
            lists.buffered(limits::SNAPSHOT_LOOKS).collect().await;
        for (kind, listed) in lists {
            match listed {
                Ok(objects) => view.objects.extend(objects.iter().map(|object| self.veiled(object))),
                Err(error) => {
                    unseen.push(format!("{}: {}", kind.gvk.group_kind(), crate::words(&error)));
                    view.partial.insert(kind.gvk.group_kind());
                }
            }
        }
        view
    }

    /// What Git has, of the repositories that applications come from. Only where something is wrong are paths looked for.
    async fn repository_views(&self, deliveries: &[Delivery]) -> Vec<RepositoryView> {
        let mut views: BTreeMap<Str, RepositoryView> = BTreeMap::new();
        let book = &self.settings().book;
        for delivery in deliveries {
            let spec = &delivery.application.spec;
            for source in spec.all_sources() {
                if !source.chart.is_empty() || source.repo_url.starts_with("oci://") {
                    continue;
                }
                let repository = book.find(&source.repo_url, &spec.project);
                if !views.contains_key(&source.repo_url) {
                    views.insert(
                        source.repo_url.clone(),
                        self.repository_view(&source.repo_url, &repository).await,
                    );
                }
                let Some(view) = views.get_mut(&source.repo_url) else { continue };
                if !delivery.rendered && view.reach == Reach::Up {
                    self.find_path(view, &repository, &source.path).await;
                }
            }
            let unread = value_files(spec).into_iter().filter(|_| !delivery.rendered);
            let unread = unread.map(|(_, url, path)| (url, path));
            // What may be missing is missing without a word.
            let optional = optional_value_files(spec).into_iter().map(|one| (one.repository, one.path));
            for (url, path) in unread.chain(optional) {
                if let Some(view) = views.get_mut(&url).filter(|view| view.reach == Reach::Up) {
                    self.find_path(view, &book.find(&url, &spec.project), &path).await;
                }
            }
        }
        views.into_values().collect()
    }

    async fn repository_view(&self, url: &Str, repository: &Repository) -> RepositoryView {
        let mut view = RepositoryView { url: url.clone(), ..RepositoryView::default() };
        match self.renderer().sources().references(repository).await {
            Ok(found) => {
                view.branches = Some(found.branches.into_iter().map(Str::from).collect());
                view.tags = Some(found.tags.into_iter().map(Str::from).collect());
                view.head = found.default_branch.unwrap_or_default().into();
            }
            Err(error) => view.reach = Reach::Away(crate::words(&error)),
        }
        view
    }

    /// Whether the default branch has a path. Where it does not, what stands beside it may be what is meant.
    async fn find_path(&self, view: &mut RepositoryView, repository: &Repository, path: &Str) {
        let at = (view.head.clone(), path.clone());
        if view.head.is_empty() || view.paths.contains_key(&at) {
            return;
        }
        let sources = self.renderer().sources();
        let Ok(revision) = sources.resolve(repository, view.head.as_str()).await else { return };
        let (Ok(tree), Ok(path)) = (sources.tree(repository, &revision).await, FilePath::new(path)) else {
            return;
        };
        let is_there = tree.entry(&path).is_ok();
        view.paths.insert(at, is_there);
        let Some(folder) = path.parent().filter(|_| !is_there) else { return };
        let Ok(beside) = tree.list(&folder) else { return };
        for (name, _) in beside.into_iter().take(limits::SNAPSHOT_BESIDE) {
            if let Ok(beside) = folder.join(&name) {
                view.paths.insert((view.head.clone(), beside.as_str().into()), true);
            }
        }
    }
}

/// Whether an application is Synced and Healthy, so that nothing has to be asked of it.
fn is_fine(delivery: &Delivery) -> bool {
    let status = &delivery.application.status;
    status.sync.status == SyncStatusCode::Synced && status.health.status == HealthStatusCode::Healthy
}

fn is_passing(gvk: &Gvk) -> bool {
    PASSING.contains(&(&gvk.group, &gvk.kind))
}

/// Says of each application where it stands in Git, if another one has it there.
fn place(deliveries: &mut [Delivery]) {
    let mut files: BTreeMap<(Str, Str), Span> = BTreeMap::new();
    for wanted in deliveries.iter().flat_map(|delivery| &delivery.wanted) {
        let object = &wanted.object;
        if (object.group(), object.kind()) == (GROUP, "Application")
            && let Some(span) = &wanted.span
        {
            files.insert((object.namespace().into(), object.name().into()), span.clone());
        }
    }
    for delivery in deliveries {
        let metadata = &delivery.application.metadata;
        delivery.file = files.get(&(metadata.namespace.clone(), metadata.name.clone())).cloned();
    }
}
