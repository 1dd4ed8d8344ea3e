//! Evictions: pods that somebody wants gone, as long as enough others serve.

use lynceus_object::{Object, value};

use super::change::update_with;
use super::{Answer, Call, DeleteOptions, delete, get};
use crate::ApiError;
use crate::controllers::{condition, pods};
use crate::core::Core;
use crate::view::View;

/// What every pod is answered with that has to stay for now.
const REFUSED: &str = "Cannot evict pod as it would violate the pod's disruption budget.";
/// After how many seconds to ask again where a budget has not been looked at yet.
const RETRY_SECONDS: i64 = 10;

/// Deletes a pod unless a disruption budget forbids it.
pub(super) async fn evict(core: &Core, call: &Call, eviction: &Object) -> Result<Answer, ApiError> {
    if !eviction.name().is_empty() && eviction.name() != call.name {
        return Err(ApiError::bad_request("name in URL does not match name in Eviction object"));
    }
    let options = match eviction.at(&["deleteOptions"]) {
        Some(options) => DeleteOptions::from_value(options)?,
        None => DeleteOptions::default(),
    };
    let options = DeleteOptions { dry_run: options.dry_run || call.options.dry_run, ..options };
    let below = |subresource: &str| Call { subresource: subresource.into(), ..call.clone() };
    let pod = get(core, &below("")).await?;
    if !is_unguarded(&pod) {
        check_budgets(core, call, &pod)?;
    }
    if !options.dry_run {
        // Whoever sees the pod fail later can tell that it was not its own fault.
        let now = core.now();
        update_with(core, &below("status"), |pod| {
            let why = condition::disruption(pod, "EvictionByEvictionAPI", "Eviction API: evicting", now);
            condition::replace(pod, why);
            Ok(())
        })
        .await?;
    }
    delete(core, &below(""), &options).await?;
    Ok(Answer::success(201, None))
}

/// Whether no budget counts on a pod: it serves nobody yet, or no more.
fn is_unguarded(pod: &Object) -> bool {
    pod.is_deleting() || pods::is_finished(pod) || pods::phase(pod) == "Pending"
}

fn check_budgets(core: &Core, call: &Call, pod: &Object) -> Result<(), ApiError> {
    let budgets = core.store.list("policy", "poddisruptionbudgets", Some(&call.namespace));
    let mut matching =
        budgets.iter().filter(|budget| super::selection::selects(budget, &["spec", "selector"], pod));
    let (Some(budget), another) = (matching.next(), matching.next()) else { return Ok(()) };
    if another.is_some() {
        return Err(ApiError::internal(
            "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.",
        ));
    }
    if !pods::is_ready(pod) && spares_the_ill(budget) {
        return Ok(());
    }
    check(budget)
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
    let name = budget.name();
    let refused = |cause: String, retry: Option<i64>| {
        let mut details = value!({"causes": [{"reason": "DisruptionBudget", "message": cause}]});
        if let Some(seconds) = retry {
            details.set(&["retryAfterSeconds"], seconds);
        }
        Err(ApiError::new(429, "TooManyRequests", REFUSED).with_details(details))
    };
    if status(budget, "observedGeneration") < budget.generation() {
        let cause = format!("The disruption budget {name} is still being processed by the server.");
        return refused(cause, Some(RETRY_SECONDS));
    }
    if status(budget, "disruptionsAllowed") > 0 {
        return Ok(());
    }
    let (wanted, healthy) = (status(budget, "desiredHealthy"), status(budget, "currentHealthy"));
    let cause =
        format!("The disruption budget {name} needs {wanted} healthy pods and has {healthy} currently");
    refused(cause, None)
}
