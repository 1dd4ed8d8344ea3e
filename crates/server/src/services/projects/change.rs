//! Making, changing and deleting projects.

use std::collections::BTreeSet;

use lynceus_api::{AppProject, Application, ApplicationDestination, Kind as _};
use lynceus_engine::application_kind;
use lynceus_engine::project::{permits_destination, permits_source};
use lynceus_object::{Gvk, Object, Value};

use super::{find, normalize, nothing, policy, read, shown, tell, validation};
use crate::call::{Answered, Call};
use crate::refusal::{Code, Refusal};
use crate::rights::Resource;

/// The project that applications are in where they name none.
const DEFAULT: &str = "default";

/// Makes a project; with `upsert` changes one that is there already.
pub(super) async fn create(call: &Call) -> Answered {
    let wanted = asked(call)?;
    let name = wanted.metadata.name.clone();
    call.caller.need(Resource::Projects, "create", &name)?;
    validation::check(&wanted)?;
    if let Ok(existing) = find(call, &name) {
        let known = read(&existing)?;
        if call.flag("upsert") {
            return replace(call, &existing, known, wanted).await;
        }
        return match known.spec == wanted.spec {
            true => Ok(shown(&existing)?.into()),
            false => {
                Err(Refusal::invalid("existing project spec is different, use upsert flag to force update"))
            }
        };
    }
    // Who may make projects decides what they may do, as in Argo CD.
    let mut object = wanted.to_object();
    for field in ["resourceVersion", "uid", "creationTimestamp", "generation", "managedFields"] {
        object.remove(&["metadata", field]);
    }
    object.remove(&["status"]);
    object.set(&["metadata", "namespace"], call.server.namespace());
    let created = call.server.engine.home().create_record(&object).await?;
    tell(call, &created, "ResourceCreated", "created project").await;
    Ok(shown(&created)?.into())
}

/// Changes a project.
pub(super) async fn update(call: &Call) -> Answered {
    let wanted = asked(call)?;
    call.caller.need(Resource::Projects, "update", &wanted.metadata.name)?;
    validation::check(&wanted)?;
    let existing = find(call, &wanted.metadata.name)?;
    let known = read(&existing)?;
    replace(call, &existing, known, wanted).await
}

/// Deletes a project that nobody uses.
pub(super) async fn delete(call: &Call) -> Answered {
    let name = call.needed("name")?;
    if name == DEFAULT {
        return Err(Refusal::invalid(format!("name '{DEFAULT}' is reserved and cannot be deleted")));
    }
    let object = find(call, name)?;
    let users = applications(call, name).len();
    if users > 0 {
        return Err(Refusal::invalid(format!("project is referenced by {users} applications")));
    }
    call.server.engine.home().delete_record(&object).await?;
    tell(call, &object, "ResourceDeleted", "deleted project").await;
    Ok(nothing())
}

/// The project of a request.
fn asked(call: &Call) -> Result<AppProject, Refusal> {
    let Some(value @ Value::Map(_)) = call.request.get("project") else {
        return Err(Refusal::invalid("missing payload 'project' in request"));
    };
    let object = Object::new(value.clone()).unwrap_or_default();
    let mut project = read(&object)?;
    for role in &mut project.spec.roles {
        for policy in &mut role.policies {
            *policy = policy::normalized(policy);
        }
    }
    Ok(project)
}

/// Stores a project as it is wanted, in the place of one that is there.
async fn replace(call: &Call, existing: &Object, known: AppProject, mut wanted: AppProject) -> Answered {
    call.caller.need(Resource::Projects, "update", &wanted.metadata.name)?;
    reaches(call, &known, &wanted)?;
    keeps(call, &known, &wanted)?;
    // Tokens are handed out and taken back by methods of their own; a client with an old picture must not undo that.
    let given: BTreeSet<_> = known.spec.roles.iter().map(|role| role.name.clone()).collect();
    for role in &mut wanted.spec.roles {
        role.jwt_tokens.clear();
        if let Some(old) = known.spec.roles.iter().find(|old| old.name == role.name) {
            role.jwt_tokens.clone_from(&old.jwt_tokens);
        }
    }
    wanted.status = known.status;
    let left: BTreeSet<_> = wanted.spec.roles.iter().map(|role| role.name.clone()).collect();
    for gone in given.difference(&left) {
        // Should a role of this name be made again, the tokens of the old one must not be good for it.
        wanted.status.jwt_tokens_by_role.remove(gone);
    }
    normalize(&mut wanted);
    let made = wanted.to_object();
    let mut object = existing.clone();
    for field in ["spec", "status"] {
        object.set(&[field], made.at(&[field]).cloned().unwrap_or_default());
    }
    for field in ["labels", "annotations", "finalizers"] {
        if let Some(value) = made.at(&["metadata", field]) {
            object.set(&["metadata", field], value.clone());
        }
    }
    if !wanted.metadata.resource_version.is_empty() {
        object.set(&["metadata", "resourceVersion"], wanted.metadata.resource_version.clone());
    }
    let stored = call.server.engine.home().replace_record(&object).await?;
    tell(call, &stored, "ResourceUpdated", "updated project").await;
    Ok(shown(&stored)?.into())
}

