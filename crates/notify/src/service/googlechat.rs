//! Google Chat: `service.googlechat`.

use lynceus_object::{Value, value, yaml};

use super::conversation::{Delivery, SendError, Single};
use super::job::{Job, maps};
use super::request::{Answer, Request, form};

pub(super) fn deliver(job: &mut Job<'_>) -> Result<Box<dyn Delivery>, SendError> {
    let mut url = job.of_recipient("webhooks")?;
    let thread = job.text("googlechat", &["threadKey"]);
    if !thread.is_empty() {
        let query = [("threadKey", thread), ("messageReplyOption", "REPLY_MESSAGE_FALLBACK_TO_NEW_THREAD")];
        url = format!("{url}{}{}", if url.contains('?') { '&' } else { '?' }, form(&query));
    }
    let (old, new) = (cards(job, "cards")?, cards(job, "cardsV2")?);
    let mut body = Value::default();
    if old.is_none() && new.is_none() {
        body.set(&["text"], job.notification.message.as_str());
    } else {
        body.set(&["text"], "");
    }
    if let Some(cards) = old {
        body.set(&["cards"], Value::from(cards));
    }
    if let Some(cards) = new {
        let with_id = |card: Value| value!({"cardId": (job.uuid()), "card": (card)});
        body.set(&["cardsV2"], Value::from(cards.into_iter().map(with_id).collect::<Vec<_>>()));
    }
    Ok(Single::boxed(Request::post(url, &body).insecure(job.insecure()?), is_taken))
}

/// Cards may be written as YAML.
fn cards(job: &Job<'_>, field: &str) -> Result<Option<Vec<Value>>, SendError> {
    let text = job.text("googlechat", &[field]);
    if text.trim().is_empty() {
        return Ok(None);
    }
    let wrong =
        |why: String| SendError::lasting(format!("what the template says under googlechat.{field} {why}"));
    let parsed = yaml::parse_str(text).map_err(|error| wrong(format!("is no YAML: {error}")))?;
    maps(&parsed).map(Some).map_err(wrong)
}

fn is_taken(answer: &Answer) -> Result<(), SendError> {
    let said = answer.json();
    match said.get("error") {
        Some(error) => {
            let why = error.str_at(&["message"]).unwrap_or("it does not say why");
            let status = error.str_at(&["status"]).unwrap_or_default();
            Err(SendError::new(format!("google chat did not take the message: {status} {why}")))
        }
        None if answer.is_success() && said.as_map().is_some() => Ok(()),
        None => Err(answer.refusal()),
    }
}
