//! Sessions: opening one, ending it, and whose it is.

use lynceus_object::{Value, value};

use super::unknown;
use crate::call::{Answer, Answered, Call};
use crate::refusal::{Code, Refusal};

/// Has a question answered.
pub(super) async fn answer(method: &str, call: Call) -> Answered {
    match method {
        "Create" => create(&call).await,
        "Delete" => delete(&call).await,
        "GetUserInfo" => Ok(info(&call)),
        _ => Err(unknown(method)),
    }
}

async fn create(call: &Call) -> Answered {
    if !call.text("token").is_empty() {
        let message = "sessions are not made of tokens; send a name and a password";
        return Err(Refusal::new(Code::Unauthenticated, message));
    }
    let token = call.server.access.login(call.text("username"), call.text("password")).await?;
    Ok(Answer::One(value!({"token": token})))
}

/// Ends the session of whoever asks; to those who have none, there is nothing to say.
async fn delete(call: &Call) -> Answered {
    call.server.access.revoke(&call.caller).await?;
    Ok(Answer::One(value!({"token": ""})))
}

fn info(call: &Call) -> Answer {
    let Some(identity) = call.caller.identity() else {
        return Answer::One(value!({"loggedIn": false}));
    };
    let groups: Value = call.caller.groups().into_iter().map(Value::from).collect();
    Answer::One(value!({
        "loggedIn": true,
        "username": identity.name(),
        "iss": identity.issuer.as_str(),
        "groups": groups,
    }))
}
