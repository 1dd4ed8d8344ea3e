//! Reads the table of the built-in kinds; `xtask/gen-schema` writes it and explains the format.
//!
//! The table is part of the binary and covered by tests, so a line that makes no sense is skipped
//! rather than reported.

use std::collections::{BTreeMap, HashMap};

use super::Schemas;
use super::model::{
    Arena, FieldDef, Flags, Id, ListType, MergeStrategy, Node, NodeKind, Scalar, StructDef, Wire,
};
use super::shape::printed_zero;
use crate::map::Map;
use crate::value::{Str, Value};

type Names<'t> = HashMap<(&'t str, &'t str), Id>;

pub(super) fn parse(text: &str) -> Schemas {
    let mut reader = Reader { arena: Arena::new(), names: HashMap::new(), kinds: BTreeMap::new() };
    reader.declare(text);
    reader.define(text);
    resolve(&mut reader.arena);
    for index in 0..reader.arena.structs.len() {
        flatten(&mut reader.arena, index as u32);
    }
    set_zero_defaults(&mut reader.arena);
    note_positions(&mut reader.arena);
    let types =
        reader.names.values().map(|id| (reader.arena.nodes[*id as usize].name.clone(), *id)).collect();
    Schemas { arena: reader.arena, kinds: reader.kinds, types }
}

struct Reader<'t> {
    arena: Arena,
    names: Names<'t>,
    kinds: BTreeMap<Str, BTreeMap<Str, Id>>,
}

impl<'t> Reader<'t> {
    /// Gives every named type its place, so that references may point forward.
    fn declare(&mut self, text: &'t str) {
        let (mut package, mut version) = ("", "");
        for line in text.lines() {
            let mut words = line.split(' ');
            match words.next() {
                Some("@") => {
                    package = words.next().unwrap_or_default();
                    version = words.next().unwrap_or_default();
                }
                Some(mark @ ("=" | ":" | ":a" | "*" | "*a")) => {
                    let name = words.next().unwrap_or_default();
                    let full = ecow::eco_format!("{package}.{name}");
                    let id = self.arena.add(Node { name: full, kind: NodeKind::Any });
                    if mark.starts_with([':', '*']) {
                        let def = self.arena.structs.len() as u32;
                        self.arena.structs.push(StructDef::default());
                        let atomic = mark.ends_with('a');
                        self.arena.nodes[id as usize].kind = NodeKind::Struct { def, atomic };
                    }
                    if mark.starts_with('*') {
                        self.kinds.entry(version.into()).or_default().insert(name.into(), id);
                    }
                    self.names.insert((package, name), id);
                }
                _ => {}
            }
        }
    }

    fn define(&mut self, text: &'t str) {
        let mut package = "";
        let mut here: Option<u32> = None;
        for line in text.lines() {
            let (first, rest) = line.split_once(' ').unwrap_or((line, ""));
            match first {
                "#" => {}
                "@" => package = rest.split(' ').next().unwrap_or_default(),
                "=" => self.alias(package, rest),
                ":" | ":a" | "*" | "*a" => {
                    here = self.names.get(&(package, rest)).and_then(|id| self.struct_of(*id));
                }
                _ => {
                    if let Some(def) = here {
                        self.field(package, def, first, rest);
                    }
                }
            }
        }
    }

    fn struct_of(&self, id: Id) -> Option<u32> {
        match self.arena.nodes.get(id as usize)?.kind {
            NodeKind::Struct { def, .. } => Some(def),
            _ => None,
        }
    }

    fn alias(&mut self, package: &'t str, rest: &'t str) {
        let mut words = rest.split(' ').peekable();
        let Some(id) = words.next().and_then(|name| self.names.get(&(package, name)).copied()) else {
            return;
        };
        let wraps = words.next_if_eq(&"w").is_some();
        let (target, _) = self.type_of(package, words.next().unwrap_or_default());
        let mut kind = if self.arena.nodes[target as usize].name.is_empty() {
            self.arena.nodes[target as usize].kind.clone()
        } else {
            NodeKind::Over { base: target, list: None, atomic: None }
        };
        match &mut kind {
            NodeKind::Scalar(_, values) => {
                *values = words.next().map_or_else(Vec::new, |list| list.split('|').map(Str::from).collect());
            }
            NodeKind::List { wrapped, .. } => *wrapped = wraps,
            _ => {}
        }
        self.arena.nodes[id as usize].kind = kind;
    }

