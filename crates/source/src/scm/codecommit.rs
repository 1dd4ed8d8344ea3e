//! AWS CodeCommit.

use lynceus_api::ScmProviderGeneratorAwsCodeCommit;
use lynceus_object::{Str, Value, value};

use super::aws::{Amazon, Aws, Keys};
use super::{ScmError, ScmId, ScmRepository};
use crate::limits;
use crate::settings::Settings;

const SERVICE: &str = "codecommit";
const PREFIX: &str = "CodeCommit_20150413";
/// How many repositories are described by one question.
const BATCH: usize = 25;

/// The way to CodeCommit in one region, as one role.
pub(super) struct Door<'a> {
    amazon: Amazon<'a>,
    role: Str,
    keys: tokio::sync::OnceCell<Keys>,
}

impl<'a> Door<'a> {
    pub(super) fn open(
        aws: &'a Aws,
        asked: &ScmProviderGeneratorAwsCodeCommit,
        settings: &Settings,
    ) -> Result<Self, ScmError> {
        let amazon = Amazon::open(aws, &asked.region, settings)?;
        Ok(Door { amazon, role: asked.role.clone(), keys: tokio::sync::OnceCell::new() })
    }

    async fn ask(&self, operation: &str, body: &Value) -> Result<Value, ScmError> {
        self.ask_service(SERVICE, &format!("{PREFIX}.{operation}"), body).await
    }

    async fn ask_service(&self, service: &str, operation: &str, body: &Value) -> Result<Value, ScmError> {
        let keys = self.keys.get_or_try_init(|| self.amazon.keys(&self.role)).await?;
        self.amazon.ask(keys, service, operation, body).await
    }

    /// All pages of a list; each holds a mark from which the next goes on.
    async fn pages(
        &self,
        (service, operation): (&str, &str),
        mut body: Value,
        mark: &str,
        list: &str,
    ) -> Result<Vec<Value>, ScmError> {
        let mut all = Vec::new();
        for _ in 0..limits::MAX_SCM_PAGES {
            let page = self.ask_service(service, operation, &body).await?;
            all.extend_from_slice(items(&page, list)?);
            if all.len() > limits::MAX_SCM_ITEMS {
                break;
            }
            match page.str_at(&[mark]).filter(|mark| !mark.is_empty()) {
                Some(next) => body.set(&[mark], next),
                None => return Ok(all),
            }
        }
        Err(ScmError::TooMuch { host: SERVICE.to_owned(), limit: format!("{} items", limits::MAX_SCM_ITEMS) })
    }

    /// The names of all repositories, or of those with the tags that are asked for.
    async fn names(&self, asked: &ScmProviderGeneratorAwsCodeCommit) -> Result<Vec<Str>, ScmError> {
        if asked.tag_filters.is_empty() {
            let operation = format!("{PREFIX}.ListRepositories");
            let found = self.pages((SERVICE, &operation), value!({}), "nextToken", "repositories").await?;
            return found.iter().map(|one| text(one, "repositoryName")).collect();
        }
        let mut tags: std::collections::BTreeMap<&Str, Vec<Value>> = Default::default();
        for filter in &asked.tag_filters {
            let values = tags.entry(&filter.key).or_default();
            values.extend((!filter.value.is_empty()).then(|| Value::Str(filter.value.clone())));
        }
        let filters: Vec<Value> = tags
            .into_iter()
            .map(|(key, values)| value!({"Key": key.clone(), "Values": Value::Seq(values.into())}))
            .collect();
        let body = value!({"ResourceTypeFilters": ["codecommit:repository"], "TagFilters": Value::Seq(filters.into())});
        let operation = "ResourceGroupsTaggingAPI_20170126.GetResources";
        let found =
            self.pages(("tagging", operation), body, "PaginationToken", "ResourceTagMappingList").await?;
        let name = |one: &Value| {
            let arn = text(one, "ResourceARN")?;
            arn.rsplit_once(':')
                .map(|(_, name)| name.into())
                .ok_or_else(|| malformed("a ResourceARN names nothing"))
        };
        found.iter().map(name).collect()
    }
}

