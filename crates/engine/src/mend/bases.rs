//! What kustomizations take in as a whole: folders that have kustomizations of their own.

use lynceus_doctor::surgery::Change;
use lynceus_files::{FilePath, Tree};
use lynceus_object::{FieldPath, Value, yaml};

use super::MendError;
use super::desk::read;
use super::document;
use crate::limits;

/// The lists of a kustomization that name folders.
const LISTS: [&str; 3] = ["resources", "bases", "components"];

/// The kustomization that takes in a folder, among those that a folder leads to.
pub(super) fn taking_in(tree: &dyn Tree, from: &FilePath, wanted: &FilePath) -> Option<FilePath> {
    let mut folders = vec![from.clone()];
    let mut seen = 0;
    while let Some(folder) = folders.get(seen).cloned() {
        seen += 1;
        if seen > limits::MEND_FILES {
            return None;
        }
        let Some(file) = document::kustomization_of(tree, &folder) else { continue };
        let Ok(text) = read(tree, &file) else { continue };
        let named = entries(&folder, &text);
        if named.iter().any(|(_, _, path)| path == wanted) {
            return Some(file);
        }
        let fresh: Vec<FilePath> =
            named.into_iter().map(|(_, _, path)| path).filter(|path| !folders.contains(path)).collect();
        folders.extend(fresh);
    }
    None
}

/// The text of a kustomization without the line that takes in a folder.
pub(super) fn without(file: &FilePath, text: &str, wanted: &FilePath) -> Result<String, MendError> {
    let folder = file.parent().unwrap_or_else(FilePath::root);
    let found = entries(&folder, text).into_iter().find(|(_, _, path)| path == wanted);
    match found {
        Some((list, place, _)) => {
            document::change(file, text, 0, &FieldPath::fields([list]).index(place), &Change::Remove)
        }
        None => Ok(text.to_owned()),
    }
}

/// What a kustomization names: the list, the place in it, and where that leads.
fn entries(folder: &FilePath, text: &str) -> Vec<(&'static str, usize, FilePath)> {
    let kustomization = yaml::parse(text.as_bytes()).unwrap_or_default();
    let mut found = Vec::new();
    for list in LISTS {
        let names = kustomization.items_at(&[list]).iter().map(Value::as_str).enumerate();
        let paths = names.filter_map(|(place, name)| Some((list, place, folder.join(name?).ok()?)));
        found.extend(paths);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_goes_and_the_rest_stays_as_it_is() {
        let file = FilePath::new("all/kustomization.yaml").expect("a path");
        let folder = FilePath::new("apps/spark").expect("a path");
        let text = "resources:\n# Applications\n- ../apps/spark # heavy\n- ../apps/web\n";
        let left = without(&file, text, &folder).expect("a text");
        assert_eq!(left, "resources:\n# Applications\n- ../apps/web\n");
    }
}
