//! The examples: the doctor's report on each has the causes that its `causes.yaml` names, and no others. The inventory of two hundred
//! applications is not among them: without optimisation it takes minutes.
//!
//! Each is rehearsed from a copy: its repository, with its branches where it has some, on its stage, which begins as `cluster.yaml`
//! says. What came of it is looked at as `lynceus doctor` looks at it.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on has to stop")]

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use lynceus_cluster::{Cluster, Options as ClusterOptions};
use lynceus_doctor::{Examination, Node, Root, Severity, examine};
use lynceus_engine::FileChange;
use lynceus_files::FilePath;
use lynceus_object::{Gvk, Object, Value, manifest, yaml};
use lynceus_rehearse::{Overlay, Rehearsal, Script, rehearse};
use lynceus_sim::Stage;
use lynceus_source::compose::{Change, Composition, Layout, Message};

/// Which rules find which sort of cause.
const FAMILIES: [(&str, &[&str]); 28] = [
    ("auth-refused", &["LYN0703"]),
    ("claim-waits-for-consumer", &["LYN0601"]),
    ("component-not-exposed", &["LYN0306"]),
    ("empty-required-field", &["LYN1007"]),
    ("feature-branch", &["LYN1003"]),
    ("health-blocks-wave", &["LYN1208"]),
    ("ignore-rule-idle", &["LYN1106"]),
    ("ignore-rule-wide", &["LYN1105"]),
    ("image-not-built", &["LYN0504"]),
    ("image-platform", &["LYN0503"]),
    ("image-tag-missing", &["LYN0501"]),
    ("immutable-field", &["LYN1101"]),
    ("job-forbidden", &["LYN0803"]),
    ("kind-excluded", &["LYN0205"]),
    ("namespace-missing", &["LYN0203", "LYN0204"]),
    ("operator-writes-field", &["LYN1102", "LYN1107"]),
    ("option-disables-referenced", &["LYN0305", "LYN0301"]),
    ("orphaned-application", &["LYN0103"]),
    ("outdated-revision", &["LYN0406"]),
    ("path-missing", &["LYN1002"]),
    ("pod-security", &["LYN0801"]),
    ("pull-secret-missing", &["LYN0502"]),
    ("shared-resource", &["LYN0101", "LYN0102"]),
    ("store-target-missing", &["LYN0701"]),
    ("sync-manual", &["LYN1201"]),
    ("taint-not-tolerated", &["LYN0401", "LYN0402"]),
    ("tolerations-overridden", &["LYN0402"]),
    ("vault-sealed", &["LYN0702"]),
];
/// Sorts whose names are too many for the table's order.
const MORE: [(&str, &[&str]); 2] = [("volume-limit", &["LYN0405"]), ("wrong-credentials", &["LYN0705"])];

/// Causes that are over when a rehearsal is at rest: it asks for the syncs that nobody else asks for, and waits until builds are done.
const OVER: [&str; 2] = ["coredns-by-hand", "image-too-late"];

/// The causes whose fix is found by itself in the file that `causes.yaml` names, and which of them heal what they block.
struct Mended {
    written: &'static [&'static str],
    healed: &'static [&'static str],
}

#[tokio::test]
async fn monitoring() {
    check("monitoring", &Mended { written: &["grafana-twice"], healed: &[] }).await;
}

#[tokio::test]
async fn kubeflow() {
    check("kubeflow", &Mended { written: &["umbrella"], healed: &["umbrella"] }).await;
}

#[tokio::test]
async fn openshift_ai() {
    check(
        "openshift-ai",
        &Mended {
            written: &[
                "route-hosts",
                "legacy-branch",
                "feature-branch",
                "selector",
                "catalog-twice",
                "docling-replicas",
            ],
            healed: &[],
        },
    )
    .await;
}

#[tokio::test]
async fn self_healing() {
    check(
        "self-healing",
        &Mended { written: &["claims-hold-wave", "model-not-trained"], healed: &["claims-hold-wave"] },
    )
    .await;
}

/// One cause of `causes.yaml`.
struct Cause {
    id: String,
    codes: &'static [&'static str],
    subject: String,
    blocks: Vec<String>,
    /// Where it can be mended: file, and line if one is named.
    places: Vec<(String, Option<usize>)>,
}

