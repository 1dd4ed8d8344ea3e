//! Builds a kustomization of the disk and prints it, for comparing with Kustomize.
//!
//! `build [--top directory] [--load-restrictor LoadRestrictionsNone] [--enable-helm] [--reorder none|legacy] [directory]`

#![allow(clippy::print_stdout, clippy::print_stderr)]

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use lynceus_files::{Entry, FilePath, Tree, TreeError, follow_links};
use lynceus_helm::World;
use lynceus_kustomize::{Fetched, HelmOptions, LoadRestriction, Options, Reorder};

/// The files below a directory.
struct Disk(PathBuf);

impl Disk {
    fn at(&self, path: &FilePath) -> PathBuf {
        self.0.join(path.as_str())
    }

    fn real(&self, path: &FilePath) -> Result<FilePath, TreeError> {
        follow_links(path, |path| match self.entry_of(path) {
            Ok(Entry::Link(target)) => Ok(Some(target)),
            Ok(_) => Ok(None),
            Err(error) => Err(error),
        })
    }

    fn entry_of(&self, path: &FilePath) -> Result<Entry, TreeError> {
        let place = self.at(path);
        let found = std::fs::symlink_metadata(&place).map_err(|error| told(path, &error))?;
        if found.is_symlink() {
            let target = std::fs::read_link(&place).map_err(|error| told(path, &error))?;
            return Ok(Entry::Link(target.to_string_lossy().into_owned()));
        }
        Ok(if found.is_dir() { Entry::Directory } else { Entry::File })
    }
}

fn told(path: &FilePath, error: &std::io::Error) -> TreeError {
    match error.kind() {
        std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory => TreeError::NotFound(path.clone()),
        _ => TreeError::Storage { path: path.clone(), reason: error.to_string() },
    }
}

impl Tree for Disk {
    fn entry(&self, path: &FilePath) -> Result<Entry, TreeError> {
        self.entry_of(path)
    }

    fn read(&self, path: &FilePath, limit: u64) -> Result<Arc<[u8]>, TreeError> {
        let real = self.real(path)?;
        let content = std::fs::read(self.at(&real)).map_err(|error| told(path, &error))?;
        let size = content.len() as u64;
        if size > limit {
            return Err(TreeError::TooLarge { path: path.clone(), size, limit });
        }
        Ok(content.into())
    }

    fn list(&self, path: &FilePath) -> Result<Vec<(String, Entry)>, TreeError> {
        let real = self.real(path)?;
        let mut names = Vec::new();
        for found in std::fs::read_dir(self.at(&real)).map_err(|error| told(path, &error))? {
            let name = found.map_err(|error| told(path, &error))?.file_name().to_string_lossy().into_owned();
            let below = real.join(&name).map_err(|_| TreeError::NotFound(path.clone()))?;
            names.push((name, self.entry_of(&below)?));
        }
        names.sort_by(|(one, _), (other, _)| one.cmp(other));
        Ok(names)
    }
}

/// A world in which nothing happens.
struct Still;

impl World for Still {
    fn now(&self) -> Duration {
        Duration::ZERO
    }

    fn random(&mut self, bytes: &mut [u8]) {
        bytes.fill(0);
    }
}

fn main() -> ExitCode {
    let mut options = Options::default();
    let (mut directory, mut top) = (".".to_owned(), None);
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        match word.as_str() {
            "--load-restrictor" => {
                if words.next().is_some_and(|value| value.ends_with("None")) {
                    options.load_restriction = LoadRestriction::None;
                }
            }
            "--reorder" => {
                options.reorder = match words.next().as_deref() {
                    Some("none") => Reorder::None,
                    _ => Reorder::Legacy,
                }
            }
            "--enable-helm" => options.helm = Some(HelmOptions::default()),
            "--top" => top = words.next(),
            other => directory = other.to_owned(),
        }
    }
    let (top, root) = match place(&directory, top.as_deref()) {
        Ok(place) => place,
        Err(error) => {
            eprintln!("Error: {error}");
            return ExitCode::FAILURE;
        }
    };
    options.path_prefix = top.display().to_string().trim_end_matches('/').to_owned();
    match lynceus_kustomize::build(&Disk(top), &root, &options, &Fetched::new(), &mut Still) {
        Ok(build) => {
            for warning in &build.warnings {
                eprintln!("{warning}");
            }
            print!("{}", build.to_yaml());
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("Error: {error}");
            ExitCode::FAILURE
        }
    }
}

/// The directory that nothing is read above of, and the way from there: the whole disk unless another is given.
fn place(directory: &str, top: Option<&str>) -> Result<(PathBuf, FilePath), Box<dyn std::error::Error>> {
    let directory = Path::new(directory).canonicalize()?;
    let top = Path::new(top.unwrap_or("/")).canonicalize()?;
    let inside = directory.strip_prefix(&top)?.to_string_lossy().into_owned();
    Ok((top, FilePath::new(&inside)?))
}
