//! `lynceus app create`

use std::path::PathBuf;

use lynceus_api::{
    Application, ApplicationDestination, ApplicationSource, ApplicationSourceDirectory, Kind as _,
    SyncPolicy, SyncPolicyAutomated, finalizers,
};
use lynceus_engine::application_gvk;
use lynceus_files::FilePath;
use lynceus_object::{Object, manifest, yaml};

use super::context::Context;
use crate::exit::{Code, Doing as _, Failure, Outcome};

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The name; not needed with --file.
    name: Option<String>,
    /// Take the Application from this file; `-` is standard input. Other flags change what it says.
    #[arg(short, long, value_name = "FILE")]
    file: Option<PathBuf>,
    /// Change the application if it exists already.
    #[arg(long)]
    upsert: bool,
    #[command(flatten)]
    spec: Spec,
}

/// What an application is made of.
#[derive(clap::Args)]
struct Spec {
    /// The repository.
    #[arg(long, value_name = "URL")]
    repo: Option<String>,
    /// The path in the repository.
    #[arg(long)]
    path: Option<String>,
    /// The branch, tag, commit or range of versions.
    #[arg(long)]
    revision: Option<String>,
    /// The address of the cluster.
    #[arg(long, value_name = "URL")]
    dest_server: Option<String>,
    /// The name of the cluster, instead of its address.
    #[arg(long, value_name = "NAME")]
    dest_name: Option<String>,
    /// The namespace of objects that name none.
    #[arg(long, value_name = "NAMESPACE")]
    dest_namespace: Option<String>,
    /// The project.
    #[arg(long, default_value = "default")]
    project: String,
    /// Whether to sync by itself: `automated` or `none`.
    #[arg(long, value_parser = ["automated", "auto", "none", "manual"])]
    sync_policy: Option<String>,
    /// Delete what is no longer in Git, when syncing by itself.
    #[arg(long)]
    auto_prune: bool,
    /// Undo what others change, when syncing by itself.
    #[arg(long)]
    self_heal: bool,
    /// Sync even if nothing would be left.
    #[arg(long)]
    allow_empty: bool,
    /// An option such as CreateNamespace=true; may be given several times.
    #[arg(long, value_name = "OPTION")]
    sync_option: Vec<String>,
    /// Read folders below the path as well.
    #[arg(long)]
    directory_recurse: bool,
    /// Read only files that match this pattern.
    #[arg(long, value_name = "PATTERN")]
    directory_include: Option<String>,
    /// Leave out files that match this pattern.
    #[arg(long, value_name = "PATTERN")]
    directory_exclude: Option<String>,
    /// A label of the Application: team=shop; may be given several times.
    #[arg(short = 'l', long, value_name = "KEY=VALUE")]
    label: Vec<String>,
    /// An annotation of the Application; may be given several times.
    #[arg(long, value_name = "KEY=VALUE")]
    annotations: Vec<String>,
    /// Delete what it has delivered when it is deleted.
    #[arg(long)]
    set_finalizer: bool,
    /// How many revisions the history keeps.
    #[arg(long, value_name = "N")]
    revision_history_limit: Option<i64>,
}

pub(crate) async fn run(context: &Context, arguments: &Arguments) -> Outcome {
    let mut application = match &arguments.file {
        Some(file) => from_file(file)?,
        None => Application::default(),
    };
    if let Some(name) = &arguments.name {
        let key = context.key(name);
        application.metadata.name = key.name;
        application.metadata.namespace = key.namespace;
    }
    if application.metadata.name.is_empty() {
        return Err(Failure::new(Code::Other, "the application has no name")
            .hint("lynceus app create NAME --repo URL --path PATH --dest-namespace NAMESPACE"));
    }
    if application.metadata.namespace.is_empty() {
        application.metadata.namespace = context.key("x").namespace;
    }
    arguments.spec.apply(&mut application)?;
    complete(&application)?;
    store(context, &application, arguments.upsert).await
}

async fn store(context: &Context, application: &Application, upsert: bool) -> Outcome {
    let (namespace, name) = (application.metadata.namespace.as_str(), application.metadata.name.as_str());
    let failed = format!("cannot create application {name}");
    let found = context.cluster().get(&application_gvk(), namespace, name).await.doing(failed.as_str())?;
    let wanted = application.to_object();
    match found {
        None => {
            let mut object = wanted;
            // The status is the engine's to write.
            object.remove(&["status"]);
            context.cluster().create_record(&object).await.doing(failed)?;
            println!("application '{name}' created");
        }
        Some(live) if live.at(&["spec"]) == wanted.at(&["spec"]) => {
            println!("application '{name}' unchanged")
        }
        Some(_) if !upsert => {
            return Err(Failure::new(
                Code::Other,
                format!("application {name} exists already, and its spec is different"),
            )
            .hint("use --upsert to change it"));
        }
        Some(mut live) => {
            live.set(&["spec"], wanted.at(&["spec"]).cloned().unwrap_or_default());
            context
                .cluster()
                .replace_record(&live)
                .await
                .doing(format!("cannot change application {name}"))?;
            println!("application '{name}' updated");
        }
    }
    Ok(())
}

