//! Finished spans in the messages of OpenTelemetry (`opentelemetry.proto.collector.trace.v1`), which are few enough to be
//! written by hand.

use std::time::{SystemTime, UNIX_EPOCH};

use super::layer::Ended;

/// An `ExportTraceServiceRequest` with these spans, all of one resource.
pub(super) fn request(resource: &[(String, String)], spans: &[Ended]) -> Vec<u8> {
    let mut scope = Message::default();
    let mut who = Message::default();
    who.text(1, "lynceus");
    who.text(2, env!("CARGO_PKG_VERSION"));
    scope.message(1, &who);
    for ended in spans {
        scope.message(2, &span(ended));
    }
    let mut about = Message::default();
    for (key, value) in resource {
        about.message(1, &attribute(key, value));
    }
    let mut all = Message::default();
    all.message(1, &about);
    all.message(2, &scope);
    let mut request = Message::default();
    request.message(1, &all);
    request.0
}

fn span(ended: &Ended) -> Message {
    let mut span = Message::default();
    span.bytes(1, &ended.trace.to_be_bytes());
    span.bytes(2, &ended.id.to_be_bytes());
    if ended.parent != 0 {
        span.bytes(4, &ended.parent.to_be_bytes());
    }
    span.text(5, ended.name);
    span.number(6, kind(ended.name));
    span.fixed(7, nanoseconds(ended.began));
    span.fixed(8, nanoseconds(ended.ended));
    for (key, value) in ended.fields.iter().filter(|(key, _)| *key != "error") {
        span.message(9, &attribute(key, value));
    }
    let error = ended.fields.get("error");
    if !error.is_empty() {
        let mut status = Message::default();
        status.text(2, error);
        status.number(3, 2);
        span.message(15, &status);
    }
    span
}

/// Whether we are asked, ask, or do something by ourselves.
fn kind(name: &str) -> u64 {
    match name {
        "call" => 2,
        "git" | "oci" | "request" => 3,
        _ => 1,
    }
}

fn nanoseconds(time: SystemTime) -> u64 {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
}

fn attribute(key: &str, value: &str) -> Message {
    let mut text = Message::default();
    text.text(1, value);
    let mut attribute = Message::default();
    attribute.text(1, key);
    attribute.message(2, &text);
    attribute
}

/// A message of protobuf.
#[derive(Default)]
struct Message(Vec<u8>);

impl Message {
    fn varint(&mut self, mut number: u64) {
        while number >= 0x80 {
            self.0.push((number & 0x7f) as u8 | 0x80);
            number >>= 7;
        }
        self.0.push(number as u8);
    }

    fn number(&mut self, field: u64, number: u64) {
        self.varint(field << 3);
        self.varint(number);
    }

    fn fixed(&mut self, field: u64, number: u64) {
        self.varint(field << 3 | 1);
        self.0.extend_from_slice(&number.to_le_bytes());
    }

    fn bytes(&mut self, field: u64, bytes: &[u8]) {
        self.varint(field << 3 | 2);
        self.varint(bytes.len() as u64);
        self.0.extend_from_slice(bytes);
    }

    fn text(&mut self, field: u64, text: &str) {
        self.bytes(field, text.as_bytes());
    }

    fn message(&mut self, field: u64, message: &Message) {
        self.bytes(field, &message.0);
    }
}
