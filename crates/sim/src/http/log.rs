//! What a container wrote: the lines that the stage declares for its program, since no program runs.

use lynceus_object::{Object, Value};

use super::query::Query;
use crate::ApiError;
use crate::core::Core;

/// The log of a container. A log that is followed ends at once: nothing more will come.
pub(super) fn text(core: &Core, pod: &Object, container: &str, query: &Query) -> Result<String, ApiError> {
    // Nobody can be asked about a pod that is nowhere, and the real server has nothing to say then.
    if pod.value().str_at(&["spec", "nodeName"]).unwrap_or_default().is_empty() {
        return Ok(String::new());
    }
    let started = started(pod, container, query.flag("previous") == Some(true))?;
    let lists = ["containers", "initContainers"];
    let mut specs = lists.iter().flat_map(|list| pod.value().items_at(&["spec", list]));
    let spec = specs.find(|spec| spec.str_at(&["name"]) == Some(container));
    let image = spec.and_then(|spec| spec.str_at(&["image"])).unwrap_or_default();
    let lines = core.stage.script(image, container).map(|script| script.log.as_slice()).unwrap_or_default();
    let tail = query.number("tailLines")?.map_or(usize::MAX, |count| usize::try_from(count).unwrap_or(0));
    let stamp = if query.flag("timestamps") == Some(true) { format!("{started} ") } else { String::new() };
    let mut text = String::new();
    for line in &lines[lines.len().saturating_sub(tail)..] {
        text.push_str(&stamp);
        text.push_str(line);
        text.push('\n');
    }
    if let Some(most) = query.number("limitBytes")? {
        let most = usize::try_from(most).unwrap_or(0).min(text.len());
        text.truncate(text.floor_char_boundary(most));
    }
    Ok(text)
}

/// When the run began whose log is wanted; or why there is none, as a kubelet says it.
fn started<'a>(pod: &'a Object, container: &str, previous: bool) -> Result<&'a str, ApiError> {
    let name = pod.name();
    let refused =
        |why: &str| ApiError::bad_request(format!("container {container:?} in pod {name:?} is {why}"));
    let lists = ["containerStatuses", "initContainerStatuses"];
    let mut statuses = lists.iter().flat_map(|list| pod.value().items_at(&["status", list]));
    let status = statuses.find(|status| status.str_at(&["name"]) == Some(container));
    let Some(status) = status else { return Err(refused("not available")) };
    let begun = |run: &'a Value| run.str_at(&["startedAt"]).unwrap_or_default();
    let last = status.at(&["lastState", "terminated"]);
    if previous {
        return last.map(begun).ok_or_else(|| {
            ApiError::bad_request(format!(
                "previous terminated container {container:?} in pod {name:?} not found"
            ))
        });
    }
    let state = |kind| status.at(&["state", kind]);
    if let Some(run) = state("running").or_else(|| state("terminated")).or(last) {
        return Ok(begun(run));
    }
    Err(refused(&match status.str_at(&["state", "waiting", "reason"]).unwrap_or_default() {
        "ErrImagePull" => "waiting to start: image can't be pulled".to_owned(),
        "ImagePullBackOff" => "waiting to start: trying and failing to pull image".to_owned(),
        reason => format!("waiting to start: {reason}"),
    }))
}
