//! `lynceus app get-resource`, `patch-resource`, `delete-resource` and `logs`: single objects of an application.

use lynceus_object::{Value, json, value, yaml};

use super::record::Records;
use crate::api::misuse;
use crate::exit::{Code, Doing as _, Failure, Outcome};
use crate::format::{self, Output, text};
use crate::table::Table;

// Which objects of an application are meant.
#[derive(clap::Args)]
struct Meant {
    /// The application.
    name: String,
    /// The group.
    #[arg(long, default_value = "")]
    group: String,
    /// The kind.
    #[arg(long)]
    kind: String,
    /// The namespace.
    #[arg(long, default_value = "")]
    namespace: String,
    /// The name of the object.
    #[arg(long, value_name = "NAME", default_value = "")]
    resource_name: String,
    /// The project of the application.
    #[arg(long, default_value = "")]
    project: String,
}

impl Meant {
    fn is(&self, node: &Value) -> bool {
        let fits = |wanted: &str, field: &str| wanted.is_empty() || wanted == text(node, &[field]);
        fits(&self.group, "group")
            && fits(&self.kind, "kind")
            && fits(&self.namespace, "namespace")
            && fits(&self.resource_name, "name")
    }

    /// The objects, as the application's tree has them. None is an error.
    async fn found(&self, records: &Records) -> Outcome<Vec<Value>> {
        let message = records.asking_as("applicationName", &self.name);
        let failed = format!("cannot read the resources of {}", self.name);
        let tree = records.api.call(&failed, "ApplicationService.ResourceTree", message).await?;
        let found: Vec<Value> =
            tree.items_at(&["nodes"]).iter().filter(|node| self.is(node)).cloned().collect();
        if found.is_empty() {
            return Err(Failure::new(Code::NotFound, "No matching resource found")
                .hint(format!("see what there is:\nlynceus app resources {}", self.name)));
        }
        Ok(found)
    }

    /// A question about one of them.
    fn asking(&self, records: &Records, node: &Value, more: &[(&str, Value)]) -> Value {
        let mut message = records.asking(&self.name, more);
        for (field, own) in [
            ("resourceName", "name"),
            ("group", "group"),
            ("kind", "kind"),
            ("namespace", "namespace"),
            ("version", "version"),
        ] {
            message.set(&[field], text(node, &[own]));
        }
        if !self.project.is_empty() {
            message.set(&["project"], self.project.as_str());
        }
        message
    }
}

#[derive(clap::Args)]
pub(crate) struct GetArguments {
    #[command(flatten)]
    meant: Meant,
    /// Show only these fields: status.podIP,spec.nodeName.
    #[arg(long, value_delimiter = ',', value_name = "FIELDS")]
    filter_fields: Vec<String>,
    /// Show who manages which field.
    #[arg(long)]
    show_managed_fields: bool,
    /// How to print them.
    #[arg(short, long, value_enum, default_value_t)]
    output: Output,
}

pub(super) async fn get(records: &Records, arguments: &GetArguments) -> Outcome {
    let mut objects = Vec::new();
    for node in arguments.meant.found(records).await? {
        let message = arguments.meant.asking(records, &node, &[]);
        let failed = format!("cannot read {} {}", text(&node, &["kind"]), text(&node, &["name"]));
        let answer = records.api.call(&failed, "ApplicationService.GetResource", message).await?;
        let mut object = json::parse(text(&answer, &["manifest"]).as_bytes()).doing(failed)?;
        if !arguments.show_managed_fields {
            object.remove(&["metadata", "managedFields"]);
        }
        objects.push(if arguments.filter_fields.is_empty() {
            object
        } else {
            chosen(&object, &arguments.filter_fields)
        });
    }
    match arguments.output {
        Output::Json => {
            let texts = objects.iter().map(format::json).collect::<Outcome<Vec<_>>>()?;
            println!("{}", texts.join("\n---\n"));
        }
        Output::Yaml => print!("{}", objects.iter().map(yaml::to_string).collect::<Vec<_>>().join("---\n")),
        Output::Name => objects.iter().for_each(|object| println!("{}", text(object, &["metadata", "name"]))),
        Output::Wide => print!("{}", table(&objects, arguments)),
    }
    Ok(())
}

/// Some fields of an object, and its name.
fn chosen(object: &Value, fields: &[String]) -> Value {
    let mut part = value!({"metadata": {"name": text(object, &["metadata", "name"])}});
    for field in fields {
        let path: Vec<&str> = field.split('.').collect();
        if let Some(value) = object.at(&path) {
            part.set(&path, value.clone());
        }
    }
    part
}

fn table(objects: &[Value], arguments: &GetArguments) -> Table {
    let with_names = arguments.meant.resource_name.is_empty();
    let mut table =
        Table::new(if with_names { &["FIELD", "RESOURCE NAME", "VALUE"] } else { &["FIELD", "VALUE"] });
    for object in objects {
        let name = text(object, &["metadata", "name"]).to_owned();
        let mut shown = object.clone();
        if !arguments.filter_fields.is_empty() {
            shown.remove(&["metadata"]);
        }
        let mut lines = Vec::new();
        flat(&shown, "", &mut lines);
        for (field, value) in lines {
            match with_names {
                true => table.row([field, name.clone(), value]),
                false => table.row([field, value]),
            }
        }
    }
    table
}

fn flat(value: &Value, name: &str, lines: &mut Vec<(String, String)>) {
    match value {
        Value::Map(map) => {
            for (key, value) in map.iter() {
                let name = if name.is_empty() { key.to_string() } else { format!("{name}.{key}") };
                flat(value, &name, lines);
            }
        }
        Value::Str(text) => lines.push((name.to_owned(), text.to_string())),
        other => lines.push((name.to_owned(), json::to_string(other))),
    }
}

