//! Paths with slashes. Those of the operating system are the same: Helm runs where paths have slashes.

use super::args::text;
use crate::{Functions, Str, Value, signature};

pub(super) fn register(to: &mut Functions) {
    for name in ["base", "osBase"] {
        to.add(name, signature!((STRING) -> STRING), |_, args| Ok(base(text(args, 0)).into()));
    }
    for name in ["dir", "osDir"] {
        to.add(name, signature!((STRING) -> STRING), |_, args| Ok(dir(text(args, 0))));
    }
    for name in ["clean", "osClean"] {
        to.add(name, signature!((STRING) -> STRING), |_, args| Ok(clean(text(args, 0)).into()));
    }
    for name in ["ext", "osExt"] {
        to.add(name, signature!((STRING) -> STRING), |_, args| Ok(ext(text(args, 0)).into()));
    }
    for name in ["isAbs", "osIsAbs"] {
        to.add(name, signature!((STRING) -> BOOL), |_, args| Ok(text(args, 0).starts_with('/').into()));
    }
}

/// The last element.
fn base(path: &Str) -> &str {
    if path.is_empty() {
        return ".";
    }
    let trimmed = path.trim_end_matches('/');
    match trimmed.rsplit('/').next() {
        Some("") | None => "/",
        Some(last) => last,
    }
}

/// All but the last element, in its shortest form.
fn dir(path: &str) -> Value {
    clean(path.rfind('/').map_or("", |slash| &path[..=slash])).into()
}

/// From the last dot of the last element on.
fn ext(path: &str) -> &str {
    let name = path.rfind('/').map_or(path, |slash| &path[slash + 1..]);
    name.rfind('.').map_or("", |dot| &name[dot..])
}

/// The shortest path that leads to the same place.
fn clean(path: &str) -> String {
    let rooted = path.starts_with('/');
    let mut kept: Vec<&str> = Vec::new();
    for element in path.split('/') {
        match element {
            "" | "." => {}
            ".." if kept.last().is_some_and(|last| *last != "..") => {
                kept.pop();
            }
            // There is nothing above the root.
            ".." if rooted => {}
            element => kept.push(element),
        }
    }
    match (rooted, kept.is_empty()) {
        (true, _) => format!("/{}", kept.join("/")),
        (false, true) => ".".to_owned(),
        (false, false) => kept.join("/"),
    }
}
