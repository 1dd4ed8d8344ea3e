//! What is in a repository: branches and tags, charts, and places that applications can be made of.

use std::sync::Arc;

use lynceus_api::{Application, Kind as _};
use lynceus_engine::project::permits_source;
use lynceus_engine::{AppKey, words};
use lynceus_files::{FilePath, Tree};
use lynceus_object::{Value, value};
use lynceus_render::{apps, describe};
use lynceus_source::{Repository, RepositoryKind, SourceError, Target, same};

use super::{READ, entries, object, trial};
use crate::call::{Answered, Call};
use crate::limits;
use crate::refusal::{Code, Refusal};
use crate::rights::Resource;
use crate::services::secrets;

/// Branches and tags.
pub(super) async fn references(call: &Call) -> Answered {
    let repository = asked(call, call.needed("repo")?, call.text("appProject"))?;
    let found = in_time(sources(call).references(&repository)).await?;
    Ok(value!({"branches": found.branches, "tags": found.tags}).into())
}

/// The tags of a registry.
pub(super) async fn tags(call: &Call) -> Answered {
    let mut repository = asked(call, call.needed("repo")?, call.text("appProject"))?;
    repository.kind = RepositoryKind::Oci;
    let tags = in_time(sources(call).artifact_tags(&repository)).await?;
    Ok(value!({"tags": tags}).into())
}

/// The charts of a chart repository, with their versions.
pub(super) async fn charts(call: &Call) -> Answered {
    let mut repository = asked(call, call.needed("repo")?, call.text("appProject"))?;
    repository.kind = RepositoryKind::Helm;
    let listed = async {
        let mut items: Vec<Value> = Vec::new();
        for name in sources(call).charts(&repository).await?.into_iter().take(limits::CHARTS) {
            let versions = sources(call).chart_versions(&repository, &name).await.unwrap_or_default();
            let versions: Vec<String> =
                versions.into_iter().take(limits::CHARTS).map(|one| one.version).collect();
            items.push(value!({"name": name, "versions": versions}));
        }
        Ok(items)
    };
    Ok(value!({"items": in_time(listed).await?}).into())
}

/// The places of a repository that charts and kustomizations are in.
pub(super) async fn applications(call: &Call) -> Answered {
    let url = call.needed("repo")?;
    permitted(call, url, call.text("appName"), call.text("appProject"), None)?;
    let repository = asked(call, url, call.text("appProject"))?;
    let revision = call.text("revision").to_owned();
    let tree = in_time(tree(call, &repository, &revision)).await?;
    let items = tokio::task::spawn_blocking(move || apps(tree.as_ref())).await;
    let items = items.map_err(|_| Refusal::new(Code::Internal, "the repository cannot be looked through"))?;
    Ok(value!({"items": items}).into())
}

/// What an application made of a source can be told: values and parameters.
pub(super) async fn details(call: &Call) -> Answered {
    let Some(source @ Value::Map(_)) = call.request.get("source") else {
        return Err(Refusal::invalid("missing payload in request"));
    };
    let text = |field| source.str_at(&[field]).unwrap_or_default();
    let (url, chart) = (text("repoURL"), text("chart"));
    permitted(call, url, call.text("appName"), call.text("appProject"), Some(source))?;
    let mut repository = asked(call, url, call.text("appProject"))?;
    if !chart.is_empty() {
        repository.kind = RepositoryKind::Helm;
        let version =
            in_time(sources(call).chart_version(&repository, chart, text("targetRevision"))).await?;
        return Ok(value!({"type": "Helm", "helm": {"name": version.name}}).into());
    }
    let path = FilePath::new(text("path")).map_err(|error| Refusal::invalid(error.to_string()))?;
    let tree = in_time(tree(call, &repository, text("targetRevision"))).await?;
    let described = tokio::task::spawn_blocking(move || describe(tree.as_ref(), &path)).await;
    let described = described.map_err(|_| Refusal::new(Code::Internal, "the source cannot be described"))?;
    Ok(described.map_err(|error| Refusal::invalid(error.to_string()))?.into())
}

