//! Whole documents and files: finding them, taking them out, adding them.

use lynceus_doctor::surgery::{Change, Cut, operate, remove_document};
use lynceus_files::{Entry, FilePath, Tree};
use lynceus_kustomize::Cause;
use lynceus_object::{FieldPath, ObjectKey, Str, Value, manifest, yaml};
use lynceus_render::Reason;

use super::MendError;
use super::desk::{Desk, read};
use crate::limits;

const KUSTOMIZATIONS: [&str; 3] = ["kustomization.yaml", "kustomization.yml", "Kustomization"];

/// The file that an object comes from. Templates are called after their chart, which lies at the source's path.
pub(super) fn file_of(reason: &Reason, path: &str) -> Option<FilePath> {
    match reason {
        Reason::File(span) => Some(span.file.clone()),
        Reason::Template(explanation) => {
            let outermost = explanation.calls.first().map(|(template, _)| template.as_str());
            let name = outermost.unwrap_or(&explanation.place.template);
            let inside = name.split_once('/').map_or(name, |(_, inside)| inside);
            FilePath::new(path).ok()?.join(inside).ok()
        }
        Reason::Kustomization(explanation) => {
            let first = explanation.before.last().unwrap_or(&explanation.last);
            match first {
                Cause::Written(place) => FilePath::new(&place.file).ok(),
                _ => None,
            }
        }
    }
}

/// What the file of an Application is called that is looked at by itself.
pub(super) fn application() -> FilePath {
    FilePath::root().join("application.yaml").unwrap_or_else(|_| FilePath::root())
}

/// Whether a file has template actions in it, or cannot be read as manifests at all.
pub(super) fn is_template(tree: &dyn Tree, file: &FilePath) -> bool {
    read(tree, file).is_ok_and(|text| text.contains("{{"))
}

/// The document in which an object is written, wherever in a tree that is.
pub(super) fn find(tree: &dyn Tree, key: &ObjectKey) -> Option<(FilePath, usize)> {
    let mut folders = vec![FilePath::root()];
    let mut seen = 0;
    while let Some(folder) = folders.pop() {
        for (name, entry) in tree.list(&folder).ok()?.into_iter().rev() {
            let Ok(path) = folder.join(&name) else { continue };
            match entry {
                Entry::Directory => folders.push(path),
                Entry::File if name.ends_with(".yaml") || name.ends_with(".yml") => {
                    seen += 1;
                    if seen > limits::MEND_FILES {
                        return None;
                    }
                    let found = read(tree, &path).ok().and_then(|text| number_of(&path, &text, key));
                    if let Some(number) = found {
                        return Some((path, number));
                    }
                }
                _ => {}
            }
        }
    }
    None
}

/// Which document of a text an object is; one that names no namespace is of any.
pub(super) fn number_of(file: &FilePath, text: &str, key: &ObjectKey) -> Option<usize> {
    if !text.contains(key.name.as_str()) || text.contains("{{") {
        return None;
    }
    let read = manifest::read(file, text.as_bytes(), &yaml::Options::default());
    let fits = |one: &ObjectKey| {
        one.group_kind() == key.group_kind()
            && one.name == key.name
            && (one.namespace.is_empty() || key.namespace.is_empty() || one.namespace == key.namespace)
    };
    read.objects.iter().find(|one| fits(&one.object.key())).map(|one| one.document)
}

/// A text with a field of one of its documents changed.
pub(super) fn change(
    file: &FilePath,
    text: &str,
    document: usize,
    path: &FieldPath,
    change: &Change,
) -> Result<String, MendError> {
    Ok(operate(file, text, &[Cut { document, path: path.clone(), change: change.clone() }])?)
}

/// A text without an object; nothing if no other is left in it.
pub(super) fn without(file: &FilePath, text: &str, key: &ObjectKey) -> Result<Option<String>, MendError> {
    let missing = || MendError::File { file: file.clone(), reason: format!("{key} is not in it") };
    let number = number_of(file, text, key).ok_or_else(missing)?;
    let left = remove_document(file, text, number)?;
    let read = manifest::read(file, left.as_bytes(), &yaml::Options::default());
    Ok((!read.objects.is_empty()).then_some(left))
}

/// The kustomization beside a file, if there is one.
fn kustomization(tree: &dyn Tree, file: &FilePath) -> Option<FilePath> {
    kustomization_of(tree, &file.parent()?)
}

/// The kustomization of a folder, if there is one.
pub(super) fn kustomization_of(tree: &dyn Tree, folder: &FilePath) -> Option<FilePath> {
    KUSTOMIZATIONS.iter().filter_map(|name| folder.join(name).ok()).find(|path| tree.entry(path).is_ok())
}

/// Takes a file that is gone out of the kustomization that names it.
pub(super) fn unlist(
    desk: &mut Desk,
    repository: &Str,
    tree: &dyn Tree,
    file: &FilePath,
) -> Result<(), MendError> {
    let Some(own) = kustomization(tree, file) else { return Ok(()) };
    desk.change(repository, tree, &own, |text| {
        let failed = |error: yaml::Error| MendError::File { file: own.clone(), reason: error.to_string() };
        let value = yaml::parse(text.as_bytes()).map_err(failed)?;
        let resources = value.items_at(&["resources"]);
        let named =
            |one: &Value| one.as_str().is_some_and(|name| name.trim_start_matches("./") == file.name());
        match resources.iter().position(named) {
            Some(place) => {
                change(&own, text, 0, &FieldPath::fields(["resources"]).index(place), &Change::Remove)
            }
            None => Ok(text.to_owned()),
        }
    })
}

/// Names a new file in the kustomization beside it, if there is one. Elsewhere every file counts.
pub(super) fn list(
    desk: &mut Desk,
    repository: &Str,
    tree: &dyn Tree,
    beside: &FilePath,
    new: &FilePath,
) -> Result<(), MendError> {
    let Some(own) = kustomization(tree, beside) else { return Ok(()) };
    let name = Value::from(new.name());
    desk.change(repository, tree, &own, |text| {
        change(&own, text, 0, &FieldPath::fields(["resources"]), &Change::Append(name.clone()))
    })
}

/// What the file of a new object beside another one is called: `role-reader.yaml`.
pub(super) fn name_beside(beside: &FilePath, object: &Value) -> Option<FilePath> {
    let kind = object.str_at(&["kind"])?.to_lowercase();
    let name = object.str_at(&["metadata", "name"])?.replace([':', '/'], "-");
    beside.parent()?.join(&format!("{kind}-{name}.yaml")).ok()
}
