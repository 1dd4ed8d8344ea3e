//! How objects differ, and the rules that hide it: what several rules of the doctor ask.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use lynceus_api::options;
use lynceus_diff::{FieldChange, Origin};
use lynceus_object::{FieldPath, GroupKind, ObjectKey, Segment, Str, Value, value};

use crate::case::{App, Case};
use crate::finding::Evidence;
use crate::fix::{Fix, Place, Risk};
use crate::limits;
use crate::rules::autoscaled_replicas::Scalers;
use crate::rules::{chance, ownership, sync_option, vanishing_job};
use crate::words;

/// From so many fields on a rule names who writes them and not the fields.
const SEVERAL: usize = 3;

/// Fields that differ for one reason, of objects of one kind.
#[derive(Default)]
pub(super) struct Fields<'a> {
    pub(super) all: Vec<(ObjectKey, &'a FieldChange)>,
}

/// The fields of an application that differ, by kind and by what `pick` says of them.
pub(super) fn fields<'a>(
    app: &App<'a>,
    pick: impl Fn(&ObjectKey, &FieldChange) -> Option<Str>,
) -> BTreeMap<(GroupKind, Str), Fields<'a>> {
    let mut groups: BTreeMap<(GroupKind, Str), Fields<'a>> = BTreeMap::new();
    for (key, _, update) in app.updates() {
        for field in &update.fields {
            if let Some(reason) = pick(&key, field) {
                let group = groups.entry((key.group_kind(), reason)).or_default();
                group.all.push((key.clone(), field));
            }
        }
    }
    groups
}

/// Whoever writes a field again and again, or is no person: an operator, a controller.
pub(super) fn controller(field: &FieldChange) -> Option<Str> {
    let manager = field.writer.as_ref()?.manager.clone();
    match field.origin {
        Origin::Loop => Some(manager),
        Origin::Writer if !is_person(&manager) => Some(manager),
        _ => None,
    }
}

/// Tools that people change objects with by hand.
fn is_person(manager: &str) -> bool {
    let tool = manager.split(['-', '/']).next().unwrap_or_default().to_lowercase();
    matches!(tool.as_str(), "kubectl" | "oc" | "k9s" | "lens" | "openlens" | "headlamp" | "mozilla" | "curl")
}

/// Whether a difference comes back or means nothing, so that no sync puts it right.
fn is_lasting(field: &FieldChange) -> bool {
    matches!(field.origin, Origin::Default | Origin::Admission) || controller(field).is_some()
}

/// What is known of objects that a sync does not put right, looked up once.
pub(super) struct Known {
    shared: HashSet<(Str, ObjectKey)>,
    scalers: Scalers,
}

impl Known {
    pub(super) fn new(case: &Case<'_>) -> Self {
        let shared = ownership::shared(case);
        Known {
            shared: shared.into_iter().map(|one| (Str::from(one.server), one.key)).collect(),
            scalers: Scalers::new(case),
        }
    }

    /// The objects of an application that differ and that a sync would put right; nothing if it is not known which differ.
    pub(super) fn mendable(&self, case: &Case<'_>, app: &App<'_>) -> Option<BTreeSet<ObjectKey>> {
        let differing = app.differing();
        if differing.is_empty() {
            return None;
        }
        let mut lasting: BTreeSet<ObjectKey> = app
            .updates()
            .filter(|(key, _, update)| update.fields.iter().all(|field| self.is_lasting(app, key, field)))
            .map(|(key, ..)| key)
            .collect();
        // Where it is not known how they differ, what an autoscaler sets is enough of a reason.
        let compared: BTreeSet<ObjectKey> = app.updates().map(|(key, ..)| key).collect();
        let owned = self.scalers.differing(case, app).into_iter();
        lasting.extend(owned.filter(|key| !compared.contains(key)));
        let is_mendable = |key: &ObjectKey| {
            !lasting.contains(key)
                && !vanishing_job::has_vanished(case, app, key)
                && !self.shared.contains(&(app.server().into(), key.clone()))
                && case.serves(app.server(), &key.group_kind()) != Some(false)
        };
        Some(differing.into_iter().filter(is_mendable).collect())
    }

    fn is_lasting(&self, app: &App<'_>, key: &ObjectKey, field: &FieldChange) -> bool {
        is_lasting(field)
            || self.scalers.own(app.server(), key, &field.path)
            || chance::is_by_chance(app, key, &field.path)
    }
}

impl<'a> Fields<'a> {
    /// The objects, each once.
    pub(super) fn objects(&self) -> BTreeSet<&ObjectKey> {
        self.all.iter().map(|(key, _)| key).collect()
    }

