//! Generators: what gives the parameters of a template.

use std::collections::BTreeMap;

use lynceus_object::Str;

use super::ApplicationSetTemplate;
use super::pull_request::PullRequestGenerator;
use super::scm::ScmProviderGenerator;
use crate::metadata::LabelSelector;
use crate::scalar::Json;
use crate::wire::wire;

wire! {
    /// A generator: one of these.
    pub struct ApplicationSetGenerator {
        /// Parameters that are written down.
        optional list: Option<ListGenerator> = "list",
        /// Parameters from clusters.
        optional clusters: Option<ClusterGenerator> = "clusters",
        /// Parameters from directories or files in Git.
        optional git: Option<GitGenerator> = "git",
        /// Parameters from the repositories of an organisation.
        optional scm_provider: Option<ScmProviderGenerator> = "scmProvider",
        /// Parameters from an object that chooses clusters.
        optional cluster_decision_resource: Option<DuckTypeGenerator> = "clusterDecisionResource",
        /// Parameters from open pull requests.
        optional pull_request: Option<PullRequestGenerator> = "pullRequest",
        /// Every combination of two generators.
        optional matrix: Option<MatrixGenerator> = "matrix",
        /// Several generators, merged by key.
        optional merge: Option<MergeGenerator> = "merge",
        /// Which parameters to keep.
        optional selector: Option<LabelSelector> = "selector",
        /// Parameters from a plugin.
        optional plugin: Option<PluginGenerator> = "plugin",
    }
}

wire! {
    /// A generator inside another one.
    pub struct ApplicationSetNestedGenerator {
        /// Parameters that are written down.
        optional list: Option<ListGenerator> = "list",
        /// Parameters from clusters.
        optional clusters: Option<ClusterGenerator> = "clusters",
        /// Parameters from directories or files in Git.
        optional git: Option<GitGenerator> = "git",
        /// Parameters from the repositories of an organisation.
        optional scm_provider: Option<ScmProviderGenerator> = "scmProvider",
        /// Parameters from an object that chooses clusters.
        optional cluster_decision_resource: Option<DuckTypeGenerator> = "clusterDecisionResource",
        /// Parameters from open pull requests.
        optional pull_request: Option<PullRequestGenerator> = "pullRequest",
        /// A matrix generator, whose own generators may not nest further.
        optional matrix: Option<Json> = "matrix",
        /// A merge generator, whose own generators may not nest further.
        optional merge: Option<Json> = "merge",
        /// Which parameters to keep.
        optional selector: Option<LabelSelector> = "selector",
        /// Parameters from a plugin.
        optional plugin: Option<PluginGenerator> = "plugin",
    }
}

wire! {
    /// A generator that holds no others.
    pub struct ApplicationSetTerminalGenerator {
        /// Parameters that are written down.
        optional list: Option<ListGenerator> = "list",
        /// Parameters from clusters.
        optional clusters: Option<ClusterGenerator> = "clusters",
        /// Parameters from directories or files in Git.
        optional git: Option<GitGenerator> = "git",
        /// Parameters from the repositories of an organisation.
        optional scm_provider: Option<ScmProviderGenerator> = "scmProvider",
        /// Parameters from an object that chooses clusters.
        optional cluster_decision_resource: Option<DuckTypeGenerator> = "clusterDecisionResource",
        /// Parameters from open pull requests.
        optional pull_request: Option<PullRequestGenerator> = "pullRequest",
        /// Parameters from a plugin.
        optional plugin: Option<PluginGenerator> = "plugin",
        /// Which parameters to keep.
        optional selector: Option<LabelSelector> = "selector",
    }
}

wire! {
    /// Parameters that are written down.
    pub struct ListGenerator {
        /// The parameters.
        always elements: Vec<Json> = "elements",
        /// Changes to the template.
        always template: ApplicationSetTemplate = "template",
        /// The parameters, as YAML text.
        optional elements_yaml: Str = "elementsYaml",
    }
}

wire! {
    /// Every combination of two generators.
    pub struct MatrixGenerator {
        /// The two.
        required generators: Vec<ApplicationSetNestedGenerator> = "generators",
        /// Changes to the template.
        always template: ApplicationSetTemplate = "template",
    }
}

wire! {
    /// A matrix generator inside another generator.
    pub struct NestedMatrixGenerator {
        /// The two.
        required generators: Vec<ApplicationSetTerminalGenerator> = "generators",
    }
}

