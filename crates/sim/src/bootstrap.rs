//! What a new cluster has in it before anyone asks for anything.

use lynceus_object::{Object, Value, value};

use crate::attributes::User;
use crate::core::Core;
use crate::verbs::{self, Body, Call, Validation, WriteOptions};
use crate::{ApiError, auth};

/// Creates what is missing: namespaces, the API server's own Service, roles and bindings.
pub(crate) async fn run(core: &Core) -> Result<(), ApiError> {
    for name in ["default", "kube-system", "kube-public", "kube-node-lease"] {
        create(core, value!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})).await?;
    }
    for object in auth::bootstrap() {
        create(core, object.into_value()).await?;
    }
    create(core, service()).await?;
    for class in priority_classes() {
        create(core, class).await?;
    }
    Ok(())
}

/// The way from inside the cluster to the API server.
fn service() -> Value {
    value!({
        "apiVersion": "v1", "kind": "Service",
        "metadata": {
            "name": "kubernetes", "namespace": "default",
            "labels": {"component": "apiserver", "provider": "kubernetes"},
        },
        "spec": {
            "clusterIP": "10.0.0.1", "type": "ClusterIP", "ipFamilyPolicy": "SingleStack",
            "ports": [{"name": "https", "port": 443, "protocol": "TCP", "targetPort": 6443}],
        },
    })
}

fn priority_classes() -> [Value; 2] {
    let class = |name, value, what| {
        value!({
            "apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": name},
            "value": value, "description": what,
        })
    };
    [
        class(
            "system-cluster-critical",
            2_000_000_000,
            "Used for system critical pods that must run in the cluster, but can be moved to another node if necessary.",
        ),
        class(
            "system-node-critical",
            2_000_001_000,
            "Used for system critical pods that must not be moved from their current node.",
        ),
    ]
}

async fn create(core: &Core, object: Value) -> Result<(), ApiError> {
    let object = Object::new(object).unwrap_or_default();
    let registry = core.registry();
    let Some(resource) = registry.of_kind(&object.gvk()) else { return Ok(()) };
    let call = Call {
        user: std::sync::Arc::new(User::system("system:apiserver")),
        resource: std::sync::Arc::clone(resource),
        namespace: object.namespace().into(),
        name: "".into(),
        subresource: "".into(),
        options: WriteOptions {
            dry_run: false,
            manager: "kube-apiserver".into(),
            validation: Validation::Ignore,
            force: false,
        },
    };
    let exists = core.read(resource, object.namespace(), object.name()).await?.is_some();
    if exists {
        return Ok(());
    }
    match verbs::create(core, &call, Body::from(object)).await {
        Err(error) if error.reason != "AlreadyExists" => Err(error),
        _ => Ok(()),
    }
}
