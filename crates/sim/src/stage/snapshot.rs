//! What a real cluster was like, in one file: its version, what it serves, and its objects without what is secret.

use std::collections::BTreeSet;
use std::io::{Read as _, Write as _};

use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use lynceus_object::{FieldPath, Gvk, Object, Str, Value, json, value, yaml};

use super::read::{Field, Source, StageError};
use super::salvage::{self, Item, Salvage};
use super::scrub;
use crate::limits;

/// What a cluster was like.
#[derive(Clone, Debug, Default)]
pub struct Snapshot {
    /// What it answers to `/version`.
    pub version: Value,
    /// What it serves: group, version and plural name.
    pub serves: BTreeSet<(Str, Str, Str)>,
    /// What could not be read of it, and why.
    pub left_out: Vec<Str>,
    /// Its objects.
    pub objects: Vec<Object>,
}

/// What to do about one that cannot be used as it is.
pub(super) const ANEW: &str = "make it anew: lynceus snapshot FILE";
const VERSION: &str = "sim.lynceus.dev/v1alpha1";
const KEYS: [&str; 8] =
    ["apiVersion", "kind", "version", "serves", "leftOut", "objectCount", "objects", "whole"];

impl Snapshot {
    /// Adds an object, without what is secret and what only its own server can use.
    pub fn add(&mut self, mut object: Object) {
        scrub::scrub(&mut object);
        self.objects.push(object);
    }

    /// The same without its objects.
    pub(crate) fn outline(&self) -> Self {
        Snapshot { version: self.version.clone(), serves: self.serves.clone(), ..Snapshot::default() }
    }

    /// Whether a resource was served; everything is where nothing is known.
    pub fn has(&self, group: &str, version: &str, plural: &str) -> bool {
        self.serves.is_empty() || self.serves.contains(&(group.into(), version.into(), plural.into()))
    }

    /// Webhooks that nobody answers without the pods behind them: what they are called, and where they are.
    pub fn deaf_webhooks(&self) -> Vec<String> {
        let of = |object: &Object| {
            let service = |webhook: &Value| {
                let service = webhook.at(&["clientConfig", "service"])?;
                let text = |field| service.str_at(&[field]).unwrap_or_default();
                let name = webhook.str_at(&["name"]).unwrap_or_default();
                let (kind, owner) = (object.kind(), object.name());
                let (namespace, to) = (text("namespace"), text("name"));
                Some(format!("webhook {name} of {kind} {owner} is behind Service {namespace}/{to}"))
            };
            let webhooks = object.value().items_at(&["webhooks"]).iter();
            let conversion = object.at(&["spec", "conversion", "webhook"]);
            webhooks.chain(conversion).filter_map(service).collect::<Vec<_>>()
        };
        let declares =
            |object: &&Object| object.kind().ends_with("WebhookConfiguration") || is_definition(object);
        self.objects.iter().filter(declares).flat_map(of).collect()
    }

    /// The file: JSON if it is called so, YAML otherwise, and packed if its name ends in `.gz`.
    pub fn to_bytes(&self, file: &str) -> std::io::Result<Vec<u8>> {
        let serves = self.serves.iter().map(|(group, version, plural)| match group.as_str() {
            "" => format!("{version}/{plural}"),
            group => format!("{group}/{version}/{plural}"),
        });
        let mut document = value!({"apiVersion": VERSION, "kind": "Snapshot"});
        document.set(&["version"], self.version.clone());
        document.set(&["serves"], serves.collect::<Vec<String>>());
        document.set(&["leftOut"], self.left_out.clone());
        let objects: Vec<Value> = self.objects.iter().map(|object| object.value().clone()).collect();
        // Stands before them, so that one can see that some are lacking.
        document.set(&["objectCount"], objects.len() as i64);
        document.set(&["objects"], objects);
        // Keys are written by the alphabet: this one is the last, so that a file without it was cut off.
        document.set(&["whole"], true);
        let packed = file.strip_suffix(".gz");
        let text = match packed.unwrap_or(file).ends_with(".json") {
            true => json::to_string(&document),
            false => yaml::to_string(&document),
        };
        if text.len() > limits::SNAPSHOT_BYTES {
            let most = limits::SNAPSHOT_BYTES;
            return Err(std::io::Error::other(format!(
                "it has more than {most} bytes, which nobody would read"
            )));
        }
        if packed.is_none() {
            return Ok(text.into_bytes());
        }
        let mut packer = GzEncoder::new(Vec::new(), Compression::default());
        packer.write_all(text.as_bytes())?;
        packer.finish()
    }

