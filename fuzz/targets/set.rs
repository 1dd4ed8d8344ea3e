//! Lines of flags: the first letter of a line says which of them it is, the rest is its text.
#![no_main]

use libfuzzer_sys::fuzz_target;
use lynceus_helm::{ValueOptions, ValuesFile};

fuzz_target!(|data: &[u8]| {
    let mut options = ValueOptions::default();
    for line in data.split(|byte| *byte == b'\n') {
        let Some((kind, text)) = line.split_first() else { continue };
        let owned = || String::from_utf8_lossy(text).into_owned();
        match kind {
            b's' => options.set.push(owned()),
            b't' => options.strings.push(owned()),
            b'j' => options.json.push(owned()),
            b'f' => options.set_files.push(owned()),
            b'l' => options.literals.push(owned()),
            b'v' => options.files.push(ValuesFile { name: "values.yaml".to_owned(), data: text.into() }),
            _ => {}
        }
    }
    let mut read = |name: &str| match name {
        "" => Err("open : no such file or directory".to_owned()),
        name => Ok(name.repeat(2)),
    };
    match options.merge(&mut read) {
        Ok(user) => drop(format!("{:?}", user.values())),
        Err(error) => drop(error.to_string()),
    }
});
