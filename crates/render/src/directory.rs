//! Plain manifests in a directory.

use std::sync::Arc;

use lynceus_api::{ApplicationSourceDirectory, Glob};
use lynceus_files::{Diagnostic, Entry, FilePath, Span, Tree, TreeError};
use lynceus_object::{manifest, yaml};

use crate::{Made, Manifest, RenderError, limits};

/// A file that carries this in a comment is left out, whatever its name.
const SKIP_MARK: &[u8] = b"+argocd:skip-file-rendering";

pub(crate) fn render(
    tree: &dyn Tree,
    path: &FilePath,
    options: Option<&ApplicationSourceDirectory>,
) -> Result<Made, RenderError> {
    let chosen = Chosen::new(path, options)?;
    let mut files = Vec::new();
    walk(tree, path, &chosen, 0, &mut files)?;
    let mut directory = Made::default();
    let mut total = 0_u64;
    for file in files {
        let content = match tree.read(&file, limits::FILE_BYTES) {
            Ok(content) => content,
            // The file's own trouble; the other files are still worth reading.
            Err(error) => {
                directory.diagnostics.push(unreadable(&file, &error));
                continue;
            }
        };
        total += content.len() as u64;
        if total > limits::DIRECTORY_BYTES {
            return Err(RenderError::TooLarge {
                path: path.clone(),
                limit: limits::DIRECTORY_BYTES,
                unit: "bytes together",
            });
        }
        read(&file, &content, &mut directory)?;
    }
    Ok(directory)
}

/// Which files of a directory count.
struct Chosen<'a> {
    root: &'a FilePath,
    recurse: bool,
    any_name: bool,
    include: Option<Glob>,
    exclude: Option<Glob>,
}

impl<'a> Chosen<'a> {
    fn new(root: &'a FilePath, options: Option<&ApplicationSourceDirectory>) -> Result<Self, RenderError> {
        let glob = |pattern: Option<&str>| match pattern {
            None | Some("") => Ok(None),
            Some(pattern) => Glob::new(pattern).map(Some),
        };
        Ok(Chosen {
            root,
            recurse: options.is_some_and(|options| options.recurse),
            any_name: options.is_some_and(|options| options.disable_extension_filter),
            include: glob(options.map(|options| options.include.as_str()))?,
            exclude: glob(options.map(|options| options.exclude.as_str()))?,
        })
    }

    /// Patterns see the path below the source's own.
    fn takes(&self, file: &FilePath) -> bool {
        let relative =
            file.as_str().strip_prefix(self.root.as_str()).unwrap_or(file.as_str()).trim_start_matches('/');
        let named = self.any_name || has_extension(file.name(), &["yaml", "yml", "json", "jsonnet"]);
        named
            && !self.exclude.as_ref().is_some_and(|glob| glob.matches(relative))
            && self.include.as_ref().is_none_or(|glob| glob.matches(relative))
    }
}

fn has_extension(name: &str, extensions: &[&str]) -> bool {
    name.rsplit_once('.').is_some_and(|(_, extension)| extensions.contains(&extension))
}

/// Gathers the files in the order of their paths.
fn walk(
    tree: &dyn Tree,
    path: &FilePath,
    chosen: &Chosen<'_>,
    depth: usize,
    files: &mut Vec<FilePath>,
) -> Result<(), RenderError> {
    let too_large =
        |limit: usize, unit| RenderError::TooLarge { path: chosen.root.clone(), limit: limit as u64, unit };
    if depth > limits::DEPTH {
        return Err(too_large(limits::DEPTH, "levels of folders"));
    }
    for (name, entry) in tree.list(path)? {
        let below = path.join(&name)?;
        match entry {
            Entry::Directory if chosen.recurse => walk(tree, &below, chosen, depth + 1, files)?,
            // A link to a folder is not walked: it could lead back up.
            Entry::File | Entry::Link(_) if chosen.takes(&below) => files.push(below),
            _ => {}
        }
        if files.len() > limits::FILES {
            return Err(too_large(limits::FILES, "files"));
        }
    }
    Ok(())
}

fn read(file: &FilePath, content: &Arc<[u8]>, directory: &mut Made) -> Result<(), RenderError> {
    if content.windows(SKIP_MARK.len()).any(|window| window == SKIP_MARK) {
        return Ok(());
    }
    if has_extension(file.name(), &["jsonnet"]) {
        return Err(RenderError::Unsupported { path: file.clone(), tool: "Jsonnet" });
    }
    let found = manifest::read(file, content, &yaml::Options::default());
    directory.manifests.extend(found.objects.into_iter().map(|placed| Manifest {
        object: placed.object,
        span: Span { file: file.clone(), line: placed.line, column: 0 },
        document: placed.document,
    }));
    // Folders hold other YAML too: values, CI settings. What does not look like a manifest is not one gone wrong.
    if looks_like_a_manifest(content) {
        directory.diagnostics.extend(found.diagnostics);
    }
    Ok(())
}

/// Whether a text has a line that starts with one of the fields that every manifest has.
fn looks_like_a_manifest(content: &[u8]) -> bool {
    let text = String::from_utf8_lossy(content);
    text.lines().any(|line| {
        let line = line.trim_start_matches(['{', '"', ' ', '-']);
        ["apiVersion", "kind", "metadata"].iter().any(|field| {
            line.strip_prefix(field).is_some_and(|rest| rest.trim_start_matches(['"', ' ']).starts_with(':'))
        })
    })
}

fn unreadable(file: &FilePath, error: &TreeError) -> Diagnostic {
    let diagnostic = Diagnostic::error(error.to_string()).at(Span { file: file.clone(), line: 0, column: 0 });
    match error {
        TreeError::LfsPointer(_) => {
            diagnostic.hint("commit manifests as plain files: `git lfs untrack` the path and commit it again")
        }
        TreeError::LinkOutside { .. } => {
            diagnostic.hint("copy the file into the repository, or link inside it")
        }
        _ => diagnostic,
    }
}
