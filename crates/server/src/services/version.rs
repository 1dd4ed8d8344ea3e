//! What this is.

use lynceus_object::value;

use crate::call::{Answer, Answered, Call};

/// The version; to those who are nobody, nothing else.
pub(super) async fn answer(call: Call) -> Answered {
    let version = concat!("v", env!("CARGO_PKG_VERSION"), "+lynceus");
    if call.caller.name().is_empty() {
        return Ok(Answer::One(value!({"Version": version})));
    }
    Ok(Answer::One(value!({
        "Version": version,
        "Platform": format!("{}/{}", std::env::consts::OS, std::env::consts::ARCH),
        "HelmVersion": "v4.2.4",
        "KustomizeVersion": "v5.8.1",
        "JsonnetVersion": "v0.21.0",
    })))
}
