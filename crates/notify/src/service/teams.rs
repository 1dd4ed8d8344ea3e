//! Microsoft Teams through its connectors: `service.teams`.

use lynceus_object::{Value, value};

use super::conversation::{Delivery, SendError, Single};
use super::job::{Job, set_text};
use super::request::{Answer, Request};

pub(super) fn deliver(job: &Job<'_>) -> Result<Box<dyn Delivery>, SendError> {
    let url = job.of_recipient("recipientUrls")?;
    let request = match job.text("teams", &["template"]) {
        "" => Request::post(url, &card(job)?),
        template => {
            let mut request = Request::new("POST", url).header("Content-Type", "application/json");
            request.body = template.as_bytes().to_vec();
            request
        }
    };
    Ok(Single::boxed(request.insecure(job.insecure()?), is_taken))
}

fn card(job: &Job<'_>) -> Result<Value, SendError> {
    let text = |name: &str| job.text("teams", &[name]);
    let mut card = value!({
        "@type": "MessageCard",
        "context": "https://schema.org/extensions",
        "title": (text("title")),
        "summary": (text("summary")),
        "text": (if text("text").is_empty() { job.notification.message.as_str() } else { text("text") }),
    });
    set_text(&mut card, &["themeColor"], text("themeColor"));
    let mut sections = job.json("teams", "sections")?.unwrap_or_default();
    if let Some(facts) = job.json("teams", "facts")? {
        sections.as_seq_or_insert().push(value!({"facts": (facts)}));
    }
    if !sections.is_empty() {
        card.set(&["sections"], sections);
    }
    if let Some(actions) = job.json("teams", "potentialAction")? {
        card.set(&["potentialAction"], actions);
    }
    Ok(card)
}

/// A connector answers `1`, and anything else with 200 as well.
fn is_taken(answer: &Answer) -> Result<(), SendError> {
    if answer.body.trim_ascii() == b"1" { Ok(()) } else { Err(answer.refusal()) }
}
