//! Bounds on what others may cost a write.

/// The timeout of a webhook that names none, in seconds.
pub(super) const TIMEOUT_SECONDS: i64 = 10;

/// Cost units that the match conditions of one webhook may use, as in Kubernetes.
pub(super) const CONDITION_BUDGET: u64 = 2_500_000;

/// Cost units that the expressions of one policy may use, as in Kubernetes.
pub(super) const POLICY_BUDGET: u64 = 10_000_000;

/// Pods that a namespace's new level is compared with, as in Kubernetes.
pub(super) const NAMESPACE_PODS: usize = 3_000;

/// Compiled expressions that are kept.
pub(super) const EXPRESSIONS: usize = 1_000;

/// The longest message that an expression may make for a refusal, as in Kubernetes.
pub(super) const MESSAGE_BYTES: usize = 5 * 1024;
