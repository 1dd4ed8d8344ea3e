//! Requests of HTTP.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use lynceus_notify::{Answer, Request, SendError};
use lynceus_source::{AwsRequest, AwsSigner};
use reqwest::header::{HeaderMap, HeaderName, HeaderValue, LOCATION, RETRY_AFTER};
use reqwest::{Client, Method, Response, StatusCode, Url};

use crate::{Options, limits, tls};

pub(crate) struct Http {
    options: Options,
    /// By whether certificates count, and by which ones.
    clients: Mutex<HashMap<(bool, String), Client>>,
}

/// A request that can be sent, and sent again.
struct Ready {
    client: Client,
    method: Method,
    url: Url,
    headers: HeaderMap,
    body: Vec<u8>,
    timeout: Duration,
}

impl Http {
    pub(crate) fn new(options: Options) -> Self {
        Self { options, clients: Mutex::default() }
    }

    /// Asks, again where the request wants that, and reads the beginning of the answer.
    pub(crate) async fn ask(&self, request: &Request) -> Result<Answer, SendError> {
        let ready = self.ready(request)?;
        let times = request.retry.times.min(limits::RETRIES);
        let mut pause = request.retry.shortest;
        let mut refused = 0;
        let mut tried = 0;
        loop {
            let (answer, asked_for) = match ready.ask().await {
                Ok(response) => {
                    let asked_for = retry_after(&response);
                    (read(response, &ready).await, asked_for)
                }
                Err(error) => (Err(error), None),
            };
            let status = answer.as_ref().ok().map(|answer| answer.status);
            let wait = match (status, asked_for) {
                (Some(429), Some(wait)) if refused < limits::ASKED_TOO_MUCH => {
                    refused += 1;
                    wait
                }
                _ if tried < times && may_be_better(status) => {
                    tried += 1;
                    let wait = asked_for.unwrap_or(pause).min(request.retry.longest);
                    pause = pause.saturating_mul(2);
                    wait
                }
                _ => return answer,
            };
            tokio::time::sleep(wait).await;
        }
    }

    fn ready(&self, request: &Request) -> Result<Ready, SendError> {
        let wrong = |what: &str| SendError::lasting(format!("the {what} of the request cannot be sent"));
        let url = Url::parse(&request.url).map_err(|_| wrong("address"))?;
        if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none() {
            return Err(wrong("address"));
        }
        let mut headers = HeaderMap::new();
        for (name, value) in request.headers.iter().chain(&signed(request, &url)) {
            let name = HeaderName::from_bytes(name.as_bytes()).map_err(|_| wrong("name of a header"))?;
            let mut value = HeaderValue::from_str(value).map_err(|_| wrong("value of a header"))?;
            value.set_sensitive(true);
            headers.insert(name, value);
        }
        Ok(Ready {
            client: self.client(&url, request.insecure)?,
            method: Method::from_bytes(request.method.as_bytes()).map_err(|_| wrong("method"))?,
            url,
            headers,
            body: request.body.clone(),
            timeout: request.timeout.unwrap_or(self.options.timeout),
        })
    }

    fn client(&self, url: &Url, insecure: bool) -> Result<Client, SendError> {
        let host = url.host_str().unwrap_or_default();
        let key = (insecure, tls::authority(host, &self.options.certificates)?);
        let mut clients = self.clients.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(client) = clients.get(&key) {
            return Ok(client.clone());
        }
        let config = tls::config(host, insecure, &key.1)?;
        let mut builder = Client::builder()
            .user_agent(concat!("lynceus/", env!("CARGO_PKG_VERSION")))
            .tls_backend_preconfigured(config)
            .connect_timeout(limits::CONNECT)
            .redirect(reqwest::redirect::Policy::none());
        if !self.options.environment_proxy {
            builder = builder.no_proxy();
        }
        let client = builder.build().map_err(|_| SendError::lasting("there is no way to send requests"))?;
        if clients.len() >= limits::CLIENTS {
            clients.clear();
        }
        clients.insert(key, client.clone());
        Ok(client)
    }
}

