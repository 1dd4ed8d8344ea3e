//! What an ApplicationSet generates where there is no installation that could be asked.

use std::sync::Arc;

use jiff::Timestamp;
use lynceus_api::ApplicationSet;
use lynceus_appset::{Answer, Answers, Cluster, Generation, Need, Outcome, generate};
use lynceus_files::Tree;
use lynceus_source::{Repository, Sources};

use super::generate::Surroundings;
use crate::ambience::Ambience;
use crate::limits;

/// What there is to generate from: repositories, and the clusters that are known.
pub struct Outlook<'a> {
    /// How repositories are read.
    pub sources: &'a Sources,
    /// The clusters that are registered, beside the installation's own.
    pub clusters: &'a [Cluster],
    /// The time, for templates that ask.
    pub now: Timestamp,
    /// Is told of each repository and revision before it is read, and says whether the repository is one that has to be there.
    pub reads: &'a dyn Fn(&str, &str) -> bool,
}

/// What comes of it.
pub enum Foreseen {
    /// What it generates, and what is wrong with it.
    Generated(Generation),
    /// What only others can answer, and so nothing is known: a host, a plugin, an object of a cluster, a repository elsewhere.
    Unanswered(String),
}

/// Generates a set as far as repositories and clusters alone can tell.
pub async fn foresee(set: &ApplicationSet, outlook: &Outlook<'_>) -> Foreseen {
    let mut answers = Answers::new();
    for _ in 0..limits::SET_ROUNDS {
        let needs = match generate(set, &answers, &mut Surroundings(Ambience::at(outlook.now))) {
            Outcome::Done(generation) => return Foreseen::Generated(generation),
            Outcome::Needs(needs) => needs,
        };
        for need in needs {
            match outlook.answer(&need).await {
                Ok(answer) => answers.give(&need, answer),
                Err(why) => return Foreseen::Unanswered(why),
            }
        }
    }
    Foreseen::Unanswered("it needs more and more, and never ends".to_owned())
}

impl Outlook<'_> {
    async fn answer(&self, need: &Need) -> Result<Answer, String> {
        let (repo, revision) = match need {
            Need::Clusters => return Ok(Answer::Clusters(self.clusters.to_vec())),
            Need::Tree { repo, revision, .. } => (repo, revision),
            other => return Err(format!("it needs {other}, and nobody is asked")),
        };
        let has_to_be_there = (self.reads)(repo, revision);
        match self.tree(repo, revision).await {
            Ok(tree) => Ok(Answer::Tree(tree)),
            Err(why) if has_to_be_there => Ok(Answer::Failed(why)),
            Err(why) => Err(format!("it needs {need}, which cannot be had: {why}")),
        }
    }

    async fn tree(&self, repo: &str, revision: &str) -> Result<Arc<dyn Tree>, String> {
        let repository = Repository::at(repo);
        let found = self.sources.resolve(&repository, revision).await;
        let found = found.map_err(|error| crate::words(&error))?;
        self.sources.tree(&repository, &found).await.map_err(|error| crate::words(&error))
    }
}
