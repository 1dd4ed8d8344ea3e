//! Links that annotations of an application or object name. Only addresses of the web are handed on: a browser runs others.

use lynceus_object::{Object, Value, value};

use super::resources::{Named, owned};
use crate::call::{Answer, Answered, Call};

/// How the annotations begin.
const PREFIX: &str = "link.argocd.argoproj.io/";

pub(super) fn of_application(call: &Call) -> Answered {
    let application = call.application_may("get", "name")?;
    Ok(Answer::One(value!({"items": links(&application)})))
}

pub(super) async fn of_resource(call: &Call) -> Answered {
    let (_, object) = owned(call, &Named::of(call)).await?;
    Ok(Answer::One(value!({"items": links(&object)})))
}

fn links(object: &Object) -> Value {
    let named = object.annotations().filter_map(|(key, text)| Some((key.strip_prefix(PREFIX)?, text)));
    named
        .filter(|(_, text)| is_safe(text))
        .map(|(title, url)| value!({"title": title, "url": address(url)}))
        .collect()
}

/// What stands behind a bar: `Grafana | https://…`.
fn address(text: &str) -> &str {
    text.rsplit_once('|').map_or(text, |(_, url)| url).trim()
}

fn is_safe(text: &str) -> bool {
    let url = address(text).to_ascii_lowercase();
    url.starts_with("https://") || url.starts_with("http://")
}

#[cfg(test)]
mod tests {
    use super::*;
    use lynceus_object::{Gvk, json};

    #[test]
    fn a_link_that_a_browser_would_run_is_left_out() {
        let mut object = Object::named(&Gvk::new("", "v1", "Pod"), "a", "b");
        object.set_annotation("link.argocd.argoproj.io/logs", "https://logs.example.com/x");
        object.set_annotation("link.argocd.argoproj.io/bad", "javascript:alert(1)");
        object.set_annotation("link.argocd.argoproj.io/worse", "Title|JavaScript:alert(1)//https://x");
        object.set_annotation("link.argocd.argoproj.io/tab", "java\tscript:alert(1)");
        object.set_annotation("other/link", "https://example.com");
        assert_eq!(
            json::to_string(&links(&object)),
            r#"[{"title":"logs","url":"https://logs.example.com/x"}]"#
        );
    }
}
