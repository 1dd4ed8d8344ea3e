//! Simple JSON paths that name a field of a schema: `.spec.replicas`, `.labels['a.b']`.

use super::schema::{Additional, Schema};

/// Follows a path through a schema. Gives the path as field errors write it and the schema at its
/// end, or what is wrong with the path.
pub(crate) fn resolve<'a>(path: &str, schema: &'a Schema) -> Result<(String, &'a Schema), String> {
    let mut here = schema;
    let mut out = String::new();
    let mut rest = path;
    while !rest.is_empty() {
        let (name, after) = if let Some(quoted) = rest.strip_prefix("['") {
            let (name, after) = quoted.split_once("']").ok_or("unexpected end of JSON path")?;
            (name.replace("\\'", "'"), after)
        } else if let Some(plain) = rest.strip_prefix('.') {
            let end = plain.find(['.', '[']).unwrap_or(plain.len());
            if end == 0 {
                return Err("unexpected end of JSON path".into());
            }
            (plain[..end].to_owned(), &plain[end..])
        } else if rest.starts_with('[') {
            return Err(format!("expected single quoted string but got {}", rest.trim_start_matches('[')));
        } else {
            return Err(format!("expected [ or . but got: {rest}"));
        };
        rest = after;
        if !here.properties.is_empty() {
            here = here.properties.get(name.as_str()).ok_or("does not refer to a valid field")?;
            out.push('.');
            out.push_str(&name);
        } else if let Some(Additional::Schema(other)) = &here.additional {
            here = other;
            out.push_str(&format!("[{name}]"));
        } else {
            return Err("does not refer to a valid field".into());
        }
    }
    Ok((out, here))
}

#[cfg(test)]
mod tests {
    use lynceus_object::value;

    use super::*;

    #[test]
    fn paths_are_followed_through_properties_and_maps() {
        let schema = Schema::compile(&value!({"type": "object", "properties": {
            "spec": {"type": "object", "properties": {"n": {"type": "integer"}}},
            "labels": {"type": "object", "additionalProperties": {"type": "string"}}}}));
        let path = |text: &str| resolve(text, &schema).map(|(path, _)| path);
        assert_eq!(path(".spec.n").as_deref(), Ok(".spec.n"));
        assert_eq!(path(".labels['a.b']").as_deref(), Ok(".labels[a.b]"));
        assert_eq!(path(".spec.x").as_deref(), Err(&"does not refer to a valid field".to_owned()));
        assert_eq!(path("spec").as_deref(), Err(&"expected [ or . but got: spec".to_owned()));
    }
}