    /// Reads what can be read of a file, and says what is wrong with the rest. Only what is no snapshot of this version cannot be
    /// read at all.
    pub fn salvage(file: &str, bytes: &[u8]) -> Result<(Self, Vec<StageError>), StageError> {
        let (text, broken) = unpack(file, bytes)?;
        let source = Source { file, text: &text };
        let (snapshot, mut problems) = match super::document(&source) {
            Ok((_, document)) if super::is_snapshot(&document) => Snapshot::of(&source, &document)?,
            Ok((index, document)) => {
                return Err(super::Stage::of(&Field::root(&source, index, &document))
                    .map_or_else(|error| error, |_| source.at_line(1, "is a stage and no snapshot", ANEW)));
            }
            Err(error) => salvage::salvage(&source)
                .map_or(Err(error), |salvage| Snapshot::of_salvage(&source, salvage))?,
        };
        problems.extend(broken);
        Ok((snapshot, problems))
    }

    /// Reads a document, and says what is wrong with it.
    pub(super) fn of(source: &Source<'_>, document: &Value) -> Result<(Self, Vec<StageError>), StageError> {
        let root = Field::at(source, FieldPath::root(), document);
        let mut problems = Vec::new();
        let objects = problems.note(root.get("objects").map_or_else(|| Ok(Vec::new()), |list| list.items()));
        let items = objects.iter().enumerate();
        let items =
            items.map(|(place, field)| Item { place, line: None, value: field.value().clone() }).collect();
        Snapshot::of_salvage(source, Salvage { head: document.clone(), items, problems })
    }

    /// Reads what could be read of a text.
    pub(super) fn of_salvage(
        source: &Source<'_>,
        Salvage { head, mut items, mut problems }: Salvage,
    ) -> Result<(Self, Vec<StageError>), StageError> {
        let root = Field::at(source, FieldPath::root(), &head);
        let field = |name: &str| Field::at(source, FieldPath::root().field(name), &head);
        if head.str_at(&["apiVersion"]) != Some(VERSION) {
            let problem = format!("is a version of snapshots that cannot be read: it has to be {VERSION}");
            return Err(field("apiVersion").wrong(problem, ANEW));
        }
        let keys = head.as_map().into_iter().flat_map(|map| map.keys());
        for unknown in keys.filter(|key| !KEYS.contains(&key.as_str())) {
            let hint = format!("it may have: {}", KEYS.join(", "));
            problems.push(field(unknown).wrong("is no key of a snapshot", hint));
        }
        let mut serves = BTreeSet::new();
        for text in problems.note(root.list("serves", |text| Ok(text.clone()))) {
            serves.extend(problems.note(served(&text).map(Some)));
        }
        let text = |text: &Field<'_>| text.text().map(Str::from);
        let left_out = problems.note(root.list("leftOut", text));
        let version = head.get("version").filter(|version| !version.is_null());
        let version = version.filter(|version| {
            let is_map = version.as_map().is_some();
            if !is_map {
                problems.push(
                    field("version").wrong("has to be a map", "it is what the cluster answers to /version"),
                );
            }
            is_map
        });
        let count = head.int_at(&["objectCount"]).and_then(|count| usize::try_from(count).ok());
        if let Some(count) = count.filter(|count| problems.is_empty() && *count > items.len()) {
            let problem = format!("has {} of {count} objects: the others were cut off", items.len());
            let hint = format!("{ANEW}\nif they were taken out by hand, take objectCount out as well");
            problems.push(field("objects").wrong(problem, hint));
            pop_half(&head, &mut items);
        } else if problems.is_empty() && count.is_some() && !has_end(source, &head) {
            let line = u32::try_from(source.text.lines().count()).unwrap_or(u32::MAX).max(1);
            let problem = "ends before it is whole: what stands behind this line was cut off";
            let hint = format!(
                "{ANEW}\nif it was made by an earlier version or changed by hand, add this line at its end: whole: true"
            );
            problems.push(source.at_line(line, problem, &hint));
            pop_half(&head, &mut items);
        }
        let mut objects = Vec::new();
        for Item { place, line, value } in items {
            let path = FieldPath::root().field("objects").index(place);
            match Object::new(value)
                .ok()
                .filter(|object| !object.kind().is_empty() && !object.name().is_empty())
            {
                Some(object) => objects.push(object),
                None => {
                    let error =
                        Field::at(source, path, &head).wrong("is no object with a kind and a name", ANEW);
                    problems.push(StageError { line: line.unwrap_or(error.line), ..error });
                }
            }
        }
        let version = version.cloned().unwrap_or_default();
        Ok((Snapshot { version, serves, left_out, objects }, problems))
    }
}

