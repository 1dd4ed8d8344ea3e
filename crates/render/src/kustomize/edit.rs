//! What an Application changes in a kustomization before it is built.
//!
//! Argo CD runs `kustomize edit` on a copy of the repository for each of these; here the kustomization is changed as a
//! value, and the build is given the changed text in the place of the file.

use std::collections::BTreeMap;

use lynceus_api::{ApplicationSourceKustomize, IntOrString};
use lynceus_files::{FilePath, Tree, TreeError};
use lynceus_object::{Map, Seq, Str, Value, from_typed};

use crate::environment::Environment;

/// A name or tag that is to stay as the kustomization has it.
const AS_IT_IS: &str = "*";

/// Whether there is anything to change.
pub(super) fn is_needed(options: &ApplicationSourceKustomize) -> bool {
    let untouched = ApplicationSourceKustomize {
        version: options.version.clone(),
        kube_version: options.kube_version.clone(),
        api_versions: options.api_versions.clone(),
        ..ApplicationSourceKustomize::default()
    };
    *options != untouched
}

/// The changes of one Application.
pub(super) struct Edit<'a> {
    pub(super) options: &'a ApplicationSourceKustomize,
    pub(super) environment: &'a Environment<'a>,
    /// The files, to see which components are there.
    pub(super) tree: &'a dyn Tree,
    /// The directory of the kustomization.
    pub(super) path: &'a FilePath,
}

impl Edit<'_> {
    /// Changes the kustomization. The order is Argo CD's.
    pub(super) fn apply(&self, kustomization: &mut Value) -> Result<(), String> {
        let options = self.options;
        for (field, text) in [("namePrefix", &options.name_prefix), ("nameSuffix", &options.name_suffix)] {
            if !text.is_empty() {
                kustomization.set(&[field], text.clone());
            }
        }
        self.images(kustomization)?;
        self.replicas(kustomization)?;
        self.labels(kustomization)?;
        self.annotations(kustomization)?;
        if !options.namespace.is_empty() {
            kustomization.set(&["namespace"], options.namespace.clone());
        }
        self.patches(kustomization)?;
        self.components(kustomization)
    }

    fn images(&self, kustomization: &mut Value) -> Result<(), String> {
        if self.options.images.is_empty() {
            return Ok(());
        }
        let mut images: BTreeMap<Str, Value> = BTreeMap::new();
        for image in &self.options.images {
            let (name, image) = image_override(&self.environment.expand(image))?;
            images.insert(name, image);
        }
        for had in list(kustomization, "images")? {
            let name = had.str_at(&["name"]).unwrap_or_default();
            let Some(image) = images.get_mut(name) else {
                images.insert(name.into(), had.clone());
                continue;
            };
            for field in ["newName", "newTag", "digest"] {
                if image.str_at(&[field]) == Some(AS_IT_IS) {
                    image.set(&[field], had.str_at(&[field]).unwrap_or_default());
                }
            }
        }
        for image in images.values_mut() {
            for field in ["newName", "newTag", "digest"] {
                if matches!(image.str_at(&[field]), Some(AS_IT_IS | "")) {
                    image.remove(&[field]);
                }
            }
        }
        kustomization.set(&["images"], images.into_values().collect::<Seq>());
        Ok(())
    }

    fn replicas(&self, kustomization: &mut Value) -> Result<(), String> {
        if self.options.replicas.is_empty() {
            return Ok(());
        }
        let mut replicas: BTreeMap<Str, Value> = BTreeMap::new();
        for had in list(kustomization, "replicas")? {
            replicas.insert(had.str_at(&["name"]).unwrap_or_default().into(), had.clone());
        }
        for wanted in &self.options.replicas {
            let count = match &wanted.count {
                IntOrString::Int(count) => *count,
                IntOrString::Str(text) => text
                    .parse()
                    .map_err(|_| format!("the replica count {text:?} of {} is no number", wanted.name))?,
            };
            let mut replica = Map::new();
            replica.insert("name", wanted.name.clone());
            replica.insert("count", count);
            replicas.insert(wanted.name.clone(), Value::Map(replica));
        }
        kustomization.set(&["replicas"], replicas.into_values().collect::<Seq>());
        Ok(())
    }

    fn labels(&self, kustomization: &mut Value) -> Result<(), String> {
        let options = self.options;
        if options.common_labels.is_empty() {
            return Ok(());
        }
        if options.label_include_templates && !options.label_without_selector {
            return Err("labelIncludeTemplates works only together with labelWithoutSelector".to_owned());
        }
        let wanted: Vec<(&Str, String)> = options
            .common_labels
            .iter()
            .map(|(name, value)| (name, self.environment.expand(value)))
            .collect();
        let force = options.force_common_labels;
        if !options.label_without_selector {
            return add(kustomization, &["commonLabels"], &wanted, force, "label");
        }
        // A group of labels that is set the same way is added to.
        let flag = |group: &Value, name: &str| group.bool_at(&[name]).unwrap_or_default();
        let mut groups: Seq = list(kustomization, "labels")?.iter().cloned().collect();
        let same = groups.iter().position(|group| {
            !flag(group, "includeSelectors")
                && flag(group, "includeTemplates") == options.label_include_templates
        });
        let at = match same {
            Some(at) => at,
            None => {
                let mut group = Map::new();
                if options.label_include_templates {
                    group.insert("includeTemplates", true);
                }
                groups.push(Value::Map(group));
                groups.len() - 1
            }
        };
        if let Some(group) = groups.make_mut().get_mut(at) {
            add(group, &["pairs"], &wanted, force, "label")?;
        }
        kustomization.set(&["labels"], groups);
        Ok(())
    }

    fn annotations(&self, kustomization: &mut Value) -> Result<(), String> {
        let options = self.options;
        if options.common_annotations.is_empty() {
            return Ok(());
        }
        let value = |text: &Str| {
            if options.common_annotations_envsubst { self.environment.expand(text) } else { text.to_string() }
        };
        let wanted: Vec<(&Str, String)> =
            options.common_annotations.iter().map(|(name, text)| (name, value(text))).collect();
        add(kustomization, &["commonAnnotations"], &wanted, options.force_common_annotations, "annotation")
    }

    fn patches(&self, kustomization: &mut Value) -> Result<(), String> {
        if self.options.patches.is_empty() {
            return Ok(());
        }
        let mut patches: Seq = list(kustomization, "patches")?.iter().cloned().collect();
        for patch in &self.options.patches {
            patches.push(from_typed(patch).map_err(|error| error.to_string())?);
        }
        kustomization.set(&["patches"], patches);
        Ok(())
    }

    fn components(&self, kustomization: &mut Value) -> Result<(), String> {
        let mut components: Seq = list(kustomization, "components")?.iter().cloned().collect();
        let before = components.len();
        for component in &self.options.components {
            let is_there = self.is_there(component)?;
            if !is_there && self.options.ignore_missing_components {
                continue;
            }
            if !components.iter().any(|had| had.as_str() == Some(component)) {
                components.push(component.clone().into());
            }
        }
        if components.len() > before {
            kustomization.set(&["components"], components);
        }
        Ok(())
    }

    /// One that leaves the repository is not there. What is elsewhere is not looked for.
    fn is_there(&self, component: &str) -> Result<bool, String> {
        let Ok(path) = self.path.join(component) else { return Ok(component.contains("://")) };
        match self.tree.entry(&path) {
            Ok(_) => Ok(true),
            Err(TreeError::NotFound(_) | TreeError::NotA(..)) => Ok(false),
            Err(error) => Err(error.to_string()),
        }
    }
}

