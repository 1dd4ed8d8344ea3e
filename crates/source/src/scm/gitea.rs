//! Gitea, and Forgejo, which answers alike.

use lynceus_api::{PullRequestGeneratorGitea, ScmProviderGeneratorGitea};
use lynceus_object::{Str, Value};

use super::github::opened;
use super::web::{Opening, Web, labels, number, text};
use super::{Protocol, ScmError, ScmId, ScmKeys, ScmPullRequest, ScmRepository, has_labels};

const PAGE: usize = 50;

pub(super) fn opening(api: &str, insecure: bool, keys: &ScmKeys) -> Opening {
    let base = api.trim_end_matches('/');
    let credential = (!keys.token.is_empty())
        .then(|| ("authorization", format!("token {}", keys.token.reveal().trim()).into()));
    Opening {
        base: if base.ends_with("/api/v1") { base.to_owned() } else { format!("{base}/api/v1") },
        is_named: true,
        credential,
        certificate_authority: keys.certificate_authority.clone(),
        insecure,
    }
}

/// All pages of a list. A server may give fewer items at once than it was asked for, so only an empty page, or one less
/// than the total that the server names, is the last.
async fn pages(web: &Web, path: &[&str], query: &[(&str, &str)]) -> Result<Vec<Value>, ScmError> {
    let (mut all, mut budget) = (Vec::new(), web.budget());
    let limit = PAGE.to_string();
    for number in 1_usize.. {
        let number = number.to_string();
        let mut query = query.to_vec();
        query.extend([("limit", limit.as_str()), ("page", number.as_str())]);
        let page = web.get(path, &query).await?;
        let items = page.items(web, &[])?;
        budget.page(items.len())?;
        all.extend_from_slice(items);
        let total = page.header("x-total-count").and_then(|text| text.parse::<usize>().ok());
        if items.is_empty() || total.is_some_and(|total| all.len() >= total) {
            break;
        }
    }
    Ok(all)
}

pub(super) async fn repositories(
    web: &Web,
    asked: &ScmProviderGeneratorGitea,
    protocol: &str,
) -> Result<Vec<ScmRepository>, ScmError> {
    let protocol = Protocol::read(protocol)?;
    let mut all = Vec::new();
    for item in pages(web, &["orgs", &asked.owner, "repos"], &[]).await? {
        if asked.exclude_archived_repos && item.bool_at(&["archived"]) == Some(true) {
            continue;
        }
        let name = text(web, &item, &["name"])?;
        let found = pages(web, &["repos", &asked.owner, &name, "labels"], &[]).await?;
        all.push(ScmRepository {
            organization: asked.owner.clone(),
            id: Some(ScmId::Number(number(web, &item, &["id"])?)),
            url: text(web, &item, &[protocol.choose("ssh_url", "clone_url")])?,
            branch: text(web, &item, &["default_branch"])?,
            sha: Str::new(),
            labels: found.iter().map(|label| text(web, label, &["name"])).collect::<Result<_, _>>()?,
            repository: name,
        });
    }
    Ok(all)
}

pub(super) async fn branches(
    web: &Web,
    asked: &ScmProviderGeneratorGitea,
    of: &ScmRepository,
) -> Result<Vec<ScmRepository>, ScmError> {
    let path = ["repos", of.organization.as_str(), of.repository.as_str(), "branches"];
    let found = if asked.all_branches {
        pages(web, &path, &[]).await?
    } else {
        let page = web.find(&[&path[..], &[of.branch.as_str()]].concat(), &[]).await?;
        page.map(|page| page.value).into_iter().collect()
    };
    let branch = |item: &Value| {
        let (branch, sha) = (text(web, item, &["name"])?, text(web, item, &["commit", "id"])?);
        Ok(ScmRepository { branch, sha, ..of.clone() })
    };
    found.iter().map(branch).collect()
}

pub(super) async fn pull_requests(
    web: &Web,
    asked: &PullRequestGeneratorGitea,
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