fn sources(call: &Call) -> &lynceus_source::Sources {
    call.server.engine.renderer().sources()
}

/// The repository that is asked about, with what lets us in, if the caller may see it. One that has no Secret may be asked
/// about by those who may see it by its address.
fn asked(call: &Call, url: &str, project: &str) -> Result<Repository, Refusal> {
    let known = entries(&call.server, READ);
    let at = |project: &str| known.iter().find(|entry| entry.is_at(url) && entry.project == project);
    let entry = at(project).or_else(|| at(""));
    let (name, owner) = entry.map_or((url, ""), |entry| (entry.url.as_str(), entry.project.as_str()));
    call.caller.need(Resource::Repositories, "get", &object(owner, name))?;
    let kind = entry.map(|entry| secrets::text(&entry.secret, "type")).unwrap_or_default();
    Ok(trial::at(&trial::book(&call.server, None), name, owner, &kind))
}

/// Refuses to look into a repository for an application that the caller may not see, or that may not use it. Otherwise
/// credentials of one project would open repositories for another.
fn permitted(
    call: &Call,
    url: &str,
    name: &str,
    project: &str,
    source: Option<&Value>,
) -> Result<(), Refusal> {
    if !name.is_empty() {
        let key = match name.split_once('/') {
            Some((namespace, name)) => AppKey::new(namespace, name),
            None => AppKey::new(call.server.namespace(), name),
        };
        match call.server.engine.home().cache().get(&key.object_key()) {
            Some(object) => {
                call.caller.need(Resource::Applications, "get", &call.application_object(&object))?;
                let application = Application::from_object(&object).map_err(|_| Refusal::denied())?;
                if !project.is_empty() && application.spec.project != project {
                    return Err(Refusal::denied());
                }
                if !has(&application, url, source) {
                    return Err(Refusal::denied());
                }
            }
            None => call.caller.need(Resource::Applications, "create", &format!("{project}/{}", key.name))?,
        }
    }
    if project.is_empty() {
        return Ok(());
    }
    match call.server.engine.whole_project(project).is_ok_and(|known| permits_source(&known, url)) {
        true => Ok(()),
        false => Err(Refusal::denied()),
    }
}

/// Whether an application is or was made of a source.
fn has(application: &Application, url: &str, source: Option<&Value>) -> bool {
    let text = |field| source.and_then(|source| source.str_at(&[field])).unwrap_or_default();
    let history = application.status.history.iter();
    let past = history.flat_map(|entry| entry.sources.iter().cloned().chain([entry.source.clone()]));
    application.spec.all_sources().into_iter().chain(past).any(|known| {
        same(&known.repo_url, url)
            && (source.is_none() || (known.path == text("path") && known.chart == text("chart")))
    })
}

async fn tree(call: &Call, repository: &Repository, revision: &str) -> Result<Arc<dyn Tree>, SourceError> {
    let sources = sources(call);
    if repository.kind == RepositoryKind::Oci {
        let artifact = sources.artifact(repository, revision).await?;
        return sources.artifact_tree(repository, &artifact).await;
    }
    let revision = sources.resolve(repository, Target { revision, tag_prefix: "" }).await?;
    sources.tree(repository, &revision).await
}

/// Waits for a repository, but not for ever.
async fn in_time<T>(work: impl Future<Output = Result<T, SourceError>>) -> Result<T, Refusal> {
    match tokio::time::timeout(limits::READING, work).await {
        Ok(Ok(found)) => Ok(found),
        Ok(Err(error)) => Err(Refusal::new(Code::FailedPrecondition, words(&error))),
        Err(_) => {
            let what = format!("the repository did not answer within {} s", limits::READING.as_secs());
            Err(Refusal::new(Code::DeadlineExceeded, what))
        }
    }
}
