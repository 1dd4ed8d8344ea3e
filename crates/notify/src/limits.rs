//! The bounds of what this crate does, in one place.

use lynceus_gotmpl::Limits;

/// How many bytes the text of an expression may have.
pub const EXPRESSION_BYTES: usize = 64 << 10;

/// How many parts an expression may have, as in Argo CD.
pub const EXPRESSION_NODES: usize = 10_000;

/// How deep the parts of an expression may stand inside each other.
pub const EXPRESSION_DEPTH: usize = 1_000;

/// How many numbers a range may have, and how often `repeat` may repeat, as in Argo CD.
pub const RANGE: i64 = 1_000_000;

/// What the expressions of one trigger may use.
pub const EXPRESSION: Limits = Limits { steps: 2_000_000, bytes: 64 << 20, depth: 100 };

/// What the templates of one message may use.
pub const TEMPLATE: Limits = Limits { steps: 2_000_000, bytes: 64 << 20, depth: 100 };

/// How many bytes the parts of one message may have together.
pub const MESSAGE_BYTES: usize = 4 << 20;

/// How many entries the record of what was sent keeps, as Argo CD does.
pub const NOTIFIED: usize = 100;

/// How many bytes of an answer are read.
pub const ANSWER_BYTES: usize = 1 << 20;

/// How many characters of an answer are repeated in an error.
pub const TOLD_CHARACTERS: usize = 200;

/// How many threads and tokens of services are remembered.
pub const REMEMBERED: usize = 10_000;

/// How many pull requests of one commit are commented on.
pub const PULL_REQUESTS: usize = 30;

/// How often one delivery may ask in a row.
pub const ASKED: usize = 100;
