//! Values that are empty and for which a chart is rendered to what is no YAML, or to an image without a tag.
//!
//! `image: {{ .Values.repository }}:{{ .Values.tag }}` is no YAML without a tag, and what Helm says of it names neither the value nor the
//! line of the template. So the values that the template prints and that are empty are given something, one after the other: what is
//! rendered then was wanting that value.

use std::collections::BTreeMap;

use lynceus_api::HelmParameter;
use lynceus_doctor::surgery::line_of;
use lynceus_doctor::{AppName, Hollow, Pods, Wanted};
use lynceus_files::{FilePath, Span, Tree};
use lynceus_helm::HelmError;
use lynceus_object::{FieldPath, Object, ObjectKey, Str, Value};
use lynceus_render::RenderError;

use super::desk::read;
use super::overrides::{From, Layer, layers};
use super::{Bench, MendError, mentioned};
use crate::engine::Engine;
use crate::limits;
use crate::rendering::RenderingError;

impl Engine {
    /// The values because of which an application cannot be rendered, if they are empty and each of them would do.
    pub(crate) async fn hollow(&self, name: &AppName) -> Vec<Hollow> {
        let Ok(bench) = self.bench(name).await else { return Vec::new() };
        let Err(MendError::Rendering { source: error, .. }) = self.manifests(&bench, &[]).await else {
            return Vec::new();
        };
        let Some(template) = unreadable(&error) else { return Vec::new() };
        let (trees, references) = self.trees(&bench).await;
        let mut found = Vec::new();
        for (number, tree) in trees.iter().enumerate() {
            let Some(tree) = tree else { continue };
            let layers = layers(&bench, number, tree, &references);
            let Some((file, text)) =
                text_of(&bench, number, &**tree, template).filter(|_| !layers.is_empty())
            else {
                continue;
            };
            let empty = printed(&text).into_iter().filter(|(key, _)| is_empty(&layers, key));
            for (key, line) in empty.take(limits::OVERRIDES) {
                if self.rendered_with(&bench, number, &key).await.is_some() {
                    let template = Span { file: file.clone(), line, column: 0 };
                    found.push(hollow(&bench, &layers, key, template));
                }
            }
        }
        found
    }

    /// The values that are empty and without which images that an application wants have no tag. In quotes such a text is YAML, so that
    /// everything is rendered and no pod can start.
    pub(crate) async fn untagged(&self, name: &AppName, wanted: &[Wanted]) -> Vec<(Str, Hollow)> {
        let images = without_tag(wanted);
        let mut found = Vec::new();
        if images.is_empty() {
            return found;
        }
        let Ok(bench) = self.bench(name).await else { return found };
        let (_, references) = self.trees(&bench).await;
        for (image, (key, path)) in images.into_iter().take(limits::OVERRIDES) {
            let Ok(traced) = self.traced(&bench, &key, &path).await else { continue };
            let layers = layers(&bench, traced.number, &traced.tree, &references);
            let spoken = mentioned::spoken(&bench, &traced).into_iter();
            let empty = spoken.filter(|(value, _)| !layers.is_empty() && is_empty(&layers, value));
            for (value, template) in empty.take(limits::OVERRIDES) {
                let Some(after) = self.rendered_with(&bench, traced.number, &value).await else { continue };
                let other = bench.find(&after, &key).and_then(|object| path.get(object.value())?.as_str());
                if other.is_some_and(|other| other.len() > image.len() && other.starts_with(image.as_str())) {
                    found.push((image.clone(), hollow(&bench, &layers, value, template)));
                }
            }
        }
        found
    }

    /// What an application has if a value is anything at all; nothing if it cannot be rendered then.
    async fn rendered_with(&self, bench: &Bench, number: usize, key: &FieldPath) -> Option<Vec<Object>> {
        let mut sources = bench.sources.clone();
        let source = sources.get_mut(number)?;
        let given = HelmParameter {
            name: key.to_string().into(),
            value: "x".into(),
            force_string: true,
            ..HelmParameter::default()
        };
        source.helm.get_or_insert_default().parameters.push(given);
        self.manifests_of(bench, &vec![None; sources.len()], &sources).await.ok()
    }
}

/// The images that end where their tag should be, each with the first field that names it.
fn without_tag(wanted: &[Wanted]) -> BTreeMap<Str, (ObjectKey, FieldPath)> {
    let mut images = BTreeMap::new();
    for one in wanted {
        for (path, container) in Pods::of(&one.object).iter().flat_map(Pods::containers) {
            if let Some(image) = container.str_at(&["image"]).filter(|image| image.ends_with(':')) {
                images.entry(image.into()).or_insert_with(|| (one.object.key(), path.field("image")));
            }
        }
    }
    images
}