async fn check(example: &str, mended: &Mended) {
    let copy = Copy::of(example);
    let played = copy.play().await;
    let snapshot = played.world().engine().snapshot().await;
    let examination = examine(&snapshot);
    let told = yaml::parse(copy.text("causes.yaml").unwrap().as_bytes()).unwrap();
    let causes: Vec<Cause> = told.items_at(&["causes"]).iter().map(Cause::read).collect();
    let innocent = texts(&told, "innocent");
    let mut wrong = missed(&examination, &causes);
    wrong.extend(extra(&examination, &causes, &innocent));
    wrong.extend(
        examination
            .unexplained
            .iter()
            .map(|one| format!("not explained: {}, {}", one.application, one.state)),
    );
    let (listing, failed) = mend(&played, &examination, &causes, mended).await;
    wrong.extend(failed);
    assert!(
        wrong.is_empty(),
        "{example}:\n  {}\n\n{listing}\n{}",
        wrong.join("\n  "),
        lynceus_doctor::report::text(&examination)
    );
}

/// Causes that are not found, or do not explain an application that they block.
fn missed(examination: &Examination, causes: &[Cause]) -> Vec<String> {
    let mut wrong = Vec::new();
    for cause in causes.iter().filter(|cause| !OVER.contains(&cause.id.as_str())) {
        let roots: Vec<&Root> = examination.roots.iter().filter(|root| cause.is(root)).collect();
        if roots.is_empty() {
            wrong.push(format!("missed: {} of {}", cause.id, cause.subject));
            continue;
        }
        let troubled: BTreeSet<&str> = examination
            .roots
            .iter()
            .flat_map(|root| &root.applications)
            .map(|name| name.name.as_str())
            .collect();
        let explains = |name: &&String| {
            roots.iter().any(|root| {
                let own = root.finding.application.iter().chain(&root.applications);
                own.into_iter().any(|app| app.name == name.as_str())
            })
        };
        let silent = cause.blocks.iter().filter(|name| troubled.contains(name.as_str()) && !explains(name));
        wrong.extend(silent.map(|name| format!("{} does not explain {name}", cause.id)));
    }
    wrong
}

/// Roots that nobody has named, and what is said of those about which there is nothing to say.
fn extra(examination: &Examination, causes: &[Cause], innocent: &[String]) -> Vec<String> {
    let serious = examination.roots.iter().filter(|root| root.severity < Severity::P3);
    let mut wrong = Vec::new();
    for root in serious {
        if !causes.iter().any(|cause| cause.is(root)) {
            wrong.push(format!("not a cause: {:?} {}: {}", root.severity, root.id, root.finding.cause));
        }
        let blamed = root.finding.application.iter().chain(&root.applications);
        let blamed = blamed.filter(|app| innocent.iter().any(|name| app.name == name.as_str()));
        wrong.extend(blamed.map(|app| format!("{app} is innocent: {}", root.id)));
    }
    wrong
}

impl Cause {
    fn read(told: &Value) -> Self {
        let text = |field| told.str_at(&[field]).unwrap_or_default().to_owned();
        let rule = text("rule");
        let codes = FAMILIES.iter().chain(&MORE).find(|(name, _)| *name == rule).map(|(_, codes)| *codes);
        let place = |value: &Value| {
            let line = value.int_at(&["line"]).and_then(|line| usize::try_from(line).ok());
            Some((value.str_at(&["file"])?.to_owned(), line))
        };
        let places = [told].into_iter().chain(told.items_at(&["or"])).filter_map(place).collect();
        Cause {
            id: text("id"),
            codes: codes.unwrap_or_else(|| panic!("no rule is known for {rule}")),
            subject: text("subject"),
            blocks: texts(told, "blocks"),
            places,
        }
    }

    /// Whether a root is this cause: a rule for its sort found it, of its subject or of something that comes from it.
    fn is(&self, root: &Root) -> bool {
        let finding = &root.finding;
        if !self.codes.contains(&finding.code) {
            return false;
        }
        let nodes = [&finding.subject].into_iter().chain(&finding.affects);
        let is_subject = nodes.into_iter().any(|node| self.fits(node));
        let (kind, name) = (self.subject.split('/').next(), self.subject.rsplit('/').next());
        let is_own = finding
            .application
            .as_ref()
            .is_some_and(|app| self.blocks.iter().any(|one| *one == app.name.as_str()));
        let texts =
            [finding.cause.clone()].into_iter().chain(finding.evidence.iter().map(ToString::to_string));
        let says = |text: &String| {
            let name = name.unwrap_or_default().trim_matches('*');
            kind.is_some_and(|kind| text.contains(kind)) && (text.contains(name) || self.blocks.is_empty())
        };
        is_subject || is_own || texts.into_iter().any(|text| says(&text))
    }

