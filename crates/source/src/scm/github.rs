//! GitHub, the public one and those of enterprises.

use lynceus_api::{PullRequestGeneratorGithub, ScmProviderGeneratorGithub};
use lynceus_object::{Str, Value};
use reqwest::Url;

use super::web::{Opening, Web, labels, number, text};
use super::{Protocol, ScmError, ScmId, ScmKeys, ScmPullRequest, ScmRepository, has_labels};

const PUBLIC: &str = "https://api.github.com";
const PAGE: &str = "100";

/// The way to GitHub with a token; without one it is asked as anybody may.
pub(super) fn opening(api: &str, keys: &ScmKeys) -> Opening {
    let credential = (!keys.token.is_empty())
        .then(|| ("authorization", format!("Bearer {}", keys.token.reveal().trim()).into()));
    Opening {
        base: if api.is_empty() { PUBLIC.to_owned() } else { enterprise(api) },
        is_named: !api.is_empty(),
        credential,
        certificate_authority: keys.certificate_authority.clone(),
        insecure: false,
    }
}

/// The API of an enterprise's own GitHub lies in a folder, which users leave out. A host that is only an API has none.
fn enterprise(api: &str) -> String {
    let api = api.trim_end_matches('/');
    let host = Url::parse(api).ok().and_then(|url| url.host_str().map(str::to_owned)).unwrap_or_default();
    if api.ends_with("/api/v3") || host.starts_with("api.") || host.contains(".api.") {
        return api.to_owned();
    }
    format!("{api}/api/v3")
}

/// All pages of a list, which name each other.
async fn pages(web: &Web, path: &[&str], query: &[(&str, &str)]) -> Result<Vec<Value>, ScmError> {
    let mut query = query.to_vec();
    query.push(("per_page", PAGE));
    let (mut all, mut budget) = (Vec::new(), web.budget());
    let mut page = web.get(path, &query).await?;
    loop {
        let items = page.items(web, &[])?;
        budget.page(items.len())?;
        all.extend_from_slice(items);
        match page.next_link(web)? {
            Some(next) => page = web.get_at(next).await?,
            None => return Ok(all),
        }
    }
}

pub(super) async fn repositories(
    web: &Web,
    asked: &ScmProviderGeneratorGithub,
    protocol: &str,
) -> Result<Vec<ScmRepository>, ScmError> {
    let protocol = Protocol::read(protocol)?;
    let mut all = Vec::new();
    for item in pages(web, &["orgs", &asked.organization, "repos"], &[]).await? {
        if asked.exclude_archived_repos && item.bool_at(&["archived"]) == Some(true) {
            continue;
        }
        all.push(ScmRepository {
            organization: text(web, &item, &["owner", "login"])?,
            repository: text(web, &item, &["name"])?,
            id: Some(ScmId::Number(number(web, &item, &["id"])?)),
            url: text(web, &item, &[protocol.choose("ssh_url", "clone_url")])?,
            branch: text(web, &item, &["default_branch"])?,
            sha: Str::new(),
            labels: labels(web, &item, "topics", None)?,
        });
    }
    Ok(all)
}

pub(super) async fn branches(
    web: &Web,
    asked: &ScmProviderGeneratorGithub,
    of: &ScmRepository,
) -> Result<Vec<ScmRepository>, ScmError> {
    let path = ["repos", of.organization.as_str(), of.repository.as_str(), "branches"];
    let found = if asked.all_branches {
        pages(web, &path, &[]).await?
    } else {
        // A repository without a commit has no branch yet.
        let page = web.find(&[&path[..], &[of.branch.as_str()]].concat(), &[]).await?;
        page.map(|page| page.value).into_iter().collect()
    };
    let branch = |item: &Value| {
        let (branch, sha) = (text(web, item, &["name"])?, text(web, item, &["commit", "sha"])?);
        Ok(ScmRepository { branch, sha, ..of.clone() })
    };
    found.iter().map(branch).collect()
}

pub(super) async fn has_path(web: &Web, of: &ScmRepository, path: &str) -> Result<bool, ScmError> {
    let mut place = vec!["repos", of.organization.as_str(), of.repository.as_str(), "contents"];
    place.extend(path.split('/'));
    web.exists(&place, &[("ref", &of.branch)]).await
}

pub(super) async fn pull_requests(
    web: &Web,
    asked: &PullRequestGeneratorGithub,
) -> Result<Vec<ScmPullRequest>, ScmError> {
    let mut all = Vec::new();
    for item in pages(web, &["repos", &asked.owner, &asked.repo, "pulls"], &[("state", "open")]).await? {
        let labels = labels(web, &item, "labels", Some("name"))?;
        if !has_labels(&labels, &asked.labels) {
            continue;
        }
        all.push(opened(web, &item, labels)?);
    }
    Ok(all)
}

/// A pull request as GitHub describes it, and Gitea after it.
pub(super) fn opened(web: &Web, item: &Value, labels: Vec<Str>) -> Result<ScmPullRequest, ScmError> {
    Ok(ScmPullRequest {
        number: number(web, item, &["number"])?,
        title: text(web, item, &["title"])?,
        branch: text(web, item, &["head", "ref"])?,
        target_branch: text(web, item, &["base", "ref"])?,
        head_sha: text(web, item, &["head", "sha"])?,
        // The account may be gone.
        author: item.str_at(&["user", "login"]).unwrap_or_default().into(),
        labels,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_folder_of_an_enterprise_is_added_where_it_is_missing() {
        for (api, base) in [
            ("https://git.example.com", "https://git.example.com/api/v3"),
            ("https://git.example.com/", "https://git.example.com/api/v3"),
            ("https://git.example.com/api/v3/", "https://git.example.com/api/v3"),
            ("https://api.git.example.com", "https://api.git.example.com"),
        ] {
            assert_eq!(enterprise(api), base);
        }
    }
}