/// The template that gives what is no YAML, if that is why nothing is rendered.
fn unreadable(error: &RenderingError) -> Option<&str> {
    let RenderingError::Render { source, .. } = error else { return None };
    let RenderError::Helm { source, .. } = &**source else { return None };
    let HelmError::Manifest(error) = &**source else { return None };
    Some(&error.source_name)
}

/// The file of a template of a source's own chart, with what it says. Charts inside of it have other values.
fn text_of(bench: &Bench, number: usize, tree: &dyn Tree, template: &str) -> Option<(FilePath, String)> {
    let source = bench.sources.get(number)?;
    let (_, inside) = template.split_once('/').filter(|(_, inside)| inside.starts_with("templates/"))?;
    let file = FilePath::new(&source.path).ok()?.join(inside).ok()?;
    let text = read(tree, &file).ok().filter(|_| source.chart.is_empty())?;
    Some((file, text))
}

/// The values that a template prints, each with its line. What only decides something prints nothing.
fn printed(text: &str) -> Vec<(FieldPath, u32)> {
    const DECIDING: [&str; 8] = ["if", "else", "with", "range", "define", "end", "block", "/*"];
    let mut found: Vec<(FieldPath, u32)> = Vec::new();
    for (number, line) in text.lines().enumerate() {
        for action in line.split("{{").skip(1).filter_map(|rest| rest.split("}}").next()) {
            let action = action.trim_start_matches('-').trim_start();
            if DECIDING.iter().any(|word| action.starts_with(word)) {
                continue;
            }
            for path in mentioned::in_action(action) {
                if !found.iter().any(|(known, _)| *known == path) {
                    found.push((path, u32::try_from(number + 1).unwrap_or_default()));
                }
            }
        }
    }
    found
}

/// Whether a value is nothing in what has the last word on it.
fn is_empty(layers: &[Layer], key: &FieldPath) -> bool {
    let says = layers.iter().rev().find_map(|layer| key.get(&layer.values));
    let is_nothing = |value: &Value| match value {
        Value::Str(text) => text.trim().is_empty(),
        other => other.is_null(),
    };
    says.is_none_or(is_nothing)
}

fn hollow(bench: &Bench, layers: &[Layer], key: FieldPath, template: Span) -> Hollow {
    let place = layers.iter().rposition(|layer| key.get(&layer.values).is_some());
    let written = place.and_then(|place| match &layers[place].from {
        From::File { number, file, text, .. } => {
            let line = line_of(text, 0, &key).unwrap_or_default();
            let repository = bench.sources.get(*number)?.repo_url.clone();
            Some((repository, Span { file: file.clone(), line, column: 0 }))
        }
        _ => None,
    });
    let below = place.map_or(&[][..], |place| &layers[..place]);
    let covered = below.iter().rfind(|layer| key.get(&layer.values).is_some_and(|value| !value.is_empty()));
    Hollow { key, template, written, covered: covered.map(|layer| layer.name.clone()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lynceus_helm::{InstallError, ManifestError};

    #[test]
    fn what_is_printed_is_told_with_its_line_and_what_only_decides_is_not() {
        let text = "{{- if .Values.on }}\nimage: {{ .Values.image.repo }}:{{- .Values.image.tag | quote }}\n{{ end }}\n";
        let told: Vec<String> = printed(text).iter().map(|(path, line)| format!("{path} {line}")).collect();
        assert_eq!(told, ["image.repo 2", "image.tag 2"]);
    }

    #[test]
    fn a_template_that_gives_no_yaml_is_named_and_the_words_alone_name_none() {
        let template = |error: HelmError| {
            let error = RenderError::Helm { path: FilePath::root(), source: Box::new(error) };
            let (repository, path) = (String::new(), "shop".to_owned());
            unreadable(&RenderingError::Render { repository, path, source: Box::new(error) })
                .map(str::to_owned)
        };
        let source_name = "shop/templates/web.yaml".to_owned();
        let error = ManifestError { source_name, reason: "yaml: line 1".to_owned(), output: String::new() };
        assert_eq!(template(error.into()).as_deref(), Some("shop/templates/web.yaml"));
        // A chart may say the words of another's error.
        let said = InstallError::Coalesce("YAML parse error on a.yaml: it says so".to_owned());
        assert_eq!(template(said.into()), None);
    }
}
