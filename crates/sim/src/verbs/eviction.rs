//! Evictions: pods that somebody wants gone, as long as enough others serve.

use std::sync::Arc;

use lynceus_object::{Object, Str, value};

use super::change::update_with;
use super::delete::check_preconditions;
use super::{Answer, Call, DeleteOptions, Validation, WriteOptions, delete, get};
use crate::ApiError;
use crate::attributes::User;
use crate::controllers::{condition, disruption, pods, time};
use crate::core::Core;
use crate::view::View;

/// What every pod is answered with that has to stay for now.
const REFUSED: &str = "Cannot evict pod as it would violate the pod's disruption budget.";
/// After how many seconds to ask again where a budget has not been looked at yet.
const RETRY_SECONDS: i64 = 10;
/// How many pods that were let go a budget remembers.
const MOST_DISRUPTED: usize = 2000;

/// Deletes a pod unless a disruption budget forbids it.
pub(super) async fn evict(core: &Core, call: &Call, eviction: &Object) -> Result<Answer, ApiError> {
    if !eviction.name().is_empty() && eviction.name() != call.name {
        return Err(ApiError::bad_request("name in URL does not match name in Eviction object"));
    }
    let options = match eviction.at(&["deleteOptions"]) {
        Some(options) => DeleteOptions::from_value(options)?,
        None => DeleteOptions::default(),
    };
    let mut options = DeleteOptions { dry_run: options.dry_run || call.options.dry_run, ..options };
    let pod = get(core, &below(call, "")).await?;
    let ground = match is_unguarded(&pod) {
        true => Ground::Free,
        false => ask_budgets(core, call, &pod, options.dry_run).await?,
    };
    // What was decided because the pod is ill holds for the pod as it was looked at.
    let looked_at = match ground {
        Ground::Ill(budget) if options.resource_version.is_none() => {
            options.resource_version = Some(pod.resource_version().into());
            Some(budget)
        }
        _ => None,
    };
    match (remove(core, call, options).await, looked_at) {
        (Err(error), Some(budget)) if error.code == 409 => Err(unprocessed(&budget)),
        (Err(error), _) => Err(error),
        (Ok(()), _) => Ok(Answer::success(201, None)),
    }
}

fn below(call: &Call, subresource: &str) -> Call {
    Call { subresource: subresource.into(), ..call.clone() }
}

/// Deletes the pod, which says why before.
async fn remove(core: &Core, call: &Call, mut options: DeleteOptions) -> Result<(), ApiError> {
    let whole = below(call, "");
    if !options.dry_run {
        // Whoever sees the pod fail later can tell that it was not its own fault.
        let now = core.now();
        let told = update_with(core, &below(call, "status"), |pod| {
            check_preconditions(&whole, pod, &options)?;
            let why = condition::disruption(pod, "EvictionByEvictionAPI", "Eviction API: evicting", now);
            condition::replace(pod, why);
            Ok(())
        })
        .await?;
        if let Some(version) = &mut options.resource_version {
            *version = told.object.resource_version().into();
        }
    }
    delete(core, &whole, &options).await.map(drop)
}

/// Whether no budget counts on a pod: it serves nobody yet, or no more.
fn is_unguarded(pod: &Object) -> bool {
    pod.is_deleting() || pods::is_finished(pod) || pods::phase(pod) == "Pending"
}

/// Why a pod may go.
enum Ground {
    /// No budget keeps it, or one let it go and has written so down.
    Free,
    /// It is not ready, and the budget with this name does not count on it.
    Ill(Str),
}

async fn ask_budgets(core: &Core, call: &Call, pod: &Object, dry_run: bool) -> Result<Ground, ApiError> {
    let budgets = core.store.list("policy", "poddisruptionbudgets", Some(&call.namespace));
    let mut matching =
        budgets.iter().filter(|budget| super::selection::selects(budget, &["spec", "selector"], pod));
    let (Some(budget), another) = (matching.next(), matching.next()) else { return Ok(Ground::Free) };
    if another.is_some() {
        return Err(ApiError::internal(
            "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.",
        ));
    }
    if !pods::is_ready(pod) && spares_the_ill(budget) {
        return Ok(Ground::Ill(budget.name().into()));
    }
    let now = core.now();
    // The check and what follows from it are one write: of two evictions at once, one sees that the other was there.
    let spend = |budget: &mut Object| -> Result<(), ApiError> {
        check(budget)?;
        let left = status(budget, "disruptionsAllowed") - 1;
        budget.set(&["status", "disruptionsAllowed"], left);
        if left == 0 {
            disruption::tell_allowed(budget, now);
        }
        budget.set(&["status", "disruptedPods", pod.name()], time::stamp(now));
        Ok(())
    };
    update_with(core, &budget_call(core, budget, dry_run)?, spend).await?;
    Ok(Ground::Free)
}

