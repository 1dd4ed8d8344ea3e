//! What a revision of an application's source says about itself.

use lynceus_api::ApplicationSource;
use lynceus_object::{Value, value};
use lynceus_source::{SourceError, Target};

use crate::call::{Answer, Answered, Call};
use crate::refusal::{Code, Refusal};

/// Who made a commit, when and why.
pub(super) async fn metadata(call: &Call) -> Answered {
    let (source, revision) = meant(call)?;
    let engine = &call.server.engine;
    let settings = engine.settings();
    let application = call.application("get", "name")?;
    let repository = settings.book.find(&source.repo_url, &application.spec.project);
    let sources = engine.renderer().sources();
    let target = Target { revision: &revision, tag_prefix: &source.tag_prefix };
    let found = sources.resolve(&repository, target).await.map_err(|error| refused(&error))?;
    let metadata = sources.metadata(&repository, &found).await.map_err(|error| refused(&error))?;
    let signed = if metadata.signed { "signed; whose signature it is decides the project" } else { "" };
    let tags: Value = metadata.tags.iter().map(|tag| Value::from(tag.as_str())).collect();
    Ok(Answer::One(value!({
        "author": metadata.author,
        "date": lynceus_api::Time::from(metadata.date).to_string(),
        "tags": tags,
        "message": metadata.message,
        "signatureInfo": signed,
    })))
}

/// The source that is meant, and the revision of it.
fn meant(call: &Call) -> Result<(ApplicationSource, String), Refusal> {
    let application = call.application("get", "name")?;
    let at =
        call.request.int_at(&["sourceIndex"]).and_then(|at| usize::try_from(at).ok()).unwrap_or_default();
    let version = call.request.int_at(&["versionId"]).filter(|id| *id > 0);
    let entry = version.and_then(|id| application.status.history.iter().find(|entry| entry.id == id));
    let sources = match entry {
        Some(entry) if !entry.sources.is_empty() => entry.sources.clone(),
        Some(entry) => vec![entry.source.clone()],
        None => application.spec.all_sources(),
    };
    let source =
        sources.into_iter().nth(at).ok_or_else(|| Refusal::invalid("source index is out of range"))?;
    Ok((source, call.needed("revision")?.to_owned()))
}

fn refused(error: &SourceError) -> Refusal {
    Refusal::new(Code::FailedPrecondition, lynceus_engine::words(error))
}

/// What a chart says about itself.
pub(super) async fn chart(call: &Call) -> Answered {
    let (source, revision) = meant(call)?;
    if source.chart.is_empty() {
        return Err(Refusal::invalid(format!("no chart found for {}", source.repo_url)));
    }
    let application = call.application("get", "name")?;
    let engine = &call.server.engine;
    let repository = engine.settings().book.charts(&source.repo_url, &application.spec.project);
    let sources = engine.renderer().sources();
    let version = sources
        .chart_version(&repository, &source.chart, &revision)
        .await
        .map_err(|error| refused(&error))?;
    let archive = sources.chart_archive(&repository, &version).await.map_err(|error| refused(&error))?;
    let chart =
        lynceus_helm::Chart::from_archive(&archive).map_err(|error| Refusal::invalid(error.to_string()))?;
    let maintainers =
        chart.metadata().maintainers.iter().map(|one| Value::from(format!("{} <{}>", one.name, one.email)));
    Ok(Answer::One(value!({
        "description": chart.metadata().description.clone(),
        "home": chart.metadata().home.clone(),
        "maintainers": maintainers.collect::<Value>(),
    })))
}

/// What an artifact of a registry says about itself.
pub(super) async fn oci(call: &Call) -> Answered {
    let (source, revision) = meant(call)?;
    if !source.repo_url.starts_with("oci://") {
        return Err(Refusal::invalid(format!("{} is no registry", source.repo_url)));
    }
    Ok(Answer::One(value!({"version": revision})))
}
