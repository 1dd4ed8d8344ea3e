//! Value files that are passed over because of their names, and what those that are meant would change.

use std::sync::Arc;

use lynceus_doctor::{Misnamed, PassedOver};
use lynceus_files::Tree;
use lynceus_object::{FieldPath, Object, ObjectKey};

use super::overrides::{by_key, compare};
use crate::engine::Engine;

impl Engine {
    /// What an application would have otherwise with a file that it passes over; nothing if it cannot be rendered with it.
    pub(crate) async fn passed_over(&self, misnamed: &Misnamed) -> Option<PassedOver> {
        let Misnamed { application, source, number, near } = misnamed;
        let bench = self.bench(application).await.ok()?;
        let before = self.manifests(&bench, &[]).await.ok()?;
        let mut sources = bench.sources.clone();
        let files = &mut sources.get_mut(*source)?.helm.as_mut()?.value_files;
        *files.get_mut(*number)? = near.as_str().into();
        let trees: Vec<Option<Arc<dyn Tree>>> = vec![None; sources.len()];
        let after = self.manifests_of(&bench, &trees, &sources).await.ok()?;
        Some(PassedOver { source: *source, number: *number, changes: changes(&before, &after) })
    }
}

/// The fields that are others, whether they come, go or change; of objects that come or go everything.
fn changes(before: &[Object], after: &[Object]) -> Vec<(ObjectKey, FieldPath)> {
    let mut found: Vec<(ObjectKey, FieldPath)> = Vec::new();
    for (one, others) in [(before, by_key(after)), (after, by_key(before))] {
        for object in one {
            let key = object.key();
            let mut fields = Vec::new();
            match others.get(&key) {
                Some(other) => compare(other.value(), object.value(), &FieldPath::root(), &mut fields),
                None => fields.push((FieldPath::root(), object.value().clone())),
            }
            found.extend(fields.into_iter().map(|(path, _)| (key.clone(), path)));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use lynceus_files::FilePath;
    use lynceus_object::{manifest, yaml};

    fn objects(text: &str) -> Vec<Object> {
        let file = FilePath::new("all.yaml").unwrap();
        let read = manifest::read(&file, text.as_bytes(), &yaml::Options::default());
        read.objects.into_iter().map(|one| one.object).collect()
    }

    /// A line for each change.
    fn told(before: &str, after: &str) -> String {
        let found = changes(&objects(before), &objects(after));
        found.iter().map(|(key, path)| format!("{} {path}\n", key.name)).collect()
    }

    fn map(name: &str, value: &str) -> String {
        format!(
            "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}}}\ndata: {{colour: {value}}}\n"
        )
    }

    #[test]
    fn what_comes_goes_or_is_another_is_told_and_what_stays_is_not() {
        let before = [map("stays", "red"), map("changes", "red"), map("goes", "red")].concat();
        let after = [map("comes", "red"), map("changes", "blue"), map("stays", "red")].concat();
        assert_eq!(told(&before, &after), "changes data.colour\ngoes \ncomes \nchanges data.colour\n");
    }

    #[test]
    fn of_several_with_one_name_the_first_counts() {
        let twice = [map("twice", "red"), map("twice", "blue")].concat();
        assert_eq!(told(&map("twice", "red"), &twice), "twice data.colour\n");
    }
}
