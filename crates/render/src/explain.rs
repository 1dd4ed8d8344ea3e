//! Why a field of a rendered object is as it is.

use std::fmt;
use std::str::FromStr;

use lynceus_files::{FilePath, Span};
use lynceus_helm::{Explanation, World};
use lynceus_object::{FieldPath, Map, Object, Segment, json, manifest, yaml};

use crate::job::{Job, Trees};
use crate::{RenderError, SourceType, detect, helm, kustomize, limits, overrides, render};

/// A field of an object: `deployment/web:spec.replicas`, `configmap/web:metadata.labels[app.kubernetes.io/name]`.
#[derive(Clone, Debug, PartialEq)]
pub struct Field {
    /// The kind, in any case, in the singular or the plural.
    pub kind: String,
    /// The object's name.
    pub name: String,
    /// The field.
    pub path: FieldPath,
}

/// What made a field.
#[derive(Clone, Debug, PartialEq)]
pub enum Reason {
    /// It stands in a file.
    File(Span),
    /// A template printed it.
    Template(Explanation),
    /// A kustomization set it.
    Kustomization(lynceus_kustomize::Explanation),
}

/// Why a text is not a field.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{0:?} is not a field; write it as deployment/web:spec.containers[name=main].image or \
     configmap/web:data[settings.yaml]"
)]
pub struct FieldError(String);

impl FromStr for Field {
    type Err = FieldError;

    fn from_str(text: &str) -> Result<Self, FieldError> {
        let wrong = || FieldError(text.to_owned());
        // Names of roles have colons in them, and keys in brackets may.
        let before_brackets = text.split_once('[').map_or(text, |(before, _)| before);
        let colon = before_brackets.rfind(':').ok_or_else(wrong)?;
        let (kind, name) = text[..colon].split_once('/').ok_or_else(wrong)?;
        let path = path(&text[colon + 1..]).ok_or_else(wrong)?;
        Ok(Field { kind: kind.to_owned(), name: name.to_owned(), path })
    }
}

/// A path as people write it: what stands in brackets is a position, the key of an item or the name of a field, and needs
/// no quotes; a dot in a name may stand after a backslash as well.
fn path(text: &str) -> Option<FieldPath> {
    let mut segments = Vec::new();
    let mut rest = text.strip_prefix('.').unwrap_or(text);
    while !rest.is_empty() {
        if let Some(inside) = rest.strip_prefix('[') {
            let (part, after) = in_brackets(inside)?;
            segments.push(part);
            rest = after;
            // What follows is a field after a dot, or another bracket.
            rest = match rest.strip_prefix('.') {
                Some("") => return None,
                Some(field) => field,
                None if rest.is_empty() || rest.starts_with('[') => rest,
                None => return None,
            };
            continue;
        }
        let end = rest.char_indices().find(|(at, sign)| match sign {
            '.' => !rest[..*at].ends_with('\\'),
            sign => *sign == '[',
        });
        let end = end.map_or(rest.len(), |(at, _)| at);
        let (name, after) = rest.split_at(end);
        if name.is_empty() || after == "." {
            return None;
        }
        segments.push(Segment::Field(name.replace("\\.", ".").into()));
        rest = after.strip_prefix('.').unwrap_or(after);
    }
    Some(segments.into_iter().collect())
}

fn in_brackets(inside: &str) -> Option<(Segment, &str)> {
    for quote in ['"', '\''] {
        if let Some(quoted) = inside.strip_prefix(quote) {
            let (name, after) = quoted.split_once(&format!("{quote}]"))?;
            return Some((Segment::Field(name.into()), after));
        }
    }
    let (part, after) = inside.split_once(']')?;
    if let Ok(index) = part.parse() {
        return Some((Segment::Index(index), after));
    }
    let Some((name, value)) = part.split_once('=') else {
        return (!part.is_empty()).then(|| (Segment::Field(part.into()), after));
    };
    let value = json::parse(value.as_bytes()).unwrap_or_else(|_| value.into());
    Some((Segment::Key(Map::from_iter([(name, value)])), after))
}

impl fmt::Display for Field {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}:{}", self.kind, self.name, self.path)
    }
}

impl Field {
    pub(crate) fn is_of(&self, object: &Object) -> bool {
        self.is_named(object.kind(), object.name())
    }

