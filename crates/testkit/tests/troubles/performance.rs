//! A scenario that was played.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use http::Request;
use jiff::{SignedDuration, Timestamp};
use kube::client::Body;
use lynceus_cluster::Deletion;
use lynceus_doctor::{Action, Examination, Fix, Step, examine};
use lynceus_engine::{FileChange, MendError, application_gvk};
use lynceus_files::FilePath;
use lynceus_object::{Gvk, ObjectKey, Value, json, manifest, value, yaml};
use lynceus_rehearse::{Overlay, Rehearsal, Script, rehearse};
use lynceus_sim::Stage;
use lynceus_sim::attributes::User;
use lynceus_sim::stage::Snapshot;
use lynceus_source::compose::{Change, Composition, Layout, Message};

use crate::scenario::{Files, OTHER, Setting, URL, documents};

/// How long nothing new happens after something was done before the next thing is done. Syncs that failed are tried again by then.
const MOMENT: SignedDuration = SignedDuration::from_mins(3);

/// A scenario that was played.
pub(crate) struct Performance {
    played: Rehearsal,
    engine: String,
    _folder: Folder,
}

impl Performance {
    pub(crate) async fn of(setting: &Setting) -> Self {
        Performance::play(setting, Overlay::new(), &[]).await
    }

    /// The same, with a fix made once it is stuck: files are changed, and then done what is to be done to the cluster.
    pub(crate) async fn mended(setting: &Setting, changes: &[FileChange], steps: &[Step]) -> Self {
        let content = |change: &FileChange| change.after.clone().map(String::into_bytes);
        let overlay = changes.iter().map(|change| (change.path.clone(), content(change))).collect();
        Performance::play(setting, overlay, steps).await
    }

    async fn play(setting: &Setting, overlay: Overlay, steps: &[Step]) -> Self {
        let folder = Folder::new();
        let repository = Composition::create(&folder.0, Layout::WorkTree).unwrap();
        commit(&repository, "main", &setting.files);
        let mut script = Script::new(&folder.0);
        if !setting.change.is_empty() {
            commit(&repository, "main", &setting.change);
            script.from = Some("main~1".to_owned());
        } else if !overlay.is_empty() && setting.then.is_empty() {
            script.from = Some("main".to_owned());
        }
        for (branch, files) in &setting.branches {
            commit(&repository, branch, files);
        }
        repository.checkout().unwrap();
        script.stage = stage(setting);
        script.overlay = overlay;
        script.urls = vec![URL.to_owned(), OTHER.to_owned()];
        script.limits.stuck = setting.patience;
        let played = rehearse(&script).await.unwrap();
        let mut performance = Performance { played, engine: setting.engine.clone(), _folder: folder };
        for deed in documents(&setting.then) {
            performance.perform(&deed).await;
            performance.played.go_on(MOMENT).await;
        }
        for action in steps.iter().filter_map(action) {
            performance.act(action).await;
            performance.played.go_on(MOMENT).await;
        }
        performance
    }

    /// Everything that there is to see of it now.
    pub(crate) async fn snapshot(&self) -> lynceus_doctor::Snapshot {
        let mut snapshot = self.played.world().engine().snapshot().await;
        snapshot.lost_images = self.played.lost_images(&snapshot);
        snapshot
    }

    /// What the doctor finds. Folded, causes of one slip are told as one, as `lynceus doctor` does.
    pub(crate) async fn examine(&self, is_folded: bool) -> Examination {
        let mut snapshot = self.snapshot().await;
        let told = yaml::parse(self.engine.as_bytes()).unwrap();
        snapshot.engine.waiting = told.int_at(&["waiting"]).and_then(|count| usize::try_from(count).ok());
        let complaints = told.items_at(&["complaints"]).iter().filter_map(Value::as_str).map(str::to_owned);
        snapshot.engine.complaints.extend(complaints);
        match is_folded {
            true => self.played.world().engine().diagnose(&snapshot).await,
            false => examine(&snapshot),
        }
    }

    pub(crate) async fn mend(&self, fix: &Fix) -> Result<Vec<FileChange>, MendError> {
        self.played.world().engine().mend(fix).await
    }

