//! Changes of files that make a field what it is to be, found by trying.
//!
//! A template may look at a value, merge it from several files or leave a field out because of it, and a field that is missing has no
//! place at all. Then the files are searched for what could be meant: the values first, then what the template itself says, or the
//! patches and resources of a kustomization. A change counts if rendering with it gives what is wanted.

use std::collections::BTreeMap;
use std::sync::Arc;

use lynceus_api::{Application, ApplicationSource, HealthStatusCode, Kind as _, SyncStatusCode};
use lynceus_doctor::AppName;
use lynceus_doctor::surgery::{Change, Cut, apply, operate};
use lynceus_files::{Entry, FilePath, Tree, TreeError};
use lynceus_helm::{Fed, Origin};
use lynceus_object::{FieldPath, Object, ObjectKey, Segment, Value, yaml};
use lynceus_render::{Reason, References};

use super::desk::{Desk, read};
use super::{Bench, MendError, given, literal, mentioned, patches};
use crate::engine::Engine;
use crate::key::application_kind;
use crate::limits;
use crate::rendering::Traced;

/// A change that might do.
pub(super) struct Candidate {
    /// The source that the file is of.
    pub(super) number: usize,
    pub(super) file: FilePath,
    pub(super) text: String,
    /// Whether nothing else of the object may change with it.
    pub(super) is_exact: bool,
}

/// What a field is to become.
pub(super) struct Goal<'a> {
    pub(super) key: &'a ObjectKey,
    pub(super) path: &'a FieldPath,
    pub(super) change: &'a Change,
    /// The object as it is.
    pub(super) object: &'a Object,
}

impl Goal<'_> {
    /// Whether an object is as it is wanted. What is to be taken out may leave what is inherited behind, but not what was there.
    pub(super) fn is_reached(&self, object: &Object) -> bool {
        let now = self.path.get(object.value());
        let before = self.path.get(self.object.value());
        match self.change {
            Change::Set(wanted) => now == Some(wanted),
            Change::Remove => now != before && now.is_none_or(|value| !value.is_empty()),
            Change::Append(item) => now.and_then(Value::as_seq).is_some_and(|all| all.contains(item)),
            Change::Merge(_) => false,
        }
    }

    /// Whether all objects are as they were but for the field. Others of the same kind may have been changed in the same way: what is
    /// written once for several is changed once for several.
    fn is_all(&self, before: &[Object], after: &[Object]) -> bool {
        before.len() == after.len()
            && before.iter().zip(after).all(|(before, after)| {
                before.key() == after.key()
                    && (before.group_kind() != self.key.group_kind()
                        || self.is_same(before.value(), after.value()))
            })
    }

    fn is_same(&self, before: &Value, after: &Value) -> bool {
        let mut changed = before.clone();
        let is_changed = apply(&mut changed, self.path, self.change).is_ok();
        before == after || is_changed && changed == *after
    }
}

impl Engine {
    /// Changes a file such that a field becomes what is wanted. Says whether one was found.
    pub(super) async fn try_files(
        &self,
        desk: &mut Desk,
        bench: &Bench,
        traced: &Traced,
        goal: &Goal<'_>,
    ) -> Result<bool, MendError> {
        let Some(source) = bench.sources.get(traced.number) else { return Ok(false) };
        let before = self.manifests(bench, &[]).await?;
        let all = match &traced.reason {
            Reason::Template(explanation) => {
                let mut all = candidates(bench, traced, goal);
                all.extend(literal::candidates(traced, source, explanation, goal));
                all
            }
            Reason::Kustomization(explanation) => patches::candidates(traced, explanation, goal),
            Reason::File(_) => Vec::new(),
        };
        // What the Application says itself has the last word, so that no file can say otherwise.
        let (number, aim) = (traced.number, (goal, before.as_slice()));
        if Box::pin(self.give(desk, bench, number, aim, (&declared(&traced.reason), false))).await {
            return Ok(true);
        }
        let mut shared = None;
        for candidate in all {
            let Some(tree) = tree_of(bench, traced, candidate.number) else { continue };
            let after = match self.tried(bench, tree.clone(), &candidate).await {
                Ok(after) => after,
                // What cannot be rendered is no way.
                Err(_) => continue,
            };
            let reached = bench.find(&after, goal.key).is_some_and(|object| goal.is_reached(object));
            if !reached || candidate.is_exact && !goal.is_all(&before, &after) {
                continue;
            }
            let is_elsewhere = candidate.number != traced.number;
            if is_elsewhere || self.spares_others(bench, source, &candidate).await {
                take(desk, bench, &*tree, candidate)?;
                return Ok(true);
            }
            if !candidate.is_exact && shared.is_none() {
                shared = Some((tree, candidate));
            }
        }
        // What others have in common with it is left to them where the Application can say it for itself.
        let known = match &traced.reason {
            Reason::Template(_) => places(&Value::Null, &traced.reason, goal),
            _ => Vec::new(),
        };
        let mentioned = mentioned::values(bench, traced);
        if Box::pin(self.give(desk, bench, number, aim, (&known, false))).await
            || Box::pin(self.give(desk, bench, number, aim, (&mentioned, true))).await
        {
            return Ok(true);
        }
        let Some((tree, candidate)) = shared else { return Ok(false) };
        take(desk, bench, &*tree, candidate)?;
        Ok(true)
    }

