//! The smart HTTP protocol.

use std::any::Any;
use std::io::{self, BufRead, Read, Write};
use std::sync::{Arc, Mutex, PoisonError};

use bytes::{Buf as _, Bytes};
use gix_transport::client::blocking_io::http::{
    GetResponse, Http, PostBodyDataKind, PostResponse, Transport,
};
use reqwest::header::{AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use reqwest::{Client, Method, Response, Url};

use super::client;
use crate::call::Call;
use crate::error::SourceError;
use crate::limits::MAX_REDIRECTS;
use crate::repository::Access;
use crate::settings::Settings;
use crate::url::HttpUrl;

/// Prepares a conversation; nothing is sent yet.
pub(super) fn connect(
    call: &Arc<Call>,
    place: &HttpUrl,
    access: &Access,
    settings: &Settings,
) -> Result<Transport<Requests>, SourceError> {
    let wrong = |reason: String| SourceError::Url { url: call.url.clone(), reason };
    let home = Url::parse(&place.url).map_err(|error| wrong(error.to_string()))?;
    let url = gix::Url::try_from(place.url.as_str()).map_err(|error| wrong(error.to_string()))?;
    let requests = Requests {
        client: client::build(&call.url, access, settings)?,
        call: call.clone(),
        authorization: client::authorization(&call.url, access)?,
        home,
        base: None,
    };
    Ok(Transport::new_http(requests, url, gix_transport::Protocol::V2, false))
}

/// Makes the requests that gix's protocol code asks for.
pub(super) struct Requests {
    client: Client,
    call: Arc<Call>,
    authorization: Option<HeaderValue>,
    /// Where the user sent us; only this host gets the credentials.
    home: Url,
    /// Where the server sent us on.
    base: Option<Url>,
}

impl Http for Requests {
    type Headers = io::Cursor<Vec<u8>>;
    type ResponseBody = Body;
    type PostBody = Question;

    fn get(
        &mut self,
        url: &str,
        base_url: &str,
        headers: impl IntoIterator<Item = impl AsRef<str>>,
    ) -> gix::Result<GetResponse<Self::Headers, Self::ResponseBody>> {
        let mut headers = self.headers(headers);
        headers.remove(AUTHORIZATION);
        let tail = url.strip_prefix(base_url).unwrap_or_default().to_owned();
        let call = self.call.clone();
        let response = call.wait(self.ask(url, &tail, headers)).map_err(wrapped)?;
        let head = head_of(&response);
        Ok(GetResponse { headers: io::Cursor::new(head), body: Body::answered(self.call.clone(), response) })
    }

    fn post(
        &mut self,
        url: &str,
        _base_url: &str,
        headers: impl IntoIterator<Item = impl AsRef<str>>,
        _body: PostBodyDataKind,
    ) -> gix::Result<PostResponse<Self::Headers, Self::ResponseBody, Self::PostBody>> {
        let mut headers = self.headers(headers);
        let url = Url::parse(url).map_err(|error| wrapped(io::Error::other(error.to_string())))?;
        // What the answer is made of is checked when it comes, so gix is told what it wants to hear.
        let expected = headers.get(reqwest::header::ACCEPT).cloned();
        self.let_in(&url, &mut headers);
        let pending = Pending { client: self.client.clone(), url, headers, expected: expected.clone() };
        let question = Question(Arc::default());
        let body = Body::pending(self.call.clone(), pending, question.0.clone());
        let kind = expected.as_ref().and_then(|kind| kind.to_str().ok()).unwrap_or_default();
        let head = format!("content-type: {kind}\r\n").into_bytes();
        Ok(PostResponse { post_body: question, headers: io::Cursor::new(head), body })
    }

    fn configure(&mut self, _config: &dyn Any) -> gix::Result<()> {
        Ok(())
    }

    fn redirected_base_url(&self) -> Option<String> {
        self.base.as_ref().map(|base| base.as_str().to_owned())
    }
}

impl Requests {
    /// The first question, which a server may send on to another place.
    async fn ask(&mut self, url: &str, tail: &str, headers: HeaderMap) -> Result<Response, SourceError> {
        let mut url = Url::parse(url).map_err(|error| self.call.protocol(error.to_string()))?;
        for _ in 0..=MAX_REDIRECTS {
            let mut headers = headers.clone();
            self.let_in(&url, &mut headers);
            let sent = self.client.request(Method::GET, url.clone()).headers(headers).send().await;
            let response = sent.map_err(|error| client::failed(&self.call.host, &error))?;
            if !response.status().is_redirection() {
                let response = client::checked(&self.call, response, self.authorization.is_none())?;
                let base = url.as_str().strip_suffix(tail).and_then(|base| Url::parse(base).ok());
                self.base = base.filter(|base| *base != self.home);
                return Ok(response);
            }
            url = client::next(&self.call, &url, &response)?;
        }
        Err(client::endless(&self.call))
    }

    /// Adds the credentials, if the request goes where the user meant it to go.
    fn let_in(&self, url: &Url, headers: &mut HeaderMap) {
        if let Some(value) = self.authorization.clone().filter(|_| client::may_see(&self.home, url)) {
            headers.insert(AUTHORIZATION, value);
        }
    }

    fn headers(&self, lines: impl IntoIterator<Item = impl AsRef<str>>) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for line in lines {
            let Some((name, value)) = line.as_ref().split_once(':') else { continue };
            let name = HeaderName::try_from(name.trim()).ok();
            if let Some((name, value)) = name.zip(HeaderValue::from_str(value.trim()).ok()) {
                headers.insert(name, value);
            }
        }
        headers
    }
}

