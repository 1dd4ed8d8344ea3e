//! `lynceus proj get` and `list`.

use lynceus_object::{Value, value};

use super::Projects;
use crate::exit::Outcome;
use crate::format::{self, Output, text};
use crate::table::Table;

pub(super) async fn list(projects: &Projects, output: Output) -> Outcome {
    let answer = projects.api.call("cannot list the projects", "ProjectService.List", value!({})).await?;
    let items = answer.get("items").cloned().unwrap_or_else(|| value!([]));
    let all = items.as_seq().unwrap_or_default();
    let names = all.iter().map(|project| text(project, &["metadata", "name"]).to_owned());
    format::print(output, &items, names, || table(all).to_string())
}

fn table(projects: &[Value]) -> Table {
    let mut table = Table::new(&[
        "NAME",
        "DESCRIPTION",
        "DESTINATIONS",
        "SOURCES",
        "CLUSTER-RESOURCE-WHITELIST",
        "NAMESPACE-RESOURCE-BLACKLIST",
        "SIGNATURE-KEYS",
        "ORPHANED-RESOURCES",
        "DESTINATION-SERVICE-ACCOUNTS",
    ]);
    for project in projects {
        let spec = |name: &str| project.items_at(&["spec", name]);
        table.row([
            text(project, &["metadata", "name"]).to_owned(),
            text(project, &["spec", "description"]).to_owned(),
            short(spec("destinations"), "destinations", |one| joined(one, &["server", "namespace"], ",")),
            short(spec("sourceRepos"), "repos", |one| one.as_str().unwrap_or_default().to_owned()),
            short(spec("clusterResourceWhitelist"), "resources", |one| joined(one, &["group", "kind"], "/")),
            short(spec("namespaceResourceBlacklist"), "resources", |_| "1 resources".to_owned()),
            short(spec("signatureKeys"), "key(s)", |_| "1 key(s)".to_owned()),
            orphaned(project),
            short(spec("destinationServiceAccounts"), "destinationServiceAccounts", |one| {
                joined(one, &["server", "namespace", "defaultServiceAccount"], ",")
            }),
        ]);
    }
    table
}

/// None, the only one, or how many.
fn short(items: &[Value], what: &str, one: impl Fn(&Value) -> String) -> String {
    match items {
        [] => "<none>".to_owned(),
        [only] => one(only),
        many => format!("{} {what}", many.len()),
    }
}

fn joined(value: &Value, fields: &[&str], joint: &str) -> String {
    fields.iter().map(|field| text(value, &[field])).collect::<Vec<_>>().join(joint)
}

fn orphaned(project: &Value) -> String {
    let Some(settings) = project.at(&["spec", "orphanedResources"]) else { return "disabled".to_owned() };
    let warn = settings.bool_at(&["warn"]).unwrap_or_default();
    match settings.items_at(&["ignore"]).len() {
        0 => format!("enabled (warn={warn})"),
        ignored => format!("enabled (warn={warn}, ignored {ignored})"),
    }
}

pub(super) async fn get(projects: &Projects, name: &str, output: Output) -> Outcome {
    let failed = format!("cannot read project {name}");
    let detail =
        projects.api.call(&failed, "ProjectService.GetDetailedProject", value!({"name": name})).await?;
    let project = detail.get("project").cloned().unwrap_or_default();
    format::print(output, &project, [name.to_owned()], || shown(&project, &detail))
}

fn shown(project: &Value, detail: &Value) -> String {
    let spec = |name: &str| project.items_at(&["spec", name]);
    let plain = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let pair =
        |joint: &'static str, fields: [&'static str; 2]| move |value: &Value| joined(value, &fields, joint);
    let mut out = String::new();
    let mut lines = |title: &str, values: Vec<String>| {
        let values = if values.is_empty() { vec!["<none>".to_owned()] } else { values };
        for (at, value) in values.iter().enumerate() {
            let title = if at == 0 { title } else { "" };
            out.push_str(format!("{title:<29}{value}").trim_end());
            out.push('\n');
        }
    };
    let all = |items: &[Value], one: &dyn Fn(&Value) -> String| items.iter().map(one).collect::<Vec<_>>();
    lines("Name:", vec![text(project, &["metadata", "name"]).to_owned()]);
    lines("Description:", vec![text(project, &["spec", "description"]).to_owned()]);
    lines("Destinations:", all(spec("destinations"), &pair(",", ["server", "namespace"])));
    lines("Repositories:", all(spec("sourceRepos"), &plain));
    lines("Source Namespaces:", all(spec("sourceNamespaces"), &plain));
    let repository = |value: &Value| text(value, &["repo"]).to_owned();
    lines("Scoped Repositories:", all(detail.items_at(&["repositories"]), &repository));
    lines("Allowed Cluster Resources:", all(spec("clusterResourceWhitelist"), &pair("/", ["group", "kind"])));
    let cluster = |value: &Value| text(value, &["server"]).to_owned();
    lines("Scoped Clusters:", all(detail.items_at(&["clusters"]), &cluster));
    lines(
        "Denied Namespaced Resources:",
        all(spec("namespaceResourceBlacklist"), &pair("/", ["group", "kind"])),
    );
    let keys = all(spec("signatureKeys"), &|value: &Value| text(value, &["keyID"]).to_owned());
    lines("Signature keys:", if keys.is_empty() { Vec::new() } else { vec![keys.join(", ")] });
    lines("Orphaned Resources:", vec![orphaned(project)]);
    out
}
