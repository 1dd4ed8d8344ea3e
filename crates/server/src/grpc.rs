//! The API over gRPC and gRPC-web, which are the same messages in other envelopes.
//!
//! A message is a byte of flags, four of length, and protobuf. How a call ended stands in trailers; over gRPC-web, which
//! cannot have those, in a last envelope with a flag of its own. The proxy inside of the real `argocd` reads no such envelope
//! and knows of an end only from headers, so what is refused before anything was answered is said there as well.

use std::borrow::Cow;
use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Request, header};
use axum::response::Response;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use futures::stream::{self, BoxStream, StreamExt as _};
use http_body::Frame;
use http_body_util::StreamBody;
use lynceus_object::protobuf::{decode_message, encode_message};
use lynceus_object::{Value, schema::TypeRef};

use crate::body;
use crate::call::Answer;
use crate::limits;
use crate::method::{Flow, Method, methods};
use crate::refusal::{Code, Refusal};
use crate::server::Server;

const STATUS: HeaderName = HeaderName::from_static("grpc-status");
const MESSAGE: HeaderName = HeaderName::from_static("grpc-message");

/// The flag of an envelope that holds trailers.
const TRAILERS: u8 = 0x80;

/// How somebody speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Dialect {
    /// gRPC over HTTP/2.
    Plain,
    /// gRPC-web.
    Web,
    /// gRPC-web in base64.
    WebText,
}

impl Dialect {
    /// The dialect of a request, if it is one.
    pub(crate) fn of(headers: &HeaderMap) -> Option<Self> {
        let kind = headers.get(header::CONTENT_TYPE)?.to_str().ok()?;
        if kind.starts_with("application/grpc-web-text") {
            Some(Dialect::WebText)
        } else if kind.starts_with("application/grpc-web") {
            Some(Dialect::Web)
        } else {
            kind.starts_with("application/grpc").then_some(Dialect::Plain)
        }
    }

    fn content_type(self) -> &'static str {
        match self {
            Dialect::Plain => "application/grpc+proto",
            Dialect::Web => "application/grpc-web+proto",
            Dialect::WebText => "application/grpc-web-text+proto",
        }
    }
}

/// Answers a call.
pub(crate) async fn answer(server: &Arc<Server>, dialect: Dialect, request: Request<Body>) -> Response {
    let pieces = match answered(server, dialect, request).await {
        Ok((output, Answer::One(value))) => whole(framed(output, &value)),
        Ok((output, Answer::List(list))) => whole(framed(output, &list.whole())),
        Ok((output, Answer::Many(values))) => {
            Ok(values.map(move |value| value.and_then(|value| framed(output, &value))).boxed())
        }
        Err(refusal) => Err(refusal),
    };
    let (headers, pieces) = match pieces {
        Ok(pieces) => (HeaderMap::new(), pieces),
        Err(refusal) => (early(dialect, &refusal), stream::iter([Err(refusal)]).boxed()),
    };
    let mut response = Response::new(Body::new(StreamBody::new(ended(dialect, pieces))));
    *response.headers_mut() = headers;
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(dialect.content_type()));
    response
}

type Pieces = BoxStream<'static, Result<Bytes, Refusal>>;

/// An answer of one message, unless it cannot be sent.
fn whole(message: Result<Bytes, Refusal>) -> Result<Pieces, Refusal> {
    Ok(stream::iter([Ok(message?)]).boxed())
}

/// The headers of a call that was refused before it had any answer. Over gRPC, where they would be an end of their own,
/// there are none.
fn early(dialect: Dialect, refusal: &Refusal) -> HeaderMap {
    match dialect {
        Dialect::Plain => HeaderMap::new(),
        Dialect::Web | Dialect::WebText => trailers(Some(refusal)),
    }
}

async fn answered(
    server: &Arc<Server>,
    dialect: Dialect,
    request: Request<Body>,
) -> Result<(TypeRef<'static>, Answer), Refusal> {
    let (parts, body) = request.into_parts();
    let path = parts.uri.path();
    let unknown = || Refusal::new(Code::Unimplemented, format!("unknown method {path}"));
    let method = methods().by_call(path).ok_or_else(unknown)?;
    server.admit(method, &parts.headers).await?;
    let (limit, _turn) = match method.flow {
        Flow::Questions => (limits::STREAMED_BODY, Some(server.receiving.acquire().await)),
        Flow::Single | Flow::Answers => (limits::BODY, None),
    };
    let body = body::collect(body, limit).await?;
    let plain = match dialect {
        Dialect::WebText => {
            STANDARD.decode(&*body).map_err(|_| Refusal::invalid("the body is no base64"))?.into()
        }
        Dialect::Plain | Dialect::Web => Cow::Borrowed(&*body),
    };
    let question = one(messages(&plain, method)?);
    let answer = server.answer(method, &parts.headers, question).await?;
    Ok((method.output, answer))
}

/// A question of several messages as one: the first says what it is about, the others bring a file piece by piece.
fn one(messages: Vec<Value>) -> Value {
    let mut messages = messages.into_iter();
    let mut question = messages.next().unwrap_or_default();
    let piece = |message: &Value| {
        let text = message.str_at(&["chunk", "chunk"]).unwrap_or_default();
        // It was made from bytes a moment ago.
        STANDARD.decode(text).unwrap_or_default()
    };
    let mut file = piece(&question);
    messages.for_each(|message| file.extend_from_slice(&piece(&message)));
    if !file.is_empty() {
        question.set(&["chunk", "chunk"], STANDARD.encode(file));
    }
    question
}

