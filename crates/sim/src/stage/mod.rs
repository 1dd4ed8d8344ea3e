//! What the cluster is like: its machines, the images that there are, what programs do, how storage behaves.
//!
//! A [`Stage`] is a few lines of YAML. What it does not speak of is as in a cluster without one: three nodes, every image on
//! every machine, programs that run.
//!
//! | part | files |
//! |---|---|
//! | reading, with the line of what is wrong | `read`, `keys` |
//! | machines | `pool` |
//! | images, and the names that containers use for them | `image`, `reference` |
//! | what containers do | `script` |
//! | storage classes | `storage` |
//! | metrics for autoscalers | `metric` |
//! | ingress controllers | `ingress` |
//! | what webhooks answer | `webhook` |
//! | what goes wrong | `fault` |
//! | what a real cluster was like | `snapshot`, `scrub`, `salvage` (of a broken file) |

mod fault;
mod image;
mod ingress;
mod keys;
mod metric;
mod pool;
mod read;
mod reference;
mod salvage;
mod script;
mod scrub;
mod snapshot;
mod storage;
#[cfg(test)]
mod tests;
mod webhook;

use std::sync::Arc;

use lynceus_object::{Str, Value, json, yaml};

pub use fault::{Begins, Fault, Requests, What};
pub use image::{Availability, Image, Images};
pub use ingress::Ingress;
pub use keys::KEYS;
pub use metric::Metric;
pub use pool::{Pool, Taint};
pub use read::StageError;
pub use reference::Reference;
pub use script::{Need, Right, Script};
pub use snapshot::Snapshot;
pub(crate) use snapshot::is_definition;
pub use storage::{STANDARD, Storage};
pub use webhook::Webhook;
pub(crate) use webhook::{Failure, Rule, Then};

use read::{Field, Source};

use crate::limits;

/// What the cluster is like.
#[derive(Clone, Debug, Default)]
pub struct Stage {
    /// The machines; three like ones if it does not say.
    pub pools: Option<Vec<Pool>>,
    /// The images that there are.
    pub images: Images,
    /// What containers do; the first that fits counts.
    pub scripts: Vec<Script>,
    /// How storage behaves.
    pub storage: Vec<Storage>,
    /// Metrics for autoscalers.
    pub metrics: Vec<Metric>,
    /// Ingress controllers.
    pub ingress: Vec<Ingress>,
    /// Webhooks whose answers are declared.
    pub webhooks: Vec<Webhook>,
    /// What goes wrong: names, and what becomes the `spec` of a Fault.
    pub faults: Vec<(Str, Value)>,
    /// The real cluster that it begins as.
    pub snapshot: Option<Arc<Snapshot>>,
}

impl Stage {
    /// Reads a stage or a snapshot from a file, which may be packed.
    pub fn open(file: &str, bytes: &[u8]) -> Result<Self, StageError> {
        match snapshot::unpack(file, bytes)? {
            (_, Some(broken)) => Err(broken),
            (text, None) => Stage::read(file, &text),
        }
    }

    /// Reads a stage or a snapshot; `file` is named in errors.
    pub fn read(file: &str, text: &str) -> Result<Self, StageError> {
        let source = Source { file, text };
        match document(&source) {
            Ok((_, document)) if is_snapshot(&document) => Stage::begin(Snapshot::of(&source, &document)?),
            Ok((index, document)) => Stage::of(&Field::root(&source, index, &document)),
            // What is wrong with a snapshot can be told better by its parts.
            Err(error) => match salvage::salvage(&source) {
                Some(salvage) => Stage::begin(Snapshot::of_salvage(&source, salvage)?).and(Err(error)),
                None => Err(error),
            },
        }
    }

    /// Reads the keys of a stage, without the two lines that a file of them begins with.
    pub fn of_keys(text: &str) -> Result<Self, StageError> {
        Stage::read("stage.yaml", &format!("apiVersion: sim.lynceus.dev/v1alpha1\nkind: Stage\n{text}"))
    }

    /// A stage that begins as a real cluster was, if nothing is wrong with what was written down of it.
    fn begin((snapshot, problems): (Snapshot, Vec<StageError>)) -> Result<Self, StageError> {
        match problems.into_iter().next() {
            Some(problem) => Err(problem),
            None => Ok(Stage { snapshot: Some(Arc::new(snapshot)), ..Stage::default() }),
        }
    }

    fn of(root: &Field<'_>) -> Result<Self, StageError> {
        root.check_keys()?;
        for (key, wanted) in [("apiVersion", "sim.lynceus.dev/v1alpha1"), ("kind", "Stage")] {
            let found = root.need(key)?;
            if found.text()? != wanted {
                return Err(found.wrong(format!("is not {wanted}"), read::BEGINNING));
            }
        }
        let pools = root.get("nodePools").map(|list| pool::read_all(&list)).transpose()?;
        let images = root.get("images").map(|images| Images::of(&images)).transpose()?.unwrap_or_default();
        let scripts = root.list("programs", Script::of)?;
        let storage = storage::read_all(root)?;
        let metrics = root.list("metrics", Metric::of)?;
        let ingress = root.list("ingress", Ingress::of)?;
        let webhooks = root.list("webhooks", Webhook::of)?;
        let faults = fault::read_all(root)?;
        Ok(Stage { pools, images, scripts, storage, metrics, ingress, webhooks, faults, snapshot: None })
    }

    /// Whether it says what any program uses.
    pub fn measures_pods(&self) -> bool {
        self.scripts.iter().any(|script| !script.uses.is_empty() || !script.shares.is_empty())
    }

    /// What the stage says of a container's program.
    pub fn script(&self, image: &str, container: &str) -> Option<&Script> {
        self.scripts.iter().find(|script| script.is_for(image, container))
    }
}

/// The one document of a text, with its place among those that are empty.
fn document(source: &Source<'_>) -> Result<(usize, Value), StageError> {
    // Large snapshots are JSON, which is read many times faster.
    if let Some(document) = json::parse(source.text.as_bytes()).ok().filter(is_snapshot) {
        return Ok((0, document));
    }
    let options = yaml::Options { max_bytes: limits::SNAPSHOT_BYTES, ..yaml::Options::default() }.strict();
    let mut documents = yaml::documents(source.text.as_bytes(), &options);
    documents.retain(|document| !document.is_empty);
    if let [_, second, ..] = documents.as_slice() {
        let hint = "put each stage into a file";
        return Err(source.at_line(second.line, "there is a second document", hint));
    }
    let Some(document) = documents.pop() else {
        return Err(source.at_line(1, "there is nothing in it", read::BEGINNING));
    };
    Ok((document.index, document.result.map_err(|error| source.unreadable(&error))?))
}

/// Whether a document is a snapshot, of whichever version, and no stage.
fn is_snapshot(document: &Value) -> bool {
    document.str_at(&["kind"]) == Some("Snapshot")
}
