//! Classes of storage, priority, runtime and ingress that somebody names and nobody brings.

use std::collections::BTreeSet;

use lynceus_object::{Object, Value, value};
use lynceus_sim::stage::{Ingress, STANDARD, Storage};

use super::pod::each;
use super::{Assumed, Needs, Sort, There, maps};
use crate::survey::Survey;

/// The controller of the ingress classes that are assumed.
const CONTROLLER: &str = "lynceus.dev/assumed";

/// The address that their Ingresses get.
const ADDRESS: &str = "198.19.255.254";

pub(crate) fn assume(surveys: &[&Survey], there: &There, assumed: &mut Assumed, needs: &mut Needs) {
    storage(surveys, there, assumed, needs);
    of_pods(surveys, there, assumed, needs);
    ingress(surveys, there, assumed, needs);
}

/// Any field that is called as a claim's is may come to be one's. A stage that lists classes lists all.
fn storage(surveys: &[&Survey], there: &There, assumed: &mut Assumed, needs: &mut Needs) {
    if !assumed.stage.storage.is_empty() {
        return;
    }
    let mut names: BTreeSet<String> = BTreeSet::new();
    for (key, one) in surveys.iter().flat_map(|survey| &survey.applications) {
        for object in one.outcome.objects().filter(|object| object.kind() != "CustomResourceDefinition") {
            maps(object.value(), &mut |map| {
                let named =
                    ["storageClassName", "storageClass"].into_iter().filter_map(|key| map.str_at(&[key]));
                for name in named.filter(|name| !name.is_empty() && *name != STANDARD) {
                    if there.is_open("storage.k8s.io", "StorageClass", name) {
                        needs.add(Sort::StorageClass, name, key);
                        names.insert(name.to_owned());
                    }
                }
            });
        }
    }
    // A stage that lists some has no other ones.
    let usual = Some(Storage::usual()).filter(|_| !names.is_empty());
    let class = |name: String| Storage { class: name.into(), default: false, ..Storage::usual() };
    assumed.stage.storage.extend(names.into_iter().map(class).chain(usual));
}

fn of_pods(surveys: &[&Survey], there: &There, assumed: &mut Assumed, needs: &mut Needs) {
    let mut made = BTreeSet::new();
    each(surveys, |key, _, pod| {
        for (field, sort, group, kind) in [
            ("priorityClassName", Sort::PriorityClass, "scheduling.k8s.io", "PriorityClass"),
            ("runtimeClassName", Sort::RuntimeClass, "node.k8s.io", "RuntimeClass"),
        ] {
            let name = pod.str_at(&[field]).unwrap_or_default();
            if name.is_empty() || name.starts_with("system-") || !there.is_open(group, kind, name) {
                continue;
            }
            needs.add(sort, name, key);
            if made.insert((sort, name.to_owned())) {
                assumed.objects.push(class(&format!("{group}/v1"), kind, name));
            }
        }
    });
}

/// What the class is called that those have who name none.
const DEFAULT: &str = "default";

/// Where nobody brings a class, a cluster has one for those that name none: the installation's own. Where there are classes, they are all.
fn ingress(surveys: &[&Survey], there: &There, assumed: &mut Assumed, needs: &mut Needs) {
    let mut made = BTreeSet::new();
    let has_classes =
        !assumed.stage.ingress.is_empty() || there.of("networking.k8s.io", "IngressClass").next().is_some();
    for (key, one) in surveys.iter().flat_map(|survey| &survey.applications) {
        for object in one.outcome.objects().filter(|object| object.kind() == "Ingress") {
            let name = object.value().str_at(&["spec", "ingressClassName"]);
            let name = name.or_else(|| object.annotation("kubernetes.io/ingress.class"));
            let Some(name) = name.or(Some(DEFAULT).filter(|_| !has_classes)) else { continue };
            if name.is_empty() || !there.is_open("networking.k8s.io", "IngressClass", name) {
                continue;
            }
            needs.add(Sort::IngressClass, name, key);
            if made.insert(name.to_owned()) {
                let mut object = class("networking.k8s.io/v1", "IngressClass", name);
                object.set(&["spec", "controller"], CONTROLLER);
                if name == DEFAULT {
                    object.set_annotation("ingressclass.kubernetes.io/is-default-class", "true");
                }
                assumed.objects.push(object);
            }
        }
    }
    if !made.is_empty() {
        assumed.stage.ingress.push(Ingress { controller: CONTROLLER.into(), address: Some(ADDRESS.into()) });
    }
}

fn class(api_version: &str, kind: &str, name: &str) -> Object {
    let mut object =
        Object::new(value!({"apiVersion": api_version, "kind": kind, "metadata": {"name": name}}))
            .unwrap_or_default();
    match kind {
        "PriorityClass" => object.set(&["value"], Value::Int(1000)),
        "RuntimeClass" => object.set(&["handler"], "assumed"),
        _ => {}
    }
    object
}
