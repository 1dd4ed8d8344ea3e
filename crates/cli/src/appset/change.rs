//! `lynceus appset create`, `delete` and `generate`.

use std::path::{Path, PathBuf};

use lynceus_api::{ApplicationSet, Kind as _};
use lynceus_object::{Value, value, yaml};

use super::wait::Patience;
use super::{Sets, named, qualified};
use crate::api::{ApiError, misuse};
use crate::exit::{Doing as _, Failure, Outcome};
use crate::format::{self, Output, text};
use crate::table::Table;
use crate::terminal;

/// The ApplicationSets of a file.
pub(super) fn from_file(path: &Path) -> Outcome<Vec<Value>> {
    let shown = path.display();
    let content = terminal::file(Some(path))?;
    let mut sets = Vec::new();
    for document in yaml::documents(content.as_bytes(), &yaml::Options::default()) {
        let value = document.result.doing(format!("cannot read {shown}"))?;
        if text(&value, &["kind"]) == ApplicationSet::KIND {
            sets.push(value);
        }
    }
    if sets.is_empty() {
        return Err(misuse(format!("{shown} holds no ApplicationSet")));
    }
    Ok(sets)
}

pub(super) async fn create(
    sets: &Sets,
    files: &[PathBuf],
    (upsert, dry_run): (bool, bool),
    patience: Option<Patience>,
    output: Option<Output>,
) -> Outcome {
    for file in files {
        for set in from_file(file)? {
            let name = text(&set, &["metadata", "name"]).to_owned();
            let failed = format!("cannot create ApplicationSet {name}");
            let before = match sets.api.try_call("ApplicationSetService.Get", named(&unqualified(&set))).await
            {
                Ok(before) => Some(before),
                // Whether one is there that may not be seen is said by who creates it.
                Err(ApiError::Refused(_)) => None,
                Err(error) => return Err(Failure::because(failed, &error)),
            };
            let message = value!({"applicationset": set, "upsert": upsert, "dryRun": dry_run});
            let made = sets.api.call(&failed, "ApplicationSetService.Create", message).await?;
            let what = match &before {
                None => "created",
                Some(before) if before.at(&["spec"]) == made.at(&["spec"]) => "unchanged",
                Some(_) => "updated",
            };
            match output {
                Some(output) => {
                    format::print(output, &made, [qualified(&made)], || told(&name, what, dry_run))?
                }
                None => print!("{}", told(&name, what, dry_run)),
            }
            if let Some(patience) = &patience {
                patience.until_made(sets, &unqualified(&made)).await?;
            }
            if dry_run {
                for one in made.items_at(&["status", "resources"]) {
                    println!("{}/{}", text(one, &["namespace"]), text(one, &["name"]));
                }
            }
        }
    }
    Ok(())
}

fn told(name: &str, what: &str, dry_run: bool) -> String {
    format!("ApplicationSet '{name}' {what}{}\n", if dry_run { " (dry-run)" } else { "" })
}

/// The name by which a set that is written down is asked for.
pub(super) fn unqualified(set: &Value) -> String {
    let (namespace, name) = (text(set, &["metadata", "namespace"]), text(set, &["metadata", "name"]));
    if namespace.is_empty() { name.to_owned() } else { format!("{namespace}/{name}") }
}

pub(super) async fn delete(sets: &Sets, names: &[String], yes: bool, patience: Option<Patience>) -> Outcome {
    for name in names {
        let question = format!("Are you sure you want to delete '{name}' and all its Applications? [y/n] ");
        if !yes && !sets.connection.confirmed(&question)? {
            println!("The command to delete '{name}' was cancelled.");
            continue;
        }
        let failed = format!("cannot delete ApplicationSet {name}");
        sets.api.call(&failed, "ApplicationSetService.Delete", named(name)).await?;
        if let Some(patience) = &patience {
            patience.until_gone(sets, name).await?;
        }
        println!("applicationset '{name}' deleted");
    }
    Ok(())
}

pub(super) async fn generate(sets: &Sets, file: &Path, rehearse: bool, output: Output) -> Outcome {
    let wanted = from_file(file)?;
    let mut all = Vec::new();
    for set in &wanted {
        all.extend(sets.generate(set).await?);
    }
    let value = Value::Seq(all.clone().into());
    format::print(output, &value, all.iter().map(qualified), || table(&all).to_string())?;
    for set in wanted.iter().filter(|_| rehearse) {
        // What is printed for programs stays that.
        let told = super::rehearsal::of_preview(&sets.preview(super::Which::Given(set), true).await?);
        if output == Output::default() { print!("{told}") } else { eprint!("{told}") }
    }
    Ok(())
}

fn table(apps: &[Value]) -> Table {
    let mut table = Table::new(&["NAME", "CLUSTER", "NAMESPACE", "PROJECT", "REPO", "PATH", "TARGET"]);
    for app in apps {
        let of = |path: &[&str]| text(app, &[&["spec"], path].concat()).to_owned();
        table.row([
            qualified(app),
            [of(&["destination", "server"]), of(&["destination", "name"])].concat(),
            of(&["destination", "namespace"]),
            of(&["project"]),
            of(&["source", "repoURL"]),
            of(&["source", "path"]),
            of(&["source", "targetRevision"]),
        ]);
    }
    table
}
