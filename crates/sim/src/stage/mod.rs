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

mod image;
mod ingress;
mod keys;
mod metric;
mod pool;
mod read;
mod reference;
mod script;
mod storage;
#[cfg(test)]
mod tests;
mod webhook;

use lynceus_object::yaml;

pub use image::{Availability, Image, Images};
pub use ingress::Ingress;
pub use keys::KEYS;
pub use metric::Metric;
pub use pool::{Pool, Taint};
pub use read::StageError;
pub use reference::Reference;
pub use script::{Need, Script};
pub use storage::Storage;
pub use webhook::Webhook;
pub(crate) use webhook::{Failure, Rule, Then};

use read::{Field, Source};

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
}

impl Stage {
    /// Reads a stage; `file` is named in errors.
    pub fn read(file: &str, text: &str) -> Result<Self, StageError> {
        let source = Source { file, text };
        let options = yaml::Options::default().strict();
        let mut documents = yaml::documents(text.as_bytes(), &options);
        documents.retain(|document| !document.is_empty);
        if let [_, second, ..] = documents.as_slice() {
            return Err(source.at_line(
                second.line,
                "there is a second document",
                "put each stage into a file",
            ));
        }
        let Some(document) = documents.pop() else {
            return Err(source.at_line(1, "there is nothing in it", read::BEGINNING));
        };
        let value = document.result.map_err(|error| source.unreadable(&error))?;
        Stage::of(&Field::root(&source, document.index, &value))
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
        let storage = root.list("storage", Storage::of)?;
        let metrics = root.list("metrics", Metric::of)?;
        let ingress = root.list("ingress", Ingress::of)?;
        let webhooks = root.list("webhooks", Webhook::of)?;
        Ok(Stage { pools, images, scripts, storage, metrics, ingress, webhooks })
    }

    /// What the stage says of a container's program.
    pub fn script(&self, image: &str, container: &str) -> Option<&Script> {
        self.scripts.iter().find(|script| script.is_for(image, container))
    }
}
