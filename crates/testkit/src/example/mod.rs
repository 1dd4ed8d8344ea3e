//! The examples of this repository: played as `lynceus doctor` plays them, and what is found held against their `causes.yaml`.
//!
//! Each is rehearsed from a copy: its repository, with its branches where it has some, on its stage, which begins as `cluster.yaml`
//! says.

mod cause;

use std::collections::BTreeSet;
use std::error::Error;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use jiff::Timestamp;
use lynceus_cluster::{ApplyOptions, Cluster, Options as ClusterOptions};
use lynceus_doctor::Examination;
use lynceus_files::FilePath;
use lynceus_object::{Gvk, Object, Value, manifest, yaml};
use lynceus_rehearse::{Rehearsal, Script, rehearse};
use lynceus_sim::stage::Snapshot;
use lynceus_sim::{Sim, Stage};
use lynceus_source::compose::{Change, Composition, Layout, Message};

pub use cause::Cause;

/// What can go wrong while an example is played.
type Outcome<T> = Result<T, Box<dyn Error + Send + Sync>>;

/// An example, copied to where it is in no other repository. The copy goes away when this is dropped.
pub struct Example {
    /// What is wrong in it.
    pub causes: Vec<Cause>,
    /// Applications about which there is nothing to say.
    innocent: Vec<String>,
    source: PathBuf,
    folder: PathBuf,
}

impl Example {
    /// The example of a name, which is that of its folder.
    pub fn open(name: &str) -> Outcome<Self> {
        let source =
            Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(name).canonicalize()?;
        let folder = std::env::temp_dir().join(format!("lynceus-example-{name}-{}", std::process::id()));
        let told = yaml::parse(&std::fs::read(source.join("causes.yaml"))?)?;
        let causes = told.items_at(&["causes"]).iter().map(Cause::read).collect::<Result<_, _>>()?;
        let example = Example { causes, innocent: cause::texts(&told, "innocent"), source, folder };
        example.fill(told.at(&["branches"]))?;
        Ok(example)
    }

    /// What is not as `causes.yaml` says.
    pub fn judge(&self, found: &Examination) -> Vec<String> {
        cause::judge(&self.causes, &self.innocent, found)
    }

    /// Plays it until nothing changes any more. To be run on a runtime of one thread.
    pub async fn play(&self) -> Outcome<Rehearsal> {
        let mut script = Script::new(&self.folder);
        script.stage = Stage::read("stage.yaml", &std::fs::read_to_string(self.source.join("stage.yaml"))?)?;
        let given = self.source.join("cluster.yaml");
        if given.exists() {
            let snapshot = before(&script, &std::fs::read(given)?).await?;
            script.stage.snapshot = Some(Arc::new(snapshot));
        }
        Ok(rehearse(&script).await?)
    }

    /// The files as they are, or a repository with branches where there are some.
    fn fill(&self, branches: Option<&Value>) -> Outcome<()> {
        let main = files(&self.source.join("repository"))?;
        let Some(branches) = branches.and_then(Value::as_map) else {
            for (path, content) in main {
                let place = self.folder.join(path.as_str());
                std::fs::create_dir_all(place.parent().unwrap_or(&self.folder))?;
                std::fs::write(place, content)?;
            }
            return Ok(());
        };
        let repository = Composition::create(&self.folder, Layout::WorkTree)?;
        commit(&repository, "main", main)?;
        for (branch, folder) in branches.iter() {
            commit(&repository, branch, files(&self.source.join(folder.as_str().unwrap_or_default()))?)?;
        }
        repository.checkout()?;
        Ok(())
    }
}

impl Drop for Example {
    fn drop(&mut self) {
        // What is left in the temporary folder harms nobody.
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

fn commit(repository: &Composition, branch: &str, files: Vec<(FilePath, Vec<u8>)>) -> Outcome<()> {
    let message = Message { name: "Lynceus", email: "", when: Timestamp::UNIX_EPOCH, text: "Everything\n" };
    let files = files.into_iter().map(|(path, content)| (path, Change::Write(content)));
    repository.commit(branch, &message, files)?;
    Ok(())
}

/// All files below a folder, with their paths in it.
fn files(root: &Path) -> Outcome<Vec<(FilePath, Vec<u8>)>> {
    let mut found = Vec::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder)? {
            let path = entry?.path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let inside = path.strip_prefix(root)?.to_str().ok_or("a path that is no text")?;
            found.push((FilePath::new(inside)?, std::fs::read(&path)?));
        }
    }
    Ok(found)
}

/// What a cluster is like in which objects were applied: with the defaults that its server gives them.
async fn before(script: &Script, given: &[u8]) -> Outcome<Snapshot> {
    let options = lynceus_sim::Options {
        clock: Some(lynceus_sim::clock::ManualClock::new(script.begin)),
        seed: Some(1),
        ..lynceus_sim::Options::default()
    };
    let sim = Sim::start(options).await?;
    let open = async || {
        sim.settle().await;
        let client = kube::Client::new(sim.service(lynceus_sim::attributes::User::admin()), "default");
        Cluster::open(client, ClusterOptions::default()).await
    };
    lynceus_engine::bootstrap(&*open().await?, "argocd").await?;
    let file = FilePath::new("cluster.yaml")?;
    let given = manifest::read(&file, given, &yaml::Options::default()).objects;
    let given: Vec<Object> = given.into_iter().map(|one| one.object).collect();
    let (definitions, others): (Vec<Object>, Vec<Object>) =
        given.into_iter().partition(|object| object.kind() == "CustomResourceDefinition");
    let mut snapshot = Snapshot::default();
    for objects in [definitions, others] {
        let cluster = open().await?;
        for object in &objects {
            cluster.apply(object, ApplyOptions::default()).await?;
        }
        let is_given = |one: &Object| objects.iter().any(|object| object.key() == one.key());
        let kinds: BTreeSet<Gvk> = objects.iter().map(Object::gvk).collect();
        for kind in kinds.iter().filter(|kind| kind.kind != "CustomResourceDefinition") {
            let listed = cluster.list(kind, "").await?;
            listed.into_iter().filter(is_given).for_each(|object| snapshot.add(object));
        }
    }
    let definitions = Gvk::new("apiextensions.k8s.io", "v1", "CustomResourceDefinition");
    open().await?.list(&definitions, "").await?.into_iter().for_each(|object| snapshot.add(object));
    Ok(snapshot)
}
