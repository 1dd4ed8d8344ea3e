//! One object of an application: reading, changing and deleting it, and its actions.

use std::sync::Arc;

use lynceus_cluster::{Cluster, Deletion, in_the_name_of};
use lynceus_engine::{Belongings, Condition};
use lynceus_object::{Object, Propagation, Str, Value, json, patch, value};

use super::changing::done;
use crate::call::{Answer, Answered, Call};
use crate::refusal::{Code, Refusal};
use crate::rights::Resource;

/// An object as a request names it. What is left empty fits all.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Named<'a> {
    pub(super) group: Option<&'a str>,
    pub(super) kind: &'a str,
    pub(super) namespace: &'a str,
    pub(super) name: &'a str,
    pub(super) uid: &'a str,
}

impl<'a> Named<'a> {
    pub(super) fn of(call: &'a Call) -> Self {
        Named {
            group: call.request.str_at(&["group"]).or(Some("")),
            kind: call.text("kind"),
            namespace: call.text("namespace"),
            name: call.text("resourceName"),
            uid: "",
        }
    }

    fn fits(&self, object: &Object) -> bool {
        let is = |wanted: &str, text: &str| wanted.is_empty() || wanted == text;
        self.group.is_none_or(|group| group == object.group())
            && is(self.kind, object.kind())
            && is(self.namespace, object.namespace())
            && is(self.uid, object.uid())
            && self.name == object.name()
    }

    /// How fine-grained rights name what is done to it: `update/apps/Deployment/shop/web`.
    fn action(&self, verb: &str) -> String {
        let group = self.group.unwrap_or_default();
        format!("{verb}/{group}/{}/{}/{}", self.kind, self.namespace, self.name)
    }
}

fn said(conditions: &[Condition]) -> Refusal {
    let words: Vec<&str> = conditions.iter().map(|condition| condition.message.as_str()).collect();
    Refusal::new(Code::FailedPrecondition, words.join("; "))
}

/// An object that is the application's, or that something of it owns, whole and as the server has it; and its cluster.
pub(super) async fn owned(call: &Call, wanted: &Named<'_>) -> Result<(Arc<Cluster>, Object), Refusal> {
    let (belongings, object) = belonging(call, wanted).await?;
    Ok((belongings.cluster, object))
}

async fn belonging(call: &Call, wanted: &Named<'_>) -> Result<(Belongings, Object), Refusal> {
    let application = call.application("get", "name")?;
    let belongings = call.server.engine.belongings(&application).await.map_err(|found| said(&found))?;
    let missing = || {
        let (kind, name) = (wanted.kind, wanted.name);
        Refusal::invalid(format!(
            "{kind} {name} not found as part of application {}",
            application.metadata.name
        ))
    };
    let found = belongings.objects.iter().map(|one| &one.object).find(|object| wanted.fits(object));
    let found = found.ok_or_else(missing)?;
    let live = belongings.cluster.live(&found.key(), &found.gvk()).await?.ok_or_else(missing)?;
    Ok((belongings, live))
}

pub(super) async fn get(call: &Call) -> Answered {
    let (_, object) = owned(call, &Named::of(call)).await?;
    Ok(Answer::One(manifest(call, &object)))
}

fn manifest(call: &Call, object: &Object) -> Value {
    value!({"manifest": json::to_string(call.server.discreet(object).value())})
}

/// Refuses what the caller may do neither to this object nor to the application as a whole.
fn may(call: &Call, verb: &str, named: &Named<'_>) -> Result<(), Refusal> {
    let application = call.application_may("get", "name")?;
    let object = call.application_object(&application);
    match call.caller.may(Resource::Applications, &named.action(verb), &object) {
        true => Ok(()),
        false => call.caller.need(Resource::Applications, verb, &object),
    }
}

