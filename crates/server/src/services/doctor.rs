//! What is wrong, why, and what would mend it: ours beside Argo CD's API.

pub(super) mod stage;

use lynceus_api::Reason;
use lynceus_doctor::{Examination, Finding, Fix, Proof, Step, report};
use lynceus_engine::FileChange;
use lynceus_object::{Value, from_typed, json, value};
use lynceus_rehearse::Comparison;

use self::stage::Ground;
use super::unknown;
use crate::call::{Answer, Answered, Call};
use crate::refusal::{Code, Refusal};
use crate::rights::Resource;

/// Has a question answered.
pub(super) async fn answer(method: &str, call: Call) -> Answered {
    match method {
        "Examine" => examine(&call).await,
        "Explain" => explain(&call),
        "Reasons" => reasons(&call),
        "Fix" => fix(&call).await,
        "Rehearse" => rehearse(&call).await,
        _ => Err(unknown(method)),
    }
}

/// Everything that is wrong. It names applications of all projects, so it is for those who may see all of them.
async fn examine(call: &Call) -> Answered {
    let examination = examined(call).await?;
    let text = report::json(&examination).map_err(|error| Refusal::new(Code::Internal, error.to_string()))?;
    let report =
        json::parse(text.as_bytes()).map_err(|error| Refusal::new(Code::Internal, error.to_string()))?;
    Ok(Answer::One(value!({"report": report})))
}

async fn examined(call: &Call) -> Result<Examination, Refusal> {
    call.caller.need(Resource::Applications, "get", "*/*")?;
    let engine = &call.server.engine;
    let snapshot = engine.snapshot().await;
    Ok(engine.diagnose(&snapshot).await)
}

/// What a sort of finding means.
fn explain(call: &Call) -> Answered {
    let code = call.needed("code")?;
    let rule = lynceus_doctor::rule(code)
        .ok_or_else(|| Refusal::not_found(format!("there is no finding {code}")))?;
    Ok(Answer::One(value!({"code": rule.code, "title": rule.title, "text": rule.explanation})))
}

/// Why an application is not Synced and Healthy.
fn reasons(call: &Call) -> Answered {
    let application = call.application("get", "name")?;
    let reasons = Reason::of(&application.metadata);
    let shown = from_typed(&reasons).map_err(|error| Refusal::new(Code::Internal, error.to_string()))?;
    Ok(Answer::One(value!({"report": {"reasons": shown}})))
}

/// What would happen if the repository were synced now.
async fn rehearse(call: &Call) -> Answered {
    call.caller.need(Resource::Applications, "get", "*/*")?;
    let ground = Ground::of(&call.server.engine, call.text("repository")).await?;
    let report = ground.play(&call.server).await?;
    let shown = from_typed(&report).map_err(|error| Refusal::new(Code::Internal, error.to_string()))?;
    Ok(Answer::One(value!({"report": shown})))
}

/// What would mend a finding, as a patch of files. Nothing is written: that is for a person, in Git.
async fn fix(call: &Call) -> Answered {
    let id = call.needed("id")?.to_owned();
    let choice =
        call.request.int_at(&["choice"]).and_then(|choice| usize::try_from(choice).ok()).unwrap_or(1).max(1);
    let examination = examined(call).await?;
    let found = examination.findings().find(|(name, _)| name.eq_ignore_ascii_case(&id));
    let (id, finding) = found.ok_or_else(|| Refusal::not_found(format!("there is no finding {id} now")))?;
    let fix = finding.fixes.get(choice - 1);
    let fix = fix.ok_or_else(|| {
        Refusal::not_found(format!("{id} has no fix {choice}; there are {}", finding.fixes.len()))
    })?;
    let changes = match fix.has_edits() {
        true => call.server.engine.mend(fix).await,
        false => Ok(Vec::new()),
    };
    let changes =
        changes.map_err(|error| Refusal::new(Code::FailedPrecondition, lynceus_engine::words(&error)))?;
    let files = changes.iter().map(|change| {
        value!({"repository": change.repository.to_string(), "path": change.path.to_string(), "isNew": change.before.is_none()})
    });
    let rehearsal = match changes.is_empty() || call.flag("noRehearsal") {
        true => Value::Null,
        false => tried(call, &examination, &id, &changes).await,
    };
    Ok(Answer::One(value!({"report": {
        "id": id.clone(),
        "rehearsal": rehearsal,
        "cause": finding.cause.to_string(),
        "title": fix.title.to_string(),
        "risk": fix.risk.to_string(),
        "diff": lynceus_engine::patch_of(&changes),
        "files": files.collect::<Value>(),
        "steps": steps(fix),
        "verify": fix.verify.iter().map(|command| Value::from(command.to_string())).collect::<Value>(),
        "choices": choices(finding),
    }})))
}

/// What the changes do in a rehearsal, or why there is none: the patch is worth something without it.
async fn tried(call: &Call, examination: &Examination, id: &str, changes: &[FileChange]) -> Value {
    let repository = changes.first().map(|change| change.repository.to_string()).unwrap_or_default();
    let tried = async {
        let ground = Ground::of(&call.server.engine, &repository).await?;
        ground.attempt(&call.server, examination.clone(), id.to_owned(), changes.to_vec()).await
    };
    match tried.await {
        Err(refusal) => value!({"verdict": "proposed", "reason": refusal.message}),
        Ok(attempt) => {
            let changed = attempt.healed.iter().chain(&attempt.harmed);
            let rows = changed.map(|one| {
                let word = |state: &Option<String>| state.clone().unwrap_or_else(|| "not there".to_owned());
                value!({"application": one.name.clone(), "before": word(&one.before), "after": word(&one.after)})
            });
            let (verdict, reason) = match &attempt.proof {
                Proof::Verified { .. } => ("verified", String::new()),
                Proof::Refuted { reason } => ("refuted", reason.to_string()),
                Proof::Proposed { reason } => ("proposed", reason.clone().unwrap_or_default()),
            };
            let count = |all: &[Comparison]| i64::try_from(all.len()).unwrap_or(i64::MAX);
            value!({
                "verdict": verdict, "reason": reason, "rows": rows.collect::<Value>(),
                "healed": count(&attempt.healed), "harmed": count(&attempt.harmed),
            })
        }
    }
}

/// What a person has to do beside the change of files.
fn steps(fix: &Fix) -> Value {
    let by_hand = fix.steps.iter().filter(|step| !matches!(step, Step::Git(_)));
    by_hand.map(|step| Value::from(step.to_string())).collect()
}

fn choices(finding: &Finding) -> Value {
    let shown = |fix: &Fix| value!({"title": fix.title.to_string(), "risk": fix.risk.to_string()});
    finding.fixes.iter().map(shown).collect()
}