/// The API server itself writes to the budget.
fn budget_call(core: &Core, budget: &Object, dry_run: bool) -> Result<Call, ApiError> {
    let registry = core.registry();
    let resource =
        registry.preferred("policy", "poddisruptionbudgets").ok_or_else(ApiError::no_such_resource)?;
    Ok(Call {
        user: Arc::new(User::system("system:apiserver")),
        resource: Arc::clone(resource),
        namespace: budget.namespace().into(),
        name: budget.name().into(),
        subresource: "status".into(),
        options: WriteOptions {
            dry_run,
            manager: "kube-apiserver".into(),
            validation: Validation::Ignore,
            force: false,
        },
    })
}

fn status(budget: &Object, field: &str) -> i64 {
    budget.value().int_at(&["status", field]).unwrap_or(0)
}

/// Whether a pod that is not ready may go: the budget does not count it among those that are, so that nothing is lost
/// where these are enough, or where the budget says that they need not be.
fn spares_the_ill(budget: &Object) -> bool {
    let always = budget.value().str_at(&["spec", "unhealthyPodEvictionPolicy"]) == Some("AlwaysAllow");
    let (healthy, wanted) = (status(budget, "currentHealthy"), status(budget, "desiredHealthy"));
    always || (healthy >= wanted && wanted > 0)
}

/// Whether a budget lets a ready pod go.
fn check(budget: &Object) -> Result<(), ApiError> {
    if status(budget, "observedGeneration") < budget.generation() {
        return Err(unprocessed(budget.name()));
    }
    let remembered = budget.at(&["status", "disruptedPods"]).and_then(|pods| pods.as_map());
    if remembered.is_some_and(|pods| pods.len() > MOST_DISRUPTED) {
        let why = "DisruptedPods map too big - too many evictions not confirmed by PDB controller";
        let message = format!("poddisruptionbudget.policy {:?} is forbidden: {why}", budget.name());
        let cause = format!(
            "The disruption budget {} does not allow evicting pods currently: too many pending evictions not \
             confirmed by PDB controller",
            budget.name()
        );
        return Err(because(ApiError::new(403, "Forbidden", message), &cause, None));
    }
    if status(budget, "disruptionsAllowed") > 0 {
        return Ok(());
    }
    Err(because(ApiError::new(429, "TooManyRequests", REFUSED), &shortage(budget), None))
}

/// Why a budget allows nothing.
fn shortage(budget: &Object) -> String {
    let name = budget.name();
    let allows_none = format!("The disruption budget {name} does not allow evicting pods currently");
    let condition = condition::get(budget, "DisruptionAllowed")
        .filter(|condition| condition.str_at(&["status"]) == Some("False"));
    let text = |field: &str| condition.and_then(|one| one.str_at(&[field])).unwrap_or_default();
    let (reason, message) = (text("reason"), text("message"));
    let (wanted, healthy) = (status(budget, "desiredHealthy"), status(budget, "currentHealthy"));
    match message {
        // The numbers are not to be trusted then.
        message if !message.is_empty() && reason == "SyncFailed" => {
            format!("{allows_none} because it failed sync: {message}")
        }
        _ if healthy <= wanted => {
            format!("The disruption budget {name} needs {wanted} healthy pods and has {healthy} currently")
        }
        "" => allows_none,
        message => format!("{allows_none} ({reason}): {message}"),
    }
}

/// The answer where nobody has looked at the budget as it is.
fn unprocessed(budget: &str) -> ApiError {
    let cause = format!("The disruption budget {budget} is still being processed by the server.");
    because(ApiError::new(429, "TooManyRequests", REFUSED), &cause, Some(RETRY_SECONDS))
}

fn because(error: ApiError, cause: &str, retry: Option<i64>) -> ApiError {
    let mut details = value!({"causes": [{"reason": "DisruptionBudget", "message": cause}]});
    if let Some(seconds) = retry {
        details.set(&["retryAfterSeconds"], seconds);
    }
    error.with_details(details)
}
