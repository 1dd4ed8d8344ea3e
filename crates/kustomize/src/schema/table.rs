//! The embedded kinds, read from their text when first asked for. It is small: reading it takes some microseconds.

use std::collections::HashMap;
use std::sync::OnceLock;

use super::{Fact, List, Scope};

const TEXT: &str = include_str!("../../data/kinds.txt");

/// What the text says.
pub(super) struct Table {
    /// By the name of the kind, with the `apiVersion` of each.
    kinds: HashMap<&'static str, Vec<(&'static str, KindFact)>>,
    types: Vec<Vec<(&'static str, Entry)>>,
    /// The numbers of the types, by the names of their definitions.
    definitions: HashMap<&'static str, usize>,
}

/// What is known of a kind.
pub(super) struct KindFact {
    pub(super) scope: Option<Scope>,
    pub(super) number: Option<usize>,
}

enum Entry {
    Type(usize),
    List(List),
}

impl Table {
    pub(super) fn get() -> &'static Table {
        static TABLE: OnceLock<Table> = OnceLock::new();
        TABLE.get_or_init(|| Table::read(TEXT))
    }

    fn read(text: &'static str) -> Self {
        let mut table =
            Table { kinds: HashMap::with_capacity(512), types: Vec::new(), definitions: HashMap::new() };
        for line in text.lines() {
            let mut words = line.split(' ').filter(|word| !word.is_empty());
            let Some(first) = words.next() else { continue };
            match first {
                "#" => {}
                "kind" => {
                    let (Some(api_version), Some(kind)) = (words.next(), words.next()) else { continue };
                    let scope = match words.next() {
                        Some("cluster") => Some(Scope::Cluster),
                        Some("namespaced") => Some(Scope::Namespaced),
                        _ => None,
                    };
                    let number = words.next().and_then(|number| number.parse().ok());
                    table.kinds.entry(kind).or_default().push((api_version, KindFact { scope, number }));
                }
                "type" => {
                    table.definitions.extend(words.nth(1).map(|name| (name, table.types.len())));
                    table.types.push(Vec::new());
                }
                name => {
                    let number = words.next().and_then(|number| number.parse().ok());
                    let (name, entry) = match name.strip_prefix('[') {
                        Some(name) => {
                            let strategy = words.next().unwrap_or_default();
                            let merged = strategy.split(',').any(|part| part == "merge");
                            let keys = words.map(Into::into).collect();
                            (name, Entry::List(List { items: number, merged, keys }))
                        }
                        None => match number {
                            Some(number) => (name, Entry::Type(number)),
                            None => continue,
                        },
                    };
                    if let Some(fields) = table.types.last_mut() {
                        fields.push((name, entry));
                    }
                }
            }
        }
        table
    }

    pub(super) fn kind(&self, group: &str, version: &str, kind: &str) -> Option<&KindFact> {
        let is_meant = |api_version: &str| match api_version.split_once('/') {
            Some(parts) => parts == (group, version),
            None => group.is_empty() && api_version == version,
        };
        let known = self.kinds.get(kind)?;
        known.iter().find(|(api_version, _)| is_meant(api_version)).map(|(_, fact)| fact)
    }

    /// The type of a definition.
    pub(super) fn definition(&self, name: &str) -> Option<usize> {
        self.definitions.get(name).copied()
    }

    pub(super) fn field(&'static self, number: usize, name: &str) -> Option<Fact> {
        let fields = self.types.get(number)?;
        let (_, entry) = fields
            .iter()
            .find(|(known, _)| *known == name)
            .or_else(|| fields.iter().find(|(known, _)| *known == "*"))?;
        Some(match entry {
            Entry::Type(number) => Fact::Type(*number),
            Entry::List(list) => Fact::List(list),
        })
    }
}
