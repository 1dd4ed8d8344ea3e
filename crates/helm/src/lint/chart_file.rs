//! What there is to say about `Chart.yaml`.

use lynceus_gotmpl::semver::{Constraints, Version};
use lynceus_gotmpl::sprig::url::is_request_url;
use lynceus_object::{Value, yaml};

use super::{Linter, Severity};
use crate::chart::{ChartError, Metadata};
use crate::go::{path, text};

const FILE: &str = "Chart.yaml";

pub(super) fn check(linter: &mut Linter<'_>) {
    let data = linter.read(FILE).unwrap_or_default();
    let chart = match Metadata::read_loosely(&data) {
        Ok(chart) => chart,
        Err(ChartError::Unreadable { reason, .. }) => {
            linter.rule(Severity::Error, FILE, Err(format!("unable to parse YAML\n\t{reason}")));
            return;
        }
        Err(error) => {
            linter.rule(Severity::Error, FILE, Err(error.to_string()));
            return;
        }
    };
    let fields = yaml::parse(&data).unwrap_or_default();
    linter.rule(Severity::Warning, FILE, strict(&data));
    for (severity, result) in [
        (Severity::Error, name(&chart)),
        (Severity::Error, api_version(&chart)),
        (Severity::Error, is_text(&fields, "version")),
        (Severity::Error, version(&chart)),
        (Severity::Error, is_text(&fields, "appVersion")),
        (Severity::Error, maintainers(&chart)),
        (Severity::Error, sources(&chart)),
        (Severity::Info, some(!chart.icon.is_empty(), || "icon is recommended".to_owned())),
        (
            Severity::Error,
            some(chart.icon.is_empty() || is_request_url(&chart.icon), || {
                format!("invalid icon URL '{}'", chart.icon)
            }),
        ),
        (Severity::Error, only_second(&chart, chart.kind.is_empty(), "chart type is not valid in", "It is")),
        (
            Severity::Error,
            only_second(
                &chart,
                chart.dependencies.is_empty(),
                "dependencies are not valid in the Chart file with",
                "They are",
            ),
        ),
        (
            Severity::Warning,
            some(Version::strict(&chart.version).is_ok(), || {
                format!("version '{}' is not a valid SemVerV2", chart.version)
            }),
        ),
    ] {
        linter.rule(severity, FILE, result);
    }
}

fn some(fine: bool, message: impl FnOnce() -> String) -> Result<(), String> {
    if fine { Ok(()) } else { Err(message()) }
}

/// Keys that are there twice, and fields that do not exist.
fn strict(data: &[u8]) -> Result<(), String> {
    let told = |reason: String| format!("failed to strictly parse chart metadata file\n\t{reason}");
    let parsed = yaml::parse_with(data, &yaml::Options::default().strict())
        .map_err(|error| told(format!("error converting YAML to JSON: {error}")))?;
    match Metadata::unknown_field(&parsed) {
        Some(name) => Err(told(format!(
            "error unmarshaling JSON: while decoding JSON: json: unknown field {}",
            text::quote(&name)
        ))),
        None => Ok(()),
    }
}

fn name(chart: &Metadata) -> Result<(), String> {
    if chart.name.is_empty() {
        return Err("name is required".to_owned());
    }
    some(path::base(&chart.name) == chart.name, || {
        format!("chart name {} is invalid", text::quote(&chart.name))
    })
}

fn api_version(chart: &Metadata) -> Result<(), String> {
    match chart.api_version.as_str() {
        "v1" | "v2" => Ok(()),
        "" => Err("apiVersion is required. The value must be either \"v1\" or \"v2\"".to_owned()),
        other => Err(format!("apiVersion '{other}' is not valid. The value must be either \"v1\" or \"v2\"")),
    }
}

fn is_text(fields: &Value, name: &str) -> Result<(), String> {
    let found = match fields.get(name) {
        None | Some(Value::Str(_)) => return Ok(()),
        Some(Value::Null) => "<nil>",
        Some(Value::Bool(_)) => "bool",
        Some(Value::Int(_) | Value::Float(_)) => "float64",
        Some(Value::Seq(_)) => "[]interface {}",
        Some(Value::Map(_)) => "map[string]interface {}",
    };
    Err(format!("{name} should be of type string but it's of type {found}"))
}

fn version(chart: &Metadata) -> Result<(), String> {
    if chart.version.is_empty() {
        return Err("version is required".to_owned());
    }
    let Ok(version) = Version::parse(&chart.version) else {
        return Err(format!("version '{}' is not a valid SemVer", chart.version));
    };
    let fits = Constraints::parse(">0.0.0-0").is_ok_and(|range| range.check(&version));
    some(fits, || format!("version {} is less than or equal to 0.0.0-0", chart.version))
}

fn maintainers(chart: &Metadata) -> Result<(), String> {
    for maintainer in &chart.maintainers {
        if maintainer.name.is_empty() {
            return Err("each maintainer requires a name".to_owned());
        }
        let who = &maintainer.name;
        some(maintainer.email.is_empty() || is_email(&maintainer.email), || {
            format!("invalid email '{}' for maintainer '{who}'", maintainer.email)
        })?;
        some(maintainer.url.is_empty() || is_url(&maintainer.url), || {
            format!("invalid url '{}' for maintainer '{who}'", maintainer.url)
        })?;
    }
    Ok(())
}

fn sources(chart: &Metadata) -> Result<(), String> {
    match chart.sources.iter().find(|source| !is_request_url(source)) {
        Some(source) => Err(format!("invalid source URL '{source}'")),
        None => Ok(()),
    }
}

/// What charts of the first kind have in another place.
fn only_second(chart: &Metadata, absent: bool, what: &str, they: &str) -> Result<(), String> {
    some(absent || chart.api_version == "v2", || {
        format!("{what} apiVersion '{}'. {they} valid in apiVersion 'v2'", chart.api_version)
    })
}

fn is_email(text: &str) -> bool {
    let Some((local, domain)) = text.rsplit_once('@') else { return false };
    let is_local = |char: char| char.is_alphanumeric() || "!#$%&'*+-/=?^_`{|}~.".contains(char);
    !local.is_empty()
        && local.chars().all(is_local)
        && !local.starts_with('.')
        && !local.ends_with('.')
        && domain.contains('.')
        && is_host(domain)
}

fn is_host(host: &str) -> bool {
    let is_part = |part: &str| {
        !part.is_empty() && part.chars().all(|char| char.is_alphanumeric() || char == '-' || char == '_')
    };
    host.split('.').all(is_part)
}

/// A URL, with or without a scheme.
fn is_url(text: &str) -> bool {
    let rest = text.split_once("://").map_or(text, |(_, rest)| rest);
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let host = authority.rsplit('@').next().unwrap_or_default();
    let host = host.split(':').next().unwrap_or_default();
    text.len() >= 3 && text.len() < 2083 && is_host(host) && (host.contains('.') || host == "localhost")
}
