//! The cookie that a browser keeps its session in, under Argo CD's name.

use axum::http::{HeaderMap, HeaderValue, header};
use lynceus_object::Value;

use crate::method::Method;

/// The cookie's name. A token that is too long for one cookie is spread over several, with a number behind the name.
pub(crate) const NAME: &str = "argocd.token";

/// The cookie of what a browser carries beside its session, sealed: with what its issuer can be asked for its groups.
const CARRIED: &str = "lynceus.carried";

/// How much browsers take in one cookie.
const PIECE: usize = 3_900;

/// Hands out the session that a login made, or takes it back.
pub(crate) fn of_session(method: &Method, answer: &Value, headers: &mut HeaderMap) {
    if method.service != "session.SessionService" || !matches!(method.name, "Create" | "Delete") {
        return;
    }
    let token = answer.str_at(&["token"]).unwrap_or_default();
    for cookie in cookies(token) {
        if let Ok(value) = HeaderValue::from_str(&cookie) {
            headers.append(header::SET_COOKIE, value);
        }
    }
}

/// Has cookies sent over TLS only.
pub(crate) fn secure(headers: &mut HeaderMap) {
    let cookies: Vec<HeaderValue> = headers.get_all(header::SET_COOKIE).iter().cloned().collect();
    headers.remove(header::SET_COOKIE);
    for cookie in cookies {
        let text = cookie.to_str().unwrap_or_default();
        if let Ok(value) = HeaderValue::from_str(&format!("{text}; Secure")) {
            headers.append(header::SET_COOKIE, value);
        }
    }
}

/// The cookies of a token.
pub(crate) fn cookies(token: &str) -> Vec<String> {
    spread(NAME, token)
}

/// The cookies of what is carried beside a session; nothing takes them away.
pub(crate) fn carrying(sealed: &str) -> Vec<String> {
    spread(CARRIED, sealed)
}

/// A text over as many cookies as it needs.
fn spread(name: &str, token: &str) -> Vec<String> {
    let flags = "Path=/; SameSite=Lax; HttpOnly";
    if token.is_empty() {
        return vec![format!("{name}=; {flags}; Max-Age=0")];
    }
    let pieces: Vec<&[u8]> = token.as_bytes().chunks(PIECE).collect();
    let count = pieces.len();
    pieces
        .into_iter()
        .enumerate()
        .map(|(at, piece)| {
            let piece = String::from_utf8_lossy(piece);
            match (at, count) {
                (0, 1) => format!("{name}={piece}; {flags}"),
                // The first one says how many there are.
                (0, count) => format!("{name}={count}:{piece}; {flags}"),
                (at, _) => format!("{name}-{at}={piece}; {flags}"),
            }
        })
        .collect()
}

/// A cookie by its name.
pub(crate) fn named(headers: &HeaderMap, name: &str) -> Option<String> {
    let all = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
    let mut pairs = all.flat_map(|line| line.split(';')).filter_map(|pair| pair.trim().split_once('='));
    pairs.find(|(found, _)| *found == name).map(|(_, value)| value.to_owned())
}

/// The session that a browser sends.
pub(crate) fn token(headers: &HeaderMap) -> Option<String> {
    gathered(headers, NAME)
}

/// What a browser carries beside its session.
pub(crate) fn carried(headers: &HeaderMap) -> Option<String> {
    gathered(headers, CARRIED)
}

/// A text that was spread over cookies, put together again.
fn gathered(headers: &HeaderMap, name: &str) -> Option<String> {
    let all = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
    let pairs: Vec<(&str, &str)> =
        all.flat_map(|line| line.split(';')).filter_map(|pair| pair.trim().split_once('=')).collect();
    let find = |name: &str| pairs.iter().find(|(found, _)| *found == name).map(|(_, value)| *value);
    let first = find(name).filter(|token| !token.is_empty())?;
    let Some((count, rest)) = first.split_once(':') else { return Some(first.to_owned()) };
    let count: usize = count.parse().ok().filter(|count| *count <= 16)?;
    let mut token = rest.to_owned();
    for at in 1..count {
        token.push_str(find(&format!("{name}-{at}"))?);
    }
    Some(token)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_token_survives_in_pieces() {
        for token in ["short".to_owned(), "x".repeat(9_000)] {
            let mut headers = HeaderMap::new();
            let sent: Vec<String> = cookies(&token)
                .iter()
                .filter_map(|cookie| Some(cookie.split(';').next()?.to_owned()))
                .collect();
            headers.insert(header::COOKIE, HeaderValue::from_str(&sent.join("; ")).unwrap());
            assert_eq!(super::token(&headers), Some(token));
        }
    }

    #[test]
    fn nonsense_is_no_token() {
        for cookie in ["", "argocd.token=", "argocd.token=99:x", "argocd.token=2:x", "other=a"] {
            let mut headers = HeaderMap::new();
            headers.insert(header::COOKIE, HeaderValue::from_static(cookie));
            assert_eq!(super::token(&headers), None, "{cookie}");
        }
    }
}
