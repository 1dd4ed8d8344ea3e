//! From a field to what set it.

use lynceus_object::{FieldPath, Segment, Str, Value};

use super::{Asked, Cause, Change, Explanation, Place, Step, Traces, Track, follow, patches, place};
use crate::resource::Resource;
use crate::scalar::text;

impl Traces {
    /// Why a field of a resource of the build is as it is; none if the resource never had it.
    pub fn explain(&self, resource: &Resource, path: &FieldPath) -> Option<Explanation> {
        let track = self.tracks.get(resource.track?)?;
        let changes = &track.changes;
        let newest = changes.iter().rposition(|change| path.get(&change.value).is_some())?;
        let mut here = path.by_position(&changes[newest].value)?;
        let mut causes = Vec::new();
        if let Some(removed) = changes.get(newest + 1) {
            causes.push(self.cause(track, removed, &changes[newest].value, &here));
        }
        let is_removed = !causes.is_empty();
        for (at, change) in changes.iter().enumerate().take(newest + 1).rev() {
            let Some(before) = at.checked_sub(1).map(|before| &changes[before].value) else {
                if here.get(&change.value).is_some() {
                    causes.push(self.cause(track, change, &Value::Null, &here));
                }
                break;
            };
            let former = follow::back(&change.value, before, &here);
            let is_new = former.get(before) != here.get(&change.value);
            // Repairing references spells annotations anew: what was a number is a text that looks like one.
            let is_respelled = matches!(&*change.step, Step::References)
                && matches!((former.get(before), here.get(&change.value)), (Some(old), Some(new)) if text(old) == text(new));
            if is_new && !is_respelled {
                causes.push(self.cause(track, change, before, &here));
            }
            here = former;
        }
        let mut causes = causes.into_iter();
        Some(Explanation { last: causes.next()?, before: causes.collect(), is_removed })
    }

    fn cause(&self, track: &Track, change: &Change, before: &Value, here: &FieldPath) -> Cause {
        match &*change.step {
            Step::Read(file) => Cause::Written(written(track, file, here)),
            Step::Field(asked) => asked.cause(track, change, before, here),
            Step::Hashes => Cause::Hash,
            Step::References => Cause::Reference { to: self.referred(before, &change.value, here) },
            Step::Variables => {
                let text = here.get(before).and_then(Value::as_str).unwrap_or_default();
                let names = text.split("$(").skip(1).filter_map(|rest| rest.split_once(')'));
                let name: Str = names.map(|(name, _)| name).next().unwrap_or_default().into();
                Cause::Variable { place: self.variables.get(&name).cloned(), name }
            }
        }
    }

    /// The resource whose name stands in a field, if it is the only one that was renamed so.
    fn referred(&self, before: &Value, after: &Value, here: &FieldPath) -> Option<String> {
        let (old, new) = (here.get(before)?, here.get(after)?);
        let name = |value: &Value| value.at(&["metadata", "name"]).cloned();
        let is_meant = |track: &&Track| {
            let has = |wanted: &Value| {
                track.changes.iter().any(|change| name(&change.value).as_ref() == Some(wanted))
            };
            has(old) && track.changes.last().is_some_and(|last| name(&last.value).as_ref() == Some(new))
        };
        let mut found = self.tracks.iter().filter(is_meant);
        let (only, None) = (found.next()?, found.next()) else { return None };
        let kind = only.changes.last()?.value.str_at(&["kind"])?;
        Some(format!("{kind}/{}", new.as_str()?))
    }
}

/// Where a field is in the resource's own file.
fn written(track: &Track, file: &str, here: &FieldPath) -> Place {
    let own = track.span.as_ref().map(|span| (span.line, span.column));
    let (line, column) = track.written.locate(here).or(own).unwrap_or_default();
    Place { file: file.to_owned(), line, column }
}

impl Asked {
    fn cause(&self, track: &Track, change: &Change, before: &Value, here: &FieldPath) -> Cause {
        let field = self.exact(here);
        let found = patches::find(self, track, (before, &change.value), here);
        let within =
            found.or_else(|| self.plugin.as_ref().map(|span| place(self.repository.as_deref(), span)));
        let place = place(self.repository.as_deref(), &self.source.place(&field));
        Cause::Field { field, place, within }
    }

    /// The very entry of a kustomization's field that gave a label, an annotation or the data of a generator.
    fn exact(&self, here: &FieldPath) -> FieldPath {
        let whole = || self.field.clone();
        let Some(Segment::Field(key)) = here.segments().last() else { return whole() };
        let kustomization = &self.source.kustomization;
        let (name, index) = match self.field.segments() {
            [Segment::Field(name)] => (name.as_str(), 0),
            [Segment::Field(name), Segment::Index(index)] => (name.as_str(), *index),
            _ => return whole(),
        };
        let is_data =
            matches!(here.segments(), [Segment::Field(data), _] if *data == "data" || *data == "binaryData");
        match name {
            "commonLabels" if kustomization.common_labels.contains_key(key) => self.field.field(key.clone()),
            "commonAnnotations" if kustomization.common_annotations.contains_key(key) => {
                self.field.field(key.clone())
            }
            "labels"
                if kustomization.labels.get(index).is_some_and(|group| group.pairs.contains_key(key)) =>
            {
                self.field.field("pairs").field(key.clone())
            }
            "configMapGenerator" if is_data => kustomization
                .config_maps
                .get(index)
                .map_or_else(whole, |made| self.datum(key, &made.literals, &made.files, &made.envs)),
            "secretGenerator" if is_data => kustomization
                .secrets
                .get(index)
                .map_or_else(whole, |made| self.datum(key, &made.literals, &made.files, &made.envs)),
            _ => whole(),
        }
    }

    fn datum(&self, key: &str, literals: &[Str], files: &[Str], envs: &[Str]) -> FieldPath {
        let literal = |text: &Str| text.split_once('=').is_some_and(|(name, _)| name.trim() == key);
        let file = |text: &Str| match text.split_once('=') {
            Some((name, _)) => name == key,
            None => text.rsplit('/').next() == Some(key),
        };
        if let Some(at) = literals.iter().rposition(literal) {
            return self.field.field("literals").index(at);
        }
        if let Some(at) = files.iter().rposition(file) {
            return self.field.field("files").index(at);
        }
        match envs {
            [_] => self.field.field("envs").index(0),
            _ => self.field.clone(),
        }
    }
}
