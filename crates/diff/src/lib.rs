//! Pairs desired objects with live ones and says what differs.

mod change;
mod changes;
mod compare;
mod error;
mod fields;
mod ignore;
mod kinds;
mod known_types;
mod limits;
mod mask;
mod normalize;
mod pair;
mod reshape;
mod respect;
mod settings;
pub mod text;

pub use change::{Change, ChangeSet, FieldChange, Update, Verdict, Why, Writer};
pub use changes::compare_all;
pub use compare::{Sides, sides};
pub use error::DiffError;
pub use ignore::{Ignore, RuleError};
pub use known_types::{KnownTypes, UnknownType};
pub use mask::{is_secret, mask};
pub use pair::{Pair, Pairs, Scope, pair};
pub use respect::respect;
pub use settings::Settings;
