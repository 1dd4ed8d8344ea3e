//! ControllerRevisions: the templates that a StatefulSet or DaemonSet has had.

use lynceus_object::{Object, Value};

use super::hash;
use super::kind::CONTROLLER_REVISION;
use super::pods;
use super::steps::Steps;
use super::world::World;

/// The present template of a set among those that it has had.
pub(crate) struct History {
    /// All that are stored, the oldest first.
    pub(crate) revisions: Vec<Object>,
    /// The one of the present template; none if it was only just asked for.
    pub(crate) present: Option<Object>,
}

/// How the revisions of a kind are written.
pub(crate) struct Style {
    /// The label that holds the hash.
    pub(crate) label: &'static str,
}

impl History {
    /// Reads the revisions of a set, and asks for the present one to be made or moved to the end.
    pub(crate) fn read(set: &Object, style: &Style, world: &World<'_>, out: &mut Steps) -> Self {
        let mut revisions = world.managed(set, CONTROLLER_REVISION);
        revisions.sort_by(|a, b| number(a).cmp(&number(b)).then_with(|| a.name().cmp(b.name())));
        let next = revisions.last().map_or(0, number) + 1;
        let data = data(set);
        let wanted = hash::essence(&data);
        let is_equal =
            |revision: &Object| revision.at(&["data"]).map(hash::essence).as_ref() == Some(&wanted);
        let equal = revisions.iter().rposition(is_equal);
        let present = match equal {
            Some(at) if at + 1 == revisions.len() => revisions.get(at).cloned(),
            Some(at) => {
                // A template that was used before is the newest again.
                let mut again = revisions[at].clone();
                again.set(&["revision"], next);
                out.update(CONTROLLER_REVISION, again);
                None
            }
            None => {
                if !set.is_deleting() {
                    out.create(CONTROLLER_REVISION, revision(set, style, data, next));
                }
                None
            }
        };
        History { revisions, present }
    }

    /// Deletes the oldest revisions that no pod has, beyond the limit.
    pub(crate) fn truncate(&self, set: &Object, live: &dyn Fn(&Object) -> bool, out: &mut Steps) {
        let limit = pods::spec_int(set, &["revisionHistoryLimit"], 10);
        let idle: Vec<&Object> = self.revisions.iter().filter(|revision| !live(revision)).collect();
        let excess = usize::try_from(idle.len() as i64 - limit).unwrap_or(0);
        for revision in idle.into_iter().take(excess) {
            out.delete(CONTROLLER_REVISION, revision);
        }
    }
}

/// The number of a revision.
pub(crate) fn number(revision: &Object) -> i64 {
    revision.value().int_at(&["revision"]).unwrap_or(0)
}

/// The part of a set that a revision keeps: a patch that puts the template back.
fn data(set: &Object) -> Value {
    let mut template = set.at(&["spec", "template"]).cloned().unwrap_or_default();
    template.set(&["$patch"], "replace");
    let mut data = Value::default();
    data.set(&["spec", "template"], template);
    data
}

/// The template that a revision keeps.
pub(crate) fn template(revision: &Object) -> Value {
    let mut template = revision.at(&["data", "spec", "template"]).cloned().unwrap_or_default();
    template.remove(&["$patch"]);
    template
}

fn revision(set: &Object, style: &Style, data: Value, number: i64) -> Object {
    let collisions = set.value().int_at(&["status", "collisionCount"]);
    let hash = hash::template(&data, collisions);
    let name = format!("{}-{hash}", set.name());
    let mut revision = CONTROLLER_REVISION.named(set.namespace(), &name);
    if let Some(labels) = set.at(&["spec", "template", "metadata", "labels"]) {
        revision.set(&["metadata", "labels"], labels.clone());
    }
    revision.set_label(style.label, hash);
    if let Some(annotations) = set.at(&["metadata", "annotations"]) {
        revision.set(&["metadata", "annotations"], annotations.clone());
    }
    revision.set(&["metadata", "ownerReferences"], vec![pods::controller_ref(set)]);
    revision.set(&["data"], data);
    revision.set(&["revision"], number);
    revision
}
