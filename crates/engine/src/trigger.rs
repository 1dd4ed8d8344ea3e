//! What makes the engine look at an application: a change in the cluster, a new commit.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::Arc;

use lynceus_api::{Application, ApplicationDestination, IN_CLUSTER_SERVER, Kind as _, annotations};
use lynceus_cluster::{Change, Destination, Link, News};
use lynceus_notify::NOTIFIED_ANNOTATION;
use lynceus_object::{GroupKind, Object, Str, Value, json};
use lynceus_source::{RepoUrl, Repository, Target};
use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::RecvError;
use tracing::debug;

use crate::assess::health_of;
use crate::engine::Engine;
use crate::key::{AppKey, application_kind, project_kind};
use crate::queue::Freshness;
use crate::quiet::asks_for_quiet;
use crate::sets::SetWishes;
use crate::settings;
use crate::shards::Task;

/// Follows the home cluster: Applications, projects and settings.
pub(crate) async fn follow_home(engine: Arc<Engine>, mut changes: Receiver<Change>) {
    let mut wishes = Wishes::default();
    let mut sets = SetWishes::default();
    loop {
        match changes.recv().await {
            Ok(change) => {
                take(&engine, &change, &mut wishes);
                sets.take(&engine, &change);
            }
            // Too much happened to follow it one by one: look at everything.
            Err(RecvError::Lagged(_)) => {
                engine.reread_settings();
                all(&engine, Freshness::Recent);
                engine.refresh_sets(Freshness::Recent);
            }
            Err(RecvError::Closed) => return,
        }
    }
}

fn take(engine: &Engine, change: &Change, wishes: &mut Wishes) {
    let home = &engine.options().namespace;
    if change.key.group_kind() == application_kind() {
        let key = AppKey::new(change.key.namespace.clone(), change.key.name.clone());
        let object = engine.home().cache().get(&change.key);
        if wishes.changed(&key, object.as_ref()) {
            // Whoever has just pushed a commit and then an Application that needs it means that commit.
            engine.refresh(key, Freshness::Latest);
        }
    } else if change.key.group_kind() == project_kind() {
        all(engine, Freshness::Recent);
    } else if settings::concerns(&change.key, home) {
        engine.reread_settings();
        all(engine, Freshness::Latest);
    }
}

/// Follows every cluster that is connected, and asks for the applications that a change concerns. Two clusters may hold
/// objects with the mark of the same application; only those of its own cluster matter to it.
pub(crate) async fn follow_fleet(engine: Arc<Engine>, mut news: Receiver<News>) {
    loop {
        match news.recv().await {
            Ok(News::Changed { server, change }) if change.key.name.is_empty() => {
                with_kind(&engine, &server, &change.key.group_kind());
            }
            Ok(News::Changed { server, change }) => {
                if is_noise(&engine, &server, &change) {
                    continue;
                }
                if change.applications.is_empty() {
                    for key in engine.vigil.of(&change.key.namespace) {
                        engine.refresh(key, Freshness::Recent);
                    }
                }
                for application in &change.applications {
                    let key = AppKey::from_tracked(application, &engine.options().namespace);
                    let object = engine.home().cache().get(&key.object_key());
                    if object.is_some_and(|object| engine.server_of(&object) == server) {
                        engine.refresh(key, Freshness::Recent);
                    }
                }
            }
            // An application may have lost its cluster, which cannot be told from what is left; few are asked in vain.
            Ok(News::Everything { .. }) | Err(RecvError::Lagged(_)) => {
                engine.quiet.clear();
                all(&engine, Freshness::Recent);
            }
            Err(RecvError::Closed) => return,
        }
    }
}

/// Whether a change is only of fields that nobody wants to hear of. What an object owns is always heard of, because it has
/// no mark of its own by which it could be told that it is managed.
fn is_noise(engine: &Engine, server: &str, change: &Change) -> bool {
    let settings = engine.settings();
    let Some(ignore) = &settings.ignored_updates else { return false };
    let wanted = ApplicationDestination { server: server.into(), ..ApplicationDestination::default() };
    let Ok(Destination { link: Link::Up(cluster), .. }) = engine.fleet().find(&wanted) else { return false };
    let Some(object) = cluster.cache().get(&change.key) else {
        engine.quiet.forget(server, &change.key);
        return false;
    };
    let is_managed =
        settings.tracking.application(&object).is_some() && cluster.cache().is_whole(&change.key);
    if !is_managed && change.key.group_kind() != application_kind() && !asks_for_quiet(&object) {
        engine.quiet.forget(server, &change.key);
        return false;
    }
    let health = health_of(Some(&object), &engine.checks()).map(|health| health.status);
    engine.quiet.is_noise(server, &object, health, ignore)
}

/// Asks for the applications that have objects of a kind, which can no longer be read in their cluster or can be again.
fn with_kind(engine: &Engine, server: &str, kind: &GroupKind) {
    for object in engine.home().cache().of_kind(&application_kind()) {
        let has = |resource: &Value| {
            resource.str_at(&["kind"]) == Some(kind.kind.as_str())
                && resource.str_at(&["group"]).unwrap_or_default() == kind.group
        };
        if object.value().items_at(&["status", "resources"]).iter().any(has)
            && engine.server_of(&object) == server
        {
            engine.refresh(AppKey::new(object.namespace(), object.name()), Freshness::Recent);
        }
    }
}

