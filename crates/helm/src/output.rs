//! What `helm template` prints.

use std::borrow::Cow;

use crate::error::InstallError;
use crate::go::{pattern, text};
use crate::manifest;
use crate::render::Rendering;

/// What is printed of a rendering.
#[derive(Clone, Debug, Default)]
pub struct Output {
    /// Whether the definitions in `crds/` are printed too.
    pub include_crds: bool,
    /// Whether tests are left out.
    pub skip_tests: bool,
    /// Whether all hooks are left out.
    pub no_hooks: bool,
    /// Templates by their paths in the chart, or patterns for them; all if there are none.
    pub show_only: Vec<String>,
}

impl Output {
    /// Prints a rendering.
    pub fn print(&self, rendering: &Rendering) -> Result<Vec<u8>, InstallError> {
        let mut installed = Vec::new();
        for (source, content) in self.installed(rendering) {
            document(&mut installed, source, &content);
        }
        let mut out = trimmed(&installed).to_vec();
        out.push(b'\n');
        for (source, content) in self.hooks(rendering) {
            document(&mut out, source, &content);
        }
        if self.show_only.is_empty() { Ok(out) } else { self.only(&out) }
    }

    /// The documents that would be printed, each with the template that it comes from.
    pub fn documents<'a>(&self, rendering: &'a Rendering) -> Vec<(&'a str, Cow<'a, [u8]>)> {
        self.installed(rendering).chain(self.hooks(rendering)).collect()
    }

    fn installed<'a>(&self, rendering: &'a Rendering) -> impl Iterator<Item = (&'a str, Cow<'a, [u8]>)> {
        let crds = if self.include_crds { rendering.crds.as_slice() } else { &[] };
        let crds = crds.iter().map(|crd| (crd.source.as_str(), Cow::Borrowed(&*crd.content)));
        crds.chain(rendering.manifests.iter().map(|one| (one.source.as_str(), bytes(&one.content))))
    }

    fn hooks<'a>(&self, rendering: &'a Rendering) -> impl Iterator<Item = (&'a str, Cow<'a, [u8]>)> {
        let hooks = if self.no_hooks { &[] } else { rendering.hooks.as_slice() };
        let skip_tests = self.skip_tests;
        let hooks = hooks.iter().filter(move |hook| !(skip_tests && hook.is_test()));
        hooks.map(|hook| (hook.manifest.source.as_str(), bytes(&hook.manifest.content)))
    }

    /// The documents of some templates, in the order in which they were asked for.
    fn only(&self, printed: &[u8]) -> Result<Vec<u8>, InstallError> {
        let printed = String::from_utf8_lossy(printed);
        let documents = manifest::split(&printed);
        let mut out = String::new();
        for wanted in &self.show_only {
            let before = out.len();
            for document in &documents {
                let source = source(document);
                if source.is_some_and(|source| pattern::matches(wanted, source).unwrap_or(false)) {
                    out.push_str(&format!("---\n{document}\n"));
                }
            }
            if out.len() == before {
                return Err(InstallError::NoSuchTemplate(wanted.clone()));
            }
        }
        Ok(out.into_bytes())
    }
}

fn document(out: &mut Vec<u8>, source: &str, content: &[u8]) {
    out.extend_from_slice(format!("---\n# Source: {source}\n").as_bytes());
    out.extend_from_slice(content);
    out.push(b'\n');
}

/// A text of a template as the bytes that it stands for.
fn bytes(content: &str) -> Cow<'_, [u8]> {
    lynceus_gotmpl::bytes_of(content)
}

/// The bytes without spaces at both ends.
fn trimmed(bytes: &[u8]) -> &[u8] {
    match std::str::from_utf8(bytes) {
        Ok(text) => text::trim(text).as_bytes(),
        Err(_) => bytes.trim_ascii(),
    }
}

/// The path in the chart that the first `# Source:` of a document tells.
fn source(document: &str) -> Option<&str> {
    document.lines().find_map(|line| {
        let (_, path) = line.split_once("# Source: ")?;
        let (chart, path) = path.split_once('/')?;
        (!chart.is_empty() && !path.is_empty()).then_some(path)
    })
}
