//! From what is to be changed to the files that have to be changed for it.

mod aim;
mod bases;
mod beside;
mod chance;
mod declaration;
mod desk;
mod document;
mod given;
mod hollow;
mod literal;
mod literals;
mod mentioned;
mod misnamed;
mod overlay;
mod overrides;
mod patches;
mod quote;
mod switch;
mod trial;
mod whence;
mod withheld;

use lynceus_api::{AppProject, Application, ApplicationSource, Kind as _};
use lynceus_cluster::Cluster;
use lynceus_doctor::provenance::{Declared, Ground, Place as Spot, PlaceError, Whose, place};
use lynceus_doctor::surgery::{Change, SurgeryError};
use lynceus_doctor::{AppName, Edit, Fix, Place, Step};
use lynceus_files::{FilePath, MemoryTree, Tree};
use lynceus_object::{FieldPath, Object, ObjectKey, Str, Value, yaml};
use lynceus_render::{Field, Reason, Setting};
use std::sync::Arc;

pub(crate) use aim::idle_patches;
pub use desk::{FileChange, patch_of};

use crate::engine::Engine;
use crate::key::AppKey;
use crate::queue::Freshness;
use crate::rendering::{RenderingError, Request, Traced};
use crate::settings::Settings;
use desk::{Desk, read};
use trial::Goal;

/// Why files could not be changed as a fix wants it.
#[derive(Debug, thiserror::Error)]
pub enum MendError {
    /// The application is not there, or cannot be rendered for a reason that its conditions tell.
    #[error("application {0} cannot be looked into")]
    NoApplication(AppName),
    /// A source cannot be rendered.
    #[error("the sources of {application} cannot be rendered")]
    Rendering {
        /// The application.
        application: AppName,
        /// Why.
        #[source]
        source: Box<RenderingError>,
    },
    /// The application has no such object, or a program makes it.
    #[error("no file of {application} has {object}")]
    NoObject {
        /// The application.
        application: AppName,
        /// The object.
        object: ObjectKey,
    },
    /// It cannot be told where the field is written.
    #[error("it cannot be told where {path} of {object} is written")]
    Place {
        /// The object.
        object: Box<ObjectKey>,
        /// The field.
        path: FieldPath,
        /// Why not, and where to look.
        #[source]
        source: Box<PlaceError>,
    },
    /// The field is empty, and no change takes it away.
    #[error("{path} of {object} is empty, and nothing is inherited that it would cover")]
    Empty {
        /// The object.
        object: Box<ObjectKey>,
        /// The field.
        path: FieldPath,
    },
    /// The text of a file cannot be changed that way.
    #[error(transparent)]
    Surgery(Box<SurgeryError>),
    /// The object has no document of its own that could be removed.
    #[error(
        "{object} is made by the template {file}; take it out there, or by a value that the template looks at"
    )]
    Template {
        /// The object.
        object: ObjectKey,
        /// The template.
        file: FilePath,
    },
    /// No value has the chart make the object.
    #[error("no value in the files of {application} has its chart make {object}")]
    NoSwitch {
        /// The application.
        application: AppName,
        /// The object.
        object: ObjectKey,
    },
    /// No kustomization of the application takes the folder in.
    #[error("no kustomization of {application} takes in {folder}")]
    NoFolder {
        /// The application.
        application: AppName,
        /// The folder.
        folder: Str,
    },
    /// A file has no such patch.
    #[error("{file} has no patch that is for {name}")]
    NoPatch {
        /// The file.
        file: FilePath,
        /// What the patch should be for.
        name: Str,
    },
    /// Nothing is known of where the Application itself is written.
    #[error("no file is known that application {0} is written in")]
    Undeclared(AppName),
    /// The Application itself stands in no file, because an ApplicationSet makes it.
    #[error(
        "application {application} is made by ApplicationSet {set}: change its template, or the parameters of the element"
    )]
    Generated {
        /// The application.
        application: AppName,
        /// The set.
        set: Str,
    },
    /// A file cannot be read.
    #[error("{file} cannot be read: {reason}")]
    File {
        /// The file.
        file: FilePath,
        /// Why.
        reason: String,
    },
}

