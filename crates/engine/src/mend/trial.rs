//! Values of a chart that make a field what it is to be, found by trying.
//!
//! A template may look at a value, merge it from several files or leave a field out because of it, so that no place in a file is what
//! was printed. Then the value files are searched for what could be meant, and a change counts if rendering with it gives what is wanted.

use std::collections::BTreeMap;
use std::sync::Arc;

use lynceus_api::ApplicationSource;
use lynceus_doctor::surgery::{Change, Cut, operate};
use lynceus_files::{Entry, FilePath, Tree, TreeError};
use lynceus_object::{FieldPath, Object, ObjectKey, Segment, Value, yaml};
use lynceus_render::Reason;

use super::desk::{Desk, read};
use super::{Bench, MendError};
use crate::engine::Engine;
use crate::limits;
use crate::rendering::Traced;

/// A change that might do.
struct Candidate {
    file: FilePath,
    text: String,
}

/// What a field is to become.
struct Goal<'a> {
    key: &'a ObjectKey,
    path: &'a FieldPath,
    change: &'a Change,
    before: Option<Value>,
}

impl Goal<'_> {
    /// Whether an object is as it is wanted. What is to be taken out may leave what is inherited behind, but not what was there.
    fn is_reached(&self, object: &Object) -> bool {
        let now = self.path.get(object.value());
        match self.change {
            Change::Set(wanted) => now == Some(wanted),
            Change::Remove => now != self.before.as_ref() && now.is_none_or(|value| !value.is_empty()),
            Change::Append(item) => now.and_then(Value::as_seq).is_some_and(|all| all.contains(item)),
            Change::Merge(_) => false,
        }
    }
}

