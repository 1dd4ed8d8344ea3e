//! `lynceus app set`, `unset`, `add-source`, `remove-source`, `patch` and `edit`: changes of an Application's spec.

use std::path::PathBuf;

use lynceus_object::{Value, json, value, yaml};

use super::entries;
use super::flags::Flags;
use super::record::{Choice, Records, put_source, source};
use crate::api::misuse;
use crate::exit::Outcome;

#[derive(clap::Args)]
pub(crate) struct SetArguments {
    /// The application.
    name: String,
    #[command(flatten)]
    choice: Choice,
    /// Whether repository and cluster are tried first.
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true", default_value_t = true)]
    validate: bool,
    #[command(flatten)]
    flags: Flags,
}

pub(super) async fn set(records: &Records, arguments: &SetArguments) -> Outcome {
    if arguments.flags.is_empty() {
        return Err(
            misuse("Please set at least one option to update").hint("see them with `lynceus app set --help`")
        );
    }
    let mut spec = spec_of(&records.get(&arguments.name).await?);
    let place = arguments.choice.place(&spec)?;
    let mut source = source(&spec, place);
    arguments.flags.apply(&mut spec, &mut source)?;
    put_source(&mut spec, place, source);
    records.respec(&arguments.name, spec, arguments.validate).await
}

fn spec_of(application: &Value) -> Value {
    application.get("spec").cloned().unwrap_or_else(|| value!({}))
}

#[derive(clap::Args)]
pub(crate) struct AddSourceArguments {
    /// The application.
    name: String,
    /// What the source is called.
    #[arg(long, value_name = "NAME")]
    source_name: Option<String>,
    #[command(flatten)]
    flags: Flags,
}

pub(super) async fn add_source(records: &Records, arguments: &AddSourceArguments) -> Outcome {
    let name = &arguments.name;
    let mut spec = spec_of(&records.get(name).await?);
    if spec.items_at(&["sources"]).is_empty() {
        return Err(misuse(format!(
            "Cannot add source: application {name} does not have spec.sources defined"
        ))
        .hint("write its source as the first of spec.sources: lynceus app edit"));
    }
    let mut added = value!({});
    arguments.flags.apply(&mut spec, &mut added)?;
    if let Some(name) = &arguments.source_name {
        added.set(&["name"], name.as_str());
    }
    let says = |field: &str| added.str_at(&[field]).is_some_and(|text| !text.is_empty());
    if !says("repoURL") || !["path", "chart", "ref"].iter().any(|field| says(field)) {
        return Err(misuse("a source needs --repo, and --path, --helm-chart or --ref"));
    }
    let mut sources = spec.items_at(&["sources"]).to_vec();
    sources.push(added);
    spec.set(&["sources"], Value::from(sources));
    records.respec(name, spec, true).await?;
    println!("Application '{name}' updated successfully");
    Ok(())
}

#[derive(clap::Args)]
pub(crate) struct RemoveSourceArguments {
    /// The application.
    name: String,
    #[command(flatten)]
    choice: Choice,
}

pub(super) async fn remove_source(records: &Records, arguments: &RemoveSourceArguments) -> Outcome {
    let name = &arguments.name;
    let mut spec = spec_of(&records.get(name).await?);
    let mut sources = spec.items_at(&["sources"]).to_vec();
    match sources.len() {
        0 => return Err(misuse("Application does not have multiple sources configured")),
        1 => return Err(misuse("Cannot remove the only source remaining in the app")),
        _ => {}
    }
    let Some(at) = arguments.choice.place(&spec)? else { return Ok(()) };
    let question = format!("Are you sure you want to delete the source of '{name}'? [y/n] ");
    if !records.connection.confirmed(&question)? {
        println!("The command to delete the source was cancelled");
        return Ok(());
    }
    sources.remove(at);
    spec.set(&["sources"], Value::from(sources));
    records.respec(name, spec, true).await?;
    println!("Application '{name}' updated successfully");
    Ok(())
}

#[derive(clap::Args)]
pub(crate) struct UnsetArguments {
    /// The application.
    name: String,
    #[command(flatten)]
    choice: Choice,
    /// A value of the chart; may be given several times.
    #[arg(short, long, value_name = "KEY")]
    parameter: Vec<String>,
    /// A file of values.
    #[arg(long, value_name = "FILE")]
    values: Vec<String>,
    /// The values that were given as text.
    #[arg(long)]
    values_literal: bool,
    /// That files of values may be missing.
    #[arg(long)]
    ignore_missing_value_files: bool,
    /// That components may be missing.
    #[arg(long)]
    ignore_missing_components: bool,
    /// That credentials are shown to every host.
    #[arg(long)]
    pass_credentials: bool,
    /// An image of Kustomize, by its name.
    #[arg(long, value_name = "NAME")]
    kustomize_image: Vec<String>,
    /// A number of Kustomize, by the name of the workload.
    #[arg(long, value_name = "NAME")]
    kustomize_replica: Vec<String>,
    /// The namespace of Kustomize.
    #[arg(long)]
    kustomize_namespace: bool,
    /// The version of Kustomize.
    #[arg(long)]
    kustomize_version: bool,
    /// What Kustomize puts before names.
    #[arg(long)]
    nameprefix: bool,
    /// What Kustomize puts behind names.
    #[arg(long)]
    namesuffix: bool,
    /// A variable of the plugin.
    #[arg(long, value_name = "NAME")]
    plugin_env: Vec<String>,
    /// The name by which other sources use it.
    #[arg(long = "ref")]
    reference: bool,
}

