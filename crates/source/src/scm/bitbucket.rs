//! Bitbucket Cloud.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use lynceus_api::{PullRequestGeneratorBitbucket, ScmProviderGeneratorBitbucket};
use lynceus_object::{Str, Value};
use reqwest::Url;

use super::web::{Opening, Web, number, text};
use super::{Protocol, ScmError, ScmId, ScmKeys, ScmPullRequest, ScmRepository};

const PUBLIC: &str = "https://api.bitbucket.org/2.0";
const PAGE: &str = "50";

/// The way in for a user, or with a token alone.
pub(super) fn opening(api: &str, user: &str, keys: &ScmKeys) -> Opening {
    let token = keys.token.reveal().trim();
    let credential = match (user, token) {
        (_, "") => None,
        ("", token) => Some(format!("Bearer {token}")),
        (user, password) => Some(format!("Basic {}", STANDARD.encode(format!("{user}:{password}")))),
    };
    Opening {
        base: if api.is_empty() { PUBLIC } else { api.trim_end_matches('/') }.to_owned(),
        is_named: !api.is_empty(),
        credential: credential.map(|text| ("authorization", text.into())),
        certificate_authority: keys.certificate_authority.clone(),
        insecure: false,
    }
}

/// All pages of a list; each holds the address of the next.
async fn pages(web: &Web, path: &[&str], query: &[(&str, &str)]) -> Result<Vec<Value>, ScmError> {
    let mut query = query.to_vec();
    query.push(("pagelen", PAGE));
    let (mut all, mut budget) = (Vec::new(), web.budget());
    let mut page = web.get(path, &query).await?;
    loop {
        let items = page.items(web, &["values"])?;
        budget.page(items.len())?;
        all.extend_from_slice(items);
        let Some(next) = page.value.str_at(&["next"]).filter(|next| !next.is_empty()) else { return Ok(all) };
        let next = Url::parse(next).map_err(|error| web.malformed("next", error.to_string()))?;
        page = web.get_at(next).await?;
    }
}

pub(super) async fn repositories(
    web: &Web,
    asked: &ScmProviderGeneratorBitbucket,
    protocol: &str,
) -> Result<Vec<ScmRepository>, ScmError> {
    let protocol = Protocol::read(protocol)?;
    let mut all = Vec::new();
    for item in pages(web, &["repositories", &asked.owner], &[]).await? {
        let link = protocol.choose("ssh", "https");
        let links = item.items_at(&["links", "clone"]).iter();
        let url =
            links.filter(|one| one.str_at(&["name"]) == Some(link)).find_map(|one| one.str_at(&["href"]));
        all.push(ScmRepository {
            organization: asked.owner.clone(),
            repository: text(web, &item, &["slug"])?,
            id: item.str_at(&["uuid"]).map(|id| ScmId::Text(id.into())),
            url: url.ok_or_else(|| web.malformed("repositories", format!("one has no {link} link")))?.into(),
            branch: item.str_at(&["mainbranch", "name"]).unwrap_or_default().into(),
            sha: Str::new(),
            labels: Vec::new(),
        });
    }
    Ok(all)
}

pub(super) async fn branches(
    web: &Web,
    asked: &ScmProviderGeneratorBitbucket,
    of: &ScmRepository,
) -> Result<Vec<ScmRepository>, ScmError> {
    let path = ["repositories", of.organization.as_str(), of.repository.as_str(), "refs", "branches"];
    let found = if asked.all_branches {
        pages(web, &path, &[]).await?
    } else if of.branch.is_empty() {
        Vec::new()
    } else {
        let page = web.find(&[&path[..], &[of.branch.as_str()]].concat(), &[]).await?;
        page.map(|page| page.value).into_iter().collect()
    };
    let branch = |item: &Value| {
        let (branch, sha) = (text(web, item, &["name"])?, text(web, item, &["target", "hash"])?);
        Ok(ScmRepository { branch, sha, ..of.clone() })
    };
    found.iter().map(branch).collect()
}

/// By the commit: the name of a branch may hold slashes, which the API takes for folders.
pub(super) async fn has_path(web: &Web, of: &ScmRepository, path: &str) -> Result<bool, ScmError> {
    let revision = if of.sha.is_empty() { &of.branch } else { &of.sha };
    let mut place =
        vec!["repositories", of.organization.as_str(), of.repository.as_str(), "src", revision.as_str()];
    place.extend(path.split('/'));
    web.exists(&place, &[("format", "meta")]).await
}

pub(super) async fn pull_requests(
    web: &Web,
    asked: &PullRequestGeneratorBitbucket,
) -> Result<Vec<ScmPullRequest>, ScmError> {
    let mut all = Vec::new();
    let path = ["repositories", &asked.owner, &asked.repo, "pullrequests"];
    for item in pages(web, &path, &[("state", "OPEN")]).await? {
        all.push(ScmPullRequest {
            number: number(web, &item, &["id"])?,
            title: text(web, &item, &["title"])?,
            branch: text(web, &item, &["source", "branch", "name"])?,
            target_branch: text(web, &item, &["destination", "branch", "name"])?,
            head_sha: text(web, &item, &["source", "commit", "hash"])?,
            author: item.str_at(&["author", "nickname"]).unwrap_or_default().into(),
            labels: Vec::new(),
        });
    }
    Ok(all)
}
