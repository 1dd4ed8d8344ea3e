//! What is known of kinds: which of their lists are merged, and whether they are in a namespace.
//!
//! Kustomize embeds a copy of the Kubernetes API for this; a kustomization may bring another one. Of the embedded one
//! `data/kinds.txt` has what matters.

mod custom;
mod table;

use std::sync::atomic::{AtomicBool, Ordering};

use lynceus_object::{Str, Value};

use self::custom::Custom;
use self::table::Table;
use crate::error::KustomizeError;
use crate::id::Kind;

/// The one version that Kustomize has built in.
const BUILT_IN: &str = "v1.21.2";

/// Where the objects of a kind live.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// In a namespace.
    Namespaced,
    /// In the cluster itself.
    Cluster,
}

/// What a build knows of kinds.
///
/// A custom schema takes the place of the embedded one. Kustomize adds to what it has read already, so that the embedded
/// one still counts where a kind was asked for before the custom one came; that is kept here.
#[derive(Debug, Default)]
pub struct Schema {
    custom: Option<Custom>,
    version_given: bool,
    /// Whether the embedded kinds count beside the custom ones, and which of both win.
    built_in: BuiltIn,
    /// Whether fields were asked for, so that the embedded kinds have been read.
    was_read: AtomicBool,
    /// Whether an unknown kind was asked for, so that the embedded kinds will be read.
    was_asked: AtomicBool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum BuiltIn {
    #[default]
    Alone,
    /// Read before the custom schema, which wins.
    Under,
    /// Read after the custom schema, and wins.
    Over,
    Absent,
}

impl Schema {
    /// The embedded kinds alone.
    pub fn new() -> Self {
        Schema::default()
    }

    /// Takes the `openapi` field of a kustomization: the version of a built-in schema, or the text of the file at its
    /// `path`. Only the first kustomization of a build that has one counts, from the outermost inwards.
    pub fn set(&mut self, version: Option<&str>, file: Option<&[u8]>) -> Result<(), KustomizeError> {
        if self.custom.is_some() || self.version_given {
            return Ok(());
        }
        if let Some(text) = file {
            if version.is_some() {
                return Err(KustomizeError::new(
                    "builtin version and custom schema provided, cannot use both",
                ));
            }
            self.built_in = if *self.was_read.get_mut() {
                BuiltIn::Under
            } else if *self.was_asked.get_mut() {
                BuiltIn::Over
            } else {
                BuiltIn::Absent
            };
            self.custom = Some(Custom::read(text)?);
            return Ok(());
        }
        match version.unwrap_or_default() {
            "" => Ok(()),
            BUILT_IN => {
                self.version_given = true;
                Ok(())
            }
            _ => Err(KustomizeError::new("the specified OpenAPI version is not built in")
                .hint(format!("the only built-in version is {BUILT_IN}"))),
        }
    }

    /// Where the objects of a kind live, if that is known.
    pub fn scope(&self, kind: &Kind) -> Option<Scope> {
        if let Some(scope) =
            Table::get().kind(&kind.group, &kind.version, &kind.kind).and_then(|known| known.scope)
        {
            return Some(scope);
        }
        self.was_asked.store(true, Ordering::Relaxed);
        self.custom.as_ref().and_then(|custom| custom.scope(kind))
    }

    /// Whether a kind is known to be without namespaces.
    pub fn is_cluster_scoped(&self, kind: &Kind) -> bool {
        self.scope(kind) == Some(Scope::Cluster)
    }

    /// What is known of the fields of a kind.
    pub(crate) fn of_kind(&self, kind: &Kind) -> Option<Known<'_>> {
        self.was_read.store(true, Ordering::Relaxed);
        let built_in = || {
            let number = Table::get().kind(&kind.group, &kind.version, &kind.kind)?.number?;
            Some(Known::BuiltIn(Fact::Type(number)))
        };
        let custom = || self.custom.as_ref().and_then(|custom| custom.of_kind(kind)).map(Known::Custom);
        match self.built_in {
            BuiltIn::Alone => built_in(),
            BuiltIn::Absent => custom(),
            BuiltIn::Under => custom().or_else(built_in),
            BuiltIn::Over => built_in().or_else(custom),
        }
    }

    /// What is known of a field of something.
    pub(crate) fn field<'s>(&'s self, known: Known<'s>, name: &str) -> Option<Known<'s>> {
        match known {
            Known::BuiltIn(Fact::Type(number)) => {
                Some(Known::BuiltIn(Table::get().field(number, name).unwrap_or(Fact::Nothing)))
            }
            // The table has only what matters; what it leaves out is known all the same.
            Known::BuiltIn(_) => Some(Known::BuiltIn(Fact::Nothing)),
            Known::Custom(schema) => {
                let field = custom::field(schema, name)?;
                self.resolve(field)
            }
        }
    }

    /// What is known of the items of a list.
    pub(crate) fn items<'s>(&'s self, known: Known<'s>) -> Option<Known<'s>> {
        match known {
            Known::BuiltIn(Fact::List(list)) => {
                Some(Known::BuiltIn(list.items.map_or(Fact::Nothing, Fact::Type)))
            }
            Known::BuiltIn(_) => Some(Known::BuiltIn(Fact::Nothing)),
            Known::Custom(schema) => self.resolve(custom::items(schema)?),
        }
    }

