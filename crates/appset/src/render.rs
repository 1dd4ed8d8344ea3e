//! A template and one set of parameters to an Application.

use lynceus_api::{Application, ApplicationSet, ApplicationSetTemplate, Kind, finalizers};
use lynceus_object::patch::strategic;
use lynceus_object::schema::{TypeRef, builtin};
use lynceus_object::{Value, from_typed, json, to_typed, yaml};

use crate::merge::fill;
use crate::param::{Params, kind};
use crate::place::{Fault, FaultKind, Place};
use crate::replace::{ReplaceError, Replacer};
use crate::template::Engine;

/// The template of one generator: its own, with what is empty in it taken from that of the ApplicationSet.
pub(crate) struct Template(Value);

impl Template {
    pub(crate) fn new(own: &ApplicationSetTemplate, base: &ApplicationSetTemplate) -> Result<Self, String> {
        let mut merged = written(own)?;
        fill(&mut merged, &written(base)?);
        Ok(Template(merged))
    }

    /// The Application for a set of parameters.
    pub(crate) fn render(
        &self,
        engine: &Engine<'_>,
        set: &ApplicationSet,
        params: &Params,
        place: &Place,
    ) -> Result<Application, Box<Fault>> {
        let filling = engine.fill_with(params);
        let wrong = |field: Option<String>, line, message: String| {
            let place = Place { field, line, ..place.clone() };
            Box::new(Fault { kind: FaultKind::Template, place, message })
        };
        let mut value = self.0.clone();
        if !params.is_empty() {
            let replaced = Replacer::new(engine, &filling).value(&value);
            value = replaced
                .map_err(|ReplaceError { field, error }| wrong(Some(field), error.line, error.message))?;
        }
        let mut app = typed(&value).map_err(|message| wrong(None, None, message))?;
        if !params.is_empty() {
            add_finalizer(set, &mut app);
        }
        if let Some(patch) = &set.spec.template_patch {
            let field = || Some("templatePatch".to_owned());
            let text = engine.replace(patch, &filling);
            let text = text.map_err(|error| wrong(field(), error.line, error.message))?;
            app = patched(&app, &text).map_err(|message| wrong(field(), None, message))?;
        }
        // An ApplicationSet must not reach out of its namespace.
        app.metadata.namespace = set.metadata.namespace.clone();
        Ok(app)
    }
}

/// A part of an ApplicationSet as a value. What cannot be written down must not count as empty.
fn written(part: &impl serde::Serialize) -> Result<Value, String> {
    from_typed(part).map_err(|error| format!("it cannot be written down: {error}"))
}

fn typed(value: &Value) -> Result<Application, String> {
    let mut app: Application = to_typed(value).map_err(|error| error.to_string())?;
    app.api_version = format!("{}/{}", lynceus_api::GROUP, lynceus_api::VERSION).into();
    app.kind = Application::KIND.into();
    Ok(app)
}

/// An Application takes its objects with it, unless the template or the ApplicationSet says otherwise.
fn add_finalizer(set: &ApplicationSet, app: &mut Application) {
    let preserves = set.spec.sync_policy.as_ref().is_some_and(|policy| policy.preserve_resources_on_deletion);
    if !preserves && app.metadata.finalizers.is_empty() {
        app.metadata.finalizers = vec![finalizers::RESOURCES.into()];
    }
}

/// The Application with a patch applied. The project stays: who may write a patch must not choose their own rights.
fn patched(app: &Application, text: &str) -> Result<Application, String> {
    let patch = read(text)?;
    typed(&patch).map_err(|error| format!("it is no part of an Application: {error}"))?;
    let before = written(app)?;
    let metadata = builtin().named("meta/v1.ObjectMeta").unwrap_or(TypeRef::untyped());
    let patched = strategic(&before, &without(&patch, "metadata"), TypeRef::untyped());
    let mut after = patched.map_err(|error| error.to_string())?;
    if let (Some(old), Some(new)) = (before.get("metadata"), patch.get("metadata")) {
        let metadata = strategic(old, new, metadata).map_err(|error| error.to_string())?;
        after.set(&["metadata"], metadata);
    }
    let mut after = typed(&after)?;
    after.spec.project = app.spec.project.clone();
    Ok(after)
}

fn without(value: &Value, field: &str) -> Value {
    let mut value = value.clone();
    value.remove(&[field]);
    value
}

/// A patch in YAML, or in JSON if it begins with a brace.
fn read(text: &str) -> Result<Value, String> {
    let value = if text.trim_start().starts_with('{') {
        json::parse(text.as_bytes()).map_err(|error| format!("it gives no JSON: {error}"))?
    } else {
        yaml::parse_str(text).map_err(|error| format!("it gives no YAML: {error}"))?
    };
    match value {
        Value::Null => Ok(Value::Map(Default::default())),
        Value::Map(_) => Ok(value),
        other => Err(format!("it gives {} and not a map", kind(&other))),
    }
}
