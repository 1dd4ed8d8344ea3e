//! What there is to say about templates and about what they give.

use std::collections::BTreeMap;
use std::sync::Arc;

use lynceus_files::Entry;
use lynceus_gotmpl::Map;
use lynceus_object::Value;

use super::stream::{self, Read};
use super::{LintOptions, Linter, Loaded, Severity, deprecations, names};
use crate::capabilities::Capabilities;
use crate::chart::Chart;
use crate::dependencies::{self, Node};
use crate::engine::{self, World};
use crate::go::decode::{self, Shape, Struct};
use crate::go::{path, text};
use crate::schema;
use crate::values::{self, Mode, UserValues, Warnings};

const DIRECTORY: &str = "templates/";

static META: Struct = Struct {
    name: "k8sYamlMetadata",
    full_name: "rules.k8sYamlMetadata",
    fields: &[("Namespace", Shape::Str), ("Name", Shape::Str)],
};

static OBJECT: Struct = Struct {
    name: "k8sYamlStruct",
    full_name: "rules.k8sYamlStruct",
    fields: &[("apiVersion", Shape::Str), ("Kind", Shape::Str), ("Metadata", Shape::Struct(&META))],
};

static LIST_META: Struct =
    Struct { name: "", full_name: "", fields: &[("Annotations", Shape::Map(&Shape::Str))] };

static LIST_ITEM: Struct = Struct {
    name: "",
    full_name: "struct { Metadata struct { Annotations map[string]string } }",
    fields: &[("Metadata", Shape::Struct(&LIST_META))],
};

static LIST: Struct =
    Struct { name: "", full_name: "", fields: &[("Items", Shape::List(&Shape::Struct(&LIST_ITEM)))] };

pub(super) fn check(
    linter: &mut Linter<'_>,
    chart: &Loaded,
    values: &UserValues,
    options: &LintOptions,
    world: &mut dyn World,
) {
    match linter.entry("templates") {
        None => {
            linter.rule(Severity::Warning, DIRECTORY, Err("directory does not exist".to_owned()));
            return;
        }
        Some(Entry::File) => {
            linter.rule(Severity::Error, DIRECTORY, Err("not a directory".to_owned()));
            return;
        }
        Some(_) => {}
    }
    let chart = match chart {
        Ok(chart) => chart,
        Err(error) => {
            linter.rule(Severity::Error, DIRECTORY, Err(linter.told(error)));
            return;
        }
    };
    match outputs(chart, values, options, world) {
        Ok(Some(outputs)) => check_outputs(linter, chart, &outputs, options),
        Ok(None) => {}
        Err(message) => {
            linter.rule(Severity::Error, DIRECTORY, Err(message));
        }
    }
}

/// What the templates give; nothing if the dependencies do not even allow to ask.
fn outputs(
    chart: &Arc<Chart>,
    values: &UserValues,
    options: &LintOptions,
    world: &mut dyn World,
) -> Result<Option<BTreeMap<String, String>>, String> {
    let mut warnings = chart.warnings().to_vec();
    let merged = merged(chart, values, &mut warnings);
    warnings.iter().for_each(|warning| world.tell(warning));
    let Some((node, merged)) = merged? else { return Ok(None) };
    if !options.skip_schema_validation {
        schema::validate(&node, &merged).map_err(|error| error.to_string())?;
    }
    let release = engine::Release {
        name: "test-release",
        namespace: &options.namespace,
        revision: 0,
        is_upgrade: false,
        is_install: false,
    };
    let capabilities = Capabilities::default().with(options.kube_version.clone(), &[]);
    let mode = engine::Mode { lint: true, ..engine::Mode::default() };
    let outputs = engine::render(&node, &merged, &release, &capabilities, &mode, world);
    outputs.map(|outputs| Some(outputs.texts)).map_err(|error| error.to_string())
}

/// The chart with the dependencies that count, and its values, as often merged as Helm merges them.
fn merged(
    chart: &Arc<Chart>,
    values: &UserValues,
    warnings: &mut Warnings,
) -> Result<Option<(Node, Map)>, String> {
    let given = values::to_template_map(values.values());
    let Ok(node) = dependencies::process(chart, &given, warnings) else { return Ok(None) };
    let Ok(merged) = node.coalesced(&given, Mode::Coalesce, warnings) else { return Ok(None) };
    let merged = node.coalesced(&merged, Mode::Coalesce, warnings)?;
    Ok(Some((node, merged)))
}

fn check_outputs(
    linter: &mut Linter<'_>,
    chart: &Chart,
    outputs: &BTreeMap<String, String>,
    options: &LintOptions,
) {
    for template in &chart.templates {
        let name = &template.name;
        let extension = path::extension(name);
        if !matches!(extension, ".yaml" | ".yml" | ".tpl" | ".txt") {
            let message = format!(
                "file extension '{extension}' not valid. Valid extensions are .yaml, .yml, .tpl, or .txt"
            );
            linter.rule(Severity::Error, name, Err(message));
        }
        if !matches!(extension.to_lowercase().as_str(), ".yaml" | ".yml") {
            continue;
        }
        let Some(output) = outputs.get(&path::join(&[chart.name(), name])) else { continue };
        if text::trim(output).is_empty() {
            continue;
        }
        linter.rule(Severity::Warning, name, indent(output));
        if !check_objects(linter, name, output, options) {
            return;
        }
    }
}

