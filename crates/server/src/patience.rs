//! Those who ask and do not take the answer.
//!
//! An answer that nobody takes is held in memory for as long as the connection is open. Whoever does not read at all is seen by
//! their connection, which takes nothing any more. Over HTTP/2 somebody may read and still take nothing of an answer; so each
//! answer says when a piece of it was handed over, and when the next one is asked for.

use std::collections::HashMap;
use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};

use axum::body::{Body, Bytes};
use http_body::{Frame, SizeHint};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::Instant;

use crate::limits;

/// Since when things wait on a connection to be taken.
#[derive(Clone, Default)]
pub(crate) struct Patience(Arc<Mutex<Waits>>);

#[derive(Default)]
struct Waits {
    /// Since when the connection takes nothing, if that is so.
    connection: Option<Instant>,
    /// Since when pieces of answers wait, by the numbers of the answers.
    answers: HashMap<u64, Instant>,
    /// How many answers there have been.
    count: u64,
}

impl Patience {
    /// An answer whose pieces have to be taken in time.
    pub(crate) fn answer(&self, body: Body) -> Answer {
        let mut waits = self.waits();
        waits.count += 1;
        let number = waits.count;
        waits.answers.insert(number, Instant::now());
        drop(waits);
        Answer { body, patience: self.clone(), number, rest: Bytes::new(), is_over: false }
    }

    /// A connection that has to take what is written.
    pub(crate) fn connection<S>(&self, stream: S) -> Connection<S> {
        Connection { stream, patience: self.clone() }
    }

    /// Waits until something was not taken in time.
    pub(crate) async fn ends(&self) {
        loop {
            let oldest = self.oldest().unwrap_or_else(Instant::now);
            if oldest.elapsed() >= limits::TAKING {
                return;
            }
            tokio::time::sleep_until(oldest + limits::TAKING).await;
        }
    }

    fn oldest(&self) -> Option<Instant> {
        let waits = self.waits();
        waits.answers.values().copied().chain(waits.connection).min()
    }

    fn waits(&self) -> MutexGuard<'_, Waits> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// An answer, handed over in pieces that are small enough for even a slow connection to take one in time.
pub(crate) struct Answer {
    body: Body,
    patience: Patience,
    number: u64,
    /// What is left of the last piece of the body.
    rest: Bytes,
    is_over: bool,
}

impl Answer {
    fn handed_over(&self, data: Bytes) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        self.patience.waits().answers.insert(self.number, Instant::now());
        Poll::Ready(Some(Ok(Frame::data(data))))
    }
}

impl http_body::Body for Answer {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let answer = &mut *self;
        answer.patience.waits().answers.remove(&answer.number);
        if answer.rest.is_empty() {
            match Pin::new(&mut answer.body).poll_frame(context) {
                Poll::Ready(Some(Ok(frame))) => match frame.into_data() {
                    Ok(data) => answer.rest = data,
                    Err(trailers) => return Poll::Ready(Some(Ok(trailers))),
                },
                Poll::Ready(None) => {
                    answer.is_over = true;
                    return Poll::Ready(None);
                }
                other => return other,
            }
        }
        let length = answer.rest.len().min(limits::TAKEN_AT_ONCE);
        let data = answer.rest.split_to(length);
        answer.handed_over(data)
    }

    /// Not before its end was asked for: then the last piece was taken.
    fn is_end_stream(&self) -> bool {
        self.is_over || (self.rest.is_empty() && self.body.size_hint().exact() == Some(0))
    }

    fn size_hint(&self) -> SizeHint {
        let (rest, inner) = (self.rest.len() as u64, self.body.size_hint());
        let mut hint = SizeHint::new();
        hint.set_lower(inner.lower() + rest);
        if let Some(upper) = inner.upper() {
            hint.set_upper(upper + rest);
        }
        hint
    }
}

impl Drop for Answer {
    fn drop(&mut self) {
        self.patience.waits().answers.remove(&self.number);
    }
}

/// A connection that says since when it takes nothing.
pub(crate) struct Connection<S> {
    stream: S,
    patience: Patience,
}

impl<S> Connection<S> {
    fn noted<T>(&self, outcome: Poll<T>) -> Poll<T> {
        let mut waits = self.patience.waits();
        match outcome {
            Poll::Pending => waits.connection = waits.connection.or_else(|| Some(Instant::now())),
            Poll::Ready(_) => waits.connection = None,
        }
        outcome
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Connection<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Connection<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.noted(written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        pieces: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(context, pieces);
        self.noted(written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let flushed = Pin::new(&mut self.stream).poll_flush(context);
        self.noted(flushed)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let closed = Pin::new(&mut self.stream).poll_shutdown(context);
        self.noted(closed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use http_body::Body as _;
    use http_body_util::BodyExt as _;
    use std::time::Duration;

    #[tokio::test]
    async fn a_large_answer_comes_in_pieces_and_stays_the_same() {
        let patience = Patience::default();
        let text: Vec<u8> = (0..limits::TAKEN_AT_ONCE * 3 + 7).map(|at| at as u8).collect();
        let mut answer = patience.answer(Body::from(text.clone()));
        assert_eq!(answer.size_hint().exact(), Some(text.len() as u64));
        let first = answer.frame().await.unwrap().unwrap().into_data().unwrap();
        assert_eq!(first.len(), limits::TAKEN_AT_ONCE);
        assert_eq!(answer.size_hint().exact(), Some((text.len() - first.len()) as u64));
        assert!(!answer.is_end_stream());
        let rest = answer.collect().await.unwrap().to_bytes();
        assert_eq!([first, rest].concat(), text);
        assert!(patience.oldest().is_none());
    }

    #[tokio::test]
    async fn an_empty_answer_is_over_at_once() {
        let patience = Patience::default();
        assert!(patience.answer(Body::empty()).is_end_stream());
        assert!(!patience.answer(Body::from("x")).is_end_stream());
        assert!(patience.oldest().is_none(), "those that are gone do not wait");
    }

    #[tokio::test(start_paused = true)]
    async fn patience_ends_for_a_piece_that_is_not_taken_and_not_for_a_silent_stream() {
        let patience = Patience::default();
        let silent = futures::stream::iter([Ok::<_, axum::Error>(Bytes::from_static(b"x"))]);
        let silent = futures::StreamExt::chain(silent, futures::stream::pending());
        let mut answer = patience.answer(Body::from_stream(silent));
        answer.frame().await.unwrap().unwrap();
        let asked = tokio::time::timeout(Duration::from_millis(1), answer.frame()).await;
        assert!(asked.is_err(), "there is nothing more to take");
        assert!(tokio::time::timeout(limits::TAKING * 10, patience.ends()).await.is_err());
        let began = Instant::now();
        let mut other = patience.answer(Body::from("xyz"));
        other.frame().await.unwrap().unwrap();
        patience.ends().await;
        assert_eq!(began.elapsed(), limits::TAKING);
    }
}
