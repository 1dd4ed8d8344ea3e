//! A chart from a directory of a tree.

use lynceus_files::{Entry, FilePath, Tree, TreeError};

use super::ignore::Rules;
use super::load::{self, without_mark};
use super::{Chart, ChartError, ChartFile};
use crate::limits;

pub(super) fn read(tree: &dyn Tree, directory: &FilePath) -> Result<Chart, ChartError> {
    let chart_file = directory.join("Chart.yaml").map_err(|error| ChartError::Tree(error.to_string()))?;
    match tree.read(&chart_file, limits::MAX_FILE_BYTES) {
        Err(TreeError::NotFound(path)) => return Err(ChartError::NotAChart(path.to_string())),
        Err(error) => return Err(failed(error)),
        Ok(_) => {}
    }
    let rules = rules(tree, directory)?;
    let mut walk = Walk { tree, rules, files: Vec::new(), directories: Vec::new(), bytes: 0 };
    walk.directory(directory, "", 0)?;
    let mut chart = load::chart(walk.files, 0)?;
    chart.directories = walk.directories;
    Ok(chart)
}

fn rules(tree: &dyn Tree, directory: &FilePath) -> Result<Rules, ChartError> {
    let path = directory.join(".helmignore").map_err(|error| ChartError::Tree(error.to_string()))?;
    let data = match tree.read(&path, limits::MAX_FILE_BYTES) {
        Ok(data) => data,
        Err(TreeError::NotFound(_)) => [].into(),
        Err(error) => return Err(failed(error)),
    };
    Rules::read(&data).map_err(ChartError::Ignore)
}

struct Walk<'a> {
    tree: &'a dyn Tree,
    rules: Rules,
    files: Vec<ChartFile>,
    directories: Vec<FilePath>,
    bytes: u64,
}

impl Walk<'_> {
    /// Takes in all of a directory, in the order of the names. Links are followed, and cannot leave the tree.
    fn directory(&mut self, path: &FilePath, name: &str, depth: usize) -> Result<(), ChartError> {
        if depth > limits::MAX_DIRECTORY_DEPTH {
            let limit = limits::MAX_DIRECTORY_DEPTH as u64;
            return Err(ChartError::Limit { what: "too many directories inside each other", limit });
        }
        self.directories.push(path.clone());
        for (part, entry) in self.tree.list(path).map_err(failed)? {
            let inner = path.join(&part).map_err(|error| ChartError::Tree(error.to_string()))?;
            let name = if name.is_empty() { part } else { format!("{name}/{part}") };
            let is_directory = match entry {
                Entry::Directory => true,
                Entry::File => false,
                Entry::Link(target) => self.leads_to_directory(&inner, &target)?,
                // What Git has not checked out is an empty directory.
                Entry::Submodule(_) => continue,
            };
            if self.rules.ignore(&name, is_directory) {
                continue;
            }
            if is_directory {
                self.directory(&inner, &name, depth + 1)?;
            } else {
                self.file(inner, name)?;
            }
        }
        Ok(())
    }

    fn leads_to_directory(&self, path: &FilePath, target: &str) -> Result<bool, ChartError> {
        match self.tree.list(path) {
            Ok(_) => Ok(true),
            Err(TreeError::NotA(..)) => Ok(false),
            Err(TreeError::NotFound(_)) => {
                Err(ChartError::DanglingLink { missing: self.missing(path, target), link: path.clone() })
            }
            Err(error) => Err(failed(error)),
        }
    }

    /// The first part of a link's target that is not there.
    fn missing(&self, link: &FilePath, target: &str) -> FilePath {
        let from = link.parent().unwrap_or_else(FilePath::root);
        let Ok(mut missing) = from.join(target) else { return link.clone() };
        while let Some(above) = missing.parent().filter(|above| self.tree.list(above).is_err()) {
            missing = above;
        }
        missing
    }

    fn file(&mut self, path: FilePath, name: String) -> Result<(), ChartError> {
        let data = self.tree.read(&path, limits::MAX_FILE_BYTES).map_err(failed)?;
        self.bytes += data.len() as u64;
        if self.bytes > limits::MAX_DIRECTORY_BYTES {
            return Err(ChartError::Limit { what: "too many bytes", limit: limits::MAX_DIRECTORY_BYTES });
        }
        if self.files.len() >= limits::MAX_FILES {
            return Err(ChartError::Limit { what: "too many files", limit: limits::MAX_FILES as u64 });
        }
        self.files.push(ChartFile { name, data: without_mark(data), source: Some(path) });
        Ok(())
    }
}

fn failed(error: TreeError) -> ChartError {
    match error {
        TreeError::TooLarge { path, limit, .. } => {
            ChartError::FileTooLarge { name: path.name().to_owned(), limit }
        }
        error => ChartError::Tree(error.to_string()),
    }
}
