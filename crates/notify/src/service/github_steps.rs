//! What is told to GitHub, step by step.

use std::collections::VecDeque;

use lynceus_object::{Value, json, value};

use super::conversation::SendError;
use super::job::{Job, set_text};
use super::request::{Answer, form, segment};
use crate::limits;

/// How many characters GitHub takes in a description, and in a comment.
const DESCRIPTION: usize = 140;
const COMMENT: usize = 65_536;

/// One request, and what comes of its answer.
pub(super) enum Step {
    Status { revision: String, body: Value },
    FindDeployment { query: String, deployment: Value, status: Value },
    CreateDeployment { deployment: Value, status: Value },
    DeploymentStatus { id: i64, status: Value },
    FindPullRequests { revision: String, comment: Comment },
    FindComments { number: i64, comment: Comment },
    CreateComment { number: i64, body: String },
    EditComment { id: i64, body: String },
    CheckRun { body: Value },
    Dispatch { body: Value },
}

#[derive(Clone)]
pub(super) struct Comment {
    body: String,
    /// What marks the comment that is to be changed instead of writing another.
    mark: Option<String>,
}

/// All that a message says to GitHub.
pub(super) fn steps(job: &Job<'_>) -> Result<VecDeque<Step>, SendError> {
    let revision = job.text("github", &["revisionPath"]).to_owned();
    let description = shortened(&job.notification.message, DESCRIPTION);
    let has =
        |name: &str| job.part("github").and_then(|part| part.get(name)).is_some_and(|part| !part.is_null());
    let mut steps = VecDeque::new();
    if has("status") {
        let text = |name: &str| job.text("github", &["status", name]);
        let body = value!({
            "state": (text("state")), "description": (description.as_str()),
            "context": (text("label")), "target_url": (text("targetURL")),
        });
        steps.push_back(Step::Status { revision: revision.clone(), body });
    }
    if has("deployment") {
        steps.push_back(deployment(job, &revision, &description));
    }
    if has("pullRequestComment") {
        let text = |name: &str| job.text("github", &["pullRequestComment", name]);
        let mark = (!text("commentTag").is_empty())
            .then(|| format!("<!-- argocd-notifications {} -->", text("commentTag")));
        let body = shortened(text("content"), COMMENT);
        let body = mark.as_ref().map_or(body.clone(), |mark| format!("{body}\n{mark}"));
        steps.push_back(Step::FindPullRequests {
            revision: revision.clone(),
            comment: Comment { body, mark },
        });
    }
    if has("checkRun") {
        steps.push_back(Step::CheckRun { body: check_run(job, &revision)? });
    }
    if has("repositoryDispatch") {
        let text = |name: &str| job.text("github", &["repositoryDispatch", name]);
        let payload = match text("client_payload") {
            "" => value!({}),
            payload => json::parse(payload.as_bytes()).map_err(|error| {
                SendError::lasting(format!("repositoryDispatch.client_payload is no JSON: {error}"))
            })?,
        };
        let body = value!({"event_type": (text("event_type")), "client_payload": (payload)});
        steps.push_back(Step::Dispatch { body });
    }
    Ok(steps)
}

fn deployment(job: &Job<'_>, revision: &str, description: &str) -> Step {
    let text = |name: &str| job.text("github", &["deployment", name]);
    let part = job.part("github").and_then(|part| part.get("deployment"));
    let flag = |name: &str, usual| part.and_then(|part| part.bool_at(&[name])).unwrap_or(usual);
    let reference = if text("reference").is_empty() { revision } else { text("reference") };
    let mut deployment = value!({
        "ref": (reference),
        "environment": (text("environment")),
        "auto_merge": (flag("autoMerge", true)),
        "transient_environment": (flag("transientEnvironment", false)),
    });
    let contexts = part.and_then(|part| part.get("requiredContexts")).cloned();
    deployment.set(&["required_contexts"], contexts.unwrap_or_else(|| Value::from(Vec::<Value>::new())));
    let mut status = value!({"state": (text("state")), "description": (description)});
    set_text(&mut status, &["environment"], text("environment"));
    set_text(&mut status, &["environment_url"], text("environmentURL"));
    set_text(&mut status, &["log_url"], text("logURL"));
    let query = form(&[("ref", revision), ("environment", text("environment"))]);
    Step::FindDeployment { query, deployment, status }
}

