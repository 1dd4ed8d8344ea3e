//! Amazon's way in: who we are, and requests that are signed with it.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use jiff::Timestamp;
use lynceus_object::{Value, json};
use reqwest::header::HeaderValue;
use reqwest::{Client, Url};

use super::ScmError;
use crate::aws_signature::{AwsRequest, AwsSigner};
use crate::limits;
use crate::repository::Access;
use crate::secret::Secret;
use crate::settings::Settings;
use crate::transport::client;

/// What the surroundings say about Amazon: the variables that all its programs read.
#[derive(Clone, Debug, Default)]
pub struct Aws {
    /// `AWS_REGION`, or `AWS_DEFAULT_REGION`.
    pub region: String,
    /// `AWS_ACCESS_KEY_ID`.
    pub access_key: String,
    /// `AWS_SECRET_ACCESS_KEY`.
    pub secret_key: Secret,
    /// `AWS_SESSION_TOKEN`.
    pub session: Secret,
    /// `AWS_ROLE_ARN`, for the service account of a pod.
    pub role: String,
    /// `AWS_WEB_IDENTITY_TOKEN_FILE`, the token of that service account.
    pub token_file: Option<PathBuf>,
    /// `AWS_CONTAINER_CREDENTIALS_FULL_URI`, for a pod identity.
    pub credentials_url: String,
    /// `AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE`, its token.
    pub credentials_token_file: Option<PathBuf>,
    /// `AWS_ENDPOINT_URL`, where all services are reached instead of their own places.
    pub endpoint: String,
}

impl Aws {
    /// Reads the surroundings.
    pub fn from_environment() -> Self {
        let text = |name: &str| std::env::var(name).unwrap_or_default();
        let path = |name: &str| std::env::var_os(name).filter(|path| !path.is_empty()).map(PathBuf::from);
        let region = text("AWS_REGION");
        Aws {
            region: if region.is_empty() { text("AWS_DEFAULT_REGION") } else { region },
            access_key: text("AWS_ACCESS_KEY_ID"),
            secret_key: text("AWS_SECRET_ACCESS_KEY").into(),
            session: text("AWS_SESSION_TOKEN").into(),
            role: text("AWS_ROLE_ARN"),
            token_file: path("AWS_WEB_IDENTITY_TOKEN_FILE"),
            credentials_url: text("AWS_CONTAINER_CREDENTIALS_FULL_URI"),
            credentials_token_file: path("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE"),
            endpoint: text("AWS_ENDPOINT_URL"),
        }
    }

    /// Where a service is.
    pub(super) fn place(&self, service: &str, region: &str) -> Result<Url, ScmError> {
        let address = if self.endpoint.is_empty() {
            let china = if region.starts_with("cn-") { ".cn" } else { "" };
            format!("https://{service}.{region}.amazonaws.com{china}/")
        } else {
            self.endpoint.clone()
        };
        Url::parse(&address).map_err(|error| unusable("the address of Amazon", &error.to_string()))
    }
}

fn unusable(what: &str, reason: &str) -> ScmError {
    ScmError::Unusable { what: what.to_owned(), reason: reason.to_owned() }
}

/// Keys with which requests are signed.
#[derive(Clone, Debug)]
pub(super) struct Keys {
    access: String,
    secret: Secret,
    session: Secret,
}

/// A conversation with Amazon's services in one region.
pub(super) struct Amazon<'a> {
    aws: &'a Aws,
    client: Client,
    region: String,
}

impl<'a> Amazon<'a> {
    pub(super) fn open(aws: &'a Aws, region: &str, settings: &Settings) -> Result<Self, ScmError> {
        let region = if region.is_empty() { aws.region.as_str() } else { region };
        let is_region = |text: &str| {
            text.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-')
        };
        if region.is_empty() || !is_region(region) {
            return Err(unusable("the region of AWS", "set region in the generator, or AWS_REGION"));
        }
        let client = client::build("amazonaws.com", &Access::default(), settings)
            .map_err(|error| unusable("TLS", &error.to_string()))?;
        Ok(Amazon { aws, client, region: region.to_owned() })
    }

    /// The keys of the surroundings, or of the role that the generator names.
    pub(super) async fn keys(&self, role: &str) -> Result<Keys, ScmError> {
        let own = self.own_keys().await?;
        if role.is_empty() {
            return Ok(own);
        }
        let form = [("Action", "AssumeRole"), ("RoleArn", role)];
        let url = self.aws.place("sts", &self.region)?;
        let body = self.form(&form);
        let headers = vec![("content-type", FORM.to_owned())];
        let text = self.signed(&own, "sts", &url, headers, body.into_bytes()).await?;
        keys_of_xml(&text)
    }

