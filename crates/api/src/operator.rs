//! What OpenShift's operator makes of its `ArgoCD` resource: keys of `argocd-cm`.

use lynceus_object::{Map, Object, Str, Value, yaml};

/// The group of the resource.
pub const GROUP: &str = "argoproj.io";

/// The kind of the resource.
pub const KIND: &str = "ArgoCD";

/// The data of a settings object: of a ConfigMap `argocd-cm` its own, of an `ArgoCD` what its operator would write.
pub fn data(settings: &Object) -> Map {
    match settings.kind() {
        KIND => of_resource(settings.value()),
        _ => settings.at(&["data"]).and_then(Value::as_map).cloned().unwrap_or_default(),
    }
}

fn of_resource(resource: &Value) -> Map {
    let mut data = Map::new();
    for (field, key) in [
        ("resourceCustomizations", "resource.customizations"),
        ("resourceExclusions", "resource.exclusions"),
        ("resourceInclusions", "resource.inclusions"),
        ("resourceTrackingMethod", "application.resourceTrackingMethod"),
        ("installationID", "installationID"),
        ("applicationInstanceLabelKey", "application.instanceLabelKey"),
        ("kustomizeBuildOptions", "kustomize.buildOptions"),
    ] {
        if let Some(text) = resource.str_at(&["spec", field]).filter(|text| !text.is_empty()) {
            data.insert(key, text);
        }
    }
    for (list, field, sort) in
        [("resourceHealthChecks", "check", "health"), ("resourceActions", "action", "actions")]
    {
        for item in resource.items_at(&["spec", list]) {
            data.insert(key(sort, item), item.str_at(&[field]).unwrap_or_default());
        }
    }
    let rules = resource.at(&["spec", "resourceIgnoreDifferences"]);
    if let Some(all) = rules.and_then(|rules| rules.get("all")) {
        data.insert("resource.customizations.ignoreDifferences.all", yaml::to_string(all));
    }
    for item in rules.map(|rules| rules.items_at(&["resourceIdentifiers"])).unwrap_or_default() {
        let rule = item.get("customization").cloned().unwrap_or_default();
        data.insert(key("ignoreDifferences", item), yaml::to_string(&rule));
    }
    // What is written out in full counts before all of it.
    let more = resource.at(&["spec", "extraConfig"]).and_then(Value::as_map);
    for (key, value) in more.into_iter().flat_map(Map::iter) {
        data.insert(key.clone(), value.clone());
    }
    data
}

/// `resource.customizations.health.apps_Deployment`, and `…health.Pod` for a kind of the core group.
fn key(sort: &str, item: &Value) -> Str {
    let text = |name: &str| item.str_at(&[name]).unwrap_or_default();
    let kind = match text("group") {
        "" => text("kind").to_owned(),
        group => format!("{group}_{}", text("kind")),
    };
    format!("resource.customizations.{sort}.{kind}").into()
}

#[cfg(test)]
mod tests {
    use lynceus_object::value;

    use super::*;

    #[test]
    fn a_resource_becomes_the_keys_of_a_config_map() {
        let resource = value!({"kind": "ArgoCD", "spec": {
            "resourceHealthChecks": [{"group": "x.io", "kind": "Thing", "check": "return {}"}, {"kind": "Pod", "check": "return nil"}],
            "resourceIgnoreDifferences": {
                "all": {"jsonPointers": ["/spec/a"]},
                "resourceIdentifiers": [{"group": "apps", "kind": "Deployment", "customization": {"jqPathExpressions": [".b"]}}],
            },
            "kustomizeBuildOptions": "--enable-helm",
            "extraConfig": {"resource.customizations.health.Pod": "return {}", "timeout.reconciliation": "5m"},
        }});
        let lines: Vec<String> = of_resource(&resource)
            .iter()
            .map(|(key, value)| {
                format!("{key}={}", value.as_str().unwrap_or_default().trim_end().replace('\n', " "))
            })
            .collect();
        assert_eq!(
            lines,
            [
                "kustomize.buildOptions=--enable-helm",
                "resource.customizations.health.Pod=return {}",
                "resource.customizations.health.x.io_Thing=return {}",
                "resource.customizations.ignoreDifferences.all=jsonPointers: - /spec/a",
                "resource.customizations.ignoreDifferences.apps_Deployment=jqPathExpressions: - .b",
                "timeout.reconciliation=5m",
            ]
        );
    }
}
