//! Who asks for what: the words that authentication, authorization and admission share.

use std::collections::BTreeMap;
use std::sync::Arc;

use lynceus_object::{Gvk, Gvr, Str, Value, value};

/// Someone who was authenticated.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct User {
    /// The name, such as `system:serviceaccount:shop:default`.
    pub name: Str,
    /// The uid, where the credential has one.
    pub uid: Str,
    /// The groups.
    pub groups: Vec<Str>,
    /// What else the credential says.
    pub extra: BTreeMap<Str, Vec<Str>>,
}

impl User {
    /// A user with a name and groups.
    pub fn new(name: &str, groups: &[&str]) -> Self {
        User {
            name: name.into(),
            groups: groups.iter().map(|group| (*group).into()).collect(),
            ..User::default()
        }
    }

    /// The administrator whose credentials stand in the kubeconfig.
    pub fn admin() -> Self {
        User::new("kubernetes-admin", &["system:masters", "system:authenticated"])
    }

    /// A part of the control plane, such as `system:kube-controller-manager`.
    pub fn system(name: &str) -> Self {
        User::new(name, &["system:masters", "system:authenticated"])
    }

    /// A service account, as its tokens make it known.
    pub fn service_account(namespace: &str, name: &str) -> Self {
        User {
            name: ecow::eco_format!("system:serviceaccount:{namespace}:{name}"),
            groups: vec![
                "system:serviceaccounts".into(),
                ecow::eco_format!("system:serviceaccounts:{namespace}"),
                "system:authenticated".into(),
            ],
            ..User::default()
        }
    }

    /// Someone without credentials.
    pub fn anonymous() -> Self {
        User::new("system:anonymous", &["system:unauthenticated"])
    }

    /// The user as reviews show it: `UserInfo`, without what is empty.
    pub fn info(&self) -> Value {
        let mut info = value!({"username": self.name.as_str()});
        if !self.uid.is_empty() {
            info.set(&["uid"], self.uid.clone());
        }
        if !self.groups.is_empty() {
            info.set(&["groups"], self.groups.clone());
        }
        for (key, values) in &self.extra {
            info.set(&["extra", key], values.clone());
        }
        info
    }

    /// Whether the user is in a group.
    pub fn is_in(&self, group: &str) -> bool {
        self.groups.iter().any(|known| known == group)
    }
}

/// What a request wants to do, for the authorizer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Attributes {
    /// `get`, `list`, `watch`, `create`, `update`, `patch`, `delete`, `deletecollection`, or the
    /// lower-case HTTP method for a path that is no resource.
    pub verb: Str,
    /// The API group.
    pub group: Str,
    /// The version.
    pub version: Str,
    /// The plural resource; empty for a path that is no resource.
    pub resource: Str,
    /// The subresource, or empty.
    pub subresource: Str,
    /// The namespace, or empty.
    pub namespace: Str,
    /// The name, or empty.
    pub name: Str,
    /// The path, for requests that are not about resources.
    pub path: Str,
}

impl Attributes {
    /// Whether this is about a resource (and not about a path such as `/healthz`).
    pub fn is_resource(&self) -> bool {
        !self.resource.is_empty()
    }
}

/// What admission is told that is being done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// `CREATE`
    Create,
    /// `UPDATE`
    Update,
    /// `DELETE`
    Delete,
    /// `CONNECT`
    Connect,
}

impl Operation {
    /// The word in webhook rules and AdmissionReviews.
    pub fn word(self) -> &'static str {
        match self {
            Self::Create => "CREATE",
            Self::Update => "UPDATE",
            Self::Delete => "DELETE",
            Self::Connect => "CONNECT",
        }
    }
}

/// A write, for admission.
#[derive(Clone, Debug)]
pub struct Admission {
    /// Who writes.
    pub user: Arc<User>,
    /// What is done.
    pub operation: Operation,
    /// The kind of the object that is sent (the subresource's kind for a subresource).
    pub kind: Gvk,
    /// The resource.
    pub resource: Gvr,
    /// The subresource, or empty.
    pub subresource: Str,
    /// The namespace, or empty.
    pub namespace: Str,
    /// The name; empty when it is yet to be generated.
    pub name: Str,
    /// Whether nothing will be kept.
    pub dry_run: bool,
    /// The field manager that the request names, or empty.
    pub manager: Str,
}

impl Admission {
    /// The options of the request (`CreateOptions`, `UpdateOptions`, …) as an object. Few ask for them.
    pub fn options(&self) -> Value {
        let kind = match self.operation {
            Operation::Create => "CreateOptions",
            Operation::Update => "UpdateOptions",
            Operation::Delete => "DeleteOptions",
            Operation::Connect => "ConnectOptions",
        };
        let mut options = value!({"kind": kind, "apiVersion": "meta.k8s.io/v1"});
        if self.dry_run {
            options.set(&["dryRun"], value!(["All"]));
        }
        if !self.manager.is_empty() && self.operation != Operation::Delete {
            options.set(&["fieldManager"], self.manager.clone());
        }
        options
    }
}
