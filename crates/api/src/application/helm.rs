//! How a Helm chart is rendered.

use lynceus_object::Str;

use crate::scalar::RawObject;
use crate::wire::wire;

wire! {
    /// How a Helm chart is rendered.
    pub struct ApplicationSourceHelm {
        /// Files of values, the last one winning.
        optional value_files: Vec<Str> = "valueFiles",
        /// Single values, as `--set` takes them.
        optional parameters: Vec<HelmParameter> = "parameters",
        /// The release's name; the application's if empty.
        optional release_name: Str = "releaseName",
        /// Values as YAML text.
        optional values: Str = "values",
        /// Single values that are read from files.
        optional file_parameters: Vec<HelmFileParameter> = "fileParameters",
        /// The version of Helm; only `v3` has a meaning.
        optional version: Str = "version",
        /// Whether credentials go to every domain that the repository names.
        optional pass_credentials: bool = "passCredentials",
        /// Whether a value file may be missing.
        optional ignore_missing_value_files: bool = "ignoreMissingValueFiles",
        /// Whether the chart's `crds` directory is left out.
        optional skip_crds: bool = "skipCrds",
        /// Values as a structure; these win over `values`.
        optional values_object: Option<RawObject> = "valuesObject",
        /// The release's namespace; the destination's if empty.
        optional namespace: Str = "namespace",
        /// The Kubernetes version that the chart is told.
        optional kube_version: Str = "kubeVersion",
        /// The API versions that the chart is told.
        optional api_versions: Vec<Str> = "apiVersions",
        /// Whether the chart's tests are left out.
        optional skip_tests: bool = "skipTests",
        /// Whether values are not checked against the chart's schema.
        optional skip_schema_validation: bool = "skipSchemaValidation",
    }
}

wire! {
    /// A single value.
    pub struct HelmParameter {
        /// Its path.
        optional name: Str = "name",
        /// Its value.
        optional value: Str = "value",
        /// Whether it stays a string even if it looks like a number or boolean.
        optional force_string: bool = "forceString",
    }
}

wire! {
    /// A single value that is read from a file.
    pub struct HelmFileParameter {
        /// Its path.
        optional name: Str = "name",
        /// The file.
        optional path: Str = "path",
    }
}
