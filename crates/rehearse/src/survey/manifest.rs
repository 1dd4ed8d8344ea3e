//! Manifests of Argo CD's own kinds, and definitions, in the files of a repository.

use std::collections::{BTreeMap, BTreeSet};

use lynceus_files::{Entry, FilePath, Severity, Tree};
use lynceus_object::{GroupKind, Object, Str, manifest, yaml};

use crate::error::RehearseError;
use crate::limits;
use crate::report::{Note, Place};

/// A manifest and where it stands.
#[derive(Clone)]
pub(crate) struct Found {
    pub(crate) object: Object,
    pub(crate) place: Place,
}

/// What files hold.
#[derive(Default)]
pub(crate) struct Files {
    pub(crate) manifests: Vec<Found>,
    pub(crate) defined: BTreeSet<GroupKind>,
    /// The clusters that Secrets register: the address of each name, empty where the Secret has none that can be read.
    pub(crate) registered: BTreeMap<Str, Str>,
    pub(crate) notes: Vec<Note>,
    /// The folders with a kustomization, and its file.
    pub(crate) kustomizations: Vec<FilePath>,
}

/// Looks through the files: definitions are looked for everywhere, Applications in one folder.
pub(crate) fn find(tree: &dyn Tree, scope: &FilePath) -> Result<Files, RehearseError> {
    let mut search = Search { tree, scope, files: Files::default(), count: 0 };
    search.folder(&FilePath::root(), false)?;
    Ok(search.files)
}

/// The kind that an object defines.
pub(crate) fn definition(object: &Object) -> Option<GroupKind> {
    if object.kind() != "CustomResourceDefinition" {
        return None;
    }
    let text = |path: &[&str]| object.value().str_at(path).unwrap_or_default();
    Some(GroupKind::new(text(&["spec", "group"]), text(&["spec", "names", "kind"])))
}

/// The name and the address of the cluster that a Secret registers.
fn registered(object: &Object) -> Option<(Str, Str)> {
    let is_cluster = object.kind() == "Secret"
        && object.label(lynceus_api::labels::SECRET_TYPE) == Some(lynceus_api::labels::SECRET_TYPE_CLUSTER);
    if !is_cluster {
        return None;
    }
    // What is encoded is read as in a cluster, and what is not is what a person writes.
    let encoded = lynceus_engine::registered_cluster(object).ok();
    let text = |field: &str| object.value().str_at(&["stringData", field]).map(Str::from);
    let name = text("name").or_else(|| encoded.as_ref().map(|one| one.name.clone()));
    let server = text("server").or_else(|| encoded.map(|one| one.server)).unwrap_or_default();
    Some((name.unwrap_or_else(|| object.name().into()), server.trim_end_matches('/').into()))
}

struct Search<'a> {
    tree: &'a dyn Tree,
    scope: &'a FilePath,
    files: Files,
    count: usize,
}

impl Search<'_> {
    fn folder(&mut self, folder: &FilePath, in_chart: bool) -> Result<(), RehearseError> {
        let names = self.tree.list(folder).map_err(RehearseError::Files)?;
        let is_chart = names.iter().any(|(name, _)| name == "Chart.yaml");
        for (name, entry) in names {
            let Ok(path) = folder.join(&name) else { continue };
            self.count += 1;
            if self.count > limits::FILES {
                return Err(RehearseError::TooManyFiles { limit: limits::FILES });
            }
            match entry {
                // What is in there are templates, and parts of other charts.
                Entry::Directory if is_chart && matches!(name.as_str(), "templates" | "charts") => {}
                Entry::Directory if name.starts_with('.') => {}
                Entry::Directory => self.folder(&path, in_chart || is_chart)?,
                Entry::File => self.file(&path, in_chart || is_chart),
                Entry::Link(_) | Entry::Submodule(_) => {}
            }
        }
        Ok(())
    }

    fn file(&mut self, path: &FilePath, in_chart: bool) {
        if matches!(path.name(), "kustomization.yaml" | "kustomization.yml" | "Kustomization") {
            self.files.kustomizations.push(path.clone());
            return;
        }
        if ![".yaml", ".yml", ".json"].iter().any(|end| path.name().ends_with(end)) {
            return;
        }
        let Ok(text) = self.tree.read(path, limits::MANIFEST_BYTES) else { return };
        let has = |word: &str| contains(&text, word.as_bytes());
        let is_ours = path.is_within(self.scope) && !in_chart && has("argoproj.io/");
        if is_ours || has("CustomResourceDefinition") {
            self.read(path, &text, is_ours);
        }
    }

    fn read(&mut self, path: &FilePath, text: &[u8], is_ours: bool) {
        let read = manifest::read(path, text, &yaml::Options::default());
        for one in read.objects {
            self.files.defined.extend(definition(&one.object));
            self.files.registered.extend(registered(&one.object));
            if is_ours && one.object.group() == lynceus_api::GROUP && is_argo(one.object.kind()) {
                let place = Place { file: path.to_string(), line: one.line };
                self.files.manifests.push(Found { object: one.object, place });
            }
        }
        // A template that is none of a chart's is somebody else's, and no manifest.
        if is_ours && !contains(text, b"{{") {
            let errors = read.diagnostics.iter().filter(|found| found.severity == Severity::Error);
            self.files.notes.extend(errors.map(|found| Note::of(found, path)));
        }
    }
}

fn is_argo(kind: &str) -> bool {
    matches!(kind, "Application" | "ApplicationSet" | "AppProject")
}

fn contains(text: &[u8], word: &[u8]) -> bool {
    text.windows(word.len()).any(|window| window == word)
}
