//! ApplicationSets: what there are, what they would generate, and what became of them.

mod change;
mod preview;
mod tree;
mod watching;

use lynceus_api::{ApplicationSet, Kind as _, annotations};
use lynceus_engine::{set_gvk, set_kind};
use lynceus_object::{Object, ObjectKey, Selector, Value, value};

use super::unknown;
use crate::call::{Answered, Call};
use crate::refusal::Refusal;
use crate::rights::Resource;

/// Has a question answered.
pub(super) async fn answer(method: &str, call: Call) -> Answered {
    match method {
        "List" => list(&call),
        "Get" => Ok(shown(&find(&call, "get")?).into()),
        "Create" => change::create(&call).await,
        "Delete" => change::delete(&call).await,
        "Generate" => change::generate(&call).await,
        "Preview" => preview::preview(&call).await,
        "ResourceTree" => tree::tree(&call),
        "ListResourceEvents" => tree::events(&call).await,
        "Watch" => watching::watch(call),
        _ => Err(unknown(method)),
    }
}

/// Which sets somebody asks for.
struct Filter {
    name: String,
    namespace: String,
    projects: Vec<String>,
    selector: Option<Selector>,
}

impl Filter {
    fn of(call: &Call) -> Result<Self, Refusal> {
        let selector = match call.text("selector") {
            "" => None,
            text => Some(Selector::parse(text).map_err(|error| Refusal::invalid(error.to_string()))?),
        };
        // The two messages write it differently.
        let namespace = [call.text("appsetNamespace"), call.text("appSetNamespace")].concat();
        Ok(Filter {
            name: call.text("name").to_owned(),
            namespace,
            projects: call.texts("projects"),
            selector,
        })
    }

    /// Whether a set is meant, and the caller may see it.
    fn takes(&self, call: &Call, object: &Object) -> bool {
        let is = |wanted: &str, text: &str| wanted.is_empty() || wanted == text;
        is(&self.name, object.name())
            && is(&self.namespace, object.namespace())
            && (self.projects.is_empty() || self.projects.iter().any(|one| one == project_of(object)))
            && self.selector.as_ref().is_none_or(|selector| selector.matches(|key| object.label(key)))
            && takes_from(call, object.namespace())
            && call.caller.may(Resource::ApplicationSets, "get", &right(call, object))
    }
}

fn list(call: &Call) -> Answered {
    let filter = Filter::of(call)?;
    let items: Vec<Value> = found(call, &filter).iter().map(shown).collect();
    Ok(value!({"metadata": {}, "items": items}).into())
}

/// The sets that a call asks for, by name.
fn found(call: &Call, filter: &Filter) -> Vec<Object> {
    let mut found = call.server.engine.home().cache().of_kind(&set_kind());
    found.retain(|object| filter.takes(call, object));
    found.sort_by(|one, other| (one.name(), one.namespace()).cmp(&(other.name(), other.namespace())));
    found
}

/// Whether sets of a namespace are looked at.
fn takes_from(call: &Call, namespace: &str) -> bool {
    call.server.engine.settings().takes_sets_from(namespace, call.server.namespace())
}

/// The project that a set's Applications are in; it may be a template.
fn project_of(object: &Object) -> &str {
    object.value().str_at(&["spec", "template", "spec", "project"]).unwrap_or_default()
}

/// What rights name a set by: its project and its name, with the namespace between them where that is not our own.
fn right(call: &Call, object: &Object) -> String {
    let (project, name) = (project_of(object), object.name());
    if object.namespace() == call.server.namespace() || object.namespace().is_empty() {
        return format!("{project}/{name}");
    }
    format!("{project}/{}/{name}", object.namespace())
}

/// The set that a request names, if the caller may do this with it. Who may not is not told whether it is there.
fn find(call: &Call, action: &str) -> Result<Object, Refusal> {
    let name = call.needed("name")?;
    let namespace = match call.text("appsetNamespace") {
        "" => call.server.namespace(),
        namespace => namespace,
    };
    if !takes_from(call, namespace) {
        return Err(Refusal::invalid(format!("namespace '{namespace}' is not permitted")));
    }
    let key = ObjectKey::new(lynceus_api::GROUP, ApplicationSet::KIND, namespace, name);
    match call.server.engine.home().cache().get(&key) {
        Some(object) => {
            call.caller.need(Resource::ApplicationSets, action, &right(call, &object))?;
            Ok(object)
        }
        None => {
            // Only who may see every set may know that there is none of this name.
            call.caller.need(Resource::ApplicationSets, action, &format!("*/{name}"))?;
            Err(Refusal::not_found(format!("applicationsets.argoproj.io {name:?} not found")))
        }
    }
}

/// A set as it is answered: without what only the API server and kubectl need.
fn shown(object: &Object) -> Value {
    let mut object = object.clone();
    object.remove(&["metadata", "managedFields"]);
    object.remove(&["metadata", "annotations", annotations::LAST_APPLIED]);
    object.set(&["apiVersion"], set_gvk().api_version());
    object.set(&["kind"], ApplicationSet::KIND);
    object.into_value()
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test that cannot go on has to stop")]
mod tests;
