//! Webhooks that the stage plays.

use lynceus_object::{Object, Value, value};

use super::Write;
use super::expression::Scope;
use super::limits::CONDITION_BUDGET;
use super::review::Response;
use crate::cel::{Env, Ty, Val};
use crate::controllers::pods;
use crate::hook;
use crate::stage::{Failure, Rule, Then, Webhook};
use crate::view::View;

/// What the expressions of a declared webhook may use.
pub(crate) fn environment() -> Env {
    Env::new(["object", "oldObject", "request", "namespaceObject"].map(|name| (name, Ty::Dyn)))
}

/// A webhook that is called: its configuration's name and what stands there about it.
pub(super) struct Called<'a> {
    pub(super) configuration: &'a str,
    pub(super) hook: &'a Value,
    pub(super) seconds: i64,
    pub(super) may_patch: bool,
}

/// The answer of the one who plays a webhook; none if nobody does.
pub(super) fn answer(
    all: &[Webhook],
    called: &Called<'_>,
    view: &dyn View,
    write: &Write<'_>,
    namespace: Option<&Object>,
) -> Option<Result<Response, String>> {
    let client = called.hook.get("clientConfig").unwrap_or(&Value::Null);
    let name = called.hook.str_at(&["name"]).unwrap_or_default();
    let service = hook::service_of(client);
    let player = all.iter().find(|one| one.plays(called.configuration, name, service))?;
    if !is_there(player, view) {
        return None;
    }
    let scope = Scope::new(view, write, None, namespace);
    let said = player.rules().iter().find_map(|rule| match holds(rule, &scope) {
        Ok(false) => None,
        Ok(true) => Some(respond(rule, called, client, view, &scope)),
        Err(problem) => Some(Err(format!("failed to call webhook: {problem}"))),
    });
    Some(said.unwrap_or_else(|| Ok(allowed(Vec::new()))))
}

/// Whether the program that it stands for runs.
fn is_there(player: &Webhook, view: &dyn View) -> bool {
    let Some(image) = player.image() else { return true };
    let runs = |pod: &Object| pods::runs(pod, |name| image.matches(name)) && pods::is_ready(pod);
    view.list("", "pods", None).iter().any(runs)
}

fn holds(rule: &Rule, scope: &Scope<'_>) -> Result<bool, String> {
    let Some(when) = &rule.when else { return Ok(true) };
    match scope.run(when, &mut CONDITION_BUDGET.clone())? {
        Val::Bool(holds) => Ok(holds),
        other => Err(format!("the stage's condition comes to {} and not to bool", other.type_name())),
    }
}

fn respond(
    rule: &Rule,
    called: &Called<'_>,
    client: &Value,
    view: &dyn View,
    scope: &Scope<'_>,
) -> Result<Response, String> {
    let values = scope.values();
    let unfilled = |problem: String| format!("failed to call webhook: {problem}");
    let warnings = rule.warnings.iter().map(|text| text.fill_text(&values)).collect::<Result<Vec<_>, _>>();
    let warnings = warnings.map_err(unfilled)?;
    match &rule.then {
        Then::Allow => Ok(allowed(warnings)),
        Then::Deny(words) => {
            let message = words.fill_text(&values).map_err(unfilled)?;
            let status = value!({"message": message, "code": 403, "reason": "Forbidden"});
            Ok(Response { allowed: false, status, patch: None, warnings })
        }
        Then::Patch(operations) if called.may_patch => {
            let patch = Some(operations.fill(&values).map_err(unfilled)?);
            Ok(Response { patch, ..allowed(warnings) })
        }
        Then::Patch(_) => Ok(allowed(warnings)),
        Then::Fail(failure) => {
            let query = format!("timeout={}s", called.seconds);
            Err(format!("failed to call webhook: {}", words(failure, view, client, &query)))
        }
    }
}

fn allowed(warnings: Vec<String>) -> Response {
    Response { allowed: true, status: Value::Null, patch: None, warnings }
}

/// What Go's client says of a failure.
pub(crate) fn words(failure: &Failure, view: &dyn View, client: &Value, query: &str) -> String {
    let problem = match failure {
        Failure::Refused => format!("dial tcp {}: connect: connection refused", hook::dialled(view, client)),
        Failure::Timeout => "context deadline exceeded".to_owned(),
        Failure::Words(words) => words.to_string(),
    };
    format!("Post {:?}: {problem}", hook::shown(client, query))
}
