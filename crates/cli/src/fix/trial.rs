//! Trying a fix in the embedded cluster before it is written.

use std::collections::BTreeMap;
use std::path::Path;

use lynceus_doctor::{AppName, Examination, Node};
use lynceus_engine::FileChange;
use lynceus_rehearse::{Comparison, Overlay, Rehearsal, Verification, rehearse};

use crate::doctor::{Patient, Where};
use crate::exit::{Code, Doing as _, Failure, Outcome};
use crate::table::Table;
use crate::{doctor, snapshot};

/// Plays the repository with and without the fix.
pub(super) async fn run(
    patient: &Patient,
    place: &Where,
    tree: &Path,
    changes: &[FileChange],
) -> Outcome<Verification> {
    let overlay: Overlay = changes
        .iter()
        .map(|change| (change.path.clone(), change.after.clone().map(String::into_bytes)))
        .collect();
    let doing = "the fix cannot be rehearsed";
    eprintln!("rehearsing   with and without it, in an embedded cluster");
    match patient {
        Patient::Repository(played) => played.verify(&overlay).await.doing(doing),
        _ => before(patient, place, tree).await?.verify(&overlay).await.doing(doing),
    }
}

/// The working tree as it is now, played on a copy of the cluster.
async fn before(patient: &Patient, place: &Where, tree: &Path) -> Outcome<Rehearsal> {
    let mut script = doctor::script(&Where { repo: Some(tree.to_path_buf()), ..place.clone() })?;
    if let Patient::Cluster(context) = patient {
        script.stage.snapshot = Some(snapshot::take(context.engine().home(), &[]).await?.into());
    }
    rehearse(&script).await.doing("the working tree cannot be rehearsed; --no-rehearsal leaves that out")
}

/// Applications that another finding is about already, with its name. Two that want one object take turns, for example: what such
/// a one comes to is not the fix's doing.
pub(super) fn elsewhere(examination: &Examination, id: &str) -> BTreeMap<AppName, String> {
    let mut known = BTreeMap::new();
    for root in examination.roots.iter().filter(|root| root.id != id) {
        let affected = root.finding.affects.iter().filter_map(|node| match node {
            Node::Application(name) => Some(name),
            _ => None,
        });
        for name in root.applications.iter().chain(affected).chain(&root.finding.application) {
            known.entry(name.clone()).or_insert_with(|| root.id.clone());
        }
    }
    known
}

/// Tells what the fix does. One that harms is refused.
pub(super) fn tell(applications: &[Comparison], elsewhere: &BTreeMap<AppName, String>) -> Outcome {
    let because = |one: &Comparison| elsewhere.get(&AppName::new(one.namespace.as_str(), one.name.as_str()));
    let healed: Vec<_> = applications.iter().filter(|one| one.is_healed()).collect();
    let (excused, harmed): (Vec<_>, Vec<_>) =
        applications.iter().filter(|one| one.is_harmed()).partition(|one| because(one).is_some());
    eprintln!("rehearsed    {} healed, {} harmed", healed.len(), harmed.len());
    if !healed.is_empty() || !harmed.is_empty() {
        let mut table = Table::new(&["APPLICATION", "BEFORE", "AFTER"]);
        let word = |state: &Option<String>| state.clone().unwrap_or_else(|| "not there".to_owned());
        for one in healed.iter().chain(&harmed) {
            table.row([one.name.clone(), word(&one.before), word(&one.after)]);
        }
        eprint!("{table}");
    }
    for (one, id) in excused.iter().filter_map(|one| Some((one, because(one)?))) {
        eprintln!("note         {} is not fine with it either, for {id}", one.name);
    }
    match harmed.first() {
        Some(harmed) => {
            let message = format!("with the fix {} gets stuck, which it does not without", harmed.name);
            Err(Failure::new(Code::Answer, message).hint("look for another one with --choice N"))
        }
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use lynceus_rehearse::Verdict;

    use super::*;

    fn compared(name: &str, was: Verdict, is: Verdict) -> Comparison {
        Comparison {
            namespace: "argocd".to_owned(),
            name: name.to_owned(),
            before: None,
            after: None,
            was: Some(was),
            is: Some(is),
        }
    }

    #[test]
    fn a_fix_that_harms_is_refused_unless_another_finding_explains_it() {
        let turned = [
            compared("vault", Verdict::Stuck, Verdict::Finishes),
            compared("search", Verdict::Finishes, Verdict::Stuck),
        ];
        let failure = tell(&turned, &BTreeMap::new()).unwrap_err();
        assert_eq!(failure.message, "with the fix search gets stuck, which it does not without");
        let known =
            BTreeMap::from([(AppName::new("argocd", "search"), "LYN0101/search/ConfigMap/x".to_owned())]);
        assert!(tell(&turned, &known).is_ok());
    }
}
