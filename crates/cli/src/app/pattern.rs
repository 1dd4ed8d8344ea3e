//! Which resources of an application are meant: `GROUP:KIND:NAME`, parts left open with `*`, all others with `!`.

use std::str::FromStr;

use lynceus_api::{ResourceStatus, SyncOperationResource};

/// A resource, or several.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ResourcePattern {
    group: String,
    kind: String,
    namespace: String,
    name: String,
    /// All but these are meant.
    exclude: bool,
}

/// A text that is no pattern.
#[derive(Debug, thiserror::Error)]
#[error(
    "{0:?} should have the form GROUP:KIND:NAME or GROUP:KIND:NAMESPACE/NAME, with `!` before it for all others"
)]
pub(crate) struct NoPattern(String);

impl FromStr for ResourcePattern {
    type Err = NoPattern;

    fn from_str(text: &str) -> Result<Self, NoPattern> {
        let (exclude, rest) = match text.strip_prefix('!') {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        let parts: Vec<&str> = rest.split(':').collect();
        let [group, kind, name] = parts.as_slice() else { return Err(NoPattern(text.to_owned())) };
        if kind.is_empty() || name.is_empty() {
            return Err(NoPattern(text.to_owned()));
        }
        let (namespace, name) = name.split_once('/').unwrap_or(("", name));
        let [group, kind, namespace, name] = [*group, *kind, namespace, name].map(str::to_owned);
        Ok(ResourcePattern { group, kind, namespace, name, exclude })
    }
}

impl ResourcePattern {
    fn is_plain(&self) -> bool {
        !self.exclude && [&self.group, &self.kind, &self.name].iter().all(|part| *part != "*")
    }

    fn matches(&self, resource: &ResourceStatus) -> bool {
        let is = |pattern: &str, text: &str| pattern == "*" || pattern == text;
        is(&self.group, &resource.group)
            && is(&self.kind, &resource.kind)
            && is(&self.name, &resource.name)
            && (self.namespace.is_empty() || is(&self.namespace, &resource.namespace))
    }

    fn plain(&self) -> SyncOperationResource {
        SyncOperationResource {
            group: self.group.as_str().into(),
            kind: self.kind.as_str().into(),
            namespace: self.namespace.as_str().into(),
            name: self.name.as_str().into(),
            ..SyncOperationResource::default()
        }
    }
}

/// The resources that patterns mean, for the operation. A name is passed on as it is, because the resource may be new; a
/// pattern is held against what the application has.
pub(crate) fn meant(
    patterns: &[ResourcePattern],
    resources: &[ResourceStatus],
) -> Vec<SyncOperationResource> {
    if patterns.iter().all(ResourcePattern::is_plain) {
        return patterns.iter().map(ResourcePattern::plain).collect();
    }
    resources
        .iter()
        .filter(|resource| is_meant(patterns, resource))
        .map(|resource| SyncOperationResource {
            group: resource.group.clone(),
            kind: resource.kind.clone(),
            namespace: resource.namespace.clone(),
            name: resource.name.clone(),
            ..SyncOperationResource::default()
        })
        .collect()
}

/// Whether a resource is meant.
pub(crate) fn is_meant(patterns: &[ResourcePattern], resource: &ResourceStatus) -> bool {
    let mut include = patterns.iter().filter(|pattern| !pattern.exclude).peekable();
    let is_included = include.peek().is_none() || include.any(|pattern| pattern.matches(resource));
    is_included && !patterns.iter().any(|pattern| pattern.exclude && pattern.matches(resource))
}

/// Whether every resource that is named, and not only described by a pattern, is there.
pub(crate) fn are_there(patterns: &[ResourcePattern], resources: &[ResourceStatus]) -> bool {
    let mut named = patterns.iter().filter(|pattern| pattern.is_plain());
    named.all(|pattern| resources.iter().any(|resource| pattern.matches(resource)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn meant_of(patterns: &[&str]) -> Vec<String> {
        let patterns: Vec<ResourcePattern> = patterns.iter().map(|text| text.parse().unwrap()).collect();
        let resource = |group: &str, kind: &str, name: &str| ResourceStatus {
            group: group.into(),
            kind: kind.into(),
            namespace: "shop".into(),
            name: name.into(),
            ..ResourceStatus::default()
        };
        let resources = [
            resource("", "Service", "web"),
            resource("apps", "Deployment", "db"),
            resource("apps", "Deployment", "web"),
        ];
        meant(&patterns, &resources)
            .iter()
            .map(|one| format!("{}:{}:{}", one.group, one.kind, one.name))
            .collect()
    }

    #[test]
    fn a_name_is_passed_on_and_a_pattern_is_held_against_what_there_is() {
        assert_eq!(meant_of(&["apps:Deployment:new"]), ["apps:Deployment:new"]);
        assert_eq!(meant_of(&["apps:Deployment:*"]), ["apps:Deployment:db", "apps:Deployment:web"]);
        assert_eq!(meant_of(&["!apps:Deployment:db"]), [":Service:web", "apps:Deployment:web"]);
        assert_eq!(meant_of(&["*:*:web", "!:Service:*"]), ["apps:Deployment:web"]);
        assert_eq!(meant_of(&["!apps:*:shop/web"]), [":Service:web", "apps:Deployment:db"]);
    }

    #[test]
    fn what_has_another_form_is_refused() {
        for text in ["Deployment", "apps:Deployment", "apps::web", "a:b:c:d", "apps:Deployment:"] {
            assert!(text.parse::<ResourcePattern>().is_err(), "{text}");
        }
    }
}
