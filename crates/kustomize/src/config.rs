//! Which fields of which kinds the transformers change: Kustomize's own, and those of `configurations`.

use std::sync::{Arc, LazyLock};

use crate::config_file::ConfigFile;
use crate::defaults;
use crate::error::KustomizeError;
use crate::fieldspec::{FieldSpec, FieldSpecs, merge_into};
use crate::id::Kind;
use crate::sort;

/// The fields that the transformers change. A copy is cheap.
#[derive(Clone, Debug, Default)]
pub(crate) struct Config {
    /// Where a prefix goes.
    pub(crate) name_prefix: FieldSpecs,
    /// Where a suffix goes.
    pub(crate) name_suffix: FieldSpecs,
    /// Where a namespace goes.
    pub(crate) namespace: FieldSpecs,
    /// Where labels go with their selectors.
    pub(crate) common_labels: FieldSpecs,
    /// Where the labels of `labels` go in any case.
    pub(crate) labels: FieldSpecs,
    /// Where labels go with pod templates.
    pub(crate) template_labels: FieldSpecs,
    /// Where annotations go.
    pub(crate) common_annotations: FieldSpecs,
    /// Which fields hold names of what.
    pub(crate) name_reference: Arc<Vec<NameReference>>,
    /// Where variables are replaced.
    pub(crate) var_reference: FieldSpecs,
    /// Where images are.
    pub(crate) images: FieldSpecs,
    /// Where the number of replicas is.
    pub(crate) replicas: FieldSpecs,
}

/// The fields that hold names of a kind.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct NameReference {
    /// The kind that has the name.
    pub(crate) target: Kind,
    /// The fields that refer to it by name.
    pub(crate) referrers: Vec<FieldSpec>,
}

static DEFAULT: LazyLock<Config> = LazyLock::new(|| {
    let mut config = Config::default();
    let mut names = Vec::new();
    for list in defaults::lists() {
        if list.name == "nameReference" {
            names.push(NameReference { target: list.target, referrers: list.specs });
            continue;
        }
        if let Some((_, specs)) = config.lists_mut().into_iter().find(|(name, _)| *name == list.name) {
            *specs = FieldSpecs::new(list.specs);
        }
    }
    names.sort_by_cached_key(|reference| sort::rank(&reference.target));
    config.name_reference = Arc::new(names);
    // The table has no conflicts, which a test sees to.
    Config::default().merged(&config).unwrap_or(config)
});

const NAME_REFERENCE: &str = "nameReference";

impl Config {
    /// Kustomize's own.
    pub(crate) fn defaults() -> Config {
        DEFAULT.clone()
    }

    /// Kustomize's own with those of the files of `configurations`.
    pub(crate) fn with_files<'a>(
        files: impl IntoIterator<Item = &'a [u8]>,
    ) -> Result<Config, KustomizeError> {
        let mut own = Config::default();
        for file in files {
            own = own.merged(&Config::read(file)?)?;
        }
        Config::defaults().merged(&own)
    }

    /// Reads a file of `configurations`.
    pub(crate) fn read(text: &[u8]) -> Result<Config, KustomizeError> {
        let mut config = Config::default();
        let mut names: Vec<&str> = config.lists_mut().iter().map(|(name, _)| *name).collect();
        names.push(NAME_REFERENCE);
        let file = ConfigFile::read(text, &names)?;
        for (name, specs) in config.lists_mut() {
            *specs = FieldSpecs::new(file.field_specs(name)?).sorted();
        }
        let mut names = file.name_references(NAME_REFERENCE)?;
        names.sort_by_cached_key(|reference| sort::rank(&reference.target));
        config.name_reference = Arc::new(names);
        Ok(config)
    }

    /// The fields that the types of a file of `crds` tell: of annotations, labels and names that get a prefix, and
    /// those that hold names of a kind.
    pub(crate) fn of_types(
        annotations: Vec<FieldSpec>,
        labels: Vec<FieldSpec>,
        prefixes: Vec<FieldSpec>,
        references: Vec<(Kind, Vec<FieldSpec>)>,
    ) -> Result<Config, KustomizeError> {
        let found = Config {
            common_annotations: FieldSpecs::new(annotations),
            common_labels: FieldSpecs::new(labels),
            name_prefix: FieldSpecs::new(prefixes),
            ..Config::default()
        };
        let mut config = Config::default().merged(&found)?;
        let mut names = Vec::new();
        for (target, referrers) in references {
            merge_names(&mut names, &[NameReference { target, referrers }])?;
        }
        names.sort_by_cached_key(|reference| sort::rank(&reference.target));
        config.name_reference = Arc::new(names);
        Ok(config)
    }

    /// These and then those of `other` that are not there yet.
    pub(crate) fn merged(&self, other: &Config) -> Result<Config, KustomizeError> {
        let mut merged = self.clone();
        for ((name, specs), (_, others)) in merged.lists_mut().into_iter().zip(other.clone().lists_mut()) {
            *specs = specs.merged(others).map_err(|error| {
                let mut title = name.to_owned();
                title[..1].make_ascii_uppercase();
                error.context(format_args!("failed to merge {title} fieldSpec"))
            })?;
        }
        if self.name_reference.is_empty() {
            merged.name_reference = other.name_reference.clone();
        } else if !other.name_reference.is_empty()
            && !Arc::ptr_eq(&self.name_reference, &other.name_reference)
        {
            let names = Arc::make_mut(&mut merged.name_reference);
            merge_names(names, &other.name_reference)
                .map_err(|error| error.context("failed to merge NameReference fieldSpec"))?;
            names.sort_by_cached_key(|reference| sort::rank(&reference.target));
        }
        Ok(merged)
    }

    fn lists_mut(&mut self) -> [(&'static str, &mut FieldSpecs); 10] {
        [
            ("namePrefix", &mut self.name_prefix),
            ("nameSuffix", &mut self.name_suffix),
            ("namespace", &mut self.namespace),
            ("commonAnnotations", &mut self.common_annotations),
            ("commonLabels", &mut self.common_labels),
            ("labels", &mut self.labels),
            ("templateLabels", &mut self.template_labels),
            ("varReference", &mut self.var_reference),
            ("images", &mut self.images),
            ("replicas", &mut self.replicas),
        ]
    }
}

