//! The service account that a sync acts as.

use lynceus_api::{AppProject, Application, Glob};

/// Characters that no service account has, and that a pattern would.
const NOT_IN_NAMES: &[char] = &['!', '*', '[', ']', '{', '}', '\\', '/'];

/// The user that a sync to a cluster acts as, by the first rule of the project that fits; none if none does.
pub fn service_account(
    project: &AppProject,
    application: &Application,
    server: &str,
) -> Result<Option<String>, String> {
    let namespace = &application.spec.destination.namespace;
    for rule in &project.spec.destination_service_accounts {
        let fits = |pattern: &str, text: &str, what: &str| {
            let glob = Glob::new(pattern)
                .map_err(|error| format!("invalid glob pattern for destination {what}: {error}"));
            glob.map(|glob| glob.matches(text))
        };
        if !fits(&rule.server, server, "server")? || !fits(&rule.namespace, namespace, "namespace")? {
            continue;
        }
        let account = rule.default_service_account.as_str();
        if account.trim().is_empty() || account.contains(NOT_IN_NAMES) {
            return Err(format!("default service account contains invalid chars '{account}'"));
        }
        // Without a namespace of its own it is that of the destination, or else of the Application.
        let home = if namespace.is_empty() { &application.metadata.namespace } else { namespace };
        return Ok(Some(match account.contains(':') {
            true => format!("system:serviceaccount:{account}"),
            false => format!("system:serviceaccount:{home}:{account}"),
        }));
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;
    use lynceus_api::Kind as _;
    use lynceus_object::{Object, Value, value};

    fn check(rules: Value, namespace: &str) -> String {
        let mut object = Object::new(value!({"metadata": {"name": "p"}})).unwrap();
        object.set(&["spec", "destinationServiceAccounts"], rules);
        let project = AppProject::from_object(&object).unwrap();
        let mut application = Application::default();
        application.metadata.namespace = "argocd".into();
        application.spec.destination.namespace = namespace.into();
        match service_account(&project, &application, "https://a") {
            Ok(user) => user.unwrap_or_else(|| "nobody".to_owned()),
            Err(error) => error,
        }
    }

    #[test]
    fn the_first_rule_that_fits_names_the_account() {
        let rules = || {
            value!([
                {"server": "https://b", "namespace": "*", "defaultServiceAccount": "other"},
                {"server": "https://*", "namespace": "team-*", "defaultServiceAccount": "team"},
                {"server": "*", "namespace": "team-a", "defaultServiceAccount": "late"},
                {"server": "*", "namespace": "ops", "defaultServiceAccount": "infra:deployer"},
                {"server": "*", "namespace": "", "defaultServiceAccount": "own"},
            ])
        };
        assert_eq!(check(rules(), "team-a"), "system:serviceaccount:team-a:team");
        assert_eq!(check(rules(), "ops"), "system:serviceaccount:infra:deployer");
        assert_eq!(check(rules(), ""), "system:serviceaccount:argocd:own");
        assert_eq!(check(rules(), "shop"), "nobody");
    }

    #[test]
    fn a_rule_that_names_no_account_is_refused() {
        let named =
            |account: &str| value!([{"server": "*", "namespace": "*", "defaultServiceAccount": account}]);
        assert_eq!(check(named("a*"), "x"), "default service account contains invalid chars 'a*'");
        assert_eq!(check(named(" "), "x"), "default service account contains invalid chars ' '");
        let broken = value!([{"server": "{", "namespace": "*", "defaultServiceAccount": "a"}]);
        assert!(check(broken, "x").starts_with("invalid glob pattern for destination server"));
    }
}
