//! Requests as text.
//!
//! ```text
//! # A remark. Blank lines part the steps.
//! POST /api/v1/namespaces/{ns}/configmaps?fieldManager=me
//! accept: application/json
//! keep: rv metadata.resourceVersion
//! metadata: {name: a}
//! data: {colour: red}
//!
//! GET /api/v1/namespaces/{ns}/configmaps/a
//! ```
//!
//! `{ns}` is the file's own namespace. Lines that start with a lower-case header name that is known here are headers:
//! `accept`, `content-type`, `as` and `as-group` (somebody else asks), `keep NAME PATH` (remember a field of the
//! answer; `{NAME}` stands for it later), `raw` (the body goes as it stands). The rest is the body, YAML that is
//! sent as JSON.
//!
//! Some methods stand for several requests: `TOUR` goes through the life of an object, `WATCH` reads events, `WAIT` asks
//! the real server until it has what it needs a moment for.

use lynceus_object::{Value, json, yaml};

const HEADERS: [&str; 6] = ["accept", "content-type", "as", "as-group", "keep", "raw"];
const TABLE: &str = "application/json;as=Table;g=meta.k8s.io;v=v1";
const METADATA: &str = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1";

/// One step of a file.
#[derive(Clone, Debug)]
pub(super) struct Step {
    /// The line that it starts in.
    pub(super) line: usize,
    request: Request,
    tour: bool,
}

/// One request.
#[derive(Clone, Debug, Default)]
pub(super) struct Request {
    pub(super) method: String,
    /// With the query.
    pub(super) path: String,
    pub(super) headers: Vec<(String, String)>,
    pub(super) body: String,
    /// Fields of the answer to remember: the name, and the way to it.
    pub(super) keep: Vec<(String, Vec<String>)>,
}

/// Reads a file.
pub(super) fn parse(text: &str) -> Result<Vec<Step>, String> {
    let mut steps = Vec::new();
    let mut block: Vec<&str> = Vec::new();
    let mut first = 0;
    for (index, line) in text.lines().chain([""]).enumerate() {
        if line.is_empty() {
            if !block.is_empty() {
                steps.push(step(first, &block).map_err(|error| format!("line {first}: {error}"))?);
                block.clear();
            }
        } else if !(block.is_empty() && line.starts_with('#')) {
            if block.is_empty() {
                first = index + 1;
            }
            block.push(line);
        }
    }
    Ok(steps)
}

fn step(line: usize, block: &[&str]) -> Result<Step, String> {
    let (method, path) = block[0].split_once(' ').ok_or("a step starts with a method and a path")?;
    let mut request = Request { method: method.to_owned(), path: path.to_owned(), ..Request::default() };
    let mut raw = false;
    let mut rest = &block[1..];
    while let Some((name, value)) = rest.first().and_then(|line| header(line)) {
        match name {
            "keep" => {
                let (name, path) = value.split_once(' ').ok_or("keep: NAME PATH")?;
                request.keep.push((name.to_owned(), path.split('.').map(str::to_owned).collect()));
            }
            "raw" => raw = true,
            "as" => request.headers.push(("impersonate-user".to_owned(), value.to_owned())),
            "as-group" => request.headers.push(("impersonate-group".to_owned(), value.to_owned())),
            name => request.headers.push((name.to_owned(), value.to_owned())),
        }
        rest = &rest[1..];
    }
    request.body = rest.join("\n");
    if !raw && !request.body.is_empty() {
        let value = yaml::parse_str(&request.body).map_err(|error| error.to_string())?;
        request.body = json::to_string(&value);
    }
    let has_type = request.headers.iter().any(|(name, _)| name == "content-type");
    if !has_type && !request.body.is_empty() {
        let kind = if method == "PATCH" { "application/merge-patch+json" } else { "application/json" };
        request.headers.push(("content-type".to_owned(), kind.to_owned()));
    }
    let tour = method == "TOUR";
    if method == "WATCH" {
        request.method = "GET".to_owned();
        let mark = if path.contains('?') { '&' } else { '?' };
        request.path = format!("{path}{mark}watch=true&timeoutSeconds=1");
    }
    Ok(Step { line, request, tour })
}

