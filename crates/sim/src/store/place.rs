//! Where objects are kept.

use std::borrow::Borrow;
use std::hash::{Hash, Hasher};

use lynceus_object::Str;

/// Where the objects of a kind are kept, whatever version they are read in.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    /// The API group.
    pub group: Str,
    /// The plural name.
    pub resource: Str,
}

impl Place {
    /// Names a place.
    pub fn new(group: impl Into<Str>, resource: impl Into<Str>) -> Self {
        Place { group: group.into(), resource: resource.into() }
    }
}

/// Whatever names a place, so that a map by places can be asked with two borrowed names: every write asks several times.
pub(super) trait Named {
    /// The group and the resource.
    fn names(&self) -> (&str, &str);
}

impl Named for Place {
    fn names(&self) -> (&str, &str) {
        (&self.group, &self.resource)
    }
}

impl Named for (&str, &str) {
    fn names(&self) -> (&str, &str) {
        *self
    }
}

impl<'a> Borrow<dyn Named + 'a> for Place {
    fn borrow(&self) -> &(dyn Named + 'a) {
        self
    }
}

/// As that of a [`Place`].
impl Hash for dyn Named + '_ {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.names().hash(state);
    }
}

impl PartialEq for dyn Named + '_ {
    fn eq(&self, other: &Self) -> bool {
        self.names() == other.names()
    }
}

impl Eq for dyn Named + '_ {}
