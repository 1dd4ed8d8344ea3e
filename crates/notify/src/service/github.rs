//! GitHub by an app: `service.github`.

use std::collections::VecDeque;

use jiff::Timestamp;

use super::conversation::{Delivery, Next, SendError};
use super::github_steps::{Step, steps};
use super::github_token::app_token;
use super::job::Job;
use super::memory::Memory;
use super::request::{Answer, Request, segment};
use crate::repo_url::full_name;

pub(super) fn deliver(job: &Job<'_>) -> Result<Box<dyn Delivery>, SendError> {
    if job.part("github").is_none() {
        return Err(SendError::lasting("the template has no part github"));
    }
    let url = job.text("github", &["repoURLPath"]);
    let name = full_name(url).map_err(SendError::lasting)?;
    let Some((owner, repository)) = name.split_once('/') else {
        return Err(SendError::lasting(format!("{url:?} does not name an owner and a repository")));
    };
    let base = base(&job.option("enterpriseBaseURL")?);
    let app = job.required("appID")?;
    Ok(Box::new(GitHub {
        repository: format!("{base}/repos/{}/{}", segment(owner), segment(repository)),
        token_url: format!(
            "{base}/app/installations/{}/access_tokens",
            segment(&job.required("installationID")?)
        ),
        app_token: app_token(&app, &job.required("privateKey")?, job.now).map_err(SendError::lasting)?,
        insecure: job.insecure()?,
        app,
        now: job.now,
        waiting: steps(job)?,
        asked: None,
        token: None,
    }))
}

/// Where the API is. A server of one's own has it under a path.
fn base(enterprise: &str) -> String {
    let given = enterprise.trim_end_matches('/');
    let host = given.split_once("://").map_or(given, |(_, rest)| rest);
    match given {
        "" => "https://api.github.com".to_owned(),
        _ if given.ends_with("/api/v3") || host.starts_with("api.") || host.contains(".api.") => {
            given.to_owned()
        }
        _ => format!("{given}/api/v3"),
    }
}

struct GitHub {
    repository: String,
    token_url: String,
    app: String,
    app_token: String,
    insecure: bool,
    now: Timestamp,
    waiting: VecDeque<Step>,
    asked: Option<Step>,
    token: Option<String>,
}

impl Delivery for GitHub {
    fn next(&mut self, answer: Option<&Answer>, memory: &mut Memory) -> Result<Next, SendError> {
        if self.token.is_none() {
            if let Some(answer) = answer {
                self.take_token(answer, memory)?;
            } else if let Some(known) = memory.get(&["github", &self.token_url, &self.app], self.now) {
                self.token = Some(known);
            } else {
                let request = self.request("POST", self.token_url.clone(), "Bearer", &self.app_token);
                return Ok(Next::Ask(request));
            }
        } else if let (Some(step), Some(answer)) = (self.asked.take(), answer) {
            for next in step.answered(answer)?.into_iter().rev() {
                self.waiting.push_front(next);
            }
        }
        let (Some(step), Some(token)) = (self.waiting.pop_front(), &self.token) else {
            return Ok(Next::Done);
        };
        let (method, path, body) = step.question();
        let mut request = self.request(method, format!("{}{path}", self.repository), "token", token);
        if let Some(body) = body {
            request = request.json(&body);
        }
        self.asked = Some(step);
        Ok(Next::Ask(request))
    }
}

impl GitHub {
    fn request(&self, method: &str, url: String, scheme: &str, token: &str) -> Request {
        Request::new(method, url)
            .header("Accept", "application/vnd.github+json")
            .header("Authorization", format!("{scheme} {token}"))
            .insecure(self.insecure)
    }

    fn take_token(&mut self, answer: &Answer, memory: &mut Memory) -> Result<(), SendError> {
        let said = answer.json();
        let Some(token) = said.str_at(&["token"]) else {
            let status = answer.status;
            return Err(SendError::new(format!(
                "github gave the app no token: the server answered {status}"
            )));
        };
        let until = said.str_at(&["expires_at"]).and_then(|text| text.parse::<Timestamp>().ok());
        // A minute before its end it is no longer used.
        let until = until.and_then(|until| until.checked_sub(jiff::SignedDuration::from_mins(1)).ok());
        if let Some(until) = until {
            memory.put(&["github", &self.token_url, &self.app], token, Some(until));
        }
        self.token = Some(token.to_owned());
        Ok(())
    }
}
