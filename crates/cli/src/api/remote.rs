//! A server that is asked over HTTP: its REST is the same table of methods as everything else of the API.

use lynceus_object::{Value, json};
use lynceus_server::{Code, Question, Refusal, question};
use lynceus_source::{Access, Secret, tls_config};
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use reqwest::{Client, Method, RequestBuilder, Response};

use super::ApiError;
use super::connection::Destination;
use crate::limits;

/// A server, and how to talk to it.
pub(crate) struct Remote {
    client: Client,
    /// The address as people write it.
    server: String,
    /// What stands before every path.
    base: String,
    token: Secret,
    retries: u32,
}

impl Remote {
    /// The way to a server. Nothing is sent yet.
    pub(crate) fn new(destination: &Destination) -> Result<Self, ApiError> {
        let access = Access {
            insecure: destination.insecure,
            certificate_authority: destination.authority.clone(),
            client_certificate: destination.certificate.clone(),
            client_key: destination.key.clone(),
            ..Access::default()
        };
        let unusable = |error: &dyn std::error::Error| ApiError::Unusable(error.to_string());
        let tls = tls_config(&destination.address, &access).map_err(|error| unusable(&error))?;
        let client = Client::builder()
            .user_agent(concat!("lynceus/", env!("CARGO_PKG_VERSION")))
            .tls_backend_preconfigured(tls)
            .default_headers(headers(&destination.headers)?)
            // A token is for the server that it was given by, and for nobody that it names.
            .redirect(reqwest::redirect::Policy::none())
            .connect_timeout(limits::CONNECT)
            .build()
            .map_err(|error| unusable(&error))?;
        let scheme = if destination.plain { "http" } else { "https" };
        let root = destination.root_path.trim_matches('/');
        let root = if root.is_empty() { String::new() } else { format!("/{root}") };
        Ok(Remote {
            client,
            server: destination.address.clone(),
            base: format!("{scheme}://{}{root}", destination.address),
            token: destination.token.clone(),
            retries: destination.retries,
        })
    }

    /// The answer to a question.
    pub(super) async fn call(&self, method: &str, message: &Value) -> Result<Value, ApiError> {
        let response = self.send(method, message).await?;
        let status = response.status();
        let body = self.read(response).await?;
        let value = json::parse(&body);
        match value {
            Ok(value) if status.is_success() => Ok(value),
            Ok(value) if value.str_at(&["message"]).is_some() => Err(self.refused(&value)),
            // What some proxy says is not repeated: it may quote what was sent.
            _ => Err(self.strange(format!("{status}"))),
        }
    }

