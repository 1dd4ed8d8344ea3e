//! What the files of a repository say: which tool they are for, and what can be set.

use lynceus_files::{Entry, FilePath, Tree, TreeError};
use lynceus_object::{Value, value, yaml};

use crate::limits;

/// The names that a kustomization may have.
const KUSTOMIZATIONS: [&str; 3] = ["kustomization.yaml", "kustomization.yml", "Kustomization"];

/// The charts and kustomizations of a repository, in the order of their paths. Directories beyond a limit are not looked
/// at, and neither are those that cannot be read.
pub fn apps(tree: &dyn Tree) -> Vec<Value> {
    let mut found: Vec<(String, &str)> = Vec::new();
    let mut open = vec![FilePath::root()];
    let mut seen = 0;
    while let Some(directory) = open.pop() {
        seen += 1;
        if seen > limits::DIRECTORIES {
            break;
        }
        let entries = tree.list(&directory).unwrap_or_default();
        if let Some(tool) = tool(&entries) {
            let path = if directory.is_root() { ".".to_owned() } else { directory.as_str().to_owned() };
            found.push((path, tool));
        }
        let folders = entries.iter().filter(|(_, entry)| *entry == Entry::Directory);
        open.extend(folders.filter_map(|(name, _)| directory.join(name).ok()));
    }
    found.sort();
    found.into_iter().map(|(path, tool)| value!({"type": tool, "path": path})).collect()
}

fn tool(entries: &[(String, Entry)]) -> Option<&'static str> {
    let has = |wanted: &str| entries.iter().any(|(name, entry)| name == wanted && *entry != Entry::Directory);
    match has("Chart.yaml") {
        true => Some("Helm"),
        false => KUSTOMIZATIONS.iter().any(|name| has(name)).then_some("Kustomize"),
    }
}

/// What an application of a path can be told.
pub fn describe(tree: &dyn Tree, path: &FilePath) -> Result<Value, TreeError> {
    let entries = tree.list(path)?;
    let text = |name: &str| {
        let bytes = path.join(name).ok().and_then(|file| tree.read(&file, limits::DESCRIBED_FILE).ok());
        bytes.and_then(|bytes| String::from_utf8(bytes.to_vec()).ok()).unwrap_or_default()
    };
    Ok(match tool(&entries) {
        Some("Helm") => {
            let chart = yaml::parse_str(&text("Chart.yaml")).unwrap_or_default();
            let is_values =
                |name: &str| name.contains("values") && (name.ends_with(".yaml") || name.ends_with(".yml"));
            let files: Vec<&str> =
                entries.iter().map(|(name, _)| name.as_str()).filter(|name| is_values(name)).collect();
            let values = text("values.yaml");
            let mut parameters = Vec::new();
            flatten(&yaml::parse_str(&values).unwrap_or_default(), &mut String::new(), &mut parameters);
            value!({"type": "Helm", "helm": {
                "name": chart.str_at(&["name"]).unwrap_or_default(),
                "valueFiles": files, "values": values, "parameters": parameters,
            }})
        }
        Some(_) => {
            let name = KUSTOMIZATIONS.iter().find(|name| entries.iter().any(|(found, _)| found == *name));
            let document = yaml::parse_str(&text(name.copied().unwrap_or_default())).unwrap_or_default();
            let images: Vec<String> = document.items_at(&["images"]).iter().filter_map(image).collect();
            value!({"type": "Kustomize", "kustomize": {"images": images}})
        }
        None => value!({"type": "Directory", "directory": {}}),
    })
}

/// An image of a kustomization, as it would be written in a pod.
fn image(entry: &Value) -> Option<String> {
    let part = |field| entry.str_at(&[field]).filter(|text| !text.is_empty());
    let name = part("newName").or_else(|| part("name"))?;
    Some(match (part("digest"), part("newTag")) {
        (Some(digest), _) => format!("{name}@{digest}"),
        (None, Some(tag)) => format!("{name}:{tag}"),
        (None, None) => name.to_owned(),
    })
}

/// Every value that is not made of others, under the name that `--set` has for it.
fn flatten(value: &Value, name: &mut String, found: &mut Vec<Value>) {
    let length = name.len();
    match value {
        Value::Map(map) => {
            for (key, below) in map.iter() {
                if !name.is_empty() {
                    name.push('.');
                }
                name.push_str(&key.as_str().replace('.', "\\."));
                flatten(below, name, found);
                name.truncate(length);
            }
        }
        Value::Seq(items) => {
            for (at, below) in items.iter().enumerate() {
                name.push_str(&format!("[{at}]"));
                flatten(below, name, found);
                name.truncate(length);
            }
        }
        Value::Null => {}
        scalar => {
            let text = match scalar {
                Value::Str(text) => text.to_string(),
                other => lynceus_object::json::to_string(other),
            };
            found.push(value!({"name": name.as_str(), "value": text}));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lynceus_files::MemoryTree;
    use lynceus_object::json;

    fn tree() -> MemoryTree {
        let files = [
            ("web/Chart.yaml", "name: web\nversion: 1.0.0\n"),
            ("web/values.yaml", "image: {tag: v1}\nhosts: [a, b]\nreplicas: 2\n\"a.b\": true\n"),
            ("web/values-prod.yaml", "replicas: 5\n"),
            ("web/templates/x.yaml", ""),
            ("over/prod/kustomization.yml", "images: [{name: nginx, newTag: '1.2'}]\n"),
            ("plain/a.yaml", "kind: ConfigMap\n"),
        ];
        let mut tree = MemoryTree::default();
        for (path, text) in files {
            tree.insert(FilePath::new(path).unwrap_or_default(), text.as_bytes().to_vec());
        }
        tree
    }

    #[test]
    fn charts_and_kustomizations_are_found() {
        assert_eq!(
            json::to_string(&value!(apps(&tree()))),
            r#"[{"path":"over/prod","type":"Kustomize"},{"path":"web","type":"Helm"}]"#
        );
    }

    #[test]
    fn what_can_be_set_is_told() {
        let said = |path: &str| match describe(&tree(), &FilePath::new(path).unwrap_or_default()) {
            Ok(value) => json::to_string(&value),
            Err(refusal) => refusal.to_string(),
        };
        assert!(said("web").contains(r#"{"name":"hosts[1]","value":"b"}"#), "{}", said("web"));
        assert!(said("web").contains(r#"{"name":"a\\.b","value":"true"}"#), "{}", said("web"));
        assert!(said("web").contains(r#""valueFiles":["values-prod.yaml","values.yaml"]"#));
        assert_eq!(said("over/prod"), r#"{"kustomize":{"images":["nginx:1.2"]},"type":"Kustomize"}"#);
        assert_eq!(said("plain"), r#"{"directory":{},"type":"Directory"}"#);
        assert_eq!(said("gone"), "no such file or directory: gone");
    }
}
