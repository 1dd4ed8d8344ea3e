//! One question, on its way from the network to the one who answers it.

use std::ops::Range;
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
    /// One message that is a list.
    List(List),
    /// One after the other, until either side ends it.
    Many(BoxStream<'static, Result<Value, Refusal>>),
}

impl From<Value> for Answer {
    fn from(value: Value) -> Self {
        Answer::One(value)
    }
}

/// A list of very many. Each is made ready only when it is sent, so that the list is never in memory as a whole.
pub struct List {
    metadata: Value,
    range: Range<usize>,
    item: Box<dyn Fn(usize) -> Option<Value> + Send>,
}

impl List {
    /// So many; `item` gives one of them as it is sent, and none if it is gone meanwhile.
    pub(crate) fn new(
        metadata: Value,
        count: usize,
        item: impl Fn(usize) -> Option<Value> + Send + 'static,
    ) -> Self {
        List { metadata, range: 0..count, item: Box::new(item) }
    }

    /// So many of it behind so many that are left out; it says how many are behind them.
    pub(crate) fn page(mut self, limit: usize, offset: usize) -> Self {
        let begin = self.range.end.min(self.range.start.saturating_add(offset));
        let end = self.range.end.min(begin.saturating_add(limit));
        let left = i64::try_from(self.range.end - end).unwrap_or(i64::MAX);
        self.metadata.set(&["remainingItemCount"], left);
        self.range = begin..end;
        self
    }

    /// What is said of the list as a whole.
    pub(crate) fn metadata(&self) -> &Value {
        &self.metadata
    }

    /// How many are yet to come.
    pub(crate) fn left(&self) -> usize {
        self.range.len()
    }

    /// The next one.
    pub(crate) fn next(&mut self) -> Option<Value> {
        self.range.find_map(|at| (self.item)(at))
    }

    /// All of it at once.
    pub fn whole(mut self) -> Value {
        let items: Value = std::iter::from_fn(|| self.next()).collect();
        // Put in and not written as one literal, which would copy every field of every item.
        let mut list = Value::default();
        list.set(&["items"], items);
        list.set(&["metadata"], self.metadata);
        list
    }
}

/// What comes of a question.
pub(crate) type Answered = Result<Answer, Refusal>;

#[cfg(test)]
mod tests {
    use super::*;
    use lynceus_object::{json, value};

    #[test]
    fn a_page_of_a_list_says_how_many_are_behind_it() {
        let list = || List::new(value!({}), 6, |at| (at != 2).then_some(Value::Int(at as i64)));
        let page = |limit, offset| json::to_string(&list().page(limit, offset).whole());
        assert_eq!(json::to_string(&list().whole()), r#"{"items":[0,1,3,4,5],"metadata":{}}"#);
        assert_eq!(page(2, 3), r#"{"items":[3,4],"metadata":{"remainingItemCount":1}}"#);
        assert_eq!(page(9, 5), r#"{"items":[5],"metadata":{"remainingItemCount":0}}"#);
        assert_eq!(page(2, 99), r#"{"items":[],"metadata":{"remainingItemCount":0}}"#);
        assert_eq!(page(usize::MAX, usize::MAX), r#"{"items":[],"metadata":{"remainingItemCount":0}}"#);
    }
}
