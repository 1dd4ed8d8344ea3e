//! Comma-separated options: `Prune=false,ServerSideApply=true`.

use lynceus_object::{Object, Str};

use crate::annotations;

/// Options of a sync or a comparison, each a word or a `Key=value`, without duplicates, in their order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options(Vec<Str>);

impl Options {
    /// Reads the comma-separated words of an annotation.
    pub fn of(object: &Object, annotation: &str) -> Self {
        Options::parse(object.annotation(annotation).unwrap_or_default())
    }

    /// Reads comma-separated words; blanks around them and empty ones are dropped.
    pub fn parse(text: &str) -> Self {
        let mut words: Vec<Str> = Vec::new();
        for word in text.split(',').map(str::trim).filter(|word| !word.is_empty()) {
            if !words.iter().any(|seen| seen == word) {
                words.push(word.into());
            }
        }
        Options(words)
    }

    /// The options of an object's sync.
    pub fn sync(object: &Object) -> Self {
        Options::of(object, annotations::SYNC_OPTIONS)
    }

    /// The options of an object's comparison.
    pub fn compare(object: &Object) -> Self {
        Options::of(object, annotations::COMPARE_OPTIONS)
    }

    /// Whether `option` is there, word for word: `has("Prune=false")`.
    pub fn has(&self, option: &str) -> bool {
        self.0.iter().any(|word| word == option)
    }

    /// What stands behind `key=`, if anything does.
    pub fn value(&self, key: &str) -> Option<&str> {
        self.0.iter().find_map(|word| word.strip_prefix(key)?.strip_prefix('='))
    }

    /// The options in their order.
    pub fn iter(&self) -> impl Iterator<Item = &str> + Clone {
        self.0.iter().map(Str::as_str)
    }
}

/// The options of an application's `syncPolicy` or of one sync.
impl From<&[Str]> for Options {
    fn from(words: &[Str]) -> Self {
        Options(words.to_vec())
    }
}

/// Sync options by name, so that nobody misspells one.
pub mod sync {
    /// Do not fail the dry run for a kind that is not there yet.
    pub const SKIP_DRY_RUN_ON_MISSING_RESOURCE: &str = "SkipDryRunOnMissingResource=true";
    /// Do not validate against the schema.
    pub const DISABLE_VALIDATION: &str = "Validate=false";
    /// Delete after everything else is applied and healthy.
    pub const PRUNE_LAST: &str = "PruneLast=true";
    /// Replace instead of apply.
    pub const REPLACE: &str = "Replace=true";
    /// Apply even if the application says replace.
    pub const DISABLE_REPLACE: &str = "Replace=false";
    /// Delete and create again where a change is refused.
    pub const FORCE: &str = "Force=true";
    /// Apply on the server's side.
    pub const SERVER_SIDE_APPLY: &str = "ServerSideApply=true";
    /// Apply on the client's side even if the application says otherwise.
    pub const DISABLE_SERVER_SIDE_APPLY: &str = "ServerSideApply=false";
    /// Leave alone what is in sync.
    pub const APPLY_OUT_OF_SYNC_ONLY: &str = "ApplyOutOfSyncOnly=true";
    /// Apply everything even if the application says otherwise.
    pub const DISABLE_APPLY_OUT_OF_SYNC_ONLY: &str = "ApplyOutOfSyncOnly=false";
    /// Make the destination namespace.
    pub const CREATE_NAMESPACE: &str = "CreateNamespace=true";
    /// Fail when an object belongs to another application.
    pub const FAIL_ON_SHARED_RESOURCE: &str = "FailOnSharedResource=true";
    /// Apply with ignored differences as they are live.
    pub const RESPECT_IGNORE_DIFFERENCES: &str = "RespectIgnoreDifferences=true";
    /// Move a client's fields over to server-side apply.
    pub const CLIENT_SIDE_APPLY_MIGRATION: &str = "ClientSideApplyMigration=true";
    /// Do not move them.
    pub const DISABLE_CLIENT_SIDE_APPLY_MIGRATION: &str = "ClientSideApplyMigration=false";
    /// The key that says whether an object may be pruned: `false`, `confirm`.
    pub const PRUNE: &str = "Prune";
    /// The key that says whether an object goes with its application: `false`, `confirm`.
    pub const DELETE: &str = "Delete";
    /// The key that says how dependents of a pruned object go.
    pub const PRUNE_PROPAGATION_POLICY: &str = "PrunePropagationPolicy";
    /// The value that asks for confirmation first.
    pub const CONFIRM: &str = "confirm";
    /// The value that forbids.
    pub const FALSE: &str = "false";
}

/// Compare options by name.
pub mod compare {
    /// An object that is not in the source does not make the application OutOfSync.
    pub const IGNORE_EXTRANEOUS: &str = "IgnoreExtraneous";
    /// Compare by the server's dry run.
    pub const SERVER_SIDE_DIFF: &str = "ServerSideDiff=true";
    /// Compare on this side even if settings say otherwise.
    pub const DISABLE_SERVER_SIDE_DIFF: &str = "ServerSideDiff=false";
    /// Count what mutating webhooks change.
    pub const INCLUDE_MUTATION_WEBHOOK: &str = "IncludeMutationWebhook=true";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_trimmed_and_kept_once() {
        let options = Options::parse(" Prune=false, ,Replace=true,Prune=false");
        assert_eq!(options.iter().collect::<Vec<_>>(), ["Prune=false", "Replace=true"]);
        assert!(options.has("Prune=false"));
        assert_eq!(options.value("Replace"), Some("true"));
        assert_eq!(options.value("Rep"), None);
    }
}
