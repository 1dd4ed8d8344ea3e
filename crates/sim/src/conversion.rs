//! Objects between the version that they are stored in and the one that they are served in.
//!
//! Most of it is pure and stands in [`strategy`]; a definition may name a webhook that has to be asked.

use lynceus_object::Object;

use crate::admission::failure_words;
use crate::core::Core;
use crate::crd::Webhook;
use crate::kinds::Resource;
use crate::{ApiError, hook, limits, strategy};

/// Stored objects as `resource` serves them. A webhook is asked once for all of them.
pub(crate) async fn serve(
    core: &Core,
    mut objects: Vec<Object>,
    resource: &Resource,
) -> Result<Vec<Object>, ApiError> {
    if let Some(webhook) = webhook(resource) {
        ask(core, webhook, &mut objects, &resource.api_version()).await?;
    }
    Ok(objects.into_iter().map(|object| strategy::serve(object, resource)).collect())
}

/// A stored object as `resource` serves it.
pub(crate) async fn serve_one(core: &Core, object: Object, resource: &Resource) -> Result<Object, ApiError> {
    if webhook(resource).is_none() {
        return Ok(strategy::serve(object, resource));
    }
    let served = serve(core, vec![object], resource).await?;
    served.into_iter().next().ok_or_else(|| ApiError::internal("a conversion lost the object"))
}

/// An object of `resource` as it is stored.
pub(crate) async fn keep(core: &Core, object: Object, resource: &Resource) -> Result<Object, ApiError> {
    let mut objects = [object];
    if let Some(webhook) = webhook(resource) {
        ask(core, webhook, &mut objects, &resource.storage.api_version()).await?;
    }
    let [object] = objects;
    Ok(strategy::keep(object, resource, &core.registry()))
}

/// The webhook that converts objects of a resource.
pub(crate) fn webhook(resource: &Resource) -> Option<&Webhook> {
    resource.custom.as_ref()?.conversion()
}

/// Has those objects converted that are in another version.
async fn ask(core: &Core, webhook: &Webhook, objects: &mut [Object], wanted: &str) -> Result<(), ApiError> {
    let foreign: Vec<&Object> = objects.iter().filter(|object| object.api_version() != wanted).collect();
    let Some(first) = foreign.first() else { return Ok(()) };
    let uid = core.random.uid();
    let failed = |problem: String| ApiError::new(500, "", problem);
    let request = webhook.request(&uid, wanted, &foreign).map_err(failed)?;
    let answer = call(core, webhook, &request).await;
    let answer = answer
        .map_err(|problem| failed(format!("conversion webhook for {} failed: {problem}", first.gvk())))?;
    let converted = webhook.answer(&answer, &uid, wanted, &foreign).map_err(failed)?;
    let places = objects.iter_mut().filter(|object| object.api_version() != wanted);
    for (place, object) in places.zip(converted) {
        *place = object;
    }
    Ok(())
}

async fn call(
    core: &Core,
    webhook: &Webhook,
    request: &lynceus_object::Value,
) -> Result<lynceus_object::Value, String> {
    let seconds = limits::CONVERSION_SECONDS;
    if let Some(service) = hook::service_of(&webhook.client)
        && let Some(failure) = core.stage.webhooks.iter().find_map(|one| one.breaks_conversion(service))
    {
        return Err(failure_words(failure, &core.store, &webhook.client, &format!("timeout={seconds}s")));
    }
    let target = hook::target(&core.store, &webhook.client, &format!("timeout={seconds}s"))?;
    hook::post(&target, request, seconds).await
}