    /// Follows references. One that leads nowhere is nothing.
    fn resolve<'s>(&'s self, mut schema: &'s Value) -> Option<Known<'s>> {
        for _ in 0..crate::limits::MAX_DEPTH {
            let Some(name) = custom::reference(schema) else { return Some(Known::Custom(schema)) };
            let custom = self.custom.as_ref().and_then(|custom| custom.definition(name));
            let built_in = || Table::get().definition(name).map(|number| Known::BuiltIn(Fact::Type(number)));
            match (self.built_in, custom) {
                (BuiltIn::Over, custom) => match (built_in(), custom) {
                    (Some(known), _) => return Some(known),
                    (None, custom) => schema = custom?,
                },
                (_, Some(custom)) => schema = custom,
                (BuiltIn::Under, None) => return built_in(),
                (BuiltIn::Alone | BuiltIn::Absent, None) => return None,
            }
        }
        None
    }
}

/// What is known of one value.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Known<'s> {
    BuiltIn(Fact),
    Custom(&'s Value),
}

/// What the embedded table says of one value.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Fact {
    /// It is of a type that has fields worth knowing.
    Type(usize),
    /// It is a list.
    List(&'static List),
    /// There is nothing in it that is merged in a special way.
    Nothing,
}

/// A list in the embedded table.
#[derive(Debug)]
pub(crate) struct List {
    /// The type of its items, if they have fields worth knowing.
    items: Option<usize>,
    merged: bool,
    keys: Vec<Str>,
}

impl Known<'_> {
    /// The keys by which the items of a list are merged, if they are: none for a list of scalars.
    pub(crate) fn merge_keys(&self) -> Option<Vec<Str>> {
        match self {
            Known::BuiltIn(Fact::List(list)) => list.merged.then(|| list.keys.clone()),
            Known::BuiltIn(_) => None,
            Known::Custom(schema) => custom::merge_keys(schema),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(schema: &Schema, kind: &Kind, path: &str) -> Option<String> {
        let mut known = schema.of_kind(kind)?;
        for step in path.split('.') {
            known = if step == "[]" { schema.items(known)? } else { schema.field(known, step)? };
        }
        known.merge_keys().map(|keys| keys.join(" "))
    }

    #[test]
    fn the_embedded_kinds_tell_how_their_lists_are_merged() {
        let schema = Schema::new();
        let deployment = Kind::new("apps/v1", "Deployment");
        let keys = |path| keys(&schema, &deployment, path);
        assert_eq!(keys("spec.template.spec.containers").as_deref(), Some("name"));
        assert_eq!(keys("spec.template.spec.containers.[].ports").as_deref(), Some("containerPort protocol"));
        assert_eq!(keys("spec.template.spec.volumes").as_deref(), Some("name"));
        assert_eq!(keys("spec.template.spec.tolerations"), None);
        assert_eq!(keys("metadata.finalizers").as_deref(), Some(""));
        assert_eq!(keys("spec.no.such.field"), None);
    }

    #[test]
    fn scopes_are_known_for_the_embedded_kinds_only() {
        let schema = Schema::new();
        let scope = |api_version, kind| schema.scope(&Kind::new(api_version, kind));
        assert_eq!(scope("v1", "Namespace"), Some(Scope::Cluster));
        assert_eq!(scope("v1", "ConfigMap"), Some(Scope::Namespaced));
        assert_eq!(scope("rbac.authorization.k8s.io/v1", "ClusterRole"), Some(Scope::Cluster));
        assert_eq!(scope("example.com/v1", "Thing"), None);
        assert!(!schema.is_cluster_scoped(&Kind::new("v2", "Namespace")));
    }

    const CUSTOM: &str = r##"
definitions:
  v1.Thing:
    properties:
      spec: {$ref: "#/definitions/v1.Spec"}
    x-kubernetes-group-version-kind:
    - {group: example.com, version: v1, kind: Thing}
  v1.Spec:
    properties:
      parts:
        type: array
        items: {$ref: "#/definitions/v1.Part"}
        x-kubernetes-patch-strategy: merge
        x-kubernetes-patch-merge-key: id
  v1.Part:
    properties:
      tags: {type: array, items: {type: string}, x-kubernetes-patch-strategy: merge}
paths:
  /apis/example.com/v1/things/{name}:
    get:
      x-kubernetes-group-version-kind: {group: example.com, version: v1, kind: Thing}
"##;

    #[test]
    fn a_custom_schema_takes_the_place_of_the_embedded_one() {
        let mut schema = Schema::new();
        schema.set(None, Some(CUSTOM.as_bytes())).unwrap();
        let thing = Kind::new("example.com/v1", "Thing");
        assert_eq!(keys(&schema, &thing, "spec.parts").as_deref(), Some("id"));
        assert_eq!(keys(&schema, &thing, "spec.parts.[].tags").as_deref(), Some(""));
        assert_eq!(keys(&schema, &Kind::new("apps/v1", "Deployment"), "metadata.finalizers"), None);
        assert!(schema.is_cluster_scoped(&thing));
        assert!(schema.is_cluster_scoped(&Kind::new("v1", "Namespace")));
    }

    #[test]
    fn what_was_asked_before_stays_beside_a_custom_schema() {
        let mut schema = Schema::new();
        assert_eq!(schema.scope(&Kind::new("example.com/v1", "Other")), None);
        schema.set(None, Some(CUSTOM.as_bytes())).unwrap();
        assert!(keys(&schema, &Kind::new("apps/v1", "Deployment"), "metadata.finalizers").is_some());
    }

    #[test]
    fn only_a_built_in_version_may_be_asked_for() {
        assert!(Schema::new().set(Some("v1.21.2"), None).is_ok());
        let error = Schema::new().set(Some("v1.20.4"), None).unwrap_err();
        assert_eq!(error.message, "the specified OpenAPI version is not built in");
        let error = Schema::new().set(Some("v1.21.2"), Some(b"{}")).unwrap_err();
        assert_eq!(error.message, "builtin version and custom schema provided, cannot use both");
    }
}
