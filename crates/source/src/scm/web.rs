//! A conversation with a host in JSON over HTTP.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use jiff::Timestamp;
use lynceus_object::{Str, Value, json};
use reqwest::header::{ACCEPT, HeaderMap, HeaderName, HeaderValue, LOCATION};
use reqwest::{Client, Method, Response, StatusCode, Url};
use sha2::{Digest as _, Sha256};
use tokio::time::Instant;

use super::{ScmError, ScmRules};
use crate::digest::hex;
use crate::limits;
use crate::repository::Access;
use crate::secret::Secret;
use crate::settings::Settings;
use crate::trace;
use crate::transport::client;

/// Where a host is and what lets us in.
pub(super) struct Opening {
    /// The address of its API.
    pub(super) base: String,
    /// Whether the generator named it.
    pub(super) is_named: bool,
    /// The header with the credential.
    pub(super) credential: Option<(&'static str, Secret)>,
    /// Certificates to trust.
    pub(super) certificate_authority: String,
    /// Trust any certificate.
    pub(super) insecure: bool,
}

impl Opening {
    /// Whether the host may be asked.
    pub(super) fn check(&self, rules: &ScmRules) -> Result<(), ScmError> {
        if !rules.enabled {
            return Err(ScmError::Disabled);
        }
        let host = || Url::parse(&self.base).map_or_else(|_| self.base.clone(), |url| client::host_of(&url));
        if self.is_named && !is_allowed(&self.base, &rules.allowed) {
            return Err(ScmError::NotAllowed { host: host() });
        }
        Ok(())
    }

    /// What tells this way from others without giving the credential away.
    pub(super) fn key(&self) -> String {
        let mut digest = Sha256::new();
        let (name, secret) =
            self.credential.as_ref().map_or(("", ""), |(name, secret)| (name, secret.reveal()));
        for part in [&self.base, name, secret, &self.certificate_authority] {
            digest.update(part.len().to_le_bytes());
            digest.update(part);
        }
        digest.update([u8::from(self.insecure)]);
        hex(&digest.finalize())
    }

    pub(super) fn open(&self, settings: &Settings) -> Result<Web, ScmError> {
        let unusable =
            |reason: String| ScmError::Unusable { what: format!("the address {:?}", self.base), reason };
        let mut base = Url::parse(&self.base).map_err(|error| unusable(error.to_string()))?;
        if !matches!(base.scheme(), "http" | "https") || base.host().is_none() {
            return Err(unusable("it has to begin with https:// and a host".to_owned()));
        }
        if !base.username().is_empty() || base.password().is_some() {
            return Err(unusable("it must not hold a user; name a Secret instead".to_owned()));
        }
        base.set_query(None);
        base.set_fragment(None);
        let access = Access {
            certificate_authority: self.certificate_authority.clone(),
            insecure: self.insecure,
            ..Access::default()
        };
        let host = client::host_of(&base);
        let client = client::build(&host, &access, settings).map_err(|error| unusable(error.to_string()))?;
        let credential = self.credential.as_ref().filter(|(_, secret)| !secret.is_empty());
        let credential = credential.map(|(name, secret)| header(name, secret)).transpose()?;
        Ok(Web { client, base, host, credential, shut: Mutex::default() })
    }
}

fn header(name: &'static str, secret: &Secret) -> Result<(HeaderName, HeaderValue), ScmError> {
    let mut value = HeaderValue::from_str(secret.reveal().trim()).map_err(|_| ScmError::Unusable {
        what: "the token".to_owned(),
        reason: "it has characters that a header cannot carry".to_owned(),
    })?;
    value.set_sensitive(true);
    Ok((HeaderName::from_static(name), value))
}

/// Whether an address is among those that may be named. Only scheme and host count, with the port.
fn is_allowed(address: &str, allowed: &[Str]) -> bool {
    let place = |text: &str| {
        let url = Url::parse(text.trim()).ok()?;
        Some((url.scheme().to_owned(), url.host()?.to_owned(), url.port_or_known_default()))
    };
    let Some(asked) = place(address) else { return false };
    allowed.is_empty() || allowed.iter().any(|one| place(one).is_some_and(|one| one == asked))
}

/// The way to a host.
pub(super) struct Web {
    client: Client,
    base: Url,
    pub(super) host: String,
    credential: Option<(HeaderName, HeaderValue)>,
    /// Until when the host wants to be left alone, and how that is told.
    shut: Mutex<Option<(Instant, ScmError)>>,
}

/// An answer.
pub(super) struct Page {
    pub(super) value: Value,
    headers: HeaderMap,
}

impl Web {
    /// An answer to a question, whose path is given in segments: what users write cannot lead elsewhere.
    pub(super) async fn get(&self, path: &[&str], query: &[(&str, &str)]) -> Result<Page, ScmError> {
        let url = self.url(path, query);
        self.get_at(url).await
    }

