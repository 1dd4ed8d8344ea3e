//! What tests of rendering are given: files as text, and a world that stands still.
#![allow(dead_code, reason = "not every test needs everything")]

use std::time::Duration;

use lynceus_api::ApplicationSource;
use lynceus_files::{FilePath, MemoryTree, Tree};
use lynceus_helm::World;
use lynceus_render::{Bases, Charts, Fetched, Job, References, RenderError, Rendered, Setting};

/// Builds a tree from `=== path` headers and the text below each; `=== path -> target` is a symbolic link.
pub(crate) fn tree(text: &str) -> MemoryTree {
    let mut tree = MemoryTree::new();
    let mut file: Option<(FilePath, String)> = None;
    for line in text.lines().chain(["=== end"]) {
        let Some(header) = line.strip_prefix("=== ") else {
            if let Some((_, content)) = &mut file {
                content.push_str(line);
                content.push('\n');
            }
            continue;
        };
        if let Some((path, content)) = file.take() {
            tree.insert(path, content.into_bytes());
        }
        match header.split_once(" -> ") {
            Some((link, target)) => tree.insert_link(FilePath::new(link).unwrap(), target),
            None => file = Some((FilePath::new(header).unwrap(), String::new())),
        }
    }
    tree
}

/// A clock that stands still, and chance that is none.
pub(crate) struct Still;

impl World for Still {
    fn now(&self) -> Duration {
        Duration::from_secs(1_700_000_000)
    }

    fn random(&mut self, bytes: &mut [u8]) {
        bytes.fill(7);
    }
}

/// Renders a source that needs nothing but its files.
pub(crate) fn render(tree: &dyn Tree, source: &ApplicationSource) -> Result<Rendered, RenderError> {
    render_in(&Setting::default(), tree, source)
}

/// The same for a certain application and installation.
pub(crate) fn render_in(
    setting: &Setting,
    tree: &dyn Tree,
    source: &ApplicationSource,
) -> Result<Rendered, RenderError> {
    let (references, fetched) = (References::new(), Fetched::new());
    let job = Job {
        tree,
        source,
        setting,
        references: &references,
        fetched: &fetched,
        bases: &Bases::new(),
        charts: &Charts::none(),
    };
    lynceus_render::render(&job, &mut Still)
}
