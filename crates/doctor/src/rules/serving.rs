//! Who serves a class of Ingresses or Gateways.

use lynceus_object::{Object, ObjectKey, Value};

use crate::case::{Case, Pods};

/// The workloads that are wanted, not there yet, and serve a class: those of the applications that bring the class which name it or its
/// controller in what they are started with, else those that are marked as of the same program, else the only one.
pub(super) fn of(case: &Case<'_>, server: &str, class: &ObjectKey) -> Vec<ObjectKey> {
    let mut found = Vec::new();
    for (app, wanted) in case.wanted(server, class) {
        let class = &wanted.object;
        let absent = app.wanted().iter().map(|one| &one.object).filter(|one| {
            matches!(one.kind(), "Deployment" | "DaemonSet" | "StatefulSet")
                && case.is_absent(server, &one.key())
        });
        let absent: Vec<&Object> = absent.collect();
        let naming: Vec<&Object> = absent.iter().copied().filter(|one| names(one, class)).collect();
        let kin = || absent.iter().copied().filter(|one| is_kin(one, class)).collect::<Vec<&Object>>();
        let serving = match (naming.is_empty(), absent.len()) {
            (false, _) => naming,
            (true, 1) => absent,
            (true, _) => kin(),
        };
        found.extend(serving.into_iter().map(Object::key));
    }
    found
}

/// Whether a workload is told of a class by its name or its controller's.
fn names(workload: &Object, class: &Object) -> bool {
    let Some(pods) = Pods::of(workload) else { return false };
    let controller =
        ["controller", "controllerName"].iter().find_map(|field| class.value().str_at(&["spec", field]));
    let is_name = |word: &str| word == class.name() || Some(word) == controller;
    let is_told = |text: &str| text.split(['=', ' ', ',']).any(is_name);
    pods.containers().iter().any(|(_, container)| {
        let words = ["args", "command"].into_iter().flat_map(|field| container.items_at(&[field]));
        let settings = container.items_at(&["env"]).iter().filter_map(|one| one.get("value"));
        words.chain(settings).filter_map(Value::as_str).any(is_told)
    })
}

/// Whether both are marked as of one program.
fn is_kin(workload: &Object, class: &Object) -> bool {
    let labels = ["app.kubernetes.io/name", "app.kubernetes.io/instance"];
    labels.iter().all(|label| class.label(label).is_some() && class.label(label) == workload.label(label))
}
