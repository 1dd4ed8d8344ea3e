//! What a kustomization is built of: files, other kustomizations, components.

use std::sync::Arc;

use lynceus_object::Str;

use super::Target;
use crate::accumulator::Accumulator;
use crate::error::KustomizeError;
use crate::load::{LoadError, Loader, is_url};
use crate::need::Need;
use crate::read;
use crate::repository::RepositoryPath;
use crate::resource::Resource;
use crate::trace::Step;

impl<'a> Target<'a> {
    /// Adds files, and what other kustomizations give.
    pub(super) fn accumulate_resources(
        &self,
        accumulator: &mut Accumulator,
        paths: &[Str],
        field: &str,
    ) -> Result<(), KustomizeError> {
        for (index, path) in paths.iter().enumerate() {
            self.accumulate_path(accumulator, path)
                .map_err(|error| self.source.blame(field, index, error))?;
        }
        Ok(())
    }

    /// Adds a file, or else what is in a directory or in a repository.
    fn accumulate_path(&self, accumulator: &mut Accumulator, path: &str) -> Result<(), KustomizeError> {
        let file_error = match self.accumulate_file(accumulator, path) {
            Ok(()) | Err(LoadError::Pending(_)) => return Ok(()),
            Err(LoadError::Http(error)) => return Err(error),
            Err(LoadError::Failed(error)) => error,
        };
        let explain = |error: KustomizeError| {
            let span = file_error.span.clone();
            let mut explained = error.context(format!("accumulation err='{}'", file_error.message));
            explained.hint = explained.hint.or_else(|| file_error.hint.clone());
            match span {
                Some(span) => explained.at(span),
                None => explained,
            }
        };
        match self.loader.enter(path) {
            Ok(loader) => self.accumulate_directory(accumulator, loader, path, false).map_err(explain),
            Err(LoadError::Pending(_)) => Ok(()),
            // A file that is not YAML is hardly a directory.
            Err(_) if file_error.message.contains("MalformedYAMLError") => Err(file_error),
            Err(error) => Err(explain(error.into())),
        }
    }

    fn accumulate_file(&self, accumulator: &mut Accumulator, path: &str) -> Result<(), LoadError> {
        if is_url(path) && is_surely_repository(path) && !self.loader.has_file(path) {
            return Err(LoadError::Failed(KustomizeError::new("URL is a git repository")));
        }
        let told = |error: KustomizeError| error.context(format!("accumulating resources from '{path}'"));
        let loaded = self.loader.load(path).map_err(|error| match error {
            LoadError::Failed(error) => LoadError::Failed(told(error)),
            LoadError::Http(error) => LoadError::Http(told(error)),
            pending @ LoadError::Pending(_) => pending,
        })?;
        let read = read::resources(&loaded.bytes, loaded.file.as_ref()).map_err(|error| {
            let is_malformed = error.message.starts_with("MalformedYAMLError");
            let mut error = told(error);
            if is_malformed {
                error.message = format!("{} in File: {path}", error.message);
            }
            LoadError::Failed(error)
        });
        let mut resources = read?;
        if let Some(origin) = &self.origin {
            let origin = Arc::new(origin.append(path));
            for resource in &mut resources {
                resource.origin = Some(origin.clone());
            }
        }
        self.loader.context.trace(&mut resources, || {
            let repository = self.loader.repository();
            Step::Read(match (&loaded.file, repository) {
                (Some(file), Some(repository)) => format!("{repository}//{}", file.as_str()),
                (Some(file), None) => file.as_str().to_owned(),
                (None, _) => path.to_owned(),
            })
        });
        let mut alone = Accumulator::default();
        let schema = self.loader.context.schema();
        alone.append(resources, &schema).map_err(|error| LoadError::Failed(told(error)))?;
        accumulator
            .append(alone.resources.list, &schema)
            .map_err(|error| LoadError::Failed(error.context(format!("merging resources from '{path}'"))))
    }

