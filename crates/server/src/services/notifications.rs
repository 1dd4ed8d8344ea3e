//! What notifications are made of, by name: `argocd-notifications-cm`.

use std::collections::BTreeSet;

use lynceus_object::{Value, value};

use super::{maps, unknown};
use crate::call::{Answered, Call};

/// Has a question answered.
pub(super) async fn answer(method: &str, call: Call) -> Answered {
    let prefix = match method {
        "ListTriggers" => "trigger.",
        "ListServices" => "service.",
        "ListTemplates" => "template.",
        _ => return Err(unknown(method)),
    };
    let map = maps::get(&call.server, "argocd-notifications-cm");
    let entries = maps::entries(&map);
    let names: BTreeSet<&str> = entries
        .iter()
        .filter_map(|(key, _)| key.strip_prefix(prefix))
        .filter_map(|rest| name(prefix, rest))
        .collect();
    let items: Vec<Value> = names.into_iter().map(|name| value!({"name": name})).collect();
    Ok(value!({"items": items}).into())
}

/// A service is named by its sort, or by a name of its own behind that.
fn name<'k>(prefix: &str, rest: &'k str) -> Option<&'k str> {
    let name = match (prefix, rest.split_once('.')) {
        ("service.", Some((_, own))) => own,
        _ => rest,
    };
    (!name.is_empty()).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stage::{ALL, Stage};

    #[tokio::test]
    async fn what_the_settings_name_is_listed() {
        let stage = Stage::new().await;
        stage
            .given(&value!({
                "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "argocd-notifications-cm"},
                "data": {
                    "service.slack": "token: $slack", "service.webhook.hook": "url: x", "trigger.on-deployed": "[]",
                    "template.app-deployed": "message: x", "context": "a: b",
                },
            }))
            .await;
        let names = |method: &'static str| {
            let stage = &stage;
            async move { stage.said(ALL, &format!("NotificationService.{method}"), value!({})).await }
        };
        assert_eq!(names("ListServices").await, r#"{"items":[{"name":"hook"},{"name":"slack"}]}"#);
        assert_eq!(names("ListTriggers").await, r#"{"items":[{"name":"on-deployed"}]}"#);
        assert_eq!(names("ListTemplates").await, r#"{"items":[{"name":"app-deployed"}]}"#);
    }
}
