//! Which resources are meant: by regular expressions for what they are called, and by their labels and annotations.

use std::fmt;

use lynceus_object::{Map, Str, Value};
use regex::Regex;

use crate::error::KustomizeError;
use crate::id::{Id, Kind};
use crate::resource::Resource;
use crate::scalar::text_of;
use crate::schema::Schema;

/// A selector as a kustomization has it. What is empty selects everything.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Selector {
    /// The kind, each part a regular expression.
    pub(crate) kind: Kind,
    /// The name, a regular expression.
    pub(crate) name: Str,
    /// The namespace, a regular expression.
    pub(crate) namespace: Str,
    /// A selector of labels.
    pub(crate) labels: Str,
    /// A selector of annotations.
    pub(crate) annotations: Str,
}

impl Selector {
    /// Whether nothing is said about what the resource is called.
    pub(crate) fn names_nothing(&self) -> bool {
        self.kind == Kind::default() && self.name.is_empty() && self.namespace.is_empty()
    }
}

/// As Kustomize prints it in messages.
impl fmt::Display for Selector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let id = Id {
            kind: self.kind.clone(),
            name: self.name.clone(),
            namespace: self.namespace.clone(),
            cluster_scoped: false,
        };
        write!(f, "{id}:a={}:l={}", self.annotations, self.labels)
    }
}

/// A selector whose expressions have been read.
#[derive(Debug)]
pub(crate) struct Matcher {
    group: Pattern,
    version: Pattern,
    kind: Pattern,
    name: Pattern,
    namespace: Pattern,
    labels: lynceus_object::Selector,
    annotations: lynceus_object::Selector,
}

impl Matcher {
    pub(crate) fn new(selector: &Selector) -> Result<Self, KustomizeError> {
        let parse = |text: &str| {
            lynceus_object::Selector::parse(text).map_err(|error| KustomizeError::new(error.to_string()))
        };
        Ok(Matcher {
            group: Pattern::new(&selector.kind.group)?,
            version: Pattern::new(&selector.kind.version)?,
            kind: Pattern::new(&selector.kind.kind)?,
            name: Pattern::new(&selector.name)?,
            namespace: Pattern::new(&selector.namespace)?,
            labels: parse(&selector.labels)?,
            annotations: parse(&selector.annotations)?,
        })
    }

    /// Whether a patch with this target is for a resource: by what it is called now or was called first.
    pub(crate) fn targets(&self, resource: &Resource, schema: &Schema) -> bool {
        // Most resources are of another kind, so that this is asked first.
        let kind = resource.kind();
        if !self.matches_kind(&kind) {
            return false;
        }
        let first = resource.former.first();
        if !self.name.is_match(resource.name())
            && !first.is_some_and(|former| self.name.is_match(&former.name))
        {
            return false;
        }
        if !self.namespace.is_everything() {
            let id = resource.id(schema.is_cluster_scoped(&kind));
            let namespace = if id.cluster_scoped { id.effective_namespace() } else { own_namespace(&id) };
            if !self.namespace.is_match(namespace)
                && !first.is_some_and(|former| self.namespace.is_match(effective(&former.namespace)))
            {
                return false;
            }
        }
        self.matches_labels(resource)
    }

    /// Whether something that is called this is meant; the namespace counts as it stands there.
    pub(crate) fn matches_id(&self, id: &Id) -> bool {
        self.matches_kind(&id.kind) && self.name.is_match(&id.name) && self.namespace.is_match(&id.namespace)
    }

    /// Whether the labels and annotations of a resource are the ones meant.
    pub(crate) fn matches_labels(&self, resource: &Resource) -> bool {
        let fits = |selector: &lynceus_object::Selector, field: &str| {
            if selector.is_everything() {
                return true;
            }
            match resource.value.at(&["metadata", field]) {
                Some(Value::Map(map)) if map.values().any(|value| value.as_str().is_none()) => {
                    let texts: Map = map.iter().map(|(key, value)| (key.clone(), text_of(value))).collect();
                    selector.matches_labels(Some(&Value::Map(texts)))
                }
                labels => selector.matches_labels(labels),
            }
        };
        fits(&self.labels, "labels") && fits(&self.annotations, "annotations")
    }

