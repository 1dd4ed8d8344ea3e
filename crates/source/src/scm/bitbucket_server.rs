//! Bitbucket Server, also called Data Center.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use lynceus_api::{PullRequestGeneratorBitbucketServer, ScmProviderGeneratorBitbucketServer};
use lynceus_object::{Str, Value};

use super::web::{Opening, Web, number, text};
use super::{Protocol, ScmError, ScmId, ScmKeys, ScmPullRequest, ScmRepository};

const PAGE: &str = "100";

pub(super) fn opening(api: &str, insecure: bool, keys: &ScmKeys) -> Opening {
    let base = api.trim_end_matches('/');
    let base = base.strip_suffix("/rest").unwrap_or(base);
    let token = keys.token.reveal().trim();
    let credential = match (keys.username.as_str(), token) {
        (_, "") => None,
        ("", token) => Some(format!("Bearer {token}")),
        (user, password) => Some(format!("Basic {}", STANDARD.encode(format!("{user}:{password}")))),
    };
    Opening {
        base: format!("{base}/rest/api/1.0"),
        is_named: true,
        credential: credential.map(|text| ("authorization", text.into())),
        certificate_authority: keys.certificate_authority.clone(),
        insecure,
    }
}

/// All pages of a list; each says where the next begins.
async fn pages(web: &Web, path: &[&str]) -> Result<Vec<Value>, ScmError> {
    let (mut all, mut budget) = (Vec::new(), web.budget());
    let mut start = "0".to_owned();
    loop {
        let page = web.get(path, &[("limit", PAGE), ("start", &start)]).await?;
        let items = page.items(web, &["values"])?;
        budget.page(items.len())?;
        all.extend_from_slice(items);
        let is_last = page.value.bool_at(&["isLastPage"]);
        if is_last.ok_or_else(|| web.malformed(&path.join("/"), "it has no isLastPage".to_owned()))? {
            return Ok(all);
        }
        start = number(web, &page.value, &["nextPageStart"])?.to_string();
    }
}

pub(super) async fn repositories(
    web: &Web,
    asked: &ScmProviderGeneratorBitbucketServer,
    protocol: &str,
) -> Result<Vec<ScmRepository>, ScmError> {
    let link = Protocol::read(protocol)?.choose("ssh", "http");
    let mut all = Vec::new();
    for item in pages(web, &["projects", &asked.project, "repos"]).await? {
        let links = item.items_at(&["links", "clone"]).iter();
        let url =
            links.filter(|one| one.str_at(&["name"]) == Some(link)).find_map(|one| one.str_at(&["href"]));
        let project = text(web, &item, &["project", "key"])?;
        let slug = text(web, &item, &["slug"])?;
        // Its list of repositories does not name the default branch.
        let default = web.find(&["projects", &project, "repos", &slug, "branches", "default"], &[]).await;
        let branch = match default {
            Ok(page) => page.and_then(|page| page.value.str_at(&["displayId"]).map(Str::from)),
            // A repository without a commit has none, and is answered with nothing at all.
            Err(ScmError::Malformed { reason, .. }) if reason == "it is empty" => None,
            Err(error) => return Err(error),
        };
        all.push(ScmRepository {
            organization: project,
            repository: slug,
            id: Some(ScmId::Number(number(web, &item, &["id"])?)),
            url: url.ok_or_else(|| web.malformed("repos", format!("one has no {link} link")))?.into(),
            branch: branch.unwrap_or_default(),
            sha: Str::new(),
            labels: Vec::new(),
        });
    }
    Ok(all)
}

pub(super) async fn branches(
    web: &Web,
    asked: &ScmProviderGeneratorBitbucketServer,
    of: &ScmRepository,
) -> Result<Vec<ScmRepository>, ScmError> {
    let path = ["projects", of.organization.as_str(), "repos", of.repository.as_str(), "branches"];
    let mut found = pages(web, &path).await?;
    if !asked.all_branches {
        found.retain(|item| item.str_at(&["displayId"]) == Some(&of.branch));
    }
    let branch = |item: &Value| {
        let (branch, sha) = (text(web, item, &["displayId"])?, text(web, item, &["latestCommit"])?);
        Ok(ScmRepository { branch, sha, ..of.clone() })
    };
    found.iter().map(branch).collect()
}

pub(super) async fn has_path(web: &Web, of: &ScmRepository, path: &str) -> Result<bool, ScmError> {
    let mut place = vec!["projects", of.organization.as_str(), "repos", of.repository.as_str(), "browse"];
    place.extend(path.split('/'));
    web.exists(&place, &[("at", &of.branch), ("type", "true"), ("limit", "1")]).await
}

pub(super) async fn pull_requests(
    web: &Web,
    asked: &PullRequestGeneratorBitbucketServer,
) -> Result<Vec<ScmPullRequest>, ScmError> {
    let mut all = Vec::new();
    // Open ones are what it lists unasked.
    for item in pages(web, &["projects", &asked.project, "repos", &asked.repo, "pull-requests"]).await? {
        all.push(ScmPullRequest {
            number: number(web, &item, &["id"])?,
            title: text(web, &item, &["title"])?,
            branch: text(web, &item, &["fromRef", "displayId"])?,
            target_branch: text(web, &item, &["toRef", "displayId"])?,
            head_sha: text(web, &item, &["fromRef", "latestCommit"])?,
            author: item.str_at(&["author", "user", "name"]).unwrap_or_default().into(),
            labels: Vec::new(),
        });
    }
    Ok(all)
}
