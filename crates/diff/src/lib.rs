//! Pairs desired objects with live ones and says what differs.

mod change;
mod changes;
mod compare;
mod error;
mod fields;
mod flip;
mod ignore;
mod jq;
mod kinds;
mod known_types;
mod limits;
mod mask;
mod normalize;
mod origin;
mod pair;
mod prediction;
mod reshape;
mod respect;
mod settings;
mod system;
pub mod text;
mod unchanged;

pub use change::{Change, ChangeSet, FieldChange, Origin, Update, Verdict, Why, Writer};
pub use changes::compare_all;
pub use compare::{Sides, sides};
pub use error::DiffError;
pub use flip::{Flip, Sighting, flip};
pub use ignore::{Ignore, Place, RuleError, RuleReport, RuleVerdict};
pub use known_types::{KnownTypes, UnknownType};
pub use mask::{is_secret, mask, unquoted};
pub use pair::{Pair, Pairs, Scope, pair};
pub use prediction::{ServerSide, to_predict};
pub use respect::respect;
pub use settings::{IgnoreStatus, Settings};
pub use system::{System, SystemError};