    /// The answers to a question, one after the other.
    pub(super) async fn stream(&self, method: &str, message: &Value) -> Result<Lines<'_>, ApiError> {
        let response = self.send(method, message).await?;
        if response.status().is_success() {
            return Ok(Lines { remote: self, response, rest: Vec::new() });
        }
        let status = response.status();
        match json::parse(&self.read(response).await?) {
            Ok(value) if value.str_at(&["message"]).is_some() => Err(self.refused(&value)),
            _ => Err(self.strange(format!("{status}"))),
        }
    }

    async fn send(&self, method: &str, message: &Value) -> Result<Response, ApiError> {
        let Some(question) = question(method, message) else {
            return Err(ApiError::Unusable("a name is missing".to_owned()));
        };
        let mut tries = 0;
        loop {
            let sent = self.request(&question).send();
            let answered = tokio::time::timeout(limits::SILENCE, sent).await;
            let failed = match answered {
                Ok(Ok(response)) => return Ok(response),
                Ok(Err(error)) => self.failed(&error),
                Err(_) => self.unreachable("it does not answer"),
            };
            if tries >= self.retries || !matches!(failed, ApiError::Unreachable { .. }) {
                return Err(failed);
            }
            tries += 1;
        }
    }

    fn request(&self, question: &Question) -> RequestBuilder {
        let verb = Method::from_bytes(question.verb.as_bytes()).unwrap_or(Method::GET);
        let mut request = self.client.request(verb, format!("{}{}", self.base, question.target));
        request = request.header("accept", "application/json").header("content-type", "application/json");
        if !self.token.is_empty() {
            request = request.bearer_auth(self.token.reveal());
        }
        match &question.body {
            Some(body) => request.body(body.clone()),
            None => request,
        }
    }

    async fn read(&self, mut response: Response) -> Result<Vec<u8>, ApiError> {
        let mut body = Vec::new();
        while let Some(piece) = response.chunk().await.map_err(|error| self.failed(&error))? {
            if body.len() + piece.len() > limits::ANSWER {
                return Err(self.strange("its answer is too long".to_owned()));
            }
            body.extend_from_slice(&piece);
        }
        Ok(body)
    }

    fn refused(&self, value: &Value) -> ApiError {
        let message = value.str_at(&["message"]).unwrap_or_default();
        let message = match self.token.is_empty() {
            true => message.to_owned(),
            false => message.replace(self.token.reveal(), "…"),
        };
        ApiError::Refused(Refusal::new(Code::of(value.int_at(&["code"]).unwrap_or_default()), message))
    }

    fn strange(&self, reason: String) -> ApiError {
        ApiError::Strange { server: self.server.clone(), reason }
    }

    fn unreachable(&self, reason: &str) -> ApiError {
        ApiError::Unreachable { server: self.server.clone(), reason: reason.to_owned() }
    }

    /// The innermost reason, without the address, which may hold more than a name.
    fn failed(&self, error: &reqwest::Error) -> ApiError {
        let server = self.server.clone();
        let mut source: &(dyn std::error::Error + 'static) = error;
        while let Some(inner) = source.source() {
            source = inner;
        }
        let reason = source.to_string();
        match reason.as_str() {
            text if text.contains("certificate") => ApiError::Untrusted { server, reason },
            text if text.contains("InvalidContentType") || text.contains("corrupt message") => {
                ApiError::Plain { server }
            }
            _ => ApiError::Unreachable { server, reason },
        }
    }
}

/// The lines of a stream.
pub(super) struct Lines<'r> {
    remote: &'r Remote,
    response: Response,
    rest: Vec<u8>,
}

impl Lines<'_> {
    /// The next message; none at the end.
    pub(super) async fn next(&mut self) -> Result<Option<Value>, ApiError> {
        loop {
            if let Some(end) = self.rest.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = self.rest.drain(..=end).collect();
                let value = json::parse(&line).map_err(|_| self.remote.strange("no JSON".to_owned()))?;
                if let Some(error) = value.get("error") {
                    return Err(self.remote.refused(error));
                }
                return Ok(Some(value.get("result").cloned().unwrap_or_default()));
            }
            if self.rest.len() > limits::LINE {
                return Err(self.remote.strange("a line is too long".to_owned()));
            }
            match self.response.chunk().await.map_err(|error| self.remote.failed(&error))? {
                Some(piece) => self.rest.extend_from_slice(&piece),
                None => return Ok(None),
            }
        }
    }
}

/// Headers that are given as `Name: value`.
fn headers(lines: &[String]) -> Result<HeaderMap, ApiError> {
    let mut headers = HeaderMap::new();
    for line in lines {
        let wrong = |what: &str| ApiError::Unusable(format!("--header {what}; it is given as 'Name: value'"));
        let (name, value) = line.split_once(':').ok_or_else(|| wrong("has no colon"))?;
        let name = HeaderName::from_bytes(name.trim().as_bytes()).map_err(|_| wrong("has no good name"))?;
        let mut value =
            HeaderValue::from_str(value.trim()).map_err(|_| wrong("has a value that cannot be sent"))?;
        value.set_sensitive(true);
        headers.append(name, value);
    }
    Ok(headers)
}
