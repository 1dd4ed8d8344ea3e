//! The applications, and the repository that they come from.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant, SystemTime};

use super::random::Random;
use crate::run;

/// How many namespaces the applications share.
const NAMESPACES: usize = 20;
/// One in so many applications is changed by a commit.
const CHANGED: u64 = 3;
/// How long definitions may take until they are served.
const SERVED: Duration = Duration::from_secs(30);
const LOOK: Duration = Duration::from_secs(2);

/// Applications with a repository.
pub(super) struct Fleet {
    /// The revision of each application: how many commits have changed it.
    revisions: Vec<usize>,
    /// When an application's extra object of a revision was taken out of Git, by application and revision.
    removed: BTreeMap<(usize, usize), SystemTime>,
    commits: usize,
    repository: PathBuf,
    kubectl: PathBuf,
    kubeconfig: PathBuf,
}

impl Fleet {
    pub(super) fn new(count: usize, place: &Path, kubectl: &Path, kubeconfig: &Path) -> Result<Self, String> {
        let repository = place.join("repository");
        let _ = std::fs::remove_dir_all(&repository);
        std::fs::create_dir_all(&repository)
            .map_err(|error| format!("cannot make {}: {error}", repository.display()))?;
        let mut fleet = Fleet {
            revisions: vec![1; count],
            removed: BTreeMap::new(),
            commits: 0,
            repository,
            kubectl: kubectl.to_path_buf(),
            kubeconfig: kubeconfig.to_path_buf(),
        };
        fleet.git(&["init", "--quiet", "--initial-branch", "main"])?;
        for number in 0..count {
            fleet.write(number)?;
        }
        fleet.seal()?;
        Ok(fleet)
    }

    /// Definitions, namespaces, settings and the applications themselves.
    pub(super) fn set_up(&self, lynceus: &Path) -> Result<(), String> {
        let definitions = run::output(Command::new(lynceus).arg("crds"))?;
        self.apply(&definitions)?;
        self.wait_until_served()?;
        let mut text = String::from("{apiVersion: v1, kind: Namespace, metadata: {name: argocd}}\n");
        for number in 0..NAMESPACES {
            let _ = write!(
                text,
                "---\n{{apiVersion: v1, kind: Namespace, metadata: {{name: {}}}}}\n",
                namespace(number)
            );
        }
        self.apply(&text)?;
        // Commits have to be noticed while the run lasts.
        let mut text = String::from(
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: argocd-cm, namespace: argocd, labels: {app.kubernetes.io/part-of: argocd}}\n\
             data: {timeout.reconciliation: 15s, timeout.reconciliation.jitter: 0s}\n",
        );
        for number in 0..self.revisions.len() {
            let _ = write!(
                text,
                "---\napiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {{name: {}, namespace: argocd}}\n\
                 spec:\n  project: default\n  source: {{repoURL: \"file://{}\", path: {}, targetRevision: main}}\n  \
                 destination: {{server: \"https://kubernetes.default.svc\", namespace: {}}}\n  \
                 syncPolicy: {{automated: {{prune: true, selfHeal: true}}, retry: {{limit: 20, backoff: {{duration: 1s, \
                 factor: 2, maxDuration: 10s}}}}}}\n",
                name(number),
                self.repository.display(),
                name(number),
                namespace(number),
            );
        }
        self.apply(&text)
    }

    /// A definition is served a moment after it was made.
    fn wait_until_served(&self) -> Result<(), String> {
        let begun = Instant::now();
        while let Err(error) = run::output(self.kubectl().args(["get", "applications,appprojects", "-A"])) {
            if begun.elapsed() > SERVED {
                return Err(error);
            }
            std::thread::sleep(Duration::from_millis(200));
        }
        Ok(())
    }

    /// Changes a part of the applications.
    pub(super) fn commit(&mut self, random: &mut Random) -> Result<(), String> {
        let now = SystemTime::now();
        for number in 0..self.revisions.len() {
            if random.one_in(CHANGED) {
                self.removed.insert((number, self.revisions[number]), now);
                self.revisions[number] += 1;
                self.write(number)?;
            }
        }
        self.seal()
    }

    pub(super) fn commits(&self) -> usize {
        self.commits
    }

    pub(super) fn len(&self) -> usize {
        self.revisions.len()
    }

    /// When an extra object was taken out of Git; never if it is still there.
    pub(super) fn removed_at(&self, application: usize, revision: usize) -> Option<SystemTime> {
        self.removed.get(&(application, revision)).copied()
    }

    /// How many applications are as they should be.
    pub(super) fn state(&self) -> String {
        match self.arrived() {
            Ok(arrived) => {
                format!(
                    "{} of {} applications at the last commit, Synced and Healthy",
                    self.len() - arrived.len(),
                    self.len()
                )
            }
            Err(_) => "the API server does not answer".to_owned(),
        }
    }

    pub(super) fn wait_until_at_rest(&self, patience: Duration) -> Result<(), String> {
        let begun = Instant::now();
        loop {
            let missing = self.arrived()?;
            if missing.is_empty() {
                println!("faults: at rest after {:.0} s", begun.elapsed().as_secs_f64());
                return Ok(());
            }
            if begun.elapsed() > patience {
                let shown = missing.iter().take(8).cloned().collect::<Vec<_>>().join("\n  ");
                return Err(format!("{} applications did not arrive:\n  {shown}", missing.len()));
            }
            std::thread::sleep(LOOK);
        }
    }

    /// The applications that are not as they should be, with what they are.
    fn arrived(&self) -> Result<Vec<String>, String> {
        let head = self.head()?;
        let columns = "{range .items[*]}{.metadata.name} {.status.sync.status} {.status.health.status} {.status.sync.revision} \
                       {.status.operationState.phase}{\"\\n\"}{end}";
        let text = run::output(self.kubectl().args([
            "get",
            "applications",
            "-n",
            "argocd",
            "-o",
            &format!("jsonpath={columns}"),
        ]))?;
        let fine = format!(" Synced Healthy {head} Succeeded");
        Ok(text.lines().filter(|line| !line.ends_with(&fine)).map(str::to_owned).collect())
    }

    fn write(&self, number: usize) -> Result<(), String> {
        let directory = self.repository.join(name(number));
        std::fs::create_dir_all(&directory)
            .map_err(|error| format!("cannot make {}: {error}", directory.display()))?;
        let path = directory.join("all.yaml");
        std::fs::write(&path, manifests(number, self.revisions[number]))
            .map_err(|error| format!("cannot write {}: {error}", path.display()))
    }

    fn seal(&mut self) -> Result<(), String> {
        self.commits += 1;
        self.git(&["add", "--all"])?;
        let message = format!("Commit {}", self.commits);
        self.git(&[
            "-c",
            "user.name=faults",
            "-c",
            "user.email=faults@example.com",
            "commit",
            "--quiet",
            "-m",
            &message,
        ])
    }

    fn head(&self) -> Result<String, String> {
        let mut git = Command::new("git");
        git.args(["rev-parse", "HEAD"]).current_dir(&self.repository);
        Ok(run::output(&mut git)?.trim().to_owned())
    }

    fn git(&self, arguments: &[&str]) -> Result<(), String> {
        run::passes(Command::new("git").args(arguments).current_dir(&self.repository))
    }

    fn kubectl(&self) -> Command {
        let mut command = Command::new(&self.kubectl);
        command.arg("--kubeconfig").arg(&self.kubeconfig);
        command
    }

    fn apply(&self, text: &str) -> Result<(), String> {
        let path = self.repository.with_extension("yaml");
        std::fs::write(&path, text).map_err(|error| format!("cannot write {}: {error}", path.display()))?;
        run::output(self.kubectl().args(["apply", "--server-side", "-f"]).arg(&path)).map(drop)
    }
}

