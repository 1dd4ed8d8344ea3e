//! The functions of sprig 3.3.0, as Helm hands them to templates: all but `env` and `expandenv`.
//!
//! Names, arguments and results are sprig's, and so are the words of errors: where the original panics, the
//! message is the one that Go's template engine makes of the panic. One file per family.

/// A signature with types from anywhere, where [`signature!`](crate::signature) has only Go's own.
macro_rules! takes {
    (($($param:path),*) -> $result:path) => {
        const { $crate::Signature { params: &[$(&$param),*], variadic: false, result: &$result } }
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
mod url;
mod urls;
mod versions;
mod wrap;

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
