//! Microsoft Teams through its workflows: `service.teams-workflows`.

use lynceus_object::{Seq, Value, value};

use super::conversation::{Delivery, SendError, Single, is_success};
use super::job::{Job, set_text};
use super::request::Request;

const KIND: &str = "teams-workflows";

/// What is in the addresses of workflows.
const PLACES: [&str; 5] = [
    "api.powerautomate.com",
    "api.powerplatform.com",
    "flow.microsoft.com",
    "webhook.office.com/workflows",
    "/powerautomate/",
];

pub(super) fn deliver(job: &Job<'_>) -> Result<Box<dyn Delivery>, SendError> {
    let url = job.of_recipient("recipientUrls")?;
    check(&url)
        .map_err(|why| SendError::lasting(format!("the address of recipient {} {why}", job.to.recipient)))?;
    let content = match job.json(KIND, "adaptiveCard")? {
        Some(card) => card,
        None => card(job)?,
    };
    let body = value!({
        "type": "message",
        "attachments": [{"contentType": "application/vnd.microsoft.card.adaptive", "content": (content)}],
    });
    Ok(Single::boxed(Request::post(url, &body).insecure(job.insecure()), is_success))
}

fn check(url: &str) -> Result<(), &'static str> {
    let host = url.split_once("://").map_or("", |(_, rest)| rest);
    let is_here = host.starts_with("localhost") || host.starts_with("127.");
    match url.split_once("://") {
        Some(("https", _)) => {}
        Some(("http", _)) if is_here => {}
        _ => return Err("does not begin with https://"),
    }
    let lower = url.to_ascii_lowercase();
    if PLACES.iter().any(|place| lower.contains(place)) { Ok(()) } else { Err("is not that of a workflow") }
}

fn card(job: &Job<'_>) -> Result<Value, SendError> {
    let text = |name: &str| job.text(KIND, &[name]);
    let mut body = Seq::default();
    if !text("title").is_empty() {
        let mut title = value!({
            "type": "TextBlock", "text": (text("title")), "size": "Large", "weight": "Bolder", "wrap": true,
        });
        set_text(&mut title, &["color"], text("themeColor"));
        body.push(title);
    }
    let words = if text("text").is_empty() { job.notification.message.as_str() } else { text("text") };
    if !words.is_empty() {
        body.push(value!({"type": "TextBlock", "text": (words), "wrap": true}));
    }
    if let Some(facts) = job.json(KIND, "facts")? {
        body.extend(fact_set(facts.as_seq().unwrap_or_default()));
    }
    if let Some(sections) = job.json(KIND, "sections")? {
        for section in sections.as_seq().unwrap_or_default() {
            body.extend(fact_set(section.items_at(&["facts"])));
        }
    }
    let mut card = value!({"type": "AdaptiveCard", "version": "1.4"});
    card.set(&["body"], Value::from(body));
    if let Some(actions) = job.json(KIND, "potentialAction")? {
        let actions: Vec<Value> = actions.as_seq().unwrap_or_default().iter().filter_map(action).collect();
        if !actions.is_empty() {
            card.set(&["actions"], Value::from(actions));
        }
    }
    Ok(card)
}

fn fact_set(facts: &[Value]) -> Option<Value> {
    let fact = |fact: &Value| {
        let title = fact.str_at(&["name"])?;
        let value = fact.get("value").and_then(|value| crate::config::text(value).ok()).unwrap_or_default();
        Some(value!({"title": (title), "value": (value)}))
    };
    let facts: Vec<Value> = facts.iter().filter_map(fact).collect();
    (!facts.is_empty()).then(|| {
        let mut set = value!({"type": "FactSet"});
        set.set(&["facts"], Value::from(facts));
        set
    })
}

fn action(action: &Value) -> Option<Value> {
    let target = action.items_at(&["targets"]).first()?.str_at(&["uri"])?;
    if action.str_at(&["@type"]) != Some("OpenUri") || target.is_empty() {
        return None;
    }
    let mut open = value!({"type": "Action.OpenUrl", "url": (target)});
    set_text(&mut open, &["title"], action.str_at(&["name"]).unwrap_or_default());
    Some(open)
}