    /// `Synced Healthy` for each application by its name.
    pub(crate) fn states(&self) -> BTreeMap<String, String> {
        let applications = self.played.world().applications();
        let state = |app: lynceus_api::Application| {
            let (sync, health) = (app.status.sync.status, app.status.health.status);
            (app.metadata.name.to_string(), format!("{sync} {health}").trim().to_owned())
        };
        applications.into_iter().map(state).collect()
    }

    pub(crate) fn is_fine(&self) -> bool {
        self.states().values().all(|state| state == "Synced Healthy")
    }

    /// Something that a person does: `delete` of an object, or `patch` of one `with` something.
    async fn perform(&self, deed: &Value) {
        if let Some(key) = deed.get("delete") {
            return self.delete(&key_of(key)).await;
        }
        let (key, patch) = (key_of(deed.get("patch").unwrap()), deed.get("with").unwrap());
        let kind = self.played.world().hand().kind(&self.kind(&key)).await.unwrap();
        let path = format!("{}?fieldManager=kubectl-edit", kind.object_path(&key.namespace, &key.name));
        let request = Request::patch(path).header("content-type", "application/merge-patch+json");
        let request = request.body(Body::from(json::to_vec(patch))).unwrap();
        let (_, sim) = self.played.world().sims().next().unwrap();
        let client = kube::Client::new(sim.service(User::admin()), "default");
        assert!(client.send(request).await.unwrap().status().is_success(), "{} can be changed", key.name);
    }

    async fn act(&self, action: &Action) {
        let (application, patch) = match action {
            Action::Sync { application } => (
                application,
                value!({"operation": {"initiatedBy": {"username": "somebody"}, "sync": {"prune": true}}}),
            ),
            Action::Stop { application } => {
                (application, value!({"status": {"operationState": {"phase": "Terminating"}}}))
            }
            Action::Delete { object, .. } => return self.delete(object).await,
        };
        let hand = self.played.world().hand();
        let (namespace, name) = (&application.namespace, &application.name);
        hand.patch_record(&application_gvk(), namespace, name, &patch).await.unwrap();
    }

    async fn delete(&self, key: &ObjectKey) {
        let hand = self.played.world().hand();
        let kind = self.kind(key);
        hand.delete(&kind, &key.namespace, &key.name, &Deletion::default()).await.unwrap();
    }

    fn kind(&self, key: &ObjectKey) -> Gvk {
        let kinds = self.played.world().hand().kinds();
        let found = kinds.iter().find(|kind| kind.gvk.group_kind() == key.group_kind());
        found.unwrap_or_else(|| panic!("there is no {}", key.kind)).gvk.clone()
    }
}

fn action(step: &Step) -> Option<&Action> {
    match step {
        Step::Cluster(action) => Some(action),
        Step::Git(_) | Step::Person(_) => None,
    }
}

/// `{kind: Pod, name: web}`, with a group and a namespace where there are some.
fn key_of(value: &Value) -> ObjectKey {
    let text = |field| value.str_at(&[field]).unwrap_or_default();
    ObjectKey::new(text("group"), text("kind"), text("namespace"), text("name"))
}

fn stage(setting: &Setting) -> Stage {
    let stage = Stage::of_keys(&setting.stage).unwrap();
    if setting.cluster.is_empty() {
        return stage;
    }
    let mut snapshot = Snapshot { version: value!({"gitVersion": "v1.36.3"}), ..Snapshot::default() };
    let file = FilePath::new("cluster.yaml").unwrap();
    let read = manifest::read(&file, setting.cluster.as_bytes(), &yaml::Options::default());
    assert!(read.diagnostics.is_empty(), "{:?}", read.diagnostics);
    read.objects.into_iter().for_each(|one| snapshot.add(one.object));
    Stage { snapshot: Some(Arc::new(snapshot)), ..stage }
}

fn commit(repository: &Composition, branch: &str, files: &Files) {
    let message = Message { name: "Test", email: "", when: Timestamp::UNIX_EPOCH, text: "Everything\n" };
    let changes = files.iter().map(|(path, text)| {
        let change = if text.is_empty() { Change::Remove } else { Change::Write(text.clone().into_bytes()) };
        (FilePath::new(path).unwrap(), change)
    });
    repository.commit(branch, &message, changes).unwrap();
}

/// A folder that goes away.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Self {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let folder = std::env::temp_dir().join(format!("lynceus-trouble-{}-{number}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        Folder(folder)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
