//! The addresses of resources and what may be done there.

use std::sync::Arc;

use lynceus_object::{Map, Value, value};

use super::model::Models;
use super::operation::{Action, Target, operation, path_parameters};
use crate::kinds::{Resource, Subresource};

/// The paths of the resources of one group version, with their operations.
pub(super) fn of(resources: &[Arc<Resource>], models: &mut Models) -> Map {
    let mut paths = Map::new();
    for resource in resources {
        collection(resource, models, &mut paths);
        if resource.allows("get") {
            item(resource, models, &mut paths);
        }
        for part in &resource.subresources {
            subresource(resource, part, models, &mut paths);
        }
    }
    paths
}

/// The path under which a resource lives: `/apis/apps/v1/namespaces/{namespace}/deployments`.
fn base(resource: &Resource, namespaced: bool) -> String {
    let root =
        if resource.group.is_empty() { "/api".to_owned() } else { format!("/apis/{}", resource.group) };
    let namespace = if namespaced { "/namespaces/{namespace}" } else { "" };
    format!("{root}/{}{namespace}/{}", resource.version, resource.plural)
}

fn collection(resource: &Resource, models: &mut Models, paths: &mut Map) {
    let target = Target { resource, part: None, named: false, namespaced: resource.namespaced };
    let actions =
        [("list", Action::List), ("create", Action::Create), ("deletecollection", Action::DeleteAll)];
    let item = path_item(&target, resource.verbs, &actions, models);
    if !item.is_empty() {
        paths.insert(base(resource, resource.namespaced), item);
    }
    if resource.namespaced && resource.allows("list") {
        let everywhere = Target { namespaced: false, ..target };
        let item = path_item(&everywhere, resource.verbs, &[("list", Action::ListEverywhere)], models);
        paths.insert(base(resource, false), item);
    }
}

fn item(resource: &Resource, models: &mut Models, paths: &mut Map) {
    let target = Target { resource, part: None, named: true, namespaced: resource.namespaced };
    let actions = [
        ("get", Action::Read),
        ("update", Action::Replace),
        ("patch", Action::Patch),
        ("delete", Action::Delete),
    ];
    let item = path_item(&target, resource.verbs, &actions, models);
    paths.insert(format!("{}/{{name}}", base(resource, resource.namespaced)), item);
}

fn subresource(resource: &Resource, part: &Subresource, models: &mut Models, paths: &mut Map) {
    let target = Target { resource, part: Some(part), named: true, namespaced: resource.namespaced };
    let actions = [
        ("get", Action::Read),
        ("create", Action::Create),
        ("update", Action::Replace),
        ("patch", Action::Patch),
        ("delete", Action::Delete),
    ];
    let item = path_item(&target, part.verbs, &actions, models);
    paths.insert(format!("{}/{{name}}/{}", base(resource, resource.namespaced), part.name), item);
}

fn path_item(target: &Target<'_>, verbs: &[&str], actions: &[(&str, Action)], models: &mut Models) -> Value {
    let mut item = value!({});
    for (_, action) in actions.iter().filter(|(verb, _)| verbs.contains(verb)) {
        item.set(&[action.method()], operation(target, *action, models));
    }
    if !item.is_empty() {
        item.set(&["parameters"], path_parameters(target, models.dialect));
    }
    item
}
