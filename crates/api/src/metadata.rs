//! Kubernetes' own structures inside Argo CD's kinds.

use std::collections::BTreeMap;

use lynceus_object::Str;

use crate::scalar::{RawObject, Time};
use crate::wire::wire;

wire! {
    /// What every object says about itself.
    pub struct ObjectMeta {
        /// Its name.
        optional name: Str = "name",
        /// What a generated name starts with.
        optional generate_name: Str = "generateName",
        /// Its namespace.
        optional namespace: Str = "namespace",
        /// No longer set.
        optional self_link: Str = "selfLink",
        /// What tells it from others of the same name.
        optional uid: Str = "uid",
        /// Which version of it this is.
        optional resource_version: Str = "resourceVersion",
        /// How often its spec has changed.
        optional generation: i64 = "generation",
        /// When it was made.
        optional creation_timestamp: Option<Time> = "creationTimestamp",
        /// When its deletion was asked for.
        optional deletion_timestamp: Option<Time> = "deletionTimestamp",
        /// How long its deletion may take.
        optional deletion_grace_period_seconds: Option<i64> = "deletionGracePeriodSeconds",
        /// Its labels.
        optional labels: BTreeMap<Str, Str> = "labels",
        /// Its annotations.
        optional annotations: BTreeMap<Str, Str> = "annotations",
        /// The objects that own it.
        optional owner_references: Vec<OwnerReference> = "ownerReferences",
        /// What has to be done before it goes.
        optional finalizers: Vec<Str> = "finalizers",
        /// Who set which field.
        optional managed_fields: Vec<RawObject> = "managedFields",
    }
}

wire! {
    /// An object that owns another one.
    pub struct OwnerReference {
        /// Its API version.
        required api_version: Str = "apiVersion",
        /// Its kind.
        required kind: Str = "kind",
        /// Its name.
        required name: Str = "name",
        /// Its uid.
        required uid: Str = "uid",
        /// Whether it manages the other.
        optional controller: Option<bool> = "controller",
        /// Whether its foreground deletion waits for the other.
        optional block_owner_deletion: Option<bool> = "blockOwnerDeletion",
    }
}

wire! {
    /// What a list says about itself.
    pub struct ListMeta {
        /// No longer set.
        optional self_link: Str = "selfLink",
        /// Which version of it this is.
        optional resource_version: Str = "resourceVersion",
        /// Where the rest of it begins.
        optional continue_: Str = "continue",
        /// How much is left.
        optional remaining_item_count: Option<i64> = "remainingItemCount",
    }
}

wire! {
    /// Which labels an object has to have.
    pub struct LabelSelector => {"x-kubernetes-map-type": "atomic"} {
        /// Labels, all of which have to be there.
        optional match_labels: BTreeMap<Str, Str> = "matchLabels",
        /// Requirements, all of which have to hold.
        optional match_expressions: Vec<LabelSelectorRequirement> = "matchExpressions" => {"x-kubernetes-list-type": "atomic"},
    }
}

wire! {
    /// What a label has to be.
    pub struct LabelSelectorRequirement {
        /// The label.
        required key: Str = "key",
        /// `In`, `NotIn`, `Exists` or `DoesNotExist`.
        required operator: Str = "operator",
        /// The values.
        optional values: Vec<Str> = "values" => {"x-kubernetes-list-type": "atomic"},
    }
}
