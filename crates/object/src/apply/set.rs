//! Sets of fields, and their form in `managedFields`.

use std::cmp::Ordering;

use crate::json;
use crate::limits::MAX_DEPTH;
use crate::map::Map;
use crate::path::{FieldPath, Segment};
use crate::schema::{Shape, TypeRef};
use crate::value::{Str, Value};

/// A set of fields, as a tree of their paths.
///
/// A field and what is below it are apart: owning `spec` does not mean owning `spec.replicas`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FieldSet {
    /// Steps that lead to a member; sorted.
    members: Vec<Segment>,
    /// Steps below which there are members; sorted.
    children: Vec<(Segment, FieldSet)>,
}

/// Why a value is no set of fields.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FieldSetError {
    /// A set is written as maps in maps.
    #[error("a set of fields is made of maps, not of {0}")]
    NotAMap(&'static str),
    /// A key is not `f:`, `k:`, `v:` or `i:` with something behind it.
    #[error("parsing key as path element: {0}")]
    Key(String),
    /// Sets are nested deeper than objects may be.
    #[error("a set of fields is nested too deep")]
    Depth,
}

impl FieldSet {
    /// The set with nothing in it.
    pub const fn new() -> Self {
        FieldSet { members: Vec::new(), children: Vec::new() }
    }

    /// The set of these paths of field names.
    pub fn of_fields(paths: &[&[&str]]) -> Self {
        let mut set = FieldSet::new();
        for path in paths {
            set.insert(&FieldPath::fields(path.iter().copied()));
        }
        set
    }

    /// Whether it has no member.
    pub fn is_empty(&self) -> bool {
        self.members.is_empty() && self.children.iter().all(|(_, set)| set.is_empty())
    }

    /// Adds a field; not those above or below it. The object itself cannot be owned.
    pub fn insert(&mut self, path: &FieldPath) {
        let Some((last, parents)) = path.segments().split_last() else { return };
        let mut here = self;
        for step in parents {
            here = here.descend(step);
        }
        here.add_member(last.clone());
    }

    /// Whether the field is a member.
    pub fn contains(&self, path: &FieldPath) -> bool {
        let Some((last, parents)) = path.segments().split_last() else { return false };
        let parent = parents.iter().try_fold(self, |set, step| set.below(step));
        parent.is_some_and(|set| set.has_member(last))
    }

    /// The members, each as a path, parents first.
    pub fn paths(&self) -> Vec<FieldPath> {
        let mut out = Vec::new();
        self.collect(&FieldPath::root(), &mut out);
        out
    }

    fn collect(&self, prefix: &FieldPath, out: &mut Vec<FieldPath>) {
        out.extend(self.members.iter().map(|step| prefix.with(step.clone())));
        for (step, set) in &self.children {
            set.collect(&prefix.with(step.clone()), out);
        }
    }

    /// Whether the step leads to a member.
    pub fn has_member(&self, step: &Segment) -> bool {
        self.members.binary_search_by(|member| order(member, step)).is_ok()
    }

    /// What is in the set below a step.
    pub fn below(&self, step: &Segment) -> Option<&FieldSet> {
        let at = self.children.binary_search_by(|(child, _)| order(child, step)).ok()?;
        self.children.get(at).map(|(_, set)| set)
    }

    pub(crate) fn members(&self) -> &[Segment] {
        &self.members
    }

    pub(crate) fn children(&self) -> &[(Segment, FieldSet)] {
        &self.children
    }

    pub(crate) fn add_member(&mut self, step: Segment) {
        // Most sets are built in order, so that appending has to be cheap.
        match self.members.last().map(|last| order(last, &step)) {
            None | Some(Ordering::Less) => self.members.push(step),
            Some(Ordering::Equal) => {}
            Some(Ordering::Greater) => {
                if let Err(at) = self.members.binary_search_by(|member| order(member, &step)) {
                    self.members.insert(at, step);
                }
            }
        }
    }

    /// Adds what is below a step; nothing if that is nothing.
    pub(crate) fn add_child(&mut self, step: Segment, set: FieldSet) {
        if set.members.is_empty() && set.children.is_empty() {
            return;
        }
        match self.place_of(&step) {
            Ok(at) => self.children[at].1.absorb(set),
            Err(at) => self.children.insert(at, (step, set)),
        }
    }