    /// The same with headers of its own.
    pub(super) async fn get_with(
        &self,
        path: &[&str],
        headers: &[(&'static str, HeaderValue)],
    ) -> Result<Page, ScmError> {
        let url = self.url(path, &[]);
        let path = url.path().to_owned();
        let answer = self.send(Method::GET, url, None, headers).await?;
        self.read(answer, &path).await
    }

    /// The same, where what is asked for need not be there.
    pub(super) async fn find(&self, path: &[&str], query: &[(&str, &str)]) -> Result<Option<Page>, ScmError> {
        match self.get(path, query).await {
            Ok(page) => Ok(Some(page)),
            Err(ScmError::NotFound { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Whether a question has an answer, whatever that is.
    pub(super) async fn exists(&self, path: &[&str], query: &[(&str, &str)]) -> Result<bool, ScmError> {
        let url = self.url(path, query);
        let asked = url.path().to_owned();
        match self.send(Method::GET, url, None, &[]).await.and_then(|answer| self.judged(answer, &asked)) {
            Ok(_) => Ok(true),
            Err(ScmError::NotFound { .. }) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// An answer at a whole address, such as a host names for its next page.
    pub(super) async fn get_at(&self, url: Url) -> Result<Page, ScmError> {
        let path = url.path().to_owned();
        let answer = self.send(Method::GET, url, None, &[]).await?;
        self.read(answer, &path).await
    }

    /// An answer to something that is sent.
    pub(super) async fn post(
        &self,
        path: &[&str],
        body: Vec<u8>,
        headers: &[(&'static str, HeaderValue)],
    ) -> Result<Page, ScmError> {
        let url = self.url(path, &[]);
        let path = url.path().to_owned();
        let answer = self.send(Method::POST, url, Some(body), headers).await?;
        self.read(answer, &path).await
    }

    /// The items of all pages, each asked for by the number of its first item or its own number.
    pub(super) fn budget(&self) -> Budget<'_> {
        Budget { host: &self.host, pages: 0, items: 0 }
    }

    pub(super) fn url(&self, path: &[&str], query: &[(&str, &str)]) -> Url {
        let mut url = self.base.clone();
        if let Ok(mut segments) = url.path_segments_mut() {
            segments.pop_if_empty().extend(path.iter().filter(|segment| !segment.is_empty()));
        }
        if !query.is_empty() {
            url.query_pairs_mut().extend_pairs(query);
        }
        url
    }

    /// Sends a question, and follows where the answer leads. Only the host itself sees the credential.
    async fn send(
        &self,
        method: Method,
        mut url: Url,
        body: Option<Vec<u8>>,
        headers: &[(&'static str, HeaderValue)],
    ) -> Result<Response, ScmError> {
        let shut = self.shut().clone().filter(|(until, _)| *until > Instant::now());
        if let Some((_, error)) = shut {
            return Err(error);
        }
        for _ in 0..=limits::MAX_REDIRECTS {
            let mut request = self
                .client
                .request(method.clone(), url.clone())
                .timeout(limits::SCM_REQUEST_TIMEOUT)
                .header(ACCEPT, "application/json");
            if client::may_see(&self.base, &url) {
                for (name, value) in headers {
                    request = request.header(*name, value.clone());
                }
                if let Some((name, value)) = &self.credential {
                    request = request.header(name, value.clone());
                }
            }
            if let Some(body) = &body {
                request = request.body(body.clone());
            }
            let began = Instant::now();
            let response = request.send().await.map_err(|error| self.unreachable(&error))?;
            let status = response.status().as_u16();
            trace::github(method.as_str(), url.path(), status, response.headers(), began.elapsed());
            if !response.status().is_redirection() || method != Method::GET {
                return Ok(response);
            }
            url = self.next(&url, &response)?;
        }
        Err(self.malformed(url.path(), format!("it redirects more than {} times", limits::MAX_REDIRECTS)))
    }

    /// Where a redirect leads: never from https to http, and never into a network that the host should not know of.
    fn next(&self, from: &Url, response: &Response) -> Result<Url, ScmError> {
        let to = response.headers().get(LOCATION).and_then(|to| to.to_str().ok());
        to.and_then(|to| from.join(to).ok())
            .filter(|next| matches!(next.scheme(), "http" | "https"))
            .filter(|next| !(from.scheme() == "https" && next.scheme() == "http"))
            .filter(|next| next.host() == self.base.host())
            .ok_or_else(|| self.malformed(from.path(), "it redirects to another host".to_owned()))
    }

    fn unreachable(&self, error: &reqwest::Error) -> ScmError {
        let reason = if error.is_timeout() {
            format!("no answer within {} s", limits::SCM_REQUEST_TIMEOUT.as_secs())
        } else {
            match client::failed(&self.host, error) {
                crate::SourceError::Unreachable { reason, .. }
                | crate::SourceError::Certificate { reason, .. } => reason,
                other => other.to_string(),
            }
        };
        ScmError::Unreachable { host: self.host.clone(), reason }
    }

    pub(super) fn malformed(&self, path: &str, reason: String) -> ScmError {
        ScmError::Malformed { host: self.host.clone(), path: path.to_owned(), reason }
    }

    /// An answer that is one.
    fn judged(&self, response: Response, path: &str) -> Result<Response, ScmError> {
        let status = response.status();
        if status.is_success() {
            return Ok(response);
        }
        if let Some(until) = limited(status, response.headers()) {
            let error = ScmError::Limited { host: self.host.clone(), until: shown(until) };
            let pause = until.duration_since(SystemTime::now()).unwrap_or_default();
            *self.shut() = Some((Instant::now() + pause.min(limits::SCM_LONGEST_PAUSE), error.clone()));
            return Err(error);
        }
        let (host, path, code) = (self.host.clone(), path.to_owned(), status.as_u16());
        Err(match status {
            StatusCode::NOT_FOUND => ScmError::NotFound { what: format!("{path} of {host}") },
            StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => {
                ScmError::Refused { host, status: code, path }
            }
            _ => ScmError::Status { host, status: code, path },
        })
    }

    async fn read(&self, response: Response, path: &str) -> Result<Page, ScmError> {
        let mut response = self.judged(response, path)?;
        let headers = std::mem::take(response.headers_mut());
        let too_much = || ScmError::TooMuch {
            host: self.host.clone(),
            limit: format!("{} MiB", limits::MAX_SCM_ANSWER_BYTES >> 20),
        };
        let mut body = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(|error| self.unreachable(&error))? {
            if body.len() + chunk.len() > limits::MAX_SCM_ANSWER_BYTES {
                return Err(too_much());
            }
            body.extend_from_slice(&chunk);
        }
        if body.iter().all(u8::is_ascii_whitespace) {
            return Err(self.malformed(path, "it is empty".to_owned()));
        }
        let value = json::parse(&body).map_err(|error| self.malformed(path, error.to_string()))?;
        Ok(Page { value, headers })
    }

    fn shut(&self) -> std::sync::MutexGuard<'_, Option<(Instant, ScmError)>> {
        self.shut.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Until when a host wants to be left alone, if that is what it says: by its status, or by a refusal that counts requests.
fn limited(status: StatusCode, headers: &HeaderMap) -> Option<SystemTime> {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).map(str::trim);
    let spent = ["x-ratelimit-remaining", "ratelimit-remaining"].iter().any(|name| text(name) == Some("0"));
    let counts = status == StatusCode::TOO_MANY_REQUESTS
        || (status == StatusCode::FORBIDDEN && (text("retry-after").is_some() || spent));
    if !counts {
        return None;
    }
    let now = SystemTime::now();
    let after = text("retry-after").and_then(|text| text.parse().ok()).map(Duration::from_secs);
    let at = ["x-ratelimit-reset", "ratelimit-reset"].iter().find_map(|name| text(name)?.parse().ok());
    let at = at.and_then(|at| SystemTime::UNIX_EPOCH.checked_add(Duration::from_secs(at)));
    let until = after.and_then(|after| now.checked_add(after)).or(at.filter(|at| *at > now));
    Some(until.unwrap_or(now + limits::SCM_USUAL_PAUSE))
}

/// A time as it is told: to the next minute, so that the same wait is told in the same words.
fn shown(time: SystemTime) -> String {
    let seconds = time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_secs();
    let minute = i64::try_from(seconds.div_ceil(60) * 60).unwrap_or(i64::MAX);
    Timestamp::from_second(minute).map_or_else(|_| "later".to_owned(), |time| time.to_string())
}

impl Page {
    /// A header that is text.
    pub(super) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).and_then(|value| value.to_str().ok()).filter(|text| !text.is_empty())
    }

    /// The next page that a `Link` header names. One that cannot be read is not the end: a list that is cut short would pass
    /// for what there is.
    pub(super) fn next_link(&self, web: &Web) -> Result<Option<Url>, ScmError> {
        let wrong = |why: String| web.malformed("a question for a list", format!("its Link header {why}"));
        for value in self.headers.get_all("link") {
            let text = value.to_str().map_err(|_| wrong("is no text".to_owned()))?;
            for link in text.split(',') {
                let parts = link.trim().strip_prefix('<').and_then(|link| link.split_once('>'));
                let Some((url, rest)) = parts else { continue };
                if rest.split(';').any(|part| matches!(part.trim(), "rel=\"next\"" | "rel=next")) {
                    let next = web.base.join(url);
                    return next.map(Some).map_err(|error| wrong(format!("leads nowhere: {error}")));
                }
            }
        }
        Ok(None)
    }

    /// The items of a list at a place of the answer; an answer without a list there is not one.
    pub(super) fn items(&self, web: &Web, place: &[&str]) -> Result<&[Value], ScmError> {
        let found = if place.is_empty() { Some(&self.value) } else { self.value.at(place) };
        found.and_then(Value::as_seq).ok_or_else(|| {
            let what = if place.is_empty() { "it".to_owned() } else { place.join(".") };
            web.malformed("a question for a list", format!("{what} is not a list"))
        })
    }
}

/// How much a list may come to.
pub(super) struct Budget<'a> {
    host: &'a str,
    pages: usize,
    items: usize,
}

impl Budget<'_> {
    /// Counts a page.
    pub(super) fn page(&mut self, items: usize) -> Result<(), ScmError> {
        self.pages += 1;
        self.items += items;
        let bound = |limit: String| Err(ScmError::TooMuch { host: self.host.to_owned(), limit });
        if self.items > limits::MAX_SCM_ITEMS {
            return bound(format!("{} items", limits::MAX_SCM_ITEMS));
        }
        if self.pages > limits::MAX_SCM_PAGES {
            return bound(format!("{} pages", limits::MAX_SCM_PAGES));
        }
        Ok(())
    }
}

/// A text of an item that has to be there.
pub(super) fn text(web: &Web, item: &Value, place: &[&str]) -> Result<Str, ScmError> {
    let found = item.str_at(place).map(Str::from);
    found.ok_or_else(|| web.malformed("a question for a list", format!("an item has no {}", place.join("."))))
}

/// A number of an item that has to be there.
pub(super) fn number(web: &Web, item: &Value, place: &[&str]) -> Result<i64, ScmError> {
    let found = item.int_at(place);
    found.ok_or_else(|| web.malformed("a question for a list", format!("an item has no {}", place.join("."))))
}

/// The labels of an item: texts, or maps that have one under a name. An item need not have any; what cannot be read is not
/// none, because labels decide what is chosen.
pub(super) fn labels(web: &Web, item: &Value, list: &str, name: Option<&str>) -> Result<Vec<Str>, ScmError> {
    let wrong = || web.malformed("a question for a list", format!("{list} of an item cannot be read"));
    let found = match item.get(list) {
        None | Some(Value::Null) => return Ok(Vec::new()),
        Some(found) => found.as_seq().ok_or_else(wrong)?,
    };
    let text = |one: &Value| match name {
        Some(name) => one.str_at(&[name]).map(Str::from),
        None => one.as_str().map(Str::from),
    };
    found.iter().map(|one| text(one).ok_or_else(wrong)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_scheme_host_and_port_decide_whether_an_address_is_allowed() {
        let allowed = ["https://git.example.com/".into(), "http://gitea:3000".into()];
        for (address, is) in [
            ("https://git.example.com/api/v3", true),
            ("https://git.example.com:443", true),
            ("http://gitea:3000/", true),
            ("http://git.example.com", false),
            ("https://git.example.com.evil.example", false),
            ("https://git.example.com@evil.example", false),
            ("https://evil.example/https://git.example.com", false),
            ("gitea:3000", false),
        ] {
            assert_eq!(is_allowed(address, &allowed), is, "{address}");
        }
        assert!(is_allowed("https://anything.example", &[]));
    }

    #[test]
    fn a_refusal_is_a_limit_only_where_it_counts_requests() {
        let headers = |pairs: &[(&'static str, &'static str)]| {
            let pairs = pairs
                .iter()
                .map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value)));
            pairs.collect::<HeaderMap>()
        };
        let is = |status, pairs: &[_]| limited(status, &headers(pairs)).is_some();
        assert!(is(StatusCode::TOO_MANY_REQUESTS, &[]));
        assert!(is(StatusCode::FORBIDDEN, &[("retry-after", "60")]));
        assert!(is(StatusCode::FORBIDDEN, &[("x-ratelimit-remaining", "0")]));
        assert!(!is(StatusCode::FORBIDDEN, &[("x-ratelimit-remaining", "17")]));
        assert!(!is(StatusCode::NOT_FOUND, &[("retry-after", "60")]));
    }
}
