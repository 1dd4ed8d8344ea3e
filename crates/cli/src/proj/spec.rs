//! `lynceus proj create`, `set` and `edit`: a project's spec from flags or from a file.

use std::path::{Path, PathBuf};

use lynceus_object::{Value, value, yaml};

use super::{Projects, change};
use crate::api::misuse;
use crate::exit::{Doing as _, Outcome};
use crate::terminal;

// A new project.
#[derive(clap::Args)]
pub(crate) struct Create {
    /// The name; not needed with --file.
    project: Option<String>,
    /// Take the project from this file; `-` is standard input.
    #[arg(short, long, value_name = "FILE")]
    file: Option<PathBuf>,
    /// Change it if it exists already and is different.
    #[arg(long)]
    upsert: bool,
    #[command(flatten)]
    spec: Spec,
}

// What a project allows.
#[derive(clap::Args)]
pub(crate) struct Spec {
    /// What it is for.
    #[arg(long)]
    description: Option<String>,
    /// A place to deliver to, as SERVER,NAMESPACE; may be given several times.
    #[arg(short, long, value_name = "SERVER,NAMESPACE")]
    dest: Vec<String>,
    /// A repository to deliver from; may be given several times.
    #[arg(short, long, value_name = "URL")]
    src: Vec<String>,
    /// Namespaces that its applications may be in.
    #[arg(long, value_delimiter = ',', value_name = "NAMESPACES")]
    source_namespaces: Vec<String>,
    /// Ids of keys that commits have to be signed with.
    #[arg(long, value_delimiter = ',', value_name = "IDS")]
    signature_keys: Vec<String>,
    /// In whose name is delivered, as SERVER,NAMESPACE,ACCOUNT; may be given several times.
    #[arg(long, value_name = "SERVER,NAMESPACE,ACCOUNT")]
    dest_service_accounts: Vec<String>,
    /// A kind without namespace that is allowed, as [GROUP/]KIND[/NAME]; may be given several times.
    #[arg(long, value_name = "KIND")]
    allow_cluster_resource: Vec<String>,
    /// A kind without namespace that is forbidden.
    #[arg(long, value_name = "KIND")]
    deny_cluster_resource: Vec<String>,
    /// A kind in namespaces that is allowed, as [GROUP/]KIND.
    #[arg(long, value_name = "KIND")]
    allow_namespaced_resource: Vec<String>,
    /// A kind in namespaces that is forbidden.
    #[arg(long, value_name = "KIND")]
    deny_namespaced_resource: Vec<String>,
    /// Look for resources that belong to no application.
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    orphaned_resources: Option<bool>,
    /// Warn of them.
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    orphaned_resources_warn: Option<bool>,
}

impl Spec {
    /// Writes what is given into a project; `false` if nothing is.
    pub(crate) fn apply(&self, project: &mut Value) -> Outcome<bool> {
        let before = project.clone();
        let mut set = |field: &str, value: Value| project.set(&["spec", field], value);
        if let Some(description) = &self.description {
            set("description", description.as_str().into());
        }
        for (field, texts) in [("sourceRepos", &self.src), ("sourceNamespaces", &self.source_namespaces)] {
            if !texts.is_empty() {
                set(field, texts.iter().map(|text| Value::from(text.as_str())).collect());
            }
        }
        let account = ["server", "namespace", "defaultServiceAccount"];
        for (field, texts, names) in [
            ("destinations", &self.dest, &account[..2]),
            ("destinationServiceAccounts", &self.dest_service_accounts, &account[..]),
        ] {
            if !texts.is_empty() {
                set(field, texts.iter().map(|text| parts(text, names)).collect::<Outcome<Vec<_>>>()?.into());
            }
        }
        for (field, texts, most) in [
            ("clusterResourceWhitelist", &self.allow_cluster_resource, 3),
            ("clusterResourceBlacklist", &self.deny_cluster_resource, 3),
            ("namespaceResourceWhitelist", &self.allow_namespaced_resource, 2),
            ("namespaceResourceBlacklist", &self.deny_namespaced_resource, 2),
        ] {
            if !texts.is_empty() {
                set(field, texts.iter().map(|text| kind(text, most)).collect::<Outcome<Vec<_>>>()?.into());
            }
        }
        if !self.signature_keys.is_empty() {
            let keys = self.signature_keys.iter().map(|key| Ok(value!({"keyID": change::key_id(key)?})));
            set("signatureKeys", keys.collect::<Outcome<Vec<_>>>()?.into());
        }
        match (self.orphaned_resources, self.orphaned_resources_warn) {
            (None, None) => {}
            (Some(false), None) => drop(project.remove(&["spec", "orphanedResources"])),
            (_, None) => set("orphanedResources", value!({})),
            (_, Some(warn)) => set("orphanedResources", value!({"warn": warn})),
        }
        let given = self.orphaned_resources.is_some();
        Ok(given || *project != before)
    }
}