wire! {
    /// Several generators, merged by key.
    pub struct MergeGenerator {
        /// The generators; later ones win.
        required generators: Vec<ApplicationSetNestedGenerator> = "generators",
        /// The parameters that have to be equal.
        required merge_keys: Vec<Str> = "mergeKeys",
        /// Changes to the template.
        always template: ApplicationSetTemplate = "template",
    }
}

wire! {
    /// A merge generator inside another generator.
    pub struct NestedMergeGenerator {
        /// The generators; later ones win.
        required generators: Vec<ApplicationSetTerminalGenerator> = "generators",
        /// The parameters that have to be equal.
        required merge_keys: Vec<Str> = "mergeKeys",
    }
}

wire! {
    /// Parameters from clusters.
    pub struct ClusterGenerator {
        /// Which clusters.
        always selector: LabelSelector = "selector",
        /// Changes to the template.
        always template: ApplicationSetTemplate = "template",
        /// Further parameters.
        optional values: BTreeMap<Str, Str> = "values",
        /// Whether all clusters come as one list.
        optional flat_list: bool = "flatList",
    }
}

wire! {
    /// Parameters from an object that chooses clusters.
    pub struct DuckTypeGenerator {
        /// The ConfigMap that says how to read the object.
        required config_map_ref: Str = "configMapRef",
        /// The object's name.
        optional name: Str = "name",
        /// How often to look again.
        optional requeue_after_seconds: Option<i64> = "requeueAfterSeconds",
        /// The object's labels, instead of its name.
        always label_selector: LabelSelector = "labelSelector",
        /// Changes to the template.
        always template: ApplicationSetTemplate = "template",
        /// Further parameters.
        optional values: BTreeMap<Str, Str> = "values",
    }
}

wire! {
    /// Parameters from directories or files in Git.
    pub struct GitGenerator {
        /// The repository.
        required repo_url: Str = "repoURL",
        /// Directories, one set of parameters each.
        optional directories: Vec<GitDirectoryGeneratorItem> = "directories",
        /// Files with parameters.
        optional files: Vec<GitFileGeneratorItem> = "files",
        /// The branch, tag or commit.
        required revision: Str = "revision",
        /// How often to look again.
        optional requeue_after_seconds: Option<i64> = "requeueAfterSeconds",
        /// Changes to the template.
        always template: ApplicationSetTemplate = "template",
        /// Goes before the names of path parameters.
        optional path_param_prefix: Str = "pathParamPrefix",
        /// Further parameters.
        optional values: BTreeMap<Str, Str> = "values",
    }
}

wire! {
    /// Directories, as a glob.
    pub struct GitDirectoryGeneratorItem {
        /// The glob.
        required path: Str = "path",
        /// Whether they are left out.
        optional exclude: bool = "exclude",
    }
}

wire! {
    /// Files, as a glob.
    pub struct GitFileGeneratorItem {
        /// The glob.
        required path: Str = "path",
        /// Whether they are left out.
        optional exclude: bool = "exclude",
    }
}

wire! {
    /// Parameters from a plugin.
    pub struct PluginGenerator {
        /// The ConfigMap that says where the plugin is.
        required config_map_ref: PluginConfigMapRef = "configMapRef",
        /// What it is given.
        always input: PluginInput = "input",
        /// How often to look again.
        optional requeue_after_seconds: Option<i64> = "requeueAfterSeconds",
        /// Changes to the template.
        always template: ApplicationSetTemplate = "template",
        /// Further parameters.
        optional values: BTreeMap<Str, Str> = "values",
    }
}

wire! {
    /// A ConfigMap.
    pub struct PluginConfigMapRef {
        /// Its name.
        required name: Str = "name",
    }
}

wire! {
    /// What a plugin is given.
    pub struct PluginInput {
        /// Anything.
        optional parameters: BTreeMap<Str, Json> = "parameters",
    }
}

wire! {
    /// A key of a Secret.
    pub struct SecretRef {
        /// The Secret.
        required secret_name: Str = "secretName",
        /// The key.
        required key: Str = "key",
    }
}

wire! {
    /// A key of a ConfigMap.
    pub struct ConfigMapKeyRef {
        /// The ConfigMap.
        required config_map_name: Str = "configMapName",
        /// The key.
        required key: Str = "key",
    }
}
