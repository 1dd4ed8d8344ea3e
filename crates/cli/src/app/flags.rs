//! The flags that say what an application is, by one table, for `create`, `set` and `add-source`.

mod table;

use clap::{Arg, ArgAction, ArgMatches, Command};
use lynceus_object::{Value, value};

use table::{Part, Row, Sort, TABLE};

use crate::api::misuse;
use crate::exit::Outcome;
use crate::format::texts;
use crate::terminal;

/// What was given, in the order of the table.
#[derive(Clone, Default)]
pub(crate) struct Flags {
    given: Vec<(&'static Row, Vec<String>)>,
}

impl Flags {
    /// Whether anything was.
    pub(crate) fn is_empty(&self) -> bool {
        self.given.is_empty()
    }

    /// Writes what was given into a spec and one of its sources.
    pub(crate) fn apply(&self, spec: &mut Value, source: &mut Value) -> Outcome {
        for ((flag, part, path, sort, _), values) in &self.given {
            let into = if *part == Part::Source { &mut *source } else { &mut *spec };
            write(into, flag, path, *sort, values)?;
        }
        let retry = ["syncPolicy", "retry"];
        let limit = spec.int_at(&[retry[0], retry[1], "limit"]);
        match limit {
            Some(0) => drop(spec.remove(&retry)),
            Some(_) => {
                for (field, usual) in [
                    ("duration", Value::from("5s")),
                    ("maxDuration", "3m0s".into()),
                    ("factor", Value::Int(2)),
                ] {
                    if spec.at(&[retry[0], retry[1], "backoff", field]).is_none() {
                        spec.set(&[retry[0], retry[1], "backoff", field], usual);
                    }
                }
            }
            None => {}
        }
        Ok(())
    }
}

fn write(into: &mut Value, flag: &str, path: &[&str], sort: Sort, values: &[String]) -> Outcome {
    let last = values.last().map(String::as_str).unwrap_or_default();
    let wrong = |what: &str| misuse(format!("--{flag} {last:?} is no {what}"));
    match sort {
        Sort::Text => into.set(path, last),
        Sort::Switch => into.set(path, last.parse::<bool>().map_err(|_| wrong("true or false"))?),
        Sort::Number => into.set(path, last.parse::<i64>().map_err(|_| wrong("number"))?),
        Sort::Texts => {
            into.set(path, values.iter().map(|text| Value::from(text.as_str())).collect::<Value>())
        }
        Sort::File => into.set(path, terminal::file(Some(last.as_ref()))?),
        Sort::Pairs => {
            for text in values {
                let (key, value) = text.split_once('=').ok_or_else(|| wrong("KEY=VALUE"))?;
                let path: Vec<&str> = path.iter().copied().chain([key]).collect();
                into.set(&path, value);
            }
        }
        Sort::Entries(form) => {
            let mut list = into.items_at(path).to_vec();
            for text in values {
                form.put(&mut list, text).ok_or_else(|| {
                    misuse(format!("--{flag} {text:?} is not of the form {}", form.shape()))
                })?;
            }
            into.set(path, Value::from(list));
        }
        Sort::Policy => match last {
            "automated" | "automatic" | "auto" => into.set(path, value!({})),
            "none" | "manual" => drop(into.remove(path)),
            _ => {
                return Err(
                    misuse(format!("Invalid sync-policy: {last}")).hint("--sync-policy automated, or none")
                );
            }
        },
        Sort::Automated => {
            if into.at(&["syncPolicy", "automated"]).is_none() {
                return Err(misuse(format!(
                    "Cannot set --{flag}: application not configured with automatic sync"
                ))
                .hint("add --sync-policy automated"));
            }
            let wanted = last.parse::<bool>().map_err(|_| wrong("true or false"))?;
            into.set(&["syncPolicy", "automated", path[0]], wanted);
        }
        Sort::Options => {
            let mut options = texts(into, path);
            for option in values {
                let bare = option.strip_prefix('!').unwrap_or(option);
                options.retain(|known| known != bare);
                if bare == option {
                    options.push(option.clone());
                }
            }
            into.set(path, options.into_iter().map(Value::from).collect::<Value>());
        }
    }
    Ok(())
}

impl clap::FromArgMatches for Flags {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let values = |flag: &str| -> Vec<String> {
            matches.get_many::<String>(flag).into_iter().flatten().cloned().collect()
        };
        let given = TABLE.iter().map(|row| (row, values(row.0)));
        Ok(Flags { given: given.filter(|(_, values)| !values.is_empty()).collect() })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl clap::Args for Flags {
    fn augment_args(mut command: Command) -> Command {
        for (flag, part, _, sort, help) in TABLE {
            let heading = if *part == Part::Source { "Source" } else { "Destination and policy" };
            let mut arg = Arg::new(*flag).long(*flag).help(*help).help_heading(heading);
            arg = match sort {
                Sort::Switch | Sort::Automated => {
                    arg.num_args(0..=1).require_equals(true).default_missing_value("true").value_name("BOOL")
                }
                Sort::Texts | Sort::Pairs | Sort::Entries(_) | Sort::Options => arg.action(ArgAction::Append),
                Sort::Number => arg.allow_negative_numbers(true),
                _ => arg,
            };
            command = command.arg(if *flag == "parameter" { arg.short('p') } else { arg });
        }
        command
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;
    use lynceus_object::{json, value};

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        flags: Flags,
    }

    fn check(spec: Value, line: &str) -> String {
        let line = Line::parse_from(std::iter::once("set").chain(line.split(' ')));
        let (mut spec, mut source) = (spec, value!({}));
        match line.flags.apply(&mut spec, &mut source) {
            Ok(()) => format!("{} {}", json::to_string(&spec), json::to_string(&source)),
            Err(failure) => failure.message,
        }
    }

    #[test]
    fn flags_become_fields() {
        assert_eq!(
            check(
                value!({}),
                "--repo r --values a.yaml --values b.yaml --helm-set x=1 --helm-set x=2 --helm-skip-crds"
            ),
            r#"{} {"helm":{"parameters":[{"name":"x","value":"2"}],"skipCrds":true,"valueFiles":["a.yaml","b.yaml"]},"repoURL":"r"}"#
        );
        assert_eq!(
            check(
                value!({}),
                "--kustomize-image reg:5000/a:1 --kustomize-image b=c:2 --kustomize-replica web=3 --nameprefix p-"
            ),
            r#"{} {"kustomize":{"images":["reg:5000/a:1","b=c:2"],"namePrefix":"p-","replicas":[{"count":3,"name":"web"}]}}"#
        );
        assert_eq!(
            check(
                value!({"syncPolicy": {"syncOptions": ["A=true", "B=true"]}}),
                "--sync-option !A=true --sync-option C=true --sync-policy auto --auto-prune --self-heal=false"
            ),
            r#"{"syncPolicy":{"automated":{"prune":true,"selfHeal":false},"syncOptions":["B=true","C=true"]}} {}"#
        );
        assert_eq!(
            check(value!({}), "--sync-retry-limit 3"),
            r#"{"syncPolicy":{"retry":{"backoff":{"duration":"5s","factor":2,"maxDuration":"3m0s"},"limit":3}}} {}"#
        );
    }

    #[test]
    fn what_cannot_be_is_said_by_its_flag() {
        assert_eq!(
            check(value!({}), "--auto-prune"),
            "Cannot set --auto-prune: application not configured with automatic sync"
        );
        assert_eq!(check(value!({}), "--helm-set x"), "--helm-set \"x\" is not of the form KEY=VALUE");
        assert_eq!(
            check(value!({}), "--kustomize-replica web=many"),
            "--kustomize-replica \"web=many\" is not of the form NAME=COUNT"
        );
        assert_eq!(check(value!({}), "--sync-policy sometimes"), "Invalid sync-policy: sometimes");
    }
}
