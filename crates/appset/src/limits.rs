//! The bounds of what one ApplicationSet may come to, in one place.

/// How many sets of parameters a generator may give. A matrix multiplies them.
pub const ELEMENTS: usize = 20_000;

/// How many all generators of one ApplicationSet may give, those inside of others counted each time that they are asked.
pub const INNER_ELEMENTS: usize = 10 * ELEMENTS;

/// How many bytes a file with parameters may have.
pub const FILE_BYTES: u64 = 4 << 20;

/// How many files and directories of a repository are looked at.
pub const TREE_ENTRIES: usize = 1_000_000;

/// How deep the directories of a repository may nest.
pub const TREE_DEPTH: usize = 256;

/// How deep maps and lists may nest in parameters and templates.
pub const DEPTH: usize = 256;

/// How many bytes a text that a template gives may have.
pub const TEXT_BYTES: usize = 4 << 20;

/// How many faults are told; more of them say nothing new.
pub const FAULTS: usize = 50;

/// How many applications are listed in the status by default: what Argo CD lists, and within what etcd takes.
pub const STATUS_RESOURCES: usize = 5_000;

/// How many bytes the status may have in all. etcd takes 1.5 MiB for the whole object.
pub const STATUS_BYTES: usize = 1_000_000;

/// How many bytes the message of a condition may have.
pub const MESSAGE_BYTES: usize = 4_096;

/// How large an expression of a filter may become when it is compiled.
pub const EXPRESSION_BYTES: usize = 1 << 20;