    /// Adds components, which work on all that is there.
    pub(super) fn accumulate_components(&self, accumulator: &mut Accumulator) -> Result<(), KustomizeError> {
        for (index, path) in self.kustomization().components.iter().enumerate() {
            let added = match self.loader.enter(path) {
                Ok(loader) => self.accumulate_directory(accumulator, loader, path, true),
                Err(LoadError::Pending(_)) => Ok(()),
                Err(error) => Err(KustomizeError::from(error).context("loader.New")),
            };
            added.map_err(|error| self.source.blame("components", index, error))?;
        }
        Ok(())
    }

    fn accumulate_directory(
        &self,
        accumulator: &mut Accumulator,
        loader: Loader<'a>,
        path: &str,
        is_component: bool,
    ) -> Result<(), KustomizeError> {
        let root = loader.shown(loader.root());
        let mut inner = Target::load(loader).map_err(|error| {
            let error = error.context(format!("couldn't make target for path '{root}'"));
            match error.kustomization.is_some() && error.span.is_none() && error.field.is_empty() {
                // Nothing in the file is to blame but the file, so that who names it is told instead.
                true => KustomizeError { kustomization: None, ..error },
                false => error,
            }
        })?;
        inner.origin = self.origin.as_ref().map(|origin| origin.append(path));
        let own = &self.kustomization().namespace;
        inner.chart_namespace = if own.is_empty() { self.chart_namespace.clone() } else { own.clone() };
        inner.choose_schema()?;
        match (is_component, inner.kustomization().is_component()) {
            (true, false) => {
                return Err(KustomizeError::new(format!(
                    "expected kind 'Component' for path '{root}' but got 'Kustomization'"
                ))
                .hint("name it under resources instead of components"));
            }
            (false, true) => {
                return Err(KustomizeError::new(format!("expected kind != 'Component' for path '{root}'"))
                    .hint("name it under components instead of resources"));
            }
            _ => {}
        }
        let recursed =
            |error: KustomizeError| error.context(format!("recursed accumulation of path '{root}'"));
        let merging = |error: KustomizeError| error.context(format!("recursed merging from path '{root}'"));
        if is_component {
            inner.accumulate(accumulator).map_err(recursed)?;
            return accumulator.check(&self.loader.context.schema()).map_err(merging);
        }
        let mut gathered = Accumulator::default();
        inner.accumulate(&mut gathered).map_err(recursed)?;
        accumulator.merge(gathered, &self.loader.context.schema()).map_err(merging)
    }

    /// The resources that configure plugins: written in the kustomization itself, in files or in directories.
    pub(super) fn plugin_resources(
        &self,
        given: &[Str],
        field: &str,
    ) -> Result<Vec<Resource>, KustomizeError> {
        let mut accumulator = Accumulator::default();
        let mut paths = Vec::new();
        for (index, text) in given.iter().enumerate() {
            let Ok(mut inline) = read::resources(text.as_bytes(), None) else {
                paths.push((index, text));
                continue;
            };
            if let Some(origin) = &self.origin {
                let origin = Arc::new(origin.append(self.file_name()));
                for resource in &mut inline {
                    resource.origin = Some(origin.clone());
                }
            }
            accumulator
                .append(inline, &self.loader.context.schema())
                .map_err(|error| self.source.blame(field, index, error))?;
        }
        for (index, path) in paths {
            self.accumulate_path(&mut accumulator, path)
                .map_err(|error| self.source.blame(field, index, error))?;
        }
        Ok(accumulator.resources.list)
    }
}

/// Whether a URL names a repository so clearly that nobody need ask whether it is a file.
fn is_surely_repository(url: &str) -> bool {
    let Some(path) = RepositoryPath::parse(url) else { return false };
    let address = url.split('?').next().unwrap_or_default();
    !path.reference.is_empty()
        || address.ends_with(".git")
        || address.contains(".git/")
        || address.contains("/_git/")
}

impl Loader<'_> {
    /// Whether a URL has been asked for as a file.
    fn has_file(&self, url: &str) -> bool {
        self.context.has(&Need::File { url: url.into() })
    }
}