fn check_run(job: &Job<'_>, revision: &str) -> Result<Value, SendError> {
    let text = |name: &str| job.text("github", &["checkRun", name]);
    let mut body = value!({
        "name": (text("name")), "head_sha": (revision), "external_id": "argocd-notifications",
    });
    let conclusion = text("conclusion");
    let status =
        if text("status").is_empty() && !conclusion.is_empty() { "completed" } else { text("status") };
    if (status == "completed" || !text("completed_at").is_empty()) && conclusion.is_empty() {
        return Err(SendError::lasting("a check run that is completed needs a conclusion"));
    }
    set_text(&mut body, &["details_url"], text("details_url"));
    set_text(&mut body, &["status"], status);
    set_text(&mut body, &["conclusion"], conclusion);
    set_text(&mut body, &["started_at"], text("started_at"));
    set_text(&mut body, &["completed_at"], text("completed_at"));
    for field in ["title", "summary", "text"] {
        set_text(&mut body, &["output", field], job.text("github", &["checkRun", "output", field]));
    }
    Ok(body)
}

impl Step {
    /// The method, the path behind that of the repository, and what is sent along.
    pub(super) fn question(&self) -> (&'static str, String, Option<Value>) {
        match self {
            Step::Status { revision, body } => {
                ("POST", format!("/statuses/{}", segment(revision)), Some(body.clone()))
            }
            Step::FindDeployment { query, .. } => ("GET", format!("/deployments?{query}"), None),
            Step::CreateDeployment { deployment, .. } => {
                ("POST", "/deployments".to_owned(), Some(deployment.clone()))
            }
            Step::DeploymentStatus { id, status } => {
                ("POST", format!("/deployments/{id}/statuses"), Some(status.clone()))
            }
            Step::FindPullRequests { revision, .. } => {
                ("GET", format!("/commits/{}/pulls", segment(revision)), None)
            }
            Step::FindComments { number, .. } => ("GET", format!("/issues/{number}/comments"), None),
            Step::CreateComment { number, body } => {
                ("POST", format!("/issues/{number}/comments"), Some(value!({"body": (body.as_str())})))
            }
            Step::EditComment { id, body } => {
                ("PATCH", format!("/issues/comments/{id}"), Some(value!({"body": (body.as_str())})))
            }
            Step::CheckRun { body } => ("POST", "/check-runs".to_owned(), Some(body.clone())),
            Step::Dispatch { body } => ("POST", "/dispatches".to_owned(), Some(body.clone())),
        }
    }

    /// What has to be asked because of the answer.
    pub(super) fn answered(self, answer: &Answer) -> Result<Vec<Step>, SendError> {
        if let (Step::Status { revision, .. }, 422) = (&self, answer.status) {
            // GitHub keeps a thousand for each commit and name; more will never be taken.
            return Err(SendError::forever(format!("commit {revision} has too many statuses of this name")));
        }
        if !answer.is_success() {
            return Err(answer.refusal());
        }
        let said = answer.json();
        let id = |value: &Value| value.int_at(&["id"]).ok_or_else(|| answer.refusal());
        Ok(match self {
            Step::FindDeployment { deployment, status, .. } => match said.as_seq().unwrap_or_default() {
                [first, ..] => vec![Step::DeploymentStatus { id: id(first)?, status }],
                [] => vec![Step::CreateDeployment { deployment, status }],
            },
            Step::CreateDeployment { status, .. } => vec![Step::DeploymentStatus { id: id(&said)?, status }],
            Step::FindPullRequests { comment, .. } => {
                let numbers =
                    said.as_seq().unwrap_or_default().iter().filter_map(|one| one.int_at(&["number"]));
                numbers.take(limits::PULL_REQUESTS).map(|number| comment.clone().on(number)).collect()
            }
            Step::FindComments { number, comment } => {
                let is_marked = |one: &&Value| {
                    let body = one.str_at(&["body"]).unwrap_or_default();
                    comment.mark.as_ref().is_some_and(|mark| body.contains(mark.as_str()))
                };
                match said.as_seq().unwrap_or_default().iter().find(is_marked) {
                    Some(found) => vec![Step::EditComment { id: id(found)?, body: comment.body }],
                    None => vec![Step::CreateComment { number, body: comment.body }],
                }
            }
            Step::Status { .. }
            | Step::DeploymentStatus { .. }
            | Step::CreateComment { .. }
            | Step::EditComment { .. }
            | Step::CheckRun { .. }
            | Step::Dispatch { .. } => Vec::new(),
        })
    }
}

impl Comment {
    fn on(self, number: i64) -> Step {
        match self.mark {
            Some(_) => Step::FindComments { number, comment: self },
            None => Step::CreateComment { number, body: self.body },
        }
    }
}

fn shortened(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    let mut short: String = text.chars().take(most - 3).collect();
    short.push_str("...");
    short
}
