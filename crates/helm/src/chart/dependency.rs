//! What a chart says about the charts that it depends on, and what was locked.

use lynceus_object::{Map, Value};

use super::ChartError;
use super::metadata::{invalid, string, strings};
use crate::go::decode::{self, Shape, Struct};
use crate::go::text;

/// A chart that another depends on.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Dependency {
    /// Its name; once dependencies are processed, its alias.
    pub name: String,
    /// The range of versions that will do.
    pub version: String,
    /// Where it comes from.
    pub repository: String,
    /// Paths of values that turn it on or off, with commas between them.
    pub condition: String,
    /// Tags that turn it on or off.
    pub tags: Vec<String>,
    /// Whether it is on.
    pub enabled: bool,
    /// What the parent takes over of its values: names, or maps with `child` and `parent`.
    pub import_values: Vec<Value>,
    /// The name that it goes by in the parent.
    pub alias: String,
}

/// `Chart.lock`: which versions were chosen.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Lock {
    /// When that was, as the file says it.
    pub generated: String,
    /// What the wishes were, as a hash.
    pub digest: String,
    /// What was chosen.
    pub dependencies: Vec<Dependency>,
}

pub(super) static SHAPE: Struct = Struct {
    name: "Dependency",
    full_name: "v2.Dependency",
    fields: &[
        ("name", Shape::Str),
        ("version", Shape::Str),
        ("repository", Shape::Str),
        ("condition", Shape::Str),
        ("tags", Shape::List(&Shape::Str)),
        ("enabled", Shape::Bool),
        ("import-values", Shape::List(&Shape::Any)),
        ("alias", Shape::Str),
    ],
};

static LOCK: Struct = Struct {
    name: "Lock",
    full_name: "v2.Lock",
    fields: &[
        ("generated", Shape::Str),
        ("digest", Shape::Str),
        ("dependencies", Shape::List(&Shape::Pointer(&SHAPE))),
    ],
};

impl Dependency {
    pub(super) fn read(value: &Value) -> Result<Self, ChartError> {
        let Value::Map(fields) = value else {
            return Err(invalid("dependencies must not contain empty or null nodes"));
        };
        Ok(Dependency {
            name: string(fields, "name"),
            version: string(fields, "version"),
            repository: string(fields, "repository"),
            condition: string(fields, "condition"),
            tags: strings(fields, "tags"),
            enabled: fields.get("enabled").and_then(Value::as_bool).unwrap_or_default(),
            import_values: fields
                .get("import-values")
                .and_then(Value::as_seq)
                .map(<[Value]>::to_vec)
                .unwrap_or_default(),
            alias: string(fields, "alias"),
        })
    }

    pub(super) fn validate(&mut self) -> Result<(), ChartError> {
        for field in [&mut self.name, &mut self.version, &mut self.repository, &mut self.condition] {
            *field = text::sanitize(field);
        }
        self.tags.iter_mut().for_each(|tag| *tag = text::sanitize(tag));
        let legal = |char: char| char.is_ascii_alphanumeric() || char == '_' || char == '-';
        if !self.alias.chars().all(legal) {
            let name = text::quote(&self.name);
            return Err(invalid(format!("dependency {name} has disallowed characters in the alias")));
        }
        Ok(())
    }

    /// The name by which the parent's values know it.
    pub fn effective_name(&self) -> &str {
        if self.alias.is_empty() { &self.name } else { &self.alias }
    }
}

impl Lock {
    pub(super) fn read(data: &[u8], file: &'static str) -> Result<Self, ChartError> {
        let fields: Map =
            decode::document(data, &LOCK).map_err(|reason| ChartError::Unreadable { file, reason })?;
        let dependencies = fields.get("dependencies").and_then(Value::as_seq);
        Ok(Lock {
            generated: string(&fields, "generated"),
            digest: string(&fields, "digest"),
            dependencies: dependencies
                .map(|items| items.iter().filter_map(|item| Dependency::read(item).ok()).collect())
                .unwrap_or_default(),
        })
    }
}
