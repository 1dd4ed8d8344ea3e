//! What Go's libraries do that Helm shows to its users.

pub(crate) mod decode;
pub(crate) mod glob;
pub(crate) mod path;
pub(crate) mod pattern;
pub(crate) mod text;
