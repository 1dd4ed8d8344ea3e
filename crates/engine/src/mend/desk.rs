//! Files on their way to being changed: several steps may change one.

use std::collections::BTreeMap;
use std::sync::Arc;

use lynceus_doctor::surgery::unified;
use lynceus_files::{FilePath, Tree};
use lynceus_object::{ObjectKey, Str};
use lynceus_render::limits::FILE_BYTES;

use super::MendError;

/// One file that a fix changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileChange {
    /// The repository, as Applications name it.
    pub repository: Str,
    /// The file.
    pub path: FilePath,
    /// What it says now; nothing if it is new.
    pub before: Option<String>,
    /// What it is to say; nothing if it goes.
    pub after: Option<String>,
}

/// The changes as one patch that `git apply` takes.
pub fn patch_of(changes: &[FileChange]) -> String {
    let files: Vec<(FilePath, Option<&str>, Option<&str>)> =
        changes.iter().map(|one| (one.path.clone(), one.before.as_deref(), one.after.as_deref())).collect();
    unified(&files)
}

pub(super) struct Desk {
    /// The objects that the fix removes.
    pub(super) leaving: Vec<ObjectKey>,
    files: BTreeMap<(Str, FilePath), FileChange>,
}

impl Desk {
    /// A desk for a fix that removes some objects.
    pub(super) fn new(leaving: Vec<ObjectKey>) -> Self {
        Desk { leaving, files: BTreeMap::new() }
    }

    /// Changes the text of a file.
    pub(super) fn change(
        &mut self,
        repository: &Str,
        tree: &dyn Tree,
        file: &FilePath,
        change: impl FnOnce(&str) -> Result<String, MendError>,
    ) -> Result<(), MendError> {
        self.rewrite(repository, tree, file, |text| change(text).map(Some))
    }

    /// Changes the text of a file, or removes it.
    pub(super) fn rewrite(
        &mut self,
        repository: &Str,
        tree: &dyn Tree,
        file: &FilePath,
        change: impl FnOnce(&str) -> Result<Option<String>, MendError>,
    ) -> Result<(), MendError> {
        let before = self.text(repository, tree, file)?;
        let after = change(&before)?;
        let key = (repository.clone(), file.clone());
        let (repository, path) = key.clone();
        let fresh = FileChange { repository, path, before: Some(before), after: None };
        self.files.entry(key).or_insert(fresh).after = after;
        Ok(())
    }

    /// What a file says by now.
    pub(super) fn text(
        &self,
        repository: &Str,
        tree: &dyn Tree,
        file: &FilePath,
    ) -> Result<String, MendError> {
        match self.files.get(&(repository.clone(), file.clone())) {
            Some(open) => Ok(open.after.clone().unwrap_or_default()),
            None => read(tree, file),
        }
    }

    /// Puts a new object on the desk, in a file of its own. One that is there already for another step gets both, unless they are the same.
    /// Says whether the file is new.
    pub(super) fn create(&mut self, repository: &Str, file: &FilePath, text: String) -> bool {
        let key = (repository.clone(), file.clone());
        let known = self.files.get_mut(&key).and_then(|open| open.after.as_mut());
        match known {
            Some(known) => {
                if *known != text {
                    known.push_str(&format!("---\n{text}"));
                }
                false
            }
            None => {
                let (repository, path) = key.clone();
                self.files.insert(key, FileChange { repository, path, before: None, after: Some(text) });
                true
            }
        }
    }

    /// Whether a file is on the desk and goes.
    pub(super) fn is_gone(&self, repository: &Str, file: &FilePath) -> bool {
        self.files.get(&(repository.clone(), file.clone())).is_some_and(|one| one.after.is_none())
    }

    /// What files of a repository that were there before are to say.
    pub(super) fn written(&self, repository: &Str) -> BTreeMap<FilePath, Arc<[u8]>> {
        let own = self.files.values().filter(|one| one.repository == *repository && one.before.is_some());
        own.filter_map(|one| Some((one.path.clone(), one.after.as_ref()?.as_bytes().into()))).collect()
    }

    /// What has really changed.
    pub(super) fn changes(self) -> Vec<FileChange> {
        self.files.into_values().filter(|one| one.before != one.after).collect()
    }
}

/// The text of a file.
pub(super) fn read(tree: &dyn Tree, file: &FilePath) -> Result<String, MendError> {
    let failed = |reason: String| MendError::File { file: file.clone(), reason };
    let bytes = tree.read(file, FILE_BYTES).map_err(|error| failed(error.to_string()))?;
    String::from_utf8(bytes.to_vec()).map_err(|error| failed(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_two_steps_create_is_there_once_if_it_is_the_same_and_else_twice() {
        let file = FilePath::new("account.yaml").unwrap();
        let created = |texts: [&str; 2]| {
            let mut desk = Desk::new(Vec::new());
            let news = texts.map(|text| desk.create(&"all".into(), &file, text.to_owned()));
            assert_eq!(news, [true, false]);
            desk.changes().into_iter().filter_map(|change| change.after).collect::<String>()
        };
        assert_eq!(created(["name: a\n", "name: a\n"]), "name: a\n");
        assert_eq!(created(["name: a\n", "name: b\n"]), "name: a\n---\nname: b\n");
    }
}
