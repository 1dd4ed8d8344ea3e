//! What delivering costs: a controller with many applications at rest, and how soon it notices a change.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use lynceus_api::crds;
use lynceus_cluster::Cluster;
use lynceus_files::FilePath;
use lynceus_object::{Gvk, Object, Value, value, yaml};
use lynceus_source::compose::{Change, Composition, Layout, Message};

use crate::{Outcome, Scale, load, process};

const HOME: &str = "argocd";
const PLACE: &str = "bench-delivery";

/// A controller that ends with the measurement.
struct Controller(Child);

impl Drop for Controller {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Measures and prints; the cluster is as before afterwards, but for the definitions.
pub(crate) async fn measure(kubeconfig: &Path, folder: &Path, scale: Scale) -> Outcome {
    let cluster = load::open(kubeconfig).await?;
    let repository = repository(folder, scale.applications)?;
    load::create(&cluster, crds().into_iter()).await?;
    load::create(&cluster, [load::namespace(HOME), load::namespace(PLACE)].into_iter()).await?;
    let cluster = served(kubeconfig).await?;
    let began = Instant::now();
    let controller = controller(kubeconfig)?;
    load::create(&cluster, (0..scale.applications).map(|number| application(&repository, number))).await?;
    until_synced(&cluster, scale.applications).await?;
    println!("| {} new applications, until all are synced | {:.1?} |", scale.applications, began.elapsed());
    tokio::time::sleep(Duration::from_secs(5)).await;
    rest(&controller, scale).await?;
    notice(&cluster, scale).await?;
    drop(controller);
    clean(&cluster, scale.applications).await;
    Ok(())
}

async fn rest(controller: &Controller, scale: Scale) -> Outcome {
    let pid = controller.0.id();
    let before = process::computed(pid)?;
    tokio::time::sleep(Duration::from_secs(scale.rest_seconds)).await;
    let spent = process::computed(pid)?.saturating_sub(before);
    let share = spent.as_secs_f64() / scale.rest_seconds as f64 * 100.0;
    println!("| one core's time at rest with {} applications | {share:.1} % |", scale.applications);
    let memory = process::memory(pid)? as f64 / 1e6;
    println!("| memory of the controller with them | {memory:.0} MB |");
    Ok(())
}

/// Changes one object after the other by hand and waits until its application says so.
async fn notice(cluster: &Cluster, scale: Scale) -> Outcome {
    let gvk = Gvk::new("", "v1", "ConfigMap");
    let mut times = Vec::new();
    for number in 0..scale.changes {
        let name = format!("app-{number}");
        let began = Instant::now();
        cluster.patch_record(&gvk, PLACE, &name, &value!({"data": {"setting-00": "by hand"}})).await?;
        while sync_status(cluster, &name).await? != "OutOfSync" {
            if began.elapsed() > Duration::from_secs(30) {
                return Err(format!("the change of {name} was not noticed").into());
            }
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        times.push(began.elapsed());
    }
    times.sort();
    let at = |share: usize| times.get(times.len() * share / 100).copied().unwrap_or_default();
    println!(
        "| from a change in the cluster to the application's status, median and 90th percentile | {:.0?}, {:.0?} |",
        at(50),
        at(90)
    );
    Ok(())
}

async fn sync_status(cluster: &Cluster, name: &str) -> Outcome<String> {
    let object = cluster.get(&kind(), HOME, name).await?.unwrap_or_default();
    Ok(object.value().str_at(&["status", "sync", "status"]).unwrap_or_default().to_owned())
}

async fn until_synced(cluster: &Cluster, count: usize) -> Outcome {
    let end = Instant::now() + Duration::from_secs(900);
    loop {
        let list = cluster.list(&kind(), HOME).await?;
        let status =
            |object: &Object| object.value().str_at(&["status", "sync", "status"]).map(str::to_owned);
        let synced = list.iter().filter(|object| status(object).as_deref() == Some("Synced")).count();
        if synced >= count {
            return Ok(());
        }
        if Instant::now() > end {
            return Err(format!("only {synced} of {count} applications are synced").into());
        }
        tokio::time::sleep(Duration::from_millis(500)).await;
    }
}

/// A connection that knows the definitions, which a server serves a moment after it has them.
async fn served(kubeconfig: &Path) -> Outcome<std::sync::Arc<Cluster>> {
    for _ in 0..100 {
        let cluster = load::open(kubeconfig).await?;
        if cluster.kinds().get(&kind()).is_some() {
            return Ok(cluster);
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    Err("the definitions are not served".into())
}

/// The product itself, which stands beside this program.
fn controller(kubeconfig: &Path) -> Outcome<Controller> {
    let program = std::env::current_exe()?.with_file_name("lynceus");
    let mut command = Command::new(program);
    command.arg("up").arg("--kubeconfig").arg(kubeconfig).env("RUST_LOG", "warn");
    Ok(Controller(command.stdout(Stdio::null()).spawn()?))
}

fn repository(folder: &Path, applications: usize) -> Outcome<PathBuf> {
    let place = folder.join("repository");
    if place.exists() {
        return Ok(place);
    }
    let repository = Composition::create(place.clone(), Layout::Bare)?;
    let mut changes = Vec::new();
    for number in 0..applications {
        let name = format!("app-{number}");
        let text = yaml::to_string(load::config("", &name, None).value());
        changes.push((FilePath::new(&format!("{name}/config.yaml"))?, Change::Write(text.into_bytes())));
    }
    let when = jiff::Timestamp::now();
    let message = Message { name: "Bench", email: "bench@example.com", when, text: "Everything\n" };
    repository.commit("main", &message, changes)?;
    Ok(place)
}

fn application(repository: &Path, number: usize) -> Object {
    let name = format!("app-{number}");
    let mut object = Object::named(&kind(), HOME, &name);
    let url = format!("file://{}", repository.display());
    let spec: Value = value!({
        "project": "default",
        "source": {"repoURL": url, "path": name, "targetRevision": "main"},
        "destination": {"server": "https://kubernetes.default.svc", "namespace": PLACE},
        "syncPolicy": {"automated": {}},
    });
    object.set(&["spec"], spec);
    object
}

fn kind() -> Gvk {
    Gvk::new("argoproj.io", "v1alpha1", "Application")
}

async fn clean(cluster: &Cluster, applications: usize) {
    let names = |gvk: Gvk, place: &'static str| {
        (0..applications).map(move |number| (gvk.clone(), place.to_owned(), format!("app-{number}")))
    };
    let all = names(kind(), HOME).chain(names(Gvk::new("", "v1", "ConfigMap"), PLACE)).collect();
    load::delete(cluster, all).await;
    load::delete(cluster, vec![(Gvk::new("", "v1", "Namespace"), String::new(), PLACE.to_owned())]).await;
}
