//! Templates that know each other by name.

use std::collections::HashMap;
use std::sync::Arc;

use crate::parse::{Delims, Source, Tree, parse};
use crate::{Error, Functions, Str};

/// A set of parsed templates. It can be shared between threads.
#[derive(Clone)]
pub struct Templates {
    name: Str,
    functions: Arc<Functions>,
    delims: Delims,
    trees: HashMap<Str, Arc<Tree>>,
    /// The set that this one adds to.
    below: Option<Arc<Templates>>,
}

/// The result of parsing one text: templates that can be added to sets again and again.
#[derive(Clone)]
pub struct Parsed {
    trees: Arc<[Arc<Tree>]>,
    /// Whether the text defines a template of its own name.
    defines_itself: bool,
}

impl Parsed {
    /// What the same text is under another name, without reading it again; nothing if that is not the same, because the
    /// text defines a template of one of the names.
    pub fn named(&self, name: &Str) -> Option<Self> {
        let (own, defined) = self.trees.split_last().filter(|_| !self.defines_itself)?;
        if defined.iter().any(|tree| tree.name == *name) {
            return None;
        }
        let source = Arc::new(Source { name: name.clone(), text: own.source.text.clone() });
        let under = |tree: &Tree, name: &Str| {
            Arc::new(Tree { name: name.clone(), source: Arc::clone(&source), root: Arc::clone(&tree.root) })
        };
        let trees = defined.iter().map(|tree| under(tree, &tree.name)).chain([under(own, name)]);
        Some(Self { trees: trees.collect(), defines_itself: false })
    }
}

impl Templates {
    /// An empty set. The name shows where a template is asked for that does not exist.
    pub fn new(name: impl Into<Str>, functions: Arc<Functions>) -> Self {
        Self { name: name.into(), functions, delims: Delims::default(), trees: HashMap::new(), below: None }
    }

    /// Marks actions differently; an empty mark means Go's own.
    #[must_use]
    pub fn with_delims(mut self, left: &str, right: &str) -> Self {
        let Delims { left: default_left, right: default_right } = Delims::default();
        let or = |given: &str, default| if given.is_empty() { default } else { given.to_owned() };
        self.delims = Delims { left: or(left, default_left), right: or(right, default_right) };
        self
    }

    /// A set with the same templates, to which more can be added without changing this one.
    #[must_use]
    pub fn layer(self: &Arc<Self>) -> Self {
        Self {
            name: self.name.clone(),
            functions: Arc::clone(&self.functions),
            delims: self.delims.clone(),
            trees: HashMap::new(),
            below: Some(Arc::clone(self)),
        }
    }

    /// The name of the set.
    pub fn name(&self) -> &Str {
        &self.name
    }

    /// Parses a text, which becomes the template of that name, and adds what is defined in it.
    pub fn parse(&mut self, name: &Str, text: &Str) -> Result<Arc<Tree>, Box<Error>> {
        let parsed = self.read(name, text)?;
        Ok(self.add(name, &parsed))
    }

    /// Parses a text without adding anything.
    pub fn read(&self, name: &Str, text: &Str) -> Result<Parsed, Box<Error>> {
        let (trees, defines_itself) = parse(name, text, &self.delims, &self.functions)?;
        Ok(Parsed { trees: trees.into(), defines_itself })
    }

    /// Adds what was parsed under a name, and gives the template of that name.
    ///
    /// A template with nothing but spaces does not replace one that exists, but is still given.
    pub fn add(&mut self, name: &Str, parsed: &Parsed) -> Arc<Tree> {
        for tree in &*parsed.trees {
            if !tree.is_empty() || self.lookup(tree.name()).is_none() {
                self.trees.insert(tree.name.clone(), Arc::clone(tree));
            }
        }
        let own = parsed.trees.iter().find(|tree| tree.name == *name);
        own.or(parsed.trees.last()).map_or_else(|| Arc::new(Tree::empty(name)), Arc::clone)
    }

    /// The template of a name.
    pub fn lookup(&self, name: &str) -> Option<&Arc<Tree>> {
        let mut set = self;
        loop {
            match (set.trees.get(name), &set.below) {
                (Some(tree), _) => return Some(tree),
                (None, Some(below)) => set = below,
                (None, None) => return None,
            }
        }
    }

    /// The names of all templates, sorted.
    pub fn names(&self) -> Vec<Str> {
        let mut names: Vec<Str> = self.below.as_ref().map_or_else(Vec::new, |below| below.names());
        names.extend(self.trees.keys().cloned());
        names.sort_unstable();
        names.dedup();
        names
    }
}
