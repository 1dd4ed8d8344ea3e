//! The policies of a project's roles, which must not reach out of the project.

use lynceus_object::Str;

use crate::refusal::Refusal;

/// What project roles may be about.
const RESOURCES: [&str; 6] = ["applications", "applicationsets", "repositories", "clusters", "exec", "logs"];

/// What may be done to them.
const ACTIONS: [&str; 10] =
    ["get", "create", "update", "delete", "sync", "override", "rollback", "action", "invoke", "*"];

/// A policy with its parts written in one way.
pub(super) fn normalized(policy: &str) -> Str {
    let parts: Vec<&str> = policy.split(',').map(str::trim).collect();
    parts.join(", ").into()
}

/// Refuses a policy that is none, or that gives a role more than its project has.
pub(super) fn check(project: &str, role: &str, policy: &str) -> Result<(), Refusal> {
    let wrong = |what: String| Err(Refusal::invalid(format!("invalid policy rule '{policy}': {what}")));
    let parts: Vec<&str> = policy.split(',').map(str::trim).collect();
    let ["p", subject, resource, action, object, effect] = parts[..] else {
        return wrong("must be of the form: 'p, sub, res, act, obj, eft'".to_owned());
    };
    let expected = format!("proj:{project}:{role}");
    if subject != expected {
        return wrong(format!("policy subject must be: '{expected}', not '{subject}'"));
    }
    if !RESOURCES.contains(&resource) {
        return wrong(format!("resource must be one of {}, not '{resource}'", RESOURCES.join(", ")));
    }
    let first = action.split('/').next().unwrap_or_default();
    let is_known = ACTIONS.contains(&action)
        || (matches!(first, "action" | "update" | "delete") && action.len() > first.len() + 1);
    if !is_known {
        return wrong(format!("invalid action '{action}'"));
    }
    if !stays(project, resource, object) {
        return wrong(format!(
            "object must be of form '{project}/*', '{project}[/<NAMESPACE>]/<APPNAME>' or '{project}/<APPNAME>', \
             not '{object}'"
        ));
    }
    match effect {
        "allow" | "deny" => Ok(()),
        _ => wrong("effect must be: 'allow' or 'deny'".to_owned()),
    }
}

/// Whether a pattern of objects stays in the project.
fn stays(project: &str, resource: &str, object: &str) -> bool {
    let Some(rest) = object.strip_prefix(project).and_then(|rest| rest.strip_prefix('/')) else {
        return false;
    };
    // Repositories and clusters are named by address.
    if matches!(resource, "repositories" | "clusters") {
        return !rest.is_empty();
    }
    let pieces: Vec<&str> = rest.split('/').collect();
    let is_name = |piece: &&str| {
        !piece.is_empty() && piece.chars().all(|c| c.is_alphanumeric() || matches!(c, '*' | '_' | '-' | '.'))
    };
    pieces.len() <= 2 && pieces.iter().all(is_name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(policy: &str) -> String {
        check("shop", "dev", policy).err().map_or_else(|| "fine".to_owned(), |refusal| refusal.message)
    }

    #[test]
    fn a_policy_may_give_what_the_project_has() {
        for policy in [
            "p, proj:shop:dev, applications, get, shop/*, allow",
            "p,proj:shop:dev,applications,sync,shop/team/app-1,deny",
            "p, proj:shop:dev, applications, action/apps/Deployment/restart, shop/web, allow",
            "p, proj:shop:dev, repositories, create, shop/https://host/a.git, allow",
            "p, proj:shop:dev, logs, get, shop/*, allow",
        ] {
            assert_eq!(said(policy), "fine", "{policy}");
        }
    }

    #[test]
    fn a_policy_that_reaches_out_of_the_project_is_refused() {
        for policy in [
            "p, proj:shop:dev, applications, get, */*, allow",
            "p, proj:shop:dev, applications, get, shopping/*, allow",
            "p, proj:shop:dev, applications, get, shop, allow",
            "p, proj:shop:dev, applications, get, shop/a/b/c, allow",
            "p, proj:shop:dev, repositories, get, shop/, allow",
            "p, proj:shop:admin, applications, get, shop/*, allow",
            "p, role:admin, applications, get, shop/*, allow",
            "p, proj:shop:dev, projects, get, shop/*, allow",
            "p, proj:shop:dev, applications, explode, shop/*, allow",
            "p, proj:shop:dev, applications, action/, shop/*, allow",
            "p, proj:shop:dev, applications, get, shop/*, maybe",
            "g, proj:shop:dev, role:admin",
            "p, proj:shop:dev, applications, get, shop/*, allow, extra",
            "p, proj:shop:dev, applications, get, shop/*, allow\np, other, applications, *, */*, allow",
            "",
        ] {
            assert!(said(policy).starts_with("invalid policy rule"), "{policy}: {}", said(policy));
        }
        assert_eq!(
            said("p, proj:shop:x, applications, get, shop/*, allow"),
            "invalid policy rule 'p, proj:shop:x, applications, get, shop/*, allow': policy subject must be: \
             'proj:shop:dev', not 'proj:shop:x'"
        );
    }
}