/// Changes an object by a patch, as the user that the project says.
pub(super) async fn patch(call: &Call) -> Answered {
    let named = Named::of(call);
    may(call, "update", &named)?;
    let application = call.application("get", "name")?;
    let (belongings, live) = belonging(call, &named).await?;
    let text = call.needed("patch")?;
    let change = json::parse(text.as_bytes())
        .map_err(|error| Refusal::invalid(format!("the patch is no JSON: {error}")))?;
    let changed = match call.text("patchType") {
        "" | "application/merge-patch+json" | "merge" => patch::merge(live.value(), &change),
        "application/json-patch+json" | "json" => patch::json(live.value(), &change),
        "application/strategic-merge-patch+json" | "strategic" => {
            let ty = lynceus_object::schema::builtin().of(&live.gvk());
            let ty = ty.ok_or_else(|| Refusal::invalid("a strategic patch is for built-in kinds only"))?;
            patch::strategic(live.value(), &change, ty)
        }
        other => return Err(Refusal::invalid(format!("patch type {other:?} is not supported"))),
    };
    let changed = changed.map_err(|error| Refusal::invalid(error.to_string()))?;
    let wanted = Object::new(changed).map_err(|_| Refusal::invalid("the patch leaves no object"))?;
    if wanted.key() != live.key() {
        return Err(Refusal::invalid("a patch cannot make another object of this one"));
    }
    let user = guise(call, &application)?;
    let written = in_the_name_of(user, belongings.cluster.change(&live, &wanted)).await?;
    Ok(Answer::One(manifest(call, &written.unwrap_or(live))))
}

/// The user as whom an application's objects are written.
fn guise(call: &Call, application: &lynceus_api::Application) -> Result<Str, Refusal> {
    let project =
        call.server.engine.project(application).map_err(|condition| Refusal::invalid(condition.message))?;
    call.server
        .engine
        .guise(application, Some(&project))
        .map_err(|why| Refusal::new(Code::PermissionDenied, why))
}

/// Deletes an object.
pub(super) async fn delete(call: &Call) -> Answered {
    let named = Named::of(call);
    may(call, "delete", &named)?;
    let application = call.application("get", "name")?;
    let (belongings, live) = belonging(call, &named).await?;
    let propagation = match (call.flag("orphan"), call.flag("force")) {
        (true, _) => Propagation::Orphan,
        (false, true) => Propagation::Background,
        (false, false) => Propagation::Foreground,
    };
    let deletion = Deletion { propagation, uid: live.uid().to_owned(), ..Deletion::default() };
    let user = guise(call, &application)?;
    let gvk = live.gvk();
    let deleted = belongings.cluster.delete(&gvk, live.namespace(), live.name(), &deletion);
    in_the_name_of(user, deleted).await?;
    Ok(Answer::One(done()))
}

/// What can be done with an object.
pub(super) async fn actions(call: &Call) -> Answered {
    let (_, object) = owned(call, &Named::of(call)).await?;
    let offers = call
        .server
        .engine
        .offers(&object)
        .map_err(|error| Refusal::invalid(lynceus_engine::words(&error)))?;
    let shown = offers.iter().map(|offer| {
        let params: Value = offer.parameters.iter().map(|name| value!({"name": name.clone()})).collect();
        value!({
            "name": offer.name.clone(), "disabled": offer.disabled, "iconClass": offer.icon.clone(),
            "displayName": offer.title.clone(), "params": params,
        })
    });
    Ok(Answer::One(value!({"actions": shown.collect::<Value>()})))
}

/// Does it.
pub(super) async fn run(call: &Call) -> Answered {
    let named = Named::of(call);
    let action = call.needed("action")?;
    let application = call.application("get", "name")?;
    let object = call.application_object(&call.application_may("get", "name")?);
    let verb = format!("action/{}/{}/{action}", named.group.unwrap_or_default(), named.kind);
    call.caller.need(Resource::Applications, &verb, &object)?;
    let (belongings, live) = belonging(call, &named).await?;
    let parameters: Vec<(&str, Value)> = call
        .request
        .items_at(&["resourceActionParameters"])
        .iter()
        .filter_map(|one| Some((one.str_at(&["name"])?, one.get("value")?.clone())))
        .collect();
    let asked = lynceus_engine::Call { action, parameters: &parameters, user: call.caller.name() };
    let ran = call.server.engine.run_action(&application, &belongings, &live, asked).await;
    ran.map_err(|error| Refusal::invalid(lynceus_engine::words(&error)))?;
    Ok(Answer::One(done()))
}
