//! Rocket.Chat: `service.rocketchat`.

use lynceus_object::{Value, value};

use super::conversation::{Delivery, Next, SendError};
use super::job::{Job, set_text};
use super::memory::Memory;
use super::request::{Answer, Request, form};

pub(super) fn deliver(job: &Job<'_>) -> Result<Box<dyn Delivery>, SendError> {
    let recipient = job.to.recipient.as_str();
    let mut body = value!({"text": (job.notification.message.as_str())});
    set_text(&mut body, &["alias"], &job.option("alias")?);
    body.set(&[if recipient.starts_with(['#', '@']) { "channel" } else { "roomId" }], recipient);
    let (icon, avatar) = (job.option("icon")?, job.option("avatar")?);
    if icon.len() > 2 && icon.starts_with(':') && icon.ends_with(':') {
        body.set(&["emoji"], icon);
    }
    if avatar.starts_with("http://") || avatar.starts_with("https://") {
        body.set(&["avatar"], avatar);
    }
    if let Some(attachments) = job.json("rocketchat", "attachments")? {
        body.set(&["attachments"], attachments);
    }
    let server = job.required("serverUrl")?.trim_end_matches('/').to_owned();
    let login = form(&[("user", &job.required("email")?), ("password", &job.required("password")?)]);
    Ok(Box::new(RocketChat { server, login, body, step: Step::Begin }))
}

enum Step {
    Begin,
    LoggedIn,
    Posted,
}

struct RocketChat {
    server: String,
    login: String,
    body: Value,
    step: Step,
}

impl Delivery for RocketChat {
    fn next(&mut self, answer: Option<&Answer>, _: &mut Memory) -> Result<Next, SendError> {
        match (&self.step, answer) {
            (Step::Begin, _) => {
                self.step = Step::LoggedIn;
                let mut request = Request::new("POST", format!("{}/api/v1/login", self.server))
                    .header("Content-Type", "application/x-www-form-urlencoded");
                request.body = self.login.clone().into_bytes();
                Ok(Next::Ask(request))
            }
            (Step::LoggedIn, Some(answer)) => {
                let said = answer.json();
                let part = |name: &str| said.str_at(&["data", name]);
                let (Some(token), Some(user)) = (part("authToken"), part("userId")) else {
                    // The answer may hold what must not be told.
                    return Err(SendError::new(format!("the login was refused with {}", answer.status)));
                };
                self.step = Step::Posted;
                let request = Request::post(format!("{}/api/v1/chat.postMessage", self.server), &self.body)
                    .header("X-Auth-Token", token)
                    .header("X-User-Id", user);
                Ok(Next::Ask(request))
            }
            (Step::Posted, Some(answer)) => {
                let said = answer.json();
                match (said.bool_at(&["success"]), said.str_at(&["error"])) {
                    (Some(true), _) => Ok(Next::Done),
                    (_, Some(why)) => {
                        Err(SendError::new(format!("rocket.chat did not take the message: {why}")))
                    }
                    _ => Err(answer.refusal()),
                }
            }
            (_, None) => Err(SendError::new("there was no answer")),
        }
    }
}
