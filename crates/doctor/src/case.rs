//! A snapshot with everything that is asked of it laid out to be found.

mod pods;
mod said;
mod status;
mod to_come;

use std::collections::HashMap;

use jiff::Timestamp;
use lynceus_api::{
    Application, ApplicationConditionType, GROUP, HealthStatusCode, SyncStatusCode, TrackingId, wave,
};
use lynceus_health::Health;
use lynceus_object::{GroupKind, Object, ObjectKey, Str};

pub use pods::Pods;
pub(crate) use said::{Said, Voice, condition, message};
use to_come::ToCome;

use crate::finding::Evidence;
use crate::limits;
use crate::links::missing;
use crate::links::origin::Origins;
use crate::node::{AppName, Node};
use crate::snapshot::{ClusterView, Delivery, Override, Reach, RepositoryView, Snapshot, Wanted};

/// A snapshot, laid out to be found. What rules and links are given.
pub struct Case<'a> {
    /// What was seen.
    pub snapshot: &'a Snapshot,
    apps: Vec<App<'a>>,
    app_places: HashMap<AppName, usize>,
    clusters: HashMap<&'a str, Index<'a>>,
    wanted: HashMap<(Str, ObjectKey), Vec<(usize, usize)>>,
    repositories: HashMap<&'a str, &'a RepositoryView>,
    listed: HashMap<(Str, ObjectKey), usize>,
    said: Vec<Said<'a>>,
    pod_owners: HashMap<&'a str, Vec<&'a Object>>,
    holders: Vec<(&'a str, &'a Object, Pods<'a>)>,
    origins: Origins<'a>,
    to_come: ToCome<'a>,
}

/// One cluster's objects, to be found.
struct Index<'a> {
    view: &'a ClusterView,
    objects: HashMap<ObjectKey, &'a Object>,
    by_kind: HashMap<GroupKind, Vec<&'a Object>>,
    children: HashMap<&'a str, Vec<&'a Object>>,
    uids: HashMap<&'a str, &'a Object>,
    events: HashMap<(Str, Str, Str), Vec<&'a Object>>,
}

/// One application of a case.
#[derive(Clone)]
pub struct App<'a> {
    /// Its name.
    pub name: AppName,
    /// Everything that was seen of it.
    pub delivery: &'a Delivery,
    /// Whether its last sync failed, or has been under way for longer than syncs take.
    is_unfinished: bool,
}

impl<'a> App<'a> {
    fn new(delivery: &'a Delivery, now: Timestamp) -> Self {
        let state = delivery.application.status.operation_state.as_ref();
        let is_late = |began: Option<lynceus_api::Time>| {
            began.is_some_and(|began| now.duration_since(began.timestamp()) > limits::SYNC)
        };
        let app = App { name: AppName::of(&delivery.application), delivery, is_unfinished: false };
        let is_unfinished = state.is_some_and(|state| match state.phase.known() {
            // What failed with an older commit, and is as Git has it now, has been overtaken.
            Some(phase) if phase.is_unsuccessful() => {
                !(app.is_fine() && app.is_of_head(state) == Some(false))
            }
            Some(phase) => !phase.is_completed() && is_late(state.started_at),
            None => false,
        });
        App { is_unfinished, ..app }
    }

