//! Mutating and validating webhooks: whom to ask, in which order, and what their answers mean.

use std::sync::atomic::Ordering;

use futures::future::join_all;
use lynceus_object::{Object, Str, Value};

use super::declared::{self, Called};
use super::expression::{self, Scope};
use super::limits::TIMEOUT_SECONDS;
use super::matching::{self, Match};
use super::review::{self, Response};
use super::{Chain, Write, policy};
use crate::ApiError;
use crate::attributes::{Admission, Operation};
use crate::hook;
use crate::view::View;

const GROUP: &str = "admissionregistration.k8s.io";

/// Which webhooks are asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    Mutating,
    Validating,
}

/// One webhook that a write has to go to.
struct Hook {
    /// The name of its configuration.
    of: Str,
    config: Value,
    found: Match,
}

impl Hook {
    fn name(&self) -> &str {
        self.config.str_at(&["name"]).unwrap_or_default()
    }

    fn fails_open(&self) -> bool {
        self.config.str_at(&["failurePolicy"]) == Some("Ignore")
    }

    fn timeout(&self) -> i64 {
        self.config.int_at(&["timeoutSeconds"]).unwrap_or(TIMEOUT_SECONDS)
    }

    fn may_run_again(&self) -> bool {
        self.config.str_at(&["reinvocationPolicy"]) == Some("IfNeeded")
    }

    fn version(&self) -> Option<&str> {
        match &self.found {
            Match::Exact => None,
            Match::In { version } => Some(version),
        }
    }
}

/// Webhooks that want to see what others do after them, with the object as each left it.
pub(super) type Seen = Vec<((Str, Value), Object)>;

/// Lets mutating webhooks change an object, one after the other.
pub(super) async fn mutate(
    chain: &Chain,
    view: &dyn View,
    admission: &Admission,
    object: &mut Object,
    old: Option<&Object>,
    warnings: &mut Vec<String>,
) -> Result<Seen, ApiError> {
    let configs = configs(view, Phase::Mutating);
    let mut seen = Seen::new();
    for config in configs {
        let write = Write { admission, object: Some(object), old };
        let Some(hook) = matches(chain, view, &write, config)? else { continue };
        if let Some(changed) = ask_for_change(chain, view, &hook, &write, warnings).await? {
            *object = changed;
        }
        if hook.may_run_again() {
            seen.push(((hook.of, hook.config), object.clone()));
        }
    }
    Ok(seen)
}

/// Asks those once more that others came after.
pub(super) async fn mutate_again(
    chain: &Chain,
    view: &dyn View,
    admission: &Admission,
    object: &mut Object,
    old: Option<&Object>,
    (seen, warnings): (Seen, &mut Vec<String>),
) -> Result<(), ApiError> {
    for (config, left) in seen {
        if *object == left {
            continue;
        }
        let write = Write { admission, object: Some(object), old };
        let Some(hook) = matches(chain, view, &write, config)? else { continue };
        if let Some(changed) = ask_for_change(chain, view, &hook, &write, warnings).await? {
            *object = changed;
        }
    }
    Ok(())
}

/// Lets webhooks refuse. All are asked at once; the first refusal in their order counts.
pub(super) async fn validate(
    chain: &Chain,
    view: &dyn View,
    write: &Write<'_>,
    phase: Phase,
) -> Result<Vec<String>, ApiError> {
    let mut hooks = Vec::new();
    for config in configs(view, phase) {
        hooks.extend(matches(chain, view, write, config)?);
    }
    let answers = join_all(hooks.iter().map(|hook| ask(chain, view, hook, write, false))).await;
    let mut warnings = Vec::new();
    let mut refusal = None;
    for (hook, answer) in hooks.iter().zip(answers) {
        match answer {
            Ok(Some(response)) => {
                if !response.allowed {
                    refusal.get_or_insert(denial(hook.name(), &response.status));
                }
                warnings.extend(response.warnings);
            }
            Ok(None) => {}
            Err(error) => drop(refusal.get_or_insert(error)),
        }
    }
    match refusal {
        Some(mut refusal) => {
            refusal.warnings = warnings;
            Err(refusal)
        }
        None => Ok(warnings),
    }
}

/// All webhooks of a phase: configurations by name, webhooks as they stand in them.
fn configs(view: &dyn View, phase: Phase) -> Vec<(Str, Value)> {
    let resource = match phase {
        Phase::Mutating => "mutatingwebhookconfigurations",
        Phase::Validating => "validatingwebhookconfigurations",
    };
    let objects = view.list(GROUP, resource, None);
    let named = |config: &Object| {
        let name = Str::from(config.name());
        let hooks = config.value().items_at(&["webhooks"]).to_vec();
        hooks.into_iter().map(move |hook| (name.clone(), hook))
    };
    objects.iter().flat_map(named).collect()
}

fn matches(
    chain: &Chain,
    view: &dyn View,
    write: &Write<'_>,
    (of, config): (Str, Value),
) -> Result<Option<Hook>, ApiError> {
    if matching::is_exempt(write) {
        return Ok(None);
    }
    let exact = config.str_at(&["matchPolicy"]) == Some("Exact");
    let Some(found) = matching::by_rules(view, config.items_at(&["rules"]), exact, write) else {
        return Ok(None);
    };
    if !matching::by_namespace(view, config.get("namespaceSelector"), write)?
        || !matching::by_object(config.get("objectSelector"), write)
    {
        return Ok(None);
    }
    let hook = Hook { of, config, found };
    Ok(if conditions_hold(chain, view, write, &hook)? { Some(hook) } else { None })
}

