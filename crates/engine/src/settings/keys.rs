//! The settings that are followed, as a table: it is read, checked and printed from here and nowhere else.

use super::others;

/// Where a setting stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConfigMap {
    /// `argocd-cm`.
    Settings,
    /// `argocd-cmd-params-cm`.
    Parameters,
}

impl ConfigMap {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            ConfigMap::Settings => "argocd-cm",
            ConfigMap::Parameters => "argocd-cmd-params-cm",
        }
    }
}

/// What a setting holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Any text.
    Text,
    /// Words with commas between them.
    List,
    /// `true` or `false`.
    Switch,
    /// A duration as Go writes it; a plain number counts seconds.
    Duration,
    /// A whole number of seconds.
    Seconds,
    /// A whole number.
    Number,
    /// A size as Kubernetes writes it.
    Quantity,
    /// One of some words.
    Word(&'static [&'static str]),
    /// A document of its own.
    Yaml,
}

impl Form {
    /// What to write, for somebody who wrote something else.
    pub fn example(self) -> String {
        match self {
            Form::Text => "write any text".to_owned(),
            Form::List => "write names with commas between them".to_owned(),
            Form::Switch => "write true or false".to_owned(),
            Form::Duration => "write it as 120s, 3m or 1h".to_owned(),
            Form::Seconds => "write a number of seconds, such as 30".to_owned(),
            Form::Number => "write a whole number".to_owned(),
            Form::Quantity => "write it as 10M or 64Mi".to_owned(),
            Form::Word(words) => format!("write one of {}", words.join(", ")),
            Form::Yaml => "write YAML of the form that docs/settings.md shows".to_owned(),
        }
    }

    /// What a value that does not fit is not.
    pub(super) fn noun(self) -> &'static str {
        match self {
            Form::Text => "text",
            Form::List => "list",
            Form::Switch => "switch",
            Form::Duration => "duration",
            Form::Seconds => "number of seconds",
            Form::Number => "number",
            Form::Quantity => "size",
            Form::Word(_) => "word that is known here",
            Form::Yaml => "such document",
        }
    }
}

/// A setting.
#[derive(Clone, Copy, Debug)]
pub struct Key {
    /// Where it stands.
    pub map: ConfigMap,
    /// Its name. What stands in angle brackets is the user's.
    pub name: &'static str,
    /// What it holds.
    pub form: Form,
    /// What holds where it is not set, written as in the ConfigMap.
    pub default: &'static str,
    /// What it does.
    pub meaning: &'static str,
}

impl Key {
    /// Whether a name is that of this setting, or of its family.
    pub(super) fn is(&self, name: &str) -> bool {
        match self.name.split_once('<') {
            Some((family, _)) => name.len() > family.len() && name.starts_with(family),
            None => self.name == name,
        }
    }
}

