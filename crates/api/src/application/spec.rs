//! What an application wants.

use lynceus_object::Str;

use super::hydrator::SourceHydrator;
use super::policy::SyncPolicy;
use super::source::ApplicationSource;
use crate::wire::wire;

wire! {
    /// The wanted state of an application.
    pub struct ApplicationSpec {
        /// Where the manifests come from, when there is one place.
        optional source: Option<ApplicationSource> = "source",
        /// The cluster and namespace that they go to.
        required destination: ApplicationDestination = "destination",
        /// The project that says what the application may do.
        required project: Str = "project",
        /// When and how the application is synced.
        optional sync_policy: Option<SyncPolicy> = "syncPolicy",
        /// Fields that are left out of the comparison.
        optional ignore_differences: Vec<ResourceIgnoreDifferences> = "ignoreDifferences",
        /// Notes and links for people.
        optional info: Vec<Info> = "info",
        /// How many deployments are remembered; 10 if not set.
        optional revision_history_limit: Option<i64> = "revisionHistoryLimit",
        /// Where the manifests come from, when there are several places.
        optional sources: Vec<ApplicationSource> = "sources",
        /// Manifests that are rendered into a branch before they are synced.
        optional source_hydrator: Option<SourceHydrator> = "sourceHydrator",
    }
}

wire! {
    /// A cluster, by address or name, and a namespace in it.
    pub struct ApplicationDestination {
        /// The address of the cluster's API server.
        optional server: Str = "server",
        /// The namespace for objects that name none themselves.
        optional namespace: Str = "namespace",
        /// The cluster's name, instead of its address.
        optional name: Str = "name",
    }
}

wire! {
    /// Fields of some objects that are left out of the comparison.
    pub struct ResourceIgnoreDifferences {
        /// The API group, with `*` for any part of it.
        optional group: Str = "group",
        /// The kind, with `*` for any part of it.
        required kind: Str = "kind",
        /// The name; any if empty.
        optional name: Str = "name",
        /// The namespace; any if empty.
        optional namespace: Str = "namespace",
        /// The fields, as JSON pointers.
        optional json_pointers: Vec<Str> = "jsonPointers",
        /// The fields, as jq paths.
        optional jq_path_expressions: Vec<Str> = "jqPathExpressions",
        /// The field managers whose fields are left out.
        optional managed_fields_managers: Vec<Str> = "managedFieldsManagers",
    }
}

wire! {
    /// A note for people.
    pub struct Info {
        /// What it is about.
        required name: Str = "name",
        /// What it says; links are shown as such.
        required value: Str = "value",
    }
}

wire! {
    /// An environment variable.
    pub struct EnvEntry {
        /// The variable.
        required name: Str = "name",
        /// Its value.
        required value: Str = "value",
    }
}
