//! How a cluster is watched and used.

use lynceus_api::{IN_CLUSTER_SERVER, Tracking};
use lynceus_object::Str;

use crate::scope::Scope;
use crate::turn::Rate;

/// How a cluster is watched and used. What the operator may change at run time can also be set on a
/// [`Cluster`](crate::Cluster) that is connected.
#[derive(Clone, Debug)]
pub struct Options {
    /// The address that the cluster is known by, which scopes may name.
    pub server: Str,
    /// How objects are marked as belonging to an application.
    pub tracking: Tracking,
    /// The only namespaces to look into; empty for all.
    pub namespaces: Vec<Str>,
    /// With `namespaces`: whether kinds without a namespace are watched as well.
    pub cluster_resources: bool,
    /// Which kinds are watched.
    pub scope: Scope,
    /// What to make of kinds that we may not read.
    pub respect_rbac: RespectRbac,
    /// How fast the cluster may be asked.
    pub rate: Rate,
    /// Refuse every write before a request is made.
    pub read_only: bool,
    /// The namespace whose Secrets and ConfigMaps are always kept whole; empty for a cluster that is only a destination.
    pub home: Str,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            server: IN_CLUSTER_SERVER.into(),
            tracking: Tracking::default(),
            namespaces: Vec::new(),
            cluster_resources: false,
            scope: Scope::default(),
            respect_rbac: RespectRbac::default(),
            rate: Rate::default(),
            read_only: false,
            home: Str::new(),
        }
    }
}

/// What is made of kinds that we are not allowed to read: `resource.respectRBAC`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RespectRbac {
    /// They are errors.
    #[default]
    Off,
    /// They are left out.
    Normal,
    /// They are left out, and an access review is asked before a refusal is believed.
    Strict,
}

impl RespectRbac {
    /// Reads the setting; a word that is not known counts as off, as in Argo CD.
    pub fn read(text: &str) -> Self {
        match text {
            "normal" => RespectRbac::Normal,
            "strict" => RespectRbac::Strict,
            _ => RespectRbac::Off,
        }
    }
}
