//! Where kustomizations and their files are, and which of them may be read.

use std::rc::Rc;
use std::sync::Arc;

use lynceus_files::{Entry, FilePath, Tree, TreeError, follow_links};

use crate::context::Context;
use crate::error::KustomizeError;
use crate::limits;
use crate::need::{Got, Need};
use crate::options::LoadRestriction;
use crate::repository::{FORCED_WARNING, RepositoryPath};

/// A directory with what may be read from it.
#[derive(Clone)]
pub(crate) struct Loader<'a> {
    pub(crate) context: &'a Context<'a>,
    tree: &'a dyn Tree,
    root: FilePath,
    restriction: LoadRestriction,
    /// The repositories on the way here, the last of them the one that the tree is of.
    repositories: Vec<Rc<RepositoryPath>>,
    /// The directories on the way here that are in the same tree.
    visited: Vec<FilePath>,
    depth: usize,
}

/// A file that was read.
#[derive(Clone, Debug)]
pub(crate) struct Loaded {
    /// Its content.
    pub(crate) bytes: Arc<[u8]>,
    /// Where it is, if it is in a tree.
    pub(crate) file: Option<FilePath>,
}

/// Why nothing was read.
#[derive(Debug)]
pub(crate) enum LoadError {
    /// It has to be got first, and has been asked for.
    Pending(Need),
    /// The file is elsewhere and could not be got.
    Http(KustomizeError),
    /// It cannot be read.
    Failed(KustomizeError),
}

impl From<LoadError> for KustomizeError {
    fn from(error: LoadError) -> KustomizeError {
        match error {
            LoadError::Pending(need) => KustomizeError::new(format!("{need} has to be got first")),
            LoadError::Http(error) | LoadError::Failed(error) => error,
        }
    }
}

/// Whether a path is the URL of a file.
pub(crate) fn is_url(path: &str) -> bool {
    let starts =
        |scheme: &str| path.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme));
    starts("http://") || starts("https://")
}

impl<'a> Loader<'a> {
    /// Loads from a directory of a tree.
    pub(crate) fn new(
        context: &'a Context<'a>,
        tree: &'a dyn Tree,
        root: &FilePath,
    ) -> Result<Self, KustomizeError> {
        let restriction = context.options.load_restriction;
        let mut loader = Loader {
            context,
            tree,
            root: FilePath::root(),
            restriction,
            repositories: Vec::new(),
            visited: Vec::new(),
            depth: 0,
        };
        loader.root = loader.directory(root)?;
        loader.visited.push(loader.root.clone());
        Ok(loader)
    }

    /// The directory that paths are relative to.
    pub(crate) fn root(&self) -> &FilePath {
        &self.root
    }