pub(super) async fn repositories(
    door: &Door<'_>,
    asked: &ScmProviderGeneratorAwsCodeCommit,
    protocol: &str,
) -> Result<Vec<ScmRepository>, ScmError> {
    let field = match protocol {
        "" | "https" => "cloneUrlHttp",
        "ssh" => "cloneUrlSsh",
        other => return Err(ScmError::Protocol { asked: other.to_owned() }),
    };
    let names = door.names(asked).await?;
    let mut all = Vec::new();
    for batch in names.chunks(BATCH) {
        let names: Vec<Value> = batch.iter().cloned().map(Value::Str).collect();
        let body = value!({"repositoryNames": Value::Seq(names.into())});
        let answer = door.ask("BatchGetRepositories", &body).await?;
        for item in items(&answer, "repositories")? {
            // One without a commit has no default branch.
            let Some(branch) = item.str_at(&["defaultBranch"]) else { continue };
            all.push(ScmRepository {
                organization: text(item, "accountId")?,
                repository: text(item, "repositoryName")?,
                id: Some(ScmId::Text(text(item, "repositoryId")?)),
                url: text(item, field)?,
                branch: branch.into(),
                sha: Str::new(),
                labels: Vec::new(),
            });
        }
    }
    Ok(all)
}

pub(super) async fn branches(
    door: &Door<'_>,
    asked: &ScmProviderGeneratorAwsCodeCommit,
    of: &ScmRepository,
) -> Result<Vec<ScmRepository>, ScmError> {
    let names: Vec<Str> = if asked.all_branches {
        let operation = format!("{PREFIX}.ListBranches");
        let body = value!({"repositoryName": of.repository.clone()});
        let found = door.pages((SERVICE, &operation), body, "nextToken", "branches").await?;
        let name = |one: &Value| one.as_str().map(Str::from).ok_or_else(|| malformed("a branch is no text"));
        found.iter().map(name).collect::<Result<_, _>>()?
    } else {
        vec![of.branch.clone()]
    };
    let mut all = Vec::new();
    for branch in names {
        let body = value!({"repositoryName": of.repository.clone(), "branchName": branch.clone()});
        match door.ask("GetBranch", &body).await {
            Ok(answer) => {
                let branch_of = answer.get("branch").ok_or_else(|| malformed("a branch is missing"))?;
                let sha = text(branch_of, "commitId")?;
                all.push(ScmRepository { branch, sha, ..of.clone() });
            }
            // It was deleted meanwhile, or the repository has no commit.
            Err(error) if error.is_not_found() => {}
            Err(error) => return Err(error),
        }
    }
    Ok(all)
}

/// A folder is there if it can be listed, and what else there is if its folder lists it.
pub(super) async fn has_path(door: &Door<'_>, of: &ScmRepository, path: &str) -> Result<bool, ScmError> {
    let (folder, _) = path.rsplit_once('/').unwrap_or(("", path));
    let folder = format!("/{folder}");
    let body = value!({
        "repositoryName": of.repository.clone(), "commitSpecifier": of.branch.clone(), "folderPath": folder,
    });
    let answer = match door.ask("GetFolder", &body).await {
        Ok(answer) => answer,
        Err(error) if error.is_not_found() => return Ok(false),
        Err(error) => return Err(error),
    };
    let kinds = ["files", "subFolders", "symbolicLinks", "subModules"];
    let has = |kind: &&str| {
        answer
            .items_at(&[kind])
            .iter()
            .any(|one| one.str_at(&["absolutePath"]).is_some_and(|own| own.trim_start_matches('/') == path))
    };
    if !kinds.iter().any(|kind| answer.get(kind).and_then(Value::as_seq).is_some()) {
        return Err(malformed("it lists nothing of a folder"));
    }
    Ok(path.is_empty() || kinds.iter().any(has))
}

/// The items of a list; an answer without it is none, and not an empty list.
fn items<'v>(answer: &'v Value, list: &str) -> Result<&'v [Value], ScmError> {
    let found = answer.get(list).and_then(Value::as_seq);
    found.ok_or_else(|| malformed(&format!("{list} is not a list")))
}

fn text(item: &Value, field: &str) -> Result<Str, ScmError> {
    let found = item.str_at(&[field]).map(Str::from);
    found.ok_or_else(|| malformed(&format!("an item has no {field}")))
}

fn malformed(reason: &str) -> ScmError {
    ScmError::Malformed {
        host: SERVICE.to_owned(),
        path: "a question for a list".to_owned(),
        reason: reason.to_owned(),
    }
}
