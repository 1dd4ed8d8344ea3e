//! `cargo xtask bench appset`: one ApplicationSet with very many Applications, and what a change of one input costs.
//!
//! A file of a repository is an element. Once all Applications are made, one file is changed: exactly one Application may be
//! written, and within a second. A commit to something else has nothing generated at all. Applications are not delivered here;
//! that is what other benchmarks are about.
#![allow(clippy::print_stdout, reason = "this is a program whose output is its report")]

use std::collections::BTreeMap;
use std::error::Error;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use jiff::Timestamp;
use kube::Client;
use lynceus_api::{ApplicationSet, Kind as _};
use lynceus_cluster::{ApplyOptions, Cluster, Options as ClusterOptions, Rate};
use lynceus_engine::{
    AppKey, Engine, Freshness, Options, SystemClock, application_kind, bootstrap, set_kind,
};
use lynceus_files::FilePath;
use lynceus_object::{Object, json, yaml};
use lynceus_sim::Sim;
use lynceus_sim::attributes::User;
use lynceus_source::compose::{Change, Composition, Layout, Message};
use lynceus_source::{Settings, Sources};

/// What can go wrong, for the one who reads it on the screen.
type Outcome<T = ()> = Result<T, Box<dyn Error + Send + Sync>>;

const FULL: usize = 5_000;
const QUICK: usize = 500;
/// How often each change is made and measured.
const ROUNDS: usize = 7;
/// How long a change may take until its Application is written.
const LIMIT: Duration = Duration::from_secs(1);
/// What etcd takes for one object.
const ETCD: usize = 3 << 19;

#[tokio::main]
async fn main() -> Outcome {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let count = match words.as_slice() {
        [] => FULL,
        ["--quick"] => QUICK,
        _ => return Err("usage: appset [--quick]".into()),
    };
    let folder = std::env::temp_dir().join(format!("lynceus-appset-{}", std::process::id()));
    let measured = measure(&folder, count).await;
    std::fs::remove_dir_all(&folder)?;
    measured
}

async fn measure(folder: &Path, count: usize) -> Outcome {
    let repository = Composition::create(folder.join("repository"), Layout::Bare)?;
    let files = (0..count).map(|number| (format!("apps/app-{number:04}.yaml"), element(number, 0)));
    commit(&repository, files.chain([("readme.md".to_owned(), "read me".to_owned())]))?;
    let place = Place::new(folder, &folder.join("repository").display().to_string()).await?;
    println!("\n| one ApplicationSet of {count} Applications | time | written |\n|---|---|---|");
    let took = place.look(Freshness::Latest).await?;
    println!("| all of them, made | {took:.1?} | {} |", place.versions().len());
    if place.versions().len() != count {
        return Err(format!("there are {} Applications", place.versions().len()).into());
    }
    // Its status lists what was made from now on.
    place.look(Freshness::Recent).await?;
    let nothing = place.repeated(0, 0, async |_| Ok(Freshness::Recent)).await?;
    println!("| a look, and nothing has changed | {nothing:.1?} | 0 |");
    let other = place.repeated(0, 0, async |round| {
        commit(&repository, [("readme.md".to_owned(), format!("round {round}"))])?;
        Ok(Freshness::Latest)
    });
    println!("| a commit to a file that it does not read | {:.1?} | 0 |", other.await?);
    let one = place.repeated(1, 1, async |round| {
        let number = count / 2 + round;
        commit(&repository, [(format!("apps/app-{number:04}.yaml"), element(number, round + 1))])?;
        Ok(Freshness::Latest)
    });
    let one = one.await?;
    println!("| a commit to one of its files, until its Application is written | {one:.1?} | 1 |");
    let (bytes, listed) = place.status()?;
    println!("| bytes of its status, Applications in it | {bytes}, {listed} | |");
    if bytes > ETCD {
        return Err(format!("its status has {bytes} bytes, and etcd takes {ETCD}").into());
    }
    if one > LIMIT && !cfg!(debug_assertions) {
        return Err(format!("a change takes {one:.1?} until its Application is written").into());
    }
    Ok(())
}

fn element(number: usize, round: usize) -> String {
    format!("name: app-{number:04}\nrevision: v{round}\nteam: {{name: team-{}, tier: web}}\n", number % 40)
}

fn commit(repository: &Composition, files: impl IntoIterator<Item = (String, String)>) -> Outcome {
    let files: Vec<_> = files
        .into_iter()
        .map(|(path, text)| Ok((FilePath::new(&path)?, Change::Write(text.into_bytes()))))
        .collect::<Outcome<_>>()?;
    let message = Message { name: "Lynceus", email: "", when: Timestamp::UNIX_EPOCH, text: "A change\n" };
    repository.commit("main", &message, files)?;
    Ok(())
}

/// An engine on an embedded cluster with one ApplicationSet in it. Nobody works but when asked to.
struct Place {
    engine: Arc<Engine>,
    key: AppKey,
    _sim: Sim,
}