/// The messages of a question.
fn messages(body: &[u8], method: &Method) -> Result<Vec<Value>, Refusal> {
    let mut found = Vec::new();
    let mut rest = body;
    while let Some((head, others)) = rest.split_at_checked(5) {
        let [flags, a, b, c, d] = head else { break };
        let length = u32::from_be_bytes([*a, *b, *c, *d]) as usize;
        let cut = || Refusal::invalid("a message is shorter than it says");
        let (message, others) = others.split_at_checked(length).ok_or_else(cut)?;
        rest = others;
        match *flags {
            0 => found.push(
                decode_message(message, method.input).map_err(|error| Refusal::invalid(error.to_string()))?,
            ),
            flags if flags & TRAILERS != 0 => {}
            _ => return Err(Refusal::new(Code::Unimplemented, "compressed messages are not understood")),
        }
    }
    if !rest.is_empty() {
        return Err(Refusal::invalid("there are bytes behind the last message"));
    }
    Ok(found)
}

/// A message in its envelope.
fn framed(output: TypeRef<'static>, value: &Value) -> Result<Bytes, Refusal> {
    let internal =
        |error: lynceus_object::protobuf::ProtobufError| Refusal::new(Code::Internal, error.to_string());
    let message = encode_message(value, output).map_err(internal)?;
    envelope(0, &message)
}

fn envelope(flags: u8, message: &[u8]) -> Result<Bytes, Refusal> {
    let too_long = |_| Refusal::new(Code::ResourceExhausted, "the answer is too long for one message");
    let length = u32::try_from(message.len()).map_err(too_long)?;
    let mut frame = Vec::with_capacity(message.len() + 5);
    frame.push(flags);
    frame.extend_from_slice(&length.to_be_bytes());
    frame.extend_from_slice(message);
    Ok(frame.into())
}

type Framed = Result<Frame<Bytes>, std::convert::Infallible>;

/// The envelopes of an answer, with how it ended behind them.
fn ended(dialect: Dialect, pieces: Pieces) -> BoxStream<'static, Framed> {
    stream::unfold(Some(pieces), move |pieces| async move {
        let mut pieces = pieces?;
        match pieces.next().await {
            Some(Ok(bytes)) => Some((Ok(data(dialect, bytes)), Some(pieces))),
            Some(Err(refusal)) => Some((Ok(end(dialect, Some(&refusal))), None)),
            None => Some((Ok(end(dialect, None)), None)),
        }
    })
    .boxed()
}

fn data(dialect: Dialect, bytes: Bytes) -> Frame<Bytes> {
    Frame::data(match dialect {
        Dialect::WebText => STANDARD.encode(&bytes).into(),
        Dialect::Plain | Dialect::Web => bytes,
    })
}

fn end(dialect: Dialect, refusal: Option<&Refusal>) -> Frame<Bytes> {
    if dialect == Dialect::Plain {
        return Frame::trailers(trailers(refusal));
    }
    let (code, message) = said(refusal);
    let text = format!("grpc-status: {code}\r\ngrpc-message: {message}\r\n");
    data(dialect, envelope(TRAILERS, text.as_bytes()).unwrap_or_default())
}

fn trailers(refusal: Option<&Refusal>) -> HeaderMap {
    let (code, message) = said(refusal);
    let mut trailers = HeaderMap::new();
    trailers.insert(STATUS, HeaderValue::from(code));
    if let Ok(message) = HeaderValue::from_str(&message) {
        trailers.insert(MESSAGE, message);
    }
    trailers
}

/// How a call ended: the number, and the words as trailers can carry them.
fn said(refusal: Option<&Refusal>) -> (i32, String) {
    let code = refusal.map_or(0, |refusal| refusal.code.number());
    (code, refusal.map(|refusal| escaped(&refusal.message)).unwrap_or_default())
}

/// A text as trailers can carry it.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b' '..=b'~' if byte != b'%' => out.push(byte as char),
            _ => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use lynceus_object::{json, value};

    #[test]
    fn messages_survive_their_envelopes() {
        let method = methods().by_call("/application.ApplicationService/Sync").expect("a method");
        let request = value!({"name": "shop", "prune": true, "resources": [{"kind": "Pod", "name": "a"}]});
        let frame = framed(method.input, &request).expect("a frame");
        let read = messages(&frame, method).expect("messages");
        assert_eq!(
            json::to_string(&read[0]),
            r#"{"name":"shop","prune":true,"resources":[{"group":"","kind":"Pod","name":"a","namespace":""}]}"#
        );
    }

    #[test]
    fn cut_and_foreign_bytes_are_refused() {
        let method = methods().by_call("/application.ApplicationService/Sync").expect("a method");
        for bytes in [&b"\0\0\0\0\x05ab"[..], b"\0\0", b"\x01\0\0\0\0", b"\0\0\0\0\x02\x0a\x7f"] {
            assert!(messages(bytes, method).is_err(), "{bytes:?}");
        }
    }

    #[test]
    fn an_end_carries_any_text() {
        assert_eq!(escaped("100 % sicher: ä\n"), "100 %25 sicher: %C3%A4%0A");
    }
}
