//! The functions of sprig 3.3.0, as Helm hands them to templates: all but `env` and `expandenv`.
//!
//! Names, arguments and results are sprig's, and so are the words of errors: where the original panics, the
//! message is the one that Go's template engine makes of the panic. One file per family.
//!
//! What differs, and why:
//! - `keys` and `values` come in the order of the keys; Go shuffles them.
//! - The local time zone is UTC, and the database of zones is compiled in: a render has no machine of its own. For
//!   the same reason, what `now` prints ends with a fixed reading of Go's other clock.
//! - Lists of numbers, nesting, the size of expressions and expensive functions are bounded, and Go's are not.
//! - `slice` cannot reach beyond the end of a list into memory that Go happened to set aside.
//! - `deepCopy` copies a version; Go makes 0.0.0 of it. `printf "%#v"` of a time prints no fields.
//! - Of elliptic curves there is P-256, on which sprig makes its keys; keys on others are refused. Keys and
//!   certificates that are malformed are refused in fewer words.

/// A signature with types from anywhere, where [`signature!`](crate::signature) has only Go's own.
macro_rules! takes {
    (($($param:path),*) -> $result:path) => {
        const { $crate::Signature { params: &[$(&$param),*], variadic: false, result: &$result } }
    };
}

/// A method of a type. No function could make one: types and methods refer to each other, which only literals may.
macro_rules! method {
    ($name:literal, ($($param:path),*) -> $result:path, $call:expr) => {
        $crate::Method {
            name: $name,
            signature: $crate::Signature { params: &[$(&$param),*], variadic: false, result: &$result },
            call: $call,
        }
    };
}

mod args;
mod cases;
mod cast;
mod crypto;
mod dates;
mod decimal;
mod defaults;
mod dicts;
mod encodings;
mod equal;
mod lists;
mod merge;
pub mod moments;
mod network;
mod numbers;
mod paths;
mod pattern;
mod random;
mod reflection;
mod regexes;
mod runes;
mod show;
mod strings;
mod time;
pub mod url;
mod urls;
mod versions;
mod wrap;

pub use pattern::matches;

use crate::Functions;

/// All functions with their signatures.
pub fn functions() -> Functions {
    let mut all = Functions::new();
    for register in [
        crypto::register,
        dates::register,
        defaults::register,
        dicts::register,
        encodings::register,
        lists::register,
        network::register,
        numbers::register,
        paths::register,
        random::register,
        reflection::register,
        regexes::register,
        strings::register,
        urls::register,
        versions::register,
    ] {
        register(&mut all);
    }
    all
}
