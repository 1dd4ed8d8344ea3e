//! A repository as text, played, and what came of it as text.
#![allow(dead_code, reason = "not every file of tests uses all of it")]
#![allow(clippy::expect_used, reason = "a test that cannot set its world up has to stop")]

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use lynceus_files::FilePath;
use lynceus_rehearse::{Overlay, Rehearsal, RehearseError, Report, Script, StepKind, rehearse};
use lynceus_source::compose::{Change, Composition, Layout, Message};

/// A folder that goes away with the test.
pub(crate) struct Repository {
    pub(crate) folder: PathBuf,
    composition: Option<Composition>,
}

impl Repository {
    /// Files as text: each begins with a line `=== path`.
    pub(crate) fn of_files(text: &str) -> Self {
        let folder = folder();
        for (path, content) in files(text) {
            let place = folder.join(path);
            std::fs::create_dir_all(place.parent().expect("a folder")).expect("a folder");
            std::fs::write(place, content).expect("a file");
        }
        Repository { folder, composition: None }
    }

    /// A repository with these files committed to `main`.
    pub(crate) fn of_commit(text: &str) -> Self {
        let folder = folder();
        let composition = Composition::create(&folder, Layout::WorkTree).expect("a repository");
        let repository = Repository { folder, composition: Some(composition) };
        repository.commit("main", text);
        repository
    }

    /// Commits files to a branch; one without text is removed.
    pub(crate) fn commit(&self, branch: &str, text: &str) {
        let changes = files(text).into_iter().map(|(path, content)| {
            let change =
                if content.trim().is_empty() { Change::Remove } else { Change::Write(content.into_bytes()) };
            (FilePath::new(&path).expect("a path"), change)
        });
        let message = Message {
            name: "Test",
            email: "t@example.com",
            when: jiff::Timestamp::UNIX_EPOCH,
            text: "A change\n",
        };
        let composition = self.composition.as_ref().expect("a repository");
        composition.commit(branch, &message, changes).expect("a commit");
        composition.checkout().expect("a work tree");
    }

    pub(crate) fn script(&self) -> Script {
        Script::new(&self.folder)
    }

    pub(crate) async fn play(&self) -> Rehearsal {
        rehearse(&self.script()).await.expect("it can be rehearsed")
    }

    pub(crate) async fn refusal(&self) -> RehearseError {
        rehearse(&self.script()).await.err().expect("it cannot be rehearsed")
    }
}

impl Drop for Repository {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

fn folder() -> PathBuf {
    static COUNT: AtomicUsize = AtomicUsize::new(0);
    let number = COUNT.fetch_add(1, Ordering::Relaxed);
    let folder = std::env::temp_dir().join(format!("lynceus-rehearse-test-{}-{number}", std::process::id()));
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).expect("a folder");
    folder
}

/// `=== path` and what follows it.
pub(crate) fn files(text: &str) -> Vec<(String, String)> {
    let mut files: Vec<(String, String)> = Vec::new();
    for line in text.lines() {
        match line.strip_prefix("=== ") {
            Some(path) => files.push((path.trim().to_owned(), String::new())),
            None => {
                if let Some((_, content)) = files.last_mut() {
                    content.push_str(line);
                    content.push('\n');
                }
            }
        }
    }
    files
}

pub(crate) fn overlay(text: &str) -> Overlay {
    let change = |(path, content): (String, String)| {
        let content = (!content.trim().is_empty()).then(|| content.into_bytes());
        (FilePath::new(&path).expect("a path"), content)
    };
    files(text).into_iter().map(change).collect()
}

/// An Application that syncs by itself.
pub(crate) fn application(name: &str, path: &str, namespace: &str) -> String {
    application_with(name, path, namespace, "")
}

pub(crate) fn application_with(name: &str, path: &str, namespace: &str, more: &str) -> String {
    format!(
        "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata:\n  name: {name}\n  namespace: argocd\n{more}spec:\n  \
         project: default\n  source: {{repoURL: \"https://git.example.com/team/shop.git\", path: {path}, targetRevision: main}}\n  \
         destination: {{server: \"https://kubernetes.default.svc\", namespace: {namespace}}}\n  syncPolicy:\n    \
         automated: {{prune: true, selfHeal: true}}\n    syncOptions: [CreateNamespace=true]\n    retry: {{limit: 2, backoff: {{duration: 5s}}}}\n"
    )
}

/// What came of applications, a line for each: `web finishes Synced Healthy`.
pub(crate) fn states(report: &Report) -> String {
    let mut out = String::new();
    for one in &report.applications {
        out.push_str(&format!("{} {:?} {} {}\n", one.name, one.verdict, one.sync, one.health));
    }
    out
}

/// What was done for an application, a line for each: `created Deployment shop/web`.
pub(crate) fn steps(report: &Report, name: &str) -> String {
    let mut out = String::new();
    for step in report.applications.iter().filter(|one| one.name == name).flat_map(|one| &one.steps) {
        let did = match step.did {
            StepKind::Created => "created",
            StepKind::Changed => "changed",
            StepKind::Deleted => "deleted",
            StepKind::Refused => "refused",
        };
        let slash = if step.namespace.is_empty() { "" } else { "/" };
        let fields =
            if step.fields.is_empty() { String::new() } else { format!(" ({})", step.fields.join(", ")) };
        out.push_str(&format!("{did} {} {}{slash}{}{fields}\n", step.kind, step.namespace, step.name));
    }
    out
}

/// Why an application is stuck, as a tree.
pub(crate) fn why(report: &Report, name: &str) -> String {
    let found = report.applications.iter().filter(|one| one.name == name);
    found.flat_map(|one| &one.reasons).map(ToString::to_string).collect()
}

pub(crate) fn assumed(report: &Report) -> Vec<String> {
    report.assumed.iter().map(|one| format!("{:?} {}", one.sort, one.what)).collect()
}

pub(crate) fn read(path: &Path) -> String {
    std::fs::read_to_string(path).expect("a file")
}