    /// The type that an expression names, and whether it is a pointer to it.
    fn type_of(&mut self, package: &'t str, text: &'t str) -> (Id, bool) {
        if let Some(inner) = text.strip_prefix('*') {
            return (self.type_of(package, inner).0, true);
        }
        let id = if let Some(inner) = text.strip_prefix('[') {
            let item = self.type_of(package, inner).0;
            let kind = NodeKind::List { item, list: ListType::Atomic, wrapped: false };
            self.arena.add(Node { name: Str::new(), kind })
        } else if let Some(inner) = text.strip_prefix('{') {
            let value = self.type_of(package, inner).0;
            self.arena.add(Node { name: Str::new(), kind: NodeKind::Map { value, atomic: false } })
        } else if let Some(name) = text.strip_prefix("string:") {
            let kind = NodeKind::Scalar(Scalar::String, Vec::new());
            self.arena.add(Node { name: name.into(), kind })
        } else if let Some(scalar) = scalar(text) {
            self.arena.add(Node { name: Str::new(), kind: NodeKind::Scalar(scalar, Vec::new()) })
        } else {
            let key = text.rsplit_once('.').unwrap_or((package, text));
            match self.names.get(&key) {
                Some(id) => *id,
                None => self.arena.add(Node { name: Str::new(), kind: NodeKind::Any }),
            }
        };
        (id, false)
    }

    fn field(&mut self, package: &'t str, def: u32, name: &'t str, rest: &'t str) {
        let mut words = rest.splitn(4, ' ');
        let (ty, pointer) = self.type_of(package, words.next().unwrap_or_default());
        let number = words.next().and_then(|word| word.parse().ok()).unwrap_or(0);
        let marks = words.next().unwrap_or_default();
        let structure = &mut self.arena.structs[def as usize];
        if name == "." {
            structure.wire.push((number, Wire::Embedded(ty)));
            structure.embedded.push((structure.fields.len() as u32, ty));
            return;
        }
        if number > 0 {
            // The position is known once all fields are.
            structure.wire.push((number, Wire::Field(u32::MAX)));
        }
        let attributes = attributes(words.next().unwrap_or_default());
        let mut field = FieldDef {
            name: name.into(),
            ty,
            number,
            flags: Flags {
                pointer,
                omit_empty: marks.contains('e'),
                omit_zero: marks.contains('z'),
                required: marks.contains('r'),
                list_marker: attributes.list.is_some(),
            },
            merge: attributes.merge,
            default: attributes.default,
            via: Str::new(),
            place: structure.fields.len() as u32,
        };
        // Server-side apply reads the patch strategy where a list says nothing else.
        let list = attributes.list.or_else(|| match &field.merge {
            MergeStrategy { merge: true, key: Some(key), .. } => Some(ListType::Map(vec![key.clone()])),
            MergeStrategy { merge: true, key: None, .. } => Some(ListType::Set),
            _ => None,
        });
        if list.is_some() || attributes.atomic.is_some() {
            let kind = NodeKind::Over { base: ty, list, atomic: attributes.atomic };
            field.ty = self.arena.add(Node { name: Str::new(), kind });
        }
        self.arena.structs[def as usize].fields.push(field);
    }
}

#[derive(Default)]
struct Attributes {
    list: Option<ListType>,
    atomic: Option<bool>,
    merge: MergeStrategy,
    default: Option<Value>,
}

fn attributes(mut text: &str) -> Attributes {
    let mut out = Attributes::default();
    while !text.is_empty() {
        // A default may have blanks in it, and stands last.
        if let Some(json) = text.strip_prefix("default=") {
            out.default = serde_json::from_str(json).ok();
            break;
        }
        let (word, rest) = text.split_once(' ').unwrap_or((text, ""));
        text = rest;
        let (name, value) = word.split_once('=').unwrap_or((word, ""));
        match name {
            "list" => out.list = Some(list_type(value)),
            "map" => out.atomic = Some(value == "atomic"),
            "patch" => out.merge = merge_strategy(value),
            _ => {}
        }
    }
    out
}

fn list_type(text: &str) -> ListType {
    match text.split_once(':') {
        Some(("map", keys)) => ListType::Map(keys.split(',').map(Str::from).collect()),
        _ if text == "set" => ListType::Set,
        _ => ListType::Atomic,
    }
}

fn merge_strategy(text: &str) -> MergeStrategy {
    let (words, key) = text.split_once(':').map_or((text, None), |(words, key)| (words, Some(key.into())));
    let has = |word| words.split(',').any(|found| found == word);
    MergeStrategy { merge: has("merge"), replace: has("replace"), retain_keys: has("retainKeys"), key }
}

