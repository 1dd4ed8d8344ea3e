//! Conversations with a registry, as one set of credentials has them.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use lynceus_object::{Value, json};
use reqwest::header::{ACCEPT, HeaderMap, HeaderValue};
use reqwest::{StatusCode, Url};
use tokio::time::Instant;

use super::challenge::{self, Challenge};
use super::manifest::{ACCEPTED, Blob, Manifest};
use super::place::{Place, is_loopback, is_tag};
use crate::call::Call;
use crate::digest::{digest_like, is_digest, sha256};
use crate::error::SourceError;
use crate::limits::{MAX_CHART_VERSIONS, MAX_TAG_PAGES};
use crate::transport::client;
use crate::transport::line::{Answer, Line};

/// How long a token holds that does not say it.
const TOKEN_LIFE: Duration = Duration::from_secs(60);
/// How much earlier than it says a token is given up, so that it does not end on the way.
const TOKEN_MARGIN: Duration = Duration::from_secs(5);

/// What has let us in so far, by the name that it was for.
#[derive(Default)]
pub(super) struct Passes {
    known: Mutex<HashMap<String, Pass>>,
}

#[derive(Clone)]
struct Pass {
    header: HeaderValue,
    until: Option<Instant>,
}

impl Passes {
    fn get(&self, name: &str) -> Option<HeaderValue> {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let pass = known.get(name).filter(|pass| pass.until.is_none_or(|until| Instant::now() < until));
        pass.map(|pass| pass.header.clone())
    }

    fn keep(&self, name: &str, header: HeaderValue, until: Option<Instant>) {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();
        known.retain(|_, pass| pass.until.is_none_or(|until| now < until));
        known.insert(name.to_owned(), Pass { header, until });
    }
}

/// One conversation about one name.
pub(super) struct Conversation<'a> {
    pub(super) line: Line,
    pub(super) place: &'a Place,
    pub(super) name: &'a str,
    pub(super) passes: &'a Passes,
}