    fn matches_kind(&self, kind: &Kind) -> bool {
        self.kind.is_match(&kind.kind)
            && self.group.is_match(&kind.group)
            && self.version.is_match(&kind.version)
    }
}

fn own_namespace(id: &Id) -> &str {
    effective(&id.namespace)
}

fn effective(namespace: &str) -> &str {
    if namespace.is_empty() { "default" } else { namespace }
}

/// A regular expression for a whole text. Most are plain words, which need none.
#[derive(Debug)]
enum Pattern {
    Everything,
    Word(Str),
    Expression(Regex),
}

impl Pattern {
    fn new(text: &str) -> Result<Self, KustomizeError> {
        if text.is_empty() {
            return Ok(Pattern::Everything);
        }
        if text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'/' | b':'))
        {
            return Ok(Pattern::Word(text.into()));
        }
        expression(&format!("^(?:{text})$")).map(Pattern::Expression)
    }

    fn is_everything(&self) -> bool {
        matches!(self, Pattern::Everything)
    }

    fn is_match(&self, text: &str) -> bool {
        match self {
            Pattern::Everything => true,
            Pattern::Word(word) => word == text,
            Pattern::Expression(expression) => expression.is_match(text),
        }
    }
}

/// Reads a regular expression. Go's syntax is nearly the same.
pub(crate) fn expression(text: &str) -> Result<Regex, KustomizeError> {
    Regex::new(text).map_err(|error| {
        let why = error.to_string();
        let why = why.lines().last().unwrap_or_default().trim_start_matches("error: ");
        KustomizeError::new(format!("error parsing regexp: {why}: `{text}`"))
            .hint("the fields of a selector are regular expressions")
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{Decode, Mode};
    use crate::resource::Former;
    use crate::transformers;
    use lynceus_object::value;

    fn resource() -> Resource {
        let mut resource = Resource::new(value!({
            "apiVersion": "apps/v1", "kind": "Deployment",
            "metadata": {"name": "pre-web", "namespace": "shop", "labels": {"app": "web", "n": 5}},
        }));
        resource.former =
            vec![Former { kind: "Deployment".into(), name: "web".into(), namespace: "default".into() }];
        resource
    }

    fn read(value: &Value) -> Selector {
        transformers::selector(&Decode::decode(value, Mode::Strict).unwrap())
    }

    fn check(selector: Value, expected: bool) {
        let matcher = Matcher::new(&read(&selector)).unwrap();
        assert_eq!(matcher.targets(&resource(), &Schema::new()), expected, "{selector:?}");
    }

    #[test]
    fn expressions_are_for_the_whole_text() {
        check(value!({"kind": "Deploy"}), false);
        check(value!({"kind": "Deploy.*"}), true);
        check(value!({"kind": "Deployment|StatefulSet", "group": "apps", "version": "v1"}), true);
        check(value!({"name": "we"}), false);
    }

    #[test]
    fn the_first_and_the_current_name_and_namespace_count() {
        check(value!({"name": "web"}), true);
        check(value!({"name": "pre-web"}), true);
        check(value!({"namespace": "shop"}), true);
        check(value!({"namespace": "default"}), true);
        check(value!({"namespace": "other"}), false);
    }

    #[test]
    fn labels_are_compared_as_texts() {
        check(value!({"labelSelector": "app=web,n=5"}), true);
        check(value!({"labelSelector": "app!=web"}), false);
        check(value!({"annotationSelector": "app"}), false);
    }

    #[test]
    fn what_is_no_expression_is_an_error() {
        let selector = read(&value!({"name": "a("}));
        let error = Matcher::new(&selector).unwrap_err();
        assert!(error.message.starts_with("error parsing regexp: "), "{}", error.message);
    }
}
