//! `lynceus appset preview` and `diff`: what would be done, and nothing is.

use std::path::Path;

use lynceus_object::Value;

use super::change::from_file;
use super::{Sets, Which, rehearsal};
use crate::exit::{Code, Failure, Outcome};
use crate::format::{self, Output, text};

#[derive(clap::Args)]
pub(super) struct Arguments {
    /// A file with ApplicationSets, or the name of one that is there; `-` is standard input.
    what: String,
    /// End with code 1 if anything would be done.
    #[arg(long)]
    exit_code: bool,
    /// Say what that would do to the cluster as it is, too, by a rehearsal.
    #[arg(long)]
    rehearse: bool,
    /// How to print it.
    #[arg(short, long, value_enum, default_value_t)]
    output: Output,
}

/// How much is told.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Detail {
    Names,
    Fields,
}

pub(super) async fn run(sets: &Sets, arguments: &Arguments, detail: Detail) -> Outcome {
    let path = Path::new(&arguments.what);
    let given = match arguments.what == "-" || path.exists() {
        true => from_file(path)?,
        false => Vec::new(),
    };
    let mut reports = Vec::new();
    for set in &given {
        reports.push(sets.preview(Which::Given(set), arguments.rehearse).await?);
    }
    if given.is_empty() {
        reports.push(sets.preview(Which::Named(&arguments.what), arguments.rehearse).await?);
    }
    let differs = reports.iter().any(differs);
    let names = reports
        .iter()
        .flat_map(|report| report.items_at(&["steps"]))
        .map(|step| format!("{} {}", text(step, &["act"]), text(step, &["name"])));
    let all = match reports.as_slice() {
        [only] => only.clone(),
        _ => Value::Seq(reports.clone().into()),
    };
    let told = || reports.iter().map(|report| told(report, detail)).collect::<String>();
    format::print(arguments.output, &all, names, told)?;
    if differs && arguments.exit_code { Err(Failure::new(Code::Answer, "")) } else { Ok(()) }
}

/// Whether anything would be done, if somebody confirms it where that is needed.
fn differs(report: &Value) -> bool {
    let is_done = |step: &Value| text(step, &["act"]) != "keep";
    report.get("held").is_some() || report.items_at(&["steps"]).iter().any(is_done)
}

fn told(report: &Value, detail: Detail) -> String {
    let mut out = String::new();
    let mut counts = [0_usize; 4];
    for step in report.items_at(&["steps"]) {
        let (act, name, why) = (text(step, &["act"]), text(step, &["name"]), text(step, &["why"]));
        let at = ["create", "update", "delete", "keep"].iter().position(|word| *word == act).unwrap_or(3);
        counts[at] += 1;
        let is_same = act == "keep" && why == "nothing differs";
        match why {
            _ if is_same => {}
            "" => out.push_str(&format!("{act} {name}\n")),
            why => out.push_str(&format!("{act} {name}: {why}\n")),
        }
        for change in step.items_at(&["changes"]).iter().filter(|_| detail == Detail::Fields) {
            out.push_str(&format!("  {}\n", text(change, &["text"])));
        }
    }
    for fault in report.items_at(&["faults"]) {
        out.push_str(&format!("error: {}\n", fault.as_str().unwrap_or_default()));
    }
    if let Some(held) = report.get("held") {
        out.push_str(&format!("held: {}\n", text(held, &["message"])));
    }
    let [create, update, delete, keep] = counts;
    out.push_str(&format!("{create} to create, {update} to update, {delete} to delete, {keep} to keep\n"));
    out.push_str(&rehearsal::of_preview(report));
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use lynceus_object::yaml;

    #[test]
    fn a_preview_names_what_is_done_and_a_diff_the_fields() {
        let report = yaml::parse_str(
            "steps:\n- {name: a, act: create}\n- {name: b, act: update, changes: [{path: spec.project, text: 'spec.project: \"x\" -> \"y\"'}]}\n\
             - {name: c, act: keep, why: nothing differs}\n- {name: d, act: keep, why: it is held}\nfaults: [spec is wrong]\nheld: {message: 3 of 4}\n",
        )
        .unwrap();
        let end = "keep d: it is held\nerror: spec is wrong\nheld: 3 of 4\n1 to create, 1 to update, 0 to delete, 2 to keep\n";
        assert_eq!(told(&report, Detail::Names), format!("create a\nupdate b\n{end}"));
        assert_eq!(
            told(&report, Detail::Fields),
            format!("create a\nupdate b\n  spec.project: \"x\" -> \"y\"\n{end}")
        );
        assert!(differs(&report));
        assert!(!differs(&yaml::parse_str("steps: [{name: c, act: keep}]").unwrap()));
    }
}
