//! Applications that a kustomization brings: as it builds them, and not as its files have them.

use std::collections::{BTreeMap, BTreeSet};

use lynceus_files::{FilePath, Tree};
use lynceus_object::{Value, yaml};

use super::SharedTree;
use super::manifest::{Files, Found};
use super::rendering::Surveyor;
use crate::limits;
use crate::premises::Premises;

/// The lists of a kustomization that name other files and kustomizations.
const LISTS: [&str; 3] = ["resources", "bases", "components"];

impl Surveyor {
    /// Builds the kustomizations that bring Applications and that no other kustomization is built of. The files that they are made
    /// of are no Applications by themselves.
    pub(crate) async fn kustomizations(
        &self,
        premises: &Premises,
        tree: &SharedTree,
        files: &mut Files,
    ) -> Vec<Found> {
        let web = Web::of(&**tree, &files.kustomizations);
        let mut tops: BTreeMap<FilePath, FilePath> = BTreeMap::new();
        files.manifests.retain(|found| {
            let Ok(file) = FilePath::new(&found.place.file) else { return true };
            let above = web.tops(&file);
            tops.extend(above.iter().map(|top| (top.clone(), web.files[top].clone())));
            above.is_empty()
        });
        let mut found = Vec::new();
        for (folder, file) in tops {
            match self.build(premises, tree, &folder).await {
                Ok(objects) => found.extend(
                    objects
                        .into_iter()
                        .map(|one| Found { place: super::Place { file: file.to_string(), line: 1 }, ..one }),
                ),
                Err(error) => files.notes.push(crate::report::Note::about(&file, error)),
            }
        }
        found
    }
}

/// Which kustomizations are made of which files and folders.
struct Web {
    /// The kustomizations that name a file or a folder, by that.
    named_by: BTreeMap<FilePath, BTreeSet<FilePath>>,
    /// The file of each kustomization, by its folder.
    files: BTreeMap<FilePath, FilePath>,
}

impl Web {
    fn of(tree: &dyn Tree, kustomizations: &[FilePath]) -> Self {
        let mut web = Web { named_by: BTreeMap::new(), files: BTreeMap::new() };
        for file in kustomizations {
            let Some(folder) = file.parent() else { continue };
            for name in names(tree, file) {
                let Ok(path) = folder.join(&name) else { continue };
                web.named_by.entry(path).or_default().insert(folder.clone());
            }
            web.files.insert(folder, file.clone());
        }
        web
    }

    /// The kustomizations at the top of those that a file is part of.
    fn tops(&self, file: &FilePath) -> BTreeSet<FilePath> {
        let mut tops = BTreeSet::new();
        let mut seen = BTreeSet::new();
        let mut open: Vec<&FilePath> = self.named_by.get(file).into_iter().flatten().collect();
        while let Some(folder) = open.pop() {
            if !seen.insert(folder) {
                continue;
            }
            match self.named_by.get(folder) {
                Some(above) => open.extend(above),
                None => {
                    tops.insert(folder.clone());
                }
            }
        }
        tops
    }
}

fn names(tree: &dyn Tree, file: &FilePath) -> Vec<String> {
    let Ok(text) = tree.read(file, limits::MANIFEST_BYTES) else { return Vec::new() };
    let value = yaml::parse(&text).unwrap_or_default();
    let list = |key: &&str| value.items_at(&[key]).to_vec();
    LISTS.iter().flat_map(list).filter_map(|item: Value| item.as_str().map(str::to_owned)).collect()
}
