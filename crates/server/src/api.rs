//! The API server's routes. They are Argo CD's, so that its clients find what they know.

use std::sync::Arc;

use axum::Router;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use lynceus_object::{Value, json, value};

use crate::page::page;
use crate::probe::{Vitals, probes};

/// Everything that the server answers.
pub fn api(vitals: Arc<dyn Vitals>) -> Router {
    probes(vitals).route("/api/version", get(version)).merge(page())
}

/// What Argo CD tells somebody who has not logged in: the version and nothing else.
async fn version() -> Response {
    answer(StatusCode::OK, &value!({"Version": format!("v{}+lynceus", env!("CARGO_PKG_VERSION"))}))
}

fn answer(status: StatusCode, body: &Value) -> Response {
    (status, [(header::CONTENT_TYPE, "application/json")], json::to_vec(body)).into_response()
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::body::Body;
    use axum::http::Request;
    use http_body_util::BodyExt as _;
    use tower::ServiceExt as _;

    struct Well;

    impl Vitals for Well {
        fn alive(&self) -> Result<(), String> {
            Ok(())
        }

        fn ready(&self) -> Result<(), String> {
            Ok(())
        }

        fn metrics(&self) -> String {
            String::new()
        }
    }

    async fn ask(path: &str) -> (u16, String) {
        let request = Request::get(path).body(Body::empty()).unwrap();
        let answer = api(Arc::new(Well)).oneshot(request).await.unwrap();
        let status = answer.status().as_u16();
        let body = answer.into_body().collect().await.unwrap().to_bytes();
        (status, String::from_utf8_lossy(&body).into_owned())
    }

    #[tokio::test]
    async fn anybody_may_ask_for_the_version() {
        let (status, body) = ask("/api/version").await;
        assert_eq!((status, body.starts_with("{\"Version\":\"v")), (200, true), "{body}");
    }

    #[tokio::test]
    async fn a_path_that_is_not_served_is_named() {
        let (status, body) = ask("/api/v1/nothing").await;
        assert_eq!(status, 404);
        assert_eq!(
            body,
            "{\"code\":5,\"error\":\"/api/v1/nothing is not served here\",\
             \"message\":\"/api/v1/nothing is not served here\"}"
        );
    }
}
