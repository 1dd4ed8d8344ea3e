//! What there is to see when a rehearsal is over, for the doctor.

use std::collections::BTreeMap;

use lynceus_doctor::Snapshot;
use lynceus_engine::AppKey;

use crate::assumption::Sort;
use crate::limits;
use crate::play::Rehearsal;

impl Rehearsal {
    /// Everything that there is to see at the end. What was not rehearsed or only assumed is said to be unseen: nothing can be
    /// concluded from how it is on the stage.
    pub async fn snapshot(&self) -> Snapshot {
        let mut snapshot = self.world().engine().snapshot().await;
        snapshot.applications.retain(|one| {
            let metadata = &one.application.metadata;
            !self.world().is_skipped(&AppKey::new(metadata.namespace.clone(), metadata.name.clone()))
        });
        let unrehearsed = self.report.not_rehearsed.iter();
        snapshot.unseen.extend(unrehearsed.map(|one| match &one.place {
            Some(place) => format!("{} ({place}): {}", one.what, one.why),
            None => format!("{}: {}", one.what, one.why),
        }));
        let notes = self.report.notes.iter();
        snapshot.unseen.extend(notes.map(|note| format!("{}: {}", note.place, note.message)));
        snapshot.unseen.extend(self.assumptions());
        snapshot
    }

    /// What was taken to be there, a sentence for each sort.
    fn assumptions(&self) -> impl Iterator<Item = String> {
        let mut sorts: BTreeMap<Sort, Vec<&str>> = BTreeMap::new();
        for one in &self.report.assumed {
            sorts.entry(one.sort).or_default().push(&one.what);
        }
        sorts.into_iter().map(|(sort, names)| {
            let shown = names.iter().take(limits::NAMED).copied().collect::<Vec<_>>().join(", ");
            match names.len().saturating_sub(limits::NAMED) {
                0 => format!("{sort} are taken to be there: {shown}"),
                more => format!("{sort} are taken to be there: {shown} and {more} more"),
            }
        })
    }
}
