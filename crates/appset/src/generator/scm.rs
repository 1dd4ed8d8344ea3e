//! Parameters from the repositories of an organisation.

use lynceus_api::{ScmProviderGenerator, ScmProviderGeneratorFilter};
use lynceus_object::Str;

use super::filter::Pattern;
use super::pull_request::short;
use super::{Element, Found, Stop, World, unexpected, values, wrong};
use crate::name::normalize;
use crate::need::{Answer, Need, Repository, RepositoryId};
use crate::param::{Param, Params};
use crate::place::Place;

/// Repositories are filtered before anything is asked about their branches: a host counts its requests.
pub(super) fn elements(
    world: &World<'_, '_>,
    asked: &ScmProviderGenerator,
    place: &Place,
) -> Found<Vec<Element>> {
    check_provider(asked, place)?;
    let filters = filters(asked, place)?;
    let provider = Box::new(asked.clone());
    let all = repositories(world, Need::Repositories { provider: provider.clone() }, place)?;
    let of_repositories: Vec<&Filter> =
        filters.iter().filter(|filter| filter.looks_at == LooksAt::Repository).collect();
    let of_branches: Vec<&Filter> =
        filters.iter().filter(|filter| filter.looks_at == LooksAt::Branch).collect();
    let chosen = chosen(world, asked, &of_repositories, all, place)?;
    let mut branches = Vec::new();
    let mut needs = false;
    for repository in chosen {
        match repositories(
            world,
            Need::Branches { provider: provider.clone(), repository: repository.clone() },
            place,
        ) {
            Ok(found) => branches.extend_from_slice(found),
            Err(Stop::Need) => needs = true,
            Err(fault) => return Err(fault),
        }
    }
    if needs {
        return Err(Stop::Need);
    }
    let mut elements = Vec::new();
    for repository in self::chosen(world, asked, &of_branches, &branches, place)? {
        elements.push(element(world, asked, &repository, place, elements.len())?);
    }
    Ok(elements)
}

fn check_provider(asked: &ScmProviderGenerator, place: &Place) -> Found<()> {
    let has = [
        asked.github.is_some(),
        asked.gitlab.is_some(),
        asked.bitbucket.is_some(),
        asked.bitbucket_server.is_some(),
        asked.gitea.is_some(),
        asked.azure_dev_ops.is_some(),
        asked.aws_code_commit.is_some(),
    ];
    match has.iter().filter(|has| **has).count() {
        1 => Ok(()),
        0 => Err(wrong(
            place,
            "it names no host; add github, gitlab, bitbucket, bitbucketServer, gitea, azureDevOps or awsCodeCommit",
        )),
        _ => Err(wrong(place, "it names several hosts; use one generator for each")),
    }
}

fn repositories<'a>(world: &'a World<'_, '_>, need: Need, place: &Place) -> Found<&'a [Repository]> {
    match world.ask(need.clone(), place)? {
        Answer::Repositories(found) => Ok(found),
        _ => Err(unexpected(place, &need)),
    }
}

/// What a filter is applied to: one that looks at branches or paths waits until the branches are known.
#[derive(Clone, Copy, PartialEq, Eq)]
enum LooksAt {
    Nothing,
    Repository,
    Branch,
}

struct Filter {
    repository: Pattern,
    label: Pattern,
    branch: Pattern,
    exist: Vec<Str>,
    do_not_exist: Vec<Str>,
    looks_at: LooksAt,
}

fn filters(asked: &ScmProviderGenerator, place: &Place) -> Found<Vec<Filter>> {
    asked.filters.iter().map(|filter| read(filter, place)).collect()
}

