//! Links that `project.links` of `argocd-cm` adds to projects.
//!
//! An address may name fields of the project: `https://wiki/{{.project.metadata.name}}`. A link that asks for more, by a
//! condition or by a function, is left out.

use lynceus_object::{Value, value, yaml};

use super::{find, shown};
use crate::call::{Answered, Call};

/// The links of a project.
pub(super) fn list(call: &Call) -> Answered {
    let project = shown(&find(call, call.text("name"))?)?;
    let links = yaml::parse_str(&call.server.setting("project.links")).unwrap_or_default();
    let items: Vec<Value> =
        links.as_seq().unwrap_or_default().iter().filter_map(|link| of(link, &project)).collect();
    Ok(value!({"items": items}).into())
}

fn of(link: &Value, project: &Value) -> Option<Value> {
    if link.get("if").is_some_and(|condition| !condition.is_null()) {
        return None;
    }
    let url = filled(link.str_at(&["url"])?, project)?;
    let lower = url.to_ascii_lowercase();
    // A browser would run other addresses.
    if !(lower.starts_with("https://") || lower.starts_with("http://")) {
        return None;
    }
    let mut shown = value!({"title": link.str_at(&["title"]).unwrap_or_default(), "url": url});
    for (field, name) in [("description", "description"), ("icon.class", "iconClass")] {
        if let Some(text) = link.str_at(&[field]) {
            shown.set(&[name], text);
        }
    }
    Some(shown)
}

/// A text with the fields that it names. What is put in is encoded, so that it stays a part of the address.
fn filled(template: &str, project: &Value) -> Option<String> {
    let mut out = String::new();
    let mut rest = template;
    while let Some((before, behind)) = rest.split_once("{{") {
        let (name, after) = behind.split_once("}}")?;
        let path: Vec<&str> = name.trim().strip_prefix(".project.")?.split('.').collect();
        out.push_str(before);
        for byte in project.str_at(&path)?.bytes() {
            match byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'~') {
                true => out.push(char::from(byte)),
                false => out.push_str(&format!("%{byte:02X}")),
            }
        }
        rest = after;
    }
    out.push_str(rest);
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use lynceus_object::json;

    #[test]
    fn a_link_names_fields_of_the_project_and_nothing_else() {
        let project = value!({"metadata": {"name": "shop"}, "spec": {"description": "a b/../c"}});
        let said =
            |url: &str| of(&value!({"title": "t", "url": url}), &project).map(|link| json::to_string(&link));
        assert_eq!(
            said("https://wiki/{{ .project.metadata.name }}/x").as_deref(),
            Some(r#"{"title":"t","url":"https://wiki/shop/x"}"#)
        );
        assert!(
            said("https://wiki/{{.project.spec.description}}")
                .is_some_and(|said| said.contains("a%20b%2F..%2Fc"))
        );
        for left_out in [
            "javascript:alert(1)",
            "https://{{.project.metadata.gone}}",
            "https://{{ upper .project.metadata.name }}",
            "https://{{.project.metadata.name",
        ] {
            assert_eq!(said(left_out), None, "{left_out}");
        }
        assert!(of(&value!({"title": "t", "url": "https://x", "if": "true"}), &project).is_none());
    }
}
