//! A delivery: what is asked, and what comes of the answers.

use super::email::Email;
use super::memory::Memory;
use super::nats::Publication;
use super::request::{Answer, Request};

/// What to do next.
pub enum Next {
    /// Ask this, and come back with the answer.
    Ask(Request),
    /// Ask all of these, and come back with the best answer: one that succeeded if there is any.
    AskAny(Vec<Request>),
    /// Hand this over to a mail server.
    Mail(Email),
    /// Have a server of NATS take this.
    Publish(Publication),
    /// Look at this, and come back with what stands there; 404 if there is nothing.
    Look(Place),
    /// The message has been taken.
    Done,
}

/// Something around the program that shows who it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// A file.
    File(String),
    /// A variable of the environment.
    Variable(&'static str),
}

/// A message on its way through one service.
pub trait Delivery: Send {
    /// The next step; `answer` is that to the step before. What is handed over to mail or NATS has none.
    fn next(&mut self, answer: Option<&Answer>, memory: &mut Memory) -> Result<Next, SendError>;

    /// What the template says and the message does not, because the service has no place for it.
    fn left_out(&self) -> &[String] {
        &[]
    }
}

/// Why a message was not taken. It holds no secret that is known here; whoever prints it hides those of the configuration.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct SendError {
    /// What happened.
    pub message: String,
    /// Whether it stays as it is until somebody changes the configuration.
    pub is_lasting: bool,
    /// Whether it will never be taken, so that nobody should try again.
    pub is_final: bool,
}

impl SendError {
    /// Something that may be better later.
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), is_lasting: false, is_final: false }
    }

    /// Something that stays as it is until somebody changes the configuration.
    pub fn lasting(message: impl Into<String>) -> Self {
        Self { message: message.into(), is_lasting: true, is_final: false }
    }

    /// Something that nothing will change.
    pub(super) fn forever(message: impl Into<String>) -> Self {
        Self { message: message.into(), is_lasting: true, is_final: true }
    }
}

/// What an answer means: whether the message was taken.
pub(super) type Judge = fn(&Answer) -> Result<(), SendError>;

/// A delivery of one request.
pub(super) struct Single {
    request: Option<Request>,
    judge: Judge,
    left_out: Vec<String>,
}

impl Single {
    pub(super) fn boxed(request: Request, judge: Judge) -> Box<dyn Delivery> {
        Self::without(request, judge, Vec::new())
    }

    /// The same of a message that lacks some of what the template says.
    pub(super) fn without(request: Request, judge: Judge, left_out: Vec<String>) -> Box<dyn Delivery> {
        Box::new(Self { request: Some(request), judge, left_out })
    }
}

impl Delivery for Single {
    fn next(&mut self, answer: Option<&Answer>, _: &mut Memory) -> Result<Next, SendError> {
        match (self.request.take(), answer) {
            (Some(request), _) => Ok(Next::Ask(request)),
            (None, Some(answer)) => (self.judge)(answer).map(|()| Next::Done),
            (None, None) => Err(SendError::new("there was no answer")),
        }
    }

    fn left_out(&self) -> &[String] {
        &self.left_out
    }
}

/// Any answer of the two hundreds is good.
pub(super) fn is_success(answer: &Answer) -> Result<(), SendError> {
    if answer.is_success() { Ok(()) } else { Err(answer.refusal()) }
}
