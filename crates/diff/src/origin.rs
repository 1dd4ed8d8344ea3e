//! How a difference seems to have come about.

use std::cell::OnceCell;

use lynceus_api::{FIELD_MANAGER, annotations};
use lynceus_object::{FieldPath, Object, Value, defaults, json};

use crate::change::{Origin, Writer};
use crate::kinds::Known;

/// What an object tells about its differences; worked out only if there are any.
pub(crate) struct Clues<'a> {
    desired: &'a Object,
    /// The live object as the server has it.
    pub(crate) live: &'a Object,
    /// Whether what is desired has been applied before.
    applied: bool,
    last_applied: OnceCell<Option<Value>>,
    filled_in: OnceCell<Option<Object>>,
}

impl<'a> Clues<'a> {
    pub(crate) fn new(desired: &'a Object, live: &'a Object, applied: bool) -> Self {
        Clues { desired, live, applied, last_applied: OnceCell::new(), filled_in: OnceCell::new() }
    }

    /// The origin of one differing field.
    pub(crate) fn origin(&self, path: &FieldPath, writer: Option<&Writer>) -> Origin {
        let live = path.get(self.live.value());
        let desired = path.get(self.desired.value());
        if writer.is_some_and(|writer| !is_ours(writer)) {
            return Origin::Writer;
        }
        if let Some(last) = self.last_applied() {
            // What stands there is what we wrote: it is the source that is another now.
            if path.get(last) == live {
                return Origin::Source;
            }
            if path.get(last) != desired {
                return Origin::Source;
            }
        }
        match (desired, live) {
            (None, Some(value)) if self.is_filled_in(path, value, writer) => Origin::Default,
            (_, None) if self.applied => Origin::Admission,
            (_, None) => Origin::Source,
            _ if self.last_applied().is_some() || self.applied => Origin::Admission,
            (Some(_), Some(_)) => Origin::Source,
            (None, Some(_)) => Origin::Unknown,
        }
    }

    fn last_applied(&self) -> Option<&Value> {
        let read = || json::parse(self.live.annotation(annotations::LAST_APPLIED)?.as_bytes()).ok();
        self.last_applied.get_or_init(read).as_ref()
    }

    /// Whether the server gives the field this value where nobody says anything. What it does for custom kinds is not
    /// known; there it is a field that nobody wrote.
    fn is_filled_in(&self, path: &FieldPath, value: &Value, writer: Option<&Writer>) -> bool {
        let fill_in = || {
            let known = Known::of(self.desired)?;
            let mut object = self.desired.clone();
            defaults::fill_in(&known.gvk, &mut object);
            Some(object)
        };
        match self.filled_in.get_or_init(fill_in) {
            Some(object) => path.get(object.value()) == Some(value),
            None => writer.is_none(),
        }
    }
}

/// Whether a writer is us, or was there before anyone told writers apart.
fn is_ours(writer: &Writer) -> bool {
    matches!(writer.manager.as_str(), FIELD_MANAGER | "before-first-apply" | "kubectl-client-side-apply")
}
