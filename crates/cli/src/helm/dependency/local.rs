//! Dependencies in directories of this machine.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use lynceus_helm::Chart;

use crate::helm::chart;

/// The shortest path that means the same, without a look at the disk.
pub(super) fn clean(path: &str) -> String {
    let is_absolute = path.starts_with('/');
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." if parts.last().is_some_and(|last| *last != "..") => {
                parts.pop();
            }
            ".." if is_absolute => {}
            part => parts.push(part),
        }
    }
    match (is_absolute, parts.join("/")) {
        (true, rest) => format!("/{rest}"),
        (false, rest) if rest.is_empty() => ".".to_owned(),
        (false, rest) => rest,
    }
}

/// The directory of a dependency, which has to be there. `path` is relative to the chart unless it begins with `/`.
pub(super) fn directory(chart: &str, path: &str) -> Result<String, String> {
    let found = if path.starts_with('/') { clean(path) } else { clean(&format!("{chart}/{path}")) };
    match Path::new(&found).metadata() {
        Ok(_) => Ok(found),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            Err(format!("directory {found} not found"))
        }
        Err(error) => Err(chart::not_there("stat", &found, &error)),
    }
}

/// When a file of a chart was changed, since 1970; now, if nobody knows.
pub(super) fn modified(directory: &str, file: &str) -> Duration {
    let changed = Path::new(directory).join(file).metadata().and_then(|about| about.modified());
    changed.unwrap_or_else(|_| SystemTime::now()).duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default()
}

/// The chart in a directory; an archive will not do.
pub(super) fn load(directory: &str) -> Result<Arc<Chart>, String> {
    let (tree, inside) = chart::folder(directory)?;
    Chart::from_tree(&tree, &inside).map(Arc::new).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::clean;

    #[test]
    fn paths_are_as_short_as_can_be() {
        for (given, expected) in [
            ("app/../lib", "lib"),
            ("./app//x/.", "app/x"),
            ("../../x", "../../x"),
            ("/../x/", "/x"),
            ("app/..", "."),
            ("", "."),
        ] {
            assert_eq!(clean(given), expected, "{given}");
        }
    }
}
