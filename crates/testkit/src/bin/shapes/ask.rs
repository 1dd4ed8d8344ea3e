//! Questions to the server, as its administrator.

use std::time::Duration;

use serde_json::{Value, json};

/// How long an answer may take.
const PATIENCE: Duration = Duration::from_secs(60);

/// Somebody who is logged in.
pub(crate) struct Asker {
    client: reqwest::Client,
    url: String,
    token: String,
}

impl Asker {
    /// Logs in.
    pub(crate) async fn log_in(url: &str, password: &str) -> Result<Self, String> {
        // Where one is installed already, it is as good.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let client =
            reqwest::Client::builder().timeout(PATIENCE).build().map_err(|error| error.to_string())?;
        let mut asker = Asker { client, url: url.trim_end_matches('/').to_owned(), token: String::new() };
        let said = asker.post("/api/v1/session", &json!({"username": "admin", "password": password})).await?;
        asker.token = said["token"].as_str().ok_or("the login brings no token")?.to_owned();
        Ok(asker)
    }

    /// Sends something.
    pub(crate) async fn post(&self, path: &str, body: &Value) -> Result<Value, String> {
        let request = self.client.post(format!("{}{path}", self.url)).bearer_auth(&self.token);
        let request = request.header("content-type", "application/json").body(body.to_string());
        answer(request.send().await.map_err(words)?).await
    }

    /// Asks for something.
    pub(crate) async fn get(&self, path: &str) -> Result<Value, String> {
        answer(self.ask(path).await?).await
    }

    /// The first message of a stream, with what it comes in.
    pub(crate) async fn first(&self, path: &str) -> Result<Value, String> {
        let mut answer = self.ask(path).await?;
        let mut text = Vec::new();
        while !text.contains(&b'\n') {
            match answer.chunk().await.map_err(words)? {
                Some(chunk) => text.extend_from_slice(&chunk),
                None => break,
            }
        }
        let line = text.split(|byte| *byte == b'\n').next().unwrap_or_default();
        serde_json::from_slice(line).map_err(|error| format!("no JSON: {error}"))
    }

    async fn ask(&self, path: &str) -> Result<reqwest::Response, String> {
        let request = self.client.get(format!("{}{path}", self.url)).bearer_auth(&self.token);
        request.send().await.map_err(words)
    }
}

fn words(error: reqwest::Error) -> String {
    error.to_string()
}

async fn answer(answer: reqwest::Response) -> Result<Value, String> {
    let status = answer.status();
    let text = answer.text().await.map_err(words)?;
    let value: Value = serde_json::from_str(&text).map_err(|error| format!("{status}, no JSON: {error}"))?;
    match status.is_success() {
        true => Ok(value),
        false => Err(format!("{status}: {}", value["message"].as_str().unwrap_or(&text))),
    }
}