fn scalar(word: &str) -> Option<Scalar> {
    Some(match word {
        "string" => Scalar::String,
        "bool" => Scalar::Bool,
        "int32" => Scalar::Int32,
        "int64" => Scalar::Int64,
        "float64" => Scalar::Float64,
        "bytes" => Scalar::Bytes,
        "time" => Scalar::Time,
        "microtime" => Scalar::MicroTime,
        "duration" => Scalar::Duration,
        "intorstring" => Scalar::IntOrString,
        "quantity" => Scalar::Quantity,
        "raw" => Scalar::Raw,
        "fields" => Scalar::Fields,
        "json" => Scalar::Json,
        "schemaorarray" => Scalar::SchemaOrArray,
        "schemaorbool" => Scalar::SchemaOrBool,
        "schemaorstrings" => Scalar::SchemaOrStrings,
        _ => return None,
    })
}

/// Turns types with other marks into types of their own.
fn resolve(arena: &mut Arena) {
    for id in 0..arena.nodes.len() {
        if matches!(arena.nodes[id].kind, NodeKind::Over { .. }) {
            arena.nodes[id] = resolved(arena, id);
        }
    }
}

fn resolved(arena: &Arena, id: usize) -> Node {
    let found = &arena.nodes[id];
    let NodeKind::Over { base, list: new_list, atomic: new_atomic } = &found.kind else {
        return found.clone();
    };
    let mut node = resolved(arena, *base as usize);
    if !found.name.is_empty() {
        node.name = found.name.clone();
    }
    match &mut node.kind {
        NodeKind::List { list, .. } => {
            if let Some(new) = new_list {
                *list = new.clone();
            }
        }
        NodeKind::Map { atomic, .. } | NodeKind::Struct { atomic, .. } => {
            *atomic = new_atomic.unwrap_or(*atomic);
        }
        _ => {}
    }
    node
}

/// Copies the fields of embedded structs up to where they are embedded, and sorts.
fn flatten(arena: &mut Arena, def: u32) {
    let embedded = std::mem::take(&mut arena.structs[def as usize].embedded);
    // From the last one, so that the places before it stay what they are.
    for (before, id) in embedded.into_iter().rev() {
        let NodeKind::Struct { def: inner, .. } = arena.nodes[id as usize].kind else { continue };
        flatten(arena, inner);
        let name = arena.at(id).name();
        let mut fields = arena.structs[inner as usize].fields.clone();
        fields.sort_by_key(|field| field.place);
        for field in &mut fields {
            field.via = ecow::eco_format!("{name}.{}", field.via);
        }
        let own = &mut arena.structs[def as usize].fields;
        fields.retain(|field| !own.iter().any(|known| known.name == field.name));
        own.splice(before as usize..before as usize, fields);
        own.iter_mut().enumerate().for_each(|(place, field)| field.place = place as u32);
    }
    let structure = &mut arena.structs[def as usize];
    structure.fields.sort_by(|a, b| a.name.cmp(&b.name));
    structure.wire.sort_by_key(|(number, _)| *number);
}

/// A field that Go always prints has its zero as the default: that is what the server's own schema says.
fn set_zero_defaults(arena: &mut Arena) {
    for index in 0..arena.structs.len() {
        for at in 0..arena.structs[index].fields.len() {
            let field = &arena.structs[index].fields[at];
            if field.flags.pointer || field.default.is_some() {
                continue;
            }
            let zero = match &arena.nodes[field.ty as usize].kind {
                NodeKind::Struct { .. } => Some(Value::Map(Map::new())),
                NodeKind::Scalar(scalar, _) if !field.flags.omit_empty => match scalar {
                    Scalar::String => Some(Value::Str(Str::new())),
                    Scalar::Bool => Some(Value::Bool(false)),
                    Scalar::Int32 | Scalar::Int64 | Scalar::Float64 => Some(Value::Int(0)),
                    _ => None,
                },
                _ => None,
            };
            arena.structs[index].fields[at].default = zero;
        }
    }
}

/// Notes where the fields of the wire and those that are always printed stand, now that all are sorted.
fn note_positions(arena: &mut Arena) {
    for index in 0..arena.structs.len() {
        let printed = arena.fields_of(index).enumerate().filter(|(_, field)| printed_zero(*field).is_some());
        let always_printed: Vec<u32> = printed.map(|(at, _)| at as u32).collect();
        let structure = &mut arena.structs[index];
        structure.always_printed = always_printed;
        for (number, wire) in &mut structure.wire {
            let own = |field: &FieldDef| field.number == *number && field.via.is_empty();
            if let (Wire::Field(at), Some(found)) = (wire, structure.fields.iter().position(own)) {
                *at = found as u32;
            }
        }
    }
}
