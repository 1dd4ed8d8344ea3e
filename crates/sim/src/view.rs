//! Reading the cluster without being able to change it.

use lynceus_object::Object;

/// A read-only view of what is stored.
///
/// Objects come in the version they are stored in. `group` and `resource` are those of the URL
/// (`"apps"`, `"deployments"`).
pub trait View: Send + Sync {
    /// One object; `namespace` is empty for cluster-scoped kinds.
    fn get(&self, group: &str, resource: &str, namespace: &str, name: &str) -> Option<Object>;

    /// All objects of a kind, of one namespace or of all, ordered by namespace and name.
    fn list(&self, group: &str, resource: &str, namespace: Option<&str>) -> Vec<Object>;
}
