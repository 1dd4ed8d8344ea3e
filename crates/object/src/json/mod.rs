//! JSON as Kubernetes reads and writes it: integers stay integers, and the words of errors and the
//! bytes of the output are those of Go's `encoding/json`.

mod error;
mod parse;
mod print;
mod same;
mod serde;

pub use error::Error;
pub use parse::{Duplicate, Parsed, parse, read, read_stream};
pub use print::{append, go_string, go_vec, to_string, to_string_pretty, to_vec, typed_string};
pub use same::{covers, says};
