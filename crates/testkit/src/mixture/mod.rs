//! Repositories with several things wrong at once, made by chance: what the doctor is measured with.
//!
//! A [`Mixture`] has one to six causes out of `causes`, some of them twice, each in applications of its own under names of its own, as
//! files, charts, charts of charts or overlays, between healthy applications and what is left of former days. It is rehearsed on the embedded cluster, and what the doctor calls root causes
//! is held against what was put in. The same seed gives the same mixture.

mod blight;
mod causes;
mod delivery;
mod noise;
mod random;
mod scene;
mod verdict;
mod workload;

use std::error::Error;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use jiff::Timestamp;
use lynceus_doctor::{Examination, examine};
use lynceus_files::FilePath;
use lynceus_object::{manifest, value, yaml};
use lynceus_rehearse::{Script, rehearse};
use lynceus_sim::Stage;
use lynceus_sim::stage::Snapshot;
use lynceus_source::compose::{Change, Composition, Layout, Message};

pub use verdict::{Expected, Verdict};

use causes::SORTS;
use random::Random;
use scene::Scene;

/// What can go wrong while a mixture is made.
type Outcome<T> = Result<T, Box<dyn Error + Send + Sync>>;

/// How many causes there are at most.
const MOST: usize = 6;

/// The class of Ingresses that there is.
const ENTRY: &str = "apiVersion: networking.k8s.io/v1\nkind: IngressClass\nmetadata: {name: web}\nspec: {controller: \
                     example.com/entry}\n";

/// A repository with several things wrong at once.
pub struct Mixture {
    scene: Scene,
}

impl Mixture {
    /// The mixture of a seed.
    pub fn of(seed: u64) -> Self {
        let mut random = Random::seeded(seed);
        let count = 1 + random.below(MOST);
        let mut sorts: Vec<usize> = (0..SORTS.len()).collect();
        random.shuffle(&mut sorts);
        let mut places: Vec<usize> = Vec::new();
        while places.len() < count {
            match places.last() {
                Some(last) if delivery::again(&mut random) => places.push(*last),
                _ => places.extend(sorts.pop()),
            }
        }
        Mixture::with(random, &places)
    }

    /// The names of all sorts of causes.
    pub fn sorts() -> impl ExactSizeIterator<Item = &'static str> {
        SORTS.iter().map(|(name, _)| *name)
    }

    /// One of a single sort.
    pub fn only(sort: &str, seed: u64) -> Option<Self> {
        let place = SORTS.iter().position(|(name, _)| *name == sort)?;
        // Beside each sort stands something else.
        let seed = seed.wrapping_mul(SORTS.len() as u64).wrapping_add(place as u64);
        Some(Mixture::with(Random::seeded(seed), &[place]))
    }

    fn with(random: Random, places: &[usize]) -> Self {
        let mut scene = Scene::new(random);
        scene.given.push(ENTRY.to_owned());
        scene.staged("ingress", "{controller: example.com/entry}".to_owned());
        for place in places {
            let (sort, make) = SORTS[*place];
            make(&mut scene, sort);
        }
        for _ in 0..2 + scene.random.below(5) {
            noise::healthy(&mut scene);
        }
        if scene.random.below(4) == 0 {
            noise::in_order(&mut scene);
        }
        delivery::plant(&mut scene);
        Mixture { scene }
    }

    /// What is to be found.
    pub fn expected(&self) -> &[Expected] {
        &self.scene.expected
    }

    /// Writes the repository into a folder.
    pub fn write(&self, folder: &Path) -> Outcome<()> {
        let repository = Composition::create(folder, Layout::WorkTree)?;
        let changes = self
            .scene
            .files
            .iter()
            .map(|(path, text)| Ok((FilePath::new(path)?, Change::Write(text.clone().into_bytes()))))
            .collect::<Outcome<Vec<_>>>()?;
        let when = Timestamp::UNIX_EPOCH;
        let message = Message { name: "Test", email: "t@example.com", when, text: "A mixture\n" };
        repository.commit("main", &message, changes)?;
        repository.checkout()?;
        Ok(())
    }

    /// What the cluster is like, and what it begins as.
    pub fn stage(&self) -> Outcome<Stage> {
        let mut text = String::new();
        let list = |key: &str| self.scene.stage.get(key).cloned().unwrap_or_default();
        let general =
            "{name: general, count: 3, capacity: {cpu: \"16\", memory: 64Gi, pods: \"110\"}}".to_owned();
        let pools: Vec<String> = [general].into_iter().chain(list("nodePools")).collect();
        // A stage that lists classes has no others, and noise names none.
        let default = "{class: standard, default: true}".to_owned();
        let listed = list("storage");
        let storage: Vec<String> =
            Some(default).filter(|_| !listed.is_empty()).into_iter().chain(listed).collect();
        for (key, entries) in [
            ("nodePools", pools),
            ("programs", list("programs")),
            ("storage", storage),
            ("faults", list("faults")),
            ("ingress", list("ingress")),
        ] {
            if !entries.is_empty() {
                text.push_str(&format!("{key}:\n"));
                entries.iter().for_each(|entry| text.push_str(&format!("- {entry}\n")));
            }
        }
        text.push_str("images:\n  list:\n");
        for entry in list("images").iter().chain([&"{image: example.invalid/none, tags: [none]}".to_owned()])
        {
            text.push_str(&format!("  - {entry}\n"));
        }
        let mut snapshot = Snapshot { version: value!({"gitVersion": "v1.36.3"}), ..Snapshot::default() };
        let file = FilePath::new("given.yaml")?;
        let read =
            manifest::read(&file, self.scene.given.join("---\n").as_bytes(), &yaml::Options::default());
        for (number, one) in read.objects.into_iter().enumerate() {
            let mut object = one.object;
            object.set(&["metadata", "uid"], format!("given-{number}"));
            object.set(&["metadata", "creationTimestamp"], "2025-12-01T08:00:00Z");
            snapshot.add(object);
        }
        Ok(Stage { snapshot: Some(Arc::new(snapshot)), ..Stage::of_keys(&text)? })
    }

    /// Rehearses it and looks at what came of it. To be run on a runtime of one thread.
    pub async fn examine(&self) -> Outcome<Examination> {
        let folder = Folder::new()?;
        self.write(&folder.0)?;
        let mut script = Script::new(&folder.0);
        script.stage = self.stage()?;
        // What nobody syncs stays as it is, or it would be no trouble.
        script.unattended = true;
        let played = rehearse(&script).await?;
        Ok(examine(&played.snapshot().await))
    }

    /// Holds what was found against what was put in.
    pub fn judge(&self, found: &Examination) -> Verdict {
        Verdict::of(&self.scene.expected, found)
    }
}

/// A folder that goes away.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Outcome<Self> {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let folder = std::env::temp_dir().join(format!("lynceus-mixture-{}-{number}", std::process::id()));
        std::fs::create_dir_all(&folder)?;
        Ok(Folder(folder))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // What is left in the temporary folder harms nobody.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