/// Looks at every object of an output; whether all of it is YAML.
fn check_objects(linter: &mut Linter<'_>, name: &str, output: &str, options: &LintOptions) -> bool {
    let kube_version = options.kube_version.clone().unwrap_or_else(|| Capabilities::default().kube_version);
    for read in stream::objects(output) {
        let object = match read.and_then(|read| object(&read)) {
            Ok(Some(object)) => object,
            Ok(None) => continue,
            Err(reason) => {
                linter.rule(Severity::Error, name, Err(format!("unable to parse YAML: {reason}")));
                return false;
            }
        };
        let problems = names::problems(&object.kind, &object.name);
        linter.rule(Severity::Warning, name, name_problem(&object.name, &problems));
        let deprecation = deprecations::warning(
            &object.api_version,
            &object.kind,
            &kube_version.major,
            &kube_version.minor,
        );
        linter.rule(Severity::Warning, name, deprecation.map_or(Ok(()), Err));
        linter.rule(Severity::Error, name, selector(&object, output));
        linter.rule(Severity::Error, name, list(&object, output));
    }
    true
}

struct Object {
    api_version: String,
    kind: String,
    name: String,
}

fn object(read: &Read) -> Result<Option<Object>, String> {
    if read.value.is_null() {
        return Ok(None);
    }
    let fields = decode::value_into(&read.value, &OBJECT).map_err(|reason| {
        // What is JSON has not been made of YAML.
        let of_json = reason.strip_prefix("error unmarshaling JSON: while decoding JSON: ");
        of_json.filter(|_| read.is_json).map_or(reason.clone(), str::to_owned)
    })?;
    let text = |value: Option<&Value>| value.and_then(Value::as_str).unwrap_or_default().to_owned();
    Ok(Some(Object {
        api_version: text(fields.get("apiVersion")),
        kind: text(fields.get("Kind")),
        name: text(fields.get("Metadata").and_then(|meta| meta.get("Name"))),
    }))
}

fn name_problem(name: &str, problems: &[String]) -> Result<(), String> {
    let name = text::quote(name);
    let told: Vec<String> =
        problems.iter().map(|problem| format!("metadata.name: Invalid value: {name}: {problem}")).collect();
    let told = match told.as_slice() {
        [] => return Ok(()),
        [one] => one.clone(),
        many => format!("[{}]", many.join(", ")),
    };
    Err(format!("object name does not conform to Kubernetes naming requirements: {name}: {told}"))
}

fn selector(object: &Object, output: &str) -> Result<(), String> {
    let wants = matches!(object.kind.as_str(), "Deployment" | "ReplicaSet" | "DaemonSet" | "StatefulSet");
    if !wants || output.contains("matchLabels") || output.contains("matchExpressions") {
        return Ok(());
    }
    let name = text::quote(&object.name);
    Err(format!("a {} must contain matchLabels or matchExpressions, and {name} does not", object.kind))
}

/// Helm keeps what says so, but not if it says so in a list. It looks at the first document of the output only.
fn list(object: &Object, output: &str) -> Result<(), String> {
    if object.kind != "List" {
        return Ok(());
    }
    let list = decode::document(output.as_bytes(), &LIST)
        .map_err(|reason| format!("unable to parse YAML: {reason}"))?;
    let items = list.get("Items").and_then(Value::as_seq).unwrap_or_default();
    let annotations = |item: &Value| item.get("Metadata")?.get("Annotations")?.as_map().cloned();
    if items
        .iter()
        .filter_map(annotations)
        .any(|annotations| annotations.get("helm.sh/resource-policy").is_some())
    {
        return Err("annotation 'helm.sh/resource-policy' within List objects are ignored".to_owned());
    }
    Ok(())
}

/// The first line that has anything on it must not be indented.
fn indent(output: &str) -> Result<(), String> {
    match output.lines().find(|line| !text::trim(line).is_empty()) {
        Some(line) if line.starts_with([' ', '\t']) => Err(format!(
            "document starts with an illegal indent: {}, which may cause parsing problems",
            text::quote(line)
        )),
        _ => Ok(()),
    }
}

/// Looks at the definitions in `crds/`.
pub(super) fn check_crds(linter: &mut Linter<'_>, chart: &Loaded) {
    match linter.entry("crds") {
        None => return,
        Some(Entry::File) => {
            linter.rule(Severity::Error, "crds/", Err("not a directory".to_owned()));
            return;
        }
        Some(_) => {}
    }
    let chart = match chart {
        Ok(chart) => chart,
        Err(error) => {
            linter.rule(Severity::Error, "crds/", Err(linter.told(error)));
            return;
        }
    };
    for file in chart.files.iter().filter(|file| file.is_crd()) {
        for read in stream::objects(&String::from_utf8_lossy(&file.data)) {
            match read.and_then(|read| object(&read)) {
                Err(reason) => {
                    linter.rule(Severity::Error, &file.name, Err(format!("unable to parse YAML: {reason}")));
                    return;
                }
                Ok(None) => {}
                Ok(Some(object)) => {
                    if !object.api_version.starts_with("apiextensions.k8s.io") {
                        let message = "apiVersion is not in 'apiextensions.k8s.io'".to_owned();
                        linter.rule(Severity::Error, &file.name, Err(message));
                    }
                    if object.kind != "CustomResourceDefinition" {
                        let message = "object kind is not 'CustomResourceDefinition'".to_owned();
                        linter.rule(Severity::Error, &file.name, Err(message));
                    }
                }
            }
        }
    }
}
