//! Where a request comes from, as a browser says it: another page must not act with the cookie of this one.

use axum::http::{HeaderMap, Method, header};

use crate::cookie;
use crate::refusal::{Code, Refusal};

/// Refuses a change that a browser sends for another page. Those who send their token themselves are no browser that
/// somebody else made do it.
pub(crate) fn check(method: &Method, headers: &HeaderMap) -> Result<(), Refusal> {
    let only_reads = matches!(*method, Method::GET | Method::HEAD | Method::OPTIONS);
    let is_by_cookie = cookie::token(headers).is_some()
        && !headers.contains_key(header::AUTHORIZATION)
        && !headers.contains_key("token");
    if only_reads || !is_by_cookie || is_own(headers) {
        return Ok(());
    }
    Err(Refusal::new(Code::PermissionDenied, "the request comes from another page"))
}

fn is_own(headers: &HeaderMap) -> bool {
    let text = |name: &str| headers.get(name).map(|value| value.to_str().unwrap_or("unreadable"));
    match (text("sec-fetch-site"), text("origin")) {
        (Some("same-origin" | "none"), _) | (None, None) => true,
        (Some("cross-site"), _) | (Some(_), None) => false,
        (_, Some(origin)) => {
            let place = origin.split_once("://").map(|(_, place)| place);
            // The second is what a proxy says that the browser asked for; no page can make a browser send it.
            place.is_some() && [text("host"), text("x-forwarded-host")].contains(&place)
        }
    }
}
