//! A project with what surrounds it.

use lynceus_engine::project_kind;
use lynceus_object::{Object, Value, value};

use super::{find, shown};
use crate::call::{Answered, Call};
use crate::refusal::Refusal;
use crate::services::{clusters, repositories};

/// A project with its global projects, repositories and clusters. To see a project is not to see its repositories'
/// credentials, so these are told by name and address alone.
pub(super) fn detailed(call: &Call) -> Answered {
    let object = find(call, call.text("name"))?;
    Ok(value!({
        "project": shown(&object)?,
        "globalProjects": global_projects(call, &object),
        "repositories": repositories::of_project(&call.server, object.name()),
        "clusters": clusters::of_project(&call.server, object.name()),
    })
    .into())
}

/// The projects whose rules hold for a project too.
pub(super) fn globals(call: &Call) -> Answered {
    let object = find(call, call.text("name"))?;
    Ok(value!({"items": global_projects(call, &object)}).into())
}

fn global_projects(call: &Call, object: &Object) -> Vec<Value> {
    let settings = call.server.engine.settings();
    let fitting = settings
        .global_projects
        .iter()
        .filter(|global| global.name != object.name() && global.selector.matches_object(object));
    fitting.filter_map(|global| shown(&find(call, &global.name).ok()?).ok()).collect()
}

/// What has happened to a project.
pub(super) async fn events(call: &Call) -> Answered {
    let object = find(call, call.text("name"))?;
    let path = format!(
        "/api/v1/namespaces/{}/events?fieldSelector=involvedObject.name={},involvedObject.namespace={},\
         involvedObject.uid={}",
        object.namespace(),
        object.name(),
        object.namespace(),
        object.uid(),
    );
    let list = call.server.engine.home().raw(&path).await.map_err(Refusal::from)?;
    let items: Vec<Value> = list.items_at(&["items"]).to_vec();
    debug_assert_eq!(object.group_kind(), project_kind());
    Ok(value!({"metadata": {}, "items": items}).into())
}
