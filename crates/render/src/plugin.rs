//! Config-management plugins: what is asked of one, and what its answer becomes.
//!
//! A plugin is a program of the operator's, in a container of its own beside the controller. Nothing is run here: the
//! call is a [`Need`], and whoever renders has a way to the plugin or has none.

use lynceus_api::{ApplicationSourcePlugin, ApplicationSourcePluginParameter};
use lynceus_files::{FilePath, Span};
use lynceus_object::{Str, from_typed, json, manifest, yaml};

use crate::environment::{self, Environment};
use crate::helm;
use crate::job::{Job, Need, PluginCall};
use crate::{Made, Manifest, RenderError};

/// The plugin that says that a source is for it; empty if none does. It is told the build environment alone.
pub(crate) fn discover(path: &FilePath, job: &Job<'_>) -> Result<Str, RenderError> {
    let environment = Environment::new(job.setting, job.source).all();
    let need = Need::Discovery(PluginCall { name: Str::default(), path: path.clone(), environment });
    match job.fetched.get(&need) {
        Some(name) => Ok(String::from_utf8_lossy(name).as_ref().into()),
        None => Err(RenderError::Needs(vec![need])),
    }
}

/// What a plugin makes of a source. `found` is the plugin that was found where the source names none.
pub(crate) fn render(path: &FilePath, job: &Job<'_>, found: &Str) -> Result<Made, RenderError> {
    if !job.setting.plugins {
        return Err(RenderError::PluginsOff { path: path.clone() });
    }
    let plugin = job.source.plugin.as_ref();
    let name = plugin.map(|plugin| &plugin.name).filter(|name| !name.is_empty()).unwrap_or(found);
    let environment = variables(plugin, job)?;
    let need = Need::Plugin(PluginCall { name: name.clone(), path: path.clone(), environment });
    let Some(answer) = job.fetched.get(&need) else { return Err(RenderError::Needs(vec![need])) };
    let read = manifest::read(path, answer, &yaml::Options::default());
    // What it was made from is the plugin's secret; lines are those of the answer, which nobody has seen.
    let place = Span { file: path.clone(), line: 0, column: 0 };
    let manifests = read.objects.into_iter().map(|placed| Manifest {
        object: placed.object,
        span: place.clone(),
        document: placed.document,
    });
    let diagnostics = read.diagnostics.into_iter().map(|diagnostic| diagnostic.at(place.clone()));
    Ok(Made {
        manifests: manifests.collect(),
        diagnostics: diagnostics.collect(),
        // It was told the revision, and may have looked.
        names_revision: true,
        names_setting: true,
        idle_patches: Vec::new(),
    })
}

/// The environment of a plugin, as Argo CD gives it: the build's, the cluster's, then what the Application says.
/// One that was found where the Application names none hears nothing of parameters.
fn variables(
    plugin: Option<&ApplicationSourcePlugin>,
    job: &Job<'_>,
) -> Result<Vec<(Str, Str)>, RenderError> {
    let mut variables = Environment::new(job.setting, job.source).all();
    let apis: Vec<&str> = job.setting.api_versions.iter().map(Str::as_str).collect();
    variables.push(("KUBE_VERSION".into(), helm::plain(&job.setting.kube_version).as_str().into()));
    variables.push(("KUBE_API_VERSIONS".into(), apis.join(",").as_str().into()));
    let Some(plugin) = plugin else { return Ok(variables) };
    let known = variables.clone();
    let get =
        |name: &str| known.iter().find(|(known, _)| known == name).map_or("", |(_, value)| value.as_str());
    for entry in &plugin.env {
        // The prefix keeps an Application from setting what the plugin's own tools obey.
        let value = environment::expand(&entry.value, get);
        variables.push((format!("ARGOCD_ENV_{}", entry.name).as_str().into(), value.as_str().into()));
    }
    variables.push(("ARGOCD_APP_PARAMETERS".into(), announced(&plugin.parameters)?));
    for parameter in &plugin.parameters {
        let name = format!("PARAM_{}", escape(&parameter.name));
        if let Some(text) = &parameter.string {
            variables.push((name.as_str().into(), text.clone()));
        }
        for (key, value) in parameter.map.iter().flatten() {
            variables.push((format!("{name}_{}", escape(key)).as_str().into(), value.clone()));
        }
        for (index, value) in parameter.array.iter().flatten().enumerate() {
            variables.push((format!("{name}_{index}").as_str().into(), value.clone()));
        }
    }
    Ok(variables)
}

/// All parameters as JSON; null if there are none, as Go writes a list that is not there.
fn announced(parameters: &[ApplicationSourcePluginParameter]) -> Result<Str, RenderError> {
    if parameters.is_empty() {
        return Ok("null".into());
    }
    let value = from_typed(&parameters)
        .map_err(|error| RenderError::PluginParameters { reason: error.to_string() })?;
    Ok(json::go_string(&value).as_str().into())
}

/// A name as a variable can have it: in capitals, with `_` for whatever is neither a letter nor a digit.
fn escape(name: &str) -> String {
    let allowed = |letter: char| letter.is_ascii_uppercase() || letter.is_ascii_digit() || letter == '_';
    name.to_uppercase().chars().map(|letter| if allowed(letter) { letter } else { '_' }).collect()
}
