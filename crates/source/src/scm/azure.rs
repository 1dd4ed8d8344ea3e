//! Azure DevOps.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use lynceus_api::{PullRequestGeneratorAzureDevOps, ScmProviderGeneratorAzureDevOps};
use lynceus_object::{Str, Value};

use super::web::{Opening, Web, labels, number, text};
use super::{Protocol, ScmError, ScmId, ScmKeys, ScmPullRequest, ScmRepository, has_labels};

const PUBLIC: &str = "https://dev.azure.com";
const VERSION: (&str, &str) = ("api-version", "7.0");
const PAGE: usize = 100;

/// The way in with a personal access token, which goes as the password of nobody.
pub(super) fn opening(api: &str, keys: &ScmKeys) -> Opening {
    let token = keys.token.reveal().trim();
    let credential = (!token.is_empty()).then(|| format!("Basic {}", STANDARD.encode(format!(":{token}"))));
    Opening {
        base: if api.is_empty() { PUBLIC } else { api.trim_end_matches('/') }.to_owned(),
        is_named: !api.is_empty(),
        credential: credential.map(|text| ("authorization", text.into())),
        certificate_authority: keys.certificate_authority.clone(),
        insecure: false,
    }
}

/// The name of a branch without what all branches begin with.
fn short(reference: &str) -> Str {
    reference.strip_prefix("refs/heads/").unwrap_or(reference).into()
}

pub(super) async fn repositories(
    web: &Web,
    asked: &ScmProviderGeneratorAzureDevOps,
    protocol: &str,
) -> Result<Vec<ScmRepository>, ScmError> {
    let field = Protocol::read_or(protocol, Protocol::Https)?.choose("sshUrl", "remoteUrl");
    let path = [asked.organization.as_str(), asked.team_project.as_str(), "_apis", "git", "repositories"];
    let page = web.get(&path, &[VERSION]).await?;
    let items = page.items(web, &["value"])?;
    web.budget().page(items.len())?;
    let mut all = Vec::new();
    for item in items {
        // One that is switched off, or has no commit, cannot be read.
        let branch = item.str_at(&["defaultBranch"]).filter(|branch| !branch.is_empty());
        let Some(branch) = branch.filter(|_| item.bool_at(&["isDisabled"]) != Some(true)) else { continue };
        all.push(ScmRepository {
            organization: asked.organization.clone(),
            repository: text(web, item, &["name"])?,
            id: Some(ScmId::Text(text(web, item, &["id"])?)),
            url: text(web, item, &[field])?,
            branch: short(branch),
            sha: Str::new(),
            labels: Vec::new(),
        });
    }
    Ok(all)
}

fn place<'a>(asked: &'a ScmProviderGeneratorAzureDevOps, of: &'a ScmRepository) -> [&'a str; 6] {
    let id = match &of.id {
        Some(ScmId::Text(id)) => id,
        _ => &of.repository,
    };
    [&asked.organization, &asked.team_project, "_apis", "git", "repositories", id]
}

pub(super) async fn branches(
    web: &Web,
    asked: &ScmProviderGeneratorAzureDevOps,
    of: &ScmRepository,
) -> Result<Vec<ScmRepository>, ScmError> {
    let path = [&place(asked, of)[..], &["stats", "branches"]].concat();
    let found: Vec<Value> = if asked.all_branches {
        let page = web.get(&path, &[VERSION]).await?;
        let items = page.items(web, &["value"])?;
        web.budget().page(items.len())?;
        items.to_vec()
    } else {
        let page = web.find(&path, &[("name", &of.branch), VERSION]).await?;
        page.map(|page| page.value).into_iter().collect()
    };
    let branch = |item: &Value| {
        let (branch, sha) = (text(web, item, &["name"])?, text(web, item, &["commit", "commitId"])?);
        Ok(ScmRepository { branch, sha, ..of.clone() })
    };
    found.iter().map(branch).collect()
}

pub(super) async fn has_path(
    web: &Web,
    asked: &ScmProviderGeneratorAzureDevOps,
    of: &ScmRepository,
    path: &str,
) -> Result<bool, ScmError> {
    let query = [
        ("path", path),
        ("versionDescriptor.versionType", "branch"),
        ("versionDescriptor.version", &of.branch),
        ("includeContentMetadata", "true"),
        ("$format", "json"),
        VERSION,
    ];
    web.exists(&[&place(asked, of)[..], &["items"]].concat(), &query).await
}

pub(super) async fn pull_requests(
    web: &Web,
    asked: &PullRequestGeneratorAzureDevOps,
) -> Result<Vec<ScmPullRequest>, ScmError> {
    let path = [
        asked.organization.as_str(),
        &asked.project,
        "_apis",
        "git",
        "repositories",
        &asked.repo,
        "pullrequests",
    ];
    let (mut all, mut budget, mut skip) = (Vec::new(), web.budget(), 0);
    loop {
        let (top, skipped) = (PAGE.to_string(), skip.to_string());
        let query = [
            ("searchCriteria.status", "active"),
            ("$top", top.as_str()),
            ("$skip", skipped.as_str()),
            VERSION,
        ];
        let page = web.get(&path, &query).await?;
        let items = page.items(web, &["value"])?;
        budget.page(items.len())?;
        for item in items {
            let labels = labels(web, item, "labels", Some("name"))?;
            if has_labels(&labels, &asked.labels) {
                all.push(pull_request(web, item, labels)?);
            }
        }
        if items.len() < PAGE {
            return Ok(all);
        }
        skip += items.len();
    }
}

fn pull_request(web: &Web, item: &Value, labels: Vec<Str>) -> Result<ScmPullRequest, ScmError> {
    let author = item.str_at(&["createdBy", "uniqueName"]).unwrap_or_default();
    Ok(ScmPullRequest {
        number: number(web, item, &["pullRequestId"])?,
        title: text(web, item, &["title"])?,
        branch: short(&text(web, item, &["sourceRefName"])?),
        target_branch: short(&text(web, item, &["targetRefName"])?),
        head_sha: text(web, item, &["lastMergeSourceCommit", "commitId"])?,
        author: author.split_once('@').map_or(author, |(name, _)| name).into(),
        labels,
    })
}
