//! Telling what a rehearsal of a fix came to.

use lynceus_doctor::Proof;
use lynceus_rehearse::Attempt;

use crate::exit::{Code, Failure, Outcome};
use crate::table::Table;

/// Tells what the fix does. One that harms is refused.
pub(super) fn tell(attempt: &Attempt) -> Outcome {
    let Attempt { healed, harmed, .. } = attempt;
    if let Proof::Proposed { reason: Some(reason) } = &attempt.proof {
        eprintln!("proposed     {reason}");
        return Ok(());
    }
    eprintln!("rehearsed    {} healed, {} harmed", healed.len(), harmed.len());
    if !healed.is_empty() || !harmed.is_empty() {
        let mut table = Table::new(&["APPLICATION", "BEFORE", "AFTER"]);
        let word = |state: &Option<String>| state.clone().unwrap_or_else(|| "not there".to_owned());
        for one in healed.iter().chain(harmed) {
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
    use lynceus_rehearse::{Comparison, Verdict};

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
            lost: std::collections::BTreeSet::new(),
        };
        let proof = Proof::Refuted { reason: "with the fix search gets stuck".to_owned() };
        let (applications, harmed) = (vec![search.clone()], vec![search.clone()]);
        let harms = Attempt { applications, healed: Vec::new(), harmed, excused: Vec::new(), proof };
        assert_eq!(tell(&harms).unwrap_err().message, "with the fix search gets stuck");
        let excused = vec![(search, "LYN0101/search/ConfigMap/x".to_owned())];
        let proof = Proof::Verified { table: Vec::new() };
        assert!(tell(&Attempt { harmed: Vec::new(), excused, proof, ..harms }).is_ok());
    }
}
