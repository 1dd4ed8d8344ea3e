//! An Application through the API, wherever that is answered.

use lynceus_object::{Value, json, value};

use super::Access;
use crate::api::{Api, Connection, misuse};
use crate::exit::{Failure, Outcome};

/// Where Applications are asked for.
pub(super) struct Records {
    pub(super) api: Api,
    pub(super) connection: Connection,
    namespace: String,
}

impl Records {
    pub(super) async fn open(access: &Access) -> Outcome<Self> {
        let connection = access.connection();
        let api = Api::open(&connection).await?;
        Ok(Records { api, connection, namespace: access.named_namespace().to_owned() })
    }

    /// Where they are asked for, if that is a server.
    pub(super) fn remote(access: &Access) -> Outcome<Option<Self>> {
        let connection = access.connection();
        let Some(destination) = connection.destination()? else { return Ok(None) };
        let namespace = access.named_namespace().to_owned();
        Ok(Some(Records { api: Api::remote(&destination)?, connection, namespace }))
    }

    /// Namespace and name of an application that is given as `name` or `namespace/name`; no namespace is the installation's
    /// own.
    pub(super) fn place<'a>(&'a self, name: &'a str) -> (&'a str, &'a str) {
        name.split_once('/').unwrap_or((&self.namespace, name))
    }

    /// A question about an application that is given as `name` or `namespace/name`.
    pub(super) fn about(&self, name: &str) -> Value {
        let (namespace, name) = self.place(name);
        match namespace {
            "" => value!({"name": name}),
            namespace => value!({"name": name, "appNamespace": namespace}),
        }
    }

    /// The same with more in it.
    pub(super) fn asking(&self, name: &str, more: &[(&str, Value)]) -> Value {
        let mut message = self.about(name);
        for (field, value) in more {
            message.set(&[field], value.clone());
        }
        message
    }

    /// The same for methods that call the name otherwise.
    pub(super) fn asking_as(&self, field: &str, name: &str) -> Value {
        let mut message = self.about(name);
        let name = message.remove(&["name"]).unwrap_or_default();
        message.set(&[field], name);
        message
    }

    /// An Application as it is.
    pub(super) async fn get(&self, name: &str) -> Outcome<Value> {
        self.api
            .call(&format!("cannot read application {name}"), "ApplicationService.Get", self.about(name))
            .await
    }

    /// A question about all of them.
    pub(super) fn everywhere(&self) -> Value {
        if self.namespace.is_empty() { value!({}) } else { value!({"appNamespace": self.namespace.as_str()}) }
    }

    /// Changes one by a merge patch.
    pub(super) async fn merge(&self, name: &str, patch: &Value) -> Outcome<Value> {
        let patch = json::to_string(patch).into();
        let message = self.asking(name, &[("patch", patch), ("patchType", "merge".into())]);
        self.api.call(&format!("cannot change application {name}"), "ApplicationService.Patch", message).await
    }

    /// Writes its spec.
    pub(super) async fn respec(&self, name: &str, spec: Value, validate: bool) -> Outcome {
        let message = self.asking(name, &[("spec", spec), ("validate", validate.into())]);
        let failed = format!("cannot change application {name}");
        let changed = self.api.call(&failed, "ApplicationService.UpdateSpec", message).await;
        changed.map(drop).map_err(|failure| with_way_out(failure, validate))
    }
}

/// A failure with how a spec is stored all the same that was tried and found wanting.
pub(super) fn with_way_out(failure: Failure, validate: bool) -> Failure {
    match validate && failure.causes.iter().any(|cause| cause.contains(" is invalid: ")) {
        true => failure.hint("mend it, or have it stored untried with --validate=false"),
        false => failure,
    }
}

// Which source of an application is meant.
#[derive(clap::Args)]
pub(crate) struct Choice {
    /// The source, counted from 1, of an application with several.
    #[arg(long, value_name = "N", conflicts_with = "source_name")]
    pub(super) source_position: Option<usize>,
    /// The source, by its name.
    #[arg(long, value_name = "NAME")]
    pub(super) source_name: Option<String>,
}

impl Choice {
    /// Its place in `spec.sources`; none if there is only `spec.source`.
    pub(super) fn place(&self, spec: &Value) -> Outcome<Option<usize>> {
        let sources = spec.items_at(&["sources"]);
        if let Some(name) = &self.source_name {
            let found = sources.iter().position(|source| source.str_at(&["name"]) == Some(name));
            return found.map(Some).ok_or_else(|| misuse(format!("Unknown source name '{name}'")));
        }
        match (sources.len(), self.source_position) {
            (0, None | Some(0 | 1)) => Ok(None),
            (0, Some(_)) => Err(misuse("the application has one source")),
            (_, None | Some(0)) => Err(misuse(
                "Source position should be specified and must be greater than 0 for applications with multiple sources",
            )
            .hint("--source-position N, or --source-name NAME")),
            (count, Some(at)) if at > count => {
                Err(misuse(format!("there is no source {at}: they are counted from 1 to {count}")))
            }
            (_, Some(at)) => Ok(Some(at - 1)),
        }
    }
}

/// The source at a place of a spec, to be changed.
pub(super) fn source(spec: &Value, place: Option<usize>) -> Value {
    match place {
        Some(at) => spec.items_at(&["sources"])[at].clone(),
        None => spec.get("source").cloned().unwrap_or_else(|| value!({})),
    }
}

/// Puts it back.
pub(super) fn put_source(spec: &mut Value, place: Option<usize>, source: Value) {
    match place {
        Some(at) => {
            let mut sources = spec.items_at(&["sources"]).to_vec();
            sources[at] = source;
            spec.set(&["sources"], Value::from(sources));
        }
        None => spec.set(&["source"], source),
    }
}