fn header(line: &str) -> Option<(&str, &str)> {
    let (name, value) = line.split_once(':')?;
    HEADERS.contains(&name).then(|| (name, value.trim()))
}

impl Step {
    /// Whether the step only waits for the real server.
    pub(super) fn is_wait(&self) -> bool {
        self.request.method == "WAIT"
    }

    /// The requests that the step stands for.
    pub(super) fn requests(&self) -> Vec<Request> {
        if self.tour { tour(&self.request) } else { vec![self.request.clone()] }
    }
}

/// The life of an object: tried, made, made again, read in every form, written back, patched in every way, deleted.
fn tour(request: &Request) -> Vec<Request> {
    let collection = request.path.as_str();
    let object = json::parse(request.body.as_bytes()).unwrap_or_default();
    let name = object.str_at(&["metadata", "name"]).unwrap_or_default();
    let one = format!("{collection}/{name}");
    let ask = |method: &str, path: String| Request { method: method.to_owned(), path, ..Request::default() };
    let reading = |path: &str, accept: &str| Request {
        headers: vec![("accept".to_owned(), accept.to_owned())],
        ..ask("GET", path.to_owned())
    };
    let send = |method: &str, path: String, kind: &str, body: &Value| Request {
        headers: vec![("content-type".to_owned(), kind.to_owned())],
        body: json::to_string(body),
        ..ask(method, path)
    };
    let patch =
        lynceus_object::value!({"metadata": {"labels": {"tour": "yes"}, "annotations": {"tour": "1"}}});
    let mut applied = object.clone();
    applied.set(&["metadata", "labels", "applied"], "yes");
    let mut unknown = object.clone();
    unknown.set(&["surprise"], true);
    let mut list = vec![
        send("POST", format!("{collection}?dryRun=All"), "application/json", &object),
        send("POST", format!("{collection}?dryRun=All&fieldValidation=Strict"), "application/json", &unknown),
        send("POST", collection.to_owned(), "application/json", &object),
        send("POST", collection.to_owned(), "application/json", &object),
        reading(&one, "application/json"),
        reading(&one, TABLE),
        reading(&format!("{collection}?fieldSelector=metadata.name%3D{name}"), TABLE),
        reading(
            &format!("{collection}?fieldSelector=metadata.name%3D{name}"),
            METADATA.replace("Metadata", "MetadataList").as_str(),
        ),
        send("PATCH", one.clone(), "application/merge-patch+json", &patch),
        send("PUT", one.clone(), "application/json", &object),
    ];
    for kind in ["application/strategic-merge-patch+json", "application/apply-patch+yaml"] {
        let query = if kind.contains("apply") { "?fieldManager=tour&force=true" } else { "" };
        let body = if kind.contains("apply") { &applied } else { &patch };
        list.push(send("PATCH", format!("{one}{query}"), kind, body));
    }
    list.push(ask("DELETE", format!("{one}?propagationPolicy=Background&gracePeriodSeconds=0")));
    list.push(ask("GET", one));
    list
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_has_headers_and_a_body() {
        let steps =
            parse("# remark\nPOST /x\nas: bob\nkeep: rv metadata.resourceVersion\na: 1\n\nGET /x\n").unwrap();
        let requests: Vec<Request> = steps.iter().flat_map(Step::requests).collect();
        assert_eq!(requests.len(), 2);
        assert_eq!((requests[0].method.as_str(), requests[0].body.as_str()), ("POST", "{\"a\":1}"));
        assert_eq!(requests[0].headers[0], ("impersonate-user".to_owned(), "bob".to_owned()));
        assert_eq!(requests[0].keep[0].1, ["metadata", "resourceVersion"]);
        assert_eq!(steps[1].line, 7);
    }

    #[test]
    fn a_tour_ends_with_the_object_gone() {
        let steps = parse("TOUR /api/v1/namespaces\nmetadata: {name: a}\n").unwrap();
        let requests = steps[0].requests();
        assert_eq!(requests.last().map(|last| last.path.as_str()), Some("/api/v1/namespaces/a"));
        assert!(requests.len() > 10);
    }
}