    /// Where the child under a step is, or where it belongs.
    fn place_of(&self, step: &Segment) -> Result<usize, usize> {
        // Most sets are built in order, so that appending has to be cheap.
        match self.children.last().map(|(last, _)| order(last, step)) {
            None | Some(Ordering::Less) => Err(self.children.len()),
            _ => self.children.binary_search_by(|(child, _)| order(child, step)),
        }
    }

    /// Adds what is in the other.
    pub(crate) fn absorb(&mut self, other: FieldSet) {
        if self.members.is_empty() && self.children.is_empty() {
            *self = other;
            return;
        }
        for step in other.members {
            self.add_member(step);
        }
        for (step, set) in other.children {
            self.add_child(step, set);
        }
    }

    /// Takes out what is in the other.
    pub(crate) fn subtract(&mut self, other: &FieldSet) {
        if !other.members.is_empty() {
            self.members.retain(|step| !other.has_member(step));
        }
        self.children.retain_mut(|(step, set)| match other.below(step) {
            None => true,
            Some(theirs) => {
                set.subtract(theirs);
                !set.is_empty()
            }
        });
    }

    /// Takes out what is in the other, and what is below it.
    pub(crate) fn cut(&mut self, other: &FieldSet) {
        if !other.members.is_empty() {
            self.members.retain(|step| !other.has_member(step));
            self.children.retain(|(step, _)| !other.has_member(step));
        }
        self.children.retain_mut(|(step, set)| match other.below(step) {
            None => true,
            Some(theirs) => {
                set.cut(theirs);
                !set.is_empty()
            }
        });
    }

    fn descend(&mut self, step: &Segment) -> &mut FieldSet {
        let at = match self.place_of(step) {
            Ok(at) => at,
            Err(at) => {
                self.children.insert(at, (step.clone(), FieldSet::new()));
                at
            }
        };
        &mut self.children[at].1
    }

    /// What is in either.
    #[must_use]
    pub fn union(&self, other: &FieldSet) -> FieldSet {
        let mut out = self.clone();
        for step in &other.members {
            out.add_member(step.clone());
        }
        for (step, set) in &other.children {
            out.add_child(step.clone(), set.clone());
        }
        out
    }

    /// What is in both.
    #[must_use]
    pub fn intersection(&self, other: &FieldSet) -> FieldSet {
        let members = self.members.iter().filter(|step| other.has_member(step)).cloned().collect();
        let mut out = FieldSet { members, children: Vec::new() };
        for (step, set) in &self.children {
            if let Some(theirs) = other.below(step) {
                let both = set.intersection(theirs);
                if !both.is_empty() {
                    out.children.push((step.clone(), both));
                }
            }
        }
        out
    }

    /// What is in this one and not in the other.
    #[must_use]
    pub fn difference(&self, other: &FieldSet) -> FieldSet {
        let members = self.members.iter().filter(|step| !other.has_member(step)).cloned().collect();
        let mut out = FieldSet { members, children: Vec::new() };
        for (step, set) in &self.children {
            match other.below(step) {
                None => out.children.push((step.clone(), set.clone())),
                Some(theirs) => {
                    let rest = set.difference(theirs);
                    if !rest.is_empty() {
                        out.children.push((step.clone(), rest));
                    }
                }
            }
        }
        out
    }

    /// What is in this one and neither in the other nor below a member of the other.
    #[must_use]
    pub fn without_subtrees(&self, other: &FieldSet) -> FieldSet {
        let members = self.members.iter().filter(|step| !other.has_member(step)).cloned().collect();
        let mut out = FieldSet { members, children: Vec::new() };
        for (step, set) in self.children.iter().filter(|(step, _)| !other.has_member(step)) {
            match other.below(step) {
                None => out.children.push((step.clone(), set.clone())),
                Some(theirs) => {
                    let rest = set.without_subtrees(theirs);
                    if !rest.is_empty() {
                        out.children.push((step.clone(), rest));
                    }
                }
            }
        }
        out
    }