/// Keeps the Leases, and takes up or lets go the clusters that come with them.
pub(crate) async fn keep_leases(engine: Arc<Engine>) {
    loop {
        let mut tasks: Vec<Task> = engine
            .fleet()
            .destinations()
            .into_iter()
            .map(|found| Task { server: found.server, shard: found.shard })
            .collect();
        // Applications that lead nowhere are the affair of whoever has the home cluster, be it a destination or not.
        if !tasks.iter().any(|task| task.server == IN_CLUSTER_SERVER) {
            tasks.push(Task { server: IN_CLUSTER_SERVER.into(), shard: None });
        }
        let (turnover, pause) = engine.shards.round(&tasks).await;
        if !turnover.lost.is_empty() {
            engine.forget_runs();
        }
        for server in &turnover.lost {
            engine.fleet().unwant(server);
        }
        for server in &turnover.won {
            engine.fleet().want(server);
        }
        if !turnover.won.is_empty() {
            all(&engine, Freshness::Latest);
            engine.refresh_sets(Freshness::Latest);
        }
        engine.shards.rest(pause).await;
    }
}

fn all(engine: &Engine, freshness: Freshness) {
    for object in engine.home().cache().of_kind(&application_kind()) {
        engine.refresh(AppKey::new(object.namespace(), object.name()), freshness);
    }
}

/// What users want of each application, to tell their changes from our own writes of the status.
#[derive(Default)]
struct Wishes(HashMap<AppKey, u64>);

impl Wishes {
    fn changed(&mut self, key: &AppKey, object: Option<&Object>) -> bool {
        match object {
            Some(object) => {
                let wish = wish(object);
                self.0.insert(key.clone(), wish) != Some(wish)
            }
            None => {
                self.0.remove(key);
                true
            }
        }
    }
}

/// A number that changes with everything about an Application but its status and our own marks.
fn wish(object: &Object) -> u64 {
    let mut hasher = DefaultHasher::new();
    for path in [&["spec"][..], &["operation"], &["metadata", "labels"], &["metadata", "finalizers"]] {
        json::to_string(object.at(path).unwrap_or(&Value::Null)).hash(&mut hasher);
    }
    let is_note = |name: &str| name.starts_with("lynceus.dev/") || name == NOTIFIED_ANNOTATION;
    let is_wish = |name: &str| !is_note(name) || name == annotations::SYNC_TIMEOUT;
    for (name, text) in object.annotations().filter(|(name, _)| is_wish(name)) {
        (name, text).hash(&mut hasher);
    }
    object.is_deleting().hash(&mut hasher);
    // Stopping an operation is asked for through the status.
    (object.value().str_at(&["status", "operationState", "phase"]) == Some("Terminating")).hash(&mut hasher);
    hasher.finish()
}

/// What a source follows: repository, revision and the prefix of tags.
type Place = (Str, Str, Str);

/// Looks at repositories on this machine often: it costs a file or two, and a commit arrives at once.
pub(crate) async fn poll_local_repositories(engine: Arc<Engine>) {
    let mut seen = HashMap::new();
    loop {
        engine.clock().sleep(engine.options().local_poll).await;
        seen = poll(&engine, &seen).await;
    }
}

/// Where every local place stands, each asked once however many applications follow it; those whose place has moved are
/// looked at.
async fn poll(engine: &Engine, before: &HashMap<Place, String>) -> HashMap<Place, String> {
    let mut now = HashMap::new();
    for (place, followers) in local_places(engine) {
        let (url, revision, tag_prefix) = &place;
        let target = Target { revision, tag_prefix };
        // What is wrong with it is told by the next look, or is what the last look told.
        let commit = match engine.renderer().sources().resolve(&Repository::at(url.as_str()), target).await {
            Ok(revision) => revision.commit.to_string(),
            Err(error) => format!("error: {error}"),
        };
        if before.get(&place).is_some_and(|before| *before != commit) {
            debug!(repository = %url, followers = followers.len(), "there is a new commit");
            followers.into_iter().for_each(|follower| match follower {
                Follower::Application(key) => engine.refresh(key, Freshness::Latest),
                Follower::Set(key) => engine.refresh_set(key, Freshness::Latest),
            });
        }
        now.insert(place, commit);
    }
    now
}

/// Who follows a place.
enum Follower {
    Application(AppKey),
    Set(AppKey),
}

/// The places on this machine that applications and sets of ours follow.
fn local_places(engine: &Engine) -> HashMap<Place, Vec<Follower>> {
    let mut places: HashMap<Place, Vec<Follower>> = HashMap::new();
    for ((url, revision), key) in engine.local_places_of_sets() {
        places.entry((url, revision, Str::new())).or_default().push(Follower::Set(key));
    }
    for object in engine.home().cache().of_kind(&application_kind()) {
        if !engine.shards.holds(&engine.server_of(&object)) {
            continue;
        }
        let Ok(application) = Application::from_object(&object) else { continue };
        for source in application.spec.all_sources() {
            if matches!(RepoUrl::parse(&source.repo_url), Ok(RepoUrl::Local(_))) {
                let place = (source.repo_url, source.target_revision, source.tag_prefix);
                places.entry(place).or_default().push(Follower::Application(AppKey::of(&application)));
            }
        }
    }
    places
}
