//! What sources became, kept for as long as it is likely to be asked for again.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use lynceus_files::{Severity, Tree};
use lynceus_object::Str;
use lynceus_render::{References, Rendered, Setting, SourceType};

use crate::limits;

/// What a source became, and what it was made of.
#[derive(Clone)]
pub(crate) struct Made {
    pub(crate) rendered: Arc<Rendered>,
    /// What it was made for; none if that makes no difference.
    setting: Option<Setting>,
    /// What was got from elsewhere; a thing that was got may be another the next time.
    is_self_contained: bool,
    /// What the files looked like that were read; none if they cannot be told from others without reading them.
    fingerprint: Option<String>,
}

impl Made {
    pub(crate) fn new(
        rendered: Rendered,
        setting: &Setting,
        trees: (&dyn Tree, &References),
        is_self_contained: bool,
    ) -> Self {
        // What could not be read may be readable the next time.
        let whole = rendered.diagnostics.iter().all(|diagnostic| diagnostic.severity != Severity::Error);
        let fingerprint = whole.then(|| fingerprint(&rendered, trees)).flatten();
        let setting = (rendered.source_type != SourceType::Directory).then(|| setting.clone());
        Made { rendered: Arc::new(rendered), setting, is_self_contained, fingerprint }
    }

    /// Whether it would be the same for an application of this setting; the revision alone makes no difference here.
    pub(crate) fn suits(&self, setting: &Setting) -> bool {
        self.setting.as_ref().is_none_or(|own| {
            let own = Setting { revision: setting.revision.clone(), ..own.clone() };
            own == *setting
        })
    }

    /// Whether rendering anew would give the same: none of the files that were read has changed. A commit to another
    /// folder costs no rendering.
    pub(crate) fn is_still_so(&self, trees: (&dyn Tree, &References)) -> bool {
        self.is_self_contained
            && self.fingerprint.is_some()
            && fingerprint(&self.rendered, trees) == self.fingerprint
    }
}

fn fingerprint(rendered: &Rendered, (tree, references): (&dyn Tree, &References)) -> Option<String> {
    let mut text = rendered.read_set.fingerprint(tree)?;
    let others: &BTreeMap<Str, _> = &rendered.references;
    for (name, read_set) in others {
        let other = references.get(name)?;
        text.push_str(&format!("\n${name}\n{}", read_set.fingerprint(&**other)?));
    }
    Some(text)
}

/// The last renderings, the oldest forgotten first.
#[derive(Default)]
pub(crate) struct Memory {
    entries: HashMap<String, (u64, Made)>,
    uses: u64,
}

impl Memory {
    pub(crate) fn get(&mut self, key: &str) -> Option<Made> {
        self.uses += 1;
        let (used, kept) = self.entries.get_mut(key)?;
        *used = self.uses;
        Some(kept.clone())
    }

    pub(crate) fn insert(&mut self, key: String, kept: Made) {
        self.uses += 1;
        self.entries.insert(key, (self.uses, kept));
        if self.entries.len() > limits::RENDERED {
            let oldest = self.entries.iter().min_by_key(|(_, (used, _))| *used).map(|(key, _)| key.clone());
            if let Some(oldest) = oldest {
                self.entries.remove(&oldest);
            }
        }
    }
}
