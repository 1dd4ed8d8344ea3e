//! Asks a cluster what applies would do, and remembers its answers.

use std::collections::{BTreeMap, HashMap};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::{Mutex, PoisonError};

use futures::StreamExt as _;
use lynceus_cluster::Cluster;
use lynceus_diff::{Pairs, to_predict, unquoted};
use lynceus_object::{Object, ObjectKey, Str, json};

use crate::limits;

/// What servers said. An answer holds for as long as neither the live object nor the desired one is another.
#[derive(Default)]
pub(crate) struct Predictions(Mutex<HashMap<(Str, ObjectKey), Answer>>);

struct Answer {
    asked: Asked,
    /// The prediction; none if it is what is there already, which most are.
    object: Option<Object>,
}

/// What an answer depends on.
#[derive(Clone, PartialEq, Eq)]
struct Asked {
    uid: Str,
    version: Str,
    desired: u64,
}

impl Asked {
    fn new(desired: &Object, live: &Object) -> Self {
        let mut hasher = DefaultHasher::new();
        json::to_string(desired.value()).hash(&mut hasher);
        Asked { uid: live.uid().into(), version: live.resource_version().into(), desired: hasher.finish() }
    }
}

impl Predictions {
    /// What the cluster says that applies would make of the objects, by their names.
    pub(crate) async fn ask(
        &self,
        cluster: &Cluster,
        pairs: &Pairs,
    ) -> BTreeMap<ObjectKey, Result<Object, Str>> {
        let server = cluster.options().server.clone();
        let questions: Vec<_> = to_predict(pairs)
            .map(|(desired, live)| async {
                (live.key(), self.one(cluster, server.as_str().into(), desired, live).await)
            })
            .collect();
        futures::stream::iter(questions).buffer_unordered(limits::PARALLEL_PREDICTIONS).collect().await
    }

    async fn one(
        &self,
        cluster: &Cluster,
        server: Str,
        desired: &Object,
        live: &Object,
    ) -> Result<Object, Str> {
        let (place, asked) = ((server, live.key()), Asked::new(desired, live));
        if let Some(known) = self.answers().get(&place).filter(|answer| answer.asked == asked) {
            return Ok(known.object.clone().unwrap_or_else(|| live.clone()));
        }
        // A refusal is asked for again: what it is about may be put right without either object changing.
        let predicted = cluster
            .predict(desired)
            .await
            .map_err(|error| Str::from(unquoted(&crate::words(&error), &[desired, live])))?;
        let object = (!is_as_it_is(&predicted, live)).then(|| predicted.clone());
        let mut answers = self.answers();
        if answers.len() >= limits::PREDICTIONS {
            answers.clear();
        }
        answers.insert(place, Answer { asked, object });
        Ok(predicted)
    }

    fn answers(&self) -> std::sync::MutexGuard<'_, HashMap<(Str, ObjectKey), Answer>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether a prediction changes nothing but who wrote what.
fn is_as_it_is(predicted: &Object, live: &Object) -> bool {
    let plain = |object: &Object| {
        let mut object = object.clone();
        for field in ["managedFields", "resourceVersion", "generation"] {
            object.remove(&["metadata", field]);
        }
        object
    };
    plain(predicted) == plain(live)
}
