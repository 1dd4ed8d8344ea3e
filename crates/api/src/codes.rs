//! Status codes and phases, as Argo CD writes them.

use crate::word::words;

words! {
    /// Whether the live state is the desired one.
    pub enum SyncStatusCode: open {
        /// It could not be compared.
        Unknown = "Unknown",
        /// It is.
        Synced = "Synced",
        /// It is not.
        OutOfSync = "OutOfSync",
    }
}

words! {
    /// How an object or application is doing, from best to worst.
    pub enum HealthStatusCode: open {
        /// It does what it should.
        Healthy = "Healthy",
        /// It was told to pause.
        Suspended = "Suspended",
        /// It is not there yet, but may get there by itself.
        Progressing = "Progressing",
        /// It is not in the cluster.
        Missing = "Missing",
        /// It failed, or did not get there in time.
        Degraded = "Degraded",
        /// It could not be assessed.
        Unknown = "Unknown",
    }
}

impl HealthStatusCode {
    /// Whether this is a worse state than `other`.
    pub fn is_worse(self, other: HealthStatusCode) -> bool {
        self > other
    }
}

words! {
    /// How far an operation or a hook has come.
    pub enum OperationPhase: open {
        /// It is under way, or waits.
        Running = "Running",
        /// It was told to stop.
        Terminating = "Terminating",
        /// It ended without reaching its goal.
        Failed = "Failed",
        /// It could not be carried out.
        Error = "Error",
        /// It reached its goal.
        Succeeded = "Succeeded",
    }
}

impl OperationPhase {
    /// Whether nothing more will happen.
    pub fn is_completed(self) -> bool {
        matches!(self, Self::Failed | Self::Error | Self::Succeeded)
    }

    /// Whether it ended badly.
    pub fn is_unsuccessful(self) -> bool {
        matches!(self, Self::Failed | Self::Error)
    }
}

words! {
    /// What a sync did with one object.
    pub enum ResultCode: open {
        /// It was applied.
        Synced = "Synced",
        /// Applying or deleting it failed.
        SyncFailed = "SyncFailed",
        /// It was deleted.
        Pruned = "Pruned",
        /// It would have been deleted, but pruning was off.
        PruneSkipped = "PruneSkipped",
    }
}

words! {
    /// The parts of a sync, in their order.
    pub enum SyncPhase: open {
        /// Before anything is applied.
        PreSync = "PreSync",
        /// The application's own objects.
        Sync = "Sync",
        /// After all is applied and healthy.
        PostSync = "PostSync",
        /// Only when the sync has failed.
        SyncFail = "SyncFail",
    }
}

words! {
    /// What is wrong, or worth knowing, about an application.
    pub enum ApplicationConditionType: open {
        /// Its objects could not be deleted.
        DeletionError = "DeletionError",
        /// Its spec, project or destination is not valid.
        InvalidSpecError = "InvalidSpecError",
        /// Desired and live state could not be compared.
        ComparisonError = "ComparisonError",
        /// An automated sync failed.
        SyncError = "SyncError",
        /// Anything else went wrong.
        UnknownError = "UnknownError",
        /// An object belongs to another application too.
        SharedResourceWarning = "SharedResourceWarning",
        /// An object stands in the source more than once.
        RepeatedResourceWarning = "RepeatedResourceWarning",
        /// The source has an object of a kind that settings exclude.
        ExcludedResourceWarning = "ExcludedResourceWarning",
        /// A manifest says something that is probably not meant, such as one key twice. Argo CD does not tell.
        ManifestWarning = "ManifestWarning",
        /// The namespace has objects that belong to nobody.
        OrphanedResourceWarning = "OrphanedResourceWarning",
    }
}

impl ApplicationConditionType {
    /// Whether the condition means that something failed.
    pub fn is_error(self) -> bool {
        crate::word::Word::as_str(self).ends_with("Error")
    }
}

words! {
    /// Which tool renders a source.
    pub enum ApplicationSourceType: open {
        /// A Helm chart.
        Helm = "Helm",
        /// A kustomization.
        Kustomize = "Kustomize",
        /// Plain manifests, or Jsonnet.
        Directory = "Directory",
        /// A config-management plugin.
        Plugin = "Plugin",
    }
}

