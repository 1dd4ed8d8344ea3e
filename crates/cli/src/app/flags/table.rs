//! The flags, their fields, and what each does.

use super::super::entries;

/// What a flag takes, and what it does to its field.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Sort {
    /// A text.
    Text,
    /// Yes or no.
    Switch,
    /// A number.
    Number,
    /// Several texts, in place of those that are there.
    Texts,
    /// KEY=VALUE, beside those that are there.
    Pairs,
    /// The text of a file.
    File,
    /// Entries that have a name, over those of the same name.
    Entries(entries::Form),
    /// What syncs by itself.
    Policy,
    /// Yes or no, for what syncs by itself.
    Automated,
    /// An option of syncs; with `!` before it, one less.
    Options,
}

/// Which part of an application a field is in.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    /// The source that is meant.
    Source,
    /// The spec.
    Spec,
}

/// A flag, the part and the field that it is about, what it takes, and what it says.
pub(super) type Row = (&'static str, Part, &'static [&'static str], Sort, &'static str);

/// All of them, in the order in which they are written.
pub(super) const TABLE: &[Row] = {
    use Part::{Source, Spec};
    use Sort::{Automated, Entries, File, Number, Options, Pairs, Policy, Switch, Text, Texts};
    use entries::Form::{Env, Image, Parameter, Replica, Variable};
    &[
        ("repo", Source, &["repoURL"], Text, "The repository"),
        ("path", Source, &["path"], Text, "The path in the repository"),
        ("revision", Source, &["targetRevision"], Text, "The branch, tag, commit, or range of versions"),
        (
            "tag-prefix",
            Source,
            &["tagPrefix"],
            Text,
            "Only tags that begin like this, for a range of versions",
        ),
        ("ref", Source, &["ref"], Text, "The name by which other sources use files of this one"),
        ("helm-chart", Source, &["chart"], Text, "The chart"),
        ("release-name", Source, &["helm", "releaseName"], Text, "The name of the release"),
        ("values", Source, &["helm", "valueFiles"], Texts, "A file of values; may be given several times"),
        (
            "values-literal-file",
            Source,
            &["helm", "values"],
            File,
            "A file on this machine whose text becomes the values",
        ),
        (
            "ignore-missing-value-files",
            Source,
            &["helm", "ignoreMissingValueFiles"],
            Switch,
            "Pass over files of values that are not there",
        ),
        ("helm-set", Source, &["helm", "parameters"], Entries(Parameter), "A value, as KEY=VALUE"),
        (
            "helm-set-string",
            Source,
            &["helm", "parameters"],
            Entries(entries::Form::StringParameter),
            "A value that stays text, as KEY=VALUE",
        ),
        (
            "helm-set-file",
            Source,
            &["helm", "fileParameters"],
            Entries(entries::Form::FileParameter),
            "A value from a file of the repository, as KEY=PATH",
        ),
        ("parameter", Source, &["helm", "parameters"], Entries(Parameter), "A value, as KEY=VALUE"),
        ("helm-version", Source, &["helm", "version"], Text, "The version of Helm"),
        (
            "helm-pass-credentials",
            Source,
            &["helm", "passCredentials"],
            Switch,
            "Show the credentials to every host that the repository names",
        ),
        ("helm-skip-crds", Source, &["helm", "skipCrds"], Switch, "Leave out definitions"),
        (
            "helm-skip-schema-validation",
            Source,
            &["helm", "skipSchemaValidation"],
            Switch,
            "Do not check values by the chart's schema",
        ),
        ("helm-skip-tests", Source, &["helm", "skipTests"], Switch, "Leave out tests"),
        ("helm-namespace", Source, &["helm", "namespace"], Text, "The namespace that templates see"),
        (
            "helm-kube-version",
            Source,
            &["helm", "kubeVersion"],
            Text,
            "The version of Kubernetes that templates see",
        ),
        (
            "helm-api-versions",
            Source,
            &["helm", "apiVersions"],
            Texts,
            "A kind that templates see, as [GROUP/]VERSION/KIND",
        ),
        (
            "directory-recurse",
            Source,
            &["directory", "recurse"],
            Switch,
            "Read folders below the path as well",
        ),
        (
            "directory-include",
            Source,
            &["directory", "include"],
            Text,
            "Read only files that match this pattern",
        ),
        (
            "directory-exclude",
            Source,
            &["directory", "exclude"],
            Text,
            "Leave out files that match this pattern",
        ),
        (
            "directory-disable-extension-filter",
            Source,
            &["directory", "disableExtensionFilter"],
            Switch,
            "Let the patterns alone say which files are read",
        ),
        (
            "jsonnet-tla-str",
            Source,
            &["directory", "jsonnet", "tlas"],
            Entries(Variable { code: false }),
            "An argument of Jsonnet, as NAME=TEXT",
        ),
        (
            "jsonnet-tla-code",
            Source,
            &["directory", "jsonnet", "tlas"],
            Entries(Variable { code: true }),
            "An argument of Jsonnet, as NAME=CODE",
        ),
        (
            "jsonnet-ext-var-str",
            Source,
            &["directory", "jsonnet", "extVars"],
            Entries(Variable { code: false }),
            "A variable of Jsonnet, as NAME=TEXT",
        ),
        (
            "jsonnet-ext-var-code",
            Source,
            &["directory", "jsonnet", "extVars"],
            Entries(Variable { code: true }),
            "A variable of Jsonnet, as NAME=CODE",
        ),
        ("jsonnet-libs", Source, &["directory", "jsonnet", "libs"], Texts, "A folder of Jsonnet's libraries"),
        ("nameprefix", Source, &["kustomize", "namePrefix"], Text, "What Kustomize puts before names"),
        ("namesuffix", Source, &["kustomize", "nameSuffix"], Text, "What Kustomize puts behind names"),
        ("kustomize-version", Source, &["kustomize", "version"], Text, "The version of Kustomize"),
        (
            "kustomize-namespace",
            Source,
            &["kustomize", "namespace"],
            Text,
            "The namespace that Kustomize sets",
        ),
        (
            "kustomize-image",
            Source,
            &["kustomize", "images"],
            Entries(Image),
            "An image, as NAME:TAG or OLD=NEW:TAG",
        ),
        (
            "kustomize-replica",
            Source,
            &["kustomize", "replicas"],
            Entries(Replica),
            "How many of a workload, as NAME=COUNT",
        ),
        (
            "kustomize-common-label",
            Source,
            &["kustomize", "commonLabels"],
            Pairs,
            "A label for everything, as KEY=VALUE",
        ),
        (
            "kustomize-common-annotation",
            Source,
            &["kustomize", "commonAnnotations"],
            Pairs,
            "An annotation for everything, as KEY=VALUE",
        ),
        (
            "kustomize-force-common-label",
            Source,
            &["kustomize", "forceCommonLabels"],
            Switch,
            "Labels go over those that are there",
        ),
        (
            "kustomize-force-common-annotation",
            Source,
            &["kustomize", "forceCommonAnnotations"],
            Switch,
            "Annotations go over those that are there",
        ),
        (
            "kustomize-label-without-selector",
            Source,
            &["kustomize", "labelWithoutSelector"],
            Switch,
            "Leave selectors as they are",
        ),
        (
            "kustomize-label-include-templates",
            Source,
            &["kustomize", "labelIncludeTemplates"],
            Switch,
            "Label templates as well",
        ),
        (
            "kustomize-kube-version",
            Source,
            &["kustomize", "kubeVersion"],
            Text,
            "The version of Kubernetes that charts see",
        ),
        (
            "kustomize-api-versions",
            Source,
            &["kustomize", "apiVersions"],
            Texts,
            "A kind that charts see, as [GROUP/]VERSION/KIND",
        ),
        (
            "ignore-missing-components",
            Source,
            &["kustomize", "ignoreMissingComponents"],
            Switch,
            "Pass over components that are not there",
        ),
        ("config-management-plugin", Source, &["plugin", "name"], Text, "The plugin"),
        ("plugin-env", Source, &["plugin", "env"], Entries(Env), "A variable for the plugin, as NAME=VALUE"),
        ("dest-server", Spec, &["destination", "server"], Text, "The address of the cluster"),
        (
            "dest-name",
            Spec,
            &["destination", "name"],
            Text,
            "The name of the cluster, instead of its address",
        ),
        (
            "dest-namespace",
            Spec,
            &["destination", "namespace"],
            Text,
            "The namespace of objects that name none",
        ),
        ("project", Spec, &["project"], Text, "The project"),
        (
            "revision-history-limit",
            Spec,
            &["revisionHistoryLimit"],
            Number,
            "How many revisions the history keeps",
        ),
        (
            "sync-policy",
            Spec,
            &["syncPolicy", "automated"],
            Policy,
            "Whether to sync by itself: automated or none",
        ),
        (
            "auto-prune",
            Spec,
            &["prune"],
            Automated,
            "Delete what is no longer in Git, when syncing by itself",
        ),
        ("self-heal", Spec, &["selfHeal"], Automated, "Undo what others change, when syncing by itself"),
        ("allow-empty", Spec, &["allowEmpty"], Automated, "Sync even if nothing would be left"),
        (
            "sync-option",
            Spec,
            &["syncPolicy", "syncOptions"],
            Options,
            "An option such as CreateNamespace=true; '!' before it takes it away",
        ),
        (
            "sync-retry-limit",
            Spec,
            &["syncPolicy", "retry", "limit"],
            Number,
            "How often a sync is tried again",
        ),
        (
            "sync-retry-refresh",
            Spec,
            &["syncPolicy", "retry", "refresh"],
            Switch,
            "Try again with the newest revision",
        ),
        (
            "sync-retry-backoff-duration",
            Spec,
            &["syncPolicy", "retry", "backoff", "duration"],
            Text,
            "How long to wait before the first time",
        ),
        (
            "sync-retry-backoff-max-duration",
            Spec,
            &["syncPolicy", "retry", "backoff", "maxDuration"],
            Text,
            "How long to wait at the most",
        ),
        (
            "sync-retry-backoff-factor",
            Spec,
            &["syncPolicy", "retry", "backoff", "factor"],
            Number,
            "How many times as long each time",
        ),
    ]
};
