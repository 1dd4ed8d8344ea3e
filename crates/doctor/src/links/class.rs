//! What names a class waits for the class.

use lynceus_object::{FieldPath, Object, ObjectKey};

use crate::case::{Case, Pods};
use crate::graph::Graph;
use crate::node::Node;

/// Something that names a class that is not there.
pub(crate) struct Named<'a> {
    /// The cluster's address.
    pub(crate) server: &'a str,
    /// What names it.
    pub(crate) holder: &'a Object,
    /// Where.
    pub(crate) path: FieldPath,
    /// The class.
    pub(crate) class: ObjectKey,
}

pub(super) fn link(case: &Case<'_>, graph: &mut Graph) {
    for named in absent(case) {
        let from = case.node(named.server, &named.holder.key());
        graph.link(from, Node::object(named.server, named.class));
    }
}

/// The classes that are named by what is not well, or is still to come, and that are not there.
pub(crate) fn absent<'a>(case: &Case<'a>) -> Vec<Named<'a>> {
    let mut all = Vec::new();
    for (server, holder, pods) in case.holders() {
        of_pods(server, holder, pods, &mut all);
    }
    for server in case.servers() {
        for (group, kind) in [("networking.k8s.io", "Ingress"), ("gateway.networking.k8s.io", "Gateway")] {
            let objects = case.of_kind(server, group, kind).iter().copied();
            objects
                .filter(|object| case.is_unwell(object))
                .for_each(|object| of_entry(server, object, &mut all));
        }
        entries_to_come(case, server, &mut all);
    }
    for server in case.servers() {
        let services = case.of_kind(server, KSERVE, "InferenceService").iter().copied();
        services
            .filter(|service| case.is_unwell(service))
            .for_each(|service| of_model(case, server, service, &mut all));
    }
    all.retain(|named| case.is_absent(named.server, &named.class));
    all
}

/// Ingresses and Gateways that nobody has made yet. Where no class is seen at all, or one of the same name does without, a controller goes by
/// the name; and one that is still to run may bring its class itself.
fn entries_to_come<'a>(case: &Case<'a>, server: &'a str, all: &mut Vec<Named<'a>>) {
    for object in case.to_come(server).iter().copied() {
        let Some(class) = named_by(object) else { continue };
        let kin = case.of_kind(server, object.group(), object.kind());
        let is_served = kin.iter().any(|other| named_by(other).as_ref() == Some(&class));
        let is_known = !case.of_kind(server, &class.group, &class.kind).is_empty();
        if is_known && !is_served && !case.is_promised(server, &class.name) {
            of_entry(server, object, all);
        }
    }
}

const KSERVE: &str = "serving.kserve.io";

/// A model is served by a runtime of its namespace, or by one of the whole cluster.
fn of_model<'a>(case: &Case<'a>, server: &'a str, service: &'a Object, all: &mut Vec<Named<'a>>) {
    let path = ["spec", "predictor", "model", "runtime"];
    let Some(name) = service.value().str_at(&path).filter(|name| !name.is_empty()) else { return };
    let wide = ObjectKey::new(KSERVE, "ClusterServingRuntime", "", name);
    if case.is_absent(server, &wide) && case.wanted(server, &wide).is_empty() {
        let class = ObjectKey::new(KSERVE, "ServingRuntime", service.namespace(), name);
        all.push(Named { server, holder: service, path: FieldPath::fields(path), class });
    }
}

fn of_pods<'a>(server: &'a str, holder: &'a Object, pods: &Pods<'a>, all: &mut Vec<Named<'a>>) {
    let fields = [
        ("priorityClassName", "scheduling.k8s.io", "PriorityClass"),
        ("runtimeClassName", "node.k8s.io", "RuntimeClass"),
    ];
    for (field, group, kind) in fields {
        let name = pods.spec.str_at(&[field]).filter(|name| !name.is_empty() && !name.starts_with("system-"));
        if let Some(name) = name {
            let class = ObjectKey::new(group, kind, "", name);
            all.push(Named { server, holder, path: pods.path.field(field), class });
        }
    }
}

fn of_entry<'a>(server: &'a str, object: &'a Object, all: &mut Vec<Named<'a>>) {
    if let Some(class) = named_by(object) {
        let field = if object.kind() == "Ingress" { "ingressClassName" } else { "gatewayClassName" };
        all.push(Named { server, holder: object, path: FieldPath::fields(["spec", field]), class });
    }
}

/// The class that an Ingress or a Gateway names.
pub(crate) fn named_by(object: &Object) -> Option<ObjectKey> {
    let (field, kind) = match (object.group(), object.kind()) {
        ("networking.k8s.io", "Ingress") => ("ingressClassName", "IngressClass"),
        ("gateway.networking.k8s.io", "Gateway") => ("gatewayClassName", "GatewayClass"),
        _ => return None,
    };
    let name = object.value().str_at(&["spec", field]).filter(|name| !name.is_empty())?;
    Some(ObjectKey::new(object.group(), kind, "", name))
}
