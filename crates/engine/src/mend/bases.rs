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

/// The kustomizations that take in a folder or something in it, among those that another folder leads to. The folder's own are not asked:
/// what it is made of is for others to read.
pub(super) fn taking_in(tree: &dyn Tree, from: &FilePath, wanted: &FilePath) -> Vec<FilePath> {
    let mut folders = vec![from.clone()];
    let mut found = Vec::new();
    let mut seen = 0;
    while let Some(folder) = folders.get(seen).cloned() {
        seen += 1;
        if seen > limits::MEND_FILES {
            return Vec::new();
        }
        let Some(file) = document::kustomization_of(tree, &folder) else { continue };
        let Ok(text) = read(tree, &file) else { continue };
        let named = entries(&folder, &text);
        if named.iter().any(|(_, _, path)| path.is_within(wanted)) {
            found.push(file);
        }
        let fresh = named.into_iter().map(|(_, _, path)| path);
        let fresh: Vec<FilePath> =
            fresh.filter(|path| !path.is_within(wanted) && !folders.contains(path)).collect();
        folders.extend(fresh);
    }
    found
}

/// The text of a kustomization without the lines that take in a folder or something in it.
pub(super) fn without(file: &FilePath, text: &str, wanted: &FilePath) -> Result<String, MendError> {
    let folder = file.parent().unwrap_or_else(FilePath::root);
    let mut text = text.to_owned();
    // Each line that goes moves those behind it.
    while let Some((list, place, _)) =
        entries(&folder, &text).into_iter().find(|(_, _, path)| path.is_within(wanted))
    {
        text = document::change(file, &text, 0, &FieldPath::fields([list]).index(place), &Change::Remove)?;
    }
    Ok(text)
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

    #[test]
    fn a_folder_within_goes_however_it_is_named_and_what_is_called_alike_stays() {
        let file = FilePath::new("all/kustomization.yaml").expect("a path");
        let folder = FilePath::new("all/redis").expect("a path");
        let left = without(&file, "resources: [redis, common.yaml, nats]\n", &folder).expect("a text");
        assert_eq!(left, "resources: [common.yaml, nats]\n");
        let files = "resources:\n- redis/a.yaml\n- redis-own.yaml\n- ./redis/b.yaml\n";
        let left = without(&file, files, &folder).expect("a text");
        assert_eq!(left, "resources:\n- redis-own.yaml\n");
    }

    #[test]
    fn what_takes_it_in_is_found_and_not_what_it_is_made_of() {
        let mut tree = lynceus_files::MemoryTree::new();
        for (path, text) in [
            ("all/kustomization.yaml", "resources: [redis, common]\n"),
            ("all/common/kustomization.yaml", "resources: [../redis/extra.yaml]\n"),
            ("all/redis/kustomization.yaml", "resources: [redis.yaml]\n"),
        ] {
            tree.insert(FilePath::new(path).expect("a path"), text.as_bytes().to_vec());
        }
        let path = |text| FilePath::new(text).expect("a path");
        let found = taking_in(&tree, &path("all"), &path("all/redis"));
        assert_eq!(found, [path("all/kustomization.yaml"), path("all/common/kustomization.yaml")]);
        assert_eq!(taking_in(&tree, &path("all"), &path("all/nats")), []);
    }
}
