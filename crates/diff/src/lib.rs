//! Pairs desired objects with live ones and says what differs.

mod change;
mod error;
mod pair;

pub use change::{Change, ChangeSet, FieldChange, Update, Verdict, Why, Writer};
pub use error::DiffError;
pub use pair::{Pair, Pairs, Scope, pair};
