//! What may be done at an address, and with which parameters.

use lynceus_object::{Value, value};

use super::model::{Dialect, Models, gvk_value};
use super::{name, words};
use crate::kinds::{Resource, Subresource};

/// What an operation is about.
#[derive(Clone, Copy)]
pub(super) struct Target<'a> {
    pub(super) resource: &'a Resource,
    pub(super) part: Option<&'a Subresource>,
    /// Whether the path names one object.
    pub(super) named: bool,
    /// Whether the path names a namespace.
    pub(super) namespaced: bool,
}

/// What an operation does.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Action {
    List,
    ListEverywhere,
    Create,
    DeleteAll,
    Read,
    Replace,
    Patch,
    Delete,
}

impl Action {
    /// The HTTP method.
    pub(super) fn method(self) -> &'static str {
        match self {
            Self::List | Self::ListEverywhere | Self::Read => "get",
            Self::Create => "post",
            Self::Replace => "put",
            Self::Patch => "patch",
            Self::Delete | Self::DeleteAll => "delete",
        }
    }

    /// The word in `x-kubernetes-action`.
    fn word(self) -> &'static str {
        match self {
            Self::List | Self::ListEverywhere => "list",
            Self::DeleteAll => "deletecollection",
            Self::Read => "get",
            _ => self.method(),
        }
    }

    /// The first word of the operation's name.
    fn verb(self) -> &'static str {
        match self {
            Self::List | Self::ListEverywhere => "list",
            Self::Create => "create",
            Self::Read => "read",
            Self::Replace => "replace",
            Self::Patch => "patch",
            Self::Delete | Self::DeleteAll => "delete",
        }
    }

    fn parameters(self) -> &'static [&'static str] {
        const LIST: &[&str] = &[
            "allowWatchBookmarks",
            "continue",
            "fieldSelector",
            "labelSelector",
            "limit",
            "resourceVersion",
            "resourceVersionMatch",
            "sendInitialEvents",
            "timeoutSeconds",
            "watch",
        ];
        match self {
            Self::List | Self::ListEverywhere => LIST,
            Self::Create | Self::Replace => &["dryRun", "fieldManager", "fieldValidation"],
            Self::Patch => &["dryRun", "fieldManager", "fieldValidation", "force"],
            Self::Delete => &["dryRun", "gracePeriodSeconds", "orphanDependents", "propagationPolicy"],
            Self::DeleteAll => &[
                "continue",
                "dryRun",
                "fieldSelector",
                "gracePeriodSeconds",
                "labelSelector",
                "limit",
                "orphanDependents",
                "propagationPolicy",
                "resourceVersion",
                "resourceVersionMatch",
                "sendInitialEvents",
                "timeoutSeconds",
            ],
            Self::Read => &[],
        }
    }
}

const CONTENT: [&str; 3] = ["application/json", "application/yaml", "application/vnd.kubernetes.protobuf"];
const WATCH_CONTENT: [&str; 2] =
    ["application/json;stream=watch", "application/vnd.kubernetes.protobuf;stream=watch"];
const PATCHES: [&str; 4] = [
    "application/json-patch+json",
    "application/merge-patch+json",
    "application/strategic-merge-patch+json",
    "application/apply-patch+yaml",
];

/// One operation.
pub(super) fn operation(target: &Target<'_>, action: Action, models: &mut Models) -> Value {
    let resource = target.resource;
    let (group, version, kind) = match target.part {
        Some(part) => (part.gvk.group.as_str(), part.gvk.version.as_str(), part.gvk.kind.as_str()),
        None => (resource.group.as_str(), resource.version.as_str(), resource.kind.as_str()),
    };
    let word = if target.part.is_some_and(opens) { "connect" } else { action.word() };
    let mut operation = value!({
        "tags": [name::tag(resource)],
        "description": words::of_action(word, kind),
        "operationId": id(target, action),
        "x-kubernetes-action": word,
        "x-kubernetes-group-version-kind": gvk_value(group, version, kind),
    });
    let parameters: Vec<Value> =
        action.parameters().iter().map(|parameter| query(parameter, models.dialect)).collect();
    let answer = answer(target, action, models);
    let sent = sent(target, action, models);
    match models.dialect {
        Dialect::V3 => v3_bodies(&mut operation, action, sent, answer, &parameters, resource),
        Dialect::V2 => v2_bodies(&mut operation, action, sent, answer, parameters, resource),
    }
    operation
}

/// The parameters that every operation of a path shares.
pub(super) fn path_parameters(target: &Target<'_>, dialect: Dialect) -> Vec<Value> {
    let path = |name: &str, what: &str| {
        let description = format!("The {what}.");
        parameter(
            value!({"name": name, "in": "path", "required": true, "description": description}),
            "string",
            dialect,
        )
    };
    let mut parameters = Vec::new();
    if target.named {
        parameters.push(path("name", &format!("name of the {}", target.resource.kind)));
    }
    if target.namespaced {
        parameters.push(path("namespace", "namespace of the object"));
    }
    parameters.push(query("pretty", dialect));
    parameters
}

/// `readAppsV1NamespacedDeploymentScale`.
fn id(target: &Target<'_>, action: Action) -> String {
    let resource = target.resource;
    let collection = if action == Action::DeleteAll { "Collection" } else { "" };
    let namespaced = if target.namespaced { "Namespaced" } else { "" };
    let part = target.part.map(|part| name::capitalized(&part.name)).unwrap_or_default();
    let everywhere = if action == Action::ListEverywhere { "ForAllNamespaces" } else { "" };
    let group = name::operation_group(resource);
    if target.part.is_some_and(opens) {
        let method = name::capitalized(action.method());
        return format!("connect{group}{method}{namespaced}{}{part}", resource.kind);
    }
    format!("{}{group}{collection}{namespaced}{}{part}{everywhere}", action.verb(), resource.kind)
}