    /// Whether it is a field of the object of this kind and name.
    pub(crate) fn is_named(&self, kind: &str, name: &str) -> bool {
        let (kind, wanted) = (kind.to_lowercase(), self.kind.to_lowercase());
        let plural = [format!("{kind}s"), format!("{kind}es")].contains(&wanted);
        let is_generated = matches!(kind.as_str(), "configmap" | "secret") && self.is_before_hash(name);
        (kind == wanted || plural) && (name == self.name || is_generated)
    }

    /// Whether a name is ours with a hash behind it, which nobody types.
    fn is_before_hash(&self, name: &str) -> bool {
        let hash = name.strip_prefix(self.name.as_str()).and_then(|rest| rest.strip_prefix('-'));
        hash.is_some_and(|hash| hash.len() == 10 && hash.bytes().all(|byte| byte.is_ascii_alphanumeric()))
    }
}

/// Explains a field of what a source becomes; none if it makes no such field.
pub fn explain(job: &Job<'_>, field: &Field, world: &mut dyn World) -> Result<Option<Reason>, RenderError> {
    let trees = Trees::new(job);
    let path = FilePath::new(&job.source.path)?;
    let source = overrides::merge(trees.own(), &path, job.source, &job.setting.application)?;
    let job = Job { source: &source, ..*job };
    let source_type = detect(trees.own(), &path, &job)?.source_type;
    match source_type {
        SourceType::Helm => {
            return Ok(helm::explain(&trees, &path, &job, field, world)?.map(Reason::Template));
        }
        SourceType::Kustomize => {
            return Ok(kustomize::explain(&trees, &path, &job, field, world)?.map(Reason::Kustomization));
        }
        SourceType::Directory | SourceType::Plugin => {}
    }
    let rendered = render(&job, world)?;
    let Some(made) = rendered.manifests.iter().find(|made| field.is_of(&made.object)) else {
        return Ok(None);
    };
    let file = &made.span.file;
    // Neither a program nor a plugin has a line that is the field.
    if source_type == SourceType::Plugin || file.name().ends_with(".jsonnet") {
        return Ok(Some(Reason::File(made.span.clone())));
    }
    let content = trees.own().read(file, limits::FILE_BYTES)?;
    let documents = manifest::read(file, &content, &yaml::Options::default());
    let placed = documents.objects.iter().find(|placed| placed.document == made.document);
    Ok(placed.map(|placed| Reason::File(placed.locate(file, &content, &field.path))))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> String {
        match text.parse::<Field>() {
            Ok(field) => format!("{} {} {:?}", field.kind, field.name, field.path.segments()),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn names_and_keys_may_have_any_signs() {
        for (text, wanted) in [
            ("deployment/web:spec.replicas", r#"deployment web [Field("spec"), Field("replicas")]"#),
            ("clusterrole/system:foo:rules[0]", r#"clusterrole system:foo [Field("rules"), Index(0)]"#),
            (r"configmap/x:data.f\.txt", r#"configmap x [Field("data"), Field("f.txt")]"#),
            ("configmap/x:data[\"a]b\"]", r#"configmap x [Field("data"), Field("a]b")]"#),
            ("configmap/x:data['f.txt']", r#"configmap x [Field("data"), Field("f.txt")]"#),
            (
                "pod/x:metadata.labels[app.kubernetes.io/name]",
                r#"pod x [Field("metadata"), Field("labels"), Field("app.kubernetes.io/name")]"#,
            ),
            (
                "pod/x:metadata.annotations[a:b]",
                r#"pod x [Field("metadata"), Field("annotations"), Field("a:b")]"#,
            ),
        ] {
            assert_eq!(read(text), wanted, "{text}");
        }
        let by_key = |text: &str| text.parse::<Field>().unwrap_or_else(|error| panic!("{error}")).path;
        assert_eq!(by_key("pod/x:spec[name=c1].image"), by_key("pod/x:spec[name=\"c1\"].image"));
        assert_eq!(by_key("pod/x:spec[port=80]").to_string(), "spec[port=80]");
        for broken in ["web:spec", "pod/x", "pod/x:a..b", "pod/x:a.", "pod/x:a[", "pod/x:a[0]b", "pod/x:a[]"]
        {
            assert!(read(broken).contains("is not a field"), "{broken}");
        }
    }

    #[test]
    fn generated_objects_are_found_without_their_hash() {
        let field: Field = "configmap/settings:data.mode".parse().unwrap_or_else(|error| panic!("{error}"));
        assert!(field.is_named("ConfigMap", "settings-4bk7f9d2hm"));
        assert!(!field.is_named("ConfigMap", "settings-other"));
        assert!(!field.is_named("Deployment", "settings-4bk7f9d2hm"));
    }
}
