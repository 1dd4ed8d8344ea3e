//! What the last generation of a set was made of.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use lynceus_api::Application;
use lynceus_appset::{Answer, Answers, Generation, Need};
use lynceus_object::{Str, Value, json};

use super::watched::Watched;

/// An answer, and what tells it from others.
#[derive(Clone)]
pub(super) struct Kept {
    pub(super) need: Need,
    pub(super) answer: Answer,
    pub(super) mark: Mark,
    /// When it was asked for, on the monotonic clock.
    pub(super) asked: Duration,
}

/// What tells answers apart.
#[derive(Clone)]
pub(super) enum Mark {
    /// The answer itself, or what cannot be the same for two.
    Text(String),
    /// The files of a commit.
    Tree { commit: String, files: Arc<Watched> },
}

impl Kept {
    pub(super) fn new(need: Need, answer: Answer, asked: Duration) -> Self {
        let mark = Mark::Text(text(&answer));
        Kept { need, answer, mark, asked }
    }

    pub(super) fn tree(need: Need, commit: String, files: Arc<Watched>, asked: Duration) -> Self {
        Kept { need, answer: Answer::Tree(files.clone()), mark: Mark::Tree { commit, files }, asked }
    }

    /// Whether something made of this would be the same if made of another.
    fn is_same_as(&self, other: &Kept) -> bool {
        match (&self.mark, &other.mark) {
            (Mark::Text(one), Mark::Text(another)) => one == another,
            (Mark::Tree { commit, files }, Mark::Tree { commit: other, files: others }) => {
                Arc::ptr_eq(files, others)
                    || (commit == other && others.counts_as_seen(files))
                    || files.is_same_in(others)
            }
            _ => false,
        }
    }

    pub(super) fn has_failed(&self) -> bool {
        matches!(self.answer, Answer::Failed(_))
    }
}

fn text(answer: &Answer) -> String {
    match answer {
        Answer::Clusters(clusters) => format!("{clusters:?}"),
        Answer::Tree(_) => String::new(),
        Answer::ConfigMap(data) => format!("{data:?}"),
        Answer::Objects(objects) => json::to_string(&Value::Seq(objects.clone().into())),
        Answer::Parameters(sets) => {
            let maps: Vec<Value> = sets.iter().cloned().map(Value::Map).collect();
            json::to_string(&Value::Seq(maps.into()))
        }
        Answer::Repositories(found) => format!("{found:?}"),
        Answer::Exists(yes) => yes.to_string(),
        Answer::PullRequests(found) => format!("{found:?}"),
        Answer::NotFound(what) => format!("not found: {what}"),
        Answer::Failed(why) => format!("failed: {why}"),
    }
}

/// The last generation of a set.
#[derive(Clone)]
pub(super) struct Memory {
    /// The set without its status: what it is generated from besides the answers.
    pub(super) wish: String,
    pub(super) kept: BTreeMap<String, Kept>,
    pub(super) generation: Arc<Generation>,
    /// The Applications that were seen in the cluster as this generation has them.
    pub(super) brought: HashSet<Str>,
}

impl Memory {
    /// The Applications that were seen as another generation has them, too: it has them just the same.
    pub(super) fn still_brought(&self, by: &Generation) -> HashSet<Str> {
        let before: HashMap<&Str, &Application> = self
            .generation
            .applications
            .iter()
            .map(|one| (&one.application.metadata.name, &one.application))
            .collect();
        let is_same = |app: &&Application| before.get(&app.metadata.name).is_some_and(|other| other == app);
        let now = by.applications.iter().map(|one| &one.application).filter(is_same);
        now.map(|app| app.metadata.name.clone()).filter(|name| self.brought.contains(name)).collect()
    }

    /// Whether generating with other answers would come to the same. Every answer that was used has to be there.
    pub(super) fn holds(&self, wish: &str, now: &BTreeMap<String, Kept>) -> bool {
        self.wish == wish
            && self.kept.iter().all(|(id, kept)| now.get(id).is_some_and(|other| kept.is_same_as(other)))
    }
}

/// The answers as the pure crate takes them.
pub(super) fn answers(kept: &BTreeMap<String, Kept>) -> Answers {
    let mut answers = Answers::new();
    for one in kept.values() {
        answers.give(&one.need, one.answer.clone());
    }
    answers
}
