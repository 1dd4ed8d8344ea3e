//! `lynceus app create`

use std::path::PathBuf;

use lynceus_api::{Application, Kind as _, finalizers};
use lynceus_files::FilePath;
use lynceus_object::{Object, Value, manifest, typed, value, yaml};

use super::flags::Flags;
use super::record::{Records, with_way_out};
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
    /// A label of the Application: team=shop; may be given several times.
    #[arg(short = 'l', long, value_name = "KEY=VALUE")]
    label: Vec<String>,
    /// An annotation of the Application; may be given several times.
    #[arg(long, value_name = "KEY=VALUE")]
    annotations: Vec<String>,
    /// Delete what it has delivered when it is deleted.
    #[arg(long)]
    set_finalizer: bool,
    /// Whether repository and destination are tried first.
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true", default_value_t = true)]
    validate: bool,
    /// What its source is called.
    #[arg(long, value_name = "NAME")]
    source_name: Option<String>,
    #[command(flatten)]
    flags: Flags,
}

pub(crate) async fn run(records: &Records, arguments: &Arguments) -> Outcome {
    let mut application = match &arguments.file {
        Some(file) => from_file(file)?,
        None => Application::default(),
    };
    if let Some(name) = &arguments.name {
        let (namespace, name) = records.place(name);
        application.metadata.name = name.into();
        application.metadata.namespace = namespace.into();
    }
    if application.metadata.name.is_empty() {
        return Err(Failure::new(Code::Other, "the application has no name")
            .hint("lynceus app create NAME --repo URL --path PATH --dest-namespace NAMESPACE"));
    }
    arguments.apply(&mut application)?;
    complete(&application)?;
    send(records, &application, arguments).await
}

/// Has it created, which looks at it first.
async fn send(records: &Records, application: &Application, arguments: &Arguments) -> Outcome {
    let name = application.metadata.name.as_str();
    let before = existing(records, application).await?;
    let mut object = application.to_object();
    // The status is the engine's to write.
    object.remove(&["status"]);
    // Whoever does not name a namespace means the installation's own.
    if object.namespace().is_empty() {
        object.remove(&["metadata", "namespace"]);
    }
    let message = value!({"application": object.into_value(), "upsert": arguments.upsert, "validate": arguments.validate});
    let failed = format!("cannot create application {name}");
    let made = records.api.call(&failed, "ApplicationService.Create", message).await;
    let made = made.map_err(|failure| with_way_out(failure, arguments.validate))?;
    let parts = [&["spec"][..], &["metadata", "labels"], &["metadata", "annotations"]];
    let done = match before {
        None => "created",
        Some(before) if parts.iter().all(|part| before.at(part) == made.at(part)) => "unchanged",
        Some(_) => "updated",
    };
    println!("application '{name}' {done}");
    Ok(())
}

/// The Application as it is, if it is there and may be seen.
async fn existing(records: &Records, application: &Application) -> Outcome<Option<Value>> {
    let name = application.metadata.name.as_str();
    let namespace = application.metadata.namespace.as_str();
    let found = match namespace {
        "" => records.get(name).await,
        namespace => records.get(&format!("{namespace}/{name}")).await,
    };
    match found {
        Ok(found) => Ok(Some(found)),
        Err(failure) if matches!(failure.code, Code::NotFound | Code::Denied) => Ok(None),
        Err(failure) => Err(failure),
    }
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

impl Arguments {
    /// Puts what was said into the application.
    fn apply(&self, application: &mut Application) -> Outcome {
        let unreadable = "cannot read the application";
        let mut spec = typed::from_typed(&application.spec).doing(unreadable)?;
        let mut source = spec.remove(&["source"]).unwrap_or_else(|| value!({}));
        let has_many = !application.spec.sources.is_empty();
        self.flags.apply(&mut spec, &mut source)?;
        if let Some(name) = &self.source_name {
            source.set(&["name"], name.as_str());
        }
        if !has_many {
            spec.set(&["source"], source);
        }
        if spec.str_at(&["project"]).is_none_or(str::is_empty) {
            spec.set(&["project"], "default");
        }
        let place = |field: &str| spec.str_at(&["destination", field]).is_none_or(str::is_empty);
        if place("server") && place("name") {
            spec.set(&["destination", "server"], lynceus_api::IN_CLUSTER_SERVER);
        }
        application.spec = typed::to_typed(&spec).doing(unreadable)?;
        self.mark(application)
    }

    fn mark(&self, application: &mut Application) -> Outcome {
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
        let finalizers = &mut application.metadata.finalizers;
        if self.set_finalizer && !finalizers.iter().any(|name| name == finalizers::RESOURCES) {
            finalizers.push(finalizers::RESOURCES.into());
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

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
        line.arguments.apply(&mut application).unwrap();
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