impl From<SurgeryError> for MendError {
    fn from(error: SurgeryError) -> Self {
        MendError::Surgery(Box::new(error))
    }
}

/// The default branch of a repository.
const HEAD: &str = "HEAD";

/// An application with everything that its sources are rendered with.
struct Bench {
    name: AppName,
    application: Application,
    project: Arc<AppProject>,
    setting: Setting,
    sources: Vec<ApplicationSource>,
    settings: Arc<Settings>,
    /// The Application itself, as the one file of a tree.
    manifest: MemoryTree,
    /// The file of Git that the Application stands in, if that was asked for.
    known: Option<FilePath>,
    /// Files to take instead of the sources' own, where a fix has changed some already.
    files: Vec<Option<Arc<dyn Tree>>>,
}

impl Bench {
    fn request(&self, engine: &Engine) -> Request<'_> {
        Request {
            book: &self.settings.book,
            setting: &self.setting,
            project: &self.project,
            sources: &self.sources,
            revisions: &[],
            files: &self.files,
            keyring: &self.settings.keyring,
            freshness: if self.files.is_empty() { Freshness::Recent } else { Freshness::Anew },
            now: engine.clock().now(),
        }
    }

    /// Where in the Application a source stands.
    fn source_path(&self, number: usize) -> FieldPath {
        match self.application.spec.has_multiple_sources() {
            true => FieldPath::fields(["spec", "sources"]).index(number),
            false => FieldPath::fields(["spec", "source"]),
        }
    }

    /// An object among those that the sources give. One that names no namespace is in the application's.
    fn find<'o>(&self, objects: &'o [Object], key: &ObjectKey) -> Option<&'o Object> {
        let namespace: &str = &self.application.spec.destination.namespace;
        objects.iter().find(|object| {
            let own = if object.namespace().is_empty() { namespace } else { object.namespace() };
            let near = key.namespace.is_empty() || key.namespace == own;
            object.group_kind() == key.group_kind() && object.name() == key.name && near
        })
    }
}

impl Engine {
    /// The files that a fix changes, with what they say before and after.
    pub async fn mend(&self, fix: &Fix) -> Result<Vec<FileChange>, MendError> {
        let leaving = fix.steps.iter().filter_map(|step| match step {
            Step::Git(Edit { place: Place::Remove { object }, .. }) => Some(object.clone()),
            _ => None,
        });
        let mut desk = Desk::new(leaving.collect());
        let mut spared = None;
        for step in &fix.steps {
            if let Step::Git(Edit { application, place }) = step {
                match Box::pin(self.edit(&mut desk, application, place)).await {
                    // An empty field that covers nothing may stay, if there is something else to change.
                    Err(error @ MendError::Empty { .. }) => spared = Some(error),
                    other => other?,
                }
            }
        }
        let changes = desk.changes();
        match spared {
            Some(error) if changes.is_empty() => Err(error),
            _ => Ok(changes),
        }
    }

    async fn edit(&self, desk: &mut Desk, name: &AppName, what: &Place) -> Result<(), MendError> {
        let change = |value: &Option<Value>| value.clone().map_or(Change::Remove, Change::Set);
        match what {
            Place::Field { object, path, value } => {
                self.change_field(desk, name, object, path, &change(value)).await
            }
            Place::Quote { object, path } => self.quote(desk, name, object, path).await,
            Place::Override { repository, file, key, object, .. } => {
                self.uncover(desk, name, (repository, file, key), object).await
            }
            Place::Application { path, value } => {
                self.change_application(desk, name, path, &change(value)).await
            }
            Place::ApplicationItem { path, value } => {
                self.change_application(desk, name, path, &Change::Append(value.clone())).await
            }
            Place::Remove { object } => self.remove_object(desk, name, object).await,
            Place::Aim { repository, file, kind, from, to } => {
                self.aim(desk, name, (repository, file), (kind, from, to)).await
            }
            Place::Detach { folder } => self.detach(desk, name, folder).await,
            Place::Make { object } => self.make_object(desk, name, object).await,
            Place::Add { beside, object } => self.add_object(desk, name, beside, object).await,
        }
    }