fn from_file(path: &std::path::Path) -> Outcome<Application> {
    let shown = path.display().to_string();
    let text = if shown == "-" {
        std::io::read_to_string(std::io::stdin()).doing("cannot read standard input")?
    } else {
        std::fs::read_to_string(path).doing(format!("cannot read {shown}"))?
    };
    let file = FilePath::new(&shown).unwrap_or_default();
    let found = manifest::read(&file, text.as_bytes(), &yaml::Options::default());
    if let Some(error) = found.first_error() {
        return Err(Failure::new(Code::Other, format!("cannot read {shown}: {}", error.to_text())));
    }
    let objects: Vec<Object> = found.objects.into_iter().map(|placed| placed.object).collect();
    match objects.as_slice() {
        [object] if object.kind() == Application::KIND => {
            Application::from_object(object).doing(format!("cannot read {shown}"))
        }
        _ => Err(Failure::new(Code::Other, format!("{shown} does not hold one Application"))
            .hint("`kubectl apply -f` takes files with anything else in them")),
    }
}

/// What has to be there before it is worth a request.
fn complete(application: &Application) -> Outcome {
    let source = application.spec.all_sources().into_iter().next().unwrap_or_default();
    let missing = if source.repo_url.is_empty() {
        "--repo"
    } else if source.path.is_empty() && source.chart.is_empty() {
        "--path"
    } else {
        return Ok(());
    };
    Err(Failure::new(Code::Other, format!("{missing} is missing"))
        .hint("lynceus app create NAME --repo URL --path PATH --dest-namespace NAMESPACE"))
}

impl Spec {
    /// Puts what was said into the application.
    fn apply(&self, application: &mut Application) -> Outcome {
        let spec = &mut application.spec;
        if spec.project.is_empty() || self.project != "default" {
            spec.project = self.project.as_str().into();
        }
        self.destination(&mut spec.destination);
        self.source(spec.source.get_or_insert_with(ApplicationSource::default));
        self.policy(&mut spec.sync_policy);
        spec.revision_history_limit = self.revision_history_limit.or(spec.revision_history_limit);
        for (texts, into) in [
            (&self.label, &mut application.metadata.labels),
            (&self.annotations, &mut application.metadata.annotations),
        ] {
            for text in texts {
                let (key, value) = text.split_once('=').ok_or_else(|| {
                    Failure::new(Code::Other, format!("{text:?} is not of the form key=value"))
                })?;
                into.insert(key.into(), value.into());
            }
        }
        if self.set_finalizer
            && !application.metadata.finalizers.iter().any(|name| name == finalizers::RESOURCES)
        {
            application.metadata.finalizers.push(finalizers::RESOURCES.into());
        }
        Ok(())
    }

    fn destination(&self, destination: &mut ApplicationDestination) {
        for (text, field) in [
            (&self.dest_server, &mut destination.server),
            (&self.dest_name, &mut destination.name),
            (&self.dest_namespace, &mut destination.namespace),
        ] {
            if let Some(text) = text {
                *field = text.as_str().into();
            }
        }
        if destination.server.is_empty() && destination.name.is_empty() {
            destination.server = lynceus_api::IN_CLUSTER_SERVER.into();
        }
    }

    fn source(&self, source: &mut ApplicationSource) {
        for (text, field) in [
            (&self.repo, &mut source.repo_url),
            (&self.path, &mut source.path),
            (&self.revision, &mut source.target_revision),
        ] {
            if let Some(text) = text {
                *field = text.as_str().into();
            }
        }
        if self.directory_recurse || self.directory_include.is_some() || self.directory_exclude.is_some() {
            let directory = source.directory.get_or_insert_with(ApplicationSourceDirectory::default);
            directory.recurse |= self.directory_recurse;
            directory.include = self.directory_include.as_deref().unwrap_or(&directory.include).into();
            directory.exclude = self.directory_exclude.as_deref().unwrap_or(&directory.exclude).into();
        }
    }

    fn policy(&self, policy: &mut Option<SyncPolicy>) {
        let automated = matches!(self.sync_policy.as_deref(), Some("automated" | "auto"));
        if automated || !self.sync_option.is_empty() {
            let policy = policy.get_or_insert_with(SyncPolicy::default);
            policy.sync_options.extend(self.sync_option.iter().map(|option| option.as_str().into()));
            if automated {
                policy.automated = Some(SyncPolicyAutomated {
                    prune: self.auto_prune.then_some(true),
                    self_heal: self.self_heal.then_some(true),
                    allow_empty: self.allow_empty.then_some(true),
                    ..SyncPolicyAutomated::default()
                });
            }
        }
        if let (Some("none" | "manual"), Some(policy)) = (self.sync_policy.as_deref(), policy) {
            policy.automated = None;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;
    use lynceus_object::value;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        arguments: Arguments,
    }

    #[test]
    fn flags_become_the_spec() {
        let line = Line::parse_from([
            "create",
            "shop",
            "--repo",
            "r",
            "--path",
            "p",
            "--dest-namespace",
            "n",
            "--sync-policy",
            "automated",
            "--auto-prune",
            "--sync-option",
            "CreateNamespace=true",
            "--directory-recurse",
            "-l",
            "team=shop",
        ]);
        let mut application = Application::default();
        line.arguments.spec.apply(&mut application).unwrap();
        let object = application.to_object();
        assert_eq!(
            object.at(&["spec"]).unwrap(),
            &value!({
                "project": "default",
                "destination": {"server": "https://kubernetes.default.svc", "namespace": "n"},
                "source": {"repoURL": "r", "path": "p", "directory": {"recurse": true}},
                "syncPolicy": {"automated": {"prune": true}, "syncOptions": ["CreateNamespace=true"]},
            })
        );
        assert_eq!(object.label("team"), Some("shop"));
    }
}
