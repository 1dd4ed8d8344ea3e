//! The objects of an application and what they own, as the API shows them.

use std::collections::BTreeMap;

use lynceus_object::Str;

use crate::application::HealthStatus;
use crate::scalar::{RawObject, Time};
use crate::wire::wire;

wire! {
    /// The objects of an application and all that they own.
    pub struct ApplicationTree {
        /// The objects.
        optional nodes: Vec<ResourceNode> = "nodes",
        /// Objects in the namespace that belong to nobody.
        optional orphaned_nodes: Vec<ResourceNode> = "orphanedNodes",
        /// The nodes that its pods run on.
        optional hosts: Vec<HostInfo> = "hosts",
        /// In how many parts the tree is stored.
        optional shards_count: i64 = "shardsCount",
    }
}

wire! {
    /// Names an object.
    pub struct ResourceRef {
        /// Its API group.
        optional group: Str = "group",
        /// Its API version.
        optional version: Str = "version",
        /// Its kind.
        optional kind: Str = "kind",
        /// Its namespace.
        optional namespace: Str = "namespace",
        /// Its name.
        optional name: Str = "name",
        /// Its uid.
        optional uid: Str = "uid",
    }
}

wire! {
    /// An object in a tree.
    pub struct ResourceNode {
        /// Its API group.
        optional group: Str = "group",
        /// Its API version.
        optional version: Str = "version",
        /// Its kind.
        optional kind: Str = "kind",
        /// Its namespace.
        optional namespace: Str = "namespace",
        /// Its name.
        optional name: Str = "name",
        /// Its uid.
        optional uid: Str = "uid",
        /// The objects that own it.
        optional parent_refs: Vec<ResourceRef> = "parentRefs",
        /// What is worth showing beside it.
        optional info: Vec<InfoItem> = "info",
        /// How traffic reaches it.
        optional networking_info: Option<ResourceNetworkingInfo> = "networkingInfo",
        /// The version of it that was looked at.
        optional resource_version: Str = "resourceVersion",
        /// The container images that it names.
        optional images: Vec<Str> = "images",
        /// How it is doing.
        optional health: Option<HealthStatus> = "health",
        /// When it was made.
        optional created_at: Option<Time> = "createdAt",
    }
}

wire! {
    /// Something worth showing beside an object.
    pub struct InfoItem {
        /// What it is about.
        optional name: Str = "name",
        /// What it says.
        optional value: Str = "value",
    }
}

wire! {
    /// How traffic reaches an object and leaves it.
    pub struct ResourceNetworkingInfo {
        /// Labels of the pods that it sends traffic to.
        optional target_labels: BTreeMap<Str, Str> = "targetLabels",
        /// Objects that it sends traffic to.
        optional target_refs: Vec<ResourceRef> = "targetRefs",
        /// Labels by which others find it.
        optional labels: BTreeMap<Str, Str> = "labels",
        /// Its load balancer's addresses.
        optional ingress: Vec<RawObject> = "ingress",
        /// Its addresses.
        optional external_urls: Vec<Str> = "externalURLs",
    }
}

wire! {
    /// A node that pods of an application run on.
    pub struct HostInfo {
        /// Its name.
        optional name: Str = "name",
        /// What its pods ask for.
        optional resources_info: Vec<HostResourceInfo> = "resourcesInfo",
        /// Its operating system and versions.
        optional system_info: RawObject = "systemInfo",
        /// Its labels.
        optional labels: BTreeMap<Str, Str> = "labels",
    }
}

wire! {
    /// How much of one resource is asked for on a node.
    pub struct HostResourceInfo {
        /// The resource, such as `cpu`.
        optional resource_name: Str = "resourceName",
        /// By this application's pods.
        optional requested_by_app: i64 = "requestedByApp",
        /// By other pods.
        optional requested_by_neighbors: i64 = "requestedByNeighbors",
        /// What the node has.
        optional capacity: i64 = "capacity",
    }
}

wire! {
    /// The desired and the live state of an object.
    pub struct ResourceDiff {
        /// Its API group.
        optional group: Str = "group",
        /// Its kind.
        optional kind: Str = "kind",
        /// Its namespace.
        optional namespace: Str = "namespace",
        /// Its name.
        optional name: Str = "name",
        /// The desired state, as JSON.
        optional target_state: Str = "targetState",
        /// The live state, as JSON.
        optional live_state: Str = "liveState",
        /// No longer set.
        optional diff: Str = "diff",
        /// Whether it is a hook.
        optional hook: bool = "hook",
        /// The live state, without what is ignored.
        optional normalized_live_state: Str = "normalizedLiveState",
        /// What the live state would be after a sync.
        optional predicted_live_state: Str = "predictedLiveState",
        /// The version of the live object.
        optional resource_version: Str = "resourceVersion",
        /// Whether a sync would change it.
        optional modified: bool = "modified",
    }
}