/// `a,b` as the fields that are named.
fn parts(text: &str, names: &[&str]) -> Outcome<Value> {
    let parts: Vec<&str> = text.split(',').collect();
    if parts.len() != names.len() {
        return Err(misuse(format!("{text:?} is not of the form {}", names.join(","))));
    }
    let mut entry = value!({});
    for (name, part) in names.iter().zip(parts) {
        entry.set(&[name], part);
    }
    Ok(entry)
}

/// `group/kind/name` as fields.
fn kind(text: &str, most: usize) -> Outcome<Value> {
    let parts: Vec<&str> = text.split('/').collect();
    let (group, kind, name) = match parts[..] {
        [kind] => ("", kind, None),
        [group, kind] => (group, kind, None),
        [group, kind, name] if most == 3 => (group, kind, Some(name)),
        _ => return Err(misuse(format!("{text:?} is not of the form [GROUP/]KIND"))),
    };
    let mut entry = value!({"group": group, "kind": kind});
    if let Some(name) = name {
        entry.set(&["name"], name);
    }
    Ok(entry)
}

/// The one object of a file of YAML or JSON.
pub(crate) fn from_file(path: &Path) -> Outcome<Value> {
    let shown = path.display();
    let value = yaml::parse_str(&terminal::file(Some(path))?).doing(format!("cannot read {shown}"))?;
    match value {
        Value::Map(_) => Ok(value),
        _ => Err(misuse(format!("{shown} does not hold one object"))),
    }
}

pub(super) async fn create(projects: &Projects, arguments: &Create) -> Outcome {
    let project = project(arguments.project.as_deref(), arguments.file.as_deref(), &arguments.spec)?;
    let name = project.str_at(&["metadata", "name"]).unwrap_or_default().to_owned();
    let message = value!({"project": project, "upsert": arguments.upsert});
    let failed = format!("cannot create project {name}");
    projects.api.call(&failed, "ProjectService.Create", message).await.map(drop)
}

/// A project from a file and flags.
pub(crate) fn project(name: Option<&str>, file: Option<&Path>, spec: &Spec) -> Outcome<Value> {
    let mut project = match file {
        Some(file) => from_file(file)?,
        None => value!({"metadata": {}, "spec": {}}),
    };
    project.set(&["apiVersion"], format!("{}/{}", lynceus_api::GROUP, lynceus_api::VERSION));
    project.set(&["kind"], "AppProject");
    let own = project.str_at(&["metadata", "name"]).unwrap_or_default().to_owned();
    match name {
        Some(name) if !own.is_empty() && name != own => {
            return Err(misuse(format!(
                "project name '{name}' does not match project spec metadata.name '{own}'"
            )));
        }
        Some(name) => project.set(&["metadata", "name"], name),
        None if own.is_empty() => {
            return Err(misuse("the project has no name")
                .hint("lynceus proj create NAME --src URL --dest SERVER,NAMESPACE"));
        }
        None => {}
    }
    spec.apply(&mut project)?;
    Ok(project)
}

pub(super) async fn set(projects: &Projects, name: &str, spec: &Spec) -> Outcome {
    let mut project = projects.get(name).await?;
    if !spec.apply(&mut project)? {
        return Err(misuse("Please set at least one option to update")
            .hint("see them with `lynceus proj set --help`"));
    }
    projects.update(project).await
}

pub(super) async fn edit(projects: &Projects, name: &str, file: Option<&Path>) -> Outcome {
    let mut project = projects.get(name).await?;
    let Some(file) = file else {
        return Err(misuse("no editor is started here").hint(format!(
            "write the project to a file, edit it, and give it back:\nlynceus proj get {name} -o yaml > project.yaml\nlynceus proj edit {name} --file project.yaml"
        )));
    };
    let mut given = from_file(file)?;
    // Either a whole project or, as `argocd` shows it in the editor, its spec alone.
    project.set(&["spec"], given.remove(&["spec"]).unwrap_or(given));
    projects.update(project).await
}
