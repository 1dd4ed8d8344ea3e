//! Trying a fix in the embedded cluster before it is written.

use std::path::Path;

use lynceus_engine::FileChange;
use lynceus_rehearse::{Overlay, Rehearsal, Verification, rehearse};

use crate::doctor::{Patient, Where};
use crate::exit::{Code, Doing as _, Failure, Outcome};
use crate::table::Table;
use crate::{doctor, snapshot};

/// Plays the repository with and without the fix, and tells what it does. One that harms is refused.
pub(super) async fn run(patient: &Patient, place: &Where, tree: &Path, changes: &[FileChange]) -> Outcome {
    let overlay: Overlay = changes
        .iter()
        .map(|change| (change.path.clone(), change.after.clone().map(String::into_bytes)))
        .collect();
    let doing = "the fix cannot be rehearsed";
    let verification = match patient {
        Patient::Repository(played) => played.verify(&overlay).await.doing(doing)?,
        _ => before(patient, place, tree).await?.verify(&overlay).await.doing(doing)?,
    };
    tell(&verification)
}

/// The working tree as it is now, played on a copy of the cluster.
async fn before(patient: &Patient, place: &Where, tree: &Path) -> Outcome<Rehearsal> {
    let mut script = doctor::script(&Where { repo: Some(tree.to_path_buf()), ..place.clone() })?;
    if let Patient::Cluster(context) = patient {
        script.stage.snapshot = Some(snapshot::take(context.engine().home(), &[]).await?.into());
    }
    rehearse(&script).await.doing("the working tree cannot be rehearsed; --no-rehearsal leaves that out")
}

fn tell(verification: &Verification) -> Outcome {
    let changed: Vec<_> = verification.applications.iter().filter(|one| one.before != one.after).collect();
    let mut table = Table::new(&["APPLICATION", "BEFORE", "AFTER"]);
    for one in &changed {
        let word = |state: &Option<String>| state.clone().unwrap_or_else(|| "not there".to_owned());
        table.row([one.name.clone(), word(&one.before), word(&one.after)]);
    }
    eprintln!(
        "rehearsed    {} healed, {} harmed",
        verification.healed().count(),
        verification.harmed().count()
    );
    if !changed.is_empty() {
        eprint!("{table}");
    }
    match verification.harmed().next() {
        Some(harmed) => {
            let message = format!("with the fix {} gets stuck, which it does not without", harmed.name);
            Err(Failure::new(Code::Answer, message).hint("look for another one with --choice N"))
        }
        None => Ok(()),
    }
}
