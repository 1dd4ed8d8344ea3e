//! What a namespace's labels ask of its pods.

use std::fmt;

use lynceus_object::Object;

use crate::FieldError;
use crate::kinds::gofmt::quoted;

const PREFIX: &str = "pod-security.kubernetes.io/";

/// How strict a policy is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Level {
    Privileged,
    Baseline,
    Restricted,
}

/// The release whose rules count: of a `v1.x`, or whatever is the newest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Version {
    Minor(u32),
    Latest,
}

/// A level as one release defined it; printed as `baseline:v1.30`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Standard {
    pub(super) level: Level,
    pub(super) version: Version,
}

impl fmt::Display for Standard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let level = match self.level {
            Level::Privileged => "privileged",
            Level::Baseline => "baseline",
            Level::Restricted => "restricted",
        };
        match self.version {
            Version::Minor(minor) => write!(f, "{level}:v1.{minor}"),
            Version::Latest => write!(f, "{level}:latest"),
        }
    }
}

/// What pods are refused for and what is warned of. Nobody reads audit annotations here, so that the
/// labels for them are only checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Policy {
    pub(super) enforce: Standard,
    pub(super) warn: Standard,
}

impl Policy {
    /// The policy of a namespace, with what is wrong with its labels. What cannot be read is as strict as
    /// can be where it refuses, and lenient where it only warns.
    pub(super) fn of(namespace: &Object) -> (Self, Vec<FieldError>) {
        let mut labels = Labels { namespace, errors: Vec::new() };
        let (enforce, known) = labels.standard("enforce", Level::Restricted);
        labels.standard("audit", Level::Privileged);
        let (mut warn, _) = labels.standard("warn", Level::Privileged);
        // Whoever is refused wants to know before: workloads are warned of what their pods will run into.
        if labels.get("warn").is_none() && known && enforce.level > warn.level {
            warn.level = enforce.level;
            if labels.get("warn-version").is_none() {
                warn.version = enforce.version;
            }
        }
        (Policy { enforce, warn }, labels.errors)
    }
}

struct Labels<'a> {
    namespace: &'a Object,
    errors: Vec<FieldError>,
}

impl Labels<'_> {
    fn get(&self, mode: &str) -> Option<&str> {
        self.namespace.label(&format!("{PREFIX}{mode}"))
    }

    /// The standard of a mode, and whether its level was said and understood.
    fn standard(&mut self, mode: &str, otherwise: Level) -> (Standard, bool) {
        let mut standard = Standard { level: Level::Privileged, version: Version::Latest };
        let mut known = false;
        // Most namespaces say nothing about this, and every write to a pod asks.
        if !self.namespace.labels().any(|(key, _)| key.starts_with(PREFIX)) {
            return (standard, known);
        }
        if let Some(text) = self.get(mode).map(str::to_owned) {
            match level(&text) {
                Some(level) => (standard.level, known) = (level, true),
                None => {
                    standard.level = otherwise;
                    self.wrong(mode, &text, "must be one of privileged, baseline, restricted");
                }
            }
        }
        let mode = format!("{mode}-version");
        if let Some(text) = self.get(&mode).map(str::to_owned) {
            match version(&text) {
                Some(version) => standard.version = version,
                None => self.wrong(&mode, &text, "must be \"latest\" or \"v1.x\""),
            }
        }
        (standard, known)
    }

    fn wrong(&mut self, mode: &str, text: &str, why: &str) {
        let field = format!("metadata.labels[{PREFIX}{mode}]");
        self.errors.push(FieldError::invalid(field, quoted(text), why));
    }
}

fn level(text: &str) -> Option<Level> {
    match text {
        "privileged" => Some(Level::Privileged),
        "baseline" => Some(Level::Baseline),
        "restricted" => Some(Level::Restricted),
        _ => None,
    }
}

fn version(text: &str) -> Option<Version> {
    if text == "latest" {
        return Some(Version::Latest);
    }
    let minor = text.strip_prefix("v1.")?;
    let plain = minor.bytes().all(|byte| byte.is_ascii_digit()) && (minor == "0" || !minor.starts_with('0'));
    minor.parse().ok().filter(|_| plain).map(Version::Minor)
}
