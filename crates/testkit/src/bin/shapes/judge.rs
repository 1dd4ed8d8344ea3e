//! Argo CD's published shapes as schemas that take nothing else.

use boon::{Compiler, Draft, SchemaIndex, Schemas};
use serde_json::{Map, Value, json};

const ADDRESS: &str = "file:///swagger.json";

/// Definitions that are not what is sent: these types write themselves as JSON in a way of their own, which the program
/// that writes the description does not know.
const OWN_WAY: [&str; 6] = [
    "intstrIntOrString",
    "runtimeRawExtension",
    "v1FieldsV1",
    "v1JSON",
    "runtimeError",
    "runtimeStreamError",
];

/// Fields that the description lacks, and why they are sent all the same.
const BESIDE: [(&str, &[&str]); 5] = [
    // They are fields of the Go types, which Argo CD's own clients read.
    ("v1alpha1Application", &["apiVersion", "kind"]),
    ("v1alpha1ApplicationSet", &["apiVersion", "kind"]),
    ("v1alpha1AppProject", &["apiVersion", "kind"]),
    // Go writes it by the name of its field, because nothing else is said of it.
    ("v1alpha1KustomizeOptions", &["BuildOptions"]),
    // Ours: who wrote each field that differs.
    ("v1alpha1ResourceDiff", &["fields"]),
];

/// Somebody who knows the shapes.
pub(crate) struct Judge {
    document: Value,
    compiler: Compiler,
    schemas: Schemas,
}

impl Judge {
    /// Reads the shapes.
    pub(crate) fn new(document: &Value) -> Result<Self, String> {
        let mut document = document.clone();
        let definitions =
            document["definitions"].as_object_mut().ok_or("the description has no definitions")?;
        let all = definitions.clone();
        for (name, definition) in definitions.iter_mut() {
            join(definition, &all);
            let beside = BESIDE.iter().find(|(of, _)| of == name).map_or(&[][..], |(_, fields)| fields);
            if let Some(properties) = definition.get_mut("properties").and_then(Value::as_object_mut) {
                properties.extend(beside.iter().map(|field| ((*field).to_owned(), json!({}))));
            }
            match OWN_WAY.contains(&name.as_str()) {
                true => *definition = json!({}),
                false => strict(definition),
            }
        }
        let mut compiler = Compiler::new();
        compiler.set_default_draft(Draft::V4);
        compiler.add_resource(ADDRESS, document.clone()).map_err(|error| error.to_string())?;
        Ok(Judge { document, compiler, schemas: Schemas::new() })
    }

    /// What is wrong with an answer at a path.
    pub(crate) fn verdict(&mut self, path: &str, answer: &Value) -> Result<(), String> {
        let place = format!("/paths/{}/get/responses/200/schema", path.replace('~', "~0").replace('/', "~1"));
        if self.document.pointer(&place).is_none() {
            return Err("Argo CD describes no answer".to_owned());
        }
        let place: String = place.replace('{', "%7B").replace('}', "%7D");
        let index: SchemaIndex = self
            .compiler
            .compile(&format!("{ADDRESS}#{place}"), &mut self.schemas)
            .map_err(|error| error.to_string())?;
        self.schemas.validate(answer, index).map_err(|error| format!("{error:#}"))
    }
}

/// Takes what a definition is part of into it: if each alone took no other field, nothing would pass both.
fn join(definition: &mut Value, all: &Map<String, Value>) {
    let Some(Value::Array(parts)) = definition.as_object_mut().and_then(|fields| fields.remove("allOf"))
    else {
        return;
    };
    for part in &parts {
        let name = part["$ref"].as_str().and_then(|place| place.strip_prefix("#/definitions/"));
        let fields = name.and_then(|name| all.get(name)?.get("properties")?.as_object());
        if let (Some(fields), Some(properties)) =
            (fields, definition.get_mut("properties").and_then(Value::as_object_mut))
        {
            properties.extend(fields.clone());
        }
    }
}

/// Takes no other field, and `null` for each: Go writes it for whatever is not there.
fn strict(definition: &mut Value) {
    // Not by index: that would write `null` where a definition has no properties, and then it is no schema.
    let Some(properties) = definition.get_mut("properties").and_then(Value::as_object_mut) else { return };
    for property in properties.values_mut() {
        *property = json!({"anyOf": [property.take(), {"type": "null"}]});
    }
    definition["additionalProperties"] = json!(false);
}