/// Match conditions; an error counts as the failure policy says.
fn conditions_hold(chain: &Chain, view: &dyn View, write: &Write<'_>, hook: &Hook) -> Result<bool, ApiError> {
    let conditions = hook.config.items_at(&["matchConditions"]);
    if conditions.is_empty() {
        return Ok(true);
    }
    let scope = Scope::new(view, write, None, None);
    match expression::hold(conditions, &chain.expressions, &scope) {
        Err(_) if hook.fails_open() => Ok(false),
        held => held.map_err(|why| {
            let admission = write.admission;
            let resource = &admission.resource;
            ApiError::forbidden(&resource.group, &resource.resource, &admission.name, &why)
        }),
    }
}

async fn ask_for_change(
    chain: &Chain,
    view: &dyn View,
    hook: &Hook,
    write: &Write<'_>,
    warnings: &mut Vec<String>,
) -> Result<Option<Object>, ApiError> {
    let Some(response) = ask(chain, view, hook, write, true).await? else { return Ok(None) };
    warnings.extend(response.warnings);
    if !response.allowed {
        let mut refusal = denial(hook.name(), &response.status);
        refusal.warnings = std::mem::take(warnings);
        return Err(refusal);
    }
    let (Some(patch), Some(object)) = (response.patch, write.object) else { return Ok(None) };
    let before = match hook.version() {
        Some(version) => matching::in_version(object, version),
        None => object.clone(),
    };
    let changed = lynceus_object::patch::json(before.value(), &patch).map_err(ApiError::internal)?;
    let changed = Object::new(changed).map_err(|_| ApiError::internal("a webhook left no object"))?;
    Ok(Some(match hook.version() {
        Some(_) => matching::in_version(&changed, &write.admission.kind.version),
        None => changed,
    }))
}

/// Calls one webhook. `None` if the call failed and the webhook may be ignored.
async fn ask(
    chain: &Chain,
    view: &dyn View,
    hook: &Hook,
    write: &Write<'_>,
    may_patch: bool,
) -> Result<Option<Response>, ApiError> {
    if write.admission.dry_run
        && !matches!(hook.config.str_at(&["sideEffects"]), Some("None" | "NoneOnDryRun"))
    {
        let message = format!("admission webhook {:?} does not support dry run", hook.name());
        return Err(ApiError::bad_request(message));
    }
    match call(chain, view, hook, write, may_patch).await {
        Ok(response) => Ok(Some(response)),
        Err(problem) => {
            let problem = format!("failed calling webhook {:?}: {problem}", hook.name());
            if hook.fails_open() {
                tracing::warn!(%problem, "a webhook is ignored, as its failure policy says");
                return Ok(None);
            }
            Err(ApiError::internal(problem))
        }
    }
}

async fn call(
    chain: &Chain,
    view: &dyn View,
    hook: &Hook,
    write: &Write<'_>,
    may_patch: bool,
) -> Result<Response, String> {
    let uid = review::id(chain.reviews.fetch_add(1, Ordering::Relaxed));
    let version = hook.version();
    let convert = |object: Option<&Object>| match (object, version) {
        (Some(object), Some(version)) => Some(matching::in_version(object, version)),
        (object, _) => object.cloned(),
    };
    let (object, old) = (convert(write.object), convert(write.old));
    // What is being deleted has no new form, and what is new has no old one.
    let object = object.filter(|_| write.admission.operation != Operation::Delete);
    let sent = Write { admission: write.admission, object: object.as_ref(), old: old.as_ref() };
    let seconds = hook.timeout();
    let called = Called { configuration: &hook.of, hook: &hook.config, seconds, may_patch };
    let namespace = policy::namespace_of(view, write);
    if let Some(said) = declared::answer(&chain.declared, &called, view, &sent, namespace.as_ref()) {
        return said;
    }
    let body = review::request(&uid, &sent, write.admission, version);
    let config = hook.config.get("clientConfig").cloned().unwrap_or_default();
    let target = hook::target(view, &config, &format!("timeout={seconds}s"));
    let answer = match target {
        Ok(target) => hook::post(&target, &body, seconds).await,
        Err(problem) => Err(problem),
    };
    let answer = answer.map_err(|problem| format!("failed to call webhook: {problem}"))?;
    review::response(&answer, &uid, may_patch)
}

fn denial(name: &str, status: &Value) -> ApiError {
    let word = |field: &str| status.str_at(&[field]).unwrap_or_default();
    let start = format!("admission webhook {name:?} denied the request");
    let message = match (word("message"), word("reason")) {
        ("", "") => format!("{start} without explanation"),
        ("", reason) => format!("{start}: {reason}"),
        (message, _) => format!("{start}: {message}"),
    };
    let code = status.int_at(&["code"]).and_then(|code| u16::try_from(code).ok()).filter(|code| *code >= 400);
    let mut error = ApiError::new(code.unwrap_or(400), known_reason(word("reason")), message);
    error.details = status.get("details").cloned();
    error
}

/// The reasons that Kubernetes knows; a webhook's own words would not be understood by clients.
fn known_reason(reason: &str) -> &'static str {
    const KNOWN: [&str; 12] = [
        "Unauthorized",
        "Forbidden",
        "NotFound",
        "AlreadyExists",
        "Conflict",
        "Gone",
        "Invalid",
        "Timeout",
        "TooManyRequests",
        "BadRequest",
        "InternalError",
        "ServiceUnavailable",
    ];
    KNOWN.iter().find(|known| **known == reason).copied().unwrap_or_default()
}
