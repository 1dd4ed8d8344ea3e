//! Parameters from open pull requests.

use lynceus_api::PullRequestGenerator;

use super::filter::Pattern;
use super::{Element, Found, World, unexpected, values, wrong};
use crate::need::{Answer, Need, PullRequest};
use crate::param::{Param, Params};
use crate::place::Place;
use crate::slug::{USUAL, slugify};

pub(super) fn elements(
    world: &World<'_, '_>,
    asked: &PullRequestGenerator,
    place: &Place,
) -> Found<Vec<Element>> {
    check_provider(asked, place)?;
    let filters = filters(asked, place)?;
    let need = Need::PullRequests { provider: Box::new(asked.clone()) };
    let found = match world.ask(need.clone(), place)? {
        Answer::PullRequests(found) => found.as_slice(),
        Answer::NotFound(_) if asked.continue_on_repo_not_found_error => &[],
        Answer::NotFound(what) => {
            let message = format!(
                "{what} is not there; continueOnRepoNotFoundError would take that for no pull requests"
            );
            return Err(wrong(place, message));
        }
        _ => return Err(unexpected(place, &need)),
    };
    let mut all = Vec::new();
    for pull in found {
        if filters.is_empty() || filters.iter().any(|filter| filter.fits(pull)) {
            all.push(element(world, asked, pull, place, all.len())?);
        }
    }
    Ok(all)
}

fn check_provider(asked: &PullRequestGenerator, place: &Place) -> Found<()> {
    let has = [
        asked.github.is_some(),
        asked.gitlab.is_some(),
        asked.gitea.is_some(),
        asked.bitbucket_server.is_some(),
        asked.bitbucket.is_some(),
        asked.azuredevops.is_some(),
    ];
    match has.iter().filter(|has| **has).count() {
        1 => Ok(()),
        0 => Err(wrong(
            place,
            "it names no host; add github, gitlab, gitea, bitbucketServer, bitbucket or azuredevops",
        )),
        _ => Err(wrong(place, "it names several hosts; use one generator for each")),
    }
}

/// All that is set has to fit.
struct Filter {
    branch: Pattern,
    target: Pattern,
    title: Pattern,
}

impl Filter {
    fn fits(&self, pull: &PullRequest) -> bool {
        self.branch.fits(&pull.branch)
            && self.target.fits(&pull.target_branch)
            && self.title.fits(&pull.title)
    }
}

fn filters(asked: &PullRequestGenerator, place: &Place) -> Found<Vec<Filter>> {
    let read = |filter: &lynceus_api::PullRequestGeneratorFilter| {
        Ok(Filter {
            branch: Pattern::new(filter.branch_match.as_ref(), "branchMatch", place)?,
            target: Pattern::new(filter.target_branch_match.as_ref(), "targetBranchMatch", place)?,
            title: Pattern::new(filter.title_match.as_ref(), "titleMatch", place)?,
        })
    };
    asked.filters.iter().map(read).collect()
}

fn element(
    world: &World<'_, '_>,
    asked: &PullRequestGenerator,
    pull: &PullRequest,
    place: &Place,
    at: usize,
) -> Found<Element> {
    let source = format!("pull request {}", pull.number);
    let place = Place { source: Some(source.clone()), ..place.element(at) };
    let mut params = Params::from([
        ("number".into(), pull.number.to_string().into()),
        ("title".into(), pull.title.clone().into()),
        ("branch".into(), pull.branch.clone().into()),
        ("branch_slug".into(), slug(&pull.branch).into()),
        ("target_branch".into(), pull.target_branch.clone().into()),
        ("target_branch_slug".into(), slug(&pull.target_branch).into()),
        ("head_sha".into(), pull.head_sha.clone().into()),
        ("head_short_sha".into(), short(&pull.head_sha, 8).into()),
        ("head_short_sha_7".into(), short(&pull.head_sha, 7).into()),
        ("author".into(), pull.author.clone().into()),
    ]);
    if world.engine.go {
        params.insert("labels".into(), Param::Texts(pull.labels.clone()));
    }
    values::add(world, &asked.values, &mut params, &place)?;
    Ok(Element::new(params, source))
}

fn slug(branch: &str) -> String {
    slugify(&branch.trim().replace('_', "-"), USUAL, true)
}

/// The first characters of a commit.
pub(super) fn short(sha: &str, length: usize) -> &str {
    sha.get(..length).unwrap_or(sha)
}
