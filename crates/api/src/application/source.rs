//! Where manifests come from, and how they are rendered.

use std::collections::BTreeMap;

use lynceus_object::Str;

use super::helm::ApplicationSourceHelm;
use super::kustomize::ApplicationSourceKustomize;
use super::spec::EnvEntry;
use crate::wire::wire;

wire! {
    /// One place that manifests come from.
    pub struct ApplicationSource {
        /// The Git, Helm or OCI repository.
        required repo_url: Str = "repoURL",
        /// The directory in a Git repository.
        optional path: Str = "path",
        /// The branch, tag, commit or version; `HEAD` if empty.
        optional target_revision: Str = "targetRevision",
        /// How to render a Helm chart.
        optional helm: Option<ApplicationSourceHelm> = "helm",
        /// How to build a kustomization.
        optional kustomize: Option<ApplicationSourceKustomize> = "kustomize",
        /// How to read plain manifests.
        optional directory: Option<ApplicationSourceDirectory> = "directory",
        /// Which plugin renders the manifests.
        optional plugin: Option<ApplicationSourcePlugin> = "plugin",
        /// The chart's name in a Helm repository.
        optional chart: Str = "chart",
        /// The name by which value files of other sources mean this one.
        optional ref_: Str = "ref",
        /// A name for this source, for people.
        optional name: Str = "name",
        /// The tags that a version range is matched with are those with this prefix.
        optional tag_prefix: Str = "tagPrefix",
    }
}

wire! {
    /// How plain manifests are read.
    pub struct ApplicationSourceDirectory {
        /// Whether to go into subdirectories.
        optional recurse: bool = "recurse",
        /// What Jsonnet files are given.
        nonzero jsonnet: ApplicationSourceJsonnet = "jsonnet",
        /// A glob of files to leave out.
        optional exclude: Str = "exclude",
        /// A glob of files to take; all others are left out.
        optional include: Str = "include",
        /// Whether files are taken whatever their extension is.
        optional disable_extension_filter: bool = "disableExtensionFilter",
    }
}

wire! {
    /// What Jsonnet files are given.
    pub struct ApplicationSourceJsonnet {
        /// External variables.
        optional ext_vars: Vec<JsonnetVar> = "extVars",
        /// Top-level arguments.
        optional tlas: Vec<JsonnetVar> = "tlas",
        /// Directories to import from.
        optional libs: Vec<Str> = "libs",
    }
}

wire! {
    /// A variable for Jsonnet.
    pub struct JsonnetVar {
        /// Its name.
        required name: Str = "name",
        /// Its value.
        required value: Str = "value",
        /// Whether the value is Jsonnet code and not a string.
        optional code: bool = "code",
    }
}

wire! {
    /// A config-management plugin and what it is given.
    pub struct ApplicationSourcePlugin {
        /// The plugin; found by its discovery rules if empty.
        optional name: Str = "name",
        /// Environment variables.
        optional env: Vec<EnvEntry> = "env",
        /// Parameters that the plugin has announced.
        optional parameters: Vec<ApplicationSourcePluginParameter> = "parameters",
    }
}

wire! {
    /// A parameter of a plugin: one of a string, a map and a list.
    pub struct ApplicationSourcePluginParameter {
        /// Its name.
        always name: Str = "name",
        /// Its value, if that is a string.
        optional string: Option<Str> = "string",
        /// Its value, if that is a map.
        optional map: Option<BTreeMap<Str, Str>> = "map",
        /// Its value, if that is a list.
        optional array: Option<Vec<Str>> = "array",
    }
}
