//! What a project permits.

use lynceus_api::{AppProject, ApplicationDestination, Glob};
use lynceus_object::{GroupKind, Object};

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
        let white =
            spec.namespace_resource_whitelist.is_empty() || listed(&spec.namespace_resource_whitelist);
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

fn matches_url(pattern: &str, url: &str) -> bool {
    pattern == "*"
        || normalised(pattern) == url
        || Glob::with_separator(pattern).is_ok_and(|glob| glob.matches(url))
}

/// Addresses that differ in case or in the ending `.git` are the same repository.
fn normalised(url: &str) -> String {
    let url = url.trim().trim_end_matches('/');
    url.strip_suffix(".git").unwrap_or(url).to_lowercase()
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
