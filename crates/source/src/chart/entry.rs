//! The entries of one chart in an index.

use lynceus_object::{Value, yaml};

use super::index::is_item;
use crate::chart::ChartVersion;
use crate::limits::{MAX_CHART_URLS, MAX_CHART_VERSIONS};
use crate::version::Version;

/// Reads the lines below a chart's name. An entry that cannot be read costs itself only.
pub(super) fn versions(chart: &str, text: &[u8]) -> Result<Vec<ChartVersion>, String> {
    let items = items(text);
    if items.len() > MAX_CHART_VERSIONS {
        return Err(format!("it has more than {MAX_CHART_VERSIONS} versions"));
    }
    let mut versions = Vec::with_capacity(items.len());
    for item in items {
        let options = yaml::Options { max_bytes: item.len(), ..yaml::Options::default() };
        let read = match yaml::parse_with(item, &options) {
            Ok(list) => list.as_seq().and_then(|list| list.first()).and_then(|value| entry(chart, value)),
            Err(error) => {
                tracing::debug!(chart, %error, "an entry of the index cannot be read");
                None
            }
        };
        versions.extend(read);
    }
    Ok(versions)
}

/// The items of a list, each with its dash. Lines before the first one are none.
fn items(text: &[u8]) -> Vec<&[u8]> {
    let mut starts = Vec::new();
    let mut own = None;
    let mut at = 0;
    for line in text.split_inclusive(|byte| *byte == b'\n') {
        let indent = line.iter().take_while(|byte| **byte == b' ').count();
        let rest = line.get(indent..).unwrap_or_default().trim_ascii_end();
        if is_item(rest) && *own.get_or_insert(indent) == indent {
            starts.push(at);
        }
        at += line.len();
    }
    let ends = starts.iter().skip(1).copied().chain([text.len()]);
    starts.iter().zip(ends).filter_map(|(start, end)| text.get(*start..end)).collect()
}

/// An entry, if it has a name and a version that Helm would take.
fn entry(chart: &str, value: &Value) -> Option<ChartVersion> {
    let text = |key: &str| value.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
    let version = text("version");
    Version::parse(&version)?;
    let name = text("name");
    if super::check_name(&name).is_err() {
        return None;
    }
    // What cannot be checked is not used.
    if !value.get("digest").is_none_or(|digest| digest.is_null() || digest.as_str().is_some()) {
        return None;
    }
    let urls = value.get("urls").and_then(Value::as_seq).unwrap_or_default();
    Some(ChartVersion {
        name: chart.to_owned(),
        version,
        app_version: text("appVersion"),
        description: text("description"),
        created: text("created"),
        deprecated: value.get("deprecated").and_then(Value::as_bool).unwrap_or_default(),
        digest: digest(&text("digest")),
        urls: urls.iter().take(MAX_CHART_URLS).filter_map(|url| url.as_str().map(str::to_owned)).collect(),
    })
}

/// The digest with the name of its algorithm, which most indexes leave out.
fn digest(text: &str) -> Option<String> {
    let text = text.trim().to_ascii_lowercase();
    match text.split_once(':') {
        _ if text.is_empty() => None,
        Some(_) => Some(text),
        None => Some(format!("sha256:{text}")),
    }
}
