//! Programs that give parameters when they are asked over HTTP.

use std::time::Duration;

use lynceus_object::{Map, Value, json};
use reqwest::header::HeaderValue;

use super::web::Opening;
use super::{Scm, ScmError};
use crate::limits;
use crate::secret::Secret;

impl Scm {
    /// The sets of parameters that a plugin gives for what it is sent.
    pub async fn parameters(
        &self,
        base: &str,
        token: &Secret,
        body: &Value,
        patience: Option<Duration>,
    ) -> Result<Vec<Map>, ScmError> {
        let credential = ("authorization", Secret::from(format!("Bearer {}", token.reveal().trim())));
        let opening = Opening {
            base: base.trim_end_matches('/').to_owned(),
            is_named: false,
            credential: Some(credential),
            certificate_authority: String::new(),
            insecure: false,
        };
        let web = self.kept(&opening.key(), || opening.open(&self.settings))?;
        let headers = [("content-type", HeaderValue::from_static("application/json"))];
        let path = ["api", "v1", "getparams.execute"];
        let body = json::to_string(body).into_bytes();
        let after = patience.unwrap_or(limits::PARAMETERS_TIMEOUT);
        let page = tokio::time::timeout(after, web.post(&path, body, &headers)).await;
        let page = page.map_err(|_| ScmError::TooSlow { after })??;
        let wrong = |what: &str| web.malformed("/api/v1/getparams.execute", what.to_owned());
        let listed = page.value.at(&["output", "parameters"]).and_then(Value::as_seq);
        let listed = listed.ok_or_else(|| wrong("output.parameters is not a list"))?;
        web.budget().page(listed.len())?;
        let map =
            |item: &Value| item.as_map().cloned().ok_or_else(|| wrong("output.parameters holds no map"));
        listed.iter().map(map).collect()
    }
}
