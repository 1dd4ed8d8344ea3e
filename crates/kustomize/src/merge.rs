//! A strategic merge patch, merged into a resource the way Kustomize does it.
//!
//! Kustomize walks through the whole resource, not only through what the patch names. On the way nulls that are left out
//! vanish, and lists with merge keys lose items that repeat a key. A value that only the patch has is merged with itself,
//! which carries out the directives in it and drops its nulls.

mod directive;
mod list;
mod settled;
#[cfg(test)]
mod tests;

use lynceus_object::{Map, Str, Value};

use self::directive::Directive;
use crate::error::KustomizeError;
use crate::id::Kind;
use crate::read::{self, REPEATED};
use crate::scalar::wrong_node;
use crate::schema::{Known, Schema};
use crate::written::{Step, Written};

/// What becomes of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    /// It stays, as it is now.
    Kept,
    /// It is taken out.
    Dropped,
}

/// Merges a patch into a resource. `Dropped` means that the patch deletes the resource.
pub(crate) fn merge(
    dest: &mut Value,
    dest_written: &Written,
    patch: &mut Value,
    patch_written: &Written,
    schema: &Schema,
) -> Result<Fate, KustomizeError> {
    let mut merger = Merger { schema, dest_written, patch_written, path: Vec::new() };
    let known = merger.guess(dest).or_else(|| merger.guess(patch));
    let (Value::Map(fields), Value::Map(patch)) = (dest, patch) else {
        return Err(KustomizeError::new("a strategic merge patch and what it patches have to be objects"));
    };
    match Directive::take_from_map(patch)? {
        Directive::Delete => Ok(Fate::Dropped),
        // Replacing a whole resource does nothing: Kustomize loses what it makes of it.
        Directive::Replace => Ok(Fate::Kept),
        Directive::Merge => {
            let repeats = read::repeats(patch);
            merger.fields(fields, Fields::Other(patch), known)?;
            if repeats && read::repeats(fields) {
                return Err(KustomizeError::new("yaml: unmarshal errors: mapping key already defined")
                    .hint("a map that the patch adds has a key twice"));
            }
            Ok(Fate::Kept)
        }
    }
}

/// What a value is merged with.
enum Origin<'o> {
    /// Nothing: the patch does not have it.
    Nothing,
    /// Itself: only the patch has it.
    Same,
    /// The value at the same place of the patch.
    Other(&'o mut Value),
}

struct Merger<'a> {
    schema: &'a Schema,
    dest_written: &'a Written,
    patch_written: &'a Written,
    path: Vec<Step>,
}

/// What the fields of a map are merged with.
enum Fields<'o> {
    Nothing,
    Same,
    Other(&'o mut Map),
}

impl<'a> Merger<'a> {
    /// Merges into a value that is there, be it null.
    fn visit(
        &mut self,
        dest: &mut Value,
        origin: Origin<'_>,
        known: Option<Known<'a>>,
    ) -> Result<Fate, KustomizeError> {
        let known = known.or_else(|| self.guess(dest)).or_else(|| match &origin {
            Origin::Other(other) => self.guess(other),
            Origin::Nothing | Origin::Same => None,
        });
        match (dest, origin) {
            (Value::Null, Origin::Nothing) => {
                Ok(if self.dest_written.is_left_out(&self.path) { Fate::Dropped } else { Fate::Kept })
            }
            (Value::Null, Origin::Same) | (_, Origin::Other(Value::Null)) => Ok(Fate::Dropped),
            (dest @ Value::Null, Origin::Other(other)) => {
                match self.added(std::mem::take(other), known)? {
                    Some(value) => *dest = value,
                    None => return Ok(Fate::Dropped),
                }
                Ok(Fate::Kept)
            }
            (Value::Map(dest), origin) => self.visit_map(dest, origin, known),
            (dest @ Value::Seq(_), origin) => self.visit_list(dest, origin, known),
            (_, Origin::Nothing | Origin::Same) => Ok(Fate::Kept),
            (_, Origin::Other(other @ (Value::Map(_) | Value::Seq(_)))) => {
                Err(self.wrong_kind("ScalarNode", other))
            }
            (dest, Origin::Other(other)) => {
                self.replace_scalar(dest, std::mem::take(other));
                Ok(Fate::Kept)
            }
        }
    }

    /// What becomes of a value that only the patch has.
    fn added(&mut self, mut value: Value, known: Option<Known<'a>>) -> Result<Option<Value>, KustomizeError> {
        let known = known.or_else(|| self.guess(&value));
        match &mut value {
            Value::Null => return Ok(None),
            Value::Map(fields) => {
                // An unknown directive is an error everywhere but here, where it stays as it is.
                if let Ok(Directive::Delete) = Directive::take_from_map(fields) {
                    return Ok(None);
                }
                self.fields(fields, Fields::Same, known)?;
            }
            Value::Seq(items) => {
                if let Some(keys) = known.and_then(|known| known.merge_keys()) {
                    self.list(items, list::Items::Same, known, &keys)?;
                }
            }
            _ => {}
        }
        Ok(Some(value))
    }