impl Place {
    async fn new(folder: &Path, url: &str) -> Outcome<Self> {
        let sim =
            Sim::start(lynceus_sim::Options { seed: Some(1), ..lynceus_sim::Options::default() }).await?;
        sim.settle().await;
        let options =
            || ClusterOptions { rate: Rate::UNBOUNDED, home: "argocd".into(), ..ClusterOptions::default() };
        let client = || Client::new(sim.service(User::admin()), "default");
        bootstrap(&*Cluster::open(client(), options()).await?, "argocd").await?;
        let set = yaml::parse_str(&format!(
            "apiVersion: argoproj.io/v1alpha1\nkind: ApplicationSet\nmetadata: {{name: all, namespace: argocd}}\nspec:\n  goTemplate: true\n  \
             goTemplateOptions: [missingkey=error]\n  generators:\n  - git: {{repoURL: '{url}', revision: main, files: [{{path: 'apps/*.yaml'}}]}}\n  \
             template:\n    metadata: {{name: '{{{{.name}}}}', labels: {{team: '{{{{.team.name}}}}'}}}}\n    spec:\n      project: default\n      source: \
             {{repoURL: '{url}', path: 'charts/{{{{.team.tier}}}}', targetRevision: '{{{{.revision}}}}', helm: {{valueFiles: ['../../values/{{{{.name}}}}.yaml']}}}}\n      \
             destination: {{server: 'https://kubernetes.default.svc', namespace: '{{{{.name}}}}'}}\n      syncPolicy: {{automated: {{prune: true, selfHeal: \
             true}}, syncOptions: [CreateNamespace=true]}}\n"
        ))?;
        let hand = Cluster::open(client(), options()).await?;
        let set = Object::new(set).map_err(|_| "a set is a map")?;
        hand.apply(&set, ApplyOptions::default()).await?;
        let cluster = Cluster::connect(client(), options()).await?;
        let sources = Sources::new(folder.join("mirrors"), Settings::default());
        let engine = Engine::new(cluster, sources, Arc::new(SystemClock), Options::default());
        let place = Place { engine, key: AppKey::new("argocd", "all"), _sim: sim };
        while place.engine.home().cache().of_kind(&set_kind()).is_empty() {
            tokio::task::yield_now().await;
        }
        Ok(place)
    }

    /// How long one look at the set takes, with everything that it writes; the cache has heard of that afterwards.
    async fn look(&self, freshness: Freshness) -> Outcome<Duration> {
        let began = Instant::now();
        self.engine.reconcile_set(&self.key, freshness).await?;
        let took = began.elapsed();
        self.heard().await?;
        Ok(took)
    }

    /// Waits until the cache knows what the server has.
    async fn heard(&self) -> Outcome {
        let home = self.engine.home();
        let versions = |objects: Vec<Object>| -> BTreeMap<String, String> {
            objects.iter().map(|one| (one.name().to_owned(), one.resource_version().to_owned())).collect()
        };
        let gvk = lynceus_engine::application_gvk();
        let stored = versions(home.list(&gvk, "argocd").await?);
        let set = home.get(&lynceus_engine::set_gvk(), "argocd", "all").await?.ok_or("the set is gone")?;
        let deadline = Instant::now() + Duration::from_secs(60);
        loop {
            let sets = home.cache().of_kind(&set_kind());
            let is_known = sets.iter().all(|one| one.resource_version() == set.resource_version());
            if is_known && versions(home.cache().of_kind(&application_kind())) == stored {
                return Ok(());
            }
            if Instant::now() > deadline {
                return Err("the cache does not hear of what was written".into());
            }
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    }

    /// The version of each Application.
    fn versions(&self) -> BTreeMap<String, String> {
        let all = self.engine.home().cache().of_kind(&application_kind());
        all.iter().map(|one| (one.name().to_owned(), one.resource_version().to_owned())).collect()
    }

    /// The median of several looks, each after something was done; each may write so many Applications and generate so often.
    async fn repeated(
        &self,
        written: usize,
        generated: u64,
        change: impl AsyncFn(usize) -> Outcome<Freshness>,
    ) -> Outcome<Duration> {
        let mut times = Vec::new();
        for round in 0..ROUNDS {
            let freshness = change(round).await?;
            let (before, generations) = (self.versions(), self.engine.generations());
            times.push(self.look(freshness).await?);
            let after = self.versions();
            let changed = after.iter().filter(|(name, version)| before.get(*name) != Some(version)).count();
            if changed != written {
                return Err(format!("{changed} Applications were written instead of {written}").into());
            }
            let count = self.engine.generations() - generations;
            if count != generated {
                return Err(format!("it was generated {count} times instead of {generated}").into());
            }
        }
        times.sort();
        Ok(times[times.len() / 2])
    }

    /// The bytes of the set's status, and how many Applications it lists.
    fn status(&self) -> Outcome<(usize, usize)> {
        let found = self.engine.home().cache().of_kind(&set_kind());
        let object = found.first().ok_or("the set is gone")?;
        let set = ApplicationSet::from_object(object)?;
        let bytes = object.at(&["status"]).map(|status| json::to_string(status).len()).unwrap_or_default();
        Ok((bytes, set.status.resources.len()))
    }
}
