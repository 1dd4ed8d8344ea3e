//! JSON as Go's `encoding/json` writes and reads it.

mod decode;
mod encode;

pub use decode::{DecodeError, decode, decode_first};
pub use encode::{Style, encode, encode_in};

#[cfg(test)]
mod tests;