/// `name=newName:tag@digest`, or `name:tag` if the name stays.
fn image_override(text: &str) -> Result<(Str, Value), String> {
    let (name, new) = match text.split_once('=') {
        Some((name, new)) => (Some(name), new),
        None => (None, text),
    };
    let (new_name, tag, digest) = lynceus_kustomize::split_image(new);
    if new_name == text {
        return Err(format!("the image {text:?} changes nothing; write it as name=newName:tag or name:tag"));
    }
    let mut image = Map::new();
    image.insert("name", name.unwrap_or(new_name));
    for (field, value) in [("newName", name.map_or("", |_| new_name)), ("newTag", tag), ("digest", digest)] {
        if !value.is_empty() {
            image.insert(field, value);
        }
    }
    Ok((name.unwrap_or(new_name).into(), Value::Map(image)))
}

/// The items of a field; nothing if it is not there or null.
fn list<'a>(kustomization: &'a Value, field: &str) -> Result<&'a [Value], String> {
    match kustomization.get(field) {
        None | Some(Value::Null) => Ok(&[]),
        Some(value) => value.as_seq().ok_or_else(|| format!("{field} of the kustomization is no list")),
    }
}

/// Adds to a map; what is there already is only changed by force.
fn add(
    at: &mut Value,
    path: &[&str],
    wanted: &[(&Str, String)],
    force: bool,
    what: &str,
) -> Result<(), String> {
    for (name, value) in wanted {
        let full: Vec<&str> = path.iter().copied().chain([name.as_str()]).collect();
        if !force && at.at(&full).is_some() {
            return Err(format!(
                "{what} {name} already in kustomization file; set forceCommon{}s: true to override it",
                if what == "label" { "Label" } else { "Annotation" }
            ));
        }
        at.set(&full, value.as_str());
    }
    Ok(())
}
