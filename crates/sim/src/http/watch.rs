//! A watch as a stream of frames.

use std::convert::Infallible;
use std::sync::Arc;

use bytes::{BufMut, Bytes, BytesMut};
use futures::stream;
use http::HeaderValue;
use http::Response;
use http::header::{CACHE_CONTROL, CONTENT_TYPE};
use http_body::Frame as BodyFrame;
use http_body_util::{BodyExt, StreamBody};
use lynceus_object::{Object, Value, json, protobuf, value};

use super::Body;
use super::negotiate::{Format, Transform, Wanted};
use super::output::Writer;
use crate::core::Core;
use crate::kinds::Resource;
use crate::table::Include;
use crate::verbs::{Frame, Watcher};

/// The answer to a watch.
pub(super) fn response(
    core: &Arc<Core>,
    watcher: Watcher,
    wanted: Wanted,
    include: Include,
) -> Response<Body> {
    let frames = Frames {
        core: Arc::clone(core),
        resource: watcher.resource(),
        watcher,
        wanted,
        include,
        first: true,
    };
    let stream = stream::unfold(frames, |mut frames| async move {
        let chunk = frames.next().await?;
        Some((Ok::<_, Infallible>(BodyFrame::data(chunk)), frames))
    });
    let mut response = Response::new(StreamBody::new(stream).boxed_unsync());
    let media_type = match wanted.format {
        Format::Protobuf => "application/vnd.kubernetes.protobuf;stream=watch",
        Format::Yaml | Format::Json => "application/json",
    };
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(media_type));
    response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-cache, private"));
    response
}

struct Frames {
    core: Arc<Core>,
    resource: Arc<Resource>,
    watcher: Watcher,
    wanted: Wanted,
    include: Include,
    /// Whether nothing was sent yet: the first table has the columns.
    first: bool,
}

impl Frames {
    /// All that is ready, as one chunk; waits if nothing is.
    async fn next(&mut self) -> Option<Bytes> {
        let mut closing = self.core.closing.subscribe();
        let frame = tokio::select! {
            frame = self.watcher.next() => frame?,
            _ = closing.wait_for(|closing| *closing) => return None,
        };
        let mut out = BytesMut::new();
        self.write(frame, &mut out);
        while let Some(frame) = self.watcher.ready() {
            self.write(frame, &mut out);
        }
        Some(out.freeze())
    }

    fn write(&mut self, frame: Frame, out: &mut BytesMut) {
        // The common case: the same bytes for every watcher.
        if let Frame::Change(kind, _, Some(event)) = &frame
            && self.wanted == Wanted::default()
        {
            for part in [b"{\"type\":\"", kind.word().as_bytes(), b"\",\"object\":", &event.json(), b"}\n"] {
                out.put_slice(part);
            }
            return;
        }
        let (word, object) = match frame {
            Frame::Change(kind, object, _) => (kind.word(), self.transform(object)),
            Frame::Bookmark(object) => ("BOOKMARK", self.bookmark(object)),
            Frame::Error(error) => ("ERROR", error.to_status()),
        };
        match self.wanted.format {
            Format::Json | Format::Yaml => {
                let mut event = value!({"type": word});
                event.set(&["object"], object);
                out.put_slice(&json::to_vec(&event));
                out.put_u8(b'\n');
            }
            Format::Protobuf => self.write_protobuf(word, object, out),
        }
    }

    fn transform(&mut self, object: Object) -> Value {
        let writer = Writer {
            resource: &self.resource,
            wanted: self.wanted,
            include: self.include,
            now: self.core.now(),
        };
        writer.transform(object, std::mem::take(&mut self.first))
    }

    /// A bookmark has no rows and only a version.
    fn bookmark(&mut self, object: Object) -> Value {
        match self.wanted.transform {
            Transform::Table(_) => {
                let mut table = self.transform(object.clone());
                let mut row = value!({"cells": []});
                row.set(&["object", "kind"], "PartialObjectMetadata");
                row.set(&["object", "apiVersion"], "meta.k8s.io/v1");
                row.set(&["object", "metadata"], object.at(&["metadata"]).cloned().unwrap_or_default());
                table.set(&["rows"], vec![row]);
                table
            }
            Transform::None | Transform::Metadata(_) => self.transform(object),
        }
    }

    fn write_protobuf(&self, word: &str, object: Value, out: &mut BytesMut) {
        let object = Object::new(object).unwrap_or_default();
        match protobuf::encode_watch_event(word, &object) {
            Ok(frame) => out.put_slice(&frame),
            Err(error) => tracing::warn!(%error, "an event has no protobuf form"),
        }
    }
}
