//! What a project permits.

mod guise;
mod integrity;
mod merge;
mod orphans;

use lynceus_api::{AppProject, ApplicationDestination, Glob, fits_any};
use lynceus_object::{GroupKind, Object};

pub use guise::service_account;
pub use integrity::{Policy, policy};
pub(crate) use merge::merged;
pub(crate) use orphans::{Orphans, orphans};

/// Whether a project permits a repository. `!` before a pattern denies.
pub fn permits_source(project: &AppProject, repository: &str) -> bool {
    let repository = normalised(repository);
    let mut permitted = false;
    for pattern in &project.spec.source_repos {
        match pattern.strip_prefix('!') {
            Some(denied) if matches_url(denied, &repository) => return false,
            Some(_) => {}
            None => permitted |= matches_url(pattern, &repository),
        }
    }
    permitted
}

/// Whether a project permits a destination, which has both its address and its name. `!` before a part of a rule denies:
/// in the order and with the precedence that Argo CD has.
pub fn permits_destination(project: &AppProject, destination: &ApplicationDestination) -> bool {
    let mut permitted = false;
    for rule in &project.spec.destinations {
        let name = !destination.name.is_empty() && fits(&rule.name, &destination.name);
        let server = !destination.server.is_empty() && fits(&rule.server, &destination.server);
        let namespace = fits(&rule.namespace, &destination.namespace);
        if (server || name) && namespace {
            permitted = true;
        } else if (!name && denies(&rule.name))
            || (!server && denies(&rule.server) && namespace)
            || (!namespace && denies(&rule.namespace) && server)
        {
            return false;
        }
    }
    permitted
}

/// Whether a project permits objects of a kind. Cluster-scoped kinds have to be listed; namespaced ones are permitted
/// unless a list says otherwise.
pub fn permits_kind(project: &AppProject, kind: &GroupKind, name: &str, namespaced: bool) -> bool {
    let spec = &project.spec;
    if namespaced {
        let listed = |list: &[lynceus_api::GroupKind]| {
            list.iter().any(|item| matches(&item.group, &kind.group) && matches(&item.kind, &kind.kind))
        };
        let white = spec.namespace_resource_whitelist.as_deref().is_none_or(listed);
        return white && !listed(&spec.namespace_resource_blacklist);
    }
    let listed = |list: &[lynceus_api::ClusterResourceRestrictionItem]| {
        list.iter().any(|item| {
            matches(&item.group, &kind.group)
                && matches(&item.kind, &kind.kind)
                && (item.name.is_empty() || matches(&item.name, name))
        })
    };
    listed(&spec.cluster_resource_whitelist) && !listed(&spec.cluster_resource_blacklist)
}

/// Whether Applications of a namespace may use a project. Those of the installation's own always may.
pub fn permits_namespace(project: &AppProject, namespace: &str, home: &str) -> bool {
    namespace.is_empty() || namespace == home || fits_any(&project.spec.source_namespaces, namespace)
}

/// Whether a project permits one object of an application, with the reason if it does not.
pub fn permits_object(
    project: &AppProject,
    object: &Object,
    namespaced: bool,
    destination: &ApplicationDestination,
) -> Result<(), String> {
    let name = &project.metadata.name;
    if !permits_kind(project, &object.group_kind(), object.name(), namespaced) {
        return Err(format!(
            "resource {}:{} is not permitted in project {name}",
            object.group(),
            object.kind()
        ));
    }
    if namespaced {
        let place = ApplicationDestination { namespace: object.namespace().into(), ..destination.clone() };
        if !permits_destination(project, &place) {
            return Err(format!("namespace {} is not permitted in project '{name}'", object.namespace()));
        }
    }
    Ok(())
}

fn denies(pattern: &str) -> bool {
    pattern.starts_with('!')
}

/// Whether a text is what a pattern means; one that denies means everything else.
fn fits(pattern: &str, text: &str) -> bool {
    match pattern.strip_prefix('!') {
        Some(denied) => !matches(denied, text),
        None => matches(pattern, text),
    }
}

/// A pattern that cannot be read permits nothing.
fn matches(pattern: &str, text: &str) -> bool {
    pattern == text || Glob::new(pattern).is_ok_and(|glob| glob.matches(text))
}

/// As Argo CD compares addresses: without regard to case, to `.git` at the end and to how SSH is written.
fn matches_url(pattern: &str, url: &str) -> bool {
    let pattern = normalised(pattern);
    pattern == "*" || pattern == url || Glob::with_separator(&pattern).is_ok_and(|glob| glob.matches(url))
}

