//! Values that decide whether a chart makes an object, found by trying.

use std::collections::BTreeSet;
use std::sync::Arc;

use lynceus_doctor::surgery::{Change, Cut, operate};
use lynceus_files::Tree;
use lynceus_object::{FieldPath, Object, ObjectKey, Segment, Value, yaml};

use super::desk::{Desk, read};
use super::trial::{Candidate, take, value_files};
use super::{Bench, MendError};
use crate::engine::Engine;
use crate::limits;

/// A switch that stands the other way.
struct Switch {
    tree: Arc<dyn Tree>,
    candidate: Candidate,
    /// Whether its path speaks of what it is to make.
    is_near: bool,
}

impl Engine {
    /// Sets the value by which a chart makes an object, or does not. Says whether one was found.
    pub(super) async fn switch(
        &self,
        desk: &mut Desk,
        bench: &Bench,
        key: &ObjectKey,
        is_on: bool,
    ) -> Result<bool, MendError> {
        let before = keys(&self.manifests(bench, &[]).await?);
        for Switch { tree, candidate, .. } in self.switches(bench, key, is_on).await {
            // What cannot be rendered is no way.
            let Ok(after) = self.tried(bench, tree.clone(), &candidate).await else { continue };
            let is_there = bench.find(&after, key).is_some();
            let after = keys(&after);
            let mut lost = before.difference(&after);
            let fits = match is_on {
                // Nothing goes, and nothing else comes.
                true => lost.next().is_none() && after.difference(&before).count() == 1,
                false => lost.all(|lost| desk.leaving.iter().any(|one| is_same(one, lost))),
            };
            if is_there == is_on && fits {
                take(desk, bench, &*tree, candidate)?;
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// All switches in the value files, those first that sound like the object.
    async fn switches(&self, bench: &Bench, key: &ObjectKey, is_on: bool) -> Vec<Switch> {
        let mut found = Vec::new();
        let (trees, references) = self.trees(bench).await;
        for (number, own) in trees.iter().enumerate() {
            let Some(own) = own else { continue };
            for one in value_files(bench, number, (own, &references)) {
                let Ok(text) = read(&*one.tree, &one.file) else { continue };
                let Ok(values) = yaml::parse(text.as_bytes()) else { continue };
                let mut paths = Vec::new();
                walk(&values, !is_on, &FieldPath::root(), &mut paths);
                for path in paths {
                    let is_near = is_about(&path, key);
                    let cut = Cut { document: 0, path, change: Change::Set(Value::Bool(is_on)) };
                    let Ok(text) = operate(&one.file, &text, &[cut]) else { continue };
                    let file = one.file.clone();
                    let candidate = Candidate { number: one.number, file, text, is_exact: false };
                    found.push(Switch { tree: one.tree.clone(), candidate, is_near });
                }
            }
        }
        found.sort_by_key(|switch| !switch.is_near);
        found.truncate(limits::MEND_TRIALS);
        found
    }
}

/// One of a template may name no namespace.
fn is_same(one: &ObjectKey, other: &ObjectKey) -> bool {
    let is_near = one.namespace.is_empty() || other.namespace.is_empty() || one.namespace == other.namespace;
    one.group_kind() == other.group_kind() && one.name == other.name && is_near
}

fn keys(objects: &[Object]) -> BTreeSet<ObjectKey> {
    objects.iter().map(Object::key).collect()
}

/// Whether a path speaks of an object, by its kind or a part of its name.
fn is_about(path: &FieldPath, key: &ObjectKey) -> bool {
    let (kind, name) = (key.kind.to_lowercase(), key.name.to_lowercase());
    path.segments().iter().any(|segment| match segment {
        Segment::Field(part) => {
            let part = part.to_lowercase();
            part.contains(kind.as_str()) || part.len() > 2 && name.contains(part.as_str())
        }
        _ => false,
    })
}

/// All switches that stand one way.
fn walk(value: &Value, stands: bool, at: &FieldPath, found: &mut Vec<FieldPath>) {
    if at.segments().len() > limits::MEND_DEPTH {
        return;
    }
    for (key, part) in value.as_map().into_iter().flat_map(|map| map.iter()) {
        let here = at.field(key.clone());
        if part.as_bool() == Some(stands) {
            found.push(here.clone());
        }
        walk(part, stands, &here, found);
    }
}
