//! Sends what notifications are made of.
//!
//! `notify` says what to ask, step by step; [`Post`] asks it. It knows HTTP, mail and NATS, and no service. Credentials never
//! go to another place than the one that they are meant for, and no error holds an address or a header.

mod http;
pub mod limits;
mod line;
mod nats;
mod smtp;
mod surroundings;
mod tls;

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use lynceus_notify::{Answer, Delivery, Memory, Next, Place, Request, SendError};
use tokio::task::JoinSet;

/// The certificates in PEM that a host is trusted by, in place of the system's; none if it has none of its own. The error says
/// why they cannot be had: then nothing is sent, because nobody knows whom to trust.
pub type Certificates = Arc<dyn Fn(&str) -> Result<Option<String>, String> + Send + Sync>;

/// What stands in a file or a variable around the program.
pub type Surroundings = Arc<dyn Fn(&Place) -> Answer + Send + Sync>;

/// How to send.
#[derive(Clone)]
pub struct Options {
    /// What services that show who they are by where they run may look at.
    pub surroundings: Surroundings,
    /// Whom to trust beside the system's certificates.
    pub certificates: Certificates,
    /// Whether the proxies of the environment are used.
    pub environment_proxy: bool,
    /// How long one answer may take, if the request does not say.
    pub timeout: Duration,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            surroundings: Arc::new(surroundings::look),
            certificates: Arc::new(|_| Ok(None)),
            environment_proxy: true,
            timeout: limits::TIMEOUT,
        }
    }
}

impl fmt::Debug for Options {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Options")
            .field("environment_proxy", &self.environment_proxy)
            .field("timeout", &self.timeout)
            .finish_non_exhaustive()
    }
}

/// Sends messages, and remembers what their services want to be remembered by.
pub struct Post {
    http: Arc<http::Http>,
    options: Options,
    memory: Mutex<Memory>,
}

impl Post {
    /// A post office.
    pub fn new(options: Options) -> Self {
        Post { http: Arc::new(http::Http::new(options.clone())), options, memory: Mutex::default() }
    }

    /// Sends one message, to the end.
    pub async fn send(&self, mut delivery: Box<dyn Delivery>) -> Result<(), SendError> {
        let mut answer: Option<Answer> = None;
        for _ in 0..lynceus_notify::limits::ASKED {
            let next = {
                let mut memory = self.memory.lock().unwrap_or_else(PoisonError::into_inner);
                delivery.next(answer.as_ref(), &mut memory)?
            };
            answer = match next {
                Next::Ask(request) => Some(self.http.ask(&request).await?),
                Next::AskAny(requests) => Some(self.ask_any(requests).await?),
                Next::Mail(mail) => {
                    smtp::send(&mail, &self.options.certificates, self.options.timeout).await?;
                    None
                }
                Next::Publish(publication) => {
                    nats::send(&publication, &self.options.certificates, self.options.timeout).await?;
                    None
                }
                Next::Look(place) => Some((self.options.surroundings)(&place)),
                Next::Done => return Ok(()),
            };
        }
        Err(SendError::new("the service asks for more and more"))
    }

    /// Asks several at once. A good answer of any is good; otherwise the last that was given counts.
    async fn ask_any(&self, requests: Vec<Request>) -> Result<Answer, SendError> {
        let mut asked = JoinSet::new();
        for request in requests {
            let http = Arc::clone(&self.http);
            asked.spawn(async move { http.ask(&request).await });
        }
        let mut best: Option<Result<Answer, SendError>> = None;
        while let Some(ended) = asked.join_next().await {
            let Ok(answer) = ended else { continue };
            let is_good = |answer: &Result<Answer, SendError>| answer.as_ref().is_ok_and(Answer::is_success);
            if is_good(&answer) || !best.as_ref().is_some_and(is_good) {
                best = Some(answer);
            }
        }
        best.unwrap_or_else(|| Err(SendError::new("there is nobody to ask")))
    }
}
