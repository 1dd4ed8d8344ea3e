//! Annotations for all resources and the pods that they make.

use lynceus_object::Str;

use crate::error::KustomizeError;
use crate::fieldspec::FieldSpecs;
use crate::labels::set_entries;
use crate::resources::Resources;

/// Adds annotations.
#[derive(Clone, Debug)]
pub(crate) struct Annotations {
    /// The annotations by name.
    pub(crate) annotations: Vec<(Str, Str)>,
    /// The fields.
    pub(crate) specs: FieldSpecs,
}

impl Annotations {
    /// Changes the resources.
    pub(crate) fn apply(&self, resources: &mut Resources) -> Result<(), KustomizeError> {
        set_entries(resources, &self.annotations, &self.specs)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;
    use crate::resource::Resource;
    use lynceus_object::value;

    #[test]
    fn annotations_go_to_the_templates_of_workloads_too() {
        let job = value!({"apiVersion": "batch/v1", "kind": "CronJob", "metadata": {"name": "x", "annotations": {"b": "0"}}});
        let mut resources = Resources { list: vec![Resource::new(job)] };
        let annotations = vec![("a".into(), "1".into()), ("b".into(), "2".into())];
        Annotations { annotations, specs: Config::defaults().common_annotations }
            .apply(&mut resources)
            .unwrap();
        let both = value!({"a": "1", "b": "2"});
        let expected = value!({
            "apiVersion": "batch/v1",
            "kind": "CronJob",
            "metadata": {"name": "x", "annotations": both},
            "spec": {"jobTemplate": {
                "metadata": {"annotations": both},
                "spec": {"template": {"metadata": {"annotations": both}}}
            }}
        });
        assert_eq!(resources.list[0].value, expected);
    }
}
