//! What is looked at of every application to find those that somebody asks for.
//!
//! Applications are large and lie all over the memory: to look into ten thousand of them takes longer than all the rest of a
//! list. So their names, projects, labels and repositories stand here side by side. They are brought up to date by what has
//! changed whenever somebody asks, so that nothing runs while nobody does.

use std::cmp::Ordering;
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

use lynceus_cluster::{Cache, Change};
use lynceus_engine::{AppKey, application_kind};
use lynceus_object::{Object, ObjectKey, Str, Value};
use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::TryRecvError;

/// All applications, by name.
pub(crate) struct Roster(Mutex<Kept>);

struct Kept {
    changes: Receiver<Change>,
    /// None as long as nobody has asked.
    rows: Option<Arc<Vec<Row>>>,
}

/// One application.
#[derive(Clone)]
pub(super) struct Row {
    pub(super) key: AppKey,
    pub(super) project: Str,
    pub(super) version: Str,
    labels: Value,
    source: Value,
    sources: Value,
}

impl Roster {
    /// Of the applications in a cache.
    pub(crate) fn of(cache: &Cache) -> Self {
        Roster(Mutex::new(Kept { changes: cache.changes(), rows: None }))
    }

    /// All of them as they are now.
    pub(super) fn now(&self, cache: &Cache) -> Arc<Vec<Row>> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let changed = kept.changed();
        let rows = match (kept.rows.take(), changed) {
            (Some(mut rows), Some(changed)) => {
                for key in changed {
                    update(Arc::make_mut(&mut rows), &key, cache.get(&key));
                }
                rows
            }
            // Nothing is known yet, or not what has changed.
            _ => Arc::new(all(cache)),
        };
        kept.rows.insert(rows).clone()
    }
}

impl Kept {
    /// The applications that have changed; none if that cannot be told any more.
    fn changed(&mut self) -> Option<BTreeSet<ObjectKey>> {
        let (mut changed, mut is_known) = (BTreeSet::new(), true);
        loop {
            match self.changes.try_recv() {
                // Without a name it is the whole kind, of which nothing is lost.
                Ok(change)
                    if change.key.group_kind() == application_kind() && !change.key.name.is_empty() =>
                {
                    changed.insert(change.key);
                }
                Ok(_) => {}
                Err(TryRecvError::Lagged(_)) => is_known = false,
                Err(TryRecvError::Empty | TryRecvError::Closed) => return is_known.then_some(changed),
            }
        }
    }
}

fn all(cache: &Cache) -> Vec<Row> {
    let mut rows: Vec<Row> = cache.of_kind(&application_kind()).iter().map(Row::of).collect();
    rows.sort_by(|one, other| order(&one.key, &other.key));
    rows
}

fn update(rows: &mut Vec<Row>, key: &ObjectKey, now: Option<Object>) {
    let key = AppKey::new(key.namespace.clone(), key.name.clone());
    match (rows.binary_search_by(|row| order(&row.key, &key)), now) {
        (Ok(at), Some(object)) => rows[at] = Row::of(&object),
        (Ok(at), None) => drop(rows.remove(at)),
        (Err(at), Some(object)) => rows.insert(at, Row::of(&object)),
        (Err(_), None) => {}
    }
}

/// The order in which applications are listed.
pub(super) fn order(one: &AppKey, other: &AppKey) -> Ordering {
    (&one.name, &one.namespace).cmp(&(&other.name, &other.namespace))
}

impl Row {
    /// Everything stays shared with the object.
    pub(super) fn of(object: &Object) -> Self {
        let value = |path: &[&str]| object.at(path).cloned().unwrap_or_default();
        let project = match object.at(&["spec", "project"]) {
            Some(Value::Str(project)) if !project.is_empty() => project.clone(),
            _ => "default".into(),
        };
        Row {
            key: AppKey { namespace: object.meta_text("namespace"), name: object.meta_text("name") },
            project,
            version: object.meta_text("resourceVersion"),
            labels: value(&["metadata", "labels"]),
            source: value(&["spec", "source"]),
            sources: value(&["spec", "sources"]),
        }
    }

    pub(super) fn label(&self, name: &str) -> Option<&str> {
        self.labels.str_at(&[name])
    }

    /// The addresses of its repositories.
    pub(super) fn repositories(&self) -> impl Iterator<Item = &str> {
        let sources = self.sources.as_seq().unwrap_or_default();
        std::iter::once(&self.source).chain(sources).filter_map(|source| source.str_at(&["repoURL"]))
    }

    /// How policies name it: its project and its name, between them its namespace if it is not the installation's.
    pub(super) fn policy_name(&self, home: &str) -> String {
        let AppKey { namespace, name } = &self.key;
        match namespace == home {
            true => format!("{}/{name}", self.project),
            false => format!("{}/{namespace}/{name}", self.project),
        }
    }
}
