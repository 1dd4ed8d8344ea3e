//! Single files on web servers, such as the value files that an Application names by their URLs, and archives of charts.

use std::sync::Arc;

use reqwest::Url;
use reqwest::header::HeaderMap;

use crate::call::{Call, Talk};
use crate::error::{Peer, SourceError, Step};
use crate::limits::MAX_FILE_BYTES;
use crate::repository::Access;
use crate::sources::Sources;
use crate::transport::client;
use crate::transport::line::{Line, Visitor};
use crate::url::{percent_decode, redact};

impl Sources {
    /// The content of a file at a URL. A user in the URL is shown to its own host only.
    pub async fn file(&self, url: &str) -> Result<Arc<[u8]>, SourceError> {
        self.content(url, Access::default(), MAX_FILE_BYTES).await
    }

    /// The archive of a chart at a URL of its own. Nobody has announced its digest. The credentials go to the host of
    /// the URL only; a user in the URL counts where they name none.
    pub async fn archive(&self, url: &str, access: Access) -> Result<Arc<[u8]>, SourceError> {
        self.content(url, access, self.settings().max_chart_bytes).await
    }

    async fn content(&self, url: &str, mut access: Access, limit: u64) -> Result<Arc<[u8]>, SourceError> {
        let shown = redact(url);
        let wrong = |reason: String| SourceError::Url { url: shown.clone(), reason };
        let place = Url::parse(url).map_err(|error| wrong(error.to_string()))?;
        if !matches!(place.scheme(), "http" | "https") {
            return Err(wrong(format!("files are read by http and https, not by {}", place.scheme())));
        }
        if access.username.is_empty() && access.password.is_empty() {
            access.username = percent_decode(place.username());
            access.password = percent_decode(place.password().unwrap_or_default()).into();
        }
        let talk = Talk {
            url: shown.clone(),
            host: client::host_of(&place),
            peer: Peer::Files,
            step: Step::Download,
        };
        let settings = self.settings().clone();
        let call = Arc::new(Call::new(talk, settings.fetch_timeout, limit));
        let line = call.clone();
        call.hold(move |_| {
            let line = Line::open(&line, &place, Visitor { access, book: None }, &settings)?;
            let credential = client::authorization(&shown, line.access())?;
            let answer = line.get(&place, &HeaderMap::new(), credential.as_ref())?;
            Ok(answer.success(credential.is_none())?.bytes()?.into())
        })
        .await
        .map_err(|error| match error {
            SourceError::RepositoryNotFound { url } => SourceError::FileNotFound { url },
            other => other,
        })
    }
}