    /// Changes a field where it was written last.
    async fn change_field(
        &self,
        desk: &mut Desk,
        name: &AppName,
        key: &ObjectKey,
        path: &FieldPath,
        change: &Change,
    ) -> Result<(), MendError> {
        let mut bench = self.bench(name).await?;
        let original = self.rendered(&bench, key).await;
        // Later steps go by what the earlier ones leave.
        bench.files = self.on_desk(desk, &bench).await;
        let object = if bench.files.is_empty() {
            original?
        } else {
            let object = self.rendered(&bench, key).await?;
            // Those who share a file share its mending.
            if original.is_ok_and(|object_before| {
                Goal { key, path, change, object: &object_before }.is_reached(&object)
            }) {
                return Ok(());
            }
            object
        };
        // A field that is not there yet goes into what would hold it.
        let mut known = path.clone();
        while !known.is_root() && known.get(object.value()).is_none() {
            known.pop();
        }
        let goal = Goal { key, path, change, object: &object };
        if self.bring_back(desk, &bench, &goal, &known).await? {
            return Ok(());
        }
        let traced = self.nearest(&bench, key, &mut known).await?;
        let spot = self.spot(&bench, &traced, &object, key, (&known, path), change);
        if let Ok(spot) = &spot
            && Box::pin(self.patch_overlay(desk, &bench, &traced, spot, &goal)).await?
        {
            return Ok(());
        }
        let changed = match spot {
            Ok(spot) if spot.whose == Whose::Application => {
                self.change_declared(desk, &bench, &spot, change).await
            }
            other => other.and_then(|spot| self.change_spot(desk, &bench, &traced, key, &spot, change)),
        };
        match changed {
            Ok(()) => Ok(()),
            Err(unknown) => {
                let is_empty = path.get(object.value()).is_some_and(Value::is_empty);
                match Box::pin(self.try_files(desk, &bench, &traced, &goal)).await? {
                    true => Ok(()),
                    false if is_empty && *change == Change::Remove => {
                        Err(MendError::Empty { object: Box::new(key.clone()), path: path.clone() })
                    }
                    false => Err(unknown),
                }
            }
        }
    }

    /// Has a kustomization leave what it takes away, where that makes a field what it is to be. What is below it was there before.
    async fn bring_back(
        &self,
        desk: &mut Desk,
        bench: &Bench,
        goal: &Goal<'_>,
        known: &FieldPath,
    ) -> Result<bool, MendError> {
        let mut path = goal.path.clone();
        while path.segments().len() > known.segments().len() {
            if let Ok(traced) = self.traced(bench, goal.key, &path).await
                && matches!(&traced.reason, Reason::Kustomization(explanation) if explanation.is_removed)
                && Box::pin(self.try_files(desk, bench, &traced, goal)).await?
            {
                return Ok(true);
            }
            path.pop();
        }
        Ok(false)
    }

    /// Changes what an Application says of how its sources are rendered.
    async fn change_declared(
        &self,
        desk: &mut Desk,
        bench: &Bench,
        spot: &Spot,
        change: &Change,
    ) -> Result<(), MendError> {
        let text = read(&bench.manifest, &spot.file)?;
        for cut in spot.cuts(&text, change)? {
            Box::pin(self.change_application(desk, &bench.name, &cut.path, &cut.change)).await?;
        }
        Ok(())
    }

    fn change_spot(
        &self,
        desk: &mut Desk,
        bench: &Bench,
        traced: &Traced,
        key: &ObjectKey,
        spot: &Spot,
        change: &Change,
    ) -> Result<(), MendError> {
        let tree = match &spot.whose {
            Whose::Reference(reference) => traced.references.get(reference).cloned(),
            Whose::Source => Some(traced.tree.clone()),
            Whose::Application => None,
        };
        let source = match &spot.whose {
            Whose::Reference(reference) => bench.sources.iter().find(|source| source.ref_ == *reference),
            _ => bench.sources.get(traced.number),
        };
        let (Some(tree), Some(source)) = (tree, source) else {
            return Err(MendError::NoObject { application: bench.name.clone(), object: key.clone() });
        };
        desk.change(&source.repo_url, &*tree, &spot.file, |text| Ok(spot.operate(text, change)?))
    }