/// An application's name.
pub(super) fn name(number: usize) -> String {
    format!("app-{number:03}")
}

fn namespace(number: usize) -> String {
    format!("faults-{:02}", number % NAMESPACES)
}

/// The objects of an application at a revision. Hooks have the revision in their names, so that the record of the writes
/// shows which operation they belong to; one extra object comes and goes with each revision.
fn manifests(number: usize, revision: usize) -> String {
    let name = name(number);
    let mut text = String::new();
    let mut config = |suffix: &str, notes: &str| {
        let _ = write!(
            text,
            "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}-{suffix}, annotations: {{{notes}}}}}\n\
             data: {{revision: \"{revision}\"}}\n",
        );
    };
    config("settings", "");
    config(&format!("extra-{revision}"), "");
    match number % 5 {
        1 => config(&format!("hook-{revision}"), "argocd.argoproj.io/hook: PostSync"),
        2 => config(&format!("hook-{revision}"), "argocd.argoproj.io/hook: PreSync"),
        3 => {
            config("early", "argocd.argoproj.io/sync-wave: \"-1\"");
            config("late", "argocd.argoproj.io/sync-wave: \"2\"");
        }
        _ => {}
    }
    if matches!(number % 5, 0 | 2) {
        let phase = if number.is_multiple_of(5) { "PreSync" } else { "PostSync" };
        let _ = write!(
            text,
            "---\napiVersion: batch/v1\nkind: Job\nmetadata: {{name: {name}-job-{revision}, annotations: \
             {{argocd.argoproj.io/hook: {phase}}}}}\nspec: {{template: {{spec: {{restartPolicy: Never, containers: \
             [{{name: hook, image: busybox, command: [\"true\"]}}]}}}}}}\n",
        );
    }
    if number % 4 == 3 {
        let _ = write!(
            text,
            "---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: {name}}}\nspec:\n  replicas: 1\n  \
             selector: {{matchLabels: {{app: {name}}}}}\n  template:\n    metadata: {{labels: {{app: {name}}}}}\n    \
             spec: {{containers: [{{name: web, image: \"nginx:{revision}\"}}]}}\n",
        );
    }
    text
}
