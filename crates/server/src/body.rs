//! What somebody sends, up to a limit of size and time. All that is being received at once has a limit as well, so that
//! many who send little by little take no more of the machine than one.

use std::ops::Deref;

use axum::body::{Body, Bytes};
use http_body::Body as _;
use http_body_util::BodyExt as _;
use tokio::sync::{Semaphore, SemaphorePermit};

use crate::limits;
use crate::refusal::{Code, Refusal};

/// Room for everything that is being received, in units of a kilobyte.
static ROOM: Semaphore = Semaphore::const_new(limits::BODIES >> 10);

/// A body, which has its room until it is dropped.
#[derive(Debug)]
pub(crate) struct Received {
    bytes: Bytes,
    _room: Option<SemaphorePermit<'static>>,
}

impl Deref for Received {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.bytes
    }
}

/// All of a body.
pub(crate) async fn collect(body: Body, limit: usize) -> Result<Received, Refusal> {
    match tokio::time::timeout(limits::RECEIVE, gathered(body, limit, &ROOM)).await {
        Ok(received) => received,
        Err(_) => Err(Refusal::new(Code::DeadlineExceeded, "the request took too long to arrive")),
    }
}

async fn gathered(mut body: Body, limit: usize, room: &'static Semaphore) -> Result<Received, Refusal> {
    // Whoever says beforehand that it is too much is told at once.
    if body.size_hint().lower() > limit as u64 {
        return Err(too_large(limit));
    }
    let mut bytes = Vec::new();
    let mut held: Option<SemaphorePermit<'static>> = None;
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|_| Refusal::new(Code::Canceled, "the request ended in the middle"))?;
        let Ok(data) = frame.into_data() else { continue };
        if bytes.len() + data.len() > limit {
            return Err(too_large(limit));
        }
        let units = (bytes.len() + data.len()).div_ceil(1 << 10) - bytes.len().div_ceil(1 << 10);
        if let Some(more) = taken(room, units)? {
            match &mut held {
                Some(held) => held.merge(more),
                None => held = Some(more),
            }
        }
        bytes.extend_from_slice(&data);
    }
    Ok(Received { bytes: bytes.into(), _room: held })
}

fn too_large(limit: usize) -> Refusal {
    Refusal::new(Code::ResourceExhausted, format!("the request is larger than {limit} bytes"))
}

/// Nobody waits for room: those who have some might never finish.
fn taken(room: &'static Semaphore, units: usize) -> Result<Option<SemaphorePermit<'static>>, Refusal> {
    let full = |_| Refusal::new(Code::Unavailable, "too much is being received at the moment, try again");
    match u32::try_from(units) {
        Ok(0) => Ok(None),
        Ok(units) => room.try_acquire_many(units).map(Some).map_err(full),
        Err(_) => Err(Refusal::new(Code::ResourceExhausted, "the request is too large")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn leaked(kilobytes: usize) -> &'static Semaphore {
        Box::leak(Box::new(Semaphore::new(kilobytes)))
    }

    #[tokio::test]
    async fn a_body_is_taken_up_to_its_limit() {
        let taken = gathered(Body::from("12345"), 5, leaked(1)).await.map(|received| received.to_vec());
        assert_eq!(taken, Ok(b"12345".to_vec()));
        let refused = gathered(Body::from("123456"), 5, leaked(1)).await.map(|received| received.to_vec());
        assert_eq!(refused, Err(Refusal::new(Code::ResourceExhausted, "the request is larger than 5 bytes")));
    }

    #[tokio::test]
    async fn who_finds_no_room_is_sent_away_and_room_comes_back() {
        let room = leaked(2);
        let first = gathered(Body::from(vec![0; 2_000]), 4_000, room).await.expect("there is room");
        let second = gathered(Body::from(vec![0; 10]), 4_000, room).await.err().map(|refusal| refusal.code);
        assert_eq!(second, Some(Code::Unavailable));
        drop(first);
        assert!(gathered(Body::from(vec![0; 10]), 4_000, room).await.is_ok());
        assert_eq!(room.available_permits(), 2);
    }
}
