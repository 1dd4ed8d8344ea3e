//! Hooks: objects that run at a point of a sync instead of being part of the application.

use lynceus_object::Object;

use crate::annotations;
use crate::codes::SyncPhase;
use crate::options::Options;
use crate::word::{Word, words};

words! {
    /// When a hook runs.
    pub enum HookType: open {
        /// Before anything is applied.
        PreSync = "PreSync",
        /// With the application's own objects.
        Sync = "Sync",
        /// After all is applied and healthy.
        PostSync = "PostSync",
        /// Never: the object is left out.
        Skip = "Skip",
        /// When the sync has failed.
        SyncFail = "SyncFail",
        /// Before the application's objects are deleted.
        PreDelete = "PreDelete",
        /// After the application's objects are deleted.
        PostDelete = "PostDelete",
    }
}

impl HookType {
    /// The phase of a sync that the hook belongs to; `Skip` and the delete hooks have none.
    pub fn phase(self) -> Option<SyncPhase> {
        match self {
            Self::PreSync => Some(SyncPhase::PreSync),
            Self::Sync => Some(SyncPhase::Sync),
            Self::PostSync => Some(SyncPhase::PostSync),
            Self::SyncFail => Some(SyncPhase::SyncFail),
            Self::Skip | Self::PreDelete | Self::PostDelete => None,
        }
    }
}

words! {
    /// When a hook is deleted.
    pub enum HookDeletePolicy: open {
        /// When its phase has succeeded.
        HookSucceeded = "HookSucceeded",
        /// When its phase has failed.
        HookFailed = "HookFailed",
        /// Before it is made anew.
        BeforeHookCreation = "BeforeHookCreation",
    }
}

/// Whether an object is a hook of any sort, and so no part of the application itself.
///
/// An annotation with no word we know still makes a hook: one that never runs.
pub fn is_hook(object: &Object) -> bool {
    if object.annotation(annotations::HOOK).is_some() {
        return !is_skipped(object);
    }
    // Helm marks CRDs with the annotation of hooks, which they are not.
    object.annotation(annotations::HELM_HOOK).is_some_and(|value| value != "crd-install")
}

/// Whether an object is marked to be left out altogether.
pub fn is_skipped(object: &Object) -> bool {
    sync_types(object) == [HookType::Skip]
}

/// The points of a sync at which a hook runs. Argo CD's annotation wins over Helm's.
pub fn sync_types(object: &Object) -> Vec<HookType> {
    let own: Vec<HookType> = Options::of(object, annotations::HOOK)
        .iter()
        .filter_map(HookType::parse)
        .filter(|hook| !matches!(hook, HookType::PreDelete | HookType::PostDelete))
        .collect();
    if own.is_empty() {
        return Options::of(object, annotations::HELM_HOOK).iter().filter_map(of_helm).collect();
    }
    own
}

/// Whether a hook runs before its application's objects are deleted.
pub fn is_pre_delete(object: &Object) -> bool {
    has_word(object, annotations::HOOK, "PreDelete") || has_word(object, annotations::HELM_HOOK, "pre-delete")
}

/// Whether a hook runs after its application's objects are deleted.
pub fn is_post_delete(object: &Object) -> bool {
    has_word(object, annotations::HOOK, "PostDelete")
        || has_word(object, annotations::HELM_HOOK, "post-delete")
}

/// When a hook is deleted: the policies of both annotations, or the default.
pub fn delete_policies(object: &Object) -> Vec<HookDeletePolicy> {
    let own = Options::of(object, annotations::HOOK_DELETE_POLICY);
    let helm = Options::of(object, annotations::HELM_HOOK_DELETE_POLICY);
    let mut policies: Vec<HookDeletePolicy> = own
        .iter()
        .filter_map(HookDeletePolicy::parse)
        .chain(helm.iter().filter_map(policy_of_helm))
        .collect();
    if policies.is_empty() {
        policies.push(HookDeletePolicy::BeforeHookCreation);
    }
    policies
}

fn has_word(object: &Object, annotation: &str, word: &str) -> bool {
    object.annotation(annotation).is_some_and(|text| text.split(',').any(|item| item.trim() == word))
}

fn of_helm(word: &str) -> Option<HookType> {
    match word {
        "pre-install" | "pre-upgrade" => Some(HookType::PreSync),
        "post-install" | "post-upgrade" => Some(HookType::PostSync),
        _ => None,
    }
}

fn policy_of_helm(word: &str) -> Option<HookDeletePolicy> {
    match word {
        "before-hook-creation" => Some(HookDeletePolicy::BeforeHookCreation),
        "hook-succeeded" => Some(HookDeletePolicy::HookSucceeded),
        "hook-failed" => Some(HookDeletePolicy::HookFailed),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lynceus_object::{Gvk, Value};

    fn annotated(annotations: &[(&str, &str)]) -> Object {
        let mut object = Object::named(&Gvk::new("batch", "v1", "Job"), "shop", "migrate");
        for (key, value) in annotations {
            object.set_annotation(key, Value::from(*value));
        }
        object
    }

    fn phases(annotations: &[(&str, &str)]) -> Vec<SyncPhase> {
        sync_types(&annotated(annotations)).into_iter().filter_map(HookType::phase).collect()
    }

    #[test]
    fn argos_annotation_wins_over_helms() {
        assert_eq!(
            phases(&[(annotations::HOOK, "PostSync"), (annotations::HELM_HOOK, "pre-install")]),
            [SyncPhase::PostSync]
        );
    }

    #[test]
    fn helm_hooks_become_phases() {
        assert_eq!(
            phases(&[(annotations::HELM_HOOK, "pre-install,post-upgrade")]),
            [SyncPhase::PreSync, SyncPhase::PostSync]
        );
    }

    #[test]
    fn garbage_makes_a_hook_that_never_runs() {
        let object = annotated(&[(annotations::HOOK, "Whenever")]);
        assert!(is_hook(&object));
        assert_eq!(sync_types(&object), []);
        assert!(is_hook(&annotated(&[(annotations::HELM_HOOK, "test")])));
    }

    #[test]
    fn skip_alone_is_no_hook() {
        let object = annotated(&[(annotations::HOOK, "Skip")]);
        assert!(!is_hook(&object) && is_skipped(&object));
        assert!(is_hook(&annotated(&[(annotations::HOOK, "Skip,Sync")])));
    }

    #[test]
    fn helms_crd_install_is_an_ordinary_object() {
        assert!(!is_hook(&annotated(&[(annotations::HELM_HOOK, "crd-install")])));
    }

    #[test]
    fn delete_policies_of_both_kinds_add_up() {
        assert_eq!(delete_policies(&annotated(&[])), [HookDeletePolicy::BeforeHookCreation]);
        let object = annotated(&[
            (annotations::HOOK_DELETE_POLICY, "HookSucceeded"),
            (annotations::HELM_HOOK_DELETE_POLICY, "hook-failed"),
        ]);
        assert_eq!(delete_policies(&object), [HookDeletePolicy::HookSucceeded, HookDeletePolicy::HookFailed]);
    }

    #[test]
    fn delete_hooks_are_known_from_either_annotation() {
        assert!(is_pre_delete(&annotated(&[(annotations::HOOK, "PreSync, PreDelete")])));
        assert!(is_post_delete(&annotated(&[(annotations::HELM_HOOK, "post-delete")])));
    }
}
