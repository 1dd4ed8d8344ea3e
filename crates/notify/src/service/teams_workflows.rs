//! Microsoft Teams through its workflows: `service.teams-workflows`.

use lynceus_gotmpl::format;
use lynceus_object::{Seq, Value, value};

use super::conversation::{Delivery, SendError, Single, is_success};
use super::job::{Job, maps, set_text};
use super::request::Request;
use crate::names::to_template;

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
    let mut left_out = Vec::new();
    let content = match job.json(KIND, "adaptiveCard")? {
        Some(card) => card,
        None => card(job, &mut left_out)?,
    };
    let body = value!({
        "type": "message",
        "attachments": [{"contentType": "application/vnd.microsoft.card.adaptive", "content": (content)}],
    });
    Ok(Single::without(Request::post(url, &body).insecure(job.insecure()?), is_success, left_out))
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

/// The card of a message. What has no place in it is left out as in Argo CD, and said.
fn card(job: &Job<'_>, left_out: &mut Vec<String>) -> Result<Value, SendError> {
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
    let facts = job.json_maps(KIND, "facts")?;
    body.extend(fact_set("facts", &facts, left_out));
    for (at, section) in job.json_maps(KIND, "sections")?.iter().enumerate() {
        let place = format!("sections number {}", at + 1);
        match maps(section.get("facts").unwrap_or(&Value::Null)) {
            Ok(facts) => body.extend(fact_set(&format!("{place}: facts"), &facts, left_out)),
            Err(why) => left_out.push(format!("{KIND}.{place} is left out: its facts {why}")),
        }
    }
    let mut card = value!({"type": "AdaptiveCard", "version": "1.4"});
    card.set(&["body"], Value::from(body));
    let mut actions = Seq::default();
    for (at, given) in job.json_maps(KIND, "potentialAction")?.iter().enumerate() {
        match action(given) {
            Ok(action) => actions.push(action),
            Err(why) => left_out.push(format!("{KIND}.potentialAction number {} is left out: {why}", at + 1)),
        }
    }
    if !actions.is_empty() {
        card.set(&["actions"], Value::from(actions));
    }
    Ok(card)
}

fn fact_set(place: &str, facts: &[Value], left_out: &mut Vec<String>) -> Option<Value> {
    let mut kept = Seq::default();
    for (at, fact) in facts.iter().enumerate() {
        match fact.str_at(&["name"]) {
            Some(title) => kept.push(value!({"title": (title), "value": (shown(fact.get("value")))})),
            None => left_out.push(format!("{KIND}.{place} number {} is left out: it has no name", at + 1)),
        }
    }
    (!kept.is_empty()).then(|| {
        let mut set = value!({"type": "FactSet"});
        set.set(&["facts"], Value::from(kept));
        set
    })
}

/// What a fact says; lists and maps as Go writes them.
fn shown(value: Option<&Value>) -> String {
    match value {
        None | Some(Value::Null) => String::new(),
        Some(value) => match crate::config::text(value) {
            Ok(text) => text.to_string(),
            // The whole message has a limit of its own, and this is a part of it.
            Err(_) => {
                format::text(&to_template(value), usize::MAX).map(|text| text.to_string()).unwrap_or_default()
            }
        },
    }
}

fn action(action: &Value) -> Result<Value, String> {
    match action.str_at(&["@type"]) {
        Some("OpenUri") => {}
        Some(other) => return Err(format!("only actions of the @type OpenUri can be shown, not {other}")),
        None => return Err("it has no @type; actions are of the @type OpenUri".to_owned()),
    }
    let target = action.items_at(&["targets"]).first().and_then(|target| target.str_at(&["uri"]));
    let target = target.filter(|target| !target.is_empty()).ok_or("the first of its targets has no uri")?;
    let mut open = value!({"type": "Action.OpenUrl", "url": (target)});
    set_text(&mut open, &["title"], action.str_at(&["name"]).unwrap_or_default());
    Ok(open)
}