/// Adds the fields of the same target to what is there of it.
fn merge_names(names: &mut Vec<NameReference>, others: &[NameReference]) -> Result<(), KustomizeError> {
    for other in others {
        let mut found = false;
        for known in names.iter_mut().filter(|known| known.target == other.target) {
            merge_into(&mut known.referrers, other.referrers.iter())?;
            found = true;
        }
        if !found {
            names.push(other.clone());
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listed(specs: &FieldSpecs) -> Vec<String> {
        let line = |spec: &FieldSpec| format!("{} {} {}", spec.kind, spec.path, spec.create);
        specs.iter().map(|spec| line(&spec.spec)).collect()
    }

    #[test]
    fn the_defaults_are_whole() {
        let mut config = Config::defaults();
        let counts = config.lists_mut().map(|(name, specs)| format!("{name} {}", specs.iter().count()));
        assert_eq!(
            counts,
            [
                "namePrefix 1",
                "nameSuffix 1",
                "namespace 3",
                "commonAnnotations 9",
                "commonLabels 32",
                "labels 0",
                "templateLabels 10",
                "varReference 72",
                "images 6",
                "replicas 4"
            ]
        );
        let names: Vec<(&str, usize)> = config
            .name_reference
            .iter()
            .map(|reference| (reference.target.kind.as_str(), reference.referrers.len()))
            .collect();
        assert_eq!(
            names,
            [
                ("StorageClass", 3),
                ("ServiceAccount", 9),
                ("Role", 1),
                ("ClusterRole", 2),
                ("ConfigMap", 52),
                ("Secret", 70),
                ("Service", 8),
                ("PriorityClass", 7),
                ("PersistentVolume", 2),
                ("PersistentVolumeClaim", 7),
                ("Deployment", 1),
                ("StatefulSet", 1),
                ("ValidatingAdmissionPolicy", 1),
                ("IngressClass", 1),
                ("ReplicaSet", 1),
                ("ReplicationController", 1)
            ]
        );
    }

    #[test]
    fn fields_of_a_file_are_added_in_the_order_of_kinds() {
        let file =
            "namePrefix:\n- {path: spec/b, kind: Zoo}\n- {path: spec/a, kind: Namespace, create: true}\n";
        let config = Config::with_files([file.as_bytes()]).unwrap();
        assert_eq!(
            listed(&config.name_prefix),
            [
                "Namespace.[noVer].[noGrp] spec/a true",
                "Zoo.[noVer].[noGrp] spec/b false",
                "[noKind].[noVer].[noGrp] metadata/name false"
            ]
        );
    }

    #[test]
    fn a_field_of_more_kinds_counts_as_there_if_some_of_them_have_it() {
        let file = "replicas:\n- {path: spec/replicas, create: true}\n";
        let config = Config::with_files([file.as_bytes()]).unwrap();
        assert_eq!(config.replicas.iter().count(), 4);
    }

    #[test]
    fn a_field_that_is_made_and_not_made_is_a_conflict() {
        let file = "replicas:\n- {path: spec/replicas, kind: Deployment}\n";
        let error = Config::with_files([file.as_bytes()]).unwrap_err();
        assert_eq!(error.message, "failed to merge Replicas fieldSpec: conflicting fieldspecs");
    }

    #[test]
    fn unknown_fields_are_refused() {
        for file in
            ["nameprefix2: []", "images:\n- {paht: x}", "nameReference:\n- {kind: A, fields: []}", "[]"]
        {
            assert!(Config::read(file.as_bytes()).is_err(), "{file}");
        }
        assert!(Config::read(b"# nothing\n").is_ok());
    }

    #[test]
    fn merging_the_same_again_copies_nothing() {
        let defaults = Config::defaults();
        let merged = Config::default().merged(&defaults).unwrap().merged(&defaults).unwrap();
        assert!(Arc::ptr_eq(&merged.name_reference, &defaults.name_reference));
        assert_eq!(merged.var_reference.iter().count(), 72);
    }
}
