//! Webhooks: where they are, and how they are called over HTTP, with TLS checked against the bundle that their configuration gives.

use std::io::BufReader;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use base64::Engine;
use bytes::Bytes;
use http_body_util::{BodyExt, Full, Limited};
use hyper_util::rt::TokioIo;
use lynceus_object::Value;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use tokio::net::TcpStream;

use crate::cel::Url;
use crate::limits::HOOK_ANSWER_BYTES;
use crate::view::View;

/// Where a webhook is.
#[derive(Debug)]
pub(crate) struct Target {
    /// The URL as messages show it.
    url: String,
    is_tls: bool,
    /// The host that is asked for and that a certificate has to be for.
    host: String,
    /// The address to connect to, if the host's name is not to be looked up.
    address: Option<String>,
    port: u16,
    path: String,
    roots: Vec<CertificateDer<'static>>,
}

/// The Service that a `clientConfig` names: its namespace and name.
pub(crate) fn service_of(config: &Value) -> Option<(&str, &str)> {
    let service = config.get("service")?;
    Some((service.str_at(&["namespace"])?, service.str_at(&["name"])?))
}

/// The URL of a `clientConfig` as messages show it.
pub(crate) fn shown(config: &Value, query: &str) -> String {
    let url = config.str_at(&["url"]).unwrap_or_default();
    match service_of(config) {
        Some(_) if url.is_empty() => {
            let (host, port, path) = of_service(config.get("service").unwrap_or(&Value::Null));
            format!("https://{host}:{port}{path}?{query}")
        }
        _ => format!("{}?{query}", url.split('?').next().unwrap_or(url)),
    }
}

/// The address that a `clientConfig` leads to, as messages show it.
pub(crate) fn dialled(view: &dyn View, config: &Value) -> String {
    let Some((namespace, name)) = service_of(config) else {
        let url = Url::parse(config.str_at(&["url"]).unwrap_or_default());
        return url.map_or_else(String::new, |url| match url.port() {
            "" => format!("{}:{}", url.hostname(), if url.scheme() == "https" { 443 } else { 80 }),
            port => format!("{}:{port}", url.hostname()),
        });
    };
    let (host, port, _) = of_service(config.get("service").unwrap_or(&Value::Null));
    let found = view.get("", "services", namespace, name);
    let address = found.as_ref().and_then(|service| service.value().str_at(&["spec", "clusterIP"]));
    format!("{}:{port}", address.filter(|address| *address != "None").unwrap_or(&host))
}

/// Host, port and path of a Service that is called.
fn of_service(service: &Value) -> (String, i64, String) {
    let word = |field: &str| service.str_at(&[field]).unwrap_or_default();
    let path = match word("path") {
        path if path.starts_with('/') => path.to_owned(),
        path => format!("/{path}"),
    };
    (format!("{}.{}.svc", word("name"), word("namespace")), service.int_at(&["port"]).unwrap_or(443), path)
}

/// Reads a `clientConfig`. The query is added to its URL.
pub(crate) fn target(view: &dyn View, config: &Value, query: &str) -> Result<Target, String> {
    let roots = bundle(config.str_at(&["caBundle"]).unwrap_or_default());
    if let Some(url) = config.str_at(&["url"]) {
        let parsed = Url::parse(url).ok_or_else(|| format!("parse {url:?}: invalid URI for request"))?;
        let is_tls = parsed.scheme() == "https";
        let default_port = if is_tls { 443 } else { 80 };
        let path = if parsed.path().is_empty() { "/" } else { parsed.path() };
        return Ok(Target {
            url: format!("{}?{query}", url.split('?').next().unwrap_or(url)),
            is_tls,
            host: parsed.hostname().to_owned(),
            address: None,
            port: parsed.port().parse().unwrap_or(default_port),
            path: format!("{path}?{query}"),
            roots,
        });
    }
    let service = config.get("service").ok_or("the webhook has neither url nor service")?;
    service_target(view, service, query, roots)
}

fn service_target(
    view: &dyn View,
    service: &Value,
    query: &str,
    roots: Vec<CertificateDer<'static>>,
) -> Result<Target, String> {
    let word = |field: &str| service.str_at(&[field]).unwrap_or_default();
    let (namespace, name) = (word("namespace"), word("name"));
    let (host, port, path) = of_service(service);
    let url = format!("https://{host}:{port}{path}?{query}");
    let problem = |what: String| format!("Post {url:?}: {what}");
    let found = view
        .get("", "services", namespace, name)
        .ok_or_else(|| problem(format!("service {name:?} not found")))?;
    let listed =
        found.value().items_at(&["spec", "ports"]).iter().find(|known| known.int_at(&["port"]) == Some(port));
    let listed =
        listed.ok_or_else(|| problem(format!("no service port {port} found for service {name:?}")))?;
    let (address, port, in_pod) = endpoint(view, namespace, name, listed)
        .ok_or_else(|| problem(format!("no endpoints available for service {name:?}")))?;
    if in_pod {
        // No container ever runs: rather than waiting for one, it is said what a machine would say.
        return Err(problem(format!("dial tcp {address}:{port}: connect: connection refused")));
    }
    let path = format!("{path}?{query}");
    Ok(Target { url, is_tls: true, host, address: Some(address), port, path, roots })
}