/// The headers that prove who sends a request, if it says who does.
fn signed(request: &Request, url: &Url) -> Vec<(String, String)> {
    let Some(signature) = &request.signature else { return Vec::new() };
    let host = url.host_str().unwrap_or_default();
    let host = url.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"));
    let headers: Vec<(&str, &str)> =
        request.headers.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
    let signer = AwsSigner {
        key: &signature.key,
        secret: &signature.secret,
        region: &signature.region,
        service: signature.service,
    };
    let asked = AwsRequest {
        method: &request.method,
        host: &host,
        path: url.path(),
        headers: &headers,
        body: &request.body,
    };
    let added = signer.sign(asked, signature.time);
    added.map(|(name, text)| (name.to_owned(), text)).into()
}

/// Whether to ask again: nobody answered, or the server has trouble of its own.
fn may_be_better(status: Option<u16>) -> bool {
    match status {
        None => true,
        Some(429) => true,
        Some(status) => status >= 500 && status != 501,
    }
}

fn retry_after(response: &Response) -> Option<Duration> {
    let seconds = response.headers().get(RETRY_AFTER)?.to_str().ok()?.trim().parse().ok()?;
    Some(Duration::from_secs(seconds)).filter(|pause| *pause <= limits::LONGEST_PAUSE)
}

impl Ready {
    fn host(&self) -> &str {
        self.url.host_str().unwrap_or_default()
    }

    async fn ask(&self) -> Result<Response, SendError> {
        let (mut method, mut url, mut body) = (self.method.clone(), self.url.clone(), Some(&self.body));
        for _ in 0..=limits::REDIRECTS {
            let mut request = self
                .client
                .request(method.clone(), url.clone())
                .headers(self.headers.clone())
                .timeout(self.timeout);
            if let Some(body) = body {
                request = request.body(body.clone());
            }
            let response = request.send().await.map_err(|error| self.failed(&error))?;
            match response.status() {
                StatusCode::TEMPORARY_REDIRECT | StatusCode::PERMANENT_REDIRECT => {}
                StatusCode::MOVED_PERMANENTLY | StatusCode::FOUND | StatusCode::SEE_OTHER => {
                    method = Method::GET;
                    body = None;
                }
                _ => return Ok(response),
            }
            url = self.elsewhere(&url, &response)?;
        }
        Err(SendError::new(format!("{} redirects again and again", self.host())))
    }

    /// Where a redirect leads. The text may hold a secret as well as the headers, so nothing goes to another place.
    fn elsewhere(&self, from: &Url, response: &Response) -> Result<Url, SendError> {
        let to = response.headers().get(LOCATION).and_then(|to| to.to_str().ok());
        let to = to.and_then(|to| from.join(to).ok());
        let home = &self.url;
        match to {
            Some(to)
                if to.scheme() == home.scheme()
                    && to.host() == home.host()
                    && to.port_or_known_default() == home.port_or_known_default() =>
            {
                Ok(to)
            }
            _ => Err(SendError::new(format!(
                "{} redirects to another place, which is not told anything; put that place into the configuration",
                self.host()
            ))),
        }
    }

    /// Why there was no answer, without the address.
    fn failed(&self, error: &reqwest::Error) -> SendError {
        let host = self.host();
        if error.is_timeout() {
            return SendError::new(format!("{host} did not answer in time"));
        }
        let mut last: &dyn std::error::Error = error;
        while let Some(source) = last.source() {
            last = source;
        }
        // The outermost error shows the address; one that has nothing below it is not told.
        let is_own = std::ptr::addr_eq(last, error);
        match is_own {
            true => SendError::new(format!("{host} cannot be asked")),
            false => SendError::new(format!("{host} cannot be reached: {last}")),
        }
    }
}

/// The beginning of what came along.
async fn read(mut response: Response, ready: &Ready) -> Result<Answer, SendError> {
    let status = response.status().as_u16();
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(|error| ready.failed(&error))? {
        body.extend_from_slice(&chunk);
        if body.len() >= lynceus_notify::limits::ANSWER_BYTES {
            body.truncate(lynceus_notify::limits::ANSWER_BYTES);
            break;
        }
    }
    Ok(Answer { status, body })
}
