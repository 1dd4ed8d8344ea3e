//! How much of a definition or of a custom resource is looked at before it is refused.

/// Levels of nesting in a schema; the original has no bound but the request size.
pub(crate) const SCHEMA_DEPTH: usize = 100;

/// Cost units that all rules of one object may use together, as in Kubernetes.
pub(crate) const RULES_BUDGET: u64 = 10_000_000;

/// Cost units that one evaluation of a rule may use, as in Kubernetes.
pub(crate) const RULE_BUDGET: u64 = 1_000_000;

/// Bytes of a message that a `messageExpression` may make, as in Kubernetes.
pub(crate) const RULE_MESSAGE_BYTES: usize = 5 * 1024;

/// Selectable fields per version, as in Kubernetes.
pub(crate) const SELECTABLE_FIELDS: usize = 8;
