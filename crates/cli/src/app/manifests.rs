//! `lynceus app manifests`

use std::path::{Path, PathBuf};
use std::sync::Arc;

use lynceus_api::ApplicationSource;
use lynceus_engine::{Aim, Freshness};
use lynceus_files::Severity;
use lynceus_object::{Object, Str};
use lynceus_render::Setting;
use lynceus_source::DiskTree;

use super::context::Context;
use crate::exit::{Code, Doing as _, Failure, Outcome};
use crate::format;

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The application.
    name: String,
    /// Where to take them from: `git` as they are wanted, `live` as they are.
    #[arg(long, default_value = "git", value_parser = ["git", "live"])]
    source: String,
    /// Take them from this revision instead of the application's own.
    #[arg(long)]
    revision: Option<String>,
    /// Take them from this folder instead of from Git.
    #[arg(long, value_name = "DIR")]
    local: Option<PathBuf>,
}

pub(crate) async fn run(context: &Context, arguments: &Arguments) -> Outcome {
    let application = context.application(&arguments.name).await?;
    let revisions: Vec<Str> = arguments.revision.iter().map(|revision| revision.as_str().into()).collect();
    let manifests = arguments.local.as_deref().map(of_folder).transpose()?;
    let aim = Aim { revisions, manifests, freshness: Freshness::Latest, ..Aim::default() };
    let look = context.engine().look(&application, &aim).await;
    let errors: Vec<String> = look.errors().map(|condition| condition.message.clone()).collect();
    if !look.compared {
        let mut failure =
            Failure::new(Code::Other, format!("the manifests of {} cannot be rendered", arguments.name));
        failure.causes = errors;
        return Err(failure);
    }
    let objects: Vec<Object> = match arguments.source.as_str() {
        "live" => look
            .changes
            .changes
            .iter()
            .filter_map(|change| change.pair.live())
            .map(|live| context.shown(live))
            .collect(),
        _ => look.desired.objects.iter().map(|object| context.shown(object)).collect(),
    };
    print!("{}", format::documents(&objects));
    for error in errors {
        eprintln!("warning: {error}");
    }
    Ok(())
}

/// The manifests of a folder on this machine.
pub(crate) fn of_folder(folder: &Path) -> Outcome<Vec<Object>> {
    let failed = format!("cannot read {}", folder.display());
    let tree = DiskTree::open(folder).doing(failed.as_str())?;
    let source = ApplicationSource { path: ".".into(), ..ApplicationSource::default() };
    let rendered =
        crate::render::of_tree(Arc::new(tree), source, Setting::default()).doing(failed.as_str())?;
    let broken = rendered.diagnostics.iter().find(|diagnostic| diagnostic.severity == Severity::Error);
    if let Some(broken) = broken {
        return Err(Failure::new(Code::Other, format!("{failed}: {}", broken.to_text())));
    }
    Ok(rendered.manifests.into_iter().map(|manifest| manifest.object).collect())
}