impl Engine {
    /// Changes a value file such that a field becomes what is wanted. Says whether one was found.
    pub(super) async fn try_values(
        &self,
        desk: &mut Desk,
        bench: &Bench,
        traced: &Traced,
        object: &Object,
        (key, path, change): (&ObjectKey, &FieldPath, &Change),
    ) -> Result<bool, MendError> {
        let Some(source) = bench.sources.get(traced.number) else { return Ok(false) };
        let goal = Goal { key, path, change, before: path.get(object.value()).cloned() };
        let changed = Overlaid { tree: traced.tree.clone(), files: desk.written(&source.repo_url) };
        for candidate in candidates(&changed, source, &traced.reason, &goal) {
            let tree = changed.with(&candidate);
            if self.reaches(bench, traced.number, tree, &goal).await {
                let after = candidate.text.clone();
                desk.change(&source.repo_url, &*traced.tree, &candidate.file, |_| Ok(after))?;
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Whether a field is what is wanted already with the files as they are on the desk: those who share a file share its mending.
    pub(super) async fn is_mended(
        &self,
        desk: &Desk,
        bench: &Bench,
        traced: &Traced,
        object: &Object,
        (key, path, change): (&ObjectKey, &FieldPath, &Change),
    ) -> bool {
        let Some(source) = bench.sources.get(traced.number) else { return false };
        let files = desk.written(&source.repo_url);
        if files.is_empty() {
            return false;
        }
        let goal = Goal { key, path, change, before: path.get(object.value()).cloned() };
        self.reaches(bench, traced.number, Overlaid { tree: traced.tree.clone(), files }, &goal).await
    }

    async fn reaches(&self, bench: &Bench, number: usize, tree: Overlaid, goal: &Goal<'_>) -> bool {
        let mut files: Vec<Option<Arc<dyn Tree>>> = vec![None; bench.sources.len()];
        files[number] = Some(Arc::new(tree));
        let reached = self.rendered_with(bench, goal.key, &files).await;
        reached.is_ok_and(|object| goal.is_reached(&object))
    }
}

/// The changes that might do, those in files that have the last word first.
fn candidates(
    tree: &dyn Tree,
    source: &ApplicationSource,
    reason: &Reason,
    goal: &Goal<'_>,
) -> Vec<Candidate> {
    let mut candidates = Vec::new();
    for file in value_files(tree, source) {
        let Ok(text) = read(tree, &file) else { continue };
        let Ok(values) = yaml::parse(text.as_bytes()) else { continue };
        for path in places(&values, reason, goal) {
            let is_empty = path.get(&values).is_some_and(Value::is_empty);
            let changes = match goal.change {
                // What somebody has emptied hides what would be inherited.
                Change::Set(_) | Change::Append(_) if is_empty => vec![Change::Remove, goal.change.clone()],
                change => vec![change.clone()],
            };
            for change in changes {
                let cut = Cut { document: 0, path: path.clone(), change };
                if let Ok(text) = operate(&file, &text, &[cut]) {
                    candidates.push(Candidate { file: file.clone(), text });
                }
            }
        }
    }
    candidates.truncate(limits::MEND_TRIALS);
    candidates
}

/// The value files of a chart in the repository, the one that has the last word first.
pub(super) fn value_files(tree: &dyn Tree, source: &ApplicationSource) -> Vec<FilePath> {
    let Ok(chart) = FilePath::new(&source.path) else { return Vec::new() };
    let named = source.helm.iter().flat_map(|helm| helm.value_files.iter().rev());
    let named = named.filter(|name| !name.contains("://") && !name.starts_with('$'));
    let resolve = |name: &str| match name.strip_prefix('/') {
        Some(inside) => FilePath::new(inside).ok(),
        None => chart.join(name).ok(),
    };
    let own = chart.join("values.yaml").ok();
    let files = named.filter_map(|name| resolve(name)).chain(own);
    files.filter(|file| tree.entry(file).is_ok()).collect()
}

/// Where in the values the field may come from: what is called as it is, and what fed the template, if that is known.
fn places(values: &Value, reason: &Reason, goal: &Goal<'_>) -> Vec<FieldPath> {
    let mut places = Vec::new();
    if let Some(Segment::Field(name)) = goal.path.segments().last() {
        called(values, name, &FieldPath::root(), &mut places);
    }
    if let Reason::Template(explanation) = reason {
        let fed = explanation.values.iter().chain(&explanation.conditions);
        for path in fed.filter_map(|fed| in_values(&fed.path)) {
            // The last parts of the field below what was fed: `podSecurityContext` and `seccompProfile`.
            for depth in 0..=2.min(goal.path.segments().len()) {
                let skip = goal.path.segments().len() - depth;
                let rest = goal.path.segments().iter().skip(skip);
                places.push(path.segments().iter().chain(rest).cloned().collect());
            }
        }
    }
    let mut seen: Vec<FieldPath> = Vec::new();
    for place in places {
        if !seen.contains(&place) {
            seen.push(place);
        }
    }
    seen
}

/// Where in the values something stands that a template calls `.Values.image.tag`.
pub(super) fn in_values(path: &str) -> Option<FieldPath> {
    FieldPath::parse(path.strip_prefix(".Values.")?).ok()
}

/// All fields of this name, wherever they are.
fn called(value: &Value, name: &str, at: &FieldPath, found: &mut Vec<FieldPath>) {
    if at.segments().len() > limits::MEND_DEPTH {
        return;
    }
    for (key, part) in value.as_map().into_iter().flat_map(|map| map.iter()) {
        let here = at.field(key.clone());
        if key == name {
            found.push(here.clone());
        }
        called(part, name, &here, found);
    }
}

/// A tree with some files that say something else.
#[derive(Clone)]
pub(super) struct Overlaid {
    tree: Arc<dyn Tree>,
    files: BTreeMap<FilePath, Arc<[u8]>>,
}

impl Overlaid {
    pub(super) fn of(tree: Arc<dyn Tree>, file: &FilePath, text: &str) -> Self {
        Overlaid { tree, files: BTreeMap::from([(file.clone(), text.as_bytes().into())]) }
    }

    fn with(&self, candidate: &Candidate) -> Self {
        let mut tree = self.clone();
        tree.files.insert(candidate.file.clone(), candidate.text.as_bytes().into());
        tree
    }
}

impl Tree for Overlaid {
    fn entry(&self, path: &FilePath) -> Result<Entry, TreeError> {
        self.tree.entry(path)
    }

    fn read(&self, path: &FilePath, limit: u64) -> Result<Arc<[u8]>, TreeError> {
        match self.files.get(path) {
            Some(content) => Ok(content.clone()),
            None => self.tree.read(path, limit),
        }
    }

    fn list(&self, path: &FilePath) -> Result<Vec<(String, Entry)>, TreeError> {
        self.tree.list(path)
    }
}