/// A request whose body is still being written.
struct Pending {
    client: Client,
    url: Url,
    headers: HeaderMap,
    expected: Option<HeaderValue>,
}

impl Pending {
    async fn send(self, call: &Call, body: Vec<u8>) -> Result<Response, SourceError> {
        let anonymous = !self.headers.contains_key(AUTHORIZATION);
        let sent = self.client.request(Method::POST, self.url).headers(self.headers).body(body).send().await;
        let response =
            client::checked(call, sent.map_err(|error| client::failed(&call.host, &error))?, anonymous)?;
        let kind = response.headers().get(CONTENT_TYPE);
        if self.expected.is_some() && kind != self.expected.as_ref() {
            return Err(call.protocol("its answer is not that of the smart protocol"));
        }
        Ok(response)
    }
}

/// What is to be sent; small, as it holds wishes and not objects.
pub(super) struct Question(Arc<Mutex<Vec<u8>>>);

impl Write for Question {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The body of an answer. The request goes out when the first byte is wanted.
pub(super) struct Body {
    call: Arc<Call>,
    state: State,
    chunk: Bytes,
}

enum State {
    Pending(Box<Pending>, Arc<Mutex<Vec<u8>>>),
    Answered(Box<Response>),
    Done,
}

impl Body {
    fn answered(call: Arc<Call>, response: Response) -> Self {
        Body { call, state: State::Answered(Box::new(response)), chunk: Bytes::new() }
    }

    fn pending(call: Arc<Call>, pending: Pending, question: Arc<Mutex<Vec<u8>>>) -> Self {
        Body { call, state: State::Pending(Box::new(pending), question), chunk: Bytes::new() }
    }

    fn advance(&mut self) -> io::Result<()> {
        while self.chunk.is_empty() {
            match std::mem::replace(&mut self.state, State::Done) {
                State::Pending(pending, question) => {
                    let body = std::mem::take(&mut *question.lock().unwrap_or_else(PoisonError::into_inner));
                    let response = self.call.wait(pending.send(&self.call, body))?;
                    self.state = State::Answered(Box::new(response));
                }
                State::Answered(mut response) => {
                    let call = &self.call;
                    let next =
                        async { response.chunk().await.map_err(|error| client::failed(&call.host, &error)) };
                    let chunk = call.wait(next)?;
                    if let Some(chunk) = chunk {
                        self.call.take(chunk.len())?;
                        self.chunk = chunk;
                        self.state = State::Answered(response);
                    }
                }
                State::Done => return Ok(()),
            }
        }
        Ok(())
    }
}

impl Read for Body {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let mut ready = self.fill_buf()?;
        let count = ready.read(out)?;
        self.consume(count);
        Ok(count)
    }
}

impl BufRead for Body {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.advance()?;
        Ok(&self.chunk)
    }

    fn consume(&mut self, count: usize) {
        self.chunk.advance(count.min(self.chunk.len()));
    }
}

/// The one header that gix looks at.
fn head_of(response: &Response) -> Vec<u8> {
    let kind = response.headers().get(CONTENT_TYPE).map(HeaderValue::as_bytes).unwrap_or_default();
    [b"content-type: ", kind, b"\r\n"].concat()
}

fn wrapped(error: io::Error) -> gix::Error {
    gix::Error::from_error(error)
}
