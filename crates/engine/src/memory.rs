//! What sources became, kept for as long as it is likely to be asked for again.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use lynceus_files::{Severity, Tree};
use lynceus_object::Str;
use lynceus_render::{References, Rendered, Setting, SourceType, Tools};

/// How long what nobody asks for is kept.
pub(crate) const FORGOTTEN: SignedDuration = SignedDuration::from_hours(24);

/// What a source became, and what it was made of.
#[derive(Clone)]
pub(crate) struct Made {
    pub(crate) rendered: Arc<Rendered>,
    /// What it was made for; none if that makes no difference.
    setting: Option<Setting>,
    /// The tools that could be used for it.
    tools: Tools,
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
        // A folder of manifests is the same for all, unless it asks who it is for.
        let asks = rendered.source_type != SourceType::Directory || rendered.names_setting;
        let (tools, setting) = (setting.tools, asks.then(|| anywhere(setting)));
        Made { rendered: Arc::new(rendered), setting, tools, is_self_contained, fingerprint }
    }

    /// Whether it would be the same for an application of this setting, [`anywhere`].
    fn suits(&self, setting: &Setting) -> bool {
        self.tools == setting.tools && self.setting.as_ref().is_none_or(|own| own == setting)
    }

    /// Whether rendering anew would give the same: none of the files that were read has changed. A commit to another
    /// folder costs no rendering.
    pub(crate) fn is_still_so(&self, trees: (&dyn Tree, &References)) -> bool {
        self.is_self_contained
            && !self.rendered.names_revision
            && self.fingerprint.is_some()
            && fingerprint(&self.rendered, trees) == self.fingerprint
    }
}

/// A setting at no revision in particular, as settings are compared.
pub(crate) fn anywhere(setting: &Setting) -> Setting {
    Setting { revision: Str::default(), ..setting.clone() }
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

/// How many renderings of one source for one application are kept: one revision may be delivered while another is
/// compared.
const PER_APPLICATION: usize = 2;

/// The last renderings of every source that somebody still asks for.
#[derive(Default)]
pub(crate) struct Memory {
    sources: HashMap<String, Kept>,
}

/// The renderings of one source, the newest last: of one setting, or of as many as it is rendered for.
struct Kept {
    made: Vec<(String, Made)>,
    asked: Timestamp,
}

impl Memory {
    /// What a source became at a revision.
    pub(crate) fn at(
        &mut self,
        source: &str,
        revision: &str,
        request: (&Setting, Timestamp),
    ) -> Option<Made> {
        let (setting, now) = request;
        let kept = self.sources.get_mut(source)?;
        kept.asked = now;
        kept.suiting(setting).find(|(at, _)| at == revision).map(|(_, made)| made.clone())
    }

    /// What a source became last, at whatever revision.
    pub(crate) fn last(&self, source: &str, setting: &Setting) -> Option<Made> {
        self.sources.get(source)?.suiting(setting).next().map(|(_, made)| made.clone())
    }

    /// Keeps what a source became. What nobody has asked for in a day belongs to an application that is gone.
    pub(crate) fn insert(
        &mut self,
        source: String,
        revision: String,
        made: Made,
        request: (&Setting, Timestamp),
    ) {
        let (setting, now) = request;
        self.sources.retain(|_, kept| now.duration_since(kept.asked) < FORGOTTEN);
        let kept = self.sources.entry(source).or_insert_with(|| Kept { made: Vec::new(), asked: now });
        kept.made.retain(|(at, made)| *at != revision || !made.suits(setting));
        if kept.suiting(setting).count() >= PER_APPLICATION
            && let Some(oldest) = kept.made.iter().position(|(_, made)| made.suits(setting))
        {
            kept.made.remove(oldest);
        }
        kept.made.push((revision, made));
    }
}

impl Kept {
    fn suiting<'a>(&'a self, setting: &'a Setting) -> impl Iterator<Item = &'a (String, Made)> {
        self.made.iter().rev().filter(|(_, made)| made.suits(setting))
    }
}

#[cfg(test)]
mod tests {
    use lynceus_files::MemoryTree;

    use super::*;

    fn made(source_type: SourceType, setting: &Setting) -> Made {
        let rendered = Rendered { source_type, ..Rendered::default() };
        Made::new(rendered, setting, (&MemoryTree::default(), &References::new()), true)
    }

    fn of(application: &str) -> Setting {
        Setting { application: application.into(), ..Setting::default() }
    }

    #[test]
    fn applications_with_one_chart_do_not_drive_each_other_out() {
        let (mut memory, now) = (Memory::default(), Timestamp::UNIX_EPOCH);
        let settings: Vec<Setting> = (0..2_000).map(|number| of(&format!("app-{number}"))).collect();
        for setting in &settings {
            memory.insert("chart".into(), "1".into(), made(SourceType::Helm, setting), (setting, now));
        }
        for setting in &settings {
            assert!(memory.at("chart", "1", (setting, now)).is_some(), "{}", setting.application);
        }
        assert!(memory.at("chart", "1", (&of("other"), now)).is_none());
    }

    #[test]
    fn a_folder_of_manifests_is_the_same_for_all_and_two_revisions_are_kept() {
        let (mut memory, now) = (Memory::default(), Timestamp::UNIX_EPOCH);
        for revision in ["1", "2", "3", "2"] {
            let made = made(SourceType::Directory, &of("a"));
            memory.insert("folder".into(), revision.into(), made, (&of("a"), now));
        }
        let mut kept = |revision: &str| memory.at("folder", revision, (&of("b"), now)).is_some();
        assert_eq!([kept("1"), kept("2"), kept("3")], [false, true, true]);
    }

    #[test]
    fn a_chart_read_as_manifests_is_forgotten_when_charts_are_rendered_again() {
        let (mut memory, now) = (Memory::default(), Timestamp::UNIX_EPOCH);
        let off = Setting { tools: Tools { helm: false, ..Tools::default() }, ..of("a") };
        memory.insert("chart".into(), "1".into(), made(SourceType::Directory, &off), (&off, now));
        assert!(memory.at("chart", "1", (&off, now)).is_some());
        assert!(memory.at("chart", "1", (&of("a"), now)).is_none());
    }

    #[test]
    fn a_folder_that_asks_who_it_is_for_is_kept_for_each() {
        let (mut memory, now) = (Memory::default(), Timestamp::UNIX_EPOCH);
        let rendered = Rendered { names_setting: true, ..Rendered::default() };
        let made = Made::new(rendered, &of("a"), (&MemoryTree::default(), &References::new()), true);
        memory.insert("folder".into(), "1".into(), made, (&of("a"), now));
        assert!(memory.at("folder", "1", (&of("a"), now)).is_some());
        assert!(memory.at("folder", "1", (&of("b"), now)).is_none());
    }

    #[test]
    fn what_nobody_asks_for_in_a_day_is_forgotten() {
        let (mut memory, now) = (Memory::default(), Timestamp::UNIX_EPOCH);
        let (setting, later) = (of("a"), now + SignedDuration::from_hours(25));
        memory.insert("old".into(), "1".into(), made(SourceType::Helm, &setting), (&setting, now));
        memory.insert("new".into(), "1".into(), made(SourceType::Helm, &setting), (&setting, later));
        assert!(memory.at("old", "1", (&setting, later)).is_none());
        assert!(memory.at("new", "1", (&setting, later)).is_some());
    }
}
