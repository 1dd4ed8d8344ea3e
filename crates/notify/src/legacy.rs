//! The configuration of the time before `trigger.` and `template.`: one key in each object.

use lynceus_object::{Str, Value, patch, value};

use crate::config::{Condition, Config, parse, subscription, text, text_map};

/// Adds what `config.yaml` of the ConfigMap and `notifiers.yaml` of the Secret say.
pub(crate) fn apply(config: &mut Config, old: &str) {
    let notifiers = config.secrets.get("notifiers.yaml").cloned().unwrap_or_default();
    if !notifiers.is_empty() {
        match parse(&String::from_utf8_lossy(&notifiers)) {
            Ok(value) => take_services(config, &value),
            // What is in there is secret, so it is not told what is wrong with it.
            Err(_) => config.fault("notifiers.yaml", "this is no YAML"),
        }
    }
    if old.is_empty() {
        return;
    }
    match parse(old) {
        Ok(value) => {
            if let Err(message) = take(config, &value) {
                config.fault("config.yaml", message);
            }
        }
        Err(message) => config.fault("config.yaml", message),
    }
}

fn take_services(config: &mut Config, value: &Value) {
    for kind in ["email", "slack", "opsgenie", "grafana"] {
        if let Some(options) = value.get(kind).filter(|options| !options.is_null()) {
            config.serve(kind, kind, options.clone());
        }
    }
    for options in value.items_at(&["webhook"]) {
        let name = options.str_at(&["name"]).unwrap_or_default();
        config.serve("webhook", name, options.clone());
    }
}

fn take(config: &mut Config, value: &Value) -> Result<(), String> {
    if let Some(context) = value.get("context") {
        config.context.extend(text_map(context)?);
    }
    if let Some(subscriptions) = value.get("subscriptions").and_then(Value::as_seq) {
        config.subscriptions = subscriptions.iter().map(subscription).collect::<Result<_, _>>()?;
    }
    for template in value.items_at(&["templates"]) {
        take_template(config, template);
    }
    for trigger in value.items_at(&["triggers"]) {
        take_trigger(config, trigger)?;
    }
    Ok(())
}

fn take_template(config: &mut Config, template: &Value) {
    let name: Str = template.str_at(&["name"]).unwrap_or_default().into();
    let mut own = template.clone();
    for field in ["name", "subject", "body"] {
        own.remove(&[field]);
    }
    let before = config.templates.get(&name).cloned().unwrap_or_else(|| value!({}));
    let mut merged = patch::merge(&before, &own).unwrap_or(own);
    if let Some(subject) = template.str_at(&["subject"]) {
        merged.set(&["email", "subject"], subject);
    }
    if let Some(body) = template.str_at(&["body"]) {
        merged.set(&["message"], body);
    }
    config.templates.insert(name, merged);
}

fn take_trigger(config: &mut Config, trigger: &Value) -> Result<(), String> {
    let field = |name: &str| trigger.get(name).map_or(Ok(Str::default()), text);
    let name = field("name")?;
    if trigger.bool_at(&["enabled"]) == Some(true) {
        config.default_triggers.push(name.clone());
    }
    let conditions = config.triggers.entry(name).or_default();
    if conditions.is_empty() {
        conditions.push(Condition::default());
    }
    let (when, template, description) = (field("condition")?, field("template")?, field("description")?);
    if let Some(first) = conditions.first_mut() {
        if !when.is_empty() {
            first.when = when;
        }
        if !template.is_empty() {
            first.send = vec![template];
        }
        if !description.is_empty() {
            first.description = description;
        }
    }
    Ok(())
}
