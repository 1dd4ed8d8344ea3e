//! How to talk to a server: Git over HTTP and SSH, behind the trait that gix's protocol code speaks to, and
//! plain downloads.

pub(crate) mod client;
mod http;
pub(crate) mod known_hosts;
pub(crate) mod line;
mod proxy;
mod ssh;
mod tls;

pub use tls::config as tls_config;

use std::sync::Arc;

use gix_transport::client::blocking_io::Transport;

use crate::call::Call;
use crate::error::SourceError;
use crate::repository::Access;
use crate::settings::Settings;
use crate::url::RepoUrl;

/// Opens a conversation with the server of a repository.
pub(crate) fn connect(
    call: &Arc<Call>,
    place: &RepoUrl,
    access: &Access,
    settings: &Settings,
) -> Result<Box<dyn Transport>, SourceError> {
    if let Some(what) = access.unsupported {
        return Err(SourceError::Unsupported { url: call.url.clone(), what: what.to_owned() });
    }
    match place {
        RepoUrl::Http(http) => Ok(Box::new(http::connect(call, http, access, settings)?)),
        RepoUrl::Ssh(ssh) => Ok(Box::new(ssh::connect(call, ssh, access)?)),
        RepoUrl::Local(path) => Err(SourceError::Url {
            url: path.display().to_string(),
            reason: "a local repository is not fetched".to_owned(),
        }),
    }
}
