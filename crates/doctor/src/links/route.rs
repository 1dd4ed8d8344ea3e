//! What lets requests in waits for the services that it sends them to, and for the gateways that it stands in.

use lynceus_object::{FieldPath, Object, ObjectKey, Value};

use crate::case::Case;
use crate::graph::Graph;
use crate::node::Node;

const GATEWAYS: &str = "gateway.networking.k8s.io";

/// A service or gateway that something names.
pub(crate) struct Backend<'a> {
    /// The cluster's address.
    pub(crate) server: &'a str,
    /// What names it: as it is in the cluster, or as it is wanted.
    pub(crate) holder: &'a Object,
    /// Where.
    pub(crate) path: FieldPath,
    /// What is named.
    pub(crate) key: ObjectKey,
    /// The port, by name or number.
    pub(crate) port: Option<&'a Value>,
    /// Where that stands.
    pub(crate) port_path: FieldPath,
}

pub(super) fn link(case: &Case<'_>, graph: &mut Graph) {
    for backend in backends(case) {
        if case.is_absent(backend.server, &backend.key) {
            let from = case.node(backend.server, &backend.holder.key());
            graph.link(from, Node::object(backend.server, backend.key));
        }
    }
}

/// Everything that names services or gateways in fields that mean nothing else.
pub(crate) fn backends<'a>(case: &Case<'a>) -> Vec<Backend<'a>> {
    let mut all = Vec::new();
    for server in case.servers() {
        for object in case.objects(server) {
            of_object(server, object, &mut all);
        }
    }
    for app in case.apps() {
        let absent = app.wanted().iter().filter(|one| case.is_absent(app.server(), &one.object.key()));
        absent.for_each(|one| of_object(app.server(), &one.object, &mut all));
    }
    all
}

fn of_object<'a>(server: &'a str, object: &'a Object, all: &mut Vec<Backend<'a>>) {
    match (object.group(), object.kind()) {
        ("networking.k8s.io", "Ingress") => ingress(server, object, all),
        (GATEWAYS, kind) if kind.ends_with("Route") => route(server, object, all),
        ("route.openshift.io", "Route") => openshift(server, object, all),
        ("apiregistration.k8s.io", "APIService") => {
            let path = FieldPath::fields(["spec", "service"]);
            whole(server, object, path, object.at(&["spec", "service"]), all);
        }
        (
            "admissionregistration.k8s.io",
            "ValidatingWebhookConfiguration" | "MutatingWebhookConfiguration",
        ) => {
            let hooks = object.value().items_at(&["webhooks"]).iter().enumerate();
            // Nobody misses one that may be away.
            for (place, hook) in hooks.filter(|(_, hook)| hook.str_at(&["failurePolicy"]) != Some("Ignore")) {
                let path =
                    FieldPath::fields(["webhooks"]).index(place).field("clientConfig").field("service");
                whole(server, object, path, hook.at(&["clientConfig", "service"]), all);
            }
        }
        _ => {}
    }
}

fn ingress<'a>(server: &'a str, object: &'a Object, all: &mut Vec<Backend<'a>>) {
    let mut take = |path: FieldPath, backend: Option<&'a Value>| {
        let Some(service) = backend.and_then(|backend| backend.get("service")) else { return };
        let Some(name) = service.str_at(&["name"]) else { return };
        let (path, port) = (path.field("service"), service.get("port"));
        let named = port.and_then(|port| Some(("name", port.get("name").filter(|one| !one.is_empty())?)));
        let port = named.or_else(|| Some(("number", port?.get("number")?)));
        all.push(Backend {
            server,
            holder: object,
            key: ObjectKey::new("", "Service", object.namespace(), name),
            port: port.map(|(_, port)| port),
            port_path: path.field("port").field(port.map_or("number", |(field, _)| field)),
            path: path.field("name"),
        });
    };
    take(FieldPath::fields(["spec", "defaultBackend"]), object.at(&["spec", "defaultBackend"]));
    for (rule, one) in object.value().items_at(&["spec", "rules"]).iter().enumerate() {
        for (place, part) in one.items_at(&["http", "paths"]).iter().enumerate() {
            let path =
                FieldPath::fields(["spec", "rules"]).index(rule).field("http").field("paths").index(place);
            take(path.field("backend"), part.get("backend"));
        }
    }
}

fn route<'a>(server: &'a str, object: &'a Object, all: &mut Vec<Backend<'a>>) {
    for (rule, one) in object.value().items_at(&["spec", "rules"]).iter().enumerate() {
        for (place, backend) in one.items_at(&["backendRefs"]).iter().enumerate() {
            if backend.str_at(&["kind"]).unwrap_or("Service") == "Service" {
                let path = FieldPath::fields(["spec", "rules"]).index(rule).field("backendRefs").index(place);
                whole(server, object, path, Some(backend), all);
            }
        }
    }
    for (place, parent) in object.value().items_at(&["spec", "parentRefs"]).iter().enumerate() {
        let text = |field| parent.str_at(&[field]).filter(|text: &&str| !text.is_empty());
        let Some(name) = text("name").filter(|_| text("kind").unwrap_or("Gateway") == "Gateway") else {
            continue;
        };
        let path = FieldPath::fields(["spec", "parentRefs"]).index(place);
        all.push(Backend {
            server,
            holder: object,
            key: ObjectKey::new(GATEWAYS, "Gateway", text("namespace").unwrap_or(object.namespace()), name),
            port: None,
            port_path: path.field("port"),
            path: path.field("name"),
        });
    }
}

fn openshift<'a>(server: &'a str, object: &'a Object, all: &mut Vec<Backend<'a>>) {
    let Some(name) = object.value().str_at(&["spec", "to", "name"]) else { return };
    all.push(Backend {
        server,
        holder: object,
        key: ObjectKey::new("", "Service", object.namespace(), name),
        port: object.at(&["spec", "port", "targetPort"]),
        port_path: FieldPath::fields(["spec", "port", "targetPort"]),
        path: FieldPath::fields(["spec", "to", "name"]),
    });
}

/// `{name, namespace, port}`
fn whole<'a>(
    server: &'a str,
    object: &'a Object,
    path: FieldPath,
    value: Option<&'a Value>,
    all: &mut Vec<Backend<'a>>,
) {
    let Some(value) = value.filter(|value| !value.is_null()) else { return };
    let Some(name) = value.str_at(&["name"]).filter(|name| !name.is_empty()) else { return };
    let namespace = value.str_at(&["namespace"]).filter(|one| !one.is_empty()).unwrap_or(object.namespace());
    all.push(Backend {
        server,
        holder: object,
        key: ObjectKey::new("", "Service", namespace, name),
        port: value.get("port"),
        port_path: path.field("port"),
        path: path.field("name"),
    });
}
