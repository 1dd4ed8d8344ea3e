//! The example repository of `lynceus up --demo`: an app-of-apps, three environments, waves, hooks.

use std::io::Write as _;
use std::path::Path;

use jiff::Timestamp;
use lynceus_api::{GROUP, VERSION};
use lynceus_cluster::Cluster;
use lynceus_files::FilePath;
use lynceus_object::{Gvk, Object, value};
use lynceus_source::compose::{Change, Composition, Layout, Message};

use crate::exit::{Doing as _, Outcome};

/// The environments with the wave that each comes in and how many replicas it has.
const ENVIRONMENTS: [(&str, i32, i32); 3] = [("dev", 0, 1), ("staging", 1, 2), ("production", 2, 3)];

/// How many Applications the demo has: one per environment and the one that delivers them.
pub(crate) const APPLICATIONS: usize = ENVIRONMENTS.len() + 1;

/// What every environment has.
const FILES: [(&str, &str); 5] = [
    ("migrate.yaml", include_str!("../demo/environment/migrate.yaml")),
    ("store.yaml", include_str!("../demo/environment/store.yaml")),
    ("catalog.yaml", include_str!("../demo/environment/catalog.yaml")),
    ("front.yaml", include_str!("../demo/environment/front.yaml")),
    ("smoke-test.yaml", include_str!("../demo/environment/smoke-test.yaml")),
];

/// Makes the repository, unless it is there already from the last time: then it is the user's.
pub(crate) fn lay_out(path: &Path) -> Outcome {
    if path.join(".git").exists() {
        return Ok(());
    }
    let failed = format!("cannot make the demo repository {}", path.display());
    let composition = Composition::create(path, Layout::WorkTree).doing(failed.as_str())?;
    let mut changes = Vec::new();
    for (name, text) in files(&address(path)) {
        let file = FilePath::new(&name).doing(failed.as_str())?;
        changes.push((file, Change::Write(text.into_bytes())));
    }
    let message = Message {
        name: "Lynceus",
        email: "demo@lynceus.invalid",
        when: Timestamp::now(),
        text: "Deliver a shop to three environments\n",
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

/// Creates the Application that delivers the others.
pub(crate) async fn deliver(cluster: &Cluster, repository: &Path, namespace: &str) -> Outcome {
    let gvk = Gvk::new(GROUP, VERSION, "Application");
    let failed = "cannot create the demo's Application";
    if cluster.get(&gvk, namespace, "shop").await.doing(failed)?.is_some() {
        return Ok(());
    }
    let mut root = Object::named(&gvk, namespace, "shop");
    root.set(
        &["spec"],
        value!({
            "project": "default",
            "source": {"repoURL": address(repository), "targetRevision": "HEAD", "path": "apps"},
            "destination": {"server": "https://kubernetes.default.svc", "namespace": namespace},
            "syncPolicy": {"automated": {"prune": true, "selfHeal": true}},
        }),
    );
    cluster.create_record(&root).await.doing(failed).map(drop)
}

/// Three things to try, with commands that can be pasted.
pub(crate) fn next_steps(repository: &Path, kubeconfig: &Path, home: &str) -> String {
    let (repository, kubeconfig) = (repository.display(), kubeconfig.display());
    // As it was called: `cargo run` does not put it where a shell would find it.
    let lynceus = std::env::args().next().unwrap_or_else(|| "lynceus".to_owned());
    format!(
        "\ntry this next\n\
         \x20 1. change something in Git and watch it arrive\n\
         \x20      (cd {repository} && sed -i 's/replicas: 1/replicas: 3/' environments/dev/catalog.yaml && \
         git commit -qam 'Three catalogs')\n\
         \x20      kubectl --kubeconfig {kubeconfig} -n shop-dev get deployment catalog -w\n\
         \x20 2. break something and watch it heal\n\
         \x20      kubectl --kubeconfig {kubeconfig} -n shop-dev delete deployment catalog\n\
         \x20 3. look at it\n\
         \x20      {lynceus} app{home} list\n\
         \x20      {lynceus} app{home} get shop-dev\n\
         \x20      {lynceus} app{home} tree shop-dev\n"
    )
}

fn address(path: &Path) -> String {
    format!("file://{}", path.display())
}

/// Every file of the repository with its text.
fn files(repository: &str) -> Vec<(String, String)> {
    let mut files = vec![("README.md".to_owned(), include_str!("../demo/README.md").to_owned())];
    for (environment, wave, replicas) in ENVIRONMENTS {
        let fill = |text: &str| {
            text.replace("{{environment}}", environment)
                .replace("{{wave}}", &wave.to_string())
                .replace("{{replicas}}", &replicas.to_string())
                .replace("{{repository}}", repository)
        };
        files.push((format!("apps/{environment}.yaml"), fill(include_str!("../demo/apps/application.yaml"))));
        for (name, text) in FILES {
            files.push((format!("environments/{environment}/{name}"), fill(text)));
        }
    }
    files
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_of_the_demo_is_a_manifest_without_a_gap() {
        for (name, text) in files("file:///demo") {
            assert!(!text.contains("{{"), "{name} has a gap");
            if name.ends_with(".yaml") {
                let path = FilePath::new(&name).unwrap();
                let read = lynceus_object::manifest::read(&path, text.as_bytes(), &Default::default());
                assert!(
                    read.diagnostics.is_empty() && !read.objects.is_empty(),
                    "{name}: {:?}",
                    read.diagnostics
                );
            }
        }
    }
}
