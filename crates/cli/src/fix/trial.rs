//! Telling what a rehearsal of a fix came to.

use lynceus_doctor::Proof;
use lynceus_rehearse::{Attempt, Comparison};

use crate::exit::{Code, Failure, Outcome};
use crate::table::Table;

/// Tells what the fix does. One that harms is refused.
pub(super) fn tell(attempt: &Attempt) -> Outcome {
    let is_excused = |one: &Comparison| attempt.excused.iter().any(|(other, _)| other == one);
    let applications = attempt.applications.iter();
    let healed: Vec<&Comparison> = applications.clone().filter(|one| one.is_healed()).collect();
    let harmed: Vec<&Comparison> = applications.filter(|one| one.is_harmed() && !is_excused(one)).collect();
    if let Proof::Proposed { reason: Some(reason) } = &attempt.proof {
        eprintln!("proposed     {reason}");
        return Ok(());
    }
    eprintln!("rehearsed    {} healed, {} harmed", healed.len(), harmed.len());
    if !healed.is_empty() || !harmed.is_empty() {
        let mut table = Table::new(&["APPLICATION", "BEFORE", "AFTER"]);
        let word = |state: &Option<String>| state.clone().unwrap_or_else(|| "not there".to_owned());
        for one in healed.iter().chain(&harmed) {
            table.row([one.name.clone(), word(&one.before), word(&one.after)]);
        }
        eprint!("{table}");
    }
    for (one, id) in &attempt.excused {
        eprintln!("note         {} is not fine with it either, for {id}", one.name);
    }
    match &attempt.proof {
        Proof::Refuted { reason } if !harmed.is_empty() => {
            Err(Failure::new(Code::Answer, reason.clone()).hint("look for another one with --choice N"))
        }
        Proof::Refuted { reason } => {
            eprintln!("note         {reason}");
            Ok(())
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use lynceus_rehearse::Verdict;

    use super::*;

    #[test]
    fn a_fix_that_harms_is_refused_unless_another_finding_explains_it() {
        let search = Comparison {
            namespace: "argocd".to_owned(),
            name: "search".to_owned(),
            before: None,
            after: None,
            was: Some(Verdict::Finishes),
            is: Some(Verdict::Stuck),
        };
        let proof = Proof::Refuted { reason: "with the fix search gets stuck".to_owned() };
        let harms = Attempt { applications: vec![search.clone()], excused: Vec::new(), proof };
        assert_eq!(tell(&harms).unwrap_err().message, "with the fix search gets stuck");
        let excused = vec![(search, "LYN0101/search/ConfigMap/x".to_owned())];
        let proof = Proof::Verified { table: Vec::new() };
        assert!(tell(&Attempt { excused, proof, ..harms }).is_ok());
    }
}
