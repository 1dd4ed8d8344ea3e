//! `lynceus diff`: the comparison alone, on files.

use std::path::{Path, PathBuf};

use clap::ValueEnum;
use lynceus_api::ResourceIgnoreDifferences;
use lynceus_diff::{
    ChangeSet, FieldChange, Ignore, KnownTypes, Pair, Pairs, Place, RuleReport, Settings, Sides, System,
    Verdict, compare_all, is_secret, mask, sides, text, unquoted,
};
use lynceus_object::{Map, Object, Value, value, yaml};

use crate::exit::{Code, Doing as _, Failure, Outcome};
use crate::format;

/// Compare a desired object with a live one, as a sync would.
///
/// Shows what an apply of the desired object would change, who wrote the fields that differ, and what the rules for
/// ignoring differences did. The data of Secrets is never shown.
///
/// Exit code 0: no difference. 1: there are differences. 2: it could not be told.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The object as it should be, as YAML or JSON; an empty file for one that should not be.
    #[arg(long, value_name = "FILE")]
    desired: PathBuf,
    /// The object as the cluster has it; an empty file for one that it has not.
    #[arg(long, value_name = "FILE")]
    live: PathBuf,
    /// Rules for fields to leave out: a list as in `spec.ignoreDifferences` of an Application, as a file or as the text
    /// itself.
    #[arg(long, value_name = "RULES", allow_hyphen_values = true)]
    ignore: Option<String>,
    /// Compare as an installation with these settings does: its ConfigMap `argocd-cm`. Without it nothing is left out
    /// but what the rules name.
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Compare as for an application that is applied on the server's side.
    #[arg(long)]
    server_side_apply: bool,
    /// How to print what was found.
    #[arg(short, long, value_enum, default_value_t)]
    output: Output,
}

#[derive(Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
enum Output {
    /// For people.
    #[default]
    Text,
    /// Everything, for programs.
    Json,
}

pub(crate) fn run(arguments: &Arguments) -> Outcome {
    // As with diff and kubectl, 1 is an answer and not a failure.
    let found = compare(arguments).map_err(|failure| Failure { code: Code::Trouble, ..failure })?;
    match arguments.output {
        Output::Text => found.print(),
        Output::Json => println!("{}", format::json(&found.to_value())?),
    }
    if let Some(error) = &found.error {
        return Err(Failure::new(Code::Trouble, format!("the objects cannot be compared: {error}")));
    }
    match found.modified {
        // The difference has been told; there is nothing to add.
        true => Err(Failure::new(Code::Answer, "")),
        false => Ok(()),
    }
}

/// What a comparison found, without secrets.
struct Found {
    modified: bool,
    live: Option<Object>,
    predicted: Option<Object>,
    fields: Vec<FieldChange>,
    rules: Vec<RuleReport>,
    error: Option<String>,
}

fn compare(arguments: &Arguments) -> Outcome<Found> {
    let (desired, live) = (object(&arguments.desired)?, object(&arguments.live)?);
    let settings = settings(arguments)?;
    let objects: Vec<&Object> = desired.iter().chain(&live).collect();
    let sides = match sides(desired.as_ref(), live.as_ref(), &settings) {
        Ok(sides) => sides,
        Err(error) => {
            let error = Some(unquoted(&lynceus_engine::words(&error), &objects));
            let (live, predicted) = (None, None);
            return Ok(Found { modified: false, live, predicted, fields: vec![], rules: vec![], error });
        }
    };
    let modified = sides.is_modified();
    let changes = change_set(desired.as_ref(), live.as_ref(), &settings);
    let fields = changes.changes.iter().flat_map(|change| match &change.verdict {
        Verdict::Update(update) => update.fields.clone(),
        _ => Vec::new(),
    });
    let fields = fields.collect();
    let Sides { live, predicted } = shown(sides, &objects, &settings);
    Ok(Found { modified, live, predicted, fields, rules: changes.rules, error: None })
}

fn change_set(desired: Option<&Object>, live: Option<&Object>, settings: &Settings) -> ChangeSet {
    let pair = match (desired.cloned(), live.cloned()) {
        (Some(desired), Some(live)) => Pair::Both { desired, live },
        (Some(desired), None) => Pair::Missing(desired),
        (None, Some(live)) => Pair::Extra(live),
        (None, None) => return ChangeSet::default(),
    };
    compare_all(Pairs { pairs: vec![pair], hooks: Vec::new() }, settings, &|_| true)
}

fn shown(sides: Sides, objects: &[&Object], settings: &Settings) -> Sides {
    let hidden = &settings.hidden_annotations;
    if !objects.iter().any(|object| is_secret(object)) && hidden.is_empty() {
        return sides;
    }
    let (predicted, live) = mask(sides.predicted.as_ref(), sides.live.as_ref(), hidden);
    Sides { live, predicted }
}

fn settings(arguments: &Arguments) -> Outcome<Settings> {
    let rules = arguments.ignore.as_deref().map(rules).transpose()?.unwrap_or_default();
    let (own, errors) = Ignore::new(&rules);
    if let Some(error) = errors.first() {
        return Err(Failure::because("a rule cannot be read", error));
    }
    let settings = match &arguments.config {
        None => Settings { ignore: own, known_types: KnownTypes::none(), ..Settings::default() },
        Some(file) => {
            let (system, errors) = System::of(&object(file)?.unwrap_or_default());
            for error in errors {
                anstream::eprintln!("warning: {}", lynceus_engine::words(&error));
            }
            system.settings(own)
        }
    };
    Ok(Settings { server_side_apply: arguments.server_side_apply, ..settings })
}

