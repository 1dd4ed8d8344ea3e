//! What somebody sends, up to a limit of size and time.

use axum::body::{Body, Bytes};
use http_body_util::{BodyExt as _, Limited};

use crate::limits;
use crate::refusal::{Code, Refusal};

/// All of a body.
pub(crate) async fn collect(body: Body, limit: usize) -> Result<Bytes, Refusal> {
    let collected = tokio::time::timeout(limits::RECEIVE, Limited::new(body, limit).collect());
    match collected.await {
        Ok(Ok(body)) => Ok(body.to_bytes()),
        Ok(Err(error)) if error.is::<http_body_util::LengthLimitError>() => {
            Err(Refusal::new(Code::ResourceExhausted, format!("the request is larger than {limit} bytes")))
        }
        Ok(Err(_)) => Err(Refusal::new(Code::Canceled, "the request ended in the middle")),
        Err(_) => Err(Refusal::new(Code::DeadlineExceeded, "the request took too long to arrive")),
    }
}
