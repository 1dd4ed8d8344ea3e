//! The questions of a kubelet and of a monitoring system.

use std::sync::Arc;

use axum::Router;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;

/// Somebody who can say how they are.
pub trait Vitals: Send + Sync + 'static {
    /// Whether it makes progress; with the reason if it would be better to start it anew.
    fn alive(&self) -> Result<(), String>;

    /// Whether it has what it needs to do its work; with what it lacks.
    fn ready(&self) -> Result<(), String>;

    /// What there is to measure, in the text format of Prometheus.
    fn metrics(&self) -> String;
}

/// `/healthz`, `/readyz` and `/metrics`.
pub fn probes(vitals: Arc<dyn Vitals>) -> Router {
    health(vitals.clone()).merge(metrics(vitals))
}

/// `/healthz` and `/readyz`, which anybody may know.
pub(crate) fn health(vitals: Arc<dyn Vitals>) -> Router {
    Router::new()
        .route("/healthz", get(async |State(vitals): State<Arc<dyn Vitals>>| verdict(vitals.alive())))
        .route("/readyz", get(async |State(vitals): State<Arc<dyn Vitals>>| verdict(vitals.ready())))
        .with_state(vitals)
}

/// `/metrics`, for a port of its own: it names applications and repositories, and monitoring systems do not log in.
pub fn metrics(vitals: Arc<dyn Vitals>) -> Router {
    Router::new().route("/metrics", get(measured)).with_state(vitals)
}

fn verdict(found: Result<(), String>) -> (StatusCode, String) {
    match found {
        Ok(()) => (StatusCode::OK, "ok\n".to_owned()),
        Err(why) => (StatusCode::SERVICE_UNAVAILABLE, format!("{why}\n")),
    }
}

async fn measured(State(vitals): State<Arc<dyn Vitals>>) -> Response {
    ([(header::CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")], vitals.metrics()).into_response()
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::body::Body;
    use axum::http::Request;
    use http_body_util::BodyExt as _;
    use tower::ServiceExt as _;

    struct Waiting;

    impl Vitals for Waiting {
        fn alive(&self) -> Result<(), String> {
            Ok(())
        }

        fn ready(&self) -> Result<(), String> {
            Err("the cluster has not been read yet".to_owned())
        }

        fn metrics(&self) -> String {
            "up 1\n".to_owned()
        }
    }

    async fn ask(path: &str) -> String {
        let request = Request::get(path).body(Body::empty()).unwrap();
        let answer = probes(Arc::new(Waiting)).oneshot(request).await.unwrap();
        let status = answer.status().as_u16();
        let body = answer.into_body().collect().await.unwrap().to_bytes();
        format!("{status} {}", String::from_utf8_lossy(&body))
    }

    #[tokio::test]
    async fn alive_and_ready_are_two_questions() {
        assert_eq!(ask("/healthz").await, "200 ok\n");
        assert_eq!(ask("/readyz").await, "503 the cluster has not been read yet\n");
        assert_eq!(ask("/metrics").await, "200 up 1\n");
    }
}
