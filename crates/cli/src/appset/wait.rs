//! Waiting until an ApplicationSet has done what it was told.

use std::time::Duration;

use lynceus_api::{ApplicationSet, Kind as _};
use lynceus_object::{Value, value};

use super::{Sets, named, report};
use crate::api::ApiError;
use crate::exit::{Code, Failure, Outcome};
use crate::format::text;

/// How long to leave the server alone between two questions.
const PAUSE: Duration = Duration::from_millis(500);

/// How long somebody waits.
pub(super) struct Patience(Option<Duration>);

impl Patience {
    /// So many seconds; 0 for ever.
    pub(super) fn new(seconds: u64) -> Self {
        Patience((seconds > 0).then(|| Duration::from_secs(seconds)))
    }

    /// Waits until nothing is left to be done for a set. What is wrong with it, and what is held, does not end by waiting.
    pub(super) async fn until_made(&self, sets: &Sets, name: &str) -> Outcome {
        let is_made = async || {
            let report = match sets.api.try_call("ApplicationSetService.Preview", named(name)).await {
                Ok(answer) => report(answer),
                // Who is asked may not have heard of it yet.
                Err(ApiError::Refused(refusal)) if refusal.code == lynceus_server::Code::NotFound => {
                    return Ok(false);
                }
                Err(error) => {
                    return Err(Failure::because(format!("cannot read ApplicationSet {name}"), &error));
                }
            };
            if let Some(fault) = report.items_at(&["faults"]).first().and_then(Value::as_str) {
                return Err(Failure::new(
                    Code::Answer,
                    format!("ApplicationSet {name} cannot be generated: {fault}"),
                ));
            }
            if let Some(held) = report.get("held") {
                return Err(Failure::new(
                    Code::Answer,
                    format!("ApplicationSet {name} is held: {}", text(held, &["message"])),
                ));
            }
            Ok(report.items_at(&["steps"]).iter().all(|step| text(step, &["act"]) == "keep"))
        };
        self.until(is_made, &format!("the Applications of ApplicationSet {name} were not all made")).await
    }

    /// Waits until a set is gone, and all Applications that were its.
    pub(super) async fn until_gone(&self, sets: &Sets, name: &str) -> Outcome {
        let (namespace, short) = name.split_once('/').unwrap_or(("", name));
        let is_gone = async || {
            match sets.api.try_call("ApplicationSetService.Get", named(name)).await {
                Ok(_) => return Ok(false),
                // Whoever may delete a set may see it: it is not there.
                Err(ApiError::Refused(_)) => {}
                Err(error) => {
                    return Err(Failure::because(format!("cannot read ApplicationSet {name}"), &error));
                }
            }
            let asked = value!({"appNamespace": namespace});
            let answer =
                sets.api.call("cannot list the applications", "ApplicationService.List", asked).await?;
            let is_own = |app: &Value| {
                let owners = app.items_at(&["metadata", "ownerReferences"]).iter();
                owners.into_iter().any(|owner| {
                    text(owner, &["kind"]) == ApplicationSet::KIND && text(owner, &["name"]) == short
                })
            };
            Ok(!answer.items_at(&["items"]).iter().any(is_own))
        };
        self.until(is_gone, &format!("ApplicationSet {name} or an Application of it is still there")).await
    }

    async fn until(&self, mut is_so: impl AsyncFnMut() -> Outcome<bool>, otherwise: &str) -> Outcome {
        let waited = async {
            while !is_so().await? {
                tokio::time::sleep(PAUSE).await;
            }
            Ok(())
        };
        match self.0 {
            None => waited.await,
            Some(time) => match tokio::time::timeout(time, waited).await {
                Ok(outcome) => outcome,
                Err(_) => Err(Failure::new(Code::Answer, format!("{otherwise} after {} s", time.as_secs()))),
            },
        }
    }
}
