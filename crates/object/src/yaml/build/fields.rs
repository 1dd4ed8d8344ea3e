//! The fields of a mapping in the order of the text, to a map.

use super::super::chars::Mark;
use super::super::{DuplicateKeys, Options, Version};
use crate::map::Map;
use crate::value::{Str, Value};

/// A field as it stands in the text.
pub(super) struct Field {
    pub(super) key: Str,
    pub(super) value: Value,
    /// Where to point when the field is a duplicate.
    pub(super) mark: Mark,
    /// Whether it came through `<<`.
    pub(super) merged: bool,
}

/// A map, and the keys that were given twice with the places of the first and of the later value.
pub(super) struct Collected {
    pub(super) map: Map,
    pub(super) duplicates: Vec<(Str, Mark, Mark)>,
}

/// Takes the fields from `base` on.
pub(super) fn collect(fields: &mut Vec<Field>, base: usize, options: &Options) -> Collected {
    let ascending = fields[base..].windows(2).all(|pair| pair[0].key < pair[1].key);
    let mut duplicates = Vec::new();
    if !ascending {
        // Stable, so that fields of the same name keep the order of the text.
        fields[base..].sort_by(|a, b| a.key.cmp(&b.key));
        if fields[base..].windows(2).any(|pair| pair[0].key == pair[1].key) {
            let unique = resolve_duplicates(fields.drain(base..), options, &mut duplicates);
            fields.extend(unique);
            mark(fields, base, options, &duplicates);
        }
    }
    let map = Map::from_sorted(fields.drain(base..).map(|field| (field.key, field.value)));
    Collected { map, duplicates }
}

fn resolve_duplicates(
    sorted: impl Iterator<Item = Field>,
    options: &Options,
    duplicates: &mut Vec<(Str, Mark, Mark)>,
) -> Vec<Field> {
    let mut unique: Vec<Field> = Vec::new();
    for field in sorted {
        match unique.last_mut() {
            Some(last) if last.key == field.key => {
                if is_mistake(last, &field, options) {
                    duplicates.push((field.key.clone(), last.mark, field.mark));
                }
                if later_wins(last, &field, options) {
                    *last = field;
                }
            }
            _ => unique.push(field),
        }
    }
    unique
}

/// Overriding what was merged in is what merging is for; only go-yaml v2's strict mode minds.
fn is_mistake(earlier: &Field, later: &Field, options: &Options) -> bool {
    let strict_v2 = options.version == Version::V2 && options.duplicate_keys == DuplicateKeys::Error;
    strict_v2 || !earlier.merged && !later.merged
}

/// Adds the field that tells of a key that is there twice, where it is asked for.
fn mark(fields: &mut Vec<Field>, base: usize, options: &Options, duplicates: &[(Str, Mark, Mark)]) {
    let (DuplicateKeys::Marked(name), Some((_, mark, _))) = (options.duplicate_keys, duplicates.first())
    else {
        return;
    };
    let at = base + fields[base..].partition_point(|field| field.key.as_str() < name);
    if fields.get(at).is_none_or(|field| field.key != name) {
        fields.insert(at, Field { key: name.into(), value: Value::Bool(true), mark: *mark, merged: false });
    }
}

fn later_wins(earlier: &Field, later: &Field, options: &Options) -> bool {
    if matches!(options.duplicate_keys, DuplicateKeys::Marked(_)) && !earlier.merged {
        return false;
    }
    match options.version {
        Version::V2 => true,
        // A field of the mapping itself wins over a merged one, wherever either stands.
        Version::V3 => !later.merged || earlier.merged,
    }
}