    /// The Application.
    pub fn application(&self) -> &'a Application {
        &self.delivery.application
    }

    /// The address of its cluster.
    pub fn server(&self) -> &'a str {
        &self.delivery.server
    }

    /// Whether it differs from Git.
    pub fn is_out_of_sync(&self) -> bool {
        self.application().status.sync.status == SyncStatusCode::OutOfSync
    }

    /// Its health, as its controller wrote it.
    pub fn health(&self) -> Option<HealthStatusCode> {
        self.application().status.health.status.known()
    }

    /// Whether it is Synced and Healthy, nothing about it went wrong and its last sync has come to its end.
    pub fn is_fine(&self) -> bool {
        let status = &self.application().status;
        status.sync.status == SyncStatusCode::Synced
            && status.health.status == HealthStatusCode::Healthy
            && !self.errors().any(|_| true)
            && !self.is_unfinished
    }

    /// Whether it is not fine, or in a sync that may never end though everything that it has is well.
    pub fn is_troubled(&self) -> bool {
        !self.is_fine() || self.is_operating()
    }

    /// The conditions of its status that say that something went wrong: type and message.
    pub fn errors(&self) -> impl Iterator<Item = (ApplicationConditionType, &'a str)> {
        let conditions = self.application().status.conditions.iter();
        conditions
            .filter_map(|one| Some((one.type_.known()?, one.message.as_str())))
            .filter(|(kind, _)| kind.is_error())
    }

    /// What the last or running sync says of the objects that it could not apply: key and message.
    pub fn failures(&self) -> Vec<(ObjectKey, &'a str)> {
        let state = self.application().status.operation_state.as_ref();
        let resources = state.and_then(|state| state.sync_result.as_ref()).map(|result| &result.resources);
        let failed = resources.into_iter().flatten().filter(|one| {
            one.status == lynceus_api::ResultCode::SyncFailed
                || one.hook_phase.known().is_some_and(lynceus_api::OperationPhase::is_unsuccessful)
        });
        failed
            .map(|one| {
                let key = ObjectKey::new(
                    one.group.clone(),
                    one.kind.clone(),
                    one.namespace.clone(),
                    one.name.clone(),
                );
                (key, one.message.as_str())
            })
            .collect()
    }

    /// What it wants.
    pub fn wanted(&self) -> &'a [Wanted] {
        &self.delivery.wanted
    }

    /// What it wants of this name.
    pub fn wants(&self, key: &ObjectKey) -> Option<&'a Wanted> {
        self.delivery.wanted.iter().find(|one| one.object.key() == *key)
    }

    /// Its place in the graph of causes.
    pub fn node(&self) -> Node {
        Node::Application(self.name.clone())
    }

    /// Evidence out of a file of it.
    pub fn file(&self, wanted: &Wanted, text: impl Into<String>) -> Option<Evidence> {
        let span = wanted.span.clone()?;
        Some(Evidence::File { application: self.name.clone(), span, text: text.into() })
    }

    /// Evidence out of its status.
    pub fn status(&self, text: impl AsRef<str>) -> Evidence {
        Evidence::Status { application: self.name.clone(), text: crate::words::quote(text.as_ref()) }
    }
}

impl<'a> Case<'a> {
    /// Lays a snapshot out.
    pub fn new(snapshot: &'a Snapshot) -> Self {
        let apps: Vec<App<'a>> =
            snapshot.applications.iter().map(|delivery| App::new(delivery, snapshot.taken_at)).collect();
        let app_places = apps.iter().enumerate().map(|(place, app)| (app.name.clone(), place)).collect();
        let mut wanted: HashMap<(Str, ObjectKey), Vec<(usize, usize)>> = HashMap::new();
        for (place, app) in apps.iter().enumerate() {
            for (number, one) in app.wanted().iter().enumerate() {
                let key = (app.delivery.server.clone(), one.object.key());
                wanted.entry(key).or_default().push((place, number));
            }
        }
        let clusters =
            snapshot.clusters.iter().map(|view| (view.server.as_str(), Index::new(view))).collect();
        let repositories = snapshot.repositories.iter().map(|one| (one.url.as_str(), one)).collect();
        let listed = listed(&apps);
        let mut case = Case {
            snapshot,
            apps,
            app_places,
            clusters,
            wanted,
            repositories,
            listed,
            said: Vec::new(),
            pod_owners: HashMap::new(),
            holders: Vec::new(),
            origins: Origins::default(),
            to_come: ToCome::default(),
        };
        case.remember();
        case
    }

    /// Looks once for what several rules and links ask for.
    fn remember(&mut self) {
        self.to_come = ToCome::new(self);
        self.said = self.hear();
        self.pod_owners = self.servers().map(|server| (server, self.find_pod_owners(server))).collect();
        self.holders = missing::find_holders(self);
        self.origins = Origins::new(self);
    }

    /// What makes pods and is not well, or is not there yet, with the spec that its next pods have.
    pub(crate) fn holders(&self) -> impl Iterator<Item = (&'a str, &'a Object, &Pods<'a>)> {
        self.holders.iter().map(|(server, holder, pods)| (*server, *holder, pods))
    }

