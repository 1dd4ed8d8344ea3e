//! Parameters from the directories or files of a repository.

use std::sync::Arc;

use lynceus_api::{GitFileGeneratorItem, GitGenerator};
use lynceus_files::{Entry, FilePath, Tree};
use lynceus_object::{Str, Value, yaml};

use super::{Element, Found, World, unexpected, values, wrong};
use crate::flatten::flat_params;
use crate::glob::{fits_directory, fits_file, fixed_part};
use crate::limits;
use crate::name::normalize;
use crate::need::{Answer, Need};
use crate::param::{Param, Params, kind, params_of};
use crate::place::Place;

pub(super) fn elements(world: &World<'_, '_>, asked: &GitGenerator, place: &Place) -> Found<Vec<Element>> {
    if asked.directories.is_empty() && asked.files.is_empty() {
        return Err(wrong(place, "it has neither directories nor files"));
    }
    let tree = tree(world, asked, place)?;
    if asked.directories.is_empty() {
        from_files(world, asked, &*tree, place)
    } else {
        from_directories(world, asked, &*tree, place)
    }
}

fn tree(world: &World<'_, '_>, asked: &GitGenerator, place: &Place) -> Found<Arc<dyn Tree>> {
    let project = &world.set.spec.template.spec.project;
    let project = if project.contains("{{") { Str::new() } else { project.clone() };
    let need = Need::Tree { repo: asked.repo_url.clone(), revision: asked.revision.clone(), project };
    match world.ask(need.clone(), place)? {
        Answer::Tree(tree) => Ok(Arc::clone(tree)),
        _ => Err(unexpected(place, &need)),
    }
}

fn from_directories(
    world: &World<'_, '_>,
    asked: &GitGenerator,
    tree: &dyn Tree,
    place: &Place,
) -> Found<Vec<Element>> {
    let chosen = asked.directories.iter().filter(|item| !item.exclude).map(|item| item.path.as_str());
    let mut found = Walk::new(tree, place, chosen);
    found.directories(&FilePath::default(), 0)?;
    let mut all = Vec::new();
    for path in found.paths {
        if !is_chosen(asked, &path, place)? {
            continue;
        }
        let source = format!("directory {path}");
        let place = Place { source: Some(source.clone()), ..place.element(all.len()) };
        let mut params = directory(world.engine.go, &asked.path_param_prefix, &path);
        values::add(world, &asked.values, &mut params, &place)?;
        all.push(Element::new(params, source));
    }
    Ok(all)
}

/// A directory that any pattern excludes is out, whatever others say.
fn is_chosen(asked: &GitGenerator, path: &str, place: &Place) -> Found<bool> {
    let (mut included, mut excluded) = (false, false);
    for item in &asked.directories {
        if fits_directory(&item.path, path).map_err(|error| wrong(place, error.to_string()))? {
            included |= !item.exclude;
            excluded |= item.exclude;
        }
    }
    Ok(included && !excluded)
}

fn directory(go: bool, prefix: &str, path: &str) -> Params {
    let facts = [("basename", base(path).into()), ("basenameNormalized", normalize(base(path)).into())];
    located(go, prefix, path, &facts)
}

/// The parameters under `path`, with or without a prefix.
fn located(go: bool, prefix: &str, path: &str, facts: &[(&str, Str)]) -> Params {
    let facts = facts.iter().map(|(name, text)| (*name, Param::Text(text.clone())));
    let segments = path.split('/');
    if go {
        let mut inner: Params = facts.map(|(name, text)| (name.into(), text)).collect();
        inner.insert("path".into(), path.into());
        inner.insert("segments".into(), Param::Texts(segments.map(Str::from).collect()));
        let inner = Params::from([("path".into(), Param::Map(inner))]);
        return if prefix.is_empty() { inner } else { Params::from([(prefix.into(), Param::Map(inner))]) };
    }
    let name = if prefix.is_empty() { "path".to_owned() } else { format!("{prefix}.path") };
    let mut params: Params = facts.map(|(fact, text)| (format!("{name}.{fact}").into(), text)).collect();
    let segments = segments.enumerate().filter(|(_, segment)| !segment.is_empty());
    params.extend(segments.map(|(at, segment)| (format!("{name}[{at}]").into(), segment.into())));
    params.insert(name.into(), path.into());
    params
}

fn from_files(
    world: &World<'_, '_>,
    asked: &GitGenerator,
    tree: &dyn Tree,
    place: &Place,
) -> Found<Vec<Element>> {
    let chosen = asked.files.iter().filter(|item| !item.exclude).map(|item| item.path.as_str());
    let mut found = Walk::new(tree, place, chosen);
    found.files(&FilePath::default(), 0)?;
    found.paths.sort_unstable();
    let mut all = Vec::new();
    for path in &found.paths {
        if is_listed(&asked.files, path, false, place)? && !is_listed(&asked.files, path, true, place)? {
            let source = format!("file {path}");
            let place = Place { source: Some(source.clone()), ..place.element(all.len()) };
            for mut params in of_file(world, asked, tree, path, &place)? {
                values::add(world, &asked.values, &mut params, &place)?;
                all.push(Element::new(params, source.clone()));
            }
        }
    }
    Ok(all)
}

