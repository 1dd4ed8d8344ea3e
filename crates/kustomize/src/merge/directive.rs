//! What a patch says is to be done with what it meets, in a field `$patch`.

use lynceus_object::{Map, Seq, Value};

use super::list;
use crate::error::KustomizeError;
use crate::scalar::text_of;

const KEY: &str = "$patch";

/// What is to be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Directive {
    Merge,
    Replace,
    Delete,
}

impl Directive {
    fn read(text: &str) -> Result<Self, KustomizeError> {
        match text {
            "merge" => Ok(Directive::Merge),
            "replace" => Ok(Directive::Replace),
            "delete" => Ok(Directive::Delete),
            other => Err(KustomizeError::new(format!("unknown patch strategy '{other}'"))
                .hint("$patch is merge, replace or delete")),
        }
    }

    /// Takes the directive out of a map; without one it is merged.
    pub(super) fn take_from_map(map: &mut Map) -> Result<Self, KustomizeError> {
        let Some(value) = map.get(KEY) else { return Ok(Directive::Merge) };
        let directive = Directive::read(&text_of(value))?;
        map.remove(KEY);
        Ok(directive)
    }

    /// Whether a map says that it is to be replaced.
    pub(super) fn is_replace(value: &Value) -> bool {
        value.get(KEY).is_some_and(|value| text_of(value) == "replace")
    }

    /// Takes the directive out of a list: an item that is nothing but it.
    pub(super) fn take_from_list(items: &mut Seq) -> Result<Self, KustomizeError> {
        let found = items.iter().find_map(|item| match item {
            Value::Map(fields) => fields.get(KEY).map(|value| (fields.len(), value)),
            _ => None,
        });
        let Some((1, value)) = found else { return Ok(Directive::Merge) };
        let text = text_of(value);
        let directive = Directive::read(&text)?;
        let mut rest: Vec<Value> = std::mem::take(items).into_iter().collect();
        list::set_element(&mut rest, None, &[KEY.into()], &[text])?;
        *items = rest.into_iter().collect();
        Ok(directive)
    }
}
