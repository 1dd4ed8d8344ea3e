//! Where a resource came from, for those who ask with `buildMetadata`.

use lynceus_object::{Str, Value, yaml};

use crate::repository::RepositoryPath;

/// The annotation that tells where a resource came from.
pub(crate) const ORIGIN: &str = "config.kubernetes.io/origin";
/// The annotation that tells what changed a resource.
pub(crate) const TRANSFORMATIONS: &str = "alpha.config.kubernetes.io/transformations";

/// Where a resource, or what made or changed it, was written down.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Origin {
    /// The file, seen from where the build began or from the repository's root.
    pub(crate) path: String,
    /// The repository, if it is another one.
    pub(crate) repository: String,
    /// The branch, tag or commit of the repository.
    pub(crate) reference: String,
    /// The file of the generator or transformer.
    pub(crate) configured_in: String,
    /// The generator or transformer.
    pub(crate) configured_by: Option<ConfiguredBy>,
}

/// A generator or transformer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ConfiguredBy {
    pub(crate) api_version: Str,
    pub(crate) kind: Str,
    pub(crate) name: Str,
    pub(crate) namespace: Str,
}

impl Origin {
    /// Further down a path, or in a repository.
    pub(crate) fn append(&self, path: &str) -> Origin {
        let mut origin = self.clone();
        match RepositoryPath::parse(path) {
            Some(repository) => {
                // The root of a repository is called as Kustomize calls what it has not cloned yet.
                origin.path = match clean(&repository.directory) {
                    path if path.is_empty() => "notCloned".to_owned(),
                    path => path,
                };
                origin.repository = repository.url;
                origin.reference = repository.reference;
            }
            None => origin.path = clean(&format!("{}/{path}", self.path)),
        }
        origin
    }

    /// A generator or transformer that a kustomization file of this place asks for by a field.
    pub(crate) fn built_in(&self, file: &str, kind: &str) -> Origin {
        Origin {
            path: String::new(),
            repository: self.repository.clone(),
            reference: self.reference.clone(),
            configured_in: clean(&format!("{}/{file}", self.path)),
            configured_by: Some(ConfiguredBy {
                api_version: "builtin".into(),
                kind: kind.into(),
                ..ConfiguredBy::default()
            }),
        }
    }

    /// A generator or transformer that is configured by the resource of this origin.
    pub(crate) fn plugin(&self, configured_by: ConfiguredBy) -> Origin {
        Origin {
            path: String::new(),
            repository: self.repository.clone(),
            reference: self.reference.clone(),
            configured_in: self.path.clone(),
            configured_by: Some(configured_by),
        }
    }

    /// The origin as its annotation tells it.
    pub(crate) fn to_text(&self) -> String {
        self.lines().concat()
    }

    fn lines(&self) -> Vec<String> {
        let mut lines = Vec::new();
        let mut add = |indent: &str, key: &str, text: &str| {
            if !text.is_empty() {
                lines.push(format!("{indent}{key}: {}", yaml::to_string(&Value::from(text))));
            }
        };
        add("", "path", &self.path);
        add("", "repo", &self.repository);
        add("", "ref", &self.reference);
        add("", "configuredIn", &self.configured_in);
        let Some(by) = &self.configured_by else { return lines };
        lines.push("configuredBy:\n".to_owned());
        let mut add = |key: &str, text: &str| {
            if !text.is_empty() {
                lines.push(format!("  {key}: {}", yaml::to_string(&Value::from(text))));
            }
        };
        add("apiVersion", &by.api_version);
        add("kind", &by.kind);
        add("name", &by.name);
        add("namespace", &by.namespace);
        lines
    }
}

/// The transformations as their annotation tells them.
pub(crate) fn transformations_text<'a>(transformations: impl IntoIterator<Item = &'a Origin>) -> String {
    let mut text = String::new();
    for transformation in transformations {
        for (index, line) in transformation.lines().iter().enumerate() {
            text.push_str(if index == 0 { "- " } else { "  " });
            text.push_str(line);
        }
    }
    text
}

/// A path without steps that lead nowhere, as Go's `filepath.Join` leaves it.
fn clean(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." if parts.last().is_some_and(|last| *last != "..") => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    parts.join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_origin_goes_down_paths_and_into_repositories() {
        let origin = Origin::default().append("../base").append("a.yaml");
        assert_eq!(origin.to_text(), "path: ../base/a.yaml\n");
        let origin = origin.append("github.com/o/r//x/y?ref=v1").append("a.yaml");
        assert_eq!(origin.to_text(), "path: x/y/a.yaml\nrepo: https://github.com/o/r\nref: v1\n");
    }

    #[test]
    fn transformations_are_a_list() {
        let one = Origin::default().built_in("kustomization.yaml", "PrefixTransformer");
        let text = "configuredIn: kustomization.yaml\n  configuredBy:\n    apiVersion: builtin\n    kind: \
                    PrefixTransformer\n";
        assert_eq!(transformations_text([&one, &one]), format!("- {text}- {text}"));
    }
}
