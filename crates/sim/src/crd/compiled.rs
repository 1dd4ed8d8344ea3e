//! A definition in the form that requests use.

use std::cmp::Ordering;
use std::sync::{Arc, OnceLock};

use lynceus_object::jsonpath::Template;
use lynceus_object::{Gvk, Object, Str, Value};

use super::columns::{self, PrinterColumn};
use super::conversion::Webhook;
use super::rule;
use super::schema::Schema;
use super::status::is_true;
use crate::kinds::{PART_VERBS, Resource, Subresource};

/// What can be done with a custom resource, in the order in which the original tells it.
const VERBS: &[&str] = &["delete", "deletecollection", "get", "list", "patch", "create", "update", "watch"];

/// One version of a definition, compiled.
#[derive(Debug, Default)]
pub struct Compiled {
    pub(super) schema: Schema,
    pub(super) source: Value,
    pub(super) columns: Vec<PrinterColumn>,
    pub(super) has_status: bool,
    pub(super) scale: Option<ScalePaths>,
    pub(super) selectable: Vec<(Str, Template)>,
    conversion: Option<Webhook>,
    /// The schema of the version that instances are stored in, if that is another one.
    pub(super) stored: Option<Arc<Schema>>,
    pub(super) storage_version: Str,
    merge_schema: OnceLock<lynceus_object::schema::Schema>,
}

/// Where an instance keeps what its Scale shows.
#[derive(Debug)]
pub(super) struct ScalePaths {
    pub(super) spec: Str,
    pub(super) status: Str,
    pub(super) selector: Option<Str>,
}

impl Compiled {
    /// The version's `openAPIV3Schema`, for the documents that describe the API; null without one.
    pub fn openapi(&self) -> &Value {
        &self.source
    }

    /// The schema that merging and applying walk. Made when it is first asked for.
    pub fn merge_schema(&self) -> &lynceus_object::schema::Schema {
        self.merge_schema.get_or_init(|| lynceus_object::schema::Schema::from_openapi(&self.source))
    }

    /// The webhook that converts instances between versions, if they differ in more than name.
    pub fn conversion(&self) -> Option<&Webhook> {
        self.conversion.as_ref()
    }

    /// Whether status is written through a subresource only.
    pub fn has_status(&self) -> bool {
        self.has_status
    }

    /// The names of the fields that lists can be selected by, beside name and namespace.
    pub fn selectable(&self) -> impl Iterator<Item = &str> {
        self.selectable.iter().map(|(name, _)| name.as_str())
    }

    fn new(version: &Value, definition: &Object, storage_version: Str) -> Self {
        let source = version.at(&["schema", "openAPIV3Schema"]).cloned().unwrap_or_default();
        let schema = if source.is_null() {
            Schema::open()
        } else {
            let mut schema = Schema::compile(&source);
            rule::attach(&mut schema, &source, true);
            schema
        };
        let scale =
            version.at(&["subresources", "scale"]).filter(|scale| !scale.is_null()).map(|scale| ScalePaths {
                spec: scale.str_at(&["specReplicasPath"]).unwrap_or_default().into(),
                status: scale.str_at(&["statusReplicasPath"]).unwrap_or_default().into(),
                selector: scale.str_at(&["labelSelectorPath"]).filter(|path| !path.is_empty()).map(Str::from),
            });
        let selectable = version.items_at(&["selectableFields"]).iter().filter_map(|field| {
            let path = field.str_at(&["jsonPath"])?;
            Some((path.trim_start_matches('.').into(), columns::template(path)?))
        });
        Compiled {
            schema,
            source,
            columns: columns::compile(version.items_at(&["additionalPrinterColumns"])),
            has_status: version.at(&["subresources", "status"]).is_some_and(|status| !status.is_null()),
            scale,
            selectable: selectable.collect(),
            conversion: definition.at(&["spec", "conversion"]).and_then(Webhook::of),
            stored: None,
            storage_version,
            merge_schema: OnceLock::new(),
        }
    }
}

/// The resources that a stored definition serves: one per served version, the preferred one first.
/// None until its names are accepted and it is established.
pub fn resources(definition: &Object) -> Vec<Arc<Resource>> {
    if !is_true(definition, "Established") {
        return Vec::new();
    }
    let Some(names) = definition.at(&["status", "acceptedNames"]) else { return Vec::new() };
    let versions = definition.value().items_at(&["spec", "versions"]);
    let name = |version: &Value| Str::from(version.str_at(&["name"]).unwrap_or_default());
    let storage = versions.iter().find(|version| version.bool_at(&["storage"]).unwrap_or(false));
    let storage_version = storage.map(name).unwrap_or_default();
    let mut served: Vec<&Value> =
        versions.iter().filter(|version| version.bool_at(&["served"]).unwrap_or(false)).collect();
    served.sort_by(|a, b| compare_versions(&name(b), &name(a)));
    let stored = storage.and_then(|version| version.at(&["schema", "openAPIV3Schema"]));
    let stored = stored.map(|schema| Arc::new(Schema::compile(schema)));
    served
        .iter()
        .map(|version| {
            let mut compiled = Compiled::new(version, definition, storage_version.clone());
            compiled.stored = stored.clone().filter(|_| name(version) != storage_version);
            Arc::new(resource(definition, names, version, &served, compiled))
        })
        .collect()
}

