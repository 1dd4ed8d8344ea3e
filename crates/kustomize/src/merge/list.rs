//! Lists whose items are told apart by keys.
//!
//! What happens with items that lack a key or repeat one follows from how Kustomize looks them up, replaces and appends
//! them one by one, so that these steps are the same here. They cost the square of the length of one list; lists that
//! need nothing done to them do not come here.

use std::collections::HashSet;

use lynceus_object::{Seq, Str, Value};

use super::directive::Directive;
use super::{Fate, Merger, Origin};
use crate::error::KustomizeError;
use crate::scalar::{meaning, text_of, wrong_node};
use crate::schema::Known;
use crate::written::Step;

/// What the items of a list are merged with.
pub(super) enum Items<'o> {
    Nothing,
    Same,
    Other(&'o mut Seq),
}

/// The texts of an item's keys; empty where it lacks one.
type Texts = Vec<Str>;

impl<'a> Merger<'a> {
    /// Merges the items of a list. Without keys they are scalars, told apart by their text.
    pub(super) fn list(
        &mut self,
        dest: &mut Seq,
        mut origin: Items<'_>,
        known: Option<Known<'a>>,
        keys: &[Str],
    ) -> Result<(), KustomizeError> {
        let no_key = [Str::new()];
        let keys = if keys.is_empty() { &no_key[..] } else { keys };
        let item_known = known.and_then(|known| self.schema.items(known));
        let all = all_texts(dest, &origin, keys);
        if all.is_empty() {
            return Ok(());
        }
        let used = used_keys(&all, keys);
        let used_names: Vec<Str> = used.iter().map(|at| keys[*at].clone()).collect();
        let mut items: Vec<Value> = std::mem::take(dest).into_iter().collect();
        let mut merged: Vec<Value> = Vec::with_capacity(items.len());
        for texts in &all {
            let used_texts: Texts = used.iter().map(|at| texts[*at].clone()).collect();
            let Some(value) = self.item(&mut items, &mut origin, item_known, &used_names, &used_texts)?
            else {
                set_element(&mut items, None, &used_names, &used_texts)?;
                continue;
            };
            set_element(&mut merged, Some(&value), &used_names, &used_texts)?;
        }
        append(&mut merged, items, &used_names)?;
        *dest = merged.into_iter().collect();
        Ok(())
    }

    /// Merges the items of both lists that have these keys; nothing is left if they vanish.
    fn item(
        &mut self,
        items: &mut [Value],
        origin: &mut Items<'_>,
        known: Option<Known<'a>>,
        keys: &[Str],
        texts: &Texts,
    ) -> Result<Option<Value>, KustomizeError> {
        let given: Vec<usize> = (0..texts.len()).filter(|at| !texts[*at].is_empty()).collect();
        let (by, wanted): (Vec<Str>, Texts) = if given.is_empty() {
            (keys.to_vec(), texts.clone())
        } else {
            given.iter().map(|at| (keys[*at].clone(), texts[*at].clone())).unzip()
        };
        let mine = find(items, &by, &wanted);
        let alone = if matches!(origin, Items::Same) { Origin::Same } else { Origin::Nothing };
        let other = match origin {
            Items::Other(other) => find(other, &by, &wanted).and_then(|at| other.make_mut().get_mut(at)),
            Items::Nothing | Items::Same => None,
        };
        let is_merged = !other.as_deref().is_some_and(Directive::is_replace);
        self.path.push(Step::Item(by, wanted));
        let value = match (mine, other) {
            (None, None) => None,
            (None, Some(other)) => self.added_item(other, known)?,
            // The item of the patch is taken for this one, but not put into its place: what stands there comes back.
            (Some(_), Some(other)) if Directive::is_replace(other) => self.added_item(other, known)?,
            (Some(at), other) => {
                let origin = other.map_or(alone, Origin::Other);
                (self.visit(&mut items[at], origin, known)? == Fate::Kept).then(|| items[at].clone())
            }
        };
        self.path.pop();
        let Some(mut value) = value.filter(|value| !is_nothing(value)) else { return Ok(None) };
        if let Value::Map(fields) = &mut value {
            for (key, text) in keys.iter().zip(texts) {
                if !text.is_empty() && !fields.contains(key) {
                    fields.insert(key.clone(), meaning(text));
                }
            }
            if let Some(at) = mine.filter(|_| is_merged) {
                items[at] = value.clone();
            }
        }
        Ok(Some(value))
    }

    /// An item of the patch alone. The patch keeps it as it is then, without its directive: it may be met again.
    fn added_item(
        &mut self,
        item: &mut Value,
        known: Option<Known<'a>>,
    ) -> Result<Option<Value>, KustomizeError> {
        if let Value::Map(fields) = item
            && let Ok(Directive::Delete) = Directive::take_from_map(fields)
        {
            return Ok(None);
        }
        let added = self.added(std::mem::take(item), known)?;
        *item = added.clone().unwrap_or_default();
        Ok(added)
    }
}

