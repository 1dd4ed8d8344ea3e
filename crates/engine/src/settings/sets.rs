//! What is set for all ApplicationSets.

use std::time::Duration;

use lynceus_api::{ApplicationSet, ApplicationsSyncPolicy, Word as _};
use lynceus_appset::plan::{Guard, Settings as PlanSettings};
use lynceus_object::Str;
use lynceus_source::ScmRules;

use super::keys;
use super::read::Reader;

/// What is set for all ApplicationSets.
#[derive(Clone, Debug)]
pub struct SetSettings {
    /// Whether they are worked on; none where the installation decides.
    pub enabled: Option<bool>,
    /// The namespaces beside the installation's own that they are taken from, as patterns.
    pub namespaces: Vec<Str>,
    /// Which hosts of repositories may be asked.
    pub scm: ScmRules,
    /// Whether only Secrets that are marked for it are sent to hosts.
    pub strict_tokens: bool,
    /// What may be done to Applications where a set does not say, or may not.
    pub policy: ApplicationsSyncPolicy,
    /// Whether a set may say.
    pub may_choose_policy: bool,
    /// Annotations of Applications that are always left alone.
    pub preserved_annotations: Vec<Str>,
    /// Labels of Applications that are always left alone.
    pub preserved_labels: Vec<Str>,
    /// How often repositories are looked at if a generator does not say.
    pub requeue: Duration,
    /// How many Applications the status lists.
    pub status_resources: Option<usize>,
    /// Whether steps are followed.
    pub rolling: bool,
    /// Whether nothing is written but the status.
    pub dry_run: bool,
    /// When deletions have to be confirmed.
    pub guard: Guard,
    /// How many sets are worked on at the same time.
    pub workers: usize,
}

impl SetSettings {
    pub(super) fn read(read: &mut Reader<'_>) -> Self {
        let policy = read.word(&keys::SET_POLICY);
        let overrides = read.choice(&keys::SET_POLICY_OVERRIDE);
        let percent = read.number(&keys::SET_GUARD_PERCENT).min(100);
        let count = |number: u32| usize::try_from(number).unwrap_or(usize::MAX);
        SetSettings {
            enabled: read.choice(&keys::SETS),
            namespaces: read.list(&keys::SET_NAMESPACES),
            scm: ScmRules {
                enabled: read.switch(&keys::SET_SCM),
                allowed: read.list(&keys::SET_SCM_ALLOWED),
                authority_file: read.text(&keys::SET_SCM_AUTHORITY),
            },
            strict_tokens: read.switch(&keys::SET_STRICT_TOKENS),
            policy: ApplicationsSyncPolicy::parse(policy).unwrap_or(ApplicationsSyncPolicy::Sync),
            // A policy that somebody has set for all is not to be got round, as in Argo CD.
            may_choose_policy: overrides.unwrap_or(policy.is_empty()),
            preserved_annotations: read.list(&keys::SET_ANNOTATIONS),
            preserved_labels: read.list(&keys::SET_LABELS),
            requeue: read.duration(&keys::SET_REQUEUE),
            status_resources: Some(count(read.number(&keys::SET_STATUS))),
            rolling: read.switch(&keys::SET_ROLLING),
            dry_run: read.switch(&keys::SET_DRY_RUN),
            guard: Guard {
                percent: u8::try_from(percent).unwrap_or(100),
                few: count(read.number(&keys::SET_GUARD_FEW)),
            },
            workers: count(read.number(&keys::SET_WORKERS)).clamp(1, 100),
        }
    }

    /// What a plan is made by.
    pub(crate) fn plan(&self) -> PlanSettings {
        PlanSettings {
            policy: self.policy,
            may_choose_policy: self.may_choose_policy,
            preserved_annotations: self.preserved_annotations.clone(),
            preserved_labels: self.preserved_labels.clone(),
            guard: self.guard,
            confirmed: None,
        }
    }

    /// Whether the Applications of a set may be deleted.
    pub(crate) fn allows_delete(&self, set: &ApplicationSet) -> bool {
        let own = set.spec.sync_policy.as_ref().and_then(|policy| policy.applications_sync.as_ref());
        let own = own.filter(|_| self.may_choose_policy).and_then(|word| word.known());
        let policy = own.unwrap_or(self.policy);
        matches!(policy, ApplicationsSyncPolicy::Sync | ApplicationsSyncPolicy::CreateDelete)
    }
}
