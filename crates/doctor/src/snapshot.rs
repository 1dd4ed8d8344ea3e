//! Everything that was seen at one moment.

mod overriding;
mod oversight;
mod partial;
mod recorded;
mod withheld;

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use lynceus_api::{AppProject, Application};
use lynceus_diff::ChangeSet;
use lynceus_files::Span;
use lynceus_object::{GroupKind, Object, ObjectKey, Str};

pub use overriding::{Override, Way, Written};
pub use oversight::{Chance, Hollow, IdlePatch, PassedOver};
pub use partial::Partial;
pub use recorded::Recorded;
pub use withheld::{Hindrance, Lack, Lacking, Site, Withheld};

/// The ConfigMaps of an installation that hold its settings.
pub const SETTINGS: [&str; 3] = ["argocd-cm", "argocd-cmd-params-cm", "argocd-rbac-cm"];

/// Everything that was seen at one moment. Values of Secrets are never in it.
#[derive(Clone, Debug, Default)]
pub struct Snapshot {
    /// When it was taken; ages are told from here.
    pub taken_at: Timestamp,
    /// The namespace of the installation.
    pub home: Str,
    /// The applications, with what they want.
    pub applications: Vec<Delivery>,
    /// The projects.
    pub projects: Vec<AppProject>,
    /// The ConfigMaps that hold the installation's settings.
    pub settings: Vec<Object>,
    /// The clusters that applications go to. The first one is the home cluster.
    pub clusters: Vec<ClusterView>,
    /// The repositories that applications come from.
    pub repositories: Vec<RepositoryView>,
    /// What sources would bring and are kept from, of what is lacking; as far as that was tried.
    pub withheld: Vec<Withheld>,
    /// What is applied to the home cluster by hand and is not there because of what stands in it.
    pub refused: Vec<Refused>,
    /// Images that no pod will get, as far as somebody knows all that there are, each with what will be said then.
    pub lost_images: BTreeMap<Str, String>,
    /// How the controller itself is.
    pub engine: EngineView,
    /// What could not be seen, a sentence for each: what is not said about it means nothing.
    pub unseen: Vec<String>,
}

/// One application.
#[derive(Clone, Debug, Default)]
pub struct Delivery {
    /// The Application, with the status that its controller wrote.
    pub application: Application,
    /// Whether another application wants it and it is not in the cluster yet.
    pub uncreated: bool,
    /// Where the Application itself stands in Git, if it does.
    pub file: Option<Span>,
    /// The address of the cluster that it goes to.
    pub server: Str,
    /// Whether its sources were rendered for this snapshot: what it wants is known only then.
    pub rendered: bool,
    /// What it wants, in the order of its sources; hooks too.
    pub wanted: Vec<Wanted>,
    /// How the cluster differs from that.
    pub changes: ChangeSet,
    /// Values that cover others, where that was looked for: in what is not well.
    pub overrides: Vec<Override>,
    /// Patches of its kustomizations that are for nothing that is there.
    pub idle_patches: Vec<IdlePatch>,
    /// Fields that are others at each rendering.
    pub chances: Vec<Chance>,
    /// Value files that are passed over because of their names, where it was tried what those beside them would change.
    pub passed_over: Vec<PassedOver>,
    /// Values that are empty and without which it is not rendered, where that was tried.
    pub hollow: Vec<Hollow>,
    /// Images that it wants and that have no tag, each with a value that is empty and would give it one. It was tried.
    pub untagged: Vec<(Str, Hollow)>,
}

/// An object that is applied by hand, such as an Application that no other makes, and that the API server does not take.
#[derive(Clone, Debug, Default)]
pub struct Refused {
    /// The object.
    pub key: ObjectKey,
    /// Where it stands.
    pub span: Option<Span>,
    /// What the API server says.
    pub why: String,
}

/// An object that an application wants.
#[derive(Clone, Debug, Default)]
pub struct Wanted {
    /// The object, with its namespace. Values of Secrets are masked.
    pub object: Object,
    /// Where it starts in Git.
    pub span: Option<Span>,
}

/// One cluster.
#[derive(Clone, Debug, Default)]
pub struct ClusterView {
    /// Its address.
    pub server: Str,
    /// Its name.
    pub name: Str,
    /// Whether it could be asked.
    pub reach: Reach,
    /// Its version: `v1.36.3`.
    pub version: Str,
    /// The kinds that it serves, and whether their objects live in namespaces. Empty if that is not known.
    pub kinds: BTreeMap<GroupKind, bool>,
    /// Its objects, Events too.
    pub objects: Vec<Object>,
    /// Kinds of which not all objects were seen: that one is not here does not mean that it is not there.
    pub partial: Partial,
}

/// Whether something could be reached.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Reach {
    /// It answered.
    #[default]
    Up,
    /// It did not, and why.
    Away(String),
}

/// One repository.
#[derive(Clone, Debug, Default)]
pub struct RepositoryView {
    /// Its address as Applications name it.
    pub url: Str,
    /// Whether it could be read.
    pub reach: Reach,
    /// Its branches, if they are known.
    pub branches: Option<BTreeSet<Str>>,
    /// Its tags, if they are known.
    pub tags: Option<BTreeSet<Str>>,
    /// The branch that its HEAD is.
    pub head: Str,
    /// Whether a path is there in a revision, for those that were asked for: `(revision, path)`.
    pub paths: BTreeMap<(Str, Str), bool>,
}

/// How the controller itself is, where that can be seen.
#[derive(Clone, Debug, Default)]
pub struct EngineView {
    /// How many applications wait to be looked at, if that is known.
    pub waiting: Option<usize>,
    /// What the controller itself complains of, a sentence for each.
    pub complaints: Vec<String>,
}
