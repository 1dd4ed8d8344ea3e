//! How sources behave, as the operator wants it.

use std::path::PathBuf;
use std::time::Duration;

use crate::limits;

/// Timeouts, bounds and permissions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// How long listing the references of a repository, or the tags of a registry, may take.
    pub list_timeout: Duration,
    /// How long a fetch or a download may take.
    pub fetch_timeout: Duration,
    /// How old a list of references, versions or tags may be that is used again, so that applications share it.
    pub max_age: Duration,
    /// The most bytes that one fetch may bring.
    pub max_pack_bytes: u64,
    /// The largest index of a chart repository.
    pub max_index_bytes: u64,
    /// The largest archive of a chart, or layer of an artifact.
    pub max_chart_bytes: u64,
    /// How many bytes of archives and indexes a sweep leaves.
    pub max_chart_cache_bytes: u64,
    /// Whether repositories on this machine may be read.
    pub local: bool,
    /// Whether submodules are fetched and put in their place.
    pub submodules: bool,
    /// Whether `HTTPS_PROXY` and its kin count where a repository names no proxy.
    pub environment_proxy: bool,
    /// The directory with the sockets of config-management plugins. Without one there are none.
    pub plugin_sockets: Option<PathBuf>,
    /// The directory in which plugins find the sockets that credentials are offered on; that of their own sockets if there
    /// is none.
    pub plugin_askpass: Option<PathBuf>,
    /// How long a plugin may take from the first question to the last answer.
    pub plugin_timeout: Duration,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            list_timeout: limits::LIST_TIMEOUT,
            fetch_timeout: limits::FETCH_TIMEOUT,
            max_age: Duration::from_secs(30),
            max_pack_bytes: limits::MAX_PACK_BYTES,
            max_index_bytes: limits::MAX_INDEX_BYTES,
            max_chart_bytes: limits::MAX_CHART_BYTES,
            max_chart_cache_bytes: limits::MAX_CHART_CACHE_BYTES,
            local: true,
            submodules: true,
            environment_proxy: true,
            plugin_sockets: None,
            plugin_askpass: None,
            plugin_timeout: limits::PLUGIN_TIMEOUT,
        }
    }
}