fn read(filter: &ScmProviderGeneratorFilter, place: &Place) -> Found<Filter> {
    let paths = !filter.paths_exist.is_empty() || !filter.paths_do_not_exist.is_empty();
    let looks_at = if paths || filter.branch_match.is_some() {
        LooksAt::Branch
    } else if filter.repository_match.is_some() || filter.label_match.is_some() {
        LooksAt::Repository
    } else {
        LooksAt::Nothing
    };
    Ok(Filter {
        repository: Pattern::new(filter.repository_match.as_ref(), "repositoryMatch", place)?,
        label: Pattern::new(filter.label_match.as_ref(), "labelMatch", place)?,
        branch: Pattern::new(filter.branch_match.as_ref(), "branchMatch", place)?,
        exist: filter.paths_exist.clone(),
        do_not_exist: filter.paths_do_not_exist.clone(),
        looks_at,
    })
}

/// The repositories that any filter fits; all of them if there is none.
fn chosen(
    world: &World<'_, '_>,
    asked: &ScmProviderGenerator,
    filters: &[&Filter],
    all: &[Repository],
    place: &Place,
) -> Found<Vec<Repository>> {
    if filters.is_empty() {
        return Ok(all.to_vec());
    }
    let mut chosen = Vec::new();
    let mut needs = false;
    for repository in all {
        match fits_any(world, asked, filters, repository, place) {
            Ok(true) => chosen.push(repository.clone()),
            Ok(false) => {}
            Err(Stop::Need) => needs = true,
            Err(fault) => return Err(fault),
        }
    }
    if needs { Err(Stop::Need) } else { Ok(chosen) }
}

fn fits_any(
    world: &World<'_, '_>,
    asked: &ScmProviderGenerator,
    filters: &[&Filter],
    repository: &Repository,
    place: &Place,
) -> Found<bool> {
    for filter in filters {
        if filter.fits_names(repository) && fits_paths(world, asked, filter, repository, place)? {
            return Ok(true);
        }
    }
    Ok(false)
}

impl Filter {
    fn fits_names(&self, of: &Repository) -> bool {
        self.repository.fits(&of.repository)
            && self.branch.fits(&of.branch)
            && self.label.fits_any(&of.labels)
    }
}

fn fits_paths(
    world: &World<'_, '_>,
    asked: &ScmProviderGenerator,
    filter: &Filter,
    repository: &Repository,
    place: &Place,
) -> Found<bool> {
    let wanted = filter.exist.iter().map(|path| (path, true));
    for (path, wanted) in wanted.chain(filter.do_not_exist.iter().map(|path| (path, false))) {
        let path = path.trim_end_matches('/').into();
        let need = Need::Path { provider: Box::new(asked.clone()), repository: repository.clone(), path };
        match world.ask(need.clone(), place)? {
            Answer::Exists(exists) if *exists == wanted => {}
            Answer::Exists(_) => return Ok(false),
            _ => return Err(unexpected(place, &need)),
        }
    }
    Ok(true)
}

fn element(
    world: &World<'_, '_>,
    asked: &ScmProviderGenerator,
    of: &Repository,
    place: &Place,
    at: usize,
) -> Found<Element> {
    let source = format!("{of} branch {}", of.branch);
    let place = Place { source: Some(source.clone()), ..place.element(at) };
    let id = match &of.id {
        Some(RepositoryId::Number(number)) => Param::Int(*number),
        Some(RepositoryId::Text(text)) => Param::Text(text.clone()),
        None => Param::Null,
    };
    let mut params = Params::from([
        ("organization".into(), of.organization.clone().into()),
        ("repository".into(), of.repository.clone().into()),
        ("repository_id".into(), id),
        ("url".into(), of.url.clone().into()),
        ("branch".into(), of.branch.clone().into()),
        ("branchNormalized".into(), normalize(&of.branch).into()),
        ("sha".into(), of.sha.clone().into()),
        ("short_sha".into(), short(&of.sha, 8).into()),
        ("short_sha_7".into(), short(&of.sha, 7).into()),
        ("labels".into(), of.labels.join(",").into()),
    ]);
    values::add(world, &asked.values, &mut params, &place)?;
    Ok(Element::new(params, source))
}
