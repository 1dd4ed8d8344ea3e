//! An immutable file tree of one revision, the path jail, the read set, spans and diagnostics.

mod diagnostic;
mod path;
mod tree;

pub use diagnostic::{Diagnostic, Severity, Span};
pub use path::{FilePath, PathError};
pub use tree::{Entry, MemoryTree, ReadSet, Recorded, Tree, TreeError, follow_links};