    fn visit_map(
        &mut self,
        dest: &mut Map,
        origin: Origin<'_>,
        known: Option<Known<'a>>,
    ) -> Result<Fate, KustomizeError> {
        match origin {
            Origin::Nothing => self.fields(dest, Fields::Nothing, known)?,
            Origin::Same => {
                if Directive::take_from_map(dest)? == Directive::Delete {
                    return Ok(Fate::Dropped);
                }
                self.fields(dest, Fields::Same, known)?;
            }
            Origin::Other(Value::Map(other)) => match Directive::take_from_map(other)? {
                Directive::Delete => return Ok(Fate::Dropped),
                Directive::Replace => {
                    *dest = std::mem::take(other);
                    self.fields(dest, Fields::Same, known)?;
                }
                Directive::Merge => self.fields(dest, Fields::Other(other), known)?,
            },
            Origin::Other(other) => return Err(self.wrong_kind("MappingNode", other)),
        }
        Ok(Fate::Kept)
    }

    fn visit_list(
        &mut self,
        dest: &mut Value,
        origin: Origin<'_>,
        known: Option<Known<'a>>,
    ) -> Result<Fate, KustomizeError> {
        let Value::Seq(items) = dest else { return Ok(Fate::Kept) };
        if let Origin::Other(
            other @ (Value::Map(_) | Value::Bool(_) | Value::Str(_) | Value::Int(_) | Value::Float(_)),
        ) = &origin
        {
            return Err(self.wrong_kind("SequenceNode", other));
        }
        let Some(keys) = known.and_then(|known| known.merge_keys()) else {
            // A list without keys is replaced whole.
            if let Origin::Other(other) = origin {
                *dest = std::mem::take(other);
            }
            return Ok(Fate::Kept);
        };
        let (directive, other) = match origin {
            Origin::Nothing => (Directive::Merge, list::Items::Nothing),
            Origin::Same => (Directive::take_from_list(items)?, list::Items::Same),
            Origin::Other(Value::Seq(other)) => {
                (Directive::take_from_list(other)?, list::Items::Other(other))
            }
            Origin::Other(_) => (Directive::Delete, list::Items::Nothing),
        };
        match (directive, other) {
            (Directive::Delete, _) => return Ok(Fate::Dropped),
            (Directive::Replace, list::Items::Other(other)) => {
                *items = std::mem::take(other);
                self.list(items, list::Items::Same, known, &keys)?;
            }
            (_, other) => self.list(items, other, known, &keys)?,
        }
        Ok(Fate::Kept)
    }

    /// Merges the fields of a map, in the order of their names.
    fn fields(
        &mut self,
        dest: &mut Map,
        mut origin: Fields<'_>,
        known: Option<Known<'a>>,
    ) -> Result<(), KustomizeError> {
        if let Fields::Other(other) = &mut origin {
            other.remove(REPEATED);
        }
        for name in names(dest, &origin) {
            let field = known.and_then(|known| self.schema.field(known, &name));
            let origin = match &mut origin {
                Fields::Other(other) => other.get_mut(&name).map_or(Origin::Nothing, Origin::Other),
                Fields::Same => Origin::Same,
                Fields::Nothing => Origin::Nothing,
            };
            if matches!(origin, Origin::Nothing)
                && dest.get(&name).is_none_or(|value| self.is_settled(value, field))
            {
                continue;
            }
            self.path.push(Step::Field(name.clone()));
            match (dest.get_mut(&name), origin) {
                (Some(value), origin) => {
                    if self.visit(value, origin, field)? == Fate::Dropped {
                        dest.remove(&name);
                    }
                }
                (None, Origin::Other(other)) => {
                    if let Some(value) = self.added(std::mem::take(other), field)? {
                        dest.insert(name, value);
                    }
                }
                (None, _) => {}
            }
            self.path.pop();
        }
        Ok(())
    }

    /// Puts a scalar in the place of another, which keeps its quotes: a number in quotes is a string.
    fn replace_scalar(&self, dest: &mut Value, new: Value) {
        let becomes_text = !matches!(new, Value::Str(_)) && self.dest_written.is_quoted(&self.path, dest);
        *dest = if becomes_text { Value::Str(self.patch_written.text(&self.path, &new)) } else { new };
    }

    /// What is known of a value by the kind that stands in it.
    fn guess(&self, value: &Value) -> Option<Known<'a>> {
        let kind = value.str_at(&["kind"]).filter(|kind| !kind.is_empty())?;
        let api_version = value.str_at(&["apiVersion"]).filter(|version| !version.is_empty())?;
        self.schema.of_kind(&Kind::new(api_version, kind))
    }

    fn wrong_kind(&self, wanted: &str, found: &Value) -> KustomizeError {
        wrong_node(wanted, found).context(format!("at {}", self.place()))
    }

    /// Where the merge is, for messages.
    fn place(&self) -> String {
        let mut place = String::new();
        for step in &self.path {
            match step {
                Step::Field(name) if place.is_empty() => place.push_str(name),
                Step::Field(name) => {
                    place.push('.');
                    place.push_str(name);
                }
                Step::Index(at) => place.push_str(&format!("[{at}]")),
                Step::Item(keys, values) => {
                    let pairs: Vec<String> =
                        keys.iter().zip(values).map(|(key, value)| format!("{key}={value}")).collect();
                    place.push_str(&format!("[{}]", pairs.join(",")));
                }
            }
        }
        place
    }
}

/// The names of the fields of both, in order.
fn names(dest: &Map, origin: &Fields<'_>) -> Vec<Str> {
    let mut names: Vec<Str> = dest.keys().cloned().collect();
    if let Fields::Other(other) = origin {
        let before = names.len();
        names.extend(other.keys().filter(|name| !dest.contains(name)).cloned());
        if names.len() > before {
            names.sort_unstable();
        }
    }
    names
}