fn is_listed(items: &[GitFileGeneratorItem], path: &str, exclude: bool, place: &Place) -> Found<bool> {
    for item in items.iter().filter(|item| item.exclude == exclude) {
        if item.path.starts_with(':') {
            let message =
                format!("the path {:?} begins with a colon, which only Git itself reads", item.path);
            return Err(wrong(place, message));
        }
        if fits_file(&item.path, path).map_err(|error| wrong(place, error.to_string()))? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// A file holds one set of parameters, or a list of them; an empty one holds a set without any.
fn of_file(
    world: &World<'_, '_>,
    asked: &GitGenerator,
    tree: &dyn Tree,
    path: &str,
    place: &Place,
) -> Found<Vec<Params>> {
    let file = FilePath::new(path).map_err(|error| wrong(place, error.to_string()))?;
    let content = tree.read(&file, limits::FILE_BYTES).map_err(|error| wrong(place, error.to_string()))?;
    let value =
        yaml::parse(&content).map_err(|error| wrong(place, format!("it is not YAML or JSON: {error}")))?;
    let items = match value {
        Value::Null => vec![Value::Map(Default::default())],
        Value::Seq(items) => items.into_iter().collect(),
        other => vec![other],
    };
    let mut all = Vec::new();
    for item in items {
        let own = match &item {
            Value::Null => Params::new(),
            item => params_of(item).ok_or_else(|| {
                let message = "it has to be a map, or a list of maps";
                wrong(place, format!("it holds {}: {message}", kind(item)))
            })?,
        };
        all.push(with_place(world.engine.go, asked, path, own).map_err(|why| wrong(place, why))?);
    }
    Ok(all)
}

fn with_place(go: bool, asked: &GitGenerator, path: &str, own: Params) -> Result<Params, String> {
    let mut params = if go { own } else { flat_params(&own)? };
    let (directory, name) = path.rsplit_once('/').unwrap_or((".", path));
    let facts = [
        ("basename", base(directory).into()),
        ("filename", name.into()),
        ("basenameNormalized", normalize(base(directory)).into()),
        ("filenameNormalized", normalize(name).into()),
    ];
    params.extend(located(go, &asked.path_param_prefix, directory, &facts));
    Ok(params)
}

fn base(path: &str) -> &str {
    path.rsplit_once('/').map_or(path, |(_, name)| name)
}

/// A walk through a repository, which does not go on for ever, nor where no pattern leads: what is not looked at may change
/// without anything being generated again.
struct Walk<'a> {
    tree: &'a dyn Tree,
    place: &'a Place,
    /// Where the patterns lead, as far as that is certain.
    ways: Vec<String>,
    paths: Vec<String>,
    seen: usize,
}

impl<'a> Walk<'a> {
    fn new(tree: &'a dyn Tree, place: &'a Place, patterns: impl Iterator<Item = &'a str>) -> Self {
        let ways = patterns.map(|pattern| fixed_part(pattern).to_owned()).collect();
        Walk { tree, place, ways, paths: Vec::new(), seen: 0 }
    }

    /// Whether anything in a directory may be meant.
    fn leads_to(&self, directory: &FilePath) -> bool {
        let is_in = |one: &str, other: &str| {
            other.is_empty()
                || one == other
                || one.strip_prefix(other).is_some_and(|rest| rest.starts_with('/'))
        };
        let directory = directory.as_str();
        self.ways.iter().any(|way| is_in(way, directory) || is_in(directory, way))
    }

    /// All directories but hidden ones, each before those in it.
    fn directories(&mut self, at: &FilePath, depth: usize) -> Found<()> {
        for (name, entry) in self.list(at, depth)? {
            if matches!(entry, Entry::Directory | Entry::Submodule(_)) && !name.starts_with('.') {
                let path = self.join(at, &name)?;
                self.paths.push(path.as_str().to_owned());
                if entry == Entry::Directory && self.leads_to(&path) {
                    self.directories(&path, depth + 1)?;
                }
            }
        }
        Ok(())
    }

    /// All files, hidden ones as well.
    fn files(&mut self, at: &FilePath, depth: usize) -> Found<()> {
        for (name, entry) in self.list(at, depth)? {
            let path = self.join(at, &name)?;
            match entry {
                Entry::Directory if !self.leads_to(&path) => {}
                Entry::Directory => self.files(&path, depth + 1)?,
                Entry::File | Entry::Link(_) => self.paths.push(path.as_str().to_owned()),
                Entry::Submodule(_) => {}
            }
        }
        Ok(())
    }

    fn list(&mut self, at: &FilePath, depth: usize) -> Found<Vec<(String, Entry)>> {
        let entries = self.tree.list(at).map_err(|error| wrong(self.place, error.to_string()))?;
        self.seen += entries.len();
        if self.seen > limits::TREE_ENTRIES || depth > limits::TREE_DEPTH {
            let message = format!(
                "the repository has more than {} files, or directories deeper than {}",
                limits::TREE_ENTRIES,
                limits::TREE_DEPTH
            );
            return Err(wrong(self.place, message));
        }
        Ok(entries)
    }

    fn join(&self, at: &FilePath, name: &str) -> Found<FilePath> {
        at.join(name).map_err(|error| wrong(self.place, error.to_string()))
    }
}
