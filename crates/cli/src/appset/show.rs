//! `lynceus appset list` and `get`.

use lynceus_object::{Value, value};

use super::{Sets, qualified};
use crate::exit::Outcome;
use crate::format::{self, Output, text};
use crate::table::Table;

pub(super) async fn list(sets: &Sets, asked: Value, output: Output) -> Outcome {
    let failed = "cannot list the ApplicationSets";
    let answer = sets.api.call(failed, "ApplicationSetService.List", asked).await?;
    let items = answer.get("items").cloned().unwrap_or_else(|| value!([]));
    let all = items.as_seq().unwrap_or_default();
    format::print(output, &items, all.iter().map(qualified), || table(all).to_string())
}

fn table(sets: &[Value]) -> Table {
    let mut table = Table::new(&["NAME", "PROJECT", "SYNCPOLICY", "CONDITIONS", "REPO", "PATH", "TARGET"]);
    for set in sets {
        let of = |path: &[&str]| text(set, &[&["spec", "template", "spec"], path].concat()).to_owned();
        table.row([
            qualified(set),
            of(&["project"]),
            policy(set),
            conditions(set),
            of(&["source", "repoURL"]),
            of(&["source", "path"]),
            of(&["source", "targetRevision"]),
        ]);
    }
    table
}

/// The policy as Go prints it, which is what `argocd` does.
fn policy(set: &Value) -> String {
    let Some(policy) = set.at(&["spec", "syncPolicy"]) else { return "nil".to_owned() };
    let preserves = policy.bool_at(&["preserveResourcesOnDeletion"]).unwrap_or_default();
    let sync = policy.str_at(&["applicationsSync"]).map_or("nil".to_owned(), |word| format!("*{word}"));
    format!("&ApplicationSetSyncPolicy{{PreserveResourcesOnDeletion:{preserves},ApplicationsSync:{sync},}}")
}

fn conditions(set: &Value) -> String {
    let of = |one: &Value| {
        let part = |field: &str| text(one, &[field]).to_owned();
        format!(
            "{{{} {} {} {} {}}}",
            part("type"),
            part("message"),
            part("lastTransitionTime"),
            part("status"),
            part("reason")
        )
    };
    let all: Vec<String> = set.items_at(&["status", "conditions"]).iter().map(of).collect();
    format!("[{}]", all.join(" "))
}

pub(super) async fn get(sets: &Sets, name: &str, show_params: bool, output: Output) -> Outcome {
    let set = sets.get(name).await?;
    format::print(output, &set, [qualified(&set)], || summary(&set, show_params))
}

fn summary(set: &Value, show_params: bool) -> String {
    let spec = set.at(&["spec", "template", "spec"]).cloned().unwrap_or_default();
    let mut out = String::new();
    let mut line = |name: &str, value: &str| out.push_str(&format!("{name:<20}{value}\n"));
    let project = text(&spec, &["project"]);
    line("Name:", &qualified(set));
    line("Project:", if project.is_empty() { "default" } else { project });
    let server = [text(&spec, &["destination", "server"]), text(&spec, &["destination", "name"])].concat();
    line("Server:", &server);
    line("Namespace:", text(&spec, &["destination", "namespace"]));
    let many = spec.items_at(&["sources"]);
    let sources: Vec<&Value> =
        if many.is_empty() { spec.get("source").into_iter().collect() } else { many.iter().collect() };
    line(if many.is_empty() { "Source:" } else { "Sources:" }, "");
    for source in sources {
        line("- Repo:", text(source, &["repoURL"]));
        line("  Target:", text(source, &["targetRevision"]));
        line("  Path:", text(source, &["path"]));
        if show_params {
            for one in source.items_at(&["helm", "parameters"]) {
                line("  Parameter:", &format!("{}={}", text(one, &["name"]), text(one, &["value"])));
            }
        }
    }
    let automated = spec.at(&["syncPolicy", "automated"]);
    let prunes = automated.and_then(|one| one.bool_at(&["prune"])).unwrap_or_default();
    line(
        "SyncPolicy:",
        match (automated, prunes) {
            (None, _) => "<none>",
            (Some(_), false) => "Automated",
            (Some(_), true) => "Automated (Prune)",
        },
    );
    let mut table = Table::new(&["CONDITION", "STATUS", "MESSAGE", "LAST TRANSITION"]);
    for one in set.items_at(&["status", "conditions"]) {
        table.row(
            ["type", "status", "message", "lastTransitionTime"].map(|field| text(one, &[field]).to_owned()),
        );
    }
    out.push_str(&format!("\n{table}"));
    let steps = set.items_at(&["status", "applicationStatus"]);
    if !steps.is_empty() {
        let mut table = Table::new(&["STEP", "APPLICATION", "STATUS", "MESSAGE"]);
        for one in steps {
            table.row(
                ["step", "application", "status", "message"].map(|field| text(one, &[field]).to_owned()),
            );
        }
        out.push_str(&format!("\n{table}"));
    }
    out
}