    async fn own_keys(&self) -> Result<Keys, ScmError> {
        let aws = self.aws;
        if !aws.access_key.is_empty() {
            let (access, secret) = (aws.access_key.clone(), aws.secret_key.clone());
            return Ok(Keys { access, secret, session: aws.session.clone() });
        }
        if let Some(file) = &aws.token_file {
            let token = read(file).await?;
            let form = [
                ("Action", "AssumeRoleWithWebIdentity"),
                ("RoleArn", aws.role.as_str()),
                ("WebIdentityToken", token.trim()),
            ];
            let url = self.aws.place("sts", &self.region)?;
            let request = self.client.post(url.clone()).header("content-type", FORM).body(self.form(&form));
            return keys_of_xml(&self.text(&url, request).await?);
        }
        if !aws.credentials_url.is_empty() {
            return self.container_keys().await;
        }
        Err(unusable(
            "AWS",
            "there are no credentials; give the pod a role (IRSA or Pod Identity), or set AWS_ACCESS_KEY_ID",
        ))
    }

    /// The keys that an agent on the node gives to a pod.
    async fn container_keys(&self) -> Result<Keys, ScmError> {
        let url = Url::parse(&self.aws.credentials_url)
            .map_err(|error| unusable("AWS_CONTAINER_CREDENTIALS_FULL_URI", &error.to_string()))?;
        let mut request = self.client.get(url.clone());
        if let Some(file) = &self.aws.credentials_token_file {
            let mut token = HeaderValue::from_str(read(file).await?.trim())
                .map_err(|_| unusable("the token of the pod", "a header cannot carry it"))?;
            token.set_sensitive(true);
            request = request.header("authorization", token);
        }
        let text = self.text(&url, request).await?;
        let value = json::parse(text.as_bytes()).map_err(|error| malformed(&url, &error.to_string()))?;
        keys_of_json(&value).map_err(|missing| malformed(&url, &format!("it holds no {missing}")))
    }

    fn form(&self, pairs: &[(&str, &str)]) -> String {
        let mut url = Url::parse("http://form").ok();
        if let Some(url) = &mut url {
            url.query_pairs_mut()
                .extend_pairs(pairs)
                .extend_pairs([("RoleSessionName", "lynceus"), ("Version", "2011-06-15")]);
        }
        url.and_then(|url| url.query().map(str::to_owned)).unwrap_or_default()
    }

    /// Asks a service in JSON for what it calls an operation.
    pub(super) async fn ask(
        &self,
        keys: &Keys,
        service: &str,
        operation: &str,
        body: &Value,
    ) -> Result<Value, ScmError> {
        let url = self.aws.place(service, &self.region)?;
        let headers = vec![
            ("content-type", "application/x-amz-json-1.1".to_owned()),
            ("x-amz-target", operation.to_owned()),
        ];
        let text = self.signed(keys, service, &url, headers, json::to_string(body).into_bytes()).await?;
        json::parse(text.as_bytes()).map_err(|error| malformed(&url, &error.to_string()))
    }

