//! `lynceus app resources` and `lynceus app tree`

use std::collections::BTreeMap;

use lynceus_api::ResourceStatus;
use lynceus_cluster::Node;
use lynceus_engine::{Aim, Checks, health_of};
use lynceus_object::{Object, ObjectKey};

use super::context::Context;
use super::served;
use crate::exit::Outcome;
use crate::format::{self, Output};
use crate::table::Table;

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The application.
    name: String,
    /// Only those beside the application that belong to nobody; with `false`, all but those.
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    orphaned: Option<bool>,
    /// How to print them.
    #[arg(short, long, value_enum, default_value_t)]
    output: Output,
}

/// Which resources somebody wants to see.
#[derive(Clone, Copy)]
pub(super) struct Which {
    /// Those of the application.
    pub(super) own: bool,
    /// Those beside it that belong to nobody.
    pub(super) orphans: bool,
}

/// A resource, and whether it belongs to nobody.
pub(super) type Row = (ObjectKey, bool);

#[derive(clap::Args)]
pub(crate) struct TreeArguments {
    /// The application.
    name: String,
}

pub(crate) async fn run(context: &Context, arguments: &Arguments) -> Outcome {
    let application = context.application(&arguments.name).await?;
    let which = Which { own: arguments.orphaned != Some(true), orphans: arguments.orphaned != Some(false) };
    if let Some(records) = context.records() {
        return served::resources(records, &application, which, arguments.output).await;
    }
    let look = context.engine()?.look(&application, &Aim::default()).await;
    let live = look.changes.changes.iter().filter_map(|change| change.pair.live()).filter(|_| which.own);
    let live: Vec<Object> = live.map(|object| context.shown(object)).collect();
    match arguments.output {
        Output::Json => {
            let items: Vec<_> = live.into_iter().map(Object::into_value).collect();
            println!("{}", format::json(&items.into())?);
        }
        Output::Yaml => {
            print!("{}", format::documents(&live));
        }
        output @ (Output::Name | Output::Wide) => {
            let own = look.assessment.resources.iter().map(key).filter(|_| which.own);
            let orphans = look.orphans.iter().map(Object::key).filter(|_| which.orphans);
            let rows: Vec<Row> = own.map(|key| (key, false)).chain(orphans.map(|key| (key, true))).collect();
            print(&rows, output);
        }
    }
    Ok(())
}

/// What tells a resource from others.
pub(super) fn key(resource: &ResourceStatus) -> ObjectKey {
    ObjectKey {
        group: resource.group.clone(),
        kind: resource.kind.clone(),
        namespace: resource.namespace.clone(),
        name: resource.name.clone(),
    }
}

/// Prints resources in columns, or their names.
pub(super) fn print(rows: &[Row], output: Output) {
    if output == Output::Name {
        return rows.iter().for_each(|(key, _)| println!("{key}"));
    }
    let mut table = Table::new(&["GROUP", "KIND", "NAMESPACE", "NAME", "ORPHANED"]);
    for (ObjectKey { group, kind, namespace, name }, is_orphaned) in rows {
        let orphaned = if *is_orphaned { "Yes" } else { "No" };
        let [group, kind, namespace, name] = [group, kind, namespace, name].map(ToString::to_string);
        table.row([group, kind, namespace, name, orphaned.to_owned()]);
    }
    print!("{table}");
}

pub(crate) async fn tree(context: &Context, arguments: &TreeArguments) -> Outcome {
    let application = context.application(&arguments.name).await?;
    let look = context.engine()?.look(&application, &Aim::default()).await;
    let roots = look.changes.changes.iter().filter_map(|change| change.pair.live().cloned());
    let cluster = match look.cluster.as_deref() {
        Some(cluster) => cluster,
        None => context.cluster()?,
    };
    let nodes = lynceus_cluster::tree(cluster.cache(), roots);
    println!("{}  {}  {}", arguments.name, application.status.sync.status, application.status.health.status);
    let checks = Checks { children: true, ..context.engine()?.checks() };
    print!("{}", drawn(&nodes, &checks));
    Ok(())
}

/// The nodes as a tree of lines, each with its health.
fn drawn(nodes: &[Node], checks: &Checks) -> String {
    let mut children: BTreeMap<Option<ObjectKey>, Vec<&Node>> = BTreeMap::new();
    for node in nodes {
        children.entry(node.parent.clone()).or_default().push(node);
    }
    let mut out = String::new();
    draw(&children, None, "", checks, &mut out);
    out
}

fn draw(
    children: &BTreeMap<Option<ObjectKey>, Vec<&Node>>,
    of: Option<ObjectKey>,
    indent: &str,
    checks: &Checks,
    out: &mut String,
) {
    let Some(nodes) = children.get(&of) else { return };
    for (place, node) in nodes.iter().enumerate() {
        let last = place + 1 == nodes.len();
        let (branch, below) = if last { ("└─", "  ") } else { ("├─", "│ ") };
        let object = &node.object;
        let health = health_of(Some(object), checks);
        let state = match &health {
            None => String::new(),
            Some(health) if health.message.is_empty() => format!("  {}", health.status),
            Some(health) => format!("  {}  {}", health.status, health.message),
        };
        let namespace = object.namespace();
        let slash = if namespace.is_empty() { "" } else { "/" };
        out.push_str(&format!(
            "{indent}{branch}{} {namespace}{slash}{}{state}\n",
            object.kind(),
            object.name()
        ));
        draw(children, Some(object.key()), &format!("{indent}{below}"), checks, out);
    }
}