    /// The same set with the named fields that lead to its members made members themselves.
    #[must_use]
    pub(crate) fn with_named_parents(&self, ty: TypeRef<'_>) -> FieldSet {
        let mut out = FieldSet { members: self.members.clone(), children: Vec::new() };
        for (step, set) in &self.children {
            let below = match step {
                Segment::Field(name) => {
                    if ty.field(name).is_some() {
                        out.add_member(step.clone());
                    }
                    ty.child(name)
                }
                Segment::Key(_) => ty.item(),
                Segment::Value(_) | Segment::Index(_) => None,
            };
            let below = below.unwrap_or_else(TypeRef::untyped);
            // In untyped data no field is named.
            let set = match below.shape() {
                Shape::Any => set.clone(),
                _ => set.with_named_parents(below),
            };
            out.children.push((step.clone(), set));
        }
        out
    }

    /// Reads the form of `fieldsV1`.
    pub fn from_value(value: &Value) -> Result<Self, FieldSetError> {
        Ok(read(value, 0)?.0)
    }

    /// Writes the form of `fieldsV1`.
    pub fn to_value(&self) -> Value {
        self.written(false)
    }

    /// The form of `fieldsV1` of what is below a step that is a member itself or not.
    fn written(&self, is_member: bool) -> Value {
        let mut fields: Vec<(Str, Value)> =
            Vec::with_capacity(usize::from(is_member) + self.members.len() + self.children.len());
        if is_member {
            fields.push((".".into(), Map::new().into()));
        }
        let leaf = |step: &&Segment| self.below(step).is_none();
        fields.extend(self.members.iter().filter(leaf).map(|step| (key_text(step), Map::new().into())));
        for (step, set) in &self.children {
            fields.push((key_text(step), set.written(self.has_member(step))));
        }
        fields.sort_unstable_by(|(a, _), (b, _)| a.cmp(b));
        Value::Map(Map::from_sorted(fields.into_iter()))
    }
}

/// Reads what is below a step, and whether the step itself is a member.
fn read(value: &Value, depth: usize) -> Result<(FieldSet, bool), FieldSetError> {
    if depth > MAX_DEPTH {
        return Err(FieldSetError::Depth);
    }
    let map = match value {
        Value::Map(map) => map,
        Value::Null => return Ok((FieldSet::new(), true)),
        other => return Err(FieldSetError::NotAMap(other.type_name())),
    };
    let mut set = FieldSet::new();
    let mut is_member = false;
    for (key, inner) in map.iter() {
        if key == "." {
            is_member = true;
            continue;
        }
        let Some(step) = step_of(key)? else { continue };
        let (below, below_is_member) = read(inner, depth + 1)?;
        if below_is_member {
            set.add_member(step.clone());
        }
        set.add_child(step, below);
    }
    is_member = is_member || set.members.is_empty() && set.children.is_empty();
    Ok((set, is_member))
}

/// A step from its text; none for a sort of step that is not known, which is passed over.
fn step_of(key: &str) -> Result<Option<Segment>, FieldSetError> {
    let broken = || FieldSetError::Key(key.to_owned());
    let (kind, text) = key.split_at_checked(2).ok_or_else(broken)?;
    if !kind.ends_with(':') {
        return Err(broken());
    }
    let value = || json::parse(text.as_bytes()).map_err(|_| broken());
    Ok(match kind {
        "f:" => Some(Segment::Field(text.into())),
        "v:" => Some(Segment::Value(value()?)),
        "k:" => match value()? {
            Value::Map(map) => Some(Segment::Key(map)),
            _ => return Err(broken()),
        },
        "i:" => Some(Segment::Index(text.parse().map_err(|_| broken())?)),
        _ => None,
    })
}

/// The text of a step in `fieldsV1`.
pub(super) fn key_text(step: &Segment) -> Str {
    let marked = |mark: &str, text: &str| {
        let mut key = Str::with_capacity(mark.len() + text.len());
        key.push_str(mark);
        key.push_str(text);
        key
    };
    match step {
        Segment::Field(name) => marked("f:", name),
        Segment::Key(key) => marked("k:", &json::go_string(&Value::Map(key.clone()))),
        Segment::Value(value) => marked("v:", &json::go_string(value)),
        Segment::Index(index) => ecow::eco_format!("i:{index}"),
    }
}

