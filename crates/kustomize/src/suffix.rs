//! What goes after names.

use lynceus_object::Str;

use crate::error::KustomizeError;
use crate::fieldspec::FieldSpecs;
use crate::id::Kind;
use crate::prefix::Affix;
use crate::resources::Resources;

/// Puts a text after names, and remembers that it did.
#[derive(Clone, Debug)]
pub(crate) struct Suffix {
    /// The text.
    pub(crate) suffix: Str,
    /// The fields.
    pub(crate) specs: FieldSpecs,
}

impl Suffix {
    /// Changes the resources; `is_cluster_scoped` is what the schema says of a kind.
    pub(crate) fn apply(
        &self,
        resources: &mut Resources,
        is_cluster_scoped: &dyn Fn(&Kind) -> bool,
    ) -> Result<(), KustomizeError> {
        let affix = Affix { text: &self.suffix, known: |resource| &mut resource.suffixes };
        affix.apply(resources, &self.specs, is_cluster_scoped, &|name| format!("{name}{}", self.suffix))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;
    use crate::resource::Resource;
    use lynceus_object::value;

    #[test]
    fn a_name_gets_its_suffix_and_custom_fields_get_it_too() {
        let config = Config::with_files([b"nameSuffix: [{path: spec/name, kind: Pod}]".as_slice()]).unwrap();
        let pod =
            value!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "x"}, "spec": {"name": "y"}});
        let mut resources = Resources { list: vec![Resource::new(pod)] };
        Suffix { suffix: "-z".into(), specs: config.name_suffix }.apply(&mut resources, &|_| false).unwrap();
        let resource = &resources.list[0];
        assert_eq!((resource.name(), resource.value.str_at(&["spec", "name"])), ("x-z", Some("y-z")));
        assert_eq!(resource.suffixes, ["-z"]);
        assert_eq!(resource.former.len(), 1);
    }
}
