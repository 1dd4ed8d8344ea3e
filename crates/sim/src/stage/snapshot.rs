//! What a real cluster was like, in one file: its version, what it serves, and its objects without what is secret.

use std::collections::BTreeSet;
use std::io::{Read as _, Write as _};

use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use lynceus_object::{FieldPath, Gvk, Object, Str, Value, json, value, yaml};

use super::read::{Field, Source, StageError};
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

/// How every snapshot begins.
const BEGINNING: &str = "a snapshot is written by `lynceus snapshot FILE`";
const KEYS: [&str; 6] = ["apiVersion", "kind", "version", "serves", "leftOut", "objects"];

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
        let mut document = value!({"apiVersion": "sim.lynceus.dev/v1alpha1", "kind": "Snapshot"});
        document.set(&["version"], self.version.clone());
        document.set(&["serves"], serves.collect::<Vec<String>>());
        document.set(&["leftOut"], self.left_out.clone());
        let objects: Vec<Value> = self.objects.iter().map(|object| object.value().clone()).collect();
        document.set(&["objects"], objects);
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

    /// Reads what stands in a document.
    pub(super) fn of(source: &Source<'_>, document: &Value) -> Result<Self, StageError> {
        let root = Field::at(source, FieldPath::root(), document);
        if let Some(unknown) =
            document.as_map().and_then(|map| map.keys().find(|key| !KEYS.contains(&key.as_str())))
        {
            let field = Field::at(source, FieldPath::root().field(unknown.clone()), document);
            return Err(field.wrong("is no key of a snapshot", format!("it may have: {}", KEYS.join(", "))));
        }
        let texts = |key: &str| root.list(key, |text| text.text().map(Str::from));
        let mut serves = BTreeSet::new();
        for text in root.list("serves", |text| Ok(text.clone()))? {
            let parts: Vec<&str> = text.text()?.split('/').collect();
            serves.insert(match parts[..] {
                [version, plural] => (Str::new(), version.into(), plural.into()),
                [group, version, plural] => (group.into(), version.into(), plural.into()),
                _ => return Err(text.wrong("is no resource", "write it as apps/v1/deployments")),
            });
        }
        let objects = root.list("objects", |field| {
            let object = Object::new(field.value().clone()).ok();
            let complete = object.filter(|object| !object.kind().is_empty() && !object.name().is_empty());
            complete.ok_or_else(|| field.wrong("is no object with a kind and a name", BEGINNING))
        })?;
        Ok(Snapshot {
            version: document.get("version").cloned().unwrap_or_default(),
            serves,
            left_out: texts("leftOut")?,
            objects,
        })
    }
}

/// Whether an object defines a kind.
pub(crate) fn is_definition(object: &Object) -> bool {
    object.gvk() == Gvk::new("apiextensions.k8s.io", "v1", "CustomResourceDefinition")
}

/// The text in a file, which may be packed.
pub(super) fn unpack(file: &str, bytes: &[u8]) -> Result<String, StageError> {
    let problem = |problem: String, hint: &str| Source { file, text: "" }.at_line(1, &problem, hint);
    let most = limits::SNAPSHOT_BYTES;
    let mut text = Vec::new();
    if file.ends_with(".gz") {
        let unpacked = GzDecoder::new(bytes).take(most as u64 + 1).read_to_end(&mut text);
        unpacked.map_err(|error| problem(format!("cannot be unpacked: {error}"), "is it a file of gzip?"))?;
    } else {
        text.extend_from_slice(bytes);
    }
    if text.len() > most {
        return Err(problem(
            format!("has more than {most} bytes"),
            "leave kinds out when it is made: lynceus snapshot --without RESOURCES FILE",
        ));
    }
    String::from_utf8(text).map_err(|_| problem("is no text".to_owned(), "it has to be YAML or JSON"))
}
