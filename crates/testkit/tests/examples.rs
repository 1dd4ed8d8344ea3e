//! The examples: the doctor's report on each has the causes that its `causes.yaml` names, and no others. The inventory of two hundred
//! applications is not among them, since without optimisation it takes minutes: `cargo xtask bench doctor` has it.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on has to stop")]

use std::collections::BTreeMap;

use lynceus_doctor::{Examination, examine};
use lynceus_engine::FileChange;
use lynceus_rehearse::{Overlay, Rehearsal};
use lynceus_testkit::example::{Cause, Example};

/// The causes whose fix is found by itself in the file that `causes.yaml` names, and which of them heal what they block.
struct Mended {
    written: &'static [&'static str],
    healed: &'static [&'static str],
}

#[tokio::test]
async fn monitoring() {
    check("monitoring", &Mended { written: &["grafana-twice"], healed: &[] }).await;
}

#[tokio::test]
async fn kubeflow() {
    check("kubeflow", &Mended { written: &["umbrella"], healed: &["umbrella"] }).await;
}

#[tokio::test]
async fn openshift_ai() {
    check(
        "openshift-ai",
        &Mended {
            written: &[
                "route-hosts",
                "legacy-branch",
                "feature-branch",
                "selector",
                "catalog-twice",
                "docling-replicas",
            ],
            healed: &[],
        },
    )
    .await;
}

#[tokio::test]
async fn self_healing() {
    check(
        "self-healing",
        &Mended { written: &["claims-hold-wave", "model-not-trained"], healed: &["claims-hold-wave"] },
    )
    .await;
}

async fn check(name: &str, mended: &Mended) {
    let example = Example::open(name).unwrap();
    let played = example.play().await.unwrap();
    let examination = examine(&played.snapshot().await);
    let mut wrong = example.judge(&examination);
    let (listing, failed) = mend(&played, &examination, &example.causes, mended).await;
    wrong.extend(failed);
    assert!(
        wrong.is_empty(),
        "{name}:\n  {}\n\n{listing}\n{}",
        wrong.join("\n  "),
        lynceus_doctor::report::text(&examination)
    );
}

/// What the fixes do to the files, and what is not as it should be.
async fn mend(
    played: &Rehearsal,
    examination: &Examination,
    causes: &[Cause],
    mended: &Mended,
) -> (String, Vec<String>) {
    let mut listing = String::new();
    let mut wrong = Vec::new();
    for cause in causes.iter().filter(|cause| !cause.places.is_empty()) {
        let roots = examination.roots.iter().filter(|root| cause.is(root));
        let mut written = false;
        let mut healed = BTreeMap::new();
        for fix in roots.flat_map(|root| &root.finding.fixes).filter(|fix| fix.has_edits()) {
            let changes = played.world().engine().mend(fix).await;
            let fits = changes.as_ref().is_ok_and(|changes| cause.is_mended_by(changes));
            let files = match &changes {
                Ok(changes) => changes.iter().map(|one| one.path.to_string()).collect::<Vec<_>>().join(", "),
                Err(error) => format!("cannot: {error}"),
            };
            listing.push_str(&format!(
                "{}: {} -> {files}{}\n",
                cause.id,
                fix.title,
                if fits { " (as named)" } else { "" }
            ));
            if fits && !written && mended.healed.contains(&cause.id.as_str()) {
                healed = heal(played, &changes.unwrap()).await;
            }
            written |= fits;
        }
        if mended.written.contains(&cause.id.as_str()) && !written {
            wrong.push(format!("no fix of {} changes {:?}", cause.id, cause.places));
        }
        if mended.healed.contains(&cause.id.as_str()) {
            let sick = cause.blocks.iter().filter(|name| healed.get(*name) != Some(&true));
            wrong.extend(sick.map(|name| format!("the fix of {} does not heal {name}", cause.id)));
        }
    }
    (listing, wrong)
}

/// Which applications are well after a change, and no worse are others.
async fn heal(played: &Rehearsal, changes: &[FileChange]) -> BTreeMap<String, bool> {
    let overlay: Overlay = changes
        .iter()
        .map(|change| (change.path.clone(), change.after.clone().map(String::into_bytes)))
        .collect();
    let verified = played.verify(&overlay).await.unwrap();
    assert_eq!(verified.harmed().count(), 0, "the change harms {:?}", verified.harmed().collect::<Vec<_>>());
    let is_well = |words: &Option<String>| words.as_deref() == Some("Synced Healthy");
    verified.applications.iter().map(|one| (one.name.clone(), is_well(&one.after))).collect()
}