    async fn signed(
        &self,
        keys: &Keys,
        service: &str,
        url: &Url,
        headers: Vec<(&'static str, String)>,
        body: Vec<u8>,
    ) -> Result<String, ScmError> {
        let now = Timestamp::try_from(SystemTime::now())
            .map_err(|error| unusable("the clock", &error.to_string()))?;
        let host = url.host_str().unwrap_or_default();
        let host = url.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"));
        let mut headers: Vec<(&str, &str)> =
            headers.iter().map(|(name, text)| (*name, text.as_str())).collect();
        if !keys.session.is_empty() {
            headers.push(("x-amz-security-token", keys.session.reveal()));
        }
        let signer =
            AwsSigner { key: &keys.access, secret: keys.secret.reveal(), region: &self.region, service };
        let question =
            AwsRequest { method: "POST", host: &host, path: url.path(), headers: &headers, body: &body };
        let signed = signer.sign(question, now);
        let signed = signed.iter().map(|(name, text)| (*name, text.as_str()));
        let mut request = self.client.post(url.clone());
        for (name, text) in headers.iter().copied().chain(signed) {
            let mut value = HeaderValue::from_str(text)
                .map_err(|_| unusable("AWS_SESSION_TOKEN", "a header cannot carry it"))?;
            value.set_sensitive(matches!(name, "authorization" | "x-amz-security-token"));
            request = request.header(name, value);
        }
        self.text(url, request.body(body)).await
    }

    /// The text of an answer.
    async fn text(&self, url: &Url, request: reqwest::RequestBuilder) -> Result<String, ScmError> {
        let host = client::host_of(url);
        let failed = |error: reqwest::Error| match client::failed(&host, &error) {
            crate::SourceError::Unreachable { host, reason }
            | crate::SourceError::Certificate { host, reason } => ScmError::Unreachable { host, reason },
            other => ScmError::Unreachable { host: host.clone(), reason: other.to_string() },
        };
        let mut response = request.timeout(limits::SCM_REQUEST_TIMEOUT).send().await.map_err(failed)?;
        let mut body = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(failed)? {
            if body.len() + chunk.len() > limits::MAX_SCM_ANSWER_BYTES {
                let limit = format!("{} MiB", limits::MAX_SCM_ANSWER_BYTES >> 20);
                return Err(ScmError::TooMuch { host, limit });
            }
            body.extend_from_slice(&chunk);
        }
        let text = String::from_utf8(body).map_err(|_| malformed(url, "it is no text"))?;
        if response.status().is_success() {
            Ok(text)
        } else {
            Err(refused(&host, response.status().as_u16(), &text))
        }
    }
}

const FORM: &str = "application/x-www-form-urlencoded";

fn malformed(url: &Url, reason: &str) -> ScmError {
    ScmError::Malformed { host: client::host_of(url), path: url.path().to_owned(), reason: reason.to_owned() }
}

/// What a refusal means: its body names the kind of error.
fn refused(host: &str, status: u16, text: &str) -> ScmError {
    let value = json::parse(text.as_bytes()).unwrap_or_default();
    let kind = value.str_at(&["__type"]).unwrap_or_default();
    let kind = kind.rsplit_once('#').map_or(kind, |(_, kind)| kind);
    let (host, path) =
        (host.to_owned(), if kind.is_empty() { "a question".to_owned() } else { kind.to_owned() });
    if kind.ends_with("DoesNotExistException") {
        return ScmError::NotFound { what: format!("what was asked for at {host} ({kind})") };
    }
    if matches!(kind, "ThrottlingException" | "TooManyRequestsException") || status == 429 {
        return ScmError::Limited { host, until: "its quota is free again".to_owned() };
    }
    match status {
        401 | 403 => ScmError::Refused { host, status, path },
        400 if kind.contains("AccessDenied")
            || kind.contains("UnrecognizedClient")
            || kind.contains("Signature") =>
        {
            ScmError::Refused { host, status, path }
        }
        _ => ScmError::Status { host, status, path },
    }
}

/// The keys in an answer of an agent. The error is the name of what is missing; the rest may be half of a key.
fn keys_of_json(value: &Value) -> Result<Keys, &'static str> {
    let get = |name: &'static str| {
        value.str_at(&[name]).filter(|text| !text.is_empty()).map(str::to_owned).ok_or(name)
    };
    Ok(Keys {
        access: get("AccessKeyId")?,
        secret: get("SecretAccessKey")?.into(),
        session: get("Token")?.into(),
    })
}

/// The keys in an answer of the token service.
fn keys_of_xml(text: &str) -> Result<Keys, ScmError> {
    let tag = |name: &str| {
        let (_, rest) = text.split_once(&format!("<{name}>"))?;
        Some(rest.split_once(&format!("</{name}>"))?.0.to_owned())
    };
    match (tag("AccessKeyId"), tag("SecretAccessKey"), tag("SessionToken")) {
        (Some(access), Some(secret), Some(session)) => {
            Ok(Keys { access, secret: secret.into(), session: session.into() })
        }
        _ => Err(unusable("the answer of AWS STS", "it holds no keys")),
    }
}

async fn read(file: &Path) -> Result<String, ScmError> {
    let path = file.to_owned();
    let read = tokio::task::spawn_blocking(move || std::fs::read_to_string(path)).await;
    read.unwrap_or_else(|error| Err(std::io::Error::other(error)))
        .map_err(|error| unusable(&format!("the token in {}", file.display()), &error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_of_an_agent_have_to_be_whole() {
        let read = |text: &str| keys_of_json(&json::parse(text.as_bytes()).unwrap()).map(|keys| keys.access);
        let whole = r#"{"AccessKeyId": "a", "SecretAccessKey": "s", "Token": "t"}"#;
        assert_eq!(read(whole), Ok("a".to_owned()));
        assert_eq!(read("{}"), Err("AccessKeyId"));
        assert_eq!(read(&whole.replace("\"s\"", "\"\"")), Err("SecretAccessKey"));
        assert_eq!(read(&whole.replace("Token", "Other")), Err("Token"));
    }
}