/// The first ready address behind a service's port, and whether it is that of a pod.
fn endpoint(view: &dyn View, namespace: &str, name: &str, port: &Value) -> Option<(String, u16, bool)> {
    let endpoints = view.get("", "endpoints", namespace, name)?;
    let wanted = port.str_at(&["name"]);
    for subset in endpoints.value().items_at(&["subsets"]) {
        let first = subset.items_at(&["addresses"]).first();
        let address = first.and_then(|address| address.str_at(&["ip"]));
        let in_pod = first.and_then(|address| address.str_at(&["targetRef", "kind"])) == Some("Pod");
        let ports = subset.items_at(&["ports"]);
        let port = ports
            .iter()
            .find(|known| known.str_at(&["name"]) == wanted)
            .and_then(|known| known.int_at(&["port"]));
        if let (Some(address), Some(port)) = (address, port.and_then(|port| u16::try_from(port).ok())) {
            return Some((address.to_owned(), port, in_pod));
        }
    }
    None
}

fn bundle(text: &str) -> Vec<CertificateDer<'static>> {
    let Ok(pem) = base64::engine::general_purpose::STANDARD.decode(text) else { return Vec::new() };
    use rustls::pki_types::pem::PemObject;
    CertificateDer::pem_reader_iter(BufReader::new(pem.as_slice())).filter_map(Result::ok).collect()
}

/// Posts JSON and gives the JSON of the answer, or what went wrong in the words of Go's client. Every call
/// has a connection of its own: requests that meet webhooks are rare.
pub(crate) async fn post(target: &Target, body: &Value, seconds: i64) -> Result<Value, String> {
    let limit = Duration::from_secs(u64::try_from(seconds).unwrap_or(1).clamp(1, 30));
    let problem = |what: String| format!("Post {:?}: {what}", target.url);
    let (status, bytes) = match tokio::time::timeout(limit, send(target, body)).await {
        Ok(answer) => answer.map_err(problem)?,
        Err(_) => return Err(problem("context deadline exceeded".into())),
    };
    if status != 200 {
        return Err(refusal(status, String::from_utf8_lossy(&bytes).trim()));
    }
    if bytes.is_empty() {
        return Err("0-length response with status code: 200 and content type: application/json".into());
    }
    serde_json::from_slice(&bytes).map_err(|_| NO_OBJECT.to_owned())
}

/// What Go's client says of an answer that is no object.
const NO_OBJECT: &str = "couldn't get version/kind; json parse error: json: cannot unmarshal string into Go value of \
    type struct { APIVersion string \"json:\\\"apiVersion,omitempty\\\"\"; Kind string \"json:\\\"kind,omitempty\\\"\" }";

/// What Go's client says of an answer of an unknown kind.
pub(crate) fn unknown_kind(kind: &str, version: &str) -> String {
    format!("no kind {kind:?} is registered for version {version:?} in scheme \"pkg/runtime/scheme.go:111\"")
}

/// What Go's client makes of a status code, unless the answer is a Status with words of its own.
fn refusal(status: u16, text: &str) -> String {
    let own: Option<Value> = serde_json::from_str(text).ok();
    if let Some(message) = own.as_ref().filter(|own| own.str_at(&["kind"]) == Some("Status")) {
        return message.str_at(&["message"]).unwrap_or_default().to_owned();
    }
    match status {
        400 => "the server rejected our request for an unknown reason".into(),
        401 => "the server has asked for the client to provide credentials".into(),
        403 => text.to_owned(),
        404 => "the server could not find the requested resource".into(),
        405 => "the server does not allow this method on the requested resource".into(),
        409 => "the server reported a conflict".into(),
        422 => "the server rejected our request due to an error in our request".into(),
        429 => "the server has received too many requests and has asked us to try again later".into(),
        503 => "the server is currently unable to handle the request".into(),
        504 => "the server was unable to return a response in the time allotted, but may still be processing the request".into(),
        _ => format!("an error on the server ({text:?}) has prevented the request from succeeding"),
    }
}

async fn send(target: &Target, body: &Value) -> Result<(u16, Bytes), String> {
    let stream = connect(target).await?;
    if !target.is_tls {
        return exchange(TokioIo::new(stream), target, body).await;
    }
    let name =
        ServerName::try_from(target.host.clone()).map_err(|_| format!("invalid host {:?}", target.host))?;
    let stream = tokio_rustls::TlsConnector::from(tls(target)?)
        .connect(name, stream)
        .await
        .map_err(|error| tls_words(&error, &target.host))?;
    exchange(TokioIo::new(stream), target, body).await
}

async fn connect(target: &Target) -> Result<TcpStream, String> {
    let host = target.address.as_deref().unwrap_or(&target.host);
    let looked_up = tokio::net::lookup_host((host, target.port)).await;
    let addresses: Vec<SocketAddr> = looked_up.map(Iterator::collect).unwrap_or_default();
    let Some(first) = addresses.first() else { return Err(format!("dial tcp: lookup {host}: no such host")) };
    TcpStream::connect(addresses.as_slice()).await.map_err(|error| {
        let words = match error.kind() {
            std::io::ErrorKind::ConnectionRefused => "connect: connection refused".to_owned(),
            std::io::ErrorKind::TimedOut => "i/o timeout".to_owned(),
            _ => error.to_string(),
        };
        format!("dial tcp {first}: {words}")
    })
}

