//! What the containers of a pod have printed.

use crate::cluster::Cluster;
use crate::door::Lines;
use crate::error::ClusterError;
use crate::plain::plain;

/// Which part of a log is wanted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LogOptions {
    /// The container; empty where the pod has only one.
    pub container: String,
    /// Go on as the container prints more.
    pub follow: bool,
    /// The log of the container before its last restart.
    pub previous: bool,
    /// Only this many lines from the end.
    pub tail: Option<i64>,
    /// Only what is not older than this many seconds.
    pub since_seconds: Option<i64>,
    /// Only what was printed since then, as RFC 3339 text; empty for everything.
    pub since_time: String,
}

/// A log, line by line.
pub struct Log {
    lines: Lines,
}

impl Log {
    /// The next line, beginning with its time; none at the end.
    pub async fn next(&mut self) -> Option<String> {
        self.lines.text().await
    }
}

impl Cluster {
    /// Opens the log of a pod. Each line begins with the time at which it was printed.
    pub async fn log(&self, namespace: &str, pod: &str, options: &LogOptions) -> Result<Log, ClusterError> {
        let lines = self.door.watch(&path(namespace, pod, options)).await?;
        Ok(Log { lines })
    }
}

fn path(namespace: &str, pod: &str, options: &LogOptions) -> String {
    let mut path = format!("/api/v1/namespaces/{}/pods/{}/log?timestamps=true", plain(namespace), plain(pod));
    if !options.container.is_empty() {
        path.push_str(&format!("&container={}", plain(&options.container)));
    }
    for (wanted, name) in [(options.follow, "follow"), (options.previous, "previous")] {
        if wanted {
            path.push_str(&format!("&{name}=true"));
        }
    }
    if let Some(lines) = options.tail {
        path.push_str(&format!("&tailLines={lines}"));
    }
    if let Some(seconds) = options.since_seconds {
        path.push_str(&format!("&sinceSeconds={seconds}"));
    }
    if !options.since_time.is_empty() {
        path.push_str(&format!("&sinceTime={}", plain(&options.since_time)));
    }
    path
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_stays_a_name() {
        let options = LogOptions { container: "a&b".to_owned(), tail: Some(5), ..LogOptions::default() };
        assert_eq!(
            path("shop", "../secrets/x?", &options),
            "/api/v1/namespaces/shop/pods/..%2Fsecrets%2Fx%3F/log?timestamps=true&container=a%26b&tailLines=5"
        );
    }
}
