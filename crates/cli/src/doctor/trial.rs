//! Trying fixes in the embedded cluster before anybody relies on them.

use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::time::Instant;

use jiff::Timestamp;
use lynceus_doctor::{Examination, Proof};
use lynceus_engine::FileChange;
use lynceus_rehearse::{Attempt, Complaint, Rehearsal, Trial, limits, record, rehearse};

use super::patient::{Patient, Where, script};
use crate::exit::{Code, Doing as _, Failure, Outcome};
use crate::snapshot;

/// The repository as it is, played, on which fixes are tried.
pub(crate) enum Ground<'p> {
    /// It is what the doctor looks at.
    Own(&'p Rehearsal),
    /// It was played on a copy of the cluster that the doctor looks at.
    Copy(Box<Rehearsal>),
}

impl Deref for Ground<'_> {
    type Target = Rehearsal;

    fn deref(&self) -> &Rehearsal {
        match self {
            Ground::Own(played) => played,
            Ground::Copy(played) => played,
        }
    }
}

impl<'p> Ground<'p> {
    /// What changes of a working tree are tried on.
    pub(crate) async fn of(
        patient: &'p Patient,
        place: &Where,
        tree: &Path,
        changes: &[FileChange],
    ) -> Outcome<Self> {
        let context = match patient {
            Patient::Repository(played) => return Ok(Ground::Own(played)),
            Patient::Record(_) => return Err(no_sources()),
            Patient::Cluster(context) => context,
        };
        let mut script = script(&Where { repo: Some(tree.to_path_buf()), ..place.clone() })?;
        // Whoever names the tree says that it is what these changes are for.
        script.urls.extend(changes.iter().map(|change| change.repository.to_string()));
        let snapshot = record(context.engine()?.home(), &[]).await.map_err(snapshot::refused)?;
        let played = rehearse(&script.beginning_as(snapshot, Timestamp::now())).await;
        let played = played.doing(format!("{} cannot be rehearsed", tree.display()))?;
        Ok(Ground::Copy(Box::new(played)))
    }
}

pub(crate) fn no_sources() -> Failure {
    let failure = Failure::new(Code::Trouble, "a snapshot has no sources to change");
    failure.hint("name the repository as well: --repo DIR")
}

/// Tries one fix.
pub(crate) async fn attempt(
    ground: &Rehearsal,
    complaint: &Complaint<'_>,
    changes: &[FileChange],
) -> Outcome<Attempt> {
    let trial = Trial::on(ground, Instant::now() + limits::WALL).await;
    trial.attempt(complaint, changes).await.doing("the fix cannot be rehearsed")
}

/// Tries the first fix of each root cause, as far as there is time, and notes what that proves.
pub(super) async fn verify(
    patient: &Patient,
    place: &Where,
    trees: &[PathBuf],
    examination: &mut Examination,
) -> Outcome {
    let until = Instant::now() + limits::WALL;
    let engine = patient.engine().ok_or_else(no_sources)?;
    let mut proofs: Vec<Option<Proof>> = vec![None; examination.roots.len()];
    let mut wanted = Vec::new();
    for (number, root) in examination.roots.iter().enumerate() {
        let Some(fix) = root.finding.fixes.first().filter(|fix| fix.has_edits()) else { continue };
        match engine.mend(fix).await {
            Ok(changes) => wanted.push((number, changes)),
            Err(error) => {
                proofs[number] = Some(Proof::proposed(format!("it cannot be written by itself: {error}")));
            }
        }
    }
    let here = [PathBuf::from(".")];
    let trees = if trees.is_empty() { here.as_slice() } else { trees };
    let is_own = matches!(patient, Patient::Repository(_));
    for (place_of_tree, tree) in trees.iter().enumerate() {
        let (fitting, others): (Vec<_>, Vec<_>) =
            wanted.into_iter().partition(|(_, changes)| is_own || fits(tree, changes));
        wanted = others;
        let is_last = place_of_tree + 1 == trees.len();
        if !fitting.is_empty() {
            let all: Vec<FileChange> = fitting.iter().flat_map(|(_, changes)| changes.clone()).collect();
            match Ground::of(patient, place, tree, &all).await {
                Ok(ground) => try_all(&ground, until, examination, &fitting, &mut proofs).await,
                Err(failure) => {
                    let reasons = std::iter::once(failure.message).chain(failure.causes);
                    let proof = Proof::proposed(reasons.collect::<Vec<_>>().join(": "));
                    fitting.iter().for_each(|(number, _)| proofs[*number] = Some(proof.clone()));
                }
            }
        }
        if is_last {
            for (number, changes) in &wanted {
                let file = changes.first().map_or("its files", |change| change.path.as_str());
                let reason =
                    format!("no working tree that was named has {file} as it is delivered; see --tree");
                proofs[*number] = Some(Proof::proposed(reason));
            }
        }
    }
    for (root, proof) in examination.roots.iter_mut().zip(proofs) {
        if let (Some(fix), Some(proof)) = (root.finding.fixes.first_mut(), proof) {
            fix.proof = proof;
        }
    }
    Ok(())
}

async fn try_all(
    ground: &Rehearsal,
    until: Instant,
    examination: &Examination,
    fixes: &[(usize, Vec<FileChange>)],
    proofs: &mut [Option<Proof>],
) {
    let trial = Trial::on(ground, until).await;
    for (number, changes) in fixes {
        let id = &examination.roots[*number].id;
        eprintln!("rehearsing   the fix of {id}");
        let Some(complaint) = Complaint::of(examination, id) else { continue };
        let proof = match trial.attempt(&complaint, changes).await {
            Ok(attempt) => attempt.proof,
            Err(error) => Proof::proposed(format!("it cannot be rehearsed: {error}")),
        };
        proofs[*number] = Some(proof);
    }
}

/// Whether a working tree has the files as they were when they were looked at.
fn fits(tree: &Path, changes: &[FileChange]) -> bool {
    changes
        .iter()
        .all(|change| std::fs::read_to_string(tree.join(change.path.as_str())).ok() == change.before)
}