/// The order of steps: fields, keys, values, positions.
pub(crate) fn order(a: &Segment, b: &Segment) -> Ordering {
    let rank = |step: &Segment| match step {
        Segment::Field(_) => 0,
        Segment::Key(_) => 1,
        Segment::Value(_) => 2,
        Segment::Index(_) => 3,
    };
    match (a, b) {
        (Segment::Field(a), Segment::Field(b)) => a.cmp(b),
        (Segment::Key(a), Segment::Key(b)) => order_maps(a, b),
        (Segment::Value(a), Segment::Value(b)) => order_values(a, b),
        (Segment::Index(a), Segment::Index(b)) => a.cmp(b),
        _ => rank(a).cmp(&rank(b)),
    }
}

fn order_maps(a: &Map, b: &Map) -> Ordering {
    let mut pairs = a.iter().zip(b.iter());
    let first = pairs.find_map(|((a_key, a), (b_key, b))| {
        Some(a_key.cmp(b_key).then_with(|| order_values(a, b))).filter(|order| order.is_ne())
    });
    first.unwrap_or_else(|| a.len().cmp(&b.len()))
}

fn order_values(a: &Value, b: &Value) -> Ordering {
    let rank = |value: &Value| match value {
        Value::Int(_) | Value::Float(_) => 0,
        Value::Str(_) => 1,
        Value::Bool(_) => 2,
        Value::Seq(_) => 3,
        Value::Map(_) => 4,
        Value::Null => 5,
    };
    match (a, b) {
        (Value::Int(a), Value::Int(b)) => a.cmp(b),
        (Value::Str(a), Value::Str(b)) => a.cmp(b),
        (Value::Bool(a), Value::Bool(b)) => a.cmp(b),
        (Value::Map(a), Value::Map(b)) => order_maps(a, b),
        (Value::Seq(a), Value::Seq(b)) => {
            let first = a.iter().zip(b).map(|(a, b)| order_values(a, b)).find(|order| order.is_ne());
            first.unwrap_or_else(|| a.len().cmp(&b.len()))
        }
        _ => match (a.as_float(), b.as_float()) {
            (Some(a), Some(b)) => a.total_cmp(&b),
            _ => rank(a).cmp(&rank(b)),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value;

    fn set(value: &Value) -> FieldSet {
        FieldSet::from_value(value).expect("set")
    }

    fn shown(set: &FieldSet) -> Vec<String> {
        set.paths().iter().map(|path| format!("{path:#}")).collect()
    }

    #[test]
    fn the_wire_form_survives_and_unknown_steps_are_dropped() {
        let form = value!({"f:spec": {".": {}, "f:ports": {
            "k:{\"port\":80,\"protocol\":\"TCP\"}": {".": {}, "f:port": {}},
        }, "f:finalizers": {"v:\"a/b\"": {}}, "f:args": {"i:0": {}}}});
        assert_eq!(set(&form).to_value(), form);
        assert_eq!(
            shown(&set(&form)),
            [
                ".spec",
                ".spec.args[0]",
                ".spec.finalizers[=\"a/b\"]",
                ".spec.ports[port=80,protocol=\"TCP\"]",
                ".spec.ports[port=80,protocol=\"TCP\"].port",
            ]
        );
        assert!(set(&value!({"x:new": {}})).is_empty());
        assert!(FieldSet::from_value(&value!({"broken": {}})).is_err());
    }

    #[test]
    fn sets_are_added_and_subtracted_field_by_field() {
        let a = set(&value!({"f:a": {}, "f:b": {".": {}, "f:c": {}}}));
        let b = set(&value!({"f:b": {"f:c": {}, "f:d": {}}}));
        assert_eq!(shown(&a.union(&b)), [".a", ".b", ".b.c", ".b.d"]);
        assert_eq!(shown(&a.intersection(&b)), [".b.c"]);
        assert_eq!(shown(&a.difference(&b)), [".a", ".b"]);
        assert_eq!(shown(&b.without_subtrees(&a)), [] as [&str; 0]);
    }

    #[test]
    fn named_parents_become_members_and_keys_of_maps_do_not() {
        let ty = crate::schema::builtin().of_manifest("v1", "ConfigMap").expect("ConfigMap");
        let fields = set(&value!({"f:metadata": {"f:labels": {"f:a": {}}}, "f:data": {"f:k": {}}}));
        assert_eq!(
            shown(&fields.with_named_parents(ty)),
            [".data", ".metadata", ".data.k", ".metadata.labels", ".metadata.labels.a"]
        );
    }
}