/// Whether a file is there to its end: JSON has a brace there, and what is written as YAML says so.
fn has_end(source: &Source<'_>, head: &Value) -> bool {
    source.text.trim_start().starts_with('{') || head.bool_at(&["whole"]) == Some(true)
}

/// Where nothing follows the objects, the last one may have been cut in two.
fn pop_half(head: &Value, items: &mut Vec<Item>) {
    if head.get("serves").is_none() && head.get("version").is_none() {
        items.pop();
    }
}

/// What is wrong is noted, and the rest goes on.
trait Note {
    fn note<T: Default>(&mut self, read: Result<T, StageError>) -> T;
}

impl Note for Vec<StageError> {
    fn note<T: Default>(&mut self, read: Result<T, StageError>) -> T {
        read.unwrap_or_else(|error| {
            self.push(error);
            T::default()
        })
    }
}

/// A resource: group, version and plural name.
fn served(text: &Field<'_>) -> Result<(Str, Str, Str), StageError> {
    let parts: Vec<&str> = text.text()?.split('/').collect();
    match parts[..] {
        [version, plural] => Ok((Str::new(), version.into(), plural.into())),
        [group, version, plural] => Ok((group.into(), version.into(), plural.into())),
        _ => Err(text.wrong("is no resource", "write it as apps/v1/deployments")),
    }
}

/// Whether an object defines a kind.
pub(crate) fn is_definition(object: &Object) -> bool {
    object.gvk() == Gvk::new("apiextensions.k8s.io", "v1", "CustomResourceDefinition")
}

/// The text in a file, which may be packed, and what is wrong if it is not there to its end.
pub(super) fn unpack(file: &str, bytes: &[u8]) -> Result<(String, Option<StageError>), StageError> {
    let problem = |problem: String, hint: &str| Source { file, text: "" }.at_line(1, &problem, hint);
    let most = limits::SNAPSHOT_BYTES;
    let mut text = Vec::new();
    let mut broken = None;
    if file.ends_with(".gz") {
        if let Err(error) = GzDecoder::new(bytes).take(most as u64 + 1).read_to_end(&mut text) {
            if text.is_empty() {
                return Err(problem(format!("cannot be unpacked: {error}"), "is it a file of gzip?"));
            }
            broken = Some(problem(format!("cannot be unpacked to its end: {error}"), ANEW));
        }
    } else {
        text.extend_from_slice(bytes);
    }
    if text.len() > most {
        return Err(problem(
            format!("has more than {most} bytes"),
            "leave kinds out when it is made: lynceus snapshot --without RESOURCES FILE",
        ));
    }
    match String::from_utf8(text) {
        Ok(text) => Ok((text, broken)),
        // Cut off within a character.
        Err(error) if error.utf8_error().error_len().is_none() => {
            let end = error.utf8_error().valid_up_to();
            let mut text = error.into_bytes();
            text.truncate(end);
            let broken =
                broken.unwrap_or_else(|| problem("ends in the middle of a character".to_owned(), ANEW));
            Ok((String::from_utf8_lossy(&text).into_owned(), Some(broken)))
        }
        Err(_) => Err(problem("is no text".to_owned(), "it has to be YAML or JSON")),
    }
}
