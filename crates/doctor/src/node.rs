//! Things that can be wrong, as places in the graph of causes.

use std::fmt;

use lynceus_api::Application;
use lynceus_object::{GroupKind, ObjectKey, Str};
use serde::Serialize;

/// An application by namespace and name.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct AppName {
    /// The namespace that the Application is in.
    pub namespace: Str,
    /// Its name.
    pub name: Str,
}

impl AppName {
    /// Names an application.
    pub fn new(namespace: impl Into<Str>, name: impl Into<Str>) -> Self {
        AppName { namespace: namespace.into(), name: name.into() }
    }

    /// The name of an Application.
    pub fn of(application: &Application) -> Self {
        AppName::new(application.metadata.namespace.clone(), application.metadata.name.clone())
    }
}

impl fmt::Display for AppName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

/// Something that can be wrong, or that others wait for.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Node {
    /// An application.
    Application(AppName),
    /// An object of a cluster, whether it is there or only named.
    Object {
        /// The cluster's address.
        cluster: Str,
        /// The object.
        key: ObjectKey,
    },
    /// A kind of a cluster, served or not.
    Kind {
        /// The cluster's address.
        cluster: Str,
        /// The kind.
        kind: GroupKind,
    },
    /// A container image.
    Image(Str),
    /// A repository.
    Repository(Str),
    /// A cluster.
    Cluster(Str),
    /// A setting of the installation.
    Setting(Str),
    /// The controller itself.
    Controller,
}

impl Node {
    /// An object of a cluster.
    pub fn object(cluster: impl Into<Str>, key: ObjectKey) -> Self {
        Node::Object { cluster: cluster.into(), key }
    }

    /// The object, if it is one.
    pub fn key(&self) -> Option<&ObjectKey> {
        match self {
            Node::Object { key, .. } => Some(key),
            _ => None,
        }
    }

    /// `ConfigMap/x`: what stands in the name of a finding.
    pub fn slug(&self) -> String {
        match self {
            Node::Application(app) => format!("Application/{}", app.name),
            Node::Object { key, .. } => format!("{}/{}", key.kind, key.name),
            Node::Kind { kind, .. } => format!("Kind/{kind}"),
            Node::Image(image) => format!("Image/{image}"),
            Node::Repository(url) => format!("Repository/{url}"),
            Node::Cluster(server) => format!("Cluster/{server}"),
            Node::Setting(name) => format!("Setting/{name}"),
            Node::Controller => "Controller".to_owned(),
        }
    }
}

/// As people call it: `Deployment shop/web`, `application shop`.
impl fmt::Display for Node {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Node::Application(app) => write!(f, "application {app}"),
            Node::Object { key, .. } if key.namespace.is_empty() => write!(f, "{} {}", key.kind, key.name),
            Node::Object { key, .. } => write!(f, "{} {}/{}", key.kind, key.namespace, key.name),
            Node::Kind { kind, .. } => write!(f, "kind {kind}"),
            Node::Image(image) => write!(f, "image {image}"),
            Node::Repository(url) => write!(f, "repository {url}"),
            Node::Cluster(server) => write!(f, "cluster {server}"),
            Node::Setting(name) => write!(f, "setting {name}"),
            Node::Controller => f.write_str("the controller"),
        }
    }
}