/// Rules from a file, or from the text itself.
fn rules(given: &str) -> Outcome<Vec<ResourceIgnoreDifferences>> {
    let is_text = given.contains(['\n', '{', '[']) || given.starts_with("- ") || given.trim().is_empty();
    let text = if is_text { given.to_owned() } else { read(Path::new(given))? };
    let value = yaml::parse_str(&text).doing("the rules cannot be read")?;
    let list = match &value {
        Value::Map(_) => {
            let within = [&["spec", "ignoreDifferences"][..], &["ignoreDifferences"]];
            within.iter().find_map(|path| value.at(path)).cloned().unwrap_or_else(|| value!([value]))
        }
        _ => value,
    };
    let broken = || Failure::new(Code::Trouble, "the rules are no list as in spec.ignoreDifferences");
    let items = match &list {
        Value::Null => &[][..],
        list => list.as_seq().ok_or_else(broken)?,
    };
    items.iter().enumerate().map(|(number, item)| one_rule(number, item)).collect()
}

/// A rule. Fields that rules do not have are told of: one that is misspelled would hide nothing without a word.
fn one_rule(number: usize, item: &Value) -> Outcome<ResourceIgnoreDifferences> {
    let fields = item.as_map().into_iter().flat_map(Map::keys);
    for field in fields.filter(|field| !ResourceIgnoreDifferences::FIELDS.contains(&field.as_str())) {
        anstream::eprintln!(
            "warning: rule {number} has a field {field:?}; there are {}",
            ResourceIgnoreDifferences::FIELDS.join(", ")
        );
    }
    serde_json::from_value(item.into()).doing(format!("rule {number} cannot be read"))
}

fn object(file: &Path) -> Outcome<Option<Object>> {
    let failed = format!("{} cannot be read", file.display());
    let mut found = None;
    for document in yaml::documents(read(file)?.as_bytes(), &yaml::Options::default()) {
        let value = document.result.doing(failed.as_str())?;
        if value.is_null() {
            continue;
        }
        if found.is_some() {
            let message =
                format!("{failed}: it has more than one object, another begins at line {}", document.line);
            return Err(Failure::new(Code::Trouble, message).hint("compare one object at a time"));
        }
        let object = Object::new(value)
            .map_err(|_| Failure::new(Code::Trouble, format!("{failed}: it is no object")))?;
        found = Some(object);
    }
    Ok(found)
}

fn read(file: &Path) -> Outcome<String> {
    std::fs::read_to_string(file).doing(format!("{} cannot be read", file.display()))
}

impl Found {
    fn print(&self) {
        if self.modified
            && let Some(object) = self.predicted.as_ref().or(self.live.as_ref())
        {
            println!("{}", text::heading(&object.key()));
            print!("{}", text::normal(self.live.as_ref(), self.predicted.as_ref()));
            self.fields.iter().for_each(|field| println!("{}", line(field)));
        }
        for remark in self.rules.iter().filter_map(RuleReport::remark) {
            anstream::eprintln!("note: {remark}");
        }
    }

    fn to_value(&self) -> Value {
        if let Some(error) = &self.error {
            return value!({"error": error});
        }
        let side =
            |object: &Option<Object>| object.as_ref().map_or(Value::Null, |object| object.value().clone());
        let mut value = value!({"modified": self.modified});
        value.set(&["normalizedLive"], side(&self.live));
        value.set(&["predictedLive"], side(&self.predicted));
        value.set(&["fields"], self.fields.iter().map(field).collect::<Value>());
        value.set(&["rules"], self.rules.iter().map(rule).collect::<Value>());
        value
    }
}

/// A differing field in one line: `.spec.replicas: written by hpa (Update) at 2026-01-01T00:00:00Z, writer`.
fn line(field: &FieldChange) -> String {
    let origin = field.origin.as_str();
    match &field.writer {
        Some(writer) => format!(
            "{:#}: written by {} ({}) at {}, {origin}",
            field.path, writer.manager, writer.operation, writer.time
        ),
        None => format!("{:#}: {origin}", field.path),
    }
}

fn field(field: &FieldChange) -> Value {
    let mut value = value!({"path": format!("{:#}", field.path), "origin": field.origin.as_str()});
    for (name, side) in [("desired", &field.desired), ("live", &field.live)] {
        value.set(&[name], side.clone().unwrap_or_default());
    }
    if let Some(writer) = &field.writer {
        let parts = [
            ("manager", &writer.manager),
            ("operation", &writer.operation),
            ("subresource", &writer.subresource),
            ("time", &writer.time),
        ];
        for (name, text) in parts.into_iter().filter(|(_, text)| !text.is_empty()) {
            value.set(&[name], text.clone());
        }
    }
    value
}

fn rule(report: &RuleReport) -> Value {
    let mut value = value!({
        "kind": report.kind.as_str(), "what": report.what.as_str(), "objects": report.objects,
        "matched": report.matched, "fields": report.fields,
    });
    match report.place {
        Place::Application(number) => value.set(&["number"], number),
        Place::System | Place::BuiltIn => value.set(&["number"], Value::Null),
    }
    if let Some(remark) = report.remark() {
        value.set(&["remark"], remark);
    }
    value
}
