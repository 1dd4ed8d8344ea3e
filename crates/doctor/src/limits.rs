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
/// How long a chain is shown.
pub const CHAIN: usize = 40;
/// How many things that wait are looked at for all roots together: what thousands of causes have in common is not told for each.
pub const REACHED: usize = 2_000_000;
/// How many are looked at for each root whatever the others need.
pub const REACHED_BY_EACH: usize = 200;
/// The longest file of a ConfigMap that is searched for the services that it names, in bytes.
pub const SETTINGS: usize = 65_536;
/// How much has to wait for one thing before it is looked up once for all causes whose ways lead through it.
pub const GATE: usize = 16;
/// How many edges between the waves of one application are drawn; beyond it the application itself stands between them.
pub const WAVE_LINKS: usize = 4_096;
/// How long a sync may be under way before it is looked into.
pub const SYNC: jiff::SignedDuration = jiff::SignedDuration::from_mins(5);