/// The texts of the keys of all items, those of the patch first, each once.
fn all_texts(dest: &Seq, origin: &Items<'_>, keys: &[Str]) -> Vec<Texts> {
    let of_item = |item: &Value| -> Texts {
        if keys[0].is_empty() {
            return vec![text_of(item)];
        }
        keys.iter().map(|key| item.get(key).map(text_of).unwrap_or_default()).collect()
    };
    let first: &[Value] = match origin {
        Items::Other(other) => other,
        Items::Nothing | Items::Same => &[],
    };
    let mut seen = HashSet::new();
    let mut all: Vec<Texts> = first.iter().chain(dest.iter()).map(of_item).collect();
    all.retain(|texts| seen.insert(texts.clone()));
    if keys.len() > 1 {
        unite(&mut all);
    }
    all
}

/// Makes texts the same that differ only where one of them lacks a key: a port without a protocol is the one with it.
fn unite(all: &mut [Texts]) {
    for first in 0..all.len() {
        // What is compared is as it was before this round, even where it has been united meanwhile.
        let texts = all[first].clone();
        for second in 0..all.len() {
            if let Some(united) = united(&texts, &all[second]) {
                all[first] = united.clone();
                all[second] = united;
            }
        }
    }
}

fn united(first: &Texts, second: &Texts) -> Option<Texts> {
    let mut has_common = false;
    let mut united = Texts::with_capacity(first.len());
    for (a, b) in first.iter().zip(second) {
        if a == b {
            has_common = true;
        } else if !a.is_empty() && !b.is_empty() {
            return None;
        }
        united.push(if a.is_empty() { b.clone() } else { a.clone() });
    }
    has_common.then_some(united)
}

/// The keys that any item has; all of them if none has any.
pub(super) fn used_keys(all: &[Texts], keys: &[Str]) -> Vec<usize> {
    let used: Vec<usize> =
        (0..keys.len()).filter(|at| all.iter().any(|texts| !texts[*at].is_empty())).collect();
    if used.is_empty() { (0..keys.len()).collect() } else { used }
}

/// The first item whose keys have these texts.
fn find(items: &[Value], keys: &[Str], texts: &[Str]) -> Option<usize> {
    if keys.first().is_none_or(|key| key.is_empty()) {
        let wanted = texts.first()?;
        return items.iter().position(|item| text_of(item) == *wanted);
    }
    items.iter().position(|item| {
        matches!(item, Value::Map(_))
            && keys
                .iter()
                .zip(texts)
                .all(|(key, text)| item.get(key).is_some_and(|value| text_of(value) == *text))
    })
}

/// Puts an element in the place of those with the same keys, or at the end; or takes those out.
///
/// An empty text matches whatever has the key. Items that are null or empty are lost, and so are all others if there
/// are no texts.
pub(super) fn set_element(
    items: &mut Vec<Value>,
    element: Option<&Value>,
    keys: &[Str],
    texts: &[Str],
) -> Result<(), KustomizeError> {
    let wants_maps = [keys, texts].iter().all(|list| list.first().is_some_and(|first| !first.is_empty()));
    let mut found_any = false;
    let mut out = Vec::with_capacity(items.len() + 1);
    for item in items.drain(..) {
        if is_nothing(&item) {
            continue;
        }
        if wants_maps && !matches!(item, Value::Map(_)) {
            out.push(item);
            continue;
        }
        if !has_keys(&item, keys, texts)? {
            if !texts.is_empty() {
                out.push(item);
            }
            continue;
        }
        found_any = true;
        out.extend(element.cloned());
    }
    if !found_any {
        out.extend(element.filter(|element| !element.is_null()).cloned());
    }
    *items = out;
    Ok(())
}

fn has_keys(item: &Value, keys: &[Str], texts: &[Str]) -> Result<bool, KustomizeError> {
    let mut found = false;
    for (at, key) in keys.iter().enumerate() {
        if let Some(text) = texts.get(at) {
            found = match item {
                Value::Map(_) | Value::Seq(_) if key.is_empty() => {
                    return Err(wrong_node("ScalarNode", item));
                }
                _ if key.is_empty() => text_of(item) == *text,
                Value::Map(fields) => {
                    fields.get(key).is_some_and(|value| text.is_empty() || text_of(value) == *text)
                }
                _ => return Err(wrong_node("MappingNode", item)),
            };
        }
        if !found {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Puts the items of the resource after those of the patch, each in the place of its like.
fn append(merged: &mut Vec<Value>, items: Vec<Value>, keys: &[Str]) -> Result<(), KustomizeError> {
    for item in items {
        if keys[0].is_empty() {
            let text = text_of(&item);
            set_element(merged, Some(&item), keys, &[text])?;
            continue;
        }
        let mut texts = Texts::new();
        for key in keys {
            match &item {
                Value::Map(fields) => match fields.get(key) {
                    Some(value) => texts.push(text_of(value)),
                    None => merged.push(item.clone()),
                },
                Value::Null => merged.push(Value::Null),
                _ => return Err(wrong_node("MappingNode", &item)),
            }
        }
        if keys.len() > 1 {
            set_element(merged, None, keys, &texts)?;
        }
        set_element(merged, Some(&item), keys, &texts)?;
    }
    Ok(())
}

/// Null or an empty map.
pub(super) fn is_nothing(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Map(fields) => fields.is_empty(),
        _ => false,
    }
}
