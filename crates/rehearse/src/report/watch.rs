//! Whether anything new happens, and when applications were done.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use jiff::Timestamp;
use lynceus_api::{Reason, annotations};
use lynceus_engine::AppKey;
use lynceus_object::Object;

use crate::world::World;

/// What was seen of applications while it was played.
#[derive(Default)]
pub(crate) struct Watch {
    seen: BTreeMap<AppKey, Seen>,
    /// Every state that an application was in. One that comes back is no news, so that whatever goes round in circles ends.
    states: HashSet<(AppKey, String)>,
    last_news: Timestamp,
}

/// One application.
struct Seen {
    version: String,
    is_fine: bool,
    /// When it last became so that it is fine, or no longer.
    since: Timestamp,
    /// When it was last in a state that it had not been in before.
    news: Timestamp,
}

impl Watch {
    /// When something last happened that had not happened before.
    pub(crate) fn last_news(&self) -> Timestamp {
        self.last_news
    }

    /// Begins anew: what comes now is told from what was before.
    pub(crate) fn restart(&mut self, now: Timestamp) {
        self.states.clear();
        self.last_news = now;
        for seen in self.seen.values_mut() {
            (seen.since, seen.news) = (now, now);
        }
    }

    /// Looks at all applications. Says whether all are fine.
    pub(crate) fn look(&mut self, world: &World) -> bool {
        let now = world.now();
        let mut objects = world.stored_applications();
        objects.extend(world.stored_sets());
        let present: BTreeSet<AppKey> = objects.iter().map(key).collect();
        for object in &objects {
            self.look_at(object, now);
        }
        let before = self.seen.len();
        self.seen.retain(|key, _| present.contains(key));
        if self.seen.len() != before {
            self.last_news = now;
        }
        self.seen.values().all(|seen| seen.is_fine)
    }

    fn look_at(&mut self, object: &Object, now: Timestamp) {
        let key = key(object);
        let version = object.resource_version().to_owned();
        let known = self.seen.get(&key);
        if known.is_some_and(|seen| seen.version == version) {
            return;
        }
        let (state, is_fine) = match object.kind() {
            "ApplicationSet" => (state_of_set(object), is_set_fine(object)),
            _ => (state(object), is_fine(object)),
        };
        let is_new = self.states.insert((key.clone(), state));
        let since = known.filter(|seen| seen.is_fine == is_fine).map_or(now, |seen| seen.since);
        let news = if is_new { now } else { known.map_or(now, |seen| seen.news) };
        self.last_news = self.last_news.max(news);
        self.seen.insert(key, Seen { version, is_fine, since, news });
    }

    /// Since when an application has been as it is: fine, or in the state that it is stuck in.
    pub(crate) fn since(&self, key: &AppKey) -> Option<(bool, Timestamp)> {
        let seen = self.seen.get(key)?;
        Some((seen.is_fine, if seen.is_fine { seen.since } else { seen.news }))
    }
}

/// By what something that is watched is known: an ApplicationSet may be called as an Application is.
pub(crate) fn key(object: &Object) -> AppKey {
    match object.kind() {
        "ApplicationSet" => AppKey::new(object.namespace(), format!("ApplicationSet/{}", object.name())),
        _ => AppKey::new(object.namespace(), object.name()),
    }
}

/// Everything is generated, and nothing waits for anybody.
pub(crate) fn is_set_fine(object: &Object) -> bool {
    let is = |kind: &str, status: &str| {
        let conditions = object.value().items_at(&["status", "conditions"]).iter();
        conditions
            .into_iter()
            .any(|one| one.str_at(&["type"]) == Some(kind) && one.str_at(&["status"]) == Some(status))
    };
    is("ResourcesUpToDate", "True") && !is("ErrorOccurred", "True") && !object.is_deleting()
}

fn state_of_set(object: &Object) -> String {
    let conditions = object.value().items_at(&["status", "conditions"]).iter();
    let told = conditions.map(|one| {
        let text = |field: &str| one.str_at(&[field]).unwrap_or_default();
        format!("{} {} {}", text("type"), text("status"), text("reason"))
    });
    told.collect::<Vec<_>>().join("\n")
}

/// Synced, Healthy, and no sync under way or failed.
pub(crate) fn is_fine(object: &Object) -> bool {
    let text = |path: &[&str]| object.value().str_at(path).unwrap_or_default();
    text(&["status", "sync", "status"]) == "Synced"
        && text(&["status", "health", "status"]) == "Healthy"
        && object.at(&["operation"]).is_none()
        && matches!(text(&["status", "operationState", "phase"]), "" | "Succeeded")
        && !object.is_deleting()
}

/// What is told apart: verdicts, and where the reasons end. Texts may count, and times go on.
fn state(object: &Object) -> String {
    let text = |path: &[&str]| object.value().str_at(path).unwrap_or_default();
    let mut state = format!(
        "{} {} {} {} {}",
        text(&["status", "sync", "status"]),
        text(&["status", "health", "status"]),
        text(&["status", "operationState", "phase"]),
        text(&["status", "sync", "revision"]),
        object.is_deleting(),
    );
    let reasons = object.annotation(annotations::REASONS).unwrap_or_default();
    let reasons: Vec<Reason> = serde_json::from_str(reasons).unwrap_or_default();
    for reason in reasons.iter().flat_map(Reason::roots) {
        let object = reason
            .object
            .as_ref()
            .map(|key| format!("{}/{}/{}", key.kind, key.namespace, nameless(&key.name)));
        state.push_str(&format!("\n{} {}", reason.code, object.unwrap_or_default()));
    }
    state
}

/// The name without the end that controllers make up: one pod after another is no news.
fn nameless(name: &str) -> &str {
    name.rsplit_once('-').map_or(name, |(stem, _)| stem)
}
