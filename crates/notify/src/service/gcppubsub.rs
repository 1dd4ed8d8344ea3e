//! Topics of Google's Pub/Sub: `service.gcppubsub`.
//!
//! Who sends is shown by the key in `keyFile`, by the one that the environment names, or by the machine itself, in the order in
//! which Google's own libraries look.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use jiff::{SignedDuration, Timestamp};
use lynceus_object::{Value, json, value};

use super::conversation::{Delivery, Next, Place, SendError};
use super::job::Job;
use super::jwt;
use super::memory::Memory;
use super::request::{Answer, Request, form, segment};
use super::surroundings::{Variables, in_file};
use crate::config;

const KEY_FILE: &str = "GOOGLE_APPLICATION_CREDENTIALS";
const MACHINE: &str = "GCE_METADATA_HOST";
const EMULATOR: &str = "PUBSUB_EMULATOR_HOST";

/// What a token is asked for.
const SCOPE: &str = "https://www.googleapis.com/auth/pubsub";

/// How long a token that we sign is asked to hold, and how long before its end it is not used any more, in seconds.
const HOLDS: i64 = 3_600;
const SKEW: i64 = 60;

pub(super) fn deliver(job: &Job<'_>) -> Result<Box<dyn Delivery>, SendError> {
    job.may_look_around()?;
    let topic = match job.to.recipient.as_str() {
        "" => job.required("topic")?,
        recipient => recipient.to_owned(),
    };
    let path =
        format!("/v1/projects/{}/topics/{}:publish", segment(&job.required("project")?), segment(&topic));
    let mut message = value!({"data": (STANDARD.encode(&job.notification.message))});
    let attributes = job.part("gcppubsub").and_then(|part| part.get("attributes")).and_then(Value::as_map);
    for (name, text) in attributes.into_iter().flat_map(|map| map.iter()) {
        let text =
            config::text(text).map_err(|error| SendError::lasting(format!("attributes.{name}: {error}")))?;
        message.set(&["attributes", name], text);
    }
    Ok(Box::new(PubSub {
        path,
        body: value!({"messages": [message]}),
        variables: Variables::new(&[EMULATOR, KEY_FILE, MACHINE]),
        key_file: job.option("keyFile")?,
        now: job.now,
        step: Step::Variables,
    }))
}

enum Step {
    Variables,
    Key,
    Token,
    Sent,
}

struct PubSub {
    path: String,
    body: Value,
    variables: Variables,
    key_file: String,
    now: Timestamp,
    step: Step,
}

impl Delivery for PubSub {
    fn next(&mut self, answer: Option<&Answer>, memory: &mut Memory) -> Result<Next, SendError> {
        match self.step {
            Step::Variables => match self.variables.next(answer) {
                Some(place) => Ok(Next::Look(place)),
                None => self.begin(memory),
            },
            Step::Key => {
                self.step = Step::Token;
                let request = self.exchange(in_file(&self.key_file, answer)?)?;
                Ok(Next::Ask(request))
            }
            Step::Token => {
                let answer = answer.ok_or_else(|| SendError::new("there was no answer"))?;
                let said = answer.json();
                let Some(token) = said.str_at(&["access_token"]) else { return Err(answer.refusal()) };
                let holds = said.int_at(&["expires_in"]).unwrap_or_default() - SKEW;
                let until = self.now.checked_add(SignedDuration::from_secs(holds)).ok();
                memory.put(&["gcppubsub", &self.key_file], token, Some(until.unwrap_or(self.now)));
                Ok(self.publish("https://pubsub.googleapis.com", Some(token)))
            }
            Step::Sent => match answer {
                Some(answer) if answer.is_success() => Ok(Next::Done),
                Some(answer) => Err(answer.refusal()),
                None => Err(SendError::new("there was no answer")),
            },
        }
    }
}

impl PubSub {
    fn begin(&mut self, memory: &Memory) -> Result<Next, SendError> {
        if let Some(host) = self.variables.get(EMULATOR) {
            let host = format!("http://{host}");
            return Ok(self.publish(&host, None));
        }
        if let Some(path) = self.variables.get(KEY_FILE).filter(|_| self.key_file.is_empty()) {
            self.key_file = path.to_owned();
        }
        if let Some(token) = memory.get(&["gcppubsub", &self.key_file], self.now) {
            return Ok(self.publish("https://pubsub.googleapis.com", Some(&token)));
        }
        if self.key_file.is_empty() {
            self.step = Step::Token;
            let host = self.variables.get(MACHINE).unwrap_or("metadata.google.internal");
            let url = format!("http://{host}/computeMetadata/v1/instance/service-accounts/default/token");
            return Ok(Next::Ask(Request::new("GET", url).header("Metadata-Flavor", "Google")));
        }
        self.step = Step::Key;
        Ok(Next::Look(Place::File(self.key_file.clone())))
    }

    /// What gives a token for a key.
    fn exchange(&self, key: &[u8]) -> Result<Request, SendError> {
        let file = &self.key_file;
        let key = json::parse(key).map_err(|_| SendError::lasting(format!("{file} is no JSON")))?;
        let text = |name: &str| match key.str_at(&[name]) {
            Some(text) => Ok(text),
            None => Err(SendError::lasting(format!("{file} has no {name}"))),
        };
        let (url, pairs) = match text("type")? {
            "service_account" => {
                let url = text("token_uri")?;
                let second = self.now.as_second();
                let claims = value!({
                    "iss": (text("client_email")?), "scope": SCOPE, "aud": (url),
                    "iat": (second), "exp": (second + HOLDS),
                });
                let token = jwt::sign(&claims, text("private_key")?, &format!("the private_key of {file}"))
                    .map_err(SendError::lasting)?;
                let grant = "urn:ietf:params:oauth:grant-type:jwt-bearer";
                (url, form(&[("grant_type", grant), ("assertion", &token)]))
            }
            "authorized_user" => {
                let pairs = [
                    ("grant_type", "refresh_token"),
                    ("client_id", text("client_id")?),
                    ("client_secret", text("client_secret")?),
                    ("refresh_token", text("refresh_token")?),
                ];
                ("https://oauth2.googleapis.com/token", form(&pairs))
            }
            other => {
                return Err(SendError::lasting(format!(
                    "{file} is a key of the type {other}; use one of a service account"
                )));
            }
        };
        let mut request =
            Request::new("POST", url).header("Content-Type", "application/x-www-form-urlencoded");
        request.body = pairs.into_bytes();
        Ok(request)
    }

    fn publish(&mut self, host: &str, token: Option<&str>) -> Next {
        self.step = Step::Sent;
        let mut request = Request::post(format!("{host}{}", self.path), &self.body);
        if let Some(token) = token {
            request = request.header("Authorization", format!("Bearer {token}"));
        }
        Next::Ask(request)
    }
}