/// Refuses a project that reaches what its author may not: who may change a project could otherwise give themselves
/// repositories and clusters.
fn reaches(call: &Call, known: &AppProject, wanted: &AppProject) -> Result<(), Refusal> {
    let before: BTreeSet<String> = servers(call, known).collect();
    for server in servers(call, wanted).filter(|server| !before.contains(server)) {
        call.caller.need(Resource::Clusters, "get", &server)?;
    }
    let before: BTreeSet<&str> = known.spec.source_repos.iter().map(|one| one.as_str()).collect();
    for repository in wanted.spec.source_repos.iter().filter(|one| !before.contains(one.as_str())) {
        call.caller.need(Resource::Repositories, "get", repository)?;
    }
    let (old, new) = (&known.spec, &wanted.spec);
    let is_same = old.cluster_resource_whitelist == new.cluster_resource_whitelist
        && old.cluster_resource_blacklist == new.cluster_resource_blacklist
        && old.namespace_resource_whitelist == new.namespace_resource_whitelist
        && old.namespace_resource_blacklist == new.namespace_resource_blacklist;
    if !is_same {
        for server in servers(call, wanted) {
            call.caller.need(Resource::Clusters, "update", &server)?;
        }
    }
    Ok(())
}

/// The clusters of a project as policies name them. A rule permits by address or by name, so both count: a name is looked up,
/// and a pattern of names stands for itself.
fn servers<'p>(call: &'p Call, project: &'p AppProject) -> impl Iterator<Item = String> + 'p {
    project.spec.destinations.iter().flat_map(|rule| {
        let named = ApplicationDestination { name: rule.name.clone(), ..ApplicationDestination::default() };
        let found = place(call, &named);
        let by_name = if found.server.is_empty() { found.name } else { found.server };
        [rule.server.to_string(), by_name.to_string()].into_iter().filter(|server| !server.is_empty())
    })
}

/// Refuses a change after which applications of the project could no longer be where they are.
fn keeps(call: &Call, known: &AppProject, wanted: &AppProject) -> Result<(), Refusal> {
    let (mut sources, mut destinations) = (0, 0);
    for application in applications(call, &known.metadata.name) {
        let all = application.spec.all_sources();
        let from = |project| all.iter().all(|source| permits_source(project, &source.repo_url));
        sources += usize::from(from(known) && !from(wanted));
        let place = place(call, &application.spec.destination);
        let to = |project| permits_destination(project, &place);
        destinations += usize::from(to(known) && !to(wanted));
    }
    let mut parts = Vec::new();
    if sources > 0 {
        parts.push(format!("{sources} applications source became invalid"));
    }
    if destinations > 0 {
        parts.push(format!("{destinations} applications destination became invalid"));
    }
    match parts.is_empty() {
        true => Ok(()),
        false => {
            let what = format!("as a result of project update {}", parts.join(" and "));
            Err(Refusal::new(Code::InvalidArgument, what))
        }
    }
}

/// A destination with both its address and its name, as far as they are known.
fn place(call: &Call, destination: &ApplicationDestination) -> ApplicationDestination {
    match call.server.engine.fleet().find(destination) {
        Ok(found) => ApplicationDestination { server: found.server, name: found.name, ..destination.clone() },
        Err(_) => destination.clone(),
    }
}

/// The applications of a project, in whatever namespace they are. One that cannot be read does not count.
fn applications(call: &Call, project: &str) -> Vec<Application> {
    let objects = call.server.engine.home().cache().of_kind(&application_kind());
    let of_project = objects.iter().filter(|object| {
        let named = object.value().str_at(&["spec", "project"]).filter(|name| !name.is_empty());
        named.unwrap_or(DEFAULT) == project
    });
    of_project.filter_map(|object| Application::from_object(object).ok()).collect()
}

/// The kind of projects, in the version that we write.
pub(super) fn gvk() -> Gvk {
    Gvk::new(lynceus_api::GROUP, lynceus_api::VERSION, "AppProject")
}
