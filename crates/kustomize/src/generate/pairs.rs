//! Keys with their values, from where a generator says that they are.

use std::collections::HashSet;

use lynceus_object::Str;

use crate::error::KustomizeError;
use crate::load::Loader;

/// The longest line of an environment file that is read; Kustomize reads nothing from the first longer one on.
const MAX_LINE: usize = 64 * 1024;

/// A key with its value.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Pair {
    pub(super) key: Str,
    pub(super) value: Vec<u8>,
}

/// Where a generator says that its pairs are.
pub(super) struct Sources<'a> {
    pub(super) literals: &'a [Str],
    pub(super) files: &'a [Str],
    pub(super) envs: &'a [Str],
}

impl Sources<'_> {
    /// Reads all pairs. A key may be there once.
    pub(super) fn read(&self, name: &str, loader: &Loader<'_>) -> Result<Vec<Pair>, KustomizeError> {
        let mut pairs = Vec::new();
        for path in self.envs {
            let load = loader.load(path).map_err(KustomizeError::from);
            let lines = load.and_then(|loaded| env_file(&loaded.bytes));
            pairs.extend(lines.map_err(|error| {
                error.context(format!("loading KV pairs: env source files: [{}]", self.envs.join(" ")))
            })?);
        }
        for (index, source) in self.literals.iter().enumerate() {
            // What stands there may be a password, so it is told by its position.
            let pair = literal(source);
            pairs.push(pair.map_err(|error| error.context(format!("loading KV pairs: literals[{index}]")))?);
        }
        for source in self.files {
            let pair = file_source(source).and_then(|(key, path)| {
                let loaded = loader.load(path)?;
                Ok(Pair { key: key.into(), value: loaded.bytes.to_vec() })
            });
            pairs.push(pair.map_err(|error| {
                error.context(format!("loading KV pairs: file sources: [{}]", self.files.join(" ")))
            })?);
        }
        let mut seen = HashSet::with_capacity(pairs.len());
        match pairs.iter().find(|pair| !seen.insert(&pair.key)) {
            Some(Pair { key, .. }) => {
                Err(KustomizeError::new(format!("configmap {name} illegally repeats the key `{key}`")))
            }
            None => Ok(pairs),
        }
    }
}

/// `key=value`, with quotes around the whole value taken off.
fn literal(source: &str) -> Result<Pair, KustomizeError> {
    match source.split_once('=') {
        Some((key, value)) if !key.is_empty() => {
            Ok(Pair { key: key.into(), value: unquoted(value).as_bytes().to_vec() })
        }
        _ => Err(KustomizeError::new("invalid literal source, expected key=value")),
    }
}

fn unquoted(text: &str) -> &str {
    let without = |quote| text.strip_prefix(quote).and_then(|rest: &str| rest.strip_suffix(quote));
    without('"').or_else(|| without('\'')).unwrap_or(text)
}

/// `path` or `key=path`.
fn file_source(source: &str) -> Result<(&str, &str), KustomizeError> {
    let quoted = |text: &str| lynceus_object::json::to_string(&text.into());
    match source.split_once('=') {
        None => Ok((base_name(source), source)),
        Some((_, rest)) if rest.contains('=') => {
            Err(KustomizeError::new(format!("source {} key name or file path contains '='", quoted(source))))
        }
        Some(("", path)) => Err(KustomizeError::new(format!(
            "missing key name for file path {} in source {}",
            quoted(path),
            quoted(source)
        ))),
        Some((key, "")) => Err(KustomizeError::new(format!(
            "missing file path for key name {} in source {}",
            quoted(key),
            quoted(source)
        ))),
        Some((key, path)) => Ok((key, path)),
    }
}

/// The last part of a path, as Go's `path.Base` gives it.
fn base_name(path: &str) -> &str {
    if path.is_empty() {
        return ".";
    }
    match path.trim_end_matches('/') {
        "" => "/",
        path => path.rsplit('/').next().unwrap_or(path),
    }
}

/// The pairs of an environment file: one on each line, comments and empty lines aside.
fn env_file(content: &[u8]) -> Result<Vec<Pair>, KustomizeError> {
    let mut pairs = Vec::new();
    for (index, line) in content.split(|byte| *byte == b'\n').enumerate() {
        if line.len() >= MAX_LINE {
            break;
        }
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let Ok(line) = std::str::from_utf8(line) else {
            return Err(KustomizeError::new(format!("line {} has invalid utf8 bytes", index + 1)));
        };
        let line = if index == 0 { line.strip_prefix('\u{feff}').unwrap_or(line) } else { line };
        let line = line.trim_start();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let (key, value) = line.split_once('=').unwrap_or((line, ""));
        if !key.is_empty() {
            pairs.push(Pair { key: key.into(), value: value.as_bytes().to_vec() });
        }
    }
    Ok(pairs)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(pair: &Pair) -> String {
        format!("{}={}", pair.key, String::from_utf8_lossy(&pair.value))
    }

    #[test]
    fn quotes_around_a_whole_literal_are_taken_off() {
        for (source, expected) in [
            ("a=b", "a=b"),
            ("a=", "a="),
            ("a=b=c", "a=b=c"),
            ("a=\"b\"", "a=b"),
            ("a='b'", "a=b"),
            ("a=\"b'", "a=\"b'"),
            ("a=\"", "a=\""),
            ("a=''", "a="),
        ] {
            assert_eq!(shown(&literal(source).unwrap()), expected);
        }
        assert!(literal("=b").is_err());
        assert!(literal("a").is_err());
    }

    #[test]
    fn a_file_is_called_as_its_path_ends_unless_a_key_is_given() {
        assert_eq!(file_source("a/b.txt").unwrap(), ("b.txt", "a/b.txt"));
        assert_eq!(file_source("k=a/b.txt").unwrap(), ("k", "a/b.txt"));
        for wrong in ["=a", "a=", "a=b=c", "="] {
            assert!(file_source(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn an_environment_file_has_one_pair_on_each_line() {
        let text = "\u{feff}a=1\r\n# no\n\n  b = 2 \nc\n=d\ne='5'\n";
        let pairs = env_file(text.as_bytes()).unwrap();
        assert_eq!(pairs.iter().map(shown).collect::<Vec<_>>(), ["a=1", "b = 2 ", "c=", "e='5'"]);
        assert!(env_file(b"a=\xff\n").is_err());
    }

    #[test]
    fn nothing_is_read_from_a_line_on_that_is_too_long() {
        let text = format!("a=1\nb={}\nc=3\n", "x".repeat(MAX_LINE));
        assert_eq!(env_file(text.as_bytes()).unwrap().len(), 1);
    }
}
