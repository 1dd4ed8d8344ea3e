//! ApplicationSets: applications made from a template.

mod generator;
mod pull_request;
mod scm;
mod status;

pub use generator::*;
pub use pull_request::*;
pub use scm::*;
pub use status::*;

use std::collections::BTreeMap;

use lynceus_object::Str;

use crate::application::ApplicationSpec;
use crate::codes::ApplicationsSyncPolicy;
use crate::metadata::{ListMeta, ObjectMeta};
use crate::scalar::IntOrString;
use crate::tree::ResourceNode;
use crate::wire::wire;
use crate::word::Open;

wire! {
    /// Applications made from a template and generated parameters.
    pub struct ApplicationSet {
        /// `argoproj.io/v1alpha1`.
        optional api_version: Str = "apiVersion",
        /// `ApplicationSet`.
        optional kind: Str = "kind",
        /// Name, labels, annotations and finalizers.
        required metadata: ObjectMeta = "metadata",
        /// What is wanted.
        required spec: ApplicationSetSpec = "spec",
        /// What was found.
        always status: ApplicationSetStatus = "status",
    }
}

wire! {
    /// Several ApplicationSets.
    pub struct ApplicationSetList {
        /// `argoproj.io/v1alpha1`.
        optional api_version: Str = "apiVersion",
        /// `ApplicationSetList`.
        optional kind: Str = "kind",
        /// The version of the list.
        always metadata: ListMeta = "metadata",
        /// The ApplicationSets.
        required items: Vec<ApplicationSet> = "items",
    }
}

wire! {
    /// A change of one ApplicationSet.
    pub struct ApplicationSetWatchEvent {
        /// What happened: `ADDED`, `MODIFIED`, `DELETED`.
        required type_: Str = "type",
        /// The ApplicationSet after it happened.
        required application_set: ApplicationSet = "applicationSet",
    }
}

wire! {
    /// The applications of an ApplicationSet.
    pub struct ApplicationSetTree {
        /// The applications.
        optional nodes: Vec<ResourceNode> = "nodes",
    }
}

wire! {
    /// The wanted applications.
    pub struct ApplicationSetSpec {
        /// Whether templates are Go templates.
        optional go_template: bool = "goTemplate",
        /// What gives the parameters.
        required generators: Vec<ApplicationSetGenerator> = "generators",
        /// What an application is made from.
        required template: ApplicationSetTemplate = "template",
        /// What may be done to the applications.
        optional sync_policy: Option<ApplicationSetSyncPolicy> = "syncPolicy",
        /// In which order they are changed.
        optional strategy: Option<ApplicationSetStrategy> = "strategy",
        /// What is left alone in them.
        optional preserved_fields: Option<ApplicationPreservedFields> = "preservedFields",
        /// Options for Go templates.
        optional go_template_options: Vec<Str> = "goTemplateOptions",
        /// No longer has a meaning: selectors always apply.
        optional apply_nested_selectors: bool = "applyNestedSelectors",
        /// Fields of them that are left alone.
        optional ignore_application_differences: Vec<ApplicationSetResourceIgnoreDifferences> = "ignoreApplicationDifferences",
        /// A patch for each application, as a template.
        optional template_patch: Option<Str> = "templatePatch",
    }
}

wire! {
    /// What an application is made from.
    pub struct ApplicationSetTemplate {
        /// Name, labels, annotations and finalizers, as templates.
        required metadata: ApplicationSetTemplateMeta = "metadata",
        /// The spec, as a template.
        required spec: ApplicationSpec = "spec",
    }
}

wire! {
    /// Metadata of an application, as templates.
    pub struct ApplicationSetTemplateMeta {
        /// The name.
        optional name: Str = "name",
        /// The namespace.
        optional namespace: Str = "namespace",
        /// The labels.
        optional labels: BTreeMap<Str, Str> = "labels",
        /// The annotations.
        optional annotations: BTreeMap<Str, Str> = "annotations",
        /// The finalizers.
        optional finalizers: Vec<Str> = "finalizers",
    }
}

wire! {
    /// What is left alone in an application.
    pub struct ApplicationPreservedFields {
        /// Keys of annotations.
        optional annotations: Vec<Str> = "annotations",
        /// Keys of labels.
        optional labels: Vec<Str> = "labels",
    }
}

wire! {
    /// What may be done to the applications.
    pub struct ApplicationSetSyncPolicy {
        /// Whether their objects stay when they go.
        optional preserve_resources_on_deletion: bool = "preserveResourcesOnDeletion",
        /// Whether they are made, changed and deleted.
        optional applications_sync: Option<Open<ApplicationsSyncPolicy>> = "applicationsSync",
    }
}

wire! {
    /// Fields of applications that are left alone.
    pub struct ApplicationSetResourceIgnoreDifferences {
        /// The application; all if empty.
        optional name: Str = "name",
        /// The fields, as JSON pointers.
        optional json_pointers: Vec<Str> = "jsonPointers",
        /// The fields, as jq paths.
        optional jq_path_expressions: Vec<Str> = "jqPathExpressions",
    }
}

wire! {
    /// In which order applications are changed.
    pub struct ApplicationSetStrategy {
        /// `AllAtOnce` or `RollingSync`.
        optional type_: Str = "type",
        /// The steps.
        optional rolling_sync: Option<ApplicationSetRolloutStrategy> = "rollingSync",
        /// `AllAtOnce` or `Reverse`.
        optional deletion_order: Str = "deletionOrder",
    }
}

wire! {
    /// Steps of a progressive sync.
    pub struct ApplicationSetRolloutStrategy {
        /// The steps.
        optional steps: Vec<ApplicationSetRolloutStep> = "steps",
    }
}

wire! {
    /// One step.
    pub struct ApplicationSetRolloutStep {
        /// The applications that belong to it.
        optional match_expressions: Vec<ApplicationMatchExpression> = "matchExpressions",
        /// How many may change at a time, or which part of them.
        optional max_update: Option<IntOrString> = "maxUpdate",
    }
}

wire! {
    /// What a label of an application has to be.
    pub struct ApplicationMatchExpression {
        /// The label.
        optional key: Str = "key",
        /// `In` or `NotIn`.
        optional operator: Str = "operator",
        /// The values.
        optional values: Vec<Str> = "values",
    }
}