impl Conversation<'_> {
    fn call(&self) -> &Arc<Call> {
        &self.line.call
    }

    /// Whether this is a registry that lets us in. To those who show no credentials many say nothing of themselves and yet
    /// give what is public, so that for them it is enough that it answers as a registry.
    pub(super) fn greet(&self) -> Result<(), SourceError> {
        let url = self.place.home.join("v2/").map_err(|error| self.call().protocol(error.to_string()))?;
        match self.get(&url, "application/json") {
            Err(SourceError::Authentication { anonymous: true, .. }) => Ok(()),
            answer => answer.map(drop),
        }
    }

    /// All tags of the name. They come in pages, and not in an order that one may rely on.
    pub(super) fn tags(&self) -> Result<Vec<String>, SourceError> {
        let mut tags: Vec<String> = Vec::new();
        let mut url = self.url("tags/list")?;
        url.set_query(Some("n=1000"));
        for _ in 0..MAX_TAG_PAGES {
            let answer = self.get(&url, "application/json")?;
            let next = answer.headers("link").iter().find_map(|link| next_page(link));
            let page = json::parse(&answer.bytes()?)
                .map_err(|error| self.call().protocol(format!("its list of tags cannot be read: {error}")))?;
            let page = page.get("tags").and_then(Value::as_seq).unwrap_or_default();
            tags.extend(
                page.iter().filter_map(|tag| tag.as_str().filter(|tag| is_tag(tag)).map(str::to_owned)),
            );
            if tags.len() > MAX_CHART_VERSIONS {
                return Err(self.call().protocol(format!("it lists more than {MAX_CHART_VERSIONS} tags")));
            }
            let Some(next) = next else { return Ok(tags) };
            let next = url.join(&next).ok().filter(|next| *next != url && client::may_see(&url, next));
            url = next.ok_or_else(|| self.call().protocol("its list of tags goes on at another place"))?;
        }
        Err(self.call().protocol(format!("its list of tags has more than {MAX_TAG_PAGES} pages")))
    }

    /// The manifest of a tag or digest.
    pub(super) fn manifest(&self, reference: &str) -> Result<Manifest, SourceError> {
        let answer = self.get(&self.url(&format!("manifests/{reference}"))?, ACCEPTED)?;
        let announced = answer.header("docker-content-digest").unwrap_or_default().to_owned();
        let text = answer.bytes()?;
        let digest = if is_digest(reference) { digest_like(reference, &text) } else { sha256(&text) };
        if is_digest(reference) && digest != reference {
            return Err(self.mismatch("the manifest", reference, digest));
        }
        if is_digest(&announced) && digest_like(&announced, &text) != announced {
            return Err(self.mismatch("the manifest", &announced, digest_like(&announced, &text)));
        }
        Manifest::read(digest, &text).map_err(|reason| self.call().protocol(reason))
    }

    /// The bytes of a blob. Registries often send on to a storage elsewhere, which needs no credentials.
    pub(super) fn blob(&self, blob: &Blob) -> Result<Vec<u8>, SourceError> {
        if blob.size > self.call().limit() {
            return Err(self.call().too_large());
        }
        let bytes = self.get(&self.url(&format!("blobs/{}", blob.digest))?, "*/*")?.bytes()?;
        let found = digest_like(&blob.digest, &bytes);
        if found != blob.digest {
            return Err(self.mismatch("a blob", &blob.digest, found));
        }
        Ok(bytes)
    }

    fn mismatch(&self, what: &str, expected: &str, found: String) -> SourceError {
        let (url, what, expected) = (self.call().url.clone(), what.to_owned(), expected.to_owned());
        SourceError::Digest { url, what, expected, found }
    }

    fn url(&self, rest: &str) -> Result<Url, SourceError> {
        let path = format!("v2/{}/{rest}", self.name);
        self.place.home.join(&path).map_err(|error| self.call().protocol(error.to_string()))
    }

    /// Asks, and if it is not let in, does what it takes and asks once more.
    fn get(&self, url: &Url, accept: &'static str) -> Result<Answer, SourceError> {
        let mut headers = HeaderMap::new();
        headers.insert(ACCEPT, HeaderValue::from_static(accept));
        let pass = match self.passes.get(self.name) {
            Some(pass) => Some(pass),
            None => self.first_pass()?,
        };
        let answer = self.line.get(url, &headers, pass.as_ref())?;
        // Only the registry itself may ask for credentials, not a storage that it sends on to.
        if answer.status() != StatusCode::UNAUTHORIZED || !answer.at_home {
            return answer.success(self.is_anonymous());
        }
        let pass = self.ask_for_pass(&answer.headers("www-authenticate"))?;
        self.line.get(url, &headers, Some(&pass))?.success(self.is_anonymous())
    }

    fn is_anonymous(&self) -> bool {
        !self.line.access().has_credentials()
    }

    /// What is shown without being asked for.
    fn first_pass(&self) -> Result<Option<HeaderValue>, SourceError> {
        let access = self.line.access();
        if !access.bearer_token.is_empty() || access.force_basic {
            return client::authorization(&self.call().url, access);
        }
        Ok(None)
    }

    fn ask_for_pass(&self, headers: &[String]) -> Result<HeaderValue, SourceError> {
        let url = &self.call().url;
        let refused = || SourceError::Authentication { url: url.clone(), anonymous: self.is_anonymous() };
        for offer in challenge::read(headers) {
            match offer {
                Challenge::Basic => {
                    let Some(pass) = client::basic(url, self.line.access())? else { continue };
                    self.passes.keep(self.name, pass.clone(), None);
                    return Ok(pass);
                }
                Challenge::Bearer { realm, service, scope } => return self.token(&realm, &service, &scope),
            }
        }
        Err(refused())
    }

    /// Gets a token from the service that the registry names.
    fn token(&self, realm: &str, service: &str, scope: &str) -> Result<HeaderValue, SourceError> {
        let call = self.call();
        let mut url =
            Url::parse(realm).map_err(|_| call.protocol("it names a place for tokens that is no URL"))?;
        self.check_realm(&url)?;
        let own = format!("repository:{}:pull", self.name);
        let scope = match (scope, self.name) {
            // Nothing more is wanted than to be let in.
            ("", "") => None,
            ("", _) => Some(own.as_str()),
            (scope, _) => Some(scope),
        };
        let mut query = url.query_pairs_mut();
        if !service.is_empty() {
            query.append_pair("service", service);
        }
        if let Some(scope) = scope {
            query.append_pair("scope", scope);
        }
        drop(query);
        let line = self.line.entrust(&url)?;
        let credential = client::basic(&call.url, line.access())?;
        let mut headers = HeaderMap::new();
        headers.insert(ACCEPT, HeaderValue::from_static("application/json"));
        let answer = line.get(&url, &headers, credential.as_ref())?.success(self.is_anonymous());
        let answer = answer.map_err(|error| match error {
            // The place for tokens is missing, not the repository.
            SourceError::RepositoryNotFound { .. } => {
                call.protocol("the place for tokens that it names is not there")
            }
            error => error,
        })?;
        let body = json::parse(&answer.bytes()?)
            .map_err(|error| call.protocol(format!("its token cannot be read: {error}")))?;
        let text = |key: &str| body.get(key).and_then(Value::as_str).filter(|text| !text.is_empty());
        let token = text("token").or_else(|| text("access_token"));
        let token = token.ok_or_else(|| call.protocol("the place for tokens gives none"))?;
        let life = body.get("expires_in").and_then(Value::as_int).and_then(|life| u64::try_from(life).ok());
        let life = life.map_or(TOKEN_LIFE, |life| Duration::from_secs(life.min(86_400)));
        let pass = client::header(&call.url, "Bearer", token)?;
        self.passes.keep(self.name, pass.clone(), Some(Instant::now() + life.saturating_sub(TOKEN_MARGIN)));
        Ok(pass)
    }

    /// Tokens are asked for over TLS, or on this machine, or where the registry itself is without TLS.
    fn check_realm(&self, realm: &Url) -> Result<(), SourceError> {
        let home = self.line.home();
        let plain = home.scheme() == "http"
            && realm.scheme() == "http"
            && (self.is_anonymous()
                || is_loopback(realm.host_str().unwrap_or_default())
                || client::may_see(home, realm));
        if realm.scheme() == "https" || plain {
            return Ok(());
        }
        let reason = "it is reached without TLS";
        let (url, to) = (self.call().url.clone(), client::host_of(realm));
        Err(SourceError::CredentialsElsewhere { url, to, reason })
    }
}

/// The target of `<target>; rel="next"`.
fn next_page(link: &str) -> Option<String> {
    link.split(',').find_map(|part| {
        let (target, parameters) = part.trim().strip_prefix('<')?.split_once('>')?;
        let next = parameters.split(';').any(|parameter| {
            matches!(parameter.trim().to_ascii_lowercase().as_str(), "rel=next" | "rel=\"next\"")
        });
        next.then(|| target.to_owned())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_next_page_is_found_in_a_link() {
        assert_eq!(
            next_page("</v2/x/tags/list?last=a&n=2>; rel=\"next\"").unwrap(),
            "/v2/x/tags/list?last=a&n=2"
        );
        assert_eq!(next_page("<a>; rel=prev, <b>; rel=next").unwrap(), "b");
        for text in ["", "<a>", "<a>; rel=prev", "a; rel=next", "<a; rel=next"] {
            assert_eq!(next_page(text), None, "{text}");
        }
    }
}
