//! One resource on its way through a build.

use std::sync::Arc;

use lynceus_files::Span;
use lynceus_object::{Str, Value};

use crate::id::{Id, Kind};
use crate::origin::Origin;
use crate::read::spelled;
use crate::shared::Shared;
use crate::written::{Step, Written};

/// A resource with what the build has to remember of it. Kustomize writes this into annotations that it takes out in
/// the end; here it stands beside the object.
#[derive(Clone, Debug, Default)]
pub struct Resource {
    /// The object. A patch that deletes it leaves `null`, and it is dropped.
    pub value: Value,
    /// What it was called before, the oldest first.
    pub former: Vec<Former>,
    /// The prefixes that its name was given, the innermost first.
    pub prefixes: Vec<Str>,
    /// The suffixes that its name was given, the innermost first.
    pub suffixes: Vec<Str>,
    /// What to do when there is one of the same name; set by generators.
    pub behavior: Option<Behavior>,
    /// Whether its name ends with a hash of its content.
    pub needs_hash: bool,
    /// As a patch: whether it may change the name of what it patches.
    pub may_rename: bool,
    /// As a patch: whether it may change the kind of what it patches.
    pub may_change_kind: bool,
    /// The variables that are read from it.
    pub variables: Vec<Str>,
    /// Where it was written down.
    pub span: Option<Span>,
    /// Whether a chart gave it, which has had its namespace from Helm.
    pub is_from_chart: bool,
    /// Where it came from, if the build keeps account of that.
    pub(crate) origin: Option<Arc<Origin>>,
    /// What changed it, if the build keeps account of that.
    pub(crate) transformations: Vec<Arc<Origin>>,
    /// The labels and annotations that are one in several places.
    pub(crate) shared: Vec<Shared>,
    /// Which one it is in the traces, if the build is traced.
    pub(crate) track: Option<usize>,
    /// The ways to maps that were empty, and so in flow style, until something was put into them.
    pub(crate) flow: Vec<Vec<Step>>,
    /// How its scalars were written down.
    pub written: Written,
}

/// What a resource was called before it was renamed. Group and version are always the current ones.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Former {
    /// The kind.
    pub kind: Str,
    /// The name.
    pub name: Str,
    /// The effective namespace, which is special for what has none.
    pub namespace: Str,
}

/// What a generator does when there is one of the same name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Behavior {
    /// There must be none.
    Create,
    /// It takes the other's place.
    Replace,
    /// Its data is added to the other's.
    Merge,
}

impl Resource {
    /// A resource that nothing has happened to yet.
    pub fn new(value: Value) -> Self {
        Resource { value, ..Resource::default() }
    }

    /// `apiVersion`; empty if it is no string.
    pub fn api_version(&self) -> &str {
        self.value.str_at(&["apiVersion"]).unwrap_or_default()
    }

    /// `kind`; empty if it is no string.
    pub fn kind_name(&self) -> &str {
        self.value.str_at(&["kind"]).unwrap_or_default()
    }

    /// `metadata.name`; empty if it is no string.
    pub fn name(&self) -> &str {
        self.value.str_at(&["metadata", "name"]).unwrap_or_default()
    }

    /// `metadata.namespace`; empty if it is no string.
    pub fn namespace(&self) -> &str {
        self.value.str_at(&["metadata", "namespace"]).unwrap_or_default()
    }

    /// Its kind.
    pub fn kind(&self) -> Kind {
        Kind::new(self.api_version(), self.kind_name())
    }

    /// The kind that it was first.
    pub fn original_kind(&self) -> Kind {
        match self.former.first() {
            Some(former) => Kind { kind: former.kind.clone(), ..self.kind() },
            None => self.kind(),
        }
    }

    /// What it is called now; `cluster_scoped` is what the schema says of its kind.
    pub fn id(&self, cluster_scoped: bool) -> Id {
        // A name that is written as a number is a name all the same.
        let text = |field: &str| self.value.at(&["metadata", field]).map(spelled).unwrap_or_default();
        Id { kind: self.kind(), name: text("name"), namespace: text("namespace"), cluster_scoped }
    }

    /// What it was called before, the oldest first.
    pub fn former_ids(&self) -> impl Iterator<Item = Id> + '_ {
        self.former.iter().map(|former| Id {
            kind: Kind { kind: former.kind.clone(), ..self.kind() },
            name: former.name.clone(),
            namespace: former.namespace.clone(),
            cluster_scoped: false,
        })
    }

    /// What it was called first.
    pub fn original_id(&self, cluster_scoped: bool) -> Id {
        self.former_ids().next().unwrap_or_else(|| self.id(cluster_scoped))
    }

    /// Whether the build keeps account of where it came from.
    pub(crate) fn is_tracked(&self) -> bool {
        self.origin.is_some() || !self.transformations.is_empty()
    }

    /// Forgets where it came from and what changed it. Kustomize keeps that in annotations, so that it is gone with them:
    /// whatever took them away counts as what made the resource.
    pub(crate) fn forget_origin(&mut self) {
        self.origin = None;
        self.transformations.clear();
    }

    /// Lets what is one in several places follow a change in one of them.
    pub(crate) fn settle(&mut self) {
        let value = &mut self.value;
        self.shared.retain_mut(|shared| shared.settle(value));
    }

    /// Remembers what it is called now, before that changes. Nothing is remembered of what has no name.
    pub fn remember_id(&mut self, cluster_scoped: bool) {
        if self.name().is_empty() {
            return;
        }
        let id = self.id(cluster_scoped);
        let namespace = id.effective_namespace().into();
        self.former.push(Former { kind: id.kind.kind, name: id.name, namespace });
    }
}
