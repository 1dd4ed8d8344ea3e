//! How an app of GitHub shows who it is.

use jiff::Timestamp;
use lynceus_object::value;

use super::jwt;

/// How long the token holds, and how much clocks may differ, in seconds.
const HOLDS: i64 = 540;
const SKEW: i64 = 60;

/// The token of an app, signed with its key.
pub(super) fn app_token(app: &str, key: &str, now: Timestamp) -> Result<String, String> {
    let second = now.as_second();
    let claims = value!({"iat": (second - SKEW), "exp": (second + HOLDS), "iss": (app)});
    jwt::sign(&claims, key, "the option privateKey")
}
