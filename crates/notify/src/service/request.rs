//! Requests and answers of HTTP as values.

use std::time::Duration;

use jiff::Timestamp;
use lynceus_object::{Value, json};

use super::conversation::SendError;
use crate::limits;

/// What is asked of a server. It holds secrets, so it cannot be printed.
#[derive(Clone, PartialEq, Eq)]
pub struct Request {
    /// `GET`, `POST` and the like.
    pub method: String,
    /// The whole address.
    pub url: String,
    /// Names and values, in order.
    pub headers: Vec<(String, String)>,
    /// What is sent along.
    pub body: Vec<u8>,
    /// Whether any certificate will do.
    pub insecure: bool,
    /// How often it is asked again by itself.
    pub retry: Retry,
    /// How long an answer may take, if that is not as usual.
    pub timeout: Option<Duration>,
    /// Who signs it, if it is one for AWS.
    pub signature: Option<AwsSignature>,
}

/// Who signs a request for a service of AWS, where it is, and when. It holds a secret, so it cannot be printed.
#[derive(Clone, PartialEq, Eq)]
pub struct AwsSignature {
    /// The public half of the key.
    pub key: String,
    /// The secret half.
    pub secret: String,
    /// Where the service is.
    pub region: String,
    /// What it is called there.
    pub service: &'static str,
    /// The time that the signature is from.
    pub time: Timestamp,
}

/// How often to ask again after an answer that says that it may work later.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retry {
    /// How often.
    pub times: u32,
    /// The shortest pause; it doubles.
    pub shortest: Duration,
    /// The longest pause.
    pub longest: Duration,
}

impl Retry {
    /// Ask once. The message as a whole is tried again later.
    pub const NEVER: Retry = Retry { times: 0, shortest: Duration::ZERO, longest: Duration::ZERO };
}

impl Request {
    /// A request without a body.
    pub(super) fn new(method: &str, url: impl Into<String>) -> Self {
        Request {
            method: method.to_owned(),
            url: url.into(),
            headers: Vec::new(),
            body: Vec::new(),
            insecure: false,
            retry: Retry::NEVER,
            timeout: None,
            signature: None,
        }
    }

    /// A request that posts JSON.
    pub(super) fn post(url: impl Into<String>, body: &Value) -> Self {
        Self::new("POST", url).json(body)
    }

    /// The same with JSON.
    pub(super) fn json(mut self, body: &Value) -> Self {
        self.body = json::to_vec(body);
        self.header("Content-Type", "application/json")
    }

    /// The same with one more header.
    pub(super) fn header(mut self, name: &str, value: impl Into<String>) -> Self {
        self.headers.push((name.to_owned(), value.into()));
        self
    }

    /// The same, whether or not certificates count.
    pub(super) fn insecure(mut self, insecure: bool) -> Self {
        self.insecure = insecure;
        self
    }
}

/// What a server answered.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Answer {
    /// The status.
    pub status: u16,
    /// The beginning of what came along.
    pub body: Vec<u8>,
}

impl Answer {
    /// Whether the status is one of the two hundreds.
    pub fn is_success(&self) -> bool {
        (200..300).contains(&self.status)
    }

    /// What came along as JSON; nothing if it is none.
    pub(super) fn json(&self) -> Value {
        json::parse(&self.body).unwrap_or_default()
    }

    /// The beginning of what came along on one line.
    pub(super) fn told(&self) -> String {
        let text = String::from_utf8_lossy(&self.body);
        let line: String = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let mut told: String = line.chars().take(limits::TOLD_CHARACTERS).collect();
        if told.len() < line.len() {
            told.push('…');
        }
        told
    }

    /// That the server did not take it.
    pub(super) fn refusal(&self) -> SendError {
        let status = self.status;
        match self.told().as_str() {
            "" => SendError::new(format!("the server answered {status}")),
            told => SendError::new(format!("the server answered {status}: {told}")),
        }
    }
}

/// A text as one part of a path.
pub(super) fn segment(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => {
                escaped.push(char::from(byte));
            }
            _ => escaped.push_str(&format!("%{byte:02X}")),
        }
    }
    // Two dots would lead elsewhere.
    if escaped.chars().all(|c| c == '.') { escaped.replace('.', "%2E") } else { escaped }
}

/// Pairs as a form or a query.
pub(super) fn form(pairs: &[(&str, &str)]) -> String {
    let pair = |(name, value): &(&str, &str)| format!("{}={}", segment(name), segment(value));
    pairs.iter().map(pair).collect::<Vec<_>>().join("&")
}
