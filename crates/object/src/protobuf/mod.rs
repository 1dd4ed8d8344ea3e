//! `application/vnd.kubernetes.protobuf` for the built-in kinds, driven by the schema table.
//!
//! Bytes are those that Kubernetes' own encoder writes: fields in the order of their numbers, what
//! Go holds by value always there, maps sorted. An object on the wire is four bytes of magic and an
//! envelope that names its kind; items of a list and other nested objects have no kind of their own.

mod decode;
mod encode;
mod wire;

pub use decode::{decode, decode_as, decode_message};
pub use encode::{encode, encode_message, encode_watch_event};

/// The bytes that every object starts with.
pub const MAGIC: [u8; 4] = *b"k8s\0";

/// The content type.
pub const CONTENT_TYPE: &str = "application/vnd.kubernetes.protobuf";

/// Why bytes are no object, or an object has no bytes.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ProtobufError {
    /// The bytes do not start with the magic.
    #[error("provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]")]
    Magic,
    /// The bytes end in the middle of something.
    #[error("unexpected EOF")]
    Truncated,
    /// A number is longer than it may be, or a length is no length.
    #[error("proto: integer overflow")]
    Overflow,
    /// A field is written in a way that its type is not.
    #[error("proto: wrong wireType = {wire} for field {field}")]
    WireType {
        /// The wire type that was found.
        wire: u8,
        /// The JSON name of the field.
        field: String,
    },
    /// A string is not UTF-8, or JSON inside is no JSON.
    #[error("proto: invalid text in field {field}")]
    Text {
        /// The JSON name of the field.
        field: String,
    },
    /// Messages are nested too deep.
    #[error("proto: nested too deep")]
    Depth,
    /// The kind has no protobuf form.
    #[error("no kind {kind:?} is registered for version {api_version:?}")]
    Kind {
        /// The `apiVersion` of the object.
        api_version: String,
        /// The kind of the object.
        kind: String,
    },
    /// A field of the object does not fit its type.
    #[error("cannot encode field {field}: not a {wanted}")]
    Type {
        /// The JSON name of the field.
        field: String,
        /// What it should be.
        wanted: &'static str,
    },
}