    /// The paths, each once, in the order in which they were found.
    pub(super) fn paths(&self) -> Vec<&'a FieldPath> {
        let mut paths: Vec<&'a FieldPath> = Vec::new();
        for (_, field) in &self.all {
            if !paths.contains(&&field.path) {
                paths.push(&field.path);
            }
        }
        paths
    }

    /// The paths in words.
    pub(super) fn named(&self) -> String {
        words::list(self.paths().iter().map(|path| path.to_string()))
    }

    /// What stands in the cluster.
    pub(super) fn evidence(&self) -> Vec<Evidence> {
        let shown = self.all.iter().take(limits::NAMED);
        shown
            .map(|(key, field)| Evidence::Field {
                object: key.clone(),
                path: field.path.clone(),
                value: match (&field.live, &field.desired) {
                    (Some(live), Some(desired)) => {
                        format!("{} in the cluster, {} in Git", words::shown(live), words::shown(desired))
                    }
                    (Some(live), None) => words::shown(live),
                    (None, _) => String::new(),
                },
            })
            .collect()
    }

    /// `Route web`, `Routes web and api`.
    pub(super) fn objects_named(&self) -> String {
        let objects = self.objects();
        let kind = objects.iter().next().map(|key| key.kind.clone()).unwrap_or_default();
        format!("{kind} {}", words::list(objects.iter().map(|key| key.name.as_str())))
    }

    /// The smallest rule that hides the differences, added to the Application.
    pub(super) fn ignore(&self, app: &App<'_>, kind: &GroupKind, manager: Option<&str>) -> Fix {
        let path = FieldPath::fields(["spec", "ignoreDifferences"]);
        let what = self.named();
        let fix = Fix::new(format!("Leave {what} of {} out of the comparison", kind.kind))
            .git(&app.name, Place::ApplicationItem { path, value: self.rule(kind, manager) })
            .risk(Risk::Low, format!("differences in {what} are no longer seen"))
            .verify(format!("lynceus app diff {}", app.name));
        // Without it a sync would still write what Git says.
        let is_written = self.all.iter().any(|(_, field)| field.desired.is_some());
        let respects = app.application().sync_options().has(options::sync::RESPECT_IGNORE_DIFFERENCES);
        if !is_written || respects {
            return fix;
        }
        sync_option::set(fix, app, options::sync::RESPECT_IGNORE_DIFFERENCES)
    }

    fn rule(&self, kind: &GroupKind, manager: Option<&str>) -> Value {
        let mut rule = value!({"kind": (kind.kind.as_str())});
        if !kind.group.is_empty() {
            rule.set(&["group"], kind.group.as_str());
        }
        if let [only] = self.objects().into_iter().collect::<Vec<_>>().as_slice() {
            rule.set(&["name"], only.name.as_str());
        }
        let paths = self.paths();
        let texts = |all: Vec<String>| Value::Seq(all.into_iter().map(Value::from).collect());
        match manager {
            Some(manager) if paths.len() >= SEVERAL => {
                rule.set(&["managedFieldsManagers"], texts(vec![manager.to_owned()]));
            }
            _ => {
                let pointers: Vec<String> = paths.iter().filter_map(|path| path.to_pointer()).collect();
                let others = paths.iter().filter(|path| path.to_pointer().is_none());
                let expressions: Vec<String> = others.map(|path| jq(path)).collect();
                if !pointers.is_empty() {
                    rule.set(&["jsonPointers"], texts(pointers));
                }
                if !expressions.is_empty() {
                    rule.set(&["jqPathExpressions"], texts(expressions));
                }
            }
        }
        rule
    }
}

/// A path as a jq expression, for items that are told apart by their keys and not by their place.
fn jq(path: &FieldPath) -> String {
    let mut text = String::new();
    for segment in path.segments() {
        match segment {
            Segment::Field(name) if name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_') => {
                text.push_str(&format!(".{name}"));
            }
            Segment::Field(name) => text.push_str(&format!(".{name:?}")),
            Segment::Index(index) => text.push_str(&format!("[{index}]")),
            Segment::Key(map) => {
                let parts = map.iter().map(|(key, value)| format!(".{key} == {}", json(value)));
                text.push_str(&format!("[] | select({}) | ", parts.collect::<Vec<_>>().join(" and ")));
            }
            Segment::Value(value) => text.push_str(&format!("[] | select(. == {}) | ", json(value))),
        }
    }
    text.trim_end_matches(" | ").to_owned()
}

fn json(value: &Value) -> String {
    String::from_utf8_lossy(&lynceus_object::json::to_vec(value)).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_of_lists_are_named_by_their_keys() {
        let path = FieldPath::parse(".spec.template.spec.containers[name=\"web\"].image").unwrap();
        assert_eq!(jq(&path), ".spec.template.spec.containers[] | select(.name == \"web\") | .image");
    }

    #[test]
    fn people_are_told_from_controllers() {
        assert!(is_person("kubectl-edit") && is_person("k9s") && is_person("Mozilla"));
        assert!(!is_person("kube-controller-manager") && !is_person("istio-operator"));
    }
}
