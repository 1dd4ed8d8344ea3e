//! Files that two applications read, and what keeps one of them from reading them.
//!
//! What stands in such a file cannot be taken away from one of the two alone: whoever deletes it deletes it for both. One of them has to
//! leave the file to the other, which only the one can do that takes in more than a folder of its own.

use std::collections::BTreeSet;

use lynceus_api::ApplicationSource;
use lynceus_files::FilePath;
use lynceus_object::{FieldPath, ObjectKey, Str, Value};

use crate::case::App;
use crate::fix::Place;
use crate::snapshot::Wanted;

/// Objects that one application takes in beside another.
pub(super) struct Taking<'t, 'a> {
    /// The one that takes them in.
    pub(super) wide: &'t App<'a>,
    /// The one whose they are.
    pub(super) other: &'t App<'a>,
    pub(super) objects: &'t [ObjectKey],
}

/// What has an application leave out all that it takes in of others; nothing if it does not read their files, or not in a way in which it
/// can leave them out. It is the same application in all of them.
pub(super) fn left_out(takings: &[Taking<'_, '_>]) -> Option<Vec<Place>> {
    let folders: Option<BTreeSet<Str>> = takings.iter().map(taken_in).collect();
    match folders.filter(|folders| !folders.is_empty()) {
        Some(folders) => Some(folders.into_iter().map(|folder| Place::Detach { folder }).collect()),
        None => excluded(takings).map(|place| vec![place]),
    }
}

/// The file that two applications both have an object from.
pub(super) fn common_file(one: &App<'_>, other: &App<'_>, key: &ObjectKey) -> Option<FilePath> {
    let file = file_of(one, key).filter(|file| file_of(other, key).as_ref() == Some(file))?;
    let theirs = other.application().spec.all_sources();
    let is_read = |own: &ApplicationSource| theirs.iter().any(|source| is_same_tree(own, source));
    one.application().spec.all_sources().iter().any(is_read).then_some(file)
}

/// Whether two sources read the same files. A revision that is not named is the one that HEAD is.
fn is_same_tree(one: &ApplicationSource, other: &ApplicationSource) -> bool {
    let revision = |source: &ApplicationSource| match source.target_revision.as_str() {
        "" => Str::from("HEAD"),
        _ => source.target_revision.clone(),
    };
    let address = |source: &ApplicationSource| {
        let url = source.repo_url.trim_end_matches('/');
        url.strip_suffix(".git").unwrap_or(url).to_owned()
    };
    address(one) == address(other) && revision(one) == revision(other)
}

/// The folder of the other application, if the wide one takes it in as a whole: what both have stands in it, and the wide one has that from
/// a line of a kustomization. What stands elsewhere, as in a base of both, comes by another line, and no line names the folder.
fn taken_in(Taking { wide, other, objects }: &Taking<'_, '_>) -> Option<Str> {
    let (own, theirs) = (source(wide)?, source(other)?);
    let folder = FilePath::new(&theirs.path).ok()?;
    let path = FilePath::new(&own.path).ok().filter(|path| *path != folder)?;
    // What is nested is read without any line where everything below is, and a chart has its own way to take it in.
    if folder.is_within(&path) && !may_be_kustomized(wide, &own) {
        return None;
    }
    let is_beside = |file: &FilePath| folder.is_within(&path) || !file.is_within(&path);
    let is_same =
        |key| common_file(wide, other, key).is_some_and(|file| file.is_within(&folder) && is_beside(&file));
    objects.iter().all(is_same).then(|| theirs.path.clone())
}

/// Whether a kustomization may be what an application is made of.
fn may_be_kustomized(app: &App<'_>, source: &ApplicationSource) -> bool {
    let sort = app.application().status.source_type.as_str();
    match sort {
        "" => source.directory.is_none() && source.helm.is_none() && source.chart.is_empty(),
        _ => sort == "Kustomize",
    }
}

/// What keeps an application that reads a folder, or everything below it, from the files and folders of others.
fn excluded(takings: &[Taking<'_, '_>]) -> Option<Place> {
    let wide = takings.first()?.wide;
    let source = source(wide)?;
    let own = FilePath::new(&source.path).ok()?;
    let directory = source.directory.unwrap_or_default();
    if !directory.recurse && wide.application().status.source_type.as_str() != "Directory" {
        return None;
    }
    let patterns: Vec<BTreeSet<String>> =
        takings.iter().map(|taking| pattern(&own, taking)).collect::<Option<_>>()?;
    let known = Some(directory.exclude.to_string()).filter(|pattern| !pattern.is_empty());
    let new: BTreeSet<String> = patterns.into_iter().flatten().collect();
    let patterns: Vec<String> = known.into_iter().chain(new).collect();
    let pattern = match patterns.as_slice() {
        [only] => only.clone(),
        several => format!("{{{}}}", several.join(",")),
    };
    let path = FieldPath::fields(["spec", "source", "directory", "exclude"]);
    Some(Place::Application { path, value: Some(Value::from(pattern)) })
}

/// What the wide application is not to read: the folder of the other one, if that has everything that is in it, or else the files of what
/// both have, as far as these have nothing else. Something has to be left.
fn pattern(own: &FilePath, Taking { wide, other, objects }: &Taking<'_, '_>) -> Option<BTreeSet<String>> {
    let folder = FilePath::new(&source(other)?.path).ok()?;
    let files: Option<BTreeSet<FilePath>> = objects.iter().map(|key| common_file(wide, other, key)).collect();
    let files = files?;
    let below = |path: &FilePath| {
        let rest = if own.is_root() { path.as_str() } else { path.as_str().strip_prefix(own.as_str())? };
        Some(rest.trim_start_matches('/').to_owned())
    };
    let spares = |is_left_out: &dyn Fn(&FilePath) -> bool| {
        let is_out = |one: &&Wanted| one.span.as_ref().is_some_and(|span| is_left_out(&span.file));
        let (out, rest): (Vec<&Wanted>, Vec<&Wanted>) = wide.wanted().iter().partition(is_out);
        !rest.is_empty() && out.iter().all(|one| common_file(wide, other, &one.object.key()).is_some())
    };
    let is_own = folder.is_within(own) && folder != *own && files.iter().all(|file| file.is_within(&folder));
    if is_own && spares(&|file| file.is_within(&folder)) {
        return Some([format!("{}/*", below(&folder)?)].into());
    }
    let is_below = files.iter().all(|file| file.is_within(own));
    (is_below && spares(&|file| files.contains(file))).then(|| files.iter().filter_map(below).collect())
}

/// The only source of an application.
fn source(app: &App<'_>) -> Option<ApplicationSource> {
    let [source]: [ApplicationSource; 1] = app.application().spec.all_sources().try_into().ok()?;
    Some(source)
}

/// The file that an application has an object from.
fn file_of(app: &App<'_>, key: &ObjectKey) -> Option<FilePath> {
    Some(app.wants(key)?.span.as_ref()?.file.clone())
}