words! {
    /// How an object is known to belong to an application.
    pub enum TrackingMethod: open {
        /// By the tracking-id annotation.
        Annotation = "annotation",
        /// By the instance label.
        Label = "label",
        /// By the annotation; the label is written for others to read.
        AnnotationAndLabel = "annotation+label",
    }
}

words! {
    /// How thoroughly to refresh or hydrate.
    pub enum RefreshType: open {
        /// Use what is cached for the same revision.
        Normal = "normal",
        /// Trust no cache.
        Hard = "hard",
    }
}

words! {
    /// How far a hydration has come.
    pub enum HydrateOperationPhase: closed {
        /// It is under way.
        Hydrating = "Hydrating",
        /// It failed.
        Failed = "Failed",
        /// It is done.
        Hydrated = "Hydrated",
    }
}

words! {
    /// Where the health of an application's objects is kept.
    pub enum ResourceHealthLocation: open {
        /// In the application tree, not in the status.
        AppTree = "appTree",
    }
}

words! {
    /// Whether a cluster or repository could be reached.
    pub enum ConnectionStatus: open {
        /// It could.
        Successful = "Successful",
        /// It could not.
        Failed = "Failed",
        /// Nobody has tried.
        Unknown = "Unknown",
    }
}

words! {
    /// Which commits have to be signed.
    pub enum GpgMode: open {
        /// None.
        None = "none",
        /// The one that is delivered.
        Head = "head",
        /// That one and everything it is built on.
        Strict = "strict",
    }
}

words! {
    /// What an ApplicationSet may do to its applications.
    pub enum ApplicationsSyncPolicy: closed {
        /// Make new ones.
        CreateOnly = "create-only",
        /// Make and change them.
        CreateUpdate = "create-update",
        /// Make and delete them.
        CreateDelete = "create-delete",
        /// Make, change and delete them.
        Sync = "sync",
    }
}

words! {
    /// What an ApplicationSet reports about itself.
    pub enum ApplicationSetConditionType: open {
        /// Something failed.
        ErrorOccurred = "ErrorOccurred",
        /// The generators gave their parameters.
        ParametersGenerated = "ParametersGenerated",
        /// The applications are as the template wants them.
        ResourcesUpToDate = "ResourcesUpToDate",
        /// A progressive sync is under way.
        RolloutProgressing = "RolloutProgressing",
        /// The progressive sync is not set up in a way that can work.
        InvalidRolloutConfig = "InvalidRolloutConfig",
    }
}

words! {
    /// Whether a condition holds.
    pub enum ConditionStatus: open {
        /// It does.
        True = "True",
        /// It does not.
        False = "False",
        /// Nobody knows.
        Unknown = "Unknown",
    }
}

words! {
    /// Where an application stands in a progressive sync.
    pub enum ProgressiveSyncStatusCode: open {
        /// Earlier steps are not done.
        Waiting = "Waiting",
        /// Its turn has come, its sync has not started.
        Pending = "Pending",
        /// Its sync is under way.
        Progressing = "Progressing",
        /// It is done.
        Healthy = "Healthy",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::word::{Open, Word};

    #[test]
    fn health_gets_worse_in_argos_order() {
        let order: Vec<_> = HealthStatusCode::ALL.iter().map(|code| code.as_str()).collect();
        assert_eq!(order, ["Healthy", "Suspended", "Progressing", "Missing", "Degraded", "Unknown"]);
        assert!(HealthStatusCode::Degraded.is_worse(HealthStatusCode::Missing));
        assert!(!HealthStatusCode::Healthy.is_worse(HealthStatusCode::Healthy));
    }

    #[test]
    fn an_unknown_word_survives() {
        let code: Open<SyncStatusCode> = serde_json::from_str("\"Drifting\"").unwrap();
        assert_eq!(code.known(), None);
        assert_eq!(serde_json::to_string(&code).unwrap(), "\"Drifting\"");
        assert_eq!(Open::from("Synced"), SyncStatusCode::Synced);
    }

    #[test]
    fn conditions_are_errors_or_warnings_by_their_name() {
        let errors = ApplicationConditionType::ALL.iter().filter(|kind| kind.is_error()).count();
        assert_eq!((errors, ApplicationConditionType::ALL.len()), (5, 10));
    }
}
