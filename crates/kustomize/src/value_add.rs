//! A value for one field of many resources.

use lynceus_object::{Str, Value};

use crate::error::KustomizeError;
use crate::fieldspec::{FieldSpec, FieldSpecs, Spec, split_path};
use crate::id::Kind;
use crate::lookup;
use crate::namespace::{Namespace, Subjects};
use crate::resource::Resource;
use crate::resources::Resources;
use crate::scalar;
use crate::schema::Schema;
use crate::selector::{Matcher, Selector};

/// Writes a value into fields.
#[derive(Clone, Debug)]
pub(crate) struct ValueAdd {
    /// The value.
    pub(crate) value: Str,
    /// The fields.
    pub(crate) targets: Vec<Target>,
}

/// Where a value goes.
#[derive(Clone, Debug)]
pub(crate) struct Target {
    /// Which resources; all of them if there is none.
    pub(crate) selector: Option<Selector>,
    /// The field, with `/` between the steps.
    pub(crate) field_path: Str,
    /// If it is not 0: the field holds a path, and the value becomes this part of it.
    pub(crate) position: usize,
}

impl ValueAdd {
    /// Changes the resources.
    pub(crate) fn apply(&self, resources: &mut Resources, schema: &Schema) -> Result<(), KustomizeError> {
        let is_cluster_scoped = |kind: &Kind| schema.is_cluster_scoped(kind);
        for target in &self.targets {
            let matcher = target.selector.as_ref().map(Matcher::new).transpose()?;
            let path = split_path(&format!("/{}", target.field_path), '/');
            for resource in &mut resources.list {
                if matcher.as_ref().is_some_and(|matcher| !matcher.targets(resource, schema)) {
                    continue;
                }
                if target.field_path == "metadata/namespace" {
                    self.set_namespace(resource, &is_cluster_scoped)?;
                } else {
                    self.set(resource, target, &path)?;
                }
            }
        }
        Ok(())
    }

    fn set_namespace(
        &self,
        resource: &mut Resource,
        is_cluster_scoped: &dyn Fn(&Kind) -> bool,
    ) -> Result<(), KustomizeError> {
        let namespace = Namespace {
            namespace: self.value.clone(),
            specs: FieldSpecs::default(),
            unset_only: false,
            subjects: Subjects::NamedDefault,
        };
        let scoped = is_cluster_scoped(&resource.kind());
        namespace.change(resource, scoped, &Spec::new(FieldSpec::of_all("metadata/namespace", true)))
    }

    fn set(&self, resource: &mut Resource, target: &Target, path: &[String]) -> Result<(), KustomizeError> {
        let Some(field) = lookup::find_or_make(&mut resource.value, path)? else { return Ok(()) };
        let Some(text) = scalar::text(field) else { return Err(scalar::wrong_node("ScalarNode", field)) };
        let new = match target.position {
            0 => self.value.to_string(),
            position => insert_part(&text, position - 1, &self.value),
        };
        let new = scalar::rewritten(field, &new);
        *field = new;
        Ok(())
    }
}

/// Puts a part into a path of files; a place behind its end is its end.
fn insert_part(path: &str, place: usize, part: &str) -> String {
    let is_absolute = path.starts_with('/');
    let mut parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
    parts.insert(place.min(parts.len()), part);
    format!("{}{}", if is_absolute { "/" } else { "" }, parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use lynceus_object::value;

    #[test]
    fn a_part_is_put_into_a_path() {
        let cases = [
            ("", 0, "PEACH"),
            ("/", 0, "/PEACH"),
            ("pie", 0, "PEACH/pie"),
            ("/pie", 0, "/PEACH/pie"),
            ("/raw", 9, "/raw/PEACH"),
            ("a/nice/warm/pie", 3, "a/nice/warm/PEACH/pie"),
            ("/a/nice/warm/pie", 3, "/a/nice/warm/PEACH/pie"),
        ];
        for (path, place, expected) in cases {
            assert_eq!(insert_part(path, place, "PEACH"), expected, "{path} {place}");
        }
    }

    #[test]
    fn a_value_is_added_to_all_targets() {
        let config = value!({
            "value": " PEACH ",
            "targets": [
                {"fieldPath": "metadata/namespace"},
                {"selector": {"kind": "Pod"}, "fieldPath": "metadata/annotations/a\\/b", "filePathPosition": 2}
            ]
        });
        let add = ValueAdd::read(&config, "folder", &|_| Ok(Value::Null)).unwrap();
        let pod = value!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "x", "annotations": {"a/b": "p/q"}}});
        let node = value!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "x"}});
        let mut resources = Resources { list: vec![Resource::new(pod), Resource::new(node)] };
        add.apply(&mut resources, &|kind| kind.kind == "Node", &|_, _| Ok(vec![0])).unwrap();
        let metadata = |at: usize| resources.list[at].value.at(&["metadata"]).unwrap().clone();
        assert_eq!(
            metadata(0),
            value!({"name": "x", "namespace": "PEACH", "annotations": {"a/b": "p/PEACH/q"}})
        );
        assert_eq!(metadata(1), value!({"name": "x"}));
    }

    #[test]
    fn targets_are_checked() {
        let read = |config: Value| ValueAdd::read(&config, "folder", &|_| Ok(Value::Null));
        assert_eq!(read(value!({})).unwrap_err().message, "must specify at least one target");
        assert_eq!(read(value!({"targets": [{}]})).unwrap_err().message, "fieldPath cannot be empty");
        assert_eq!(read(value!({"targets": [{"fieldPath": "a"}]})).unwrap().value, "folder");
    }
}
