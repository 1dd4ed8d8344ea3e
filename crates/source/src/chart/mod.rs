//! Charts: from a name and a wanted version to an archive.

mod choice;
mod door;
mod entry;
mod index;
mod shelf;
mod store;

use std::sync::Arc;

use crate::error::SourceError;
use crate::limits::MAX_NAME_TEXT;

pub(crate) use choice::{choose, nearest, sorted};
pub(crate) use door::Shelves;
pub(crate) use store::Store;

/// An archive that is being fetched.
pub(crate) type Fetched = Result<Arc<[u8]>, SourceError>;

/// One version of a chart, as its repository describes it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ChartVersion {
    /// The chart's name, as it was asked for.
    pub name: String,
    /// The version as the repository writes it, with `+` where a registry has `_`.
    pub version: String,
    /// The version of what the chart installs.
    pub app_version: String,
    /// What the chart is for, in a sentence.
    pub description: String,
    /// When it was published, as the repository writes it.
    pub created: String,
    /// Whether it should no longer be used.
    pub deprecated: bool,
    /// The digest of the archive, as `sha256:…`, if it is known before the archive is.
    pub digest: Option<String>,
    /// Where the archive is: absolute, or relative to the repository; best first.
    pub urls: Vec<String>,
}

/// Checks the name of a chart in a chart repository: it may become a file name, so it must not lead anywhere.
pub(crate) fn check_name(chart: &str) -> Result<(), SourceError> {
    let reason = match chart {
        "" => "it is empty",
        "." | ".." => "it is a dot segment",
        text if text.len() > MAX_NAME_TEXT => "it is too long",
        text if text.contains(['/', '\\']) => "it has a slash",
        text if text.chars().any(|c| c.is_control() || c.is_whitespace()) => "it has spaces in it",
        _ => return Ok(()),
    };
    Err(SourceError::ChartName { chart: chart.chars().take(200).collect(), reason })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_leads_elsewhere_is_refused() {
        for name in ["", ".", "..", "../x", "a/b", "/etc/passwd", "..\\x", "a\nb", "a b", "a\0b"] {
            assert!(matches!(check_name(name), Err(SourceError::ChartName { .. })), "{name:?}");
        }
        for name in ["nginx", "kube-prometheus-stack", "a.b_c", "...", "Ünïcode"] {
            assert_eq!(check_name(name), Ok(()), "{name:?}");
        }
    }
}