fn tls(target: &Target) -> Result<Arc<ClientConfig>, String> {
    let mut roots = RootCertStore::empty();
    for root in &target.roots {
        // A bundle with one bad certificate still trusts the others.
        let _ = roots.add(root.clone());
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| error.to_string())?
        .with_root_certificates(roots)
        .with_no_client_auth();
    Ok(Arc::new(config))
}

fn tls_words(error: &std::io::Error, host: &str) -> String {
    use rustls::{CertificateError, Error};
    let inner = error.get_ref().and_then(|inner| inner.downcast_ref::<Error>());
    let words = match inner {
        // An authority of the same name with another key is as unknown.
        Some(Error::InvalidCertificate(CertificateError::UnknownIssuer | CertificateError::BadSignature)) => {
            "x509: certificate signed by unknown authority".to_owned()
        }
        Some(Error::InvalidCertificate(
            CertificateError::Expired | CertificateError::ExpiredContext { .. },
        )) => "x509: certificate has expired or is not yet valid".to_owned(),
        Some(Error::InvalidCertificate(CertificateError::NotValidForNameContext { presented, .. })) => {
            foreign(host, presented)
        }
        Some(Error::InvalidCertificate(_)) => "x509: certificate is not valid for this host".to_owned(),
        Some(Error::InvalidMessage(_)) => return "http: server gave HTTP response to HTTPS client".into(),
        _ => return error.to_string(),
    };
    format!("tls: failed to verify certificate: {words}")
}

/// Says that a certificate is for others. The names come as `DnsName("a.b")` and `IpAddress(1.2.3.4)`.
fn foreign(host: &str, presented: &[String]) -> String {
    let is_address = host.parse::<std::net::IpAddr>().is_ok();
    let sort = if is_address { "IpAddress(" } else { "DnsName(" };
    let names: Vec<&str> = presented
        .iter()
        .filter_map(|name| name.strip_prefix(sort))
        .map(|name| name.trim_end_matches(')').trim_matches('"'))
        .collect();
    match (names.is_empty(), is_address) {
        (true, true) => {
            format!("x509: cannot validate certificate for {host} because it doesn't contain any IP SANs")
        }
        (true, false) => format!("x509: certificate is not valid for any names, but wanted to match {host}"),
        (false, _) => format!("x509: certificate is valid for {}, not {host}", names.join(", ")),
    }
}

async fn exchange<S>(stream: S, target: &Target, body: &Value) -> Result<(u16, Bytes), String>
where
    S: hyper::rt::Read + hyper::rt::Write + Unpin + Send + 'static,
{
    let broken = |error: hyper::Error| {
        if error.is_incomplete_message() { "EOF".to_owned() } else { error.to_string() }
    };
    let (mut sender, connection) = hyper::client::conn::http1::handshake(stream).await.map_err(broken)?;
    let bytes = serde_json::to_vec(body).map_err(|error| error.to_string())?;
    let request = http::Request::post(&target.path)
        .header(http::header::HOST, format!("{}:{}", target.host, target.port))
        .header(http::header::CONTENT_TYPE, "application/json")
        .header(http::header::ACCEPT, "application/json, */*")
        .header(http::header::USER_AGENT, "kube-apiserver-admission")
        .body(Full::new(Bytes::from(bytes)))
        .map_err(|error| error.to_string())?;
    let exchange = async {
        let answer = sender.send_request(request).await.map_err(broken)?;
        let status = answer.status().as_u16();
        let body = Limited::new(answer.into_body(), HOOK_ANSWER_BYTES).collect().await;
        Ok((status, body.map_err(|error| error.to_string())?.to_bytes()))
    };
    // The connection does its work only while it is polled.
    tokio::select! {
        answer = exchange => answer,
        ended = connection => Err(ended.map_or_else(broken, |()| "EOF".into())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_status_speaks_for_itself_and_other_refusals_have_their_words() {
        for (code, text, expected) in [
            (500, r#"{"kind": "Status", "message": "inner"}"#, "inner"),
            (500, "broken", "an error on the server (\"broken\") has prevented the request from succeeding"),
            (403, "not you", "not you"),
            (404, "nothing", "the server could not find the requested resource"),
        ] {
            assert_eq!(refusal(code, text), expected);
        }
    }

    #[test]
    fn a_certificate_for_others_says_for_whom() {
        let names = ["DnsName(\"a.example\")".to_owned(), "DnsName(\"b.example\")".to_owned()];
        assert_eq!(
            foreign("c.svc", &names),
            "x509: certificate is valid for a.example, b.example, not c.svc"
        );
        assert_eq!(
            foreign("127.0.0.1", &names),
            "x509: cannot validate certificate for 127.0.0.1 because it doesn't contain any IP SANs"
        );
    }
}