    /// Where a field has to be changed, given what is known of it or of what would hold it.
    fn spot(
        &self,
        bench: &Bench,
        traced: &Traced,
        object: &Object,
        key: &ObjectKey,
        (known, path): (&FieldPath, &FieldPath),
        change: &Change,
    ) -> Result<Spot, MendError> {
        let source = bench.sources.get(traced.number);
        let root = FilePath::root();
        let at = source.and_then(|source| FilePath::new(&source.path).ok()).unwrap_or(root);
        let declared = Declared {
            tree: &bench.manifest,
            file: document::application(),
            document: 0,
            source: bench.source_path(traced.number),
            known: bench.known.clone(),
        };
        let ground = Ground {
            tree: &*traced.tree,
            path: &at,
            application: &bench.name.name,
            references: &traced.references,
            declared: Some(&declared),
        };
        let failed = |source| MendError::Place {
            object: Box::new(key.clone()),
            path: path.clone(),
            source: Box::new(source),
        };
        let wanted = match change {
            Change::Set(value) if known == path => Some(value),
            _ => None,
        };
        let spot = place(&ground, &traced.reason, object, known, wanted).map_err(failed)?;
        let rest: FieldPath = path.segments().iter().skip(known.segments().len()).cloned().collect();
        if rest.is_root() {
            return Ok(spot);
        }
        spot.below(&rest).ok_or_else(|| failed(PlaceError::Absent))
    }

    /// Takes an object out: its document, or its file if there is nothing else in it.
    async fn remove_object(&self, desk: &mut Desk, name: &AppName, key: &ObjectKey) -> Result<(), MendError> {
        let mut bench = self.bench(name).await?;
        bench.files = self.on_desk(desk, &bench).await;
        if !bench.files.is_empty() && bench.find(&self.manifests(&bench, &[]).await?, key).is_none() {
            // What another one was made by made this one too.
            return Ok(());
        }
        let traced = self.traced(&bench, key, &FieldPath::fields(["metadata", "name"])).await?;
        let missing = || MendError::NoObject { application: name.clone(), object: key.clone() };
        let source = bench.sources.get(traced.number).ok_or_else(missing)?;
        let file = document::file_of(&traced.reason, &source.path).ok_or_else(missing)?;
        if document::is_template(&*traced.tree, &file) {
            return match self.switch(desk, &bench, key, false).await? {
                true => Ok(()),
                false => Err(MendError::Template { object: key.clone(), file }),
            };
        }
        let name = key.clone();
        desk.rewrite(&source.repo_url, &*traced.tree, &file, |text| document::without(&file, text, &name))?;
        if desk.is_gone(&source.repo_url, &file) {
            document::unlist(desk, &source.repo_url, &*traced.tree, &file)?;
        }
        Ok(())
    }

    /// Has a chart make an object, by the value that keeps it from that.
    async fn make_object(&self, desk: &mut Desk, name: &AppName, key: &ObjectKey) -> Result<(), MendError> {
        let mut bench = self.bench(name).await?;
        bench.files = self.on_desk(desk, &bench).await;
        if bench.find(&self.manifests(&bench, &[]).await?, key).is_some()
            || self.switch(desk, &bench, key, true).await?
        {
            return Ok(());
        }
        Err(MendError::NoSwitch { application: name.clone(), object: key.clone() })
    }

    /// Takes a folder out of the kustomizations that take it in.
    async fn detach(&self, desk: &mut Desk, name: &AppName, folder: &Str) -> Result<(), MendError> {
        let bench = self.bench(name).await?;
        let missing = || MendError::NoFolder { application: name.clone(), folder: folder.clone() };
        let wanted = FilePath::new(folder).map_err(|_| missing())?;
        for source in bench.sources.iter().filter(|source| source.chart.is_empty()) {
            let Ok(tree) = self.renderer().tree_of(&bench.request(self), source).await else { continue };
            let Ok(own) = FilePath::new(&source.path) else { continue };
            let files = bases::taking_in(&*tree, &own, &wanted);
            for file in &files {
                desk.change(&source.repo_url, &*tree, file, |text| bases::without(file, text, &wanted))?;
            }
            if !files.is_empty() {
                return Ok(());
            }
        }
        Err(missing())
    }

