//! A request as people speak of it: `create configmaps default/a`.

use std::fmt;

use http::{Method, Uri};
use lynceus_object::{Value, json};

/// A request on its way.
#[derive(Clone, Debug)]
pub struct Call {
    /// `get`, `create`, `update`, `patch`, `apply` or `delete`.
    pub verb: &'static str,
    /// The plural name with the group, as kubectl says it: `deployments.apps`.
    pub resource: String,
    /// The namespace, or empty.
    pub namespace: String,
    /// The object's name, or empty for a collection.
    pub name: String,
    /// What of the object is meant, such as `status`; empty for all of it.
    pub subresource: String,
    /// The query of the URL.
    pub query: String,
    /// What was sent.
    pub body: Value,
}

impl Call {
    /// Reads a request.
    pub fn new(method: &Method, uri: &Uri, body: &[u8]) -> Self {
        let body = json::parse(body).unwrap_or_default();
        let mut parts = uri.path().trim_start_matches('/').split('/');
        let group = match parts.next() {
            Some("apis") => parts.next().unwrap_or_default(),
            _ => "",
        };
        let _version = parts.next();
        let mut rest: Vec<&str> = parts.collect();
        let mut namespace = String::new();
        // A namespace has subresources of its own.
        let within = rest.get(2).is_some_and(|part| !matches!(*part, "finalize" | "status"));
        if within && rest[0] == "namespaces" {
            namespace = rest[1].to_owned();
            rest.drain(..2);
        }
        let part = |at: usize| rest.get(at).copied().unwrap_or_default().to_owned();
        let dot = if group.is_empty() { "" } else { "." };
        let query = uri.query().unwrap_or_default().to_owned();
        let named = ["name", "generateName"].iter().find_map(|field| body.str_at(&["metadata", field]));
        let name = match part(1) {
            name if name.is_empty() && *method == Method::POST => named.unwrap_or_default().to_owned(),
            name => name,
        };
        let is_apply = body.str_at(&["apiVersion"]).is_some() && query.contains("force=");
        let verb = match *method {
            Method::GET => "get",
            Method::POST => "create",
            Method::PUT => "update",
            Method::PATCH if is_apply => "apply",
            Method::PATCH => "patch",
            _ => "delete",
        };
        let resource = format!("{}{dot}{group}", part(0));
        Call { verb, resource, namespace, name, subresource: part(2), query, body }
    }

    /// Whether it opens a watch.
    pub fn is_watch(&self) -> bool {
        self.verb == "get" && ["watch=true", "watch=1"].iter().any(|word| self.query.contains(word))
    }

    /// Whether it lists or watches a kind.
    pub fn reads(&self, resource: &str) -> bool {
        self.verb == "get" && self.name.is_empty() && self.resource == resource
    }

    /// Whether it would write nothing.
    pub fn is_dry_run(&self) -> bool {
        self.query.contains("dryRun=All")
            || self.body.items_at(&["dryRun"]).iter().any(|word| word.as_str() == Some("All"))
    }
}

impl fmt::Display for Call {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let slash = if self.namespace.is_empty() { "" } else { "/" };
        write!(out, "{} {} {}{slash}{}", self.verb, self.resource, self.namespace, self.name)?;
        if !self.subresource.is_empty() {
            write!(out, " {}", self.subresource)?;
        }
        if self.is_dry_run() {
            out.write_str(" (dry run)")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(method: Method, uri: &str, body: &str) -> String {
        Call::new(&method, &uri.parse().unwrap_or_default(), body.as_bytes()).to_string()
    }

    #[test]
    fn a_request_is_read_from_its_path_and_body() {
        let body = r#"{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"}}"#;
        assert_eq!(
            said(Method::POST, "/api/v1/namespaces/shop/configmaps?fieldManager=x", body),
            "create configmaps shop/a"
        );
        assert_eq!(
            said(Method::PATCH, "/apis/apps/v1/namespaces/shop/deployments/web?force=true&dryRun=All", body),
            "apply deployments.apps shop/web (dry run)"
        );
        assert_eq!(said(Method::DELETE, "/api/v1/namespaces/shop", ""), "delete namespaces shop");
        assert_eq!(
            said(Method::PUT, "/api/v1/namespaces/shop/finalize", ""),
            "update namespaces shop finalize"
        );
    }
}
