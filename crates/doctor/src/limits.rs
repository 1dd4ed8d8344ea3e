//! What the doctor bounds.

/// The longest value that is quoted as evidence, in characters.
pub const QUOTE: usize = 240;
/// How many things of one sort are named before the rest is counted.
pub const NAMED: usize = 4;
/// How deep a custom resource is searched for what it names.
pub const REFERENCE_DEPTH: usize = 12;
/// How many evidences one finding keeps.
pub const EVIDENCE: usize = 8;
/// How many owners are followed upwards from an object.
pub const OWNERS: usize = 12;
