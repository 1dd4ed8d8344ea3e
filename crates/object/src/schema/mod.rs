//! What the fields of a kind are, for everything that merges, checks or encodes objects.
//!
//! There are two sources behind one walkable type, [`TypeRef`]: a compact table of the built-in
//! kinds ([`builtin`]), and OpenAPI for custom resources ([`Schema::from_openapi`]). Where no schema
//! is known, [`TypeRef::untyped`] stands for "maps merge, lists are replaced whole".

mod check;
mod model;
mod openapi;
mod restore;
pub(crate) mod scalar;
mod shape;
mod table;

use std::collections::{BTreeMap, HashMap};
use std::sync::LazyLock;

pub use check::{Problem, ProblemKind, check, decoding_error};
pub use model::{Field, ListType, MergeStrategy, Scalar, Schema, Shape, TypeRef};
pub use restore::restoring_error;
pub use scalar::{parse_plain_time, print_time};
pub use shape::{
    drop_empty, fill_zero, fill_zero_beside, is_settled, leaves_out, prune_unknown, round_trip, settle,
    usual_form,
};

pub(crate) use model::Wire;
pub(crate) use shape::zero;

use crate::id::Gvk;
use crate::value::Str;

/// The schemas of a set of kinds.
#[derive(Debug)]
pub struct Schemas {
    arena: model::Arena,
    /// By `apiVersion`, then by kind.
    kinds: BTreeMap<Str, BTreeMap<Str, model::Id>>,
    /// By package and name.
    types: HashMap<Str, model::Id>,
}

/// The kinds that a stock Kubernetes 1.36 knows, and older versions of them that clients still meet.
pub fn builtin() -> &'static Schemas {
    static TABLE: LazyLock<Schemas> =
        LazyLock::new(|| table::parse(include_str!("../../data/kubernetes-1.36.txt")));
    &TABLE
}

impl Schemas {
    /// Reads a table in the form that `xtask/gen-schema` writes. Lines of other sorts are passed over.
    pub fn parse(table: &str) -> Self {
        table::parse(table)
    }

    /// The type of a kind. Kinds that every group shares (`Status`, `DeleteOptions`, …) are found in
    /// any group of the table.
    pub fn of(&self, gvk: &Gvk) -> Option<TypeRef<'_>> {
        self.of_manifest(&gvk.api_version(), &gvk.kind)
    }

    /// The type of a manifest's `apiVersion` and `kind`.
    pub fn of_manifest(&self, api_version: &str, kind: &str) -> Option<TypeRef<'_>> {
        // The version has to be known: a custom resource may well be called `Status`.
        let kinds = self.kinds.get(api_version)?;
        let shared = || self.kinds.get("meta.k8s.io/v1")?.get(kind);
        kinds.get(kind).or_else(shared).map(|id| self.arena.at(*id))
    }

    /// Whether a type is one of these.
    pub(crate) fn has(&self, ty: TypeRef<'_>) -> bool {
        ty.is_in(&self.arena)
    }

    /// A type by its package and name, such as `core/v1.PodSpec`.
    pub fn named(&self, name: &str) -> Option<TypeRef<'_>> {
        self.types.get(name).map(|id| self.arena.at(*id))
    }

    /// The kinds, as `apiVersion` and `kind`, in order.
    pub fn kinds(&self) -> impl Iterator<Item = (&str, &str)> {
        self.kinds
            .iter()
            .flat_map(|(version, kinds)| kinds.keys().map(move |kind| (version.as_str(), kind.as_str())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn field<'s>(ty: TypeRef<'s>, path: &str) -> Field<'s> {
        let (parents, last) = path.rsplit_once('.').unwrap_or(("", path));
        let parent = parents.split('.').filter(|step| !step.is_empty()).fold(ty, |ty, step| {
            let child = ty.field(step).expect(step).ty();
            child.item().unwrap_or(child)
        });
        parent.field(last).expect(last)
    }

    fn deployment() -> TypeRef<'static> {
        builtin().of_manifest("apps/v1", "Deployment").expect("Deployment")
    }

    #[test]
    fn lists_carry_their_keys_and_their_merge_key() {
        let ports = field(deployment(), "spec.template.spec.containers.ports");
        assert_eq!(*ports.list_type(), ListType::Map(vec!["containerPort".into(), "protocol".into()]));
        assert_eq!(ports.merge().key.as_deref(), Some("containerPort"));
        assert!(field(deployment(), "spec.template.spec.volumes").merge().retain_keys);
        assert_eq!(*field(deployment(), "metadata.finalizers").list_type(), ListType::Set);
        assert_eq!(*field(deployment(), "spec.template.spec.containers.args").list_type(), ListType::Atomic);
    }

    #[test]
    fn embedded_structs_are_read_through() {
        let volumes = field(deployment(), "spec.template.spec.volumes").ty().item().expect("item");
        assert_eq!(volumes.field("configMap").expect("configMap").ty().go_name(), "v1.ConfigMapVolumeSource");
        assert!(deployment().field("apiVersion").is_some());
    }

    #[test]
    fn marks_on_a_field_win_over_those_of_its_type() {
        let volume = builtin().of_manifest("v1", "PersistentVolume").expect("PersistentVolume");
        assert!(!field(volume, "spec.claimRef").ty().is_atomic());
        assert!(builtin().named("core/v1.ObjectReference").expect("ObjectReference").is_atomic());
        assert!(field(deployment(), "spec.selector").ty().is_atomic());
    }

    #[test]
    fn defaults_are_the_stated_ones_or_the_zero_that_go_prints() {
        let port =
            |name| field(deployment(), &format!("spec.template.spec.containers.ports.{name}")).default();
        assert_eq!(port("protocol"), Some(&"TCP".into()));
        assert_eq!(port("containerPort"), Some(&0.into()));
        assert_eq!(port("hostIP"), None);
    }

    #[test]
    fn kinds_of_every_group_are_found_in_each_but_not_in_unknown_ones() {
        assert!(builtin().of_manifest("v1", "Status").is_some());
        assert!(builtin().of_manifest("apps/v1", "DeleteOptions").is_some());
        assert!(builtin().of_manifest("example.org/v1", "Status").is_none());
        assert!(builtin().of_manifest("apps/v1", "Nothing").is_none());
    }

    #[test]
    fn every_type_is_known_and_every_field_has_a_place() {
        for (version, kind) in builtin().kinds() {
            let mut todo = vec![builtin().of_manifest(version, kind).expect(kind)];
            let mut seen = std::collections::HashSet::new();
            while let Some(ty) = todo.pop() {
                assert!(!ty.is_untyped(), "{version} {kind} reaches a type that the table lacks");
                if seen.insert(ty.go_name()) {
                    todo.extend(ty.fields().map(Field::ty));
                    match ty.shape() {
                        Shape::List(item, _) => todo.push(item),
                        Shape::Map(value) => todo.push(value),
                        _ => {}
                    }
                }
            }
        }
    }

    #[test]
    fn enumerations_list_their_values() {
        let policy = field(deployment(), "spec.template.spec.restartPolicy").ty();
        assert_eq!(policy.values(), ["Always", "Never", "OnFailure"]);
        assert_eq!(policy.go_name(), "v1.RestartPolicy");
    }
}