    fn fits(&self, node: &Node) -> bool {
        let slug = match node {
            Node::Object { key, .. } => format!("{}/{}/{}", key.kind, key.namespace, key.name),
            Node::Application(name) => format!("Application/{}/{}", name.namespace, name.name),
            _ => return false,
        };
        matches(&self.subject, &slug)
    }
}

/// Whether a text is like a pattern in which `*` stands for anything.
fn matches(pattern: &str, text: &str) -> bool {
    let Some((start, rest)) = pattern.split_once('*') else { return pattern == text };
    let Some(left) = text.strip_prefix(start) else { return false };
    (0..=left.len()).filter(|at| left.is_char_boundary(*at)).any(|at| matches(rest, &left[at..]))
}

fn texts(value: &Value, field: &str) -> Vec<String> {
    value.items_at(&[field]).iter().filter_map(Value::as_str).map(str::to_owned).collect()
}

/// What the fixes do to the files, and what is not as it should be.
async fn mend(
    played: &Rehearsal,
    examination: &Examination,
    causes: &[Cause],
    mended: &Mended,
) -> (String, Vec<String>) {
    let mut listing = String::new();
    let mut wrong = Vec::new();
    for cause in causes.iter().filter(|cause| !cause.places.is_empty()) {
        let roots = examination.roots.iter().filter(|root| cause.is(root));
        let mut written = false;
        let mut healed = BTreeMap::new();
        for fix in roots.flat_map(|root| &root.finding.fixes).filter(|fix| fix.has_edits()) {
            let changes = played.world().engine().mend(fix).await;
            let fits = changes.as_ref().is_ok_and(|changes| cause.is_mended_by(changes));
            let files = match &changes {
                Ok(changes) => changes.iter().map(|one| one.path.to_string()).collect::<Vec<_>>().join(", "),
                Err(error) => format!("cannot: {error}"),
            };
            listing.push_str(&format!(
                "{}: {} -> {files}{}\n",
                cause.id,
                fix.title,
                if fits { " (as named)" } else { "" }
            ));
            if fits && !written && mended.healed.contains(&cause.id.as_str()) {
                healed = heal(played, &changes.unwrap()).await;
            }
            written |= fits;
        }
        if mended.written.contains(&cause.id.as_str()) && !written {
            wrong.push(format!("no fix of {} changes {:?}", cause.id, cause.places));
        }
        if mended.healed.contains(&cause.id.as_str()) {
            let sick = cause.blocks.iter().filter(|name| healed.get(*name) != Some(&true));
            wrong.extend(sick.map(|name| format!("the fix of {} does not heal {name}", cause.id)));
        }
    }
    (listing, wrong)
}

impl Cause {
    /// Whether a place where it can be mended is changed: the line, if one is named.
    fn is_mended_by(&self, changes: &[FileChange]) -> bool {
        let is_changed = |(file, line): &(String, Option<usize>)| {
            changes.iter().filter(|change| change.path.as_str() == file).any(|change| {
                let line_of = |text: &Option<String>, line: usize| {
                    text.as_deref().and_then(|text| text.lines().nth(line - 1)).map(str::to_owned)
                };
                line.is_none_or(|line| {
                    (line..line + 3).any(|line| line_of(&change.before, line) != line_of(&change.after, line))
                })
            })
        };
        self.places.iter().any(is_changed)
    }
}

/// Which applications are well after a change, and no worse are others.
async fn heal(played: &Rehearsal, changes: &[FileChange]) -> BTreeMap<String, bool> {
    let overlay: Overlay = changes
        .iter()
        .map(|change| (change.path.clone(), change.after.clone().map(String::into_bytes)))
        .collect();
    let verified = played.verify(&overlay).await.unwrap();
    assert_eq!(verified.harmed().count(), 0, "the change harms {:?}", verified.harmed().collect::<Vec<_>>());
    let is_well = |words: &Option<String>| words.as_deref() == Some("Synced Healthy");
    verified.applications.iter().map(|one| (one.name.clone(), is_well(&one.after))).collect()
}

/// An example, copied to where it is in no other repository. It goes away when it is dropped.
struct Copy {
    example: PathBuf,
    folder: PathBuf,
}

