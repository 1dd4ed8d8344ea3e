//! Plain downloads: one conversation of GETs, with redirects that know who may see what.

use std::io::{self, Read};
use std::sync::Arc;

use bytes::{Buf as _, Bytes};
use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderValue};
use reqwest::{Client, Response, StatusCode, Url};

use super::client;
use crate::book::Book;
use crate::call::Call;
use crate::error::SourceError;
use crate::limits::MAX_REDIRECTS;
use crate::repository::Access;
use crate::settings::Settings;

/// A way to ask the server of one repository, and whom it points to. Lives on a thread that may block.
pub(crate) struct Line {
    pub(crate) call: Arc<Call>,
    /// Where the user sent us; only this place gets the credentials and sees the client certificate.
    home: Url,
    client: Client,
    access: Access,
    /// Knows the certificates of other hosts.
    book: Option<Arc<Book>>,
    settings: Settings,
}

/// An answer whose body is still to be read, but for at most as many bytes as the call allows.
pub(crate) struct Answer {
    call: Arc<Call>,
    host: String,
    response: Response,
    chunk: Bytes,
    /// Whether the server of the repository gave it, and not one that it sent us on to.
    pub(crate) at_home: bool,
}

/// Whom a caller is, for the place that it wants to reach.
#[derive(Clone)]
pub(crate) struct Visitor {
    pub(crate) access: Access,
    pub(crate) book: Option<Arc<Book>>,
}

impl Line {
    /// Prepares a conversation; nothing is sent yet.
    pub(crate) fn open(
        call: &Arc<Call>,
        home: &Url,
        visitor: Visitor,
        settings: &Settings,
    ) -> Result<Self, SourceError> {
        let Visitor { access, book } = visitor;
        if let Some(what) = access.unsupported {
            return Err(SourceError::Unsupported { url: call.url.clone(), what: what.to_owned() });
        }
        let client = client::build(&call.url, &access, settings)?;
        let (call, home, settings) = (call.clone(), home.clone(), settings.clone());
        Ok(Line { call, home, client, access, book, settings })
    }

    /// How we get in.
    pub(crate) fn access(&self) -> &Access {
        &self.access
    }

    /// The place that the user named.
    pub(crate) fn home(&self) -> &Url {
        &self.home
    }

    /// A line to another place, which the server of the repository has named and which may see user and
    /// password.
    pub(crate) fn entrust(&self, home: &Url) -> Result<Line, SourceError> {
        let access = Access {
            username: self.access.username.clone(),
            password: self.access.password.clone(),
            ..self.foreign(home)
        };
        let client = client::build(&self.call.url, &access, &self.settings)?;
        let (call, book, settings) = (self.call.clone(), self.book.clone(), self.settings.clone());
        Ok(Line { call, home: home.clone(), client, access, book, settings })
    }

    /// Asks, and goes where the answer sends us. The credential is shown to the place that the user named,
    /// and to others only if the user wants that.
    pub(crate) fn get(
        &self,
        url: &Url,
        headers: &HeaderMap,
        credential: Option<&HeaderValue>,
    ) -> Result<Answer, SourceError> {
        let mut url = url.clone();
        for _ in 0..=MAX_REDIRECTS {
            let mut headers = headers.clone();
            if let Some(credential) = credential.filter(|_| self.trusts(&url)) {
                headers.insert(AUTHORIZATION, credential.clone());
            }
            let answer = self.send(&url, headers)?;
            if !answer.status().is_redirection() || answer.status() == StatusCode::NOT_MODIFIED {
                return Ok(answer);
            }
            url = client::next(&self.call, &url, &answer.response)?;
        }
        Err(client::endless(&self.call))
    }

    /// One request without a redirect.
    fn send(&self, url: &Url, headers: HeaderMap) -> Result<Answer, SourceError> {
        let host = client::host_of(url);
        let at_home = client::may_see(&self.home, url);
        let client = if at_home { self.client.clone() } else { self.stranger(url)? };
        let sent = client.get(without_user(url)).headers(headers).send();
        let response = self.call.step(async { sent.await.map_err(|error| client::failed(&host, &error)) })?;
        Ok(Answer { call: self.call.clone(), host, response, chunk: Bytes::new(), at_home })
    }

    fn trusts(&self, url: &Url) -> bool {
        let encrypted = url.scheme() == "https" || self.home.scheme() == "http";
        client::may_see(&self.home, url) || (self.access.pass_credentials && encrypted)
    }

    /// A client for another host: the same proxy, but no client certificate, and the certificates that the
    /// operator trusts for that host.
    fn stranger(&self, url: &Url) -> Result<Client, SourceError> {
        client::build(&self.call.url, &self.foreign(url), &self.settings)
    }

    fn foreign(&self, url: &Url) -> Access {
        let own = &self.access;
        if client::may_see(&self.home, url) {
            return own.clone();
        }
        let authority = self.book.as_ref().map(|book| book.certificate(url.as_str())).unwrap_or_default();
        let mut access = Access {
            insecure: own.insecure,
            proxy: own.proxy.clone(),
            no_proxy: own.no_proxy.clone(),
            certificate_authority: authority,
            ..Access::default()
        };
        if own.pass_credentials {
            access.client_certificate.clone_from(&own.client_certificate);
            access.client_key.clone_from(&own.client_key);
        }
        access
    }
}

/// A URL that a server names may hold a user; what lets us in comes from the Secrets alone.
fn without_user(url: &Url) -> Url {
    let mut url = url.clone();
    // Cannot fail: a URL with a host takes both.
    let _ = url.set_username("");
    let _ = url.set_password(None);
    url
}

impl Answer {
    /// The status.
    pub(crate) fn status(&self) -> StatusCode {
        self.response.status()
    }

    /// A header, if it is there and is text.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.response.headers().get(name).and_then(|value| value.to_str().ok())
    }

    /// All values of a header.
    pub(crate) fn headers(&self, name: &str) -> Vec<String> {
        let values = self.response.headers().get_all(name).iter();
        values.filter_map(|value| value.to_str().ok().map(str::to_owned)).collect()
    }

    /// The answer if it is a success, else what its status means.
    pub(crate) fn success(self, anonymous: bool) -> Result<Self, SourceError> {
        let status = self.status();
        if status.is_success() {
            return self.announced();
        }
        Err(client::refused(&self.call, &self.host, status, anonymous))
    }

    /// Turns away what says itself that it is too large, before it is read.
    fn announced(self) -> Result<Self, SourceError> {
        match self.response.content_length() {
            Some(length) if length > self.call.limit() => Err(self.call.too_large()),
            _ => Ok(self),
        }
    }

    /// The whole body.
    pub(crate) fn bytes(mut self) -> Result<Vec<u8>, SourceError> {
        let mut body = Vec::new();
        match self.read_to_end(&mut body) {
            Ok(_) => Ok(body),
            Err(error) => Err(self.call.told(&error)),
        }
    }
}

impl Read for Answer {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        while self.chunk.is_empty() {
            let (response, host) = (&mut self.response, &self.host);
            let next = async { response.chunk().await.map_err(|error| client::failed(host, &error)) };
            match self.call.wait(next)? {
                Some(chunk) => {
                    self.call.take(chunk.len())?;
                    self.chunk = chunk;
                }
                None => return Ok(0),
            }
        }
        let count = self.chunk.len().min(out.len());
        self.chunk.copy_to_slice(out.get_mut(..count).unwrap_or_default());
        Ok(count)
    }
}
