//! Paths inside a tree: relative, with `/`, and never out of it.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A path inside a tree. It is normalised: no leading `/`, no `.`, no `..`, no empty part.
///
/// This is the jail: a path that would leave the tree cannot be made, so whoever holds a `FilePath`
/// need not check it again.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct FilePath(String);

/// Why a text is not a path inside a tree.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PathError {
    /// `..` goes above the root.
    #[error("path {0:?} leaves the repository")]
    Outside(String),
    /// The path has a byte that no file name may have.
    #[error("path {0:?} has a NUL byte")]
    Nul(String),
}

impl FilePath {
    /// The root of the tree.
    pub const fn root() -> Self {
        FilePath(String::new())
    }

    /// Reads a path, relative to the root even if it starts with `/`.
    pub fn new(text: &str) -> Result<Self, PathError> {
        FilePath::root().join(text)
    }

    /// Goes on from this path; `..` may step up, but not above the root.
    pub fn join(&self, text: &str) -> Result<Self, PathError> {
        if text.contains('\0') {
            return Err(PathError::Nul(text.to_owned()));
        }
        let mut parts: Vec<&str> = if text.starts_with('/') { Vec::new() } else { self.parts().collect() };
        for part in text.split('/') {
            match part {
                "" | "." => {}
                ".." => {
                    parts.pop().ok_or_else(|| PathError::Outside(text.to_owned()))?;
                }
                part => parts.push(part),
            }
        }
        Ok(FilePath(parts.join("/")))
    }

    /// The path as text, without a leading `/`; empty for the root.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether this is the root.
    pub fn is_root(&self) -> bool {
        self.0.is_empty()
    }

    /// The parts between the slashes.
    pub fn parts(&self) -> impl DoubleEndedIterator<Item = &str> + Clone {
        self.0.split('/').filter(|part| !part.is_empty())
    }

    /// The last part; empty for the root.
    pub fn name(&self) -> &str {
        self.0.rsplit('/').next().unwrap_or_default()
    }

    /// The directory that holds this path; `None` for the root.
    pub fn parent(&self) -> Option<FilePath> {
        if self.is_root() {
            return None;
        }
        Some(FilePath(self.0.rsplit_once('/').map_or(String::new(), |(dir, _)| dir.to_owned())))
    }

    /// Whether this path is `dir` or below it.
    pub fn is_within(&self, dir: &FilePath) -> bool {
        dir.is_root()
            || self.0.strip_prefix(&dir.0).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    }
}

impl fmt::Display for FilePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.is_root() { "." } else { &self.0 })
    }
}

impl TryFrom<String> for FilePath {
    type Error = PathError;

    fn try_from(text: String) -> Result<Self, PathError> {
        FilePath::new(&text)
    }
}

impl From<FilePath> for String {
    fn from(path: FilePath) -> String {
        path.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(text: &str) -> FilePath {
        FilePath::new(text).unwrap()
    }

    #[test]
    fn paths_are_normalised() {
        for (text, expected) in
            [("", ""), ("/", ""), ("a/b", "a/b"), ("./a//b/", "a/b"), ("/a/../b", "b"), ("a/./b/..", "a")]
        {
            assert_eq!(path(text).as_str(), expected, "{text}");
        }
        assert_eq!(FilePath::root().to_string(), ".");
    }

    #[test]
    fn no_path_leaves_the_tree() {
        for text in ["..", "../a", "a/../..", "/..", "a/../../a"] {
            assert_eq!(FilePath::new(text), Err(PathError::Outside(text.to_owned())));
        }
        assert_eq!(FilePath::new("a\0b"), Err(PathError::Nul("a\0b".to_owned())));
    }

    #[test]
    fn joining_goes_on_from_a_directory() {
        assert_eq!(path("a/b").join("../c").unwrap().as_str(), "a/c");
        assert_eq!(path("a/b").join("/c").unwrap().as_str(), "c");
        assert!(path("a").join("../../b").is_err());
    }

    #[test]
    fn a_path_knows_its_parts() {
        let file = path("apps/web/values.yaml");
        assert_eq!((file.name(), file.parent()), ("values.yaml", Some(path("apps/web"))));
        assert_eq!(path("a").parent(), Some(FilePath::root()));
        assert_eq!(FilePath::root().parent(), None);
        assert!(file.is_within(&path("apps")) && file.is_within(&file) && file.is_within(&FilePath::root()));
        assert!(!path("apps2/x").is_within(&path("apps")));
    }

    #[test]
    fn the_jail_holds_for_what_is_read_from_json() {
        assert_eq!(serde_json::from_str::<FilePath>("\"a/../b\"").unwrap(), path("b"));
        assert!(serde_json::from_str::<FilePath>("\"../b\"").is_err());
    }
}
