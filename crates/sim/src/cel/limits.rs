//! Bounds on expressions.

/// Characters in one expression, as in Kubernetes' CEL environment.
pub(super) const EXPRESSION_CHARS: usize = 100_000;

/// Levels of nesting while parsing; the original allows 250.
pub(super) const NESTING: usize = 60;

/// Levels of nesting while checking and running; a long sum nests to the left.
pub(super) const DEPTH: usize = 200;
