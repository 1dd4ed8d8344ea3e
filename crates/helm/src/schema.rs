//! `values.schema.json`.

mod cost;
mod words;

use boon::{Compiler, SchemaIndex, Schemas, UrlLoader};
use lynceus_gotmpl::{Map, Value};
use lynceus_object::json;

use crate::dependencies::Node;
use crate::limits;
use crate::values::from_template;

/// Values that do not meet the schemas of a chart or of its dependencies.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("values don't meet the specifications of the schema(s) in the following chart(s):\n{0}")]
pub struct SchemaError(String);

/// The address under which Helm knows a chart's schema.
const ADDRESS: &str = "file:///values.schema.json";

/// A schema, ready to be used.
pub(crate) struct Schema {
    schemas: Schemas,
    index: SchemaIndex,
}

impl std::fmt::Debug for Schema {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Schema").finish()
    }
}

/// Checks the values of a chart and of all below it.
pub(crate) fn validate(chart: &Node, values: &Map) -> Result<(), SchemaError> {
    let mut problems = String::new();
    check(chart, values, &mut problems);
    if problems.is_empty() { Ok(()) } else { Err(SchemaError(problems)) }
}

fn check(chart: &Node, values: &Map, problems: &mut String) {
    if let Some(schema) = chart.chart.schema()
        && let Err(problem) = schema.as_ref().map_err(Clone::clone).and_then(|schema| schema.check(values))
    {
        problems.push_str(&format!("{}:\n{problem}", chart.name()));
    }
    for inner in &chart.dependencies {
        match values.get(&inner.name()) {
            None | Some(Value::Nil) => {}
            Some(Value::Map(values)) => check(inner, &values, problems),
            Some(other) => problems.push_str(&format!(
                "{}:\ninvalid type for values: expected object (map), got {}\n",
                inner.name(),
                other.type_name()
            )),
        }
    }
}

impl Schema {
    /// Reads a schema. It may refer to itself and to the drafts, and to nothing else.
    pub(crate) fn read(data: &[u8]) -> Result<Self, String> {
        if data.len() > limits::MAX_SCHEMA_BYTES {
            return Err(format!("the schema has more than {} bytes", limits::MAX_SCHEMA_BYTES));
        }
        let schema = json::parse(data).map_err(|error| error.to_string())?;
        let schema = serde_json::to_value(&schema).map_err(|error| error.to_string())?;
        cost::check(&schema)?;
        let mut compiler = Compiler::new();
        compiler.use_loader(Box::new(Nowhere));
        compiler.add_resource(ADDRESS, schema).map_err(|error| words::of_compile_error(&error))?;
        let mut schemas = Schemas::new();
        let index =
            compiler.compile(ADDRESS, &mut schemas).map_err(|error| words::of_compile_error(&error))?;
        Ok(Schema { schemas, index })
    }

    pub(crate) fn check(&self, values: &Map) -> Result<(), String> {
        let values = from_template(&Value::Map(values.clone())).ok_or("the values nest too deep")?;
        let values = serde_json::to_value(&values).map_err(|error| error.to_string())?;
        self.schemas.validate(&values, self.index).map_err(|error| words::of_validation_error(&error))
    }
}

/// Loads nothing: a schema must not make anybody talk to others or read their files.
struct Nowhere;

impl UrlLoader for Nowhere {
    fn load(&self, url: &str) -> Result<serde_json::Value, Box<dyn std::error::Error>> {
        if url.starts_with("urn:") {
            // Helm takes anything for a name that it cannot resolve.
            return Ok(serde_json::Value::Bool(true));
        }
        Err("references to other places are not followed".into())
    }
}
