//! Projects whose rules hold for others too.

use lynceus_api::AppProject;
use lynceus_object::Object;

use crate::settings::GlobalProject;

/// A project with the rules of all global projects whose selectors fit it, in their order. What they permit and deny is
/// added to its own; the rest of it stays its own.
pub(crate) fn merged(
    mut project: AppProject,
    object: &Object,
    globals: &[GlobalProject],
    find: &dyn Fn(&str) -> Option<AppProject>,
) -> AppProject {
    for global in globals {
        // A project is not its own global project.
        if global.name == project.metadata.name || !global.selector.matches_object(object) {
            continue;
        }
        if let Some(global) = find(&global.name) {
            add(&mut project, global);
        }
    }
    project
}

fn add(project: &mut AppProject, global: AppProject) {
    let (own, more) = (&mut project.spec, global.spec);
    own.cluster_resource_whitelist.extend(more.cluster_resource_whitelist);
    own.cluster_resource_blacklist.extend(more.cluster_resource_blacklist);
    // An empty list added to none is still none.
    if let Some(more) = more.namespace_resource_whitelist.filter(|more| !more.is_empty()) {
        own.namespace_resource_whitelist.get_or_insert_default().extend(more);
    }
    own.namespace_resource_blacklist.extend(more.namespace_resource_blacklist);
    own.sync_windows.extend(more.sync_windows);
    own.source_repos.extend(more.source_repos);
    own.destinations.extend(more.destinations);
    own.destination_service_accounts.extend(more.destination_service_accounts);
}

#[cfg(test)]
mod tests {
    use super::*;
    use lynceus_api::Kind as _;
    use lynceus_object::selector::Selector;
    use lynceus_object::value;

    #[test]
    fn the_rules_of_a_global_project_are_added_where_its_selector_fits() {
        let object = Object::new(value!({
            "metadata": {"name": "shop", "labels": {"opt": "prod"}},
            "spec": {"sourceRepos": ["a"], "signatureKeys": [{"keyID": "own"}]},
        }))
        .unwrap();
        let rules = Object::new(value!({
            "metadata": {"name": "rules"},
            "spec": {
                "sourceRepos": ["b"], "signatureKeys": [{"keyID": "no"}],
                "namespaceResourceWhitelist": [{"group": "", "kind": "Pod"}],
                "syncWindows": [{"kind": "deny"}],
            },
        }))
        .unwrap();
        let project = AppProject::from_object(&object).unwrap();
        let global = |labels: &str, name: &str| GlobalProject {
            name: name.into(),
            selector: Selector::parse(labels).unwrap(),
        };
        let find = |name: &str| (name == "rules").then(|| AppProject::from_object(&rules).unwrap());
        let with = |globals: &[GlobalProject]| merged(project.clone(), &object, globals, &find);
        let both = with(&[global("opt=prod", "rules"), global("", "gone"), global("", "shop")]);
        assert_eq!(both.spec.source_repos, ["a", "b"]);
        assert_eq!((both.spec.sync_windows.len(), both.spec.signature_keys.len()), (1, 1));
        assert_eq!(both.spec.namespace_resource_whitelist.map(|list| list.len()), Some(1));
        assert_eq!(with(&[global("opt=test", "rules")]), project);
    }
}
