//! GitLab, the public one and one's own.

use lynceus_api::{PullRequestGeneratorGitLab, ScmProviderGeneratorGitlab};
use lynceus_object::{Str, Value};

use super::web::{Opening, Web, labels, number, text};
use super::{Protocol, ScmError, ScmId, ScmKeys, ScmPullRequest, ScmRepository};

const PUBLIC: &str = "https://gitlab.com";
const PAGE: &str = "100";

pub(super) fn opening(api: &str, insecure: bool, keys: &ScmKeys) -> Opening {
    let base = if api.is_empty() { PUBLIC } else { api.trim_end_matches('/') };
    let base = if base.ends_with("/api/v4") { base.to_owned() } else { format!("{base}/api/v4") };
    Opening {
        base,
        is_named: !api.is_empty(),
        credential: (!keys.token.is_empty()).then(|| ("private-token", keys.token.clone())),
        certificate_authority: keys.certificate_authority.clone(),
        insecure,
    }
}

/// All pages of a list; each names the number of the next.
async fn pages(web: &Web, path: &[&str], query: &[(&str, &str)]) -> Result<Vec<Value>, ScmError> {
    let (mut all, mut budget) = (Vec::new(), web.budget());
    let mut number = "1".to_owned();
    loop {
        let mut query = query.to_vec();
        query.extend([("per_page", PAGE), ("page", number.as_str())]);
        let page = match web.get(path, &query).await {
            // A folder that is not there, or a repository without commits.
            Err(ScmError::NotFound { .. }) if path.last() == Some(&"tree") => return Ok(all),
            page => page?,
        };
        let items = page.items(web, &[])?;
        budget.page(items.len())?;
        all.extend_from_slice(items);
        match page.header("x-next-page") {
            Some(next) => number = next.to_owned(),
            None => return Ok(all),
        }
    }
}

pub(super) async fn repositories(
    web: &Web,
    asked: &ScmProviderGeneratorGitlab,
    protocol: &str,
) -> Result<Vec<ScmRepository>, ScmError> {
    let protocol = Protocol::read(protocol)?;
    let word = |yes: bool| if yes { "true" } else { "false" };
    let mut query = vec![
        ("include_subgroups", word(asked.include_subgroups)),
        ("with_shared", word(asked.include_shared_projects.unwrap_or(true))),
    ];
    if !asked.topic.is_empty() {
        query.push(("topic", &asked.topic));
    }
    if !asked.include_archived_repos {
        query.push(("archived", "false"));
    }
    let mut all = Vec::new();
    for item in pages(web, &["groups", &asked.group, "projects"], &query).await? {
        all.push(ScmRepository {
            organization: text(web, &item, &["namespace", "full_path"])?,
            repository: text(web, &item, &["path"])?,
            id: Some(ScmId::Number(number(web, &item, &["id"])?)),
            url: text(web, &item, &[protocol.choose("ssh_url_to_repo", "http_url_to_repo")])?,
            // A repository without a commit has none.
            branch: item.str_at(&["default_branch"]).unwrap_or_default().into(),
            sha: Str::new(),
            labels: labels(web, &item, "topics", None)?,
        });
    }
    Ok(all)
}

pub(super) async fn branches(
    web: &Web,
    asked: &ScmProviderGeneratorGitlab,
    of: &ScmRepository,
) -> Result<Vec<ScmRepository>, ScmError> {
    let project = project(of);
    let path = ["projects", project.as_str(), "repository", "branches"];
    let found = if asked.all_branches {
        pages(web, &path, &[]).await?
    } else if of.branch.is_empty() {
        Vec::new()
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

fn project(of: &ScmRepository) -> String {
    of.id.as_ref().map_or_else(|| format!("{}/{}", of.organization, of.repository), ToString::to_string)
}

/// A folder is there if it has anything in it, and a file if its folder lists it.
pub(super) async fn has_path(web: &Web, of: &ScmRepository, path: &str) -> Result<bool, ScmError> {
    let project = project(of);
    let place = ["projects", project.as_str(), "repository", "tree"];
    let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
    let listed = pages(web, &place, &[("path", folder), ("ref", &of.branch)]).await?;
    Ok(path.is_empty() || listed.iter().any(|item| item.str_at(&["path"]) == Some(path)))
}

pub(super) async fn pull_requests(
    web: &Web,
    asked: &PullRequestGeneratorGitLab,
) -> Result<Vec<ScmPullRequest>, ScmError> {
    let wanted = asked.labels.join(",");
    let mut query = Vec::new();
    if !wanted.is_empty() {
        query.push(("labels", wanted.as_str()));
    }
    if !asked.pull_request_state.is_empty() {
        query.push(("state", &asked.pull_request_state));
    }
    let mut all = Vec::new();
    for item in pages(web, &["projects", &asked.project, "merge_requests"], &query).await? {
        all.push(ScmPullRequest {
            number: number(web, &item, &["iid"])?,
            title: text(web, &item, &["title"])?,
            branch: text(web, &item, &["source_branch"])?,
            target_branch: text(web, &item, &["target_branch"])?,
            head_sha: text(web, &item, &["sha"])?,
            author: item.str_at(&["author", "username"]).unwrap_or_default().into(),
            labels: labels(web, &item, "labels", None)?,
        });
    }
    Ok(all)
}