fn normalised(url: &str) -> String {
    lynceus_source::normalize(url.trim().trim_end_matches('/'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use lynceus_api::Kind as _;
    use lynceus_object::{Value, value};

    fn project(spec: Value) -> AppProject {
        let mut object = Object::new(value!({"metadata": {"name": "shop"}})).unwrap();
        object.set(&["spec"], spec);
        AppProject::from_object(&object).unwrap()
    }

    fn to(server: &str, namespace: &str) -> ApplicationDestination {
        ApplicationDestination { server: server.into(), namespace: namespace.into(), ..Default::default() }
    }

    #[test]
    fn sources_are_permitted_by_pattern_and_denied_by_an_exclamation_mark() {
        let project = project(value!({"sourceRepos": ["https://host/team/*", "!https://host/team/secret"]}));
        assert!(permits_source(&project, "https://HOST/team/app.git"));
        assert!(!permits_source(&project, "https://host/team/secret.git"));
        assert!(!permits_source(&project, "https://host/other/app"));
        assert!(!permits_source(&project, "https://host/team/deep/app"));
    }

    #[test]
    fn destinations_are_permitted_by_server_and_namespace() {
        let project = project(value!({"destinations": [
            {"server": "https://a", "namespace": "team-*"}, {"server": "https://a", "namespace": "!team-prod"},
        ]}));
        assert!(permits_destination(&project, &to("https://a", "team-dev")));
        assert!(!permits_destination(&project, &to("https://a", "team-prod")));
        assert!(!permits_destination(&project, &to("https://b", "team-dev")));
    }

    #[test]
    fn a_destination_is_permitted_by_its_name_or_its_address() {
        let project = project(value!({"destinations": [
            {"name": "prod-*", "namespace": "*"}, {"server": "https://b", "namespace": "*"},
        ]}));
        let both = |server: &str, name: &str| ApplicationDestination { name: name.into(), ..to(server, "x") };
        assert!(permits_destination(&project, &both("https://a", "prod-eu")));
        assert!(permits_destination(&project, &both("https://b", "other")));
        assert!(!permits_destination(&project, &both("https://a", "test")));
    }

    #[test]
    fn a_denied_address_is_denied_whatever_else_permits() {
        let project = project(value!({"destinations": [
            {"server": "*", "namespace": "*"}, {"server": "!https://b", "namespace": "*"},
        ]}));
        assert!(permits_destination(&project, &to("https://a", "x")));
        assert!(!permits_destination(&project, &to("https://b", "x")));
    }

    #[test]
    fn cluster_scoped_kinds_have_to_be_listed() {
        let open = project(value!({"clusterResourceWhitelist": [{"group": "*", "kind": "*"}]}));
        let closed = project(value!({}));
        let kind = GroupKind::new("", "Namespace");
        assert!(permits_kind(&open, &kind, "a", false));
        assert!(!permits_kind(&closed, &kind, "a", false));
        assert!(permits_kind(&closed, &GroupKind::new("apps", "Deployment"), "a", true));
    }

    #[test]
    fn a_cluster_scoped_object_can_be_permitted_and_denied_by_its_name() {
        let project = project(value!({
            "clusterResourceWhitelist": [{"group": "", "kind": "Namespace", "name": "team-*"}],
            "clusterResourceBlacklist": [{"group": "", "kind": "Namespace", "name": "team-secret"}],
        }));
        let permits = |name| permits_kind(&project, &GroupKind::new("", "Namespace"), name, false);
        assert!(permits("team-a") && !permits("other") && !permits("team-secret"));
    }

    #[test]
    fn an_empty_list_of_namespaced_kinds_permits_none_and_no_list_all() {
        let pod = GroupKind::new("", "Pod");
        assert!(permits_kind(&project(value!({})), &pod, "a", true));
        assert!(!permits_kind(&project(value!({"namespaceResourceWhitelist": []})), &pod, "a", true));
        let listed = project(value!({"namespaceResourceWhitelist": [{"group": "*", "kind": "P*"}]}));
        assert!(permits_kind(&listed, &pod, "a", true));
        assert!(!permits_kind(&listed, &GroupKind::new("", "Secret"), "a", true));
    }

    #[test]
    fn a_source_is_the_same_however_its_address_is_written() {
        let project = project(value!({"sourceRepos": ["ssh://git@host/team/*.git"]}));
        assert!(permits_source(&project, "git@HOST:team/app"));
        assert!(!permits_source(&project, "git@host:other/app"));
    }

    #[test]
    fn applications_of_other_namespaces_have_to_be_let_in() {
        let project = project(value!({"sourceNamespaces": ["team-*", "/^ops[0-9]$/"]}));
        let permits = |namespace| permits_namespace(&project, namespace, "argocd");
        assert!(permits("argocd") && permits("team-a") && permits("ops1") && !permits("ops10"));
    }

    #[test]
    fn a_namespaced_kind_can_be_denied() {
        let project = project(value!({"namespaceResourceBlacklist": [{"group": "", "kind": "Secret"}]}));
        let object =
            Object::new(value!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "x"}})).unwrap();
        assert_eq!(
            permits_object(&project, &object, true, &to("", "")).unwrap_err(),
            "resource :Secret is not permitted in project shop"
        );
    }
}