    async fn bench(&self, name: &AppName) -> Result<Bench, MendError> {
        let missing = || MendError::NoApplication(name.clone());
        let key = AppKey::new(name.namespace.clone(), name.name.clone());
        let object = self.home().cache().get(&key.object_key()).ok_or_else(missing)?;
        self.bench_of(name, &object).await
    }

    async fn bench_of(&self, name: &AppName, object: &Object) -> Result<Bench, MendError> {
        let missing = || MendError::NoApplication(name.clone());
        let application = Application::from_object(object).map_err(|_| missing())?;
        let project = self.project(&application).map_err(|_| missing())?;
        let found = self.fleet().find_settled(&application.spec.destination).await.map_err(|_| missing())?;
        let lynceus_cluster::Link::Up(cluster) = &found.link else { return Err(missing()) };
        self.bench_at(name, object, project, cluster)
    }

    fn bench_at(
        &self,
        name: &AppName,
        object: &Object,
        project: Arc<AppProject>,
        cluster: &Arc<Cluster>,
    ) -> Result<Bench, MendError> {
        let application =
            Application::from_object(object).map_err(|_| MendError::NoApplication(name.clone()))?;
        let settings = self.settings();
        let destination = application.spec.destination.clone();
        let setting = self.looker(&settings).setting(&application, &destination, cluster);
        let sources = application.spec.all_sources();
        let mut manifest = MemoryTree::new();
        manifest.insert(document::application(), yaml::to_string(object.value()).into_bytes());
        let (name, files) = (name.clone(), Vec::new());
        Ok(Bench { name, application, project, setting, sources, settings, manifest, known: None, files })
    }

    /// What made a field, or else the nearest thing that holds it.
    async fn nearest(
        &self,
        bench: &Bench,
        key: &ObjectKey,
        path: &mut FieldPath,
    ) -> Result<Traced, MendError> {
        loop {
            match self.traced(bench, key, path).await {
                Err(MendError::NoObject { .. }) if !path.is_root() => drop(path.pop()),
                other => return other,
            }
        }
    }

    /// An object as the sources give it.
    async fn rendered(&self, bench: &Bench, key: &ObjectKey) -> Result<Object, MendError> {
        let all = self.manifests(bench, &[]).await?;
        let missing = || MendError::NoObject { application: bench.name.clone(), object: key.clone() };
        bench.find(&all, key).cloned().ok_or_else(missing)
    }

    /// All objects as the sources give them, or as they would with other files.
    async fn manifests(
        &self,
        bench: &Bench,
        files: &[Option<Arc<dyn Tree>>],
    ) -> Result<Vec<Object>, MendError> {
        self.manifests_of(bench, files, &bench.sources).await
    }

    /// All objects as other sources would give them.
    async fn manifests_of(
        &self,
        bench: &Bench,
        files: &[Option<Arc<dyn Tree>>],
        sources: &[ApplicationSource],
    ) -> Result<Vec<Object>, MendError> {
        let mut request = bench.request(self);
        request.sources = sources;
        if !files.is_empty() {
            (request.files, request.freshness) = (files, Freshness::Anew);
        }
        let mut objects = Vec::new();
        for sourced in self.renderer().render(&request).await {
            let sourced = sourced.map_err(|error| MendError::Rendering {
                application: bench.name.clone(),
                source: Box::new(error),
            })?;
            objects.extend(sourced.rendered.manifests.iter().map(|one| one.object.clone()));
        }
        Ok(objects)
    }

    async fn traced(&self, bench: &Bench, key: &ObjectKey, path: &FieldPath) -> Result<Traced, MendError> {
        let field = Field { kind: key.kind.to_string(), name: key.name.to_string(), path: path.clone() };
        let traced = self.renderer().trace(&bench.request(self), &field).await;
        let traced = traced.map_err(|error| MendError::Rendering {
            application: bench.name.clone(),
            source: Box::new(error),
        })?;
        traced.ok_or_else(|| MendError::NoObject { application: bench.name.clone(), object: key.clone() })
    }
}
