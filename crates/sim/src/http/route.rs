//! What a path means.

use http::Method;
use lynceus_object::Str;

use super::path_attributes;
use super::query::{Query, decode_segment};
use crate::attributes::Attributes;

/// A path: a resource, or something else.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Route {
    Resource(ResourcePath),
    Path(String),
}

/// The parts of a resource's path; parts that are not there are empty.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ResourcePath {
    group: Str,
    version: Str,
    namespace: Str,
    resource: Str,
    name: Str,
    subresource: Str,
    /// Whether this is the older `/watch/` form of a path.
    watch: bool,
}

impl Route {
    pub(super) fn parse(path: &str) -> Self {
        match ResourcePath::parse(path) {
            Some(resource) => Route::Resource(resource),
            None => Route::Path(path.to_owned()),
        }
    }

    /// What the authorizer is asked.
    pub(super) fn attributes(&self, method: &Method, query: &Query) -> Attributes {
        match self {
            Route::Path(path) => path_attributes(method, path),
            Route::Resource(path) => path.attributes(method, query),
        }
    }
}

impl ResourcePath {
    fn parse(path: &str) -> Option<Self> {
        let mut parts: Vec<String> = path.trim_matches('/').split('/').map(decode_segment).collect();
        let mut found = ResourcePath::default();
        let skip = match parts.first()?.as_str() {
            "api" => 1,
            "apis" => {
                found.group = parts.get(1)?.as_str().into();
                2
            }
            _ => return None,
        };
        found.version = parts.get(skip)?.as_str().into();
        parts.drain(..=skip);
        if parts.first()? == "watch" && parts.len() > 1 {
            found.watch = true;
            parts.remove(0);
        }
        if parts.first()? == "namespaces" && parts.len() > 1 {
            found.namespace = parts.get(1)?.as_str().into();
            let own = parts.get(2).is_none_or(|next| matches!(next.as_str(), "status" | "finalize"));
            if !own {
                parts.drain(..2);
            }
        }
        let part = |at: usize| parts.get(at).map(|part| Str::from(part.as_str())).unwrap_or_default();
        found.resource = part(0);
        found.name = part(1);
        found.subresource = part(2);
        Some(found)
    }

    fn attributes(&self, method: &Method, query: &Query) -> Attributes {
        let watching = self.watch || query.flag("watch") == Some(true);
        let collection = self.name.is_empty();
        let verb = match *method {
            Method::POST => "create",
            Method::GET | Method::HEAD if watching && (collection || self.subresource.is_empty()) => "watch",
            Method::GET | Method::HEAD if collection => "list",
            Method::GET | Method::HEAD => "get",
            Method::PUT => "update",
            Method::PATCH => "patch",
            Method::DELETE if collection => "deletecollection",
            Method::DELETE => "delete",
            _ => "",
        };
        Attributes {
            verb: verb.into(),
            group: self.group.clone(),
            version: self.version.clone(),
            resource: self.resource.clone(),
            subresource: self.subresource.clone(),
            namespace: self.namespace.clone(),
            name: self.name.clone(),
            path: Str::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(method: &str, path: &str, query: &str) -> String {
        let method: Method = method.parse().unwrap();
        let found = Route::parse(path).attributes(&method, &Query::parse(query));
        if !found.is_resource() {
            return format!("{} {}", found.verb, found.path);
        }
        format!(
            "{} {}/{} ns={} {} {} {}",
            found.verb,
            found.group,
            found.version,
            found.namespace,
            found.resource,
            found.name,
            found.subresource
        )
        .trim_end()
        .to_owned()
    }

    #[test]
    fn paths_are_taken_apart() {
        for (method, path, query, expected) in [
            ("GET", "/api/v1/pods", "", "list /v1 ns= pods"),
            ("GET", "/api/v1/pods", "watch=1", "watch /v1 ns= pods"),
            ("GET", "/api/v1/namespaces/a/pods/b", "", "get /v1 ns=a pods b"),
            ("GET", "/api/v1/namespaces/a/pods/b/log", "", "get /v1 ns=a pods b log"),
            ("GET", "/api/v1/namespaces/a", "", "get /v1 ns=a namespaces a"),
            ("PUT", "/api/v1/namespaces/a/finalize", "", "update /v1 ns=a namespaces a finalize"),
            (
                "DELETE",
                "/apis/apps/v1/namespaces/a/deployments",
                "",
                "deletecollection apps/v1 ns=a deployments",
            ),
            ("GET", "/api/v1/watch/namespaces/a/pods", "", "watch /v1 ns=a pods"),
            ("GET", "/apis/apps/v1", "", "get /apis/apps/v1"),
            ("GET", "/healthz", "", "get /healthz"),
            ("GET", "/", "", "get /"),
        ] {
            assert_eq!(read(method, path, query), expected, "{method} {path}?{query}");
        }
    }
}
