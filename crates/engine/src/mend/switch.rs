//! Options of a chart that decide whether an object is made, found by trying.

use std::collections::BTreeSet;
use std::sync::Arc;

use lynceus_api::ApplicationSource;
use lynceus_doctor::surgery::{Change, Cut, operate};
use lynceus_files::{FilePath, Tree};
use lynceus_object::{FieldPath, Object, ObjectKey, Segment, Value, yaml};
use lynceus_render::Reason;

use super::desk::Desk;
use super::trial::{Overlaid, in_values, value_files};
use super::{Bench, MendError};
use crate::engine::Engine;
use crate::limits;

/// What such options are called.
const SWITCHES: [&str; 4] = ["create", "enabled", "install", "deploy"];

/// A change that does, and how much else it makes or takes away.
struct Found {
    file: FilePath,
    text: String,
    beside: usize,
}

impl Engine {
    /// Switches an object of a chart off, or on if the chart does not make it now. Of several options that do, the one that does the
    /// least else is taken. Says whether there is one.
    pub(super) async fn switch(
        &self,
        desk: &mut Desk,
        bench: &Bench,
        key: &ObjectKey,
        reason: Option<&Reason>,
    ) -> Result<bool, MendError> {
        let before = self.all_with(bench, &[]).await?;
        let on = !before.iter().any(|object| bench.is(object, key));
        for (number, source) in bench.sources.iter().enumerate() {
            let Ok(tree) = self.renderer().tree_of(&bench.request(self), source).await else { continue };
            let mut best: Option<Found> = None;
            for (file, text) in candidates(desk, &tree, source, on, reason) {
                let mut files: Vec<Option<Arc<dyn Tree>>> = vec![None; bench.sources.len()];
                files[number] = Some(Arc::new(Overlaid::of(tree.clone(), &file, &text)));
                let Ok(after) = self.all_with(bench, &files).await else { continue };
                let beside = apart(&before, &after);
                let does = after.iter().any(|object| bench.is(object, key)) == on;
                if does && best.as_ref().is_none_or(|best| beside < best.beside) {
                    best = Some(Found { file, text, beside });
                }
            }
            if let Some(Found { file, text, .. }) = best {
                desk.change(&source.repo_url, &*tree, &file, |_| Ok(text))?;
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// How many objects are in one of two lists only.
fn apart(before: &[Object], after: &[Object]) -> usize {
    let keys = |all: &[Object]| all.iter().map(Object::key).collect::<BTreeSet<_>>();
    keys(before).symmetric_difference(&keys(after)).count()
}

/// The value files as they are by now and with one option turned, those that have the last word first.
fn candidates(
    desk: &Desk,
    tree: &Arc<dyn Tree>,
    source: &ApplicationSource,
    on: bool,
    reason: Option<&Reason>,
) -> Vec<(FilePath, String)> {
    let mut candidates = Vec::new();
    for file in value_files(&**tree, source) {
        let Ok(text) = desk.text(&source.repo_url, &**tree, &file) else { continue };
        let Ok(values) = yaml::parse(text.as_bytes()) else { continue };
        // What another step has turned may do already.
        candidates.push((file.clone(), text.clone()));
        let mut places = Vec::new();
        switches(&values, on, &FieldPath::root(), &mut places);
        // What the template asked, wherever it is set.
        if let Some(Reason::Template(explanation)) = reason {
            let asked = explanation.conditions.iter().filter_map(|fed| in_values(&fed.path));
            let fresh: Vec<FieldPath> =
                asked.filter(|path| is_switch(path) && !places.contains(path)).collect();
            places.extend(fresh);
        }
        for path in places {
            let cut = Cut { document: 0, path, change: Change::Set(Value::Bool(on)) };
            if let Ok(turned) = operate(&file, &text, &[cut]) {
                candidates.push((file.clone(), turned));
            }
        }
    }
    candidates.truncate(limits::MEND_TRIALS);
    candidates
}

fn is_switch(path: &FieldPath) -> bool {
    matches!(path.segments().last(), Some(Segment::Field(name)) if SWITCHES.contains(&name.as_str()))
}

/// The options that are turned the other way, wherever they stand.
fn switches(value: &Value, on: bool, at: &FieldPath, found: &mut Vec<FieldPath>) {
    if at.segments().len() > limits::MEND_DEPTH {
        return;
    }
    for (name, part) in value.as_map().into_iter().flat_map(|map| map.iter()) {
        let here = at.field(name.clone());
        if part.as_bool() == Some(!on) && is_switch(&here) {
            found.push(here.clone());
        }
        switches(part, on, &here, found);
    }
}