fn resource(
    definition: &Object,
    names: &Value,
    version: &Value,
    served: &[&Value],
    compiled: Compiled,
) -> Resource {
    let word = |field: &str| Str::from(names.str_at(&[field]).unwrap_or_default());
    let words =
        |field: &str| names.items_at(&[field]).iter().filter_map(Value::as_str).map(Str::from).collect();
    let group = Str::from(definition.at(&["spec", "group"]).and_then(Value::as_str).unwrap_or_default());
    let version_name = Str::from(version.str_at(&["name"]).unwrap_or_default());
    let gvk = Gvk::new(group.clone(), version_name.clone(), word("kind"));
    let mut subresources = Vec::new();
    if compiled.has_status {
        let part = Subresource { name: "status".into(), gvk: gvk.clone(), foreign: false, verbs: PART_VERBS };
        subresources.push(part);
    }
    if compiled.scale.is_some() {
        let gvk = Gvk::new("autoscaling", "v1", "Scale");
        subresources.push(Subresource { name: "scale".into(), gvk, foreign: true, verbs: PART_VERBS });
    }
    Resource {
        storage: Gvk::new(group.clone(), compiled.storage_version.clone(), word("kind")),
        deprecation: deprecation(&group, &word("kind"), version, served),
        group,
        version: version_name,
        kind: word("kind"),
        list_kind: word("listKind"),
        plural: word("plural"),
        singular: word("singular"),
        short_names: words("shortNames"),
        categories: words("categories"),
        namespaced: definition.at(&["spec", "scope"]) == Some(&"Namespaced".into()),
        verbs: VERBS,
        subresources,
        custom: Some(Arc::new(compiled)),
        ty: std::sync::OnceLock::new(),
    }
}

fn deprecation(group: &str, kind: &str, version: &Value, served: &[&Value]) -> Option<Str> {
    if !version.bool_at(&["deprecated"]).unwrap_or(false) {
        return None;
    }
    if let Some(text) = version.str_at(&["deprecationWarning"]) {
        return Some(text.into());
    }
    let name = version.str_at(&["name"]).unwrap_or_default();
    let mut text = ecow::eco_format!("{group}/{name} {kind} is deprecated");
    let newer = served
        .iter()
        .filter(|other| !other.bool_at(&["deprecated"]).unwrap_or(false))
        .filter_map(|other| other.str_at(&["name"]))
        .find(|other| compare_versions(name, other) == Ordering::Less);
    if let Some(newer) = newer {
        text.push_str(&format!("; use {group}/{newer} {kind}"));
    }
    Some(text)
}

/// Kubernetes' order of versions: `v2` > `v1` > `v1beta2` > `v1alpha1` > anything else.
pub fn compare_versions(a: &str, b: &str) -> Ordering {
    match (parts(a), parts(b)) {
        (Some(a), Some(b)) => (a.1, a.0, a.2).cmp(&(b.1, b.0, b.2)),
        (Some(_), None) => Ordering::Greater,
        (None, Some(_)) => Ordering::Less,
        // Names that are no versions come in the order of the alphabet.
        (None, None) => b.cmp(a),
    }
}

/// Major number, stability (2 stable, 1 beta, 0 alpha), minor number.
fn parts(version: &str) -> Option<(u64, u8, u64)> {
    let rest = version.strip_prefix('v')?;
    let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    let major = rest[..end].parse().ok()?;
    let (stability, minor) = match &rest[end..] {
        "" => return Some((major, 2, 0)),
        tail => tail
            .strip_prefix("beta")
            .map(|minor| (1, minor))
            .or_else(|| Some((0, tail.strip_prefix("alpha")?)))?,
    };
    Some((major, stability, minor.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use lynceus_object::value;

    use super::*;

    #[test]
    fn versions_have_an_order() {
        let mut versions = vec!["foo1", "v1alpha1", "v2", "v1", "v11beta2", "v10beta3", "v1beta1", "foo10"];
        versions.sort_by(|a, b| compare_versions(b, a));
        assert_eq!(versions, ["v2", "v1", "v11beta2", "v10beta3", "v1beta1", "v1alpha1", "foo1", "foo10"]);
    }

    #[test]
    fn a_deprecated_version_says_what_to_use() {
        let definition = Object::new(value!({"metadata": {"name": "tests.example.com"},
            "spec": {"group": "example.com", "scope": "Namespaced", "versions": [
                {"name": "v1beta1", "served": true, "storage": false, "deprecated": true},
                {"name": "v1", "served": true, "storage": true, "subresources": {"status": {}}}]},
            "status": {"acceptedNames": {"plural": "tests", "singular": "test", "kind": "Test", "listKind": "TestList"},
                "conditions": [{"type": "Established", "status": "True"}]}}))
        .unwrap();
        let served = resources(&definition);
        assert_eq!(served[0].version, "v1");
        assert!(served[0].subresource("status").is_some());
        assert_eq!(
            served[1].deprecation.as_deref(),
            Some("example.com/v1beta1 Test is deprecated; use example.com/v1 Test")
        );
        assert_eq!(served[1].storage.version, "v1");
    }
}
