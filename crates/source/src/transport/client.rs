//! What every conversation over HTTP shares: the client, the credentials and who may see them, and what a
//! status or a failure means.

use std::io;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use reqwest::header::{HeaderValue, LOCATION};
use reqwest::{Client, NoProxy, Proxy, Response, StatusCode, Url};

use super::tls;
use crate::call::Call;
use crate::error::SourceError;
use crate::limits::MAX_REDIRECTS;
use crate::repository::Access;
use crate::settings::Settings;

/// A client for one repository; `url` is how errors name it.
pub(crate) fn build(url: &str, access: &Access, settings: &Settings) -> Result<Client, SourceError> {
    let unusable =
        |what: &'static str, reason: String| SourceError::Credentials { url: url.to_owned(), what, reason };
    let mut builder = Client::builder()
        .user_agent(concat!("lynceus/", env!("CARGO_PKG_VERSION")))
        .tls_backend_preconfigured(tls::config(url, access)?)
        // Redirects are followed by hand, where it is known which of them may see the credentials.
        .redirect(reqwest::redirect::Policy::none());
    if !access.proxy.is_empty() {
        let proxy = Proxy::all(access.proxy.reveal())
            .map_err(|_| unusable("proxy", "its URL cannot be read".to_owned()))?;
        builder = builder.proxy(proxy.no_proxy(NoProxy::from_string(&access.no_proxy)));
    } else if !settings.environment_proxy {
        builder = builder.no_proxy();
    }
    builder.build().map_err(|error| unusable("TLS settings", root_cause(&error)))
}

/// The header that lets us in. A bearer token comes before a password, as in Argo CD.
pub(crate) fn authorization(url: &str, access: &Access) -> Result<Option<HeaderValue>, SourceError> {
    if !access.bearer_token.is_empty() {
        return header(url, "Bearer", access.bearer_token.reveal()).map(Some);
    }
    basic(url, access)
}

/// The header with user and password, if there are any.
pub(crate) fn basic(url: &str, access: &Access) -> Result<Option<HeaderValue>, SourceError> {
    if access.username.is_empty() && access.password.is_empty() {
        return Ok(None);
    }
    let pair = format!("{}:{}", access.username, access.password.reveal());
    header(url, "Basic", &STANDARD.encode(pair)).map(Some)
}

/// A header with a credential, which is not shown when the request is.
pub(crate) fn header(url: &str, scheme: &str, credential: &str) -> Result<HeaderValue, SourceError> {
    let text = format!("{scheme} {}", credential.trim());
    let mut value = HeaderValue::from_str(&text).map_err(|_| SourceError::Credentials {
        url: url.to_owned(),
        what: "password or token",
        reason: "it has characters that a header cannot carry".to_owned(),
    })?;
    value.set_sensitive(true);
    Ok(value)
}

/// Whether a request may carry the credentials that are meant for `home`: the same scheme, host and port,
/// or the step from http to https on their usual ports.
pub(crate) fn may_see(home: &Url, url: &Url) -> bool {
    let upgraded = home.scheme() == "http" && url.scheme() == "https";
    let usual = home.port().is_none() && url.port().is_none();
    let same_port = home.port_or_known_default() == url.port_or_known_default();
    home.host() == url.host() && ((same_port && home.scheme() == url.scheme()) || (upgraded && usual))
}

/// Where a redirect leads. It never leads from https to http.
pub(crate) fn next(call: &Call, from: &Url, response: &Response) -> Result<Url, SourceError> {
    let to = response.headers().get(LOCATION).and_then(|to| to.to_str().ok());
    to.and_then(|to| from.join(to).ok())
        .filter(|next| matches!(next.scheme(), "http" | "https"))
        .filter(|next| !(from.scheme() == "https" && next.scheme() == "http"))
        .ok_or_else(|| call.protocol("it redirects to nowhere"))
}

/// The error for a redirect too many.
pub(crate) fn endless(call: &Call) -> SourceError {
    call.protocol(format!("it redirects more than {MAX_REDIRECTS} times"))
}

/// What an HTTP status means for a repository.
pub(crate) fn checked(call: &Call, response: Response, anonymous: bool) -> Result<Response, SourceError> {
    match response.status() {
        status if status.is_success() => Ok(response),
        status => Err(refused(call, &call.host, status, anonymous)),
    }
}

/// What a status other than success means when `host` answers it.
pub(crate) fn refused(call: &Call, host: &str, status: StatusCode, anonymous: bool) -> SourceError {
    let url = call.url.clone();
    match status {
        StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => SourceError::Authentication { url, anonymous },
        StatusCode::NOT_FOUND | StatusCode::GONE => SourceError::RepositoryNotFound { url },
        status
            if status.is_server_error()
                || status == StatusCode::TOO_MANY_REQUESTS
                || status == StatusCode::PROXY_AUTHENTICATION_REQUIRED =>
        {
            SourceError::Unreachable { host: host.to_owned(), reason: format!("it answers {status}") }
        }
        status => call.protocol(format!("it answers {status}")),
    }
}

/// Why a request failed below HTTP.
pub(crate) fn failed(host: &str, error: &reqwest::Error) -> SourceError {
    let host = host.to_owned();
    match certificate_problem(error) {
        Some(reason) => SourceError::Certificate { host, reason },
        None => SourceError::Unreachable { host, reason: root_cause(error) },
    }
}

/// What TLS said about the server's certificate, if that is what went wrong.
fn certificate_problem(error: &(dyn std::error::Error + 'static)) -> Option<String> {
    let mut cause = Some(error);
    while let Some(current) = cause {
        if let Some(rustls::Error::InvalidCertificate(reason)) = current.downcast_ref() {
            return Some(reason.to_string());
        }
        // The source of an io error is the source of what it holds, which would pass over that itself.
        let held = current.downcast_ref::<io::Error>().and_then(io::Error::get_ref);
        cause = held.map(|held| held as &(dyn std::error::Error + 'static)).or_else(|| current.source());
    }
    None
}

/// The last error of the chain: the one that says most, and that has no URL in it.
fn root_cause(error: &reqwest::Error) -> String {
    let mut last: &dyn std::error::Error = error;
    while let Some(source) = last.source() {
        last = source;
    }
    last.to_string()
}

/// `host:port` of a URL, for errors.
pub(crate) fn host_of(url: &Url) -> String {
    format!("{}:{}", url.host_str().unwrap_or_default(), url.port_or_known_default().unwrap_or(443))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(home: &str, url: &str) -> bool {
        may_see(&Url::parse(home).unwrap(), &Url::parse(url).unwrap())
    }

    #[test]
    fn credentials_go_to_the_same_scheme_host_and_port_only() {
        assert!(check("https://h/a", "https://H:443/b"));
        assert!(check("http://h/a", "https://h/b"), "the usual step up");
        for other in ["http://h/a", "https://h:8443/a", "https://x.h/a", "https://h.x/a", "https://h@x/a"] {
            assert!(!check("https://h/a", other), "{other}");
        }
        assert!(!check("http://h:8080/a", "https://h:8443/a"));
    }
}