    /// What applications want and what is certainly not there yet, of each cluster: a sync that stands still has not come to it.
    pub(crate) fn to_come(&self, server: &str) -> &[&'a Object] {
        self.to_come.all(server)
    }

    /// The objects of a kind that are there, and then those that are to come.
    pub(crate) fn due(&self, server: &str, group: &str, kind: &str) -> impl Iterator<Item = &'a Object> {
        self.of_kind(server, group, kind).iter().chain(self.to_come.of_kind(server, group, kind)).copied()
    }

    /// Whether an application that is not well is called after something: what it brings may make that as soon as it runs.
    pub(crate) fn is_promised(&self, server: &str, name: &str) -> bool {
        let mut troubled = self.apps.iter().filter(|app| app.server() == server && app.is_troubled());
        let word = format!("-{name}");
        troubled.any(|app| format!("-{}", app.name.name).contains(&word))
    }

    /// What may make what.
    pub(crate) fn origins(&self) -> &Origins<'a> {
        &self.origins
    }

    /// All applications, in the snapshot's order.
    pub fn apps(&self) -> impl Iterator<Item = &App<'a>> {
        self.apps.iter()
    }

    /// An application by name.
    pub fn app(&self, name: &AppName) -> Option<&App<'a>> {
        self.app_places.get(name).map(|place| &self.apps[*place])
    }

    /// The addresses of all clusters, in the snapshot's order.
    pub fn servers(&self) -> impl Iterator<Item = &'a str> {
        self.snapshot.clusters.iter().map(|view| view.server.as_str())
    }

    /// A cluster.
    pub fn cluster(&self, server: &str) -> Option<&'a ClusterView> {
        self.clusters.get(server).map(|index| index.view)
    }

    /// ` in cluster prod-eu`, where there are several clusters to be told apart.
    pub(crate) fn of_cluster(&self, server: &str) -> String {
        let view = self.cluster(server).filter(|_| self.snapshot.clusters.len() > 1);
        view.map(|view| {
            format!(" in cluster {}", if view.name.is_empty() { server } else { view.name.as_str() })
        })
        .unwrap_or_default()
    }

    /// A repository.
    pub fn repository(&self, url: &str) -> Option<&'a RepositoryView> {
        self.repositories.get(url).copied()
    }

    /// An object of a cluster.
    pub fn live(&self, server: &str, key: &ObjectKey) -> Option<&'a Object> {
        self.clusters.get(server)?.objects.get(key).copied()
    }

    /// Whether it is certain that an object is not in a cluster.
    pub fn is_absent(&self, server: &str, key: &ObjectKey) -> bool {
        let Some(index) = self.clusters.get(server) else { return false };
        index.view.reach == Reach::Up
            && !index.objects.contains_key(key)
            && !index.view.partial.contains(&key.group_kind())
    }

    /// Whether a cluster serves a kind, if that is known.
    pub fn serves(&self, server: &str, kind: &GroupKind) -> Option<bool> {
        let view = self.cluster(server)?;
        (view.reach == Reach::Up && !view.kinds.is_empty()).then(|| view.kinds.contains_key(kind))
    }

    /// The objects of a kind, in the snapshot's order.
    pub fn of_kind(&self, server: &str, group: &str, kind: &str) -> &[&'a Object] {
        let kind = GroupKind::new(group, kind);
        self.clusters.get(server).and_then(|index| index.by_kind.get(&kind)).map_or(&[], Vec::as_slice)
    }

    /// All objects of a cluster.
    pub fn objects(&self, server: &str) -> &'a [Object] {
        self.cluster(server).map_or(&[], |view| &view.objects)
    }

    /// The objects that an object owns.
    pub fn children(&self, server: &str, owner: &Object) -> &[&'a Object] {
        let index = self.clusters.get(server);
        index.and_then(|index| index.children.get(owner.uid())).map_or(&[], Vec::as_slice)
    }

    /// The events about an object, as they stand in the snapshot.
    pub fn events(&self, server: &str, key: &ObjectKey) -> &[&'a Object] {
        let place = (key.kind.clone(), key.namespace.clone(), key.name.clone());
        self.clusters.get(server).and_then(|index| index.events.get(&place)).map_or(&[], Vec::as_slice)
    }

    /// The newest event about an object with one of these reasons, as evidence.
    pub fn event(&self, server: &str, key: &ObjectKey, reasons: &[&str]) -> Option<Evidence> {
        let fits =
            |event: &&&Object| reasons.contains(&event.value().str_at(&["reason"]).unwrap_or_default());
        let event = self.events(server, key).iter().filter(fits).max_by_key(|event| last_seen(event))?;
        let text = |field| event.value().str_at(&[field]).unwrap_or_default();
        Some(Evidence::Event {
            object: key.clone(),
            reason: text("reason").into(),
            message: crate::words::quote(message(event)),
            count: event.value().int_at(&["count"]).unwrap_or(1),
        })
    }

    /// What owns an object in the end: the Deployment of a pod, or the custom resource that made that.
    pub fn top(&self, server: &str, object: &'a Object) -> &'a Object {
        let Some(index) = self.clusters.get(server) else { return object };
        let mut top = object;
        for _ in 0..limits::OWNERS {
            let owner = top.controller().and_then(|owner| index.uids.get(owner.uid.as_str()).copied());
            match owner {
                Some(owner) => top = owner,
                None => break,
            }
        }
        top
    }

    /// Who wants an object, and as what, in the order of the applications.
    pub fn wanted(&self, server: &str, key: &ObjectKey) -> Vec<(&App<'a>, &'a Wanted)> {
        let found = self.wanted.get(&(server.into(), key.clone()));
        let one = |(app, number): &(usize, usize)| {
            let app = &self.apps[*app];
            (app, &app.delivery.wanted[*number])
        };
        found.map(|all| all.iter().map(one).collect()).unwrap_or_default()
    }

    /// What an application wants of this name, found at once however much it wants.
    pub fn wanted_by(&self, app: &App<'a>, key: &ObjectKey) -> Option<&'a Wanted> {
        let all = self.wanted(app.server(), key);
        all.into_iter().find(|(one, _)| one.name == app.name).map(|(_, wanted)| wanted)
    }

    /// The file of Git that an object is written in, or that its template is, with its repository.
    pub(crate) fn written_in(&self, server: &str, key: &ObjectKey) -> Option<String> {
        let (app, wanted) = self.wanted(server, key).into_iter().next()?;
        let span = wanted.span.as_ref()?;
        let sources = app.application().spec.all_sources();
        let repository = sources.first().map(|source| source.repo_url.to_string()).unwrap_or_default();
        Some(format!("{repository} {}", span.file))
    }

    /// The first value without which an object would be as it should, with the application that has it.
    pub(crate) fn override_of(
        &self,
        server: &str,
        key: &ObjectKey,
        is_better: impl Fn(&Object) -> bool,
    ) -> Option<(AppName, &'a Override)> {
        self.wanted(server, key).into_iter().find_map(|(app, wanted)| {
            let mut all = app.delivery.overrides.iter();
            let found = all.find(|one| one.without(&wanted.object).is_some_and(|other| is_better(&other)))?;
            Some((app.name.clone(), found))
        })
    }

    /// The application that an object belongs to: the one that wants it, or whose mark it or its owner carries.
    pub fn app_of(&self, server: &str, key: &ObjectKey) -> Option<&App<'a>> {
        if let Some((app, _)) = self.wanted(server, key).first() {
            return Some(app);
        }
        let top = self.top(server, self.live(server, key)?);
        if let Some((app, _)) = self.wanted(server, &top.key()).first() {
            return Some(app);
        }
        if let Some(place) = self.listed.get(&(server.into(), top.key())) {
            return self.apps.get(*place);
        }
        let mark = TrackingId::of(top)?.application;
        let name = match mark.split_once('_') {
            Some((namespace, name)) => AppName::new(namespace, name),
            None => AppName::new(self.snapshot.home.clone(), mark.clone()),
        };
        self.app(&name)
    }

    /// Whether some application is to bring an object: it wants it, or its status lists it.
    pub fn is_planned(&self, server: &str, key: &ObjectKey) -> bool {
        let place = (Str::from(server), key.clone());
        self.wanted.contains_key(&place) || self.listed.contains_key(&place)
    }

    /// Whether it is certain that an object is not in a cluster, and nobody is seen who would bring it.
    pub fn is_nowhere(&self, server: &str, key: &ObjectKey) -> bool {
        self.is_absent(server, key) && !self.is_planned(server, key)
    }

    /// The name of the application that an object belongs to.
    pub fn owner(&self, server: &str, key: &ObjectKey) -> Option<AppName> {
        self.app_of(server, key).map(|app| app.name.clone())
    }

    /// The application that an application's own object belongs to, and how it stands there.
    pub fn parent(&self, name: &AppName) -> Option<(&App<'a>, &'a Wanted)> {
        let key = ObjectKey::new(GROUP, "Application", name.namespace.clone(), name.name.clone());
        self.servers().find_map(|server| self.wanted(server, &key).into_iter().next())
    }

    /// Where an object has its place in the graph: Applications are themselves, pods count as what owns them.
    pub fn node(&self, server: &str, key: &ObjectKey) -> Node {
        if (key.group.as_str(), key.kind.as_str()) == (GROUP, "Application") {
            return Node::Application(AppName::new(key.namespace.clone(), key.name.clone()));
        }
        let top = self.live(server, key).map(|object| self.top(server, object).key());
        Node::object(server, top.unwrap_or_else(|| key.clone()))
    }

    /// How an object is, by the checks of its kind.
    pub fn health(&self, object: &Object) -> Option<Health> {
        lynceus_health::assess(object)
    }

    /// Whether an object of a cluster is not as it should be: its health says so, or a workload lacks pods.
    pub fn is_unwell(&self, object: &Object) -> bool {
        self.health(object).or_else(|| lynceus_health::generic(object)).is_some_and(|health| {
            !matches!(health.status, HealthStatusCode::Healthy | HealthStatusCode::Suspended)
        })
    }

    /// The wave that an object is applied in.
    pub fn wave(&self, wanted: &Wanted) -> i64 {
        wave(&wanted.object)
    }
}