    /// The files that are loaded from.
    pub(crate) fn tree(&self) -> &'a dyn Tree {
        self.tree
    }

    /// The repository that is loaded from, if it is not the one that the build began in.
    pub(crate) fn repository(&self) -> Option<&str> {
        self.repositories.last().map(|repository| repository.url.as_str())
    }

    /// A path as messages show it.
    pub(crate) fn shown(&self, path: &FilePath) -> String {
        match self.repositories.last() {
            Some(repository) => format!("{}//{}", repository.url, path.as_str()),
            None if path.is_root() && !self.context.options.path_prefix.is_empty() => {
                self.context.options.path_prefix.clone()
            }
            None => format!("{}/{}", self.context.options.path_prefix, path.as_str()),
        }
    }

    /// Reads a file.
    pub(crate) fn load(&self, path: &str) -> Result<Loaded, LoadError> {
        if is_url(path) {
            return self.load_url(path);
        }
        let file = self.file(path).map_err(LoadError::Failed)?;
        let bytes = self
            .tree
            .read(&file, limits::MAX_FILE_BYTES)
            .map_err(|error| LoadError::Failed(failed(&error)))?;
        Ok(Loaded { bytes, file: Some(file) })
    }

    fn load_url(&self, url: &str) -> Result<Loaded, LoadError> {
        let need = Need::File { url: url.into() };
        match self.context.get(need.clone()) {
            None => Err(LoadError::Pending(need)),
            Some(Got::Bytes(bytes)) => Ok(Loaded { bytes: bytes.clone(), file: None }),
            Some(Got::Tree(_)) => Err(LoadError::Failed(KustomizeError::new("URL is a git repository"))),
            Some(Got::Failed(reason)) if RepositoryPath::parse(url).is_some() => {
                let error = KustomizeError::new("URL is a git repository");
                Err(LoadError::Failed(error.hint(format!("it could not be had as a file: {reason}"))))
            }
            Some(Got::Failed(reason)) => {
                Err(LoadError::Http(KustomizeError::new(format!("HTTP Error: {reason} ({url})"))))
            }
        }
    }

    /// Reads a file of the tree, if it may be read.
    pub(crate) fn load_file(&self, file: &FilePath) -> Result<Loaded, KustomizeError> {
        let shown = format!("/{}", file.as_str());
        let file = self.allowed(file.clone(), &shown)?;
        let bytes = self.tree.read(&file, limits::MAX_FILE_BYTES).map_err(|error| failed(&error))?;
        Ok(Loaded { bytes, file: Some(file) })
    }

    /// Where a path leads in the tree; none if it leads out of it.
    pub(crate) fn locate(&self, path: &str) -> Option<FilePath> {
        self.absolute(path)
    }

    /// What stands at a path of the tree, links followed.
    pub(crate) fn entry(&self, path: &FilePath) -> Result<Entry, TreeError> {
        self.real(path).and_then(|real| self.tree.entry(&real))
    }

    /// The file that a path leads to, if it may be read.
    fn file(&self, path: &str) -> Result<FilePath, KustomizeError> {
        let file = self.absolute(path).ok_or_else(|| self.refused(path))?;
        let shown = self.shown(&file);
        self.allowed(file, &shown)
    }

    fn refused(&self, shown: &str) -> KustomizeError {
        let root = self.shown(&self.root);
        KustomizeError::new(format!("security; file '{shown}' is not in or below '{root}'")).hint(
            "a kustomization may only read files in its own directory; move the file, or allow all with \
             --load-restrictor LoadRestrictionsNone",
        )
    }

    fn allowed(&self, file: FilePath, shown: &str) -> Result<FilePath, KustomizeError> {
        if self.restriction == LoadRestriction::None {
            return Ok(file);
        }
        let real = self.real(&file).map_err(|error| failed(&error))?;
        if self.tree.entry(&real).map_err(|error| failed(&error))? != Entry::File {
            return Err(KustomizeError::new(format!("'{}' must resolve to a file", shown)));
        }
        if !real.is_within(&self.root) {
            return Err(self.refused(shown));
        }
        Ok(real)
    }

    /// A path from the tree's root; none if it leads out of the tree.
    fn absolute(&self, path: &str) -> Option<FilePath> {
        if !path.starts_with('/') {
            return self.root.join(path).ok();
        }
        let prefix = self.context.options.path_prefix.as_str();
        let inside = path.strip_prefix(prefix).filter(|rest| rest.is_empty() || rest.starts_with('/'))?;
        if self.repositories.is_empty() { FilePath::new(inside).ok() } else { None }
    }

    /// The path without links.
    fn real(&self, path: &FilePath) -> Result<FilePath, TreeError> {
        follow_links(path, |path| {
            Ok(match self.tree.entry(path)? {
                Entry::Link(target) => Some(target),
                _ => None,
            })
        })
    }

    fn directory(&self, path: &FilePath) -> Result<FilePath, KustomizeError> {
        let invalid =
            |error: &TreeError| failed(error).context("must build at directory: not a valid directory");
        let real = self.real(path).map_err(|error| invalid(&error))?;
        if real.is_root() {
            return Ok(real);
        }
        match self.tree.entry(&real).map_err(|error| invalid(&error))? {
            Entry::Directory => Ok(real),
            _ => Err(KustomizeError::new(format!(
                "must build at directory: '{}': file is not directory",
                self.shown(path)
            ))),
        }
    }

    /// Goes on from another kustomization's directory, or from a repository.
    pub(crate) fn enter(&self, path: &str) -> Result<Loader<'a>, LoadError> {
        if path.is_empty() {
            return Err(LoadError::Failed(KustomizeError::new("new root cannot be empty")));
        }
        let entered = match RepositoryPath::parse(path) {
            Some(repository) => self.enter_repository(repository)?,
            None => self.enter_directory(path).map_err(LoadError::Failed)?,
        };
        if entered.depth > limits::MAX_DEPTH {
            let problem = format!("more than {} kustomizations stand inside each other", limits::MAX_DEPTH);
            return Err(LoadError::Failed(KustomizeError::new(problem)));
        }
        Ok(entered)
    }

    fn enter_directory(&self, path: &str) -> Result<Loader<'a>, KustomizeError> {
        if path.starts_with('/') {
            return Err(KustomizeError::new(format!("new root '{path}' cannot be absolute")));
        }
        let Ok(joined) = self.root.join(path) else {
            let problem = match self.repositories.last() {
                Some(repository) => format!(
                    "security; bases in kustomizations found in cloned git repos must be within the repo, but base \
                     '{path}' is outside '{}'",
                    repository.url
                ),
                None => format!("must build at directory: '{path}' leads out of the repository"),
            };
            return Err(KustomizeError::new(problem));
        };
        let root = self.directory(&joined)?;
        if let Some(visited) = self.visited.iter().rev().find(|visited| visited.is_within(&root)) {
            return Err(KustomizeError::new(format!(
                "cycle detected: candidate root '{}' contains visited root '{}'",
                self.shown(&root),
                self.shown(visited)
            )));
        }
        let mut entered = self.clone();
        entered.root = root.clone();
        entered.visited.push(root);
        entered.depth += 1;
        Ok(entered)
    }

    fn enter_repository(&self, repository: RepositoryPath) -> Result<Loader<'a>, LoadError> {
        if repository.is_forced {
            self.context.warn(FORCED_WARNING);
        }
        let fail = |problem: String| LoadError::Failed(KustomizeError::new(problem));
        if let Some(before) =
            self.repositories.iter().rev().find(|known| known.raw.starts_with(&repository.raw))
        {
            return Err(fail(format!(
                "cycle detected: URI '{}' referenced by previous URI '{}'",
                repository.raw, before.raw
            )));
        }
        let need = Need::Repository {
            url: repository.url.as_str().into(),
            reference: repository.reference.as_str().into(),
            submodules: repository.submodules,
        };
        let tree = match self.context.get(need.clone()) {
            None => return Err(LoadError::Pending(need)),
            Some(Got::Tree(tree)) => &**tree,
            Some(Got::Bytes(_)) => return Err(fail(format!("{need} is a file"))),
            Some(Got::Failed(reason)) => return Err(fail(format!("cannot get {need}: {reason}"))),
        };
        let directory = FilePath::new(&repository.directory).map_err(|error| fail(error.to_string()))?;
        let mut entered = Loader {
            context: self.context,
            tree,
            root: FilePath::root(),
            restriction: LoadRestriction::RootOnly,
            repositories: self.repositories.clone(),
            visited: Vec::new(),
            depth: self.depth + 1,
        };
        entered.repositories.push(Rc::new(repository));
        entered.root = entered.directory(&directory).map_err(LoadError::Failed)?;
        entered.visited.push(entered.root.clone());
        Ok(entered)
    }
}

fn failed(error: &TreeError) -> KustomizeError {
    KustomizeError::new(error.to_string())
}
