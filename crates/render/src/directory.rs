//! Plain manifests in a directory.

use lynceus_api::ApplicationSourceDirectory;
use lynceus_api::Glob;
use lynceus_files::{Diagnostic, Entry, FilePath, Severity, Span, Tree, TreeError};
use lynceus_object::{manifest, yaml};

use crate::environment::Environment;
use crate::job::Job;
use crate::jsonnet::Jsonnet;
use crate::{Made, Manifest, RenderError, limits};

/// A file that carries this in a comment is left out, whatever its name.
const SKIP_MARK: &[u8] = b"+argocd:skip-file-rendering";

pub(crate) fn render(tree: &dyn Tree, path: &FilePath, job: &Job<'_>) -> Result<Made, RenderError> {
    let options = job.source.directory.as_ref();
    let environment = Environment::new(job.setting, job.source);
    let chosen = Chosen::new(path, options)?;
    let jsonnet = Jsonnet::new(tree, path, options, &environment)?;
    let mut files = Vec::new();
    walk(tree, path, &chosen, 0, &mut files)?;
    let mut directory = Made::default();
    let mut total = 0_u64;
    let mut has_programs = false;
    let most = job.setting.directory_bytes.unwrap_or(limits::DIRECTORY_BYTES);
    for file in files {
        let is_program = has_extension(file.name(), &["jsonnet"]);
        if is_program && !job.setting.tools.jsonnet {
            continue;
        }
        let content = match tree.read(&file, most) {
            Ok(content) => content,
            // The file's own trouble; the other files are still worth reading.
            Err(error) => {
                directory.diagnostics.push(unreadable(tree, &file, &error));
                continue;
            }
        };
        if content.windows(SKIP_MARK.len()).any(|window| window == SKIP_MARK) {
            continue;
        }
        // Programs have bounds of their own: what counts is what they make.
        if is_program {
            has_programs = true;
            evaluate(&jsonnet, &file, &content, &mut directory);
            continue;
        }
        total += content.len() as u64;
        if total > most {
            return Err(RenderError::TooLarge { path: path.clone(), limit: most, unit: "bytes together" });
        }
        read(&file, &content, &mut directory);
    }
    directory.names_revision = has_programs && environment.names_revision();
    directory.names_setting = has_programs && environment.names_setting() || has_overrides(tree, path)?;
    Ok(directory)
}

/// Whether the folder has parameters for applications by their names.
fn has_overrides(tree: &dyn Tree, path: &FilePath) -> Result<bool, RenderError> {
    Ok(tree.list(path)?.iter().any(|(name, _)| name.starts_with(".argocd-source-")))
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

/// Takes what a program makes.
fn evaluate(jsonnet: &Jsonnet<'_>, file: &FilePath, content: &[u8], directory: &mut Made) {
    let values = match jsonnet.evaluate(file, content) {
        Ok(values) => values,
        Err(diagnostic) => return directory.diagnostics.push(diagnostic),
    };
    let found = manifest::of_values(file, values);
    take(file, found.objects, directory);
    directory.diagnostics.extend(found.diagnostics);
}

/// Takes what stands in a file of YAML or JSON.
fn read(file: &FilePath, content: &[u8], directory: &mut Made) {
    let found = manifest::read(file, content, &yaml::Options::default());
    let found_some = !found.objects.is_empty();
    let is_json = has_extension(file.name(), &["json"]);
    if is_json && found.objects.iter().any(|placed| placed.document > 0) {
        let several = Diagnostic::error("a JSON file holds one object, and this one holds several")
            .at(Span { file: file.clone(), line: 0, column: 0 })
            .hint("put them into a List, or into files of their own");
        directory.diagnostics.push(several);
        return;
    }
    take(file, found.objects, directory);
    // Folders hold other YAML too: values, CI settings. What does not look like a manifest is not one gone wrong.
    match Likeness::of(content, found.is_broken) {
        _ if found_some => directory.diagnostics.extend(found.diagnostics),
        Likeness::Manifest => directory.diagnostics.extend(found.diagnostics),
        Likeness::Perhaps => directory.diagnostics.extend(found.diagnostics.into_iter().map(|diagnostic| {
            Diagnostic { severity: diagnostic.severity.min(Severity::Warning), ..diagnostic }
        })),
        Likeness::None => {}
    }
}

fn take(file: &FilePath, objects: Vec<manifest::Manifest>, directory: &mut Made) {
    directory.manifests.extend(objects.into_iter().map(|placed| Manifest {
        object: placed.object,
        span: Span { file: file.clone(), line: placed.line, column: 0 },
        document: placed.document,
    }));
}

/// How much a text that holds no object looks as if it should.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Likeness {
    /// It has all the fields that a manifest has. This is where Argo CD gives up on the application.
    Manifest,
    /// It has two of them at the beginnings of lines, or one and is no YAML: worth a word, but Argo CD passes it over.
    Perhaps,
    None,
}

impl Likeness {
    fn of(content: &[u8], is_broken: bool) -> Self {
        const FIELDS: [&str; 3] = ["apiVersion", "kind", "metadata"];
        let text = String::from_utf8_lossy(content);
        let has =
            |field: &&&str| text.contains(&format!("{field}:")) || text.contains(&format!("\"{field}\""));
        if FIELDS.iter().filter(has).count() == FIELDS.len() {
            return Likeness::Manifest;
        }
        let begins = |field: &&&str| {
            text.lines().any(|line| {
                let line = line.trim_start_matches(['{', '"']);
                line.strip_prefix(**field)
                    .is_some_and(|rest| rest.trim_start_matches(['"', ' ']).starts_with(':'))
            })
        };
        let enough = if is_broken { 1 } else { 2 };
        if FIELDS.iter().filter(begins).count() >= enough { Likeness::Perhaps } else { Likeness::None }
    }
}

fn unreadable(tree: &dyn Tree, file: &FilePath, error: &TreeError) -> Diagnostic {
    // A link to nothing, or to what is not a file, is passed over as in Argo CD.
    if matches!(error, TreeError::NotFound(_) | TreeError::NotA(..))
        && let Ok(Entry::Link(target)) = tree.entry(file)
    {
        return Diagnostic::warning(format!("{file} is a symbolic link to {target:?}, which is not a file"))
            .at(Span { file: file.clone(), line: 0, column: 0 });
    }
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
