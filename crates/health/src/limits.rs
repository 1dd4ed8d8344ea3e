//! Every bound of this crate, in one place. Those of scripts are in `lynceus_lua::limits`.

/// How many customizations are read.
pub const CUSTOMIZATIONS: usize = 5_000;

/// How many actions one customization may define.
pub const ACTIONS: usize = 500;

/// How often a script may run into its limits before it is given up.
pub const STRIKES: u32 = 3;

/// How far the reasons of reasons are followed.
pub const REASON_DEPTH: usize = 8;

/// The most children of one object that are told of, after those that are alike were made one.
pub const REASON_CHILDREN: usize = 5;