/// Names every setting once, and lists them all.
macro_rules! keys {
    ($($(#[$map:ident])? $constant:ident: $form:expr => $name:literal = $default:literal, $meaning:literal;)*) => {
        $(pub(super) const $constant: Key = Key {
            map: keys!(@map $($map)?), name: $name, form: $form, default: $default, meaning: $meaning,
        };)*
        /// Every setting that is followed.
        pub const KEYS: &[Key] = &[$($constant),*];
    };
    (@map) => { ConfigMap::Settings };
    (@map parameters) => { ConfigMap::Parameters };
}

keys! {
    RECONCILIATION: Form::Duration => "timeout.reconciliation" = "120s",
        "How often an application is looked at although nothing seems to have changed, and Git is asked; 0s for never.";
    JITTER: Form::Duration => "timeout.reconciliation.jitter" = "60s",
        "By how much that is stretched at random, so that a thousand applications do not come at once.";
    HARD_RECONCILIATION: Form::Duration => "timeout.hard.reconciliation" = "0s",
        "How often everything is rendered anew although nothing seems to have changed; 0s for never.";
    TRACKING: Form::Word(&["annotation", "label", "annotation+label"]) => "application.resourceTrackingMethod" = "annotation",
        "How objects are marked as belonging to an application.";
    LABEL: Form::Text => "application.instanceLabelKey" = "app.kubernetes.io/instance",
        "The label that marks objects, where labels do.";
    INSTALLATION: Form::Text => "installationID" = "",
        "Tells this installation's marks from those of another in the same cluster.";
    EXCLUSIONS: Form::Yaml => "resource.exclusions" = "",
        "Kinds that are never looked at: a list of apiGroups, kinds and clusters. Not set: those that Argo CD installs.";
    INCLUSIONS: Form::Yaml => "resource.inclusions" = "",
        "The only kinds that are looked at: a list as above. Not set: all.";
    RESPECT_RBAC: Form::Word(&["normal", "strict"]) => "resource.respectRBAC" = "",
        "Leave out kinds that may not be read, instead of telling of an error; strict asks with an access review first.";
    IN_CLUSTER: Form::Switch => "cluster.inClusterEnabled" = "true",
        "Whether the cluster that Lynceus runs in is a destination.";
    COMPARE: Form::Yaml => "resource.compareoptions" = "",
        "How objects are compared: ignoreAggregatedRoles (false), ignoreResourceStatusField (all, crd or none), ignoreDifferencesOnResourceUpdates (true).";
    CUSTOMIZATIONS: Form::Yaml => "resource.customizations" = "",
        "How kinds are treated: a map from group/kind to health.lua, health.lua.useOpenLibs, actions, ignoreDifferences, ignoreResourceUpdates and knownTypeFields.";
    CUSTOMIZATION: Form::Text => "resource.customizations.<sort>.<group>_<kind>" = "",
        "The same, each in a key of its own; sort is health, useOpenLibs, actions, ignoreDifferences, ignoreResourceUpdates or knownTypeFields, and all stands for every kind.";
    IGNORE_UPDATES: Form::Switch => "resource.ignoreResourceUpdatesEnabled" = "true",
        "Whether changes of ignored fields alone do not make an application be looked at.";
    SENSITIVE: Form::List => "resource.sensitive.mask.annotations" = "",
        "Annotations of Secrets whose values are masked wherever they are shown.";
    EVENT_LABELS: Form::List => "resource.includeEventLabelKeys" = "",
        "Labels of an Application, or else of its project, that its events carry: names in which a star stands for anything.";
    NO_EVENT_LABELS: Form::List => "resource.excludeEventLabelKeys" = "",
        "Those of them that they do not carry after all.";
    GLOBAL_PROJECTS: Form::Yaml => "globalProjects" = "",
        "Projects whose rules hold for others too: a list of labelSelector and projectName.";
    IMPERSONATION: Form::Switch => "application.sync.impersonation.enabled" = "false",
        "Whether a sync acts as the service account that the project names for the destination.";
    IMPERSONATION_ENFORCED: Form::Switch => "application.sync.impersonation.enforced" = "true",
        "Whether a sync is refused where the project names none; if not, it acts as Lynceus itself.";
    VALUE_SCHEMES: Form::List => "helm.valuesFileSchemes" = "https, http",
        "The schemes of URLs that value files may be read from.";
    KUSTOMIZE: Form::Text => "kustomize.buildOptions" = "",
        "Flags that every kustomization is built with.";
    HELM_ON: Form::Switch => "helm.enable" = "true",
        "Whether charts are rendered; if not, their folders are read as plain manifests.";
    KUSTOMIZE_ON: Form::Switch => "kustomize.enable" = "true",
        "The same for kustomizations.";
    JSONNET_ON: Form::Switch => "jsonnet.enable" = "true",
        "Whether Jsonnet is evaluated; if not, its files are passed over.";
    CLAIMS_HOLD_WAVES: Form::Switch => "lynceus.sync.claimsHoldWaves" = "false",
        "Whether a wave waits for a claim that is bound by its first consumer although that comes in a later wave, as in Argo CD.";
    WAIT_FOR_APPLICATIONS: Form::Switch => "lynceus.sync.waitForApplications" = "",
        "Whether a child Application counts with its own health, so that waves of an app-of-apps wait for each other. Not set: in an installation of its own, and not beside an Argo CD.";
    UNREADABLE_STOP_ALL: Form::Switch => "lynceus.compare.unreadableKindsStopAll" = "false",
        "Whether one kind that cannot be read makes every object Unknown, as in Argo CD, and not only those of that kind.";
    #[parameters]
    NAMESPACES: Form::List => "application.namespaces" = "",
        "Namespaces beside its own in which Applications are looked at: names, globs, or regular expressions between slashes.";
    #[parameters]
    DIRECTORY_BYTES: Form::Quantity => "reposerver.max.combined.directory.manifests.size" = "10M",
        "How large the manifests of a directory may be together.";
    #[parameters]
    HEAL_PAUSE: Form::Seconds => "controller.self.heal.timeout.seconds" = "0",
        "The pause between two attempts to heal drift, where pauses do not grow.";
    #[parameters]
    HEAL_FIRST: Form::Seconds => "controller.self.heal.backoff.timeout.seconds" = "2",
        "The first of the growing pauses between attempts to heal drift; 0 if they do not grow.";
    #[parameters]
    HEAL_FACTOR: Form::Number => "controller.self.heal.backoff.factor" = "3",
        "By how much each of these pauses is longer than the one before.";
    #[parameters]
    HEAL_MOST: Form::Seconds => "controller.self.heal.backoff.cap.seconds" = "300",
        "The longest of them.";
    #[parameters]
    SYNC_TIMEOUT: Form::Seconds => "controller.sync.timeout.seconds" = "0",
        "How long a sync may take before it is stopped; 0 for as long as it likes.";
    #[parameters]
    WAVE_DELAY: Form::Seconds => "controller.sync.wave.delay.seconds" = "2",
        "How long controllers get to react between two waves of a sync.";
    #[parameters]
    REPO_ERROR_GRACE: Form::Duration => "controller.repo.error.grace.period.seconds" = "180",
        "How long a repository that cannot be reached changes nothing about an application that was compared before, unless somebody asks for a look.";
    #[parameters]
    RENDER_TIMEOUT: Form::Seconds => "controller.repo.server.timeout.seconds" = "60",
        "How long the files of a source may take to become manifests, beside the time that it takes to fetch them; 0 for as long as they like.";
    #[parameters]
    RENDERINGS: Form::Number => "reposerver.parallelism.limit" = "0",
        "How many sources are rendered at the same time; 0 for no bound.";
    #[parameters]
    GIT_TIMEOUT: Form::Duration => "reposerver.git.request.timeout" = "15s",
        "How long a Git server may take to say where its branches and tags are; 0s for as long as a fetch.";
    #[parameters]
    SUBMODULES: Form::Switch => "reposerver.enable.git.submodule" = "true",
        "Whether submodules are fetched.";
    #[parameters]
    WRITES: Form::Number => "controller.kubectl.parallelism.limit" = "20",
        "How many requests of all syncs together are under way at the same time; 0 for no bound.";
    #[parameters]
    STATUS_PROCESSORS: Form::Number => "controller.status.processors" = "20",
        "How many applications are worked on at the same time. Read at the start.";
    #[parameters]
    OPERATION_PROCESSORS: Form::Number => "controller.operation.processors" = "10",
        "The same for syncs. One worker does both here, so the larger of the two counts.";
    #[parameters]
    SERVER_SIDE_DIFF: Form::Switch => "controller.diff.server.side" = "false",
        "Whether the cluster is asked what an apply would change, instead of reckoning it here.";
    #[parameters]
    PERSIST_HEALTH: Form::Switch => "controller.resource.health.persist" = "false",
        "Whether the health of every object stands in the Application's status.";
    #[parameters]
    SELF_SERVICE: Form::Switch => "notificationscontroller.selfservice.enabled" = "false",
        "Whether a namespace beside the installation's may configure notifications for the Applications in it.";
    #[parameters]
    METRICS_LABELS: Form::List => "controller.metrics.application.labels" = "",
        "Labels of Applications that the metric argocd_app_labels has, where `--metrics-application-labels` names none.";
    #[parameters]
    METRICS_CONDITIONS: Form::List => "controller.metrics.application.conditions" = "",
        "The conditions that the metric argocd_app_condition has, where `--metrics-application-conditions` names none. Not set: all.";
    #[parameters]
    METRICS_CLUSTER_LABELS: Form::List => "controller.metrics.cluster.labels" = "",
        "Labels of cluster Secrets that the metric argocd_cluster_labels has, where `--metrics-cluster-labels` names none.";
    #[parameters]
    SETS: Form::Switch => "lynceus.applicationsets.enabled" = "",
        "Whether ApplicationSets are worked on. Not set: in an installation of its own, and not beside an Argo CD, whose own controller does.";
    #[parameters]
    SET_NAMESPACES: Form::List => "applicationsetcontroller.namespaces" = "",
        "Namespaces beside its own in which ApplicationSets are looked at: names, globs, or regular expressions between slashes.";
    #[parameters]
    SET_POLICY: Form::Word(&["create-only", "create-update", "create-delete", "sync"]) => "applicationsetcontroller.policy" = "",
        "What may be done to the Applications of all ApplicationSets. Not set: sync, and each may say otherwise.";
    #[parameters]
    SET_POLICY_OVERRIDE: Form::Switch => "applicationsetcontroller.enable.policy.override" = "",
        "Whether an ApplicationSet may say otherwise by applicationsSync. Not set: unless there is a policy for all.";
    #[parameters]
    SET_DRY_RUN: Form::Switch => "applicationsetcontroller.dryrun" = "false",
        "Whether nothing is made, changed or deleted; what would be is logged.";
    #[parameters]
    SET_SCM: Form::Switch => "applicationsetcontroller.enable.scm.providers" = "true",
        "Whether hosts of repositories may be asked, by scmProvider and pullRequest.";
    #[parameters]
    SET_SCM_ALLOWED: Form::List => "applicationsetcontroller.allowed.scm.providers" = "",
        "The only addresses of hosts that a generator may name. Not set: any, but none for ApplicationSets in other namespaces.";
    #[parameters]
    SET_SCM_AUTHORITY: Form::Text => "applicationsetcontroller.scm.root.ca.path" = "",
        "A file in the pod with the certificates that hosts are trusted by which a generator names, in PEM.";
    #[parameters]
    SET_STRICT_TOKENS: Form::Switch => "applicationsetcontroller.enable.tokenref.strict.mode" = "false",
        "Whether only Secrets with the label argocd.argoproj.io/secret-type: scm-creds are sent to hosts.";
    #[parameters]
    SET_ANNOTATIONS: Form::List => "applicationsetcontroller.global.preserved.annotations" = "",
        "Annotations of Applications that no ApplicationSet takes away.";
    #[parameters]
    SET_LABELS: Form::List => "applicationsetcontroller.global.preserved.labels" = "",
        "Labels of Applications that no ApplicationSet takes away.";
    #[parameters]
    SET_REQUEUE: Form::Duration => "applicationsetcontroller.requeue.after" = "3m",
        "How often the repositories of git generators are looked at where a generator does not say.";
    #[parameters]
    SET_STATUS: Form::Number => "applicationsetcontroller.status.max.resources.count" = "5000",
        "How many Applications the status of an ApplicationSet lists; 0 for as many as there is room for.";
    #[parameters]
    SET_ROLLING: Form::Switch => "applicationsetcontroller.enable.progressive.syncs" = "false",
        "Whether the steps of strategy.rollingSync are followed.";
    #[parameters]
    SET_WORKERS: Form::Number => "applicationsetcontroller.concurrent.reconciliations.max" = "10",
        "How many ApplicationSets are worked on at the same time. Read at the start.";
    #[parameters]
    SET_GUARD_PERCENT: Form::Number => "lynceus.applicationsets.deletionPercent" = "25",
        "Which share of its Applications, in percent, an ApplicationSet may delete in one change without being asked; 100 for all of them, as in Argo CD.";
    #[parameters]
    SET_GUARD_FEW: Form::Number => "lynceus.applicationsets.deletionsUnasked" = "2",
        "How many it may delete in one change whatever their share is.";
}

/// The tables of settings as docs/settings.md has them.
pub fn table() -> String {
    let mut out = String::new();
    for map in [ConfigMap::Settings, ConfigMap::Parameters] {
        out.push_str(&format!("### `{}`\n\n| setting | default | meaning |\n|---|---|---|\n", map.name()));
        for key in KEYS.iter().filter(|key| key.map == map) {
            let default = if key.default.is_empty() { String::new() } else { format!("`{}`", key.default) };
            let words = match key.form {
                Form::Word(words) => format!(" One of `{}`.", words.join("`, `")),
                _ => String::new(),
            };
            out.push_str(&format!("| `{}` | {default} | {}{words} |\n", key.name, key.meaning));
        }
        out.push('\n');
    }
    out.push_str("### Known and not followed\n\n| settings | why |\n|---|---|\n");
    for group in others::UNFOLLOWED {
        let names: Vec<String> = group.names.split_whitespace().map(|name| format!("`{name}`")).collect();
        out.push_str(&format!("| {} | {} |\n", names.join(", "), group.why));
    }
    out
}
