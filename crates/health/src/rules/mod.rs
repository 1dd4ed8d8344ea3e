//! Checks as data: `data/checks.txt`, read once.
//!
//! The file has one stanza per check. A stanza begins with the kinds it is for, as `group/Kind`, where `*` stands for
//! anything; the lines below it are tried from the top until one says something.
//!
//! ```text
//! cert-manager.io/Issuer
//!   conditions
//!     Ready=False -> Degraded {message}
//!     Ready=True -> Healthy {message}
//!   -> Progressing Initializing issuer
//! ```
//!
//! - `TESTS -> STATUS MESSAGE`: if the tests hold, this is the health. `none` as status: the object has no health.
//! - `.status.phase=Running|Ready`: a field of the object is one of these. Also `!=`, `<`, `>`, `<=`, `>=` and `^=` (begins
//!   with). A value may be another field, `.metadata.generation`, and quoted if it has spaces.
//! - `.status.phase` alone: it is there; `!.status.phase`: it is not; `.spec.paused?`: it is there and not false;
//!   `#.spec.clusters`: how many items it has.
//! - `Ready=True`: there is a condition of this type with this status. `reason=…` and other fields after it are of the same
//!   condition, and so are the fields of the message. `&` begins tests of another condition, and `no` says that there is
//!   none such. A value `@field` is another field of the condition.
//! - `conditions`: the lines below are tried on each condition in turn; `each .status.nodes` does so for any list or map;
//!   `last` behind it begins with the last. There, `skip` as status goes on with the next item.
//! - `when TESTS`: the lines below are tried if the tests hold.
//! - `define NAME` and `use NAME`: lines that several checks share.
//!
//! In a message `{message}` is a field of the condition and `{.status.phase}` one of the object; `{message|reason|'text'}`
//! takes the first that there is, `{Synced.reason}` is a field of the condition of that type, `{message?|…}` passes over an empty one as well; `{': 'message}` puts a text before it if
//! it is there; `{.kind:lower}` and `{.status.messages:join}` write it in another form.

mod evaluate;
mod model;
mod parse;

use std::collections::HashMap;
use std::sync::LazyLock;

use lynceus_object::Object;

use crate::Health;
use model::Step;

pub(crate) use evaluate::plain;
pub(crate) use parse::{path, words};

/// Every check of the file.
static CHECKS: LazyLock<Table> = LazyLock::new(|| parse::table(include_str!("../../data/checks.txt")).0);

/// The checks by kind.
#[derive(Default)]
struct Table {
    exact: HashMap<Box<str>, HashMap<Box<str>, usize>>,
    /// Groups that begin with `*`, by what follows it; any kind.
    wide: Vec<(Box<str>, usize)>,
    /// Groups of which any kind has the check.
    groups: HashMap<Box<str>, usize>,
    checks: Vec<Vec<Step>>,
}

impl Table {
    fn find(&self, group: &str, kind: &str) -> Option<&[Step]> {
        let index = self
            .exact
            .get(group)
            .and_then(|kinds| kinds.get(kind))
            .or_else(|| self.groups.get(group))
            .or_else(|| self.wide.iter().find(|(end, _)| group.ends_with(&**end)).map(|(_, index)| index))?;
        self.checks.get(*index).map(Vec::as_slice)
    }
}

/// What the check of an object's kind says of it. The outer option is whether there is a check.
pub(crate) fn judge(object: &Object) -> Option<Option<Health>> {
    let steps = CHECKS.find(object.group(), object.kind())?;
    Some(evaluate::judge(steps, object.value()))
}

/// Tests that stand outside of a check: when an action can be run.
#[derive(Clone, Debug)]
pub(crate) struct Tests(Vec<model::Group>);

impl Tests {
    /// Reads tests as they stand before an arrow.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        parse::groups(text).map(Tests)
    }

    /// Whether all of them hold for an object.
    pub(crate) fn hold(&self, object: &Object) -> bool {
        evaluate::holds_all(&self.0, object.value())
    }
}

#[cfg(test)]
mod tests;
