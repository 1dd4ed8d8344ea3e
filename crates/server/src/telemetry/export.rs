//! Finished spans on their way to a collector: many at once, never waited for, and dropped where they come too fast.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use reqwest::Client;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use tokio::sync::mpsc;
use tracing::warn;

use super::layer::Ended;
use super::wire;
use crate::limits;

/// The method of a collector over gRPC.
const EXPORT: &str = "opentelemetry.proto.collector.trace.v1.TraceService/Export";

/// Where spans go, and what goes with them.
#[derive(Clone, Default)]
pub struct Collector {
    /// `HOST:PORT`, where gRPC is spoken, or an address that begins with `http`, where its HTTP is.
    pub address: String,
    /// Whether gRPC is spoken without TLS.
    pub insecure: bool,
    /// Headers of every request.
    pub headers: Vec<(String, String)>,
    /// What is said of this program with every span.
    pub attributes: Vec<(String, String)>,
    /// How this program is called there.
    pub service: String,
}

impl Collector {
    /// The address that is asked, and whether it speaks gRPC.
    fn place(&self) -> (String, bool) {
        let address = self.address.trim_end_matches('/');
        match address.starts_with("http://") || address.starts_with("https://") {
            true => (format!("{address}/v1/traces"), false),
            false => {
                let scheme = if self.insecure { "http" } else { "https" };
                (format!("{scheme}://{address}/{EXPORT}"), true)
            }
        }
    }

    fn client(&self) -> Result<Client, String> {
        let mut headers = HeaderMap::new();
        for (name, value) in &self.headers {
            let bad = || format!("the header {name:?} for the collector is none");
            let key: HeaderName = name.parse().map_err(|_| bad())?;
            let mut value: HeaderValue = value.parse().map_err(|_| bad())?;
            value.set_sensitive(true);
            headers.insert(key, value);
        }
        let mut builder = crate::access::trusting("")?.default_headers(headers).timeout(limits::COLLECTOR);
        if self.place().1 && self.insecure {
            builder = builder.http2_prior_knowledge();
        }
        builder.build().map_err(|error| error.to_string())
    }
}

/// Where finished spans are put.
#[derive(Clone)]
pub(super) struct Outbox {
    spans: mpsc::Sender<Ended>,
    dropped: Arc<AtomicU64>,
}

impl Outbox {
    /// Never waits: whoever has finished something has other things to do.
    pub(super) fn send(&self, span: Ended) {
        if self.spans.try_send(span).is_err() {
            self.dropped.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// How many spans were lost.
    pub(super) fn dropped(&self) -> u64 {
        self.dropped.load(Ordering::Relaxed)
    }
}

/// The worker that brings spans to a collector; it has to run for anything to arrive.
pub struct Courier {
    collector: Collector,
    client: Client,
    spans: mpsc::Receiver<Ended>,
    dropped: Arc<AtomicU64>,
}

/// An outbox, and who empties it.
pub(super) fn courier(collector: Collector) -> Result<(Outbox, Courier), String> {
    let (sender, spans) = mpsc::channel(limits::SPANS);
    let dropped = Arc::new(AtomicU64::new(0));
    let client = collector.client()?;
    let outbox = Outbox { spans: sender, dropped: dropped.clone() };
    Ok((outbox, Courier { collector, client, spans, dropped }))
}

impl Courier {
    /// Brings spans until there can be no more.
    pub async fn run(mut self) {
        let mut resource = vec![("service.name".to_owned(), self.collector.service.clone())];
        resource.extend(self.collector.attributes.iter().cloned());
        let mut complained = false;
        loop {
            let mut batch = Vec::new();
            if self.spans.recv_many(&mut batch, limits::SPANS_AT_ONCE).await == 0 {
                return;
            }
            match self.deliver(wire::request(&resource, &batch)).await {
                Ok(()) => complained = false,
                Err(why) => {
                    self.dropped.fetch_add(batch.len() as u64, Ordering::Relaxed);
                    // Once, until it has gone well again.
                    if !std::mem::replace(&mut complained, true) {
                        warn!(why, "spans do not arrive at the collector");
                    }
                }
            }
            // Those that end meanwhile come together.
            tokio::time::sleep(limits::SPANS_PAUSE).await;
        }
    }

    async fn deliver(&self, message: Vec<u8>) -> Result<(), String> {
        let (place, is_grpc) = self.collector.place();
        let request = self.client.post(place);
        let request = match is_grpc {
            true => request
                .header("content-type", "application/grpc")
                .header("te", "trailers")
                .body(framed(&message)?),
            false => request.header("content-type", "application/x-protobuf").body(message),
        };
        let answer = request.send().await.map_err(|error| cause(&error))?;
        let refused = answer.headers().get("grpc-status").is_some_and(|status| status != "0");
        match answer.status().is_success() && !refused {
            true => Ok(()),
            false => Err(format!("the collector answered {}", answer.status())),
        }
    }
}

/// A message in the envelope of gRPC.
fn framed(message: &[u8]) -> Result<Vec<u8>, String> {
    let length = u32::try_from(message.len()).map_err(|_| "the spans are too many for one message")?;
    Ok([&[0][..], &length.to_be_bytes(), message].concat())
}

/// The innermost reason, without the address.
fn cause(error: &reqwest::Error) -> String {
    let mut source: &dyn std::error::Error = error;
    while let Some(inner) = source.source() {
        source = inner;
    }
    source.to_string()
}
