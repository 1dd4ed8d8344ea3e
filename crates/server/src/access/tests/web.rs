//! gRPC-web as the real `argocd` speaks it: its proxy knows how a call ended from headers alone.

use axum::body::Body;
use axum::http::{Request, header};
use lynceus_object::{protobuf, value};

use super::Stage;
use crate::method::methods;

const GET: &str = "/application.ApplicationService/Get";

/// What the headers of an answer say of the end of a call.
async fn ended(stage: &Stage, token: &str, kind: &str) -> [Option<String>; 2] {
    let method = methods().by_call(GET).unwrap();
    let message = protobuf::encode_message(&value!({"name": "nope"}), method.input).unwrap();
    let mut body = vec![0];
    body.extend_from_slice(&u32::try_from(message.len()).unwrap().to_be_bytes());
    body.extend_from_slice(&message);
    if kind.contains("text") {
        use base64::Engine as _;
        body = base64::engine::general_purpose::STANDARD.encode(&body).into_bytes();
    }
    let request = Request::post(GET)
        .header(header::CONTENT_TYPE, kind)
        .header(header::AUTHORIZATION, format!("Bearer {token}"))
        .body(Body::from(body))
        .unwrap();
    let said = stage.send(request).await;
    assert_eq!(said.status, 200, "{kind}");
    ["grpc-status", "grpc-message"]
        .map(|name| said.headers.get(name).map(|text| text.to_str().unwrap().to_owned()))
}

#[tokio::test]
async fn what_is_refused_before_anything_is_answered_is_said_in_headers_too() {
    let stage = Stage::new("").await;
    let token = stage.session("admin", &stage.initial_password().await).await;
    let absent = ["7", "permission denied"].map(|text| Some(text.to_owned()));
    for kind in ["application/grpc-web+proto", "application/grpc-web-text"] {
        assert_eq!(ended(&stage, &token, kind).await, absent, "{kind}");
        assert_eq!(ended(&stage, "", kind).await[0].as_deref(), Some("16"), "{kind}");
    }
    // Over gRPC they would be an end before the end.
    assert_eq!(ended(&stage, &token, "application/grpc").await, [None, None]);
}