fn query(name: &str, dialect: Dialect) -> Value {
    let kind = match name {
        "allowWatchBookmarks" | "sendInitialEvents" | "watch" | "force" | "orphanDependents" => "boolean",
        "limit" | "timeoutSeconds" | "gracePeriodSeconds" => "integer",
        _ => "string",
    };
    parameter(value!({"name": name, "in": "query", "description": words::of_parameter(name)}), kind, dialect)
}

fn parameter(mut parameter: Value, kind: &str, dialect: Dialect) -> Value {
    match dialect {
        Dialect::V2 => {
            parameter.set(&["type"], kind);
            parameter.set(&["uniqueItems"], true);
        }
        Dialect::V3 => parameter.set(&["schema"], value!({"type": kind, "uniqueItems": true})),
    }
    parameter
}

/// What comes back.
fn answer(target: &Target<'_>, action: Action, models: &mut Models) -> Value {
    match (action, target.part) {
        (Action::List | Action::ListEverywhere, _) => models.resource(target.resource, true),
        (_, Some(part)) if opens(part) || part.name == "log" => value!({"type": "string"}),
        (Action::Delete | Action::DeleteAll, _) => models.shared("Status"),
        (_, Some(part)) if part.gvk.kind != target.resource.kind => models.kind(&part.gvk),
        _ => models.resource(target.resource, false),
    }
}

/// What is sent, if anything is.
fn sent(target: &Target<'_>, action: Action, models: &mut Models) -> Option<Value> {
    match action {
        _ if target.part.is_some_and(opens) => None,
        Action::Create | Action::Replace => Some(answer(target, action, models)),
        Action::Patch => Some(models.shared("Patch")),
        Action::Delete | Action::DeleteAll => Some(models.shared("DeleteOptions")),
        Action::List | Action::ListEverywhere | Action::Read => None,
    }
}

/// Whether a part opens a connection rather than reading or writing an object.
fn opens(part: &Subresource) -> bool {
    matches!(part.name.as_str(), "attach" | "exec" | "portforward" | "proxy")
}

fn codes(action: Action) -> &'static [(&'static str, &'static str)] {
    match action {
        Action::Create => &[("200", "OK"), ("201", "Created"), ("202", "Accepted")],
        Action::Replace | Action::Patch => &[("200", "OK"), ("201", "Created")],
        Action::Delete => &[("200", "OK"), ("202", "Accepted")],
        _ => &[("200", "OK")],
    }
}

fn patches(resource: &Resource) -> Vec<&'static str> {
    // A custom resource has no strategic merge.
    let custom = resource.custom.is_some();
    PATCHES.into_iter().filter(|patch| !custom || !patch.contains("strategic")).collect()
}

fn produced(action: Action, resource: &Resource) -> Vec<&'static str> {
    let mut content: Vec<&str> = CONTENT.to_vec();
    if matches!(action, Action::List | Action::ListEverywhere) {
        content.extend(WATCH_CONTENT);
    }
    content.retain(|content| resource.custom.is_none() || !content.contains("protobuf"));
    content
}

fn v3_bodies(
    operation: &mut Value,
    action: Action,
    sent: Option<Value>,
    answer: Value,
    parameters: &[Value],
    resource: &Resource,
) {
    if !parameters.is_empty() {
        operation.set(&["parameters"], parameters.to_vec());
    }
    if let Some(sent) = sent {
        let content = if action == Action::Patch { patches(resource) } else { vec!["*/*"] };
        operation.set(&["requestBody"], value!({"content": contents(&content, &sent)}));
        if !matches!(action, Action::Delete | Action::DeleteAll) {
            operation.set(&["requestBody", "required"], true);
        }
    }
    for (code, text) in codes(action) {
        let body = contents(&produced(action, resource), &answer);
        operation.set(&["responses", code], value!({"description": text, "content": body}));
    }
    operation.set(&["responses", "401"], value!({"description": "Unauthorized"}));
}

fn contents(types: &[&str], schema: &Value) -> Value {
    let mut content = value!({});
    for kind in types {
        content.set(&[kind], value!({"schema": schema}));
    }
    content
}

fn v2_bodies(
    operation: &mut Value,
    action: Action,
    sent: Option<Value>,
    answer: Value,
    mut parameters: Vec<Value>,
    resource: &Resource,
) {
    let consumed = if action == Action::Patch { patches(resource) } else { vec!["*/*"] };
    operation.set(&["consumes"], consumed);
    operation.set(&["produces"], produced(action, resource));
    operation.set(&["schemes"], vec!["https"]);
    if let Some(sent) = sent {
        let mut body = value!({"name": "body", "in": "body", "schema": sent});
        if !matches!(action, Action::Delete | Action::DeleteAll) {
            body.set(&["required"], true);
        }
        parameters.insert(0, body);
    }
    if !parameters.is_empty() {
        operation.set(&["parameters"], parameters);
    }
    for (code, text) in codes(action) {
        operation.set(&["responses", code], value!({"description": text, "schema": answer}));
    }
    operation.set(&["responses", "401"], value!({"description": "Unauthorized"}));
}
