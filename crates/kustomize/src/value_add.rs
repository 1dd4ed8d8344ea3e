//! A value for one field of many resources.

use lynceus_object::Str;

use crate::error::KustomizeError;
use crate::fieldspec::{FieldSpec, FieldSpecs, Spec, split_path};
use crate::id::Kind;
use crate::lookup;
use crate::namespace::{Namespace, Subjects};
use crate::resource::Resource;
use crate::resources::Resources;
use crate::scalar;

/// Writes a value into fields. `S` is what resources are selected by.
#[derive(Clone, Debug)]
pub(crate) struct ValueAdd<S> {
    /// The value.
    pub(crate) value: Str,
    /// The fields.
    pub(crate) targets: Vec<Target<S>>,
}

/// Where a value goes.
#[derive(Clone, Debug)]
pub(crate) struct Target<S> {
    /// Which resources; all of them if there is none.
    pub(crate) selector: Option<S>,
    /// The field, with `/` between the steps.
    pub(crate) field_path: Str,
    /// If it is not 0: the field holds a path, and the value becomes this part of it.
    pub(crate) position: usize,
}

/// Which resources a selector selects.
pub(crate) type Select<'a, S> = &'a dyn Fn(&Resources, &S) -> Result<Vec<usize>, KustomizeError>;

impl<S> ValueAdd<S> {
    /// Changes the resources; `is_cluster_scoped` is what the schema says of a kind.
    pub(crate) fn apply(
        &self,
        resources: &mut Resources,
        is_cluster_scoped: &dyn Fn(&Kind) -> bool,
        select: Select<'_, S>,
    ) -> Result<(), KustomizeError> {
        for target in &self.targets {
            let selected = match &target.selector {
                Some(selector) => select(resources, selector)?,
                None => (0..resources.list.len()).collect(),
            };
            let path = split_path(&format!("/{}", target.field_path), '/');
            for at in selected {
                let Some(resource) = resources.list.get_mut(at) else { continue };
                if target.field_path == "metadata/namespace" {
                    self.set_namespace(resource, is_cluster_scoped)?;
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

    fn set(
        &self,
        resource: &mut Resource,
        target: &Target<S>,
        path: &[String],
    ) -> Result<(), KustomizeError> {
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
        let target = |selector: Option<&'static str>, path: &str, position: usize| Target {
            selector,
            field_path: path.into(),
            position,
        };
        let targets = vec![
            target(None, "metadata/namespace", 0),
            target(Some("Pod"), "metadata/annotations/a\\/b", 2),
            target(Some("Pod"), "spec/containers/[name=c]/image", 0),
        ];
        let add = ValueAdd { value: "PEACH".into(), targets };
        let pod = value!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "x", "annotations": {"a/b": "p/q"}}});
        let node = value!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "x"}});
        let mut resources = Resources { list: vec![Resource::new(pod), Resource::new(node)] };
        add.apply(&mut resources, &|kind| kind.kind == "Node", &|_, kind| {
            assert_eq!(*kind, "Pod");
            Ok(vec![0])
        })
        .unwrap();
        let containers = resources.list[0].value.at(&["spec", "containers"]);
        assert_eq!(containers, Some(&value!([{"name": "c", "image": "PEACH"}])));
        let metadata = |at: usize| resources.list[at].value.at(&["metadata"]).unwrap().clone();
        assert_eq!(
            metadata(0),
            value!({"name": "x", "namespace": "PEACH", "annotations": {"a/b": "p/PEACH/q"}})
        );
        assert_eq!(metadata(1), value!({"name": "x"}));
    }
}
