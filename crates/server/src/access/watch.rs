//! Long answers: they end when the session of whoever asked does.

use std::sync::Arc;

use futures::stream::{self, BoxStream, StreamExt as _};
use lynceus_object::Value;
use tokio::time::Instant;

use super::Caller;
use crate::limits;
use crate::refusal::Refusal;
use crate::server::Server;
use crate::streams::Place;

type Messages = BoxStream<'static, Result<Value, Refusal>>;

/// The messages of an answer, for as long as the caller would be let in. Its place is kept as long.
pub(crate) fn while_valid(
    server: Arc<Server>,
    caller: Caller,
    place: Option<Place>,
    messages: Messages,
) -> Messages {
    let caller = Arc::new((caller, place));
    let due = Instant::now() + limits::RENEWAL;
    stream::unfold(Some((messages, due)), move |state| {
        let (server, caller) = (server.clone(), caller.clone());
        async move {
            let (mut messages, mut due) = state?;
            loop {
                // Asked here as well, because a stream that always has something to say never lets the time run out.
                if Instant::now() >= due {
                    if let Err(refusal) = server.access.renew(&caller.0).await {
                        return Some((Err(refusal), None));
                    }
                    due = Instant::now() + limits::RENEWAL;
                }
                match tokio::time::timeout_at(due, messages.next()).await {
                    Ok(None) => return None,
                    Ok(Some(message)) => return Some((message, Some((messages, due)))),
                    Err(_) => {}
                }
            }
        }
    })
    .boxed()
}
