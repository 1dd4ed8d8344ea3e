//! Which form a client wants its answer in, and which form it sent its request in.

use http::HeaderMap;
use http::header::{ACCEPT, CONTENT_TYPE};
use lynceus_object::{Map, Value};

use crate::ApiError;

/// What an object is written as.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Format {
    #[default]
    Json,
    Yaml,
    Protobuf,
}

impl Format {
    pub(super) fn media_type(self) -> &'static str {
        match self {
            Self::Json => "application/json",
            Self::Yaml => "application/yaml",
            Self::Protobuf => "application/vnd.kubernetes.protobuf",
        }
    }

    fn of(media_type: &str) -> Option<Self> {
        [Self::Json, Self::Yaml, Self::Protobuf].into_iter().find(|format| format.media_type() == media_type)
    }
}

/// What an object is turned into before it is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Transform {
    #[default]
    None,
    /// `meta.k8s.io` Table, `v1` or `v1beta1`.
    Table(&'static str),
    /// `PartialObjectMetadata`, or a list of it, `v1` or `v1beta1`.
    Metadata(&'static str),
}

/// One thing that a client would take.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Clause {
    media_type: String,
    parameters: Vec<(String, String)>,
    quality: f32,
}

impl Clause {
    pub(super) fn parameter(&self, name: &str) -> &str {
        self.parameters.iter().find(|(known, _)| known == name).map_or("", |(_, value)| value)
    }

    pub(super) fn media_type(&self) -> &str {
        &self.media_type
    }

    pub(super) fn is_json(&self) -> bool {
        matches!(self.media_type.as_str(), "application/json" | "application/*" | "*/*")
    }

    fn format(&self) -> Option<Format> {
        if self.is_json() { Some(Format::Json) } else { Format::of(&self.media_type) }
    }
}

/// What a client would take, best first.
#[derive(Clone, Debug, Default)]
pub(super) struct Accept(Vec<Clause>);

/// What a client gets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Wanted {
    pub(super) format: Format,
    pub(super) transform: Transform,
    /// Whether the client asked for metadata by the name of the list.
    pub(super) metadata_list: bool,
}

impl Accept {
    pub(super) fn of(headers: &HeaderMap) -> Self {
        let mut clauses: Vec<Clause> = headers
            .get_all(ACCEPT)
            .iter()
            .filter_map(|value| value.to_str().ok())
            .flat_map(|value| value.split(','))
            .filter_map(clause)
            .collect();
        clauses.sort_by(|a, b| b.quality.total_cmp(&a.quality));
        Accept(clauses)
    }

    pub(super) fn clauses(&self) -> &[Clause] {
        &self.0
    }

    /// The first form that can be given. `protobuf` says whether the kind has one.
    pub(super) fn choose(&self, protobuf: bool) -> Result<Wanted, ApiError> {
        if self.0.is_empty() {
            return Ok(Wanted::default());
        }
        self.0.iter().find_map(|clause| wanted(clause, protobuf)).ok_or_else(|| self.not_acceptable())
    }

    /// Two layers of the real server look at the header: one at the media type, the next at what it is turned into.
    fn not_acceptable(&self) -> ApiError {
        const KNOWN: &str = "application/json, application/yaml, application/vnd.kubernetes.protobuf";
        if self.0.iter().any(|clause| clause.format().is_some()) {
            let message = format!("only the following media types are accepted: {KNOWN}");
            return ApiError::new(406, "NotAcceptable", message);
        }
        let message = format!("406: Not Acceptable\n\nAvailable representations: {KNOWN}");
        ApiError::new(406, "NotAcceptable", message).with_details(Value::Map(Map::new()))
    }

    /// The form of a `Status`, which is never transformed.
    pub(super) fn status_format(&self) -> Format {
        self.0.iter().find_map(Clause::format).unwrap_or_default()
    }
}

fn wanted(clause: &Clause, protobuf: bool) -> Option<Wanted> {
    let format = clause.format()?;
    if format == Format::Protobuf && !protobuf {
        return None;
    }
    let version = match clause.parameter("v") {
        "v1beta1" => "v1beta1",
        "v1" | "" => "v1",
        _ => return None,
    };
    let transform = match (clause.parameter("as"), clause.parameter("g")) {
        ("", _) => Transform::None,
        ("Table", "meta.k8s.io") if format != Format::Protobuf => Transform::Table(version),
        ("PartialObjectMetadata" | "PartialObjectMetadataList", "meta.k8s.io") => {
            Transform::Metadata(version)
        }
        _ => return None,
    };
    let metadata_list = clause.parameter("as") == "PartialObjectMetadataList";
    Some(Wanted { format, transform, metadata_list })
}

fn clause(text: &str) -> Option<Clause> {
    let mut parts = text.split(';').map(str::trim);
    let media_type = parts.next().filter(|media_type| !media_type.is_empty())?.to_ascii_lowercase();
    let mut quality = 1.0;
    let mut parameters = Vec::new();
    for part in parts {
        let (name, value) = part.split_once('=').unwrap_or((part, ""));
        let value = value.trim_matches('"');
        if name == "q" {
            quality = value.parse().unwrap_or(1.0);
        } else {
            parameters.push((name.to_ascii_lowercase(), value.to_owned()));
        }
    }
    Some(Clause { media_type, parameters, quality })
}

/// The media type of a request's body, without parameters; empty if it does not say.
pub(super) fn content_type(headers: &HeaderMap) -> String {
    let value = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    value.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
}

/// The form of a request's body.
pub(super) fn input_format(headers: &HeaderMap) -> Result<Format, ApiError> {
    let media_type = content_type(headers);
    if media_type.is_empty() {
        return Ok(Format::Json);
    }
    Format::of(&media_type).ok_or_else(|| {
        let message = "the body of the request was in an unknown format - accepted media types include: \
                       application/json, application/yaml, application/vnd.kubernetes.protobuf";
        ApiError::new(415, "UnsupportedMediaType", message)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn choose(accept: &str, protobuf: bool) -> String {
        let mut headers = HeaderMap::new();
        headers.insert(ACCEPT, accept.parse().unwrap());
        match Accept::of(&headers).choose(protobuf) {
            Ok(wanted) => format!("{:?} {:?}", wanted.format, wanted.transform),
            Err(error) => error.code.to_string(),
        }
    }

    #[test]
    fn the_first_form_that_can_be_given_is_chosen() {
        let table = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json;as=Table;v=v1beta1;g=meta.k8s.io,\
                     application/json";
        for (accept, protobuf, expected) in [
            ("application/json, */*", true, "Json None"),
            ("application/vnd.kubernetes.protobuf,application/json", true, "Protobuf None"),
            ("application/vnd.kubernetes.protobuf,application/json", false, "Json None"),
            ("application/vnd.kubernetes.protobuf", false, "406"),
            ("application/yaml;q=0.5, application/json", true, "Json None"),
            (table, true, "Json Table(\"v1\")"),
            (
                "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1",
                true,
                "Json Metadata(\"v1\")",
            ),
            ("application/json;as=Nonsense;g=meta.k8s.io;v=v1", true, "406"),
            ("text/html", true, "406"),
        ] {
            assert_eq!(choose(accept, protobuf), expected, "{accept}");
        }
    }
}
