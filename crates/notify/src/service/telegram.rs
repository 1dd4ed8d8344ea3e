//! Telegram: `service.telegram`. The address of a bot server of one's own is the option `apiURL`.

use lynceus_object::value;

use super::conversation::{Delivery, SendError, Single};
use super::job::Job;
use super::request::{Answer, Request};

pub(super) fn deliver(job: &Job<'_>) -> Result<Box<dyn Delivery>, SendError> {
    let recipient = job.to.recipient.as_str();
    let wrong = || {
        SendError::lasting(format!("{recipient:?} is no chat: -CHAT, -CHAT|THREAD or the name of a channel"))
    };
    let mut body = value!({"text": (job.notification.message.as_str()), "parse_mode": "Markdown"});
    if recipient.starts_with('-') {
        let (chat, thread) =
            recipient.split_once('|').map_or((recipient, None), |(chat, thread)| (chat, Some(thread)));
        body.set(&["chat_id"], chat.parse::<i64>().map_err(|_| wrong())?);
        if let Some(thread) = thread {
            body.set(&["message_thread_id"], thread.parse::<i64>().map_err(|_| wrong())?);
        }
    } else {
        body.set(&["chat_id"], format!("@{recipient}"));
    }
    let api = job.address("apiURL", "https://api.telegram.org")?;
    let request = Request::post(format!("{api}/bot{}/sendMessage", job.required("token")?), &body);
    Ok(Single::boxed(request, is_taken))
}

fn is_taken(answer: &Answer) -> Result<(), SendError> {
    let said = answer.json();
    match (said.bool_at(&["ok"]), said.str_at(&["description"])) {
        (Some(true), _) => Ok(()),
        (_, Some(why)) => Err(SendError::new(format!("telegram did not take the message: {why}"))),
        _ => Err(answer.refusal()),
    }
}
