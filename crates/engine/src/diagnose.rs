//! What is wrong, told as few times as it was done wrong.

use std::collections::HashMap;

use lynceus_doctor::{Examination, Fix, Snapshot, examine};

use crate::engine::Engine;
use crate::limits;
use crate::mend::patch_of;

impl Engine {
    /// What is wrong in a snapshot of this engine's. Causes that one and the same change to the files would mend were one slip, and
    /// are told as one.
    pub async fn diagnose(&self, snapshot: &Snapshot) -> Examination {
        let mut examination = examine(snapshot);
        let mut counts: HashMap<&str, usize> = HashMap::new();
        for root in &examination.roots {
            *counts.entry(root.finding.code).or_default() += 1;
        }
        let mut slips: Vec<Option<String>> = vec![None; examination.roots.len()];
        let repeated = examination
            .roots
            .iter()
            .enumerate()
            .filter(|(_, root)| counts[root.finding.code] > 1 && root.also.is_empty());
        for (place, root) in repeated.take(limits::SLIPS) {
            if let Some(fix) = root.finding.fixes.iter().find(|fix| fix.has_edits()) {
                slips[place] = self.slip(root.finding.code, fix).await;
            }
        }
        examination.fold(&slips);
        self.locate(snapshot, &mut examination).await;
        examination
    }

    /// What a fix changes. Where that cannot be told, nothing is told of it here either: whoever asks for the fix hears why.
    async fn slip(&self, code: &str, fix: &Fix) -> Option<String> {
        let changes = self.mend(fix).await.ok().filter(|changes| !changes.is_empty())?;
        Some(format!("{code} {}", patch_of(&changes)))
    }
}