#[derive(clap::Args)]
pub(crate) struct PatchArguments {
    #[command(flatten)]
    meant: Meant,
    /// The patch, as JSON.
    #[arg(long)]
    patch: String,
    /// What sort of patch it is.
    #[arg(long, value_name = "TYPE", default_value = "application/merge-patch+json",
        value_parser = ["application/json-patch+json", "application/merge-patch+json", "application/strategic-merge-patch+json"])]
    patch_type: String,
    /// Several may be meant.
    #[arg(long)]
    all: bool,
}

pub(super) async fn patch(records: &Records, arguments: &PatchArguments) -> Outcome {
    if let Err(error) = json::parse(arguments.patch.as_bytes()) {
        return Err(misuse(format!("--patch is no JSON: {error}")));
    }
    for node in one_or_all(arguments.meant.found(records).await?, arguments.all)? {
        let (patch, kind) = (arguments.patch.as_str().into(), arguments.patch_type.as_str().into());
        let message = arguments.meant.asking(records, &node, &[("patch", patch), ("patchType", kind)]);
        let what = format!("{} {}", text(&node, &["kind"]), text(&node, &["name"]));
        records
            .api
            .call(&format!("cannot change {what}"), "ApplicationService.PatchResource", message)
            .await?;
        println!("Resource '{}' patched", text(&node, &["name"]));
    }
    Ok(())
}

#[derive(clap::Args)]
pub(crate) struct DeleteArguments {
    #[command(flatten)]
    meant: Meant,
    /// Several may be meant.
    #[arg(long)]
    all: bool,
    /// Delete it at once, without waiting for it to end.
    #[arg(long)]
    force: bool,
    /// Leave what it owns.
    #[arg(long)]
    orphan: bool,
}

pub(super) async fn delete(records: &Records, arguments: &DeleteArguments) -> Outcome {
    for node in one_or_all(arguments.meant.found(records).await?, arguments.all)? {
        let name = text(&node, &["name"]).to_owned();
        if !records
            .connection
            .confirmed(&format!("Are you sure you want to delete resource '{name}'? [y/n] "))?
        {
            println!("The command to delete resource '{name}' was cancelled.");
            continue;
        }
        let more = [("force", arguments.force.into()), ("orphan", arguments.orphan.into())];
        let message = arguments.meant.asking(records, &node, &more);
        let failed = format!("cannot delete {} {name}", text(&node, &["kind"]));
        records.api.call(&failed, "ApplicationService.DeleteResource", message).await?;
        println!("Resource '{name}' deleted");
    }
    Ok(())
}

fn one_or_all(found: Vec<Value>, all: bool) -> Outcome<Vec<Value>> {
    match found.len() > 1 && !all {
        true => {
            Err(misuse("Multiple resources match inputs. Use the --all flag to patch multiple resources")
                .hint("or say more with --group, --namespace and --resource-name"))
        }
        false => Ok(found),
    }
}

#[derive(clap::Args)]
pub(crate) struct LogsArguments {
    /// The application.
    name: String,
    /// The group of the object whose pods are meant; without it, all of the application.
    #[arg(long, default_value = "")]
    group: String,
    /// Its kind.
    #[arg(long, default_value = "")]
    kind: String,
    /// Its namespace.
    #[arg(long, default_value = "")]
    namespace: String,
    /// Its name.
    #[arg(long = "name", value_name = "NAME", default_value = "")]
    resource: String,
    /// The container.
    #[arg(short, long, default_value = "")]
    container: String,
    /// Go on with what is written from now on.
    #[arg(short, long)]
    follow: bool,
    /// Of the container that ran before.
    #[arg(short, long)]
    previous: bool,
    /// Only lines with this text.
    #[arg(long, default_value = "")]
    filter: String,
    /// Large and small letters are different.
    #[arg(short, long)]
    match_case: bool,
    /// Only lines of the last seconds.
    #[arg(long, value_name = "SECONDS")]
    since_seconds: Option<i64>,
    /// Only as many lines from the end.
    #[arg(long, value_name = "LINES")]
    tail: Option<i64>,
    /// Only lines up to this time.
    #[arg(long, value_name = "TIME", default_value = "")]
    until_time: String,
}

pub(super) async fn logs(records: &Records, arguments: &LogsArguments) -> Outcome {
    let mut message = records.about(&arguments.name);
    for (field, text) in [
        ("group", &arguments.group),
        ("kind", &arguments.kind),
        ("namespace", &arguments.namespace),
        ("resourceName", &arguments.resource),
        ("container", &arguments.container),
        ("filter", &arguments.filter),
        ("untilTime", &arguments.until_time),
    ] {
        if !text.is_empty() {
            message.set(&[field], text.as_str());
        }
    }
    for (field, wanted) in
        [("follow", arguments.follow), ("previous", arguments.previous), ("matchCase", arguments.match_case)]
    {
        message.set(&[field], wanted);
    }
    for (field, number) in [("sinceSeconds", arguments.since_seconds), ("tailLines", arguments.tail)] {
        if let Some(number) = number {
            message.set(&[field], number);
        }
    }
    let failed = format!("cannot read the logs of {}", arguments.name);
    let told = records.api.stream(&failed, "ApplicationService.PodLogs", message, |entry| {
        // The last message of a stream says only that it is the last.
        let is_last = entry.bool_at(&["last"]).unwrap_or_default();
        if !is_last {
            println!("{}", text(&entry, &["content"]));
        }
        Ok(!is_last)
    });
    told.await
}