/// The objects that the statuses of applications list, which is all that is known of what an application wants if its
/// sources were not rendered.
fn listed(apps: &[App<'_>]) -> HashMap<(Str, ObjectKey), usize> {
    let mut listed = HashMap::new();
    for (place, app) in apps.iter().enumerate() {
        for one in app.application().status.resources.iter().filter(|one| !one.requires_pruning) {
            let key =
                ObjectKey::new(one.group.clone(), one.kind.clone(), one.namespace.clone(), one.name.clone());
            listed.entry((app.delivery.server.clone(), key)).or_insert(place);
        }
    }
    listed
}

/// When an event was last seen, as text that sorts.
fn last_seen(event: &Object) -> &str {
    let at = |path: &[&str]| event.value().str_at(path).filter(|text| !text.is_empty());
    at(&["lastTimestamp"])
        .or_else(|| at(&["eventTime"]))
        .or_else(|| at(&["metadata", "creationTimestamp"]))
        .unwrap_or_default()
}

impl<'a> Index<'a> {
    fn new(view: &'a ClusterView) -> Self {
        let mut index = Index {
            view,
            objects: HashMap::with_capacity(view.objects.len()),
            by_kind: HashMap::new(),
            children: HashMap::new(),
            uids: HashMap::new(),
            events: HashMap::new(),
        };
        for object in &view.objects {
            index.add(object);
        }
        index
    }

    fn add(&mut self, object: &'a Object) {
        if object.kind() == "Event" && matches!(object.group(), "" | "events.k8s.io") {
            let field = if object.group().is_empty() { "involvedObject" } else { "regarding" };
            let part = |name| Str::from(object.value().str_at(&[field, name]).unwrap_or_default());
            self.events.entry((part("kind"), part("namespace"), part("name"))).or_default().push(object);
            return;
        }
        self.objects.insert(object.key(), object);
        self.by_kind.entry(object.group_kind()).or_default().push(object);
        if !object.uid().is_empty() {
            self.uids.insert(object.uid(), object);
        }
        for owner in object.value().items_at(&["metadata", "ownerReferences"]) {
            if let Some(uid) = owner.str_at(&["uid"]) {
                self.children.entry(uid).or_default().push(object);
            }
        }
    }
}