impl UnsetArguments {
    /// Takes out what is named; `false` if none of it is there.
    fn apply(&self, source: &mut Value) -> bool {
        let before = source.clone();
        for (given, path) in [
            (self.values_literal, &["helm", "values"][..]),
            (self.values_literal, &["helm", "valuesObject"]),
            (self.ignore_missing_value_files, &["helm", "ignoreMissingValueFiles"]),
            (self.pass_credentials, &["helm", "passCredentials"]),
            (self.ignore_missing_components, &["kustomize", "ignoreMissingComponents"]),
            (self.kustomize_namespace, &["kustomize", "namespace"]),
            (self.kustomize_version, &["kustomize", "version"]),
            (self.nameprefix, &["kustomize", "namePrefix"]),
            (self.namesuffix, &["kustomize", "nameSuffix"]),
            (self.reference, &["ref"]),
        ] {
            if given {
                source.remove(path);
            }
        }
        for (names, path) in [
            (&self.parameter, ["helm", "parameters"]),
            (&self.kustomize_image, ["kustomize", "images"]),
            (&self.kustomize_replica, ["kustomize", "replicas"]),
            (&self.plugin_env, ["plugin", "env"]),
        ] {
            let mut list = source.items_at(&path).to_vec();
            if entries::take(&mut list, names) {
                source.set(&path, Value::from(list));
            }
        }
        let mut files = crate::format::texts(source, &["helm", "valueFiles"]);
        let count = files.len();
        files.retain(|file| !self.values.contains(file));
        if files.len() != count {
            source.set(&["helm", "valueFiles"], files.into_iter().map(Value::from).collect::<Value>());
        }
        *source != before
    }
}

pub(super) async fn unset(records: &Records, arguments: &UnsetArguments) -> Outcome {
    let mut spec = spec_of(&records.get(&arguments.name).await?);
    let place = arguments.choice.place(&spec)?;
    let mut source = source(&spec, place);
    if !arguments.apply(&mut source) {
        return Err(
            misuse("nothing of what is named is set").hint("see what is: lynceus app get NAME -o yaml")
        );
    }
    let question = "Are you sure you want to unset the parameters? [y/n] ";
    if !records.connection.confirmed(question)? {
        println!("The command to unset the parameters has been cancelled.");
        return Ok(());
    }
    put_source(&mut spec, place, source);
    // Untried, as with `argocd`: what is taken away may be the last of several steps.
    records.respec(&arguments.name, spec, false).await
}

#[derive(clap::Args)]
pub(crate) struct PatchArguments {
    /// The application.
    name: String,
    /// The patch, as JSON.
    #[arg(long)]
    patch: String,
    /// What sort of patch it is.
    #[arg(long = "type", value_name = "TYPE", value_parser = ["json", "merge"], default_value = "json")]
    kind: String,
}

pub(super) async fn patch(records: &Records, arguments: &PatchArguments) -> Outcome {
    if let Err(error) = json::parse(arguments.patch.as_bytes()) {
        return Err(misuse(format!("--patch is no JSON: {error}")));
    }
    let (patch, kind) = (arguments.patch.as_str().into(), arguments.kind.as_str().into());
    let message = records.asking(&arguments.name, &[("patch", patch), ("patchType", kind)]);
    let failed = format!("cannot change application {}", arguments.name);
    let patched = records.api.call(&failed, "ApplicationService.Patch", message).await?;
    println!("{}", yaml::to_string(&patched));
    Ok(())
}

#[derive(clap::Args)]
pub(crate) struct EditArguments {
    /// The application.
    name: String,
    /// The new spec, as YAML; `-` is standard input. No editor is started.
    #[arg(short, long, value_name = "FILE")]
    file: Option<PathBuf>,
}

pub(super) async fn edit(records: &Records, arguments: &EditArguments) -> Outcome {
    let name = &arguments.name;
    records.get(name).await?;
    let Some(file) = &arguments.file else {
        return Err(misuse("no editor is started here").hint(format!(
            "write the application to a file, edit it, and give it back:\nlynceus app get {name} -o yaml > app.yaml\nlynceus app edit {name} --file app.yaml"
        )));
    };
    let mut given = crate::proj::from_file(file)?;
    let spec = given.remove(&["spec"]).unwrap_or(given);
    records.respec(name, spec, true).await
}
