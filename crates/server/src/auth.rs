//! `/auth/login`, `/auth/callback` and `/auth/logout`: a browser on its way to an issuer and back.

use std::sync::Arc;

use axum::Router;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, StatusCode, Uri, header};
use axum::response::{IntoResponse as _, Response};
use axum::routing::get;

use crate::cookie;
use crate::refusal::{Code, Refusal};
use crate::request::pairs;
use crate::rights::Right;
use crate::server::Server;

/// The cookie that a browser carries on its way.
const CARRIED: &str = "argocd.oauthstate";

/// The three addresses.
pub(crate) fn auth(server: Arc<Server>) -> Router {
    Router::new()
        .route("/auth/login", get(login))
        .route("/auth/callback", get(callback))
        .route("/auth/logout", get(logout))
        .with_state(server)
}

async fn login(State(server): State<Arc<Server>>, headers: HeaderMap, uri: Uri) -> Response {
    match server.access.depart(host(&headers), &parameter(&uri, "return_url")).await {
        Ok(visit) => {
            let carried =
                format!("{CARRIED}={}; Path=/auth; SameSite=Lax; HttpOnly; Max-Age=600", visit.token);
            sent(&visit.place, &[carried])
        }
        Err(refusal) => refused(&refusal),
    }
}

async fn callback(State(server): State<Arc<Server>>, headers: HeaderMap, uri: Uri) -> Response {
    let gone = format!("{CARRIED}=; Path=/auth; SameSite=Lax; HttpOnly; Max-Age=0");
    if !parameter(&uri, "error").is_empty() {
        // What the issuer says is not repeated: anybody can make up such an address.
        return refused(&Refusal::new(Code::Unauthenticated, "the issuer did not let you in"));
    }
    let carried = cookie::named(&headers, CARRIED).unwrap_or_default();
    let (code, state) = (parameter(&uri, "code"), parameter(&uri, "state"));
    match server.access.arrive(host(&headers), &code, &state, &carried).await {
        Ok(visit) => {
            let mut cookies = cookie::cookies(&visit.token);
            cookies.push(gone);
            cookies.extend(cookie::carrying(&visit.carried));
            sent(&visit.place, &cookies)
        }
        Err(refusal) => refused(&refusal),
    }
}

async fn logout(State(server): State<Arc<Server>>, headers: HeaderMap) -> Response {
    let token = cookie::token(&headers).unwrap_or_default();
    if let Ok(caller) = server.access.caller(&headers, &Right::Open).await
        && let Err(refusal) = server.access.revoke(&caller).await
    {
        return refused(&refusal);
    }
    match server.access.farewell(host(&headers), &token).await {
        Ok(place) => sent(&place, &[cookie::cookies(""), cookie::carrying("")].concat()),
        Err(refusal) => refused(&refusal),
    }
}

fn host(headers: &HeaderMap) -> &str {
    headers.get(header::HOST).and_then(|host| host.to_str().ok()).unwrap_or_default()
}

fn parameter(uri: &Uri, name: &str) -> String {
    let found = pairs(uri.query().unwrap_or_default()).into_iter().find(|(own, _)| own == name);
    found.map(|(_, value)| value).unwrap_or_default()
}

fn sent(place: &str, cookies: &[String]) -> Response {
    let Ok(place) = HeaderValue::from_str(place) else {
        return refused(&Refusal::invalid("the address cannot be gone to"));
    };
    let mut response = StatusCode::SEE_OTHER.into_response();
    response.headers_mut().insert(header::LOCATION, place);
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    for cookie in cookies.iter().filter_map(|cookie| HeaderValue::from_str(cookie).ok()) {
        response.headers_mut().append(header::SET_COOKIE, cookie);
    }
    response
}

fn refused(refusal: &Refusal) -> Response {
    (refusal.code.status(), [(header::CONTENT_TYPE, "text/plain; charset=utf-8")], format!("{refusal}\n"))
        .into_response()
}
