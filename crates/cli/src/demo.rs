//! The example repository of `lynceus up --demo`: an app-of-apps with three environments, waves and hooks, a second one whose
//! applications have troubles in them for the doctor to find, and an ApplicationSet whose deletions have to be confirmed.

mod arrival;
mod files;
mod steps;

use std::io::Write as _;
use std::path::Path;

use jiff::Timestamp;
use lynceus_cluster::Cluster;
use lynceus_files::FilePath;
use lynceus_object::{Object, manifest};
use lynceus_sim::Stage;
use lynceus_source::compose::{Change, Composition, Layout, Message};

pub(crate) use arrival::{Arrived, wait};
pub(crate) use steps::{Tools, next_steps};

use crate::exit::{Doing as _, Outcome};

/// What delivers all applications, by the files of `bootstrap` that it stands in.
const ROOTS: [&str; 3] = ["shop", "extras", "previews"];

/// What the cluster of the demo is like: the machines that are kept free, the images that there are.
pub(crate) fn stage() -> Outcome<Stage> {
    Stage::open("stage.yaml", include_bytes!("../demo/stage.yaml")).doing("cannot use the demo's stage")
}

/// Makes the repository, unless it is there already from the last time: then it is the user's.
pub(crate) fn lay_out(path: &Path, namespace: &str) -> Outcome {
    if path.join(".git").exists() {
        return Ok(());
    }
    let failed = format!("cannot make the demo repository {}", path.display());
    let composition = Composition::create(path, Layout::WorkTree).doing(failed.as_str())?;
    let mut changes = Vec::new();
    for (name, text) in files::all(&format!("file://{}", path.display()), namespace) {
        let file = FilePath::new(&name).doing(failed.as_str())?;
        changes.push((file, Change::Write(text.into_bytes())));
    }
    let message = Message {
        name: "Lynceus",
        email: "demo@lynceus.invalid",
        when: Timestamp::now(),
        text: "Deliver a shop to three environments, and what it would like to have besides\n",
    };
    composition.commit("main", &message, changes).doing(failed.as_str())?;
    composition.checkout().doing(failed.as_str())?;
    name_author(path).doing(failed)
}

/// Git refuses to commit for somebody whom it does not know, and on a new machine it knows nobody.
fn name_author(path: &Path) -> std::io::Result<()> {
    let mut config = std::fs::OpenOptions::new().append(true).open(path.join(".git/config"))?;
    config.write_all(b"[user]\n\tname = You\n\temail = you@lynceus.invalid\n")
}

/// Creates what delivers the others, as it stands in the repository.
pub(crate) async fn deliver(cluster: &Cluster, repository: &Path) -> Outcome {
    let failed = "cannot create the demo's Applications";
    for name in ROOTS {
        for root in root(repository, name)? {
            let there = cluster.get(&root.gvk(), root.namespace(), root.name()).await.doing(failed)?;
            if there.is_none() {
                cluster.create_record(&root).await.doing(failed)?;
            }
        }
    }
    Ok(())
}

/// What stands in a file of `bootstrap`. It is the user's repository: the file may be gone.
fn root(repository: &Path, name: &str) -> Outcome<Vec<Object>> {
    let path = format!("bootstrap/{name}.yaml");
    let failed = format!("cannot read {}", repository.join(&path).display());
    let bytes = match std::fs::read(repository.join(&path)) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        read => read.doing(failed.as_str())?,
    };
    let path = FilePath::new(&path).doing(failed)?;
    let read = manifest::read(&path, &bytes, &Default::default());
    Ok(read.objects.into_iter().map(|one| one.object).collect())
}