    /// Has the Application itself give its chart one of some values such that a field becomes what is wanted. With a value that is only
    /// guessed nothing else may change. Says whether one was found.
    async fn give(
        &self,
        desk: &mut Desk,
        bench: &Bench,
        number: usize,
        (goal, before): (&Goal<'_>, &[Object]),
        (values, are_guessed): (&[FieldPath], bool),
    ) -> bool {
        let all = given::candidates(bench, number, values, goal).into_iter();
        for (path, change) in all.take(limits::MEND_TRIALS) {
            let Ok(after) = self.with_application(bench, &path, &change).await else { continue };
            let reached = bench.find(&after, goal.key).is_some_and(|object| goal.is_reached(object));
            if reached && (!are_guessed || goal.is_all(before, &after)) {
                let changed = self.change_application(desk, &bench.name, &path, &change);
                return Box::pin(changed).await.is_ok();
            }
        }
        false
    }

    /// What the sources give with a change of the Application itself.
    pub(super) async fn with_application(
        &self,
        bench: &Bench,
        path: &FieldPath,
        change: &Change,
    ) -> Result<Vec<Object>, MendError> {
        let missing = || MendError::NoApplication(bench.name.clone());
        let mut value = bench.application.to_object().into_value();
        apply(&mut value, path, change).map_err(|_| missing())?;
        let object = Object::new(value).map_err(|_| missing())?;
        let application = Application::from_object(&object).map_err(|_| missing())?;
        self.manifests_of(bench, &bench.files, &application.spec.all_sources()).await
    }

    /// Whether a change of a file leaves all other applications as they are that are made of the same folder and are well. Those that
    /// are not may have been missing the same.
    async fn spares_others(&self, bench: &Bench, source: &ApplicationSource, candidate: &Candidate) -> bool {
        let is_same =
            |other: &ApplicationSource| other.repo_url == source.repo_url && other.path == source.path;
        let all = self.home().cache().of_kind(&application_kind());
        let others = all.iter().filter_map(|object| Application::from_object(object).ok()).filter(|other| {
            let status = &other.status;
            AppName::of(other) != bench.name
                && status.sync.status == SyncStatusCode::Synced
                && status.health.status == HealthStatusCode::Healthy
                && other.spec.all_sources().iter().any(is_same)
        });
        for other in others.take(limits::MEND_TRIALS) {
            // What cannot be rendered now cannot be harmed.
            let Ok(other) = self.bench(&AppName::of(&other)).await else { continue };
            let Ok(before) = self.manifests(&other, &[]).await else { continue };
            let Some(number) = other.sources.iter().position(is_same) else { continue };
            let request = other.request(self);
            let Ok(tree) = self.renderer().tree_of(&request, &other.sources[number]).await else { continue };
            let same = Candidate {
                number,
                file: candidate.file.clone(),
                text: candidate.text.clone(),
                is_exact: true,
            };
            if !self.tried(&other, tree, &same).await.is_ok_and(|after| after == before) {
                return false;
            }
        }
        true
    }

    /// What the sources give with a change.
    pub(super) async fn tried(
        &self,
        bench: &Bench,
        tree: Arc<dyn Tree>,
        candidate: &Candidate,
    ) -> Result<Vec<Object>, MendError> {
        let content = candidate.text.as_bytes().into();
        let tree = Overlaid { tree, files: BTreeMap::from([(candidate.file.clone(), content)]) };
        let mut files = bench.files.clone();
        files.resize(bench.sources.len(), None);
        files[candidate.number] = Some(Arc::new(tree));
        self.manifests(bench, &files).await
    }

    /// The files of the sources as they are on the desk, for those that something of is there.
    pub(super) async fn on_desk(&self, desk: &Desk, bench: &Bench) -> Vec<Option<Arc<dyn Tree>>> {
        let mut trees: Vec<Option<Arc<dyn Tree>>> = Vec::new();
        for source in &bench.sources {
            let files = desk.written(&source.repo_url);
            let tree = match files.is_empty() || !source.chart.is_empty() {
                true => None,
                false => self.renderer().tree_of(&bench.request(self), source).await.ok(),
            };
            trees.push(tree.map(|tree| Arc::new(Overlaid { tree, files }) as Arc<dyn Tree>));
        }
        if trees.iter().all(Option::is_none) { Vec::new() } else { trees }
    }
}

/// Puts a change on the desk.
pub(super) fn take(
    desk: &mut Desk,
    bench: &Bench,
    tree: &dyn Tree,
    candidate: Candidate,
) -> Result<(), MendError> {
    let Some(source) = bench.sources.get(candidate.number) else { return Ok(()) };
    desk.change(&source.repo_url, tree, &candidate.file, |_| Ok(candidate.text))
}

/// The files of a source that what was traced was made of.
fn tree_of(bench: &Bench, traced: &Traced, number: usize) -> Option<Arc<dyn Tree>> {
    if number == traced.number {
        return Some(traced.tree.clone());
    }
    traced.references.get(bench.sources.get(number)?.ref_.as_str()).cloned()
}

/// The changes that might do, those in files that have the last word first.
fn candidates(bench: &Bench, traced: &Traced, goal: &Goal<'_>) -> Vec<Candidate> {
    let mut candidates = Vec::new();
    let mut guesses = Vec::new();
    let mentioned = mentioned::values(bench, traced);
    for ValueFile { number, tree, file } in
        value_files(bench, traced.number, (&traced.tree, &traced.references))
    {
        let Ok(text) = read(&*tree, &file) else { continue };
        let Ok(values) = yaml::parse(text.as_bytes()) else { continue };
        let with = |cuts: &[Cut], is_exact: bool| {
            let text = operate(&file, &text, cuts).ok()?;
            Some(Candidate { number, file: file.clone(), text, is_exact })
        };
        let cut = |path: &FieldPath, change: Change| Cut { document: 0, path: path.clone(), change };
        let places = places(&values, &traced.reason, goal);
        for path in &places {
            let is_empty = path.get(&values).is_some_and(Value::is_empty);
            let changes = match goal.change {
                // What somebody has emptied hides what would be inherited.
                Change::Set(_) | Change::Append(_) if is_empty => vec![Change::Remove, goal.change.clone()],
                change => vec![change.clone()],
            };
            candidates.extend(changes.into_iter().filter_map(|change| with(&[cut(path, change)], false)));
        }
        if !matches!(goal.change, Change::Set(_)) {
            continue;
        }
        let is_empty = |path: &&FieldPath| path.get(&values).is_none_or(Value::is_empty);
        let empty: Vec<&FieldPath> = mentioned.iter().filter(is_empty).collect();
        guesses.extend(empty.iter().filter_map(|path| with(&[cut(path, goal.change.clone())], true)));
        // An option may say that the value which is given does not count.
        let options = mentioned.iter().filter_map(|path| Some((path, path.get(&values)?.as_bool()?)));
        for (option, stands) in options.take(limits::MEND_OPTIONS) {
            let other = cut(option, Change::Set(Value::Bool(!stands)));
            let both = |path: &&FieldPath| with(&[cut(path, goal.change.clone()), other.clone()], true);
            guesses.extend(empty.iter().filter_map(both));
        }
    }
    candidates.extend(guesses);
    candidates.truncate(limits::MEND_TRIALS);
    candidates
}

/// A file of values, and the source that it is a file of.
pub(super) struct ValueFile {
    pub(super) number: usize,
    pub(super) tree: Arc<dyn Tree>,
    pub(super) file: FilePath,
}

/// The value files of a chart in the repository, the one that has the last word first.
pub(super) fn value_files(
    bench: &Bench,
    number: usize,
    (tree, references): (&Arc<dyn Tree>, &References),
) -> Vec<ValueFile> {
    let own = |file: FilePath| ValueFile { number, tree: tree.clone(), file };
    let Some(source) = bench.sources.get(number) else { return Vec::new() };
    let Ok(chart) = FilePath::new(&source.path) else { return Vec::new() };
    let named = source.helm.iter().flat_map(|helm| helm.value_files.iter().rev());
    let named = named.filter(|name| !name.contains("://"));
    let resolve = |name: &str| {
        if let Some((reference, inside)) = name.strip_prefix('$').and_then(|name| name.split_once('/')) {
            let number = bench.sources.iter().position(|source| source.ref_ == reference)?;
            let tree = references.get(reference)?.clone();
            return Some(ValueFile { number, tree, file: FilePath::new(inside).ok()? });
        }
        match name.strip_prefix('/') {
            Some(inside) => FilePath::new(inside).ok().map(own),
            None => chart.join(name).ok().map(own),
        }
    };
    let last = chart.join("values.yaml").ok().map(own);
    let files = named.filter_map(|name| resolve(name)).chain(last);
    // What is in the archive of a chart is not in Git.
    let is_in_git = |one: &ValueFile| one.number != number || source.chart.is_empty();
    files.filter(|one| is_in_git(one) && one.tree.entry(&one.file).is_ok()).collect()
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

/// The values that fed a field and that the Application itself gives.
fn declared(reason: &Reason) -> Vec<FieldPath> {
    let Reason::Template(explanation) = reason else { return Vec::new() };
    let is_own = |fed: &&Fed| match &fed.origin {
        Some(Origin::Flag(..)) => true,
        Some(Origin::File(name)) => name.starts_with("spec.source.helm."),
        _ => false,
    };
    let fed = explanation.values.iter().chain(&explanation.conditions);
    fed.filter(is_own).filter_map(|fed| in_values(&fed.path)).collect()
}

/// Where in the values something stands that a template calls `.Values.image.tag`.
fn in_values(path: &str) -> Option<FieldPath> {
    FieldPath::parse(path.strip_prefix(".Values.").unwrap_or(path)).ok()
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
pub(super) struct Overlaid {
    pub(super) tree: Arc<dyn Tree>,
    pub(super) files: BTreeMap<FilePath, Arc<[u8]>>,
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
