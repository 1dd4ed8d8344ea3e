//! Dashboards and folders of the Grafana operator tell what all of their conditions say, up to the first that fails.

use lynceus_object::Object;

use crate::Health;

pub(super) fn check(object: &Object) -> Health {
    let mut said = Vec::new();
    let mut healthy = false;
    for condition in object.value().items_at(&["status", "conditions"]) {
        let field = |name| condition.str_at(&[name]);
        let Some(status) = field("status") else { continue };
        let mut text = field("reason").unwrap_or_default().to_owned();
        if let (Some(_), Some(kind)) = (field("reason"), field("type")) {
            text = format!("{text} for {kind}");
            if let Some(message) = field("message") {
                text = format!("{text} because {message}");
            }
        }
        said.push(text);
        match status {
            "False" => return Health::degraded(joined(&said)),
            "True" => healthy = true,
            _ => {}
        }
    }
    if healthy { Health::healthy(joined(&said)) } else { Health::progressing(joined(&said)) }
}

/// A comma comes only after something.
fn joined(said: &[String]) -> String {
    said.iter().fold(String::new(), |all, text| match all.is_empty() {
        true => text.clone(),
        false => format!("{all}, {text}"),
    })
}
