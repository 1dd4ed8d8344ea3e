//! Slack: `service.slack`.

use jiff::Timestamp;
use lynceus_object::{Value, value};

use super::conversation::{Delivery, Next, SendError};
use super::job::{Job, set_text};
use super::memory::Memory;
use super::request::{Answer, Request};

pub(super) fn deliver(job: &Job<'_>) -> Result<Box<dyn Delivery>, SendError> {
    let mut body = value!({"text": (job.notification.message.as_str())});
    let of = |name: &str| match job.text("slack", &[name]) {
        "" => job.option(name),
        text => Ok(text.to_owned()),
    };
    set_text(&mut body, &["username"], &of("username")?);
    match of("icon")? {
        icon if icon.len() > 2 && icon.starts_with(':') && icon.ends_with(':') => {
            body.set(&["icon_emoji"], icon)
        }
        icon if icon.starts_with("http://") || icon.starts_with("https://") => body.set(&["icon_url"], icon),
        _ => {}
    }
    for field in ["attachments", "blocks"] {
        if let Some(list) = job.json("slack", field)? {
            body.set(&[field], list);
        }
    }
    if job.flag("disableUnfurl")? {
        body.set(&["unfurl_links"], false);
        body.set(&["unfurl_media"], false);
    }
    let policy = match job.text("slack", &["deliveryPolicy"]) {
        "PostAndUpdate" => Policy::PostAndUpdate,
        "Update" => Policy::Update,
        _ => Policy::Post,
    };
    Ok(Box::new(Slack {
        api: job.address("apiURL", "https://slack.com/api")?,
        token: job.required("token")?,
        insecure: job.insecure()?,
        recipient: job.to.recipient.to_string(),
        grouping: job.text("slack", &["groupingKey"]).to_owned(),
        broadcast: job.part("slack").and_then(|part| part.bool_at(&["notifyBroadcast"])).unwrap_or_default(),
        policy,
        body,
        now: job.now,
        step: Step::Begin,
        thread: None,
    }))
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Policy {
    Post,
    PostAndUpdate,
    Update,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Step {
    Begin,
    Posted,
    Updated,
}

/// Messages of one key form a thread; what began it is remembered by its time.
struct Slack {
    api: String,
    token: String,
    insecure: bool,
    recipient: String,
    grouping: String,
    broadcast: bool,
    policy: Policy,
    body: Value,
    now: Timestamp,
    step: Step,
    thread: Option<String>,
}

impl Delivery for Slack {
    fn next(&mut self, answer: Option<&Answer>, memory: &mut Memory) -> Result<Next, SendError> {
        match (self.step, answer) {
            (Step::Begin, _) => {
                self.thread = match self.grouping.as_str() {
                    "" => None,
                    key => memory.get(&["slack", &self.api, &self.recipient, key], self.now),
                };
                Ok(match (&self.thread, self.policy) {
                    (Some(_), Policy::Update) => self.update(memory),
                    _ => self.post(),
                })
            }
            (Step::Posted, Some(answer)) => {
                let answer = good(answer)?;
                let (time, channel) = (answer.str_at(&["ts"]), answer.str_at(&["channel"]));
                if let Some(channel) = channel {
                    memory.put(&["slack", &self.api, &self.recipient], channel, None);
                }
                if let (Some(time), None, false) = (time, &self.thread, self.grouping.is_empty()) {
                    memory.put(&["slack", &self.api, &self.recipient, &self.grouping], time, None);
                }
                Ok(match (&self.thread, self.policy) {
                    (Some(_), Policy::PostAndUpdate) => self.update(memory),
                    _ => Next::Done,
                })
            }
            (Step::Updated, Some(answer)) => good(answer).map(|_| Next::Done),
            (_, None) => Err(SendError::new("there was no answer")),
        }
    }
}

impl Slack {
    fn ask(&self, method: &str, body: &Value) -> Next {
        let request = Request::post(format!("{}/{method}", self.api), body)
            .header("Authorization", format!("Bearer {}", self.token))
            .insecure(self.insecure);
        Next::Ask(request)
    }

    fn post(&mut self) -> Next {
        self.step = Step::Posted;
        let mut body = self.body.clone();
        body.set(&["channel"], self.recipient.as_str());
        if let Some(thread) = &self.thread {
            body.set(&["thread_ts"], thread.as_str());
        }
        if self.broadcast {
            body.set(&["reply_broadcast"], true);
        }
        self.ask("chat.postMessage", &body)
    }

    fn update(&mut self, memory: &Memory) -> Next {
        self.step = Step::Updated;
        let mut body = self.body.clone();
        let channel = memory.get(&["slack", &self.api, &self.recipient], self.now);
        body.set(&["channel"], channel.unwrap_or_else(|| self.recipient.clone()));
        body.set(&["ts"], self.thread.clone().unwrap_or_default());
        body.set(&["as_user"], true);
        self.ask("chat.update", &body)
    }
}

/// Slack answers 200 and says in the text whether it took the message.
fn good(answer: &Answer) -> Result<Value, SendError> {
    let said = answer.json();
    match said.bool_at(&["ok"]) {
        Some(true) => Ok(said),
        Some(false) => {
            let why = said.str_at(&["error"]).unwrap_or("it does not say why");
            Err(SendError::new(format!("slack did not take the message: {why}")))
        }
        None => Err(answer.refusal()),
    }
}
