//! What goes before names.

use lynceus_object::{Str, Value};

use crate::error::KustomizeError;
use crate::fieldspec::{FieldSpecs, Makes};
use crate::id::Kind;
use crate::resource::Resource;
use crate::resources::Resources;
use crate::scalar;

/// Puts a text before names, and remembers that it did.
#[derive(Clone, Debug)]
pub(crate) struct Prefix {
    /// The text.
    pub(crate) prefix: Str,
    /// The fields.
    pub(crate) specs: FieldSpecs,
}

impl Prefix {
    /// Changes the resources; `is_cluster_scoped` is what the schema says of a kind.
    pub(crate) fn apply(
        &self,
        resources: &mut Resources,
        is_cluster_scoped: &dyn Fn(&Kind) -> bool,
    ) -> Result<(), KustomizeError> {
        let affix = Affix { text: &self.prefix, known: |resource| &mut resource.prefixes };
        affix.apply(resources, &self.specs, is_cluster_scoped, &|name| format!("{}{name}", self.prefix))
    }
}

/// What is added to names, and where a resource remembers it.
pub(crate) struct Affix<'a> {
    /// The text that is added.
    pub(crate) text: &'a Str,
    /// Where it is remembered.
    pub(crate) known: fn(&mut Resource) -> &mut Vec<Str>,
}

impl Affix<'_> {
    /// Changes the names of all resources that do not have to keep theirs.
    pub(crate) fn apply(
        &self,
        resources: &mut Resources,
        specs: &FieldSpecs,
        is_cluster_scoped: &dyn Fn(&Kind) -> bool,
        replace: &dyn Fn(&str) -> String,
    ) -> Result<(), KustomizeError> {
        for resource in &mut resources.list {
            let kind = resource.kind();
            let original = resource.original_kind();
            if keeps_its_name(&original) {
                continue;
            }
            for spec in specs.matching(&original) {
                if spec.spec.path == "metadata/name" && !self.text.is_empty() {
                    (self.known)(resource).push(self.text.clone());
                    resource.remember_id(is_cluster_scoped(&kind));
                }
                if kind.is_selected_by(&spec.spec.kind) {
                    spec.edit(resource, Makes::Scalar, &mut |field| replace_text(field, replace))?;
                }
            }
        }
        Ok(())
    }
}

/// Replaces the text of a scalar.
pub(crate) fn replace_text(
    field: &mut Value,
    replace: &dyn Fn(&str) -> String,
) -> Result<(), KustomizeError> {
    let text = scalar::text(field).ok_or_else(|| scalar::wrong_node("ScalarNode", field))?;
    let replaced = scalar::rewritten(field, &replace(&text));
    *field = replaced;
    Ok(())
}

/// The kinds whose names say what they define.
fn keeps_its_name(kind: &Kind) -> bool {
    match kind.kind.as_str() {
        "CustomResourceDefinition" | "Namespace" => true,
        "APIService" => kind.group == "apiregistration.k8s.io",
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;
    use lynceus_object::value;

    fn prefixed(object: Value) -> Resource {
        let mut resources = Resources { list: vec![Resource::new(object)] };
        Prefix { prefix: "a-".into(), specs: Config::defaults().name_prefix }
            .apply(&mut resources, &|_| false)
            .unwrap();
        resources.list.remove(0)
    }

    #[test]
    fn a_name_gets_its_prefix_and_the_former_one_is_remembered() {
        let resource = prefixed(value!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "x"}}));
        assert_eq!(resource.name(), "a-x");
        assert_eq!(resource.prefixes, ["a-"]);
        let former: Vec<String> = resource.former_ids().map(|id| id.to_string()).collect();
        assert_eq!(former, ["Pod.v1.[noGrp]/x.default"]);
    }

    #[test]
    fn what_defines_something_keeps_its_name() {
        for (api, kind, kept) in [
            ("v1", "Namespace", true),
            ("example.com/v1", "Namespace", true),
            ("apiextensions.k8s.io/v1", "CustomResourceDefinition", true),
            ("apiregistration.k8s.io/v1", "APIService", true),
            ("example.com/v1", "APIService", false),
        ] {
            let resource = prefixed(value!({"apiVersion": api, "kind": kind, "metadata": {"name": "x"}}));
            assert_eq!(resource.name() == "x", kept, "{api} {kind}");
        }
    }

    #[test]
    fn a_name_that_is_a_number_becomes_text() {
        let resource = prefixed(value!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": 12}}));
        assert_eq!(resource.name(), "a-12");
    }
}
