//! One question, on its way from the network to the one who answers it.

use std::sync::Arc;

use futures::stream::BoxStream;
use lynceus_object::Value;

use crate::access::Caller;
use crate::refusal::Refusal;
use crate::server::Server;

/// A question that is allowed to be asked.
pub(crate) struct Call {
    /// Everything that there is to answer it with.
    pub(crate) server: Arc<Server>,
    /// Who asks, and what they may do.
    pub(crate) caller: Caller,
    /// What is asked.
    pub(crate) request: Value,
}

impl Call {
    /// A text of the request; empty if it is not there.
    pub(crate) fn text(&self, field: &str) -> &str {
        self.request.str_at(&[field]).unwrap_or_default()
    }

    /// A text that has to be there.
    pub(crate) fn needed(&self, field: &str) -> Result<&str, Refusal> {
        match self.text(field) {
            "" => Err(Refusal::invalid(format!("{field} is missing"))),
            text => Ok(text),
        }
    }

    /// A yes or no of the request; no if it is not there.
    pub(crate) fn flag(&self, field: &str) -> bool {
        self.request.bool_at(&[field]).unwrap_or_default()
    }

    /// A list of texts of the request.
    pub(crate) fn texts(&self, field: &str) -> Vec<String> {
        self.request.items_at(&[field]).iter().filter_map(|item| Some(item.as_str()?.to_owned())).collect()
    }
}

/// What a question is answered with.
pub enum Answer {
    /// One message.
    One(Value),
    /// One after the other, until either side ends it.
    Many(BoxStream<'static, Result<Value, Refusal>>),
}

impl From<Value> for Answer {
    fn from(value: Value) -> Self {
        Answer::One(value)
    }
}

/// What comes of a question.
pub(crate) type Answered = Result<Answer, Refusal>;