impl Copy {
    fn of(example: &str) -> Self {
        let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
        let folder = std::env::temp_dir().join(format!("lynceus-example-{example}-{}", std::process::id()));
        let copy = Copy { example: examples.join(example).canonicalize().unwrap(), folder };
        copy.fill();
        copy
    }

    fn text(&self, file: &str) -> Option<String> {
        std::fs::read_to_string(self.example.join(file)).ok()
    }

    /// The files as they are, or a repository with branches where there are some.
    fn fill(&self) {
        let main = files(&self.example.join("repository"));
        let told = yaml::parse(self.text("causes.yaml").unwrap().as_bytes()).unwrap();
        let Some(branches) = told.at(&["branches"]).and_then(Value::as_map) else {
            return main.into_iter().for_each(|(path, content)| {
                let place = self.folder.join(path.as_str());
                std::fs::create_dir_all(place.parent().unwrap()).unwrap();
                std::fs::write(place, content).unwrap();
            });
        };
        let repository = Composition::create(&self.folder, Layout::WorkTree).unwrap();
        commit(&repository, "main", main);
        for (branch, folder) in branches.iter() {
            commit(&repository, branch, files(&self.example.join(folder.as_str().unwrap())));
        }
        repository.checkout().unwrap();
    }

    async fn play(&self) -> Rehearsal {
        let mut script = Script::new(&self.folder);
        script.stage = Stage::read("stage.yaml", &self.text("stage.yaml").unwrap()).unwrap();
        if let Some(given) = self.text("cluster.yaml") {
            let snapshot = before(&script, &given).await;
            script.stage.snapshot = Some(std::sync::Arc::new(snapshot));
        }
        rehearse(&script).await.unwrap()
    }
}

impl Drop for Copy {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

fn commit(repository: &Composition, branch: &str, files: Vec<(FilePath, Vec<u8>)>) {
    let message = Message { name: "Lynceus", email: "", when: Timestamp::UNIX_EPOCH, text: "Everything\n" };
    let files = files.into_iter().map(|(path, content)| (path, Change::Write(content)));
    repository.commit(branch, &message, files).unwrap();
}

/// All files below a folder, with their paths in it.
fn files(root: &Path) -> Vec<(FilePath, Vec<u8>)> {
    let mut found = Vec::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let inside = FilePath::new(path.strip_prefix(root).unwrap().to_str().unwrap()).unwrap();
            found.push((inside, std::fs::read(&path).unwrap()));
        }
    }
    found
}

/// What a cluster is like in which objects were applied: with the defaults that its server gives them.
async fn before(script: &Script, given: &str) -> lynceus_sim::stage::Snapshot {
    let options = lynceus_sim::Options {
        clock: Some(lynceus_sim::clock::ManualClock::new(script.begin)),
        seed: Some(1),
        ..lynceus_sim::Options::default()
    };
    let sim = lynceus_sim::Sim::start(options).await.unwrap();
    let open = async || {
        sim.settle().await;
        let client = kube::Client::new(sim.service(lynceus_sim::attributes::User::admin()), "default");
        Cluster::open(client, ClusterOptions::default()).await.unwrap()
    };
    lynceus_engine::bootstrap(&*open().await, "argocd").await.unwrap();
    let file = FilePath::new("cluster.yaml").unwrap();
    let given = manifest::read(&file, given.as_bytes(), &yaml::Options::default()).objects;
    let given: Vec<Object> = given.into_iter().map(|one| one.object).collect();
    let (definitions, others): (Vec<Object>, Vec<Object>) =
        given.into_iter().partition(|object| object.kind() == "CustomResourceDefinition");
    let mut snapshot = lynceus_sim::stage::Snapshot::default();
    for objects in [definitions, others] {
        let cluster = open().await;
        for object in &objects {
            cluster.apply(object, lynceus_cluster::ApplyOptions::default()).await.unwrap();
        }
        let is_given = |one: &Object| objects.iter().any(|object| object.key() == one.key());
        let kinds: BTreeSet<Gvk> = objects.iter().map(Object::gvk).collect();
        for kind in kinds.iter().filter(|kind| kind.kind != "CustomResourceDefinition") {
            let listed = cluster.list(kind, "").await.unwrap();
            listed.into_iter().filter(is_given).for_each(|object| snapshot.add(object));
        }
    }
    let definitions = Gvk::new("apiextensions.k8s.io", "v1", "CustomResourceDefinition");
    open().await.list(&definitions, "").await.unwrap().into_iter().for_each(|object| snapshot.add(object));
    snapshot
}
