//! Requests about resources.

use std::sync::Arc;

use bytes::Bytes;
use http::Response;
use http::request::Parts;
use lynceus_object::schema;
use lynceus_object::{Gvk, Str, Value, json, value};

use super::negotiate::{Accept, Format, Transform, Wanted};
use super::output::{Writer, page_not_found, plain};
use super::query::Query;
use super::{Body, input, log, output, watch};
use crate::attributes::{Attributes, User};
use crate::core::Core;
use crate::kinds::{self, Resource};
use crate::table::Include;
use crate::verbs::{
    self, Answer, Call, DeleteOptions, ListOptions, Selection, Validation, WatchOptions, WriteOptions,
};
use crate::{ApiError, FieldError};

/// A request about a resource, by someone who may make it.
pub(super) struct Request<'a> {
    pub(super) core: &'a Arc<Core>,
    pub(super) user: User,
    pub(super) parts: &'a Parts,
    pub(super) accept: &'a Accept,
    pub(super) query: &'a Query,
    pub(super) attributes: Attributes,
    pub(super) body: Bytes,
}

impl Request<'_> {
    pub(super) async fn answer(self) -> Result<Response<Body>, ApiError> {
        let wanted = &self.attributes;
        let registry = self.core.registry();
        let Some(resource) = registry.find(&wanted.group, &wanted.version, &wanted.resource) else {
            return self.unknown();
        };
        if !resource.namespaced && !wanted.namespace.is_empty() && wanted.resource != "namespaces" {
            return self.unknown();
        }
        if resource.namespaced && wanted.namespace.is_empty() && !self.spans_namespaces() {
            // The path is there, for lists.
            return if wanted.name.is_empty() { Err(ApiError::method_not_allowed()) } else { self.unknown() };
        }
        if !wanted.subresource.is_empty() && resource.subresource(&wanted.subresource).is_none() {
            return if resource.custom.is_some() {
                Ok(page_not_found())
            } else {
                Err(ApiError::no_such_resource())
            };
        }
        self.check_verb(resource)?;
        let answered = self.dispatch(resource).await;
        let Some(deprecation) = &resource.deprecation else { return answered };
        // Who is refused hears of it as well.
        match answered {
            Ok(mut response) => {
                output::warn(&mut response, deprecation);
                Ok(response)
            }
            Err(mut error) => {
                error.warnings.push(deprecation.as_str().into());
                Err(error)
            }
        }
    }

    /// Whether a request without a namespace makes sense for a namespaced kind.
    fn spans_namespaces(&self) -> bool {
        matches!(self.attributes.verb.as_str(), "list" | "watch") || self.attributes.resource == "namespaces"
    }

    fn unknown(&self) -> Result<Response<Body>, ApiError> {
        let wanted = &self.attributes;
        let built_in = kinds::resources()
            .iter()
            .any(|resource| resource.group == wanted.group && resource.version == wanted.version);
        if built_in { Err(ApiError::no_such_resource()) } else { Ok(page_not_found()) }
    }

    fn check_verb(&self, resource: &Resource) -> Result<(), ApiError> {
        let wanted = &self.attributes;
        if self.parts.method == http::Method::HEAD {
            return Err(ApiError::method_not_allowed());
        }
        let allowed = match resource.subresource(&wanted.subresource) {
            Some(subresource) => subresource.verbs.contains(&wanted.verb.as_str()),
            None => resource.allows(&wanted.verb),
        };
        // Objects are created in collections and replaced under their names.
        let misplaced = match wanted.verb.as_str() {
            "create" => !wanted.name.is_empty() && wanted.subresource.is_empty(),
            "update" | "patch" => wanted.name.is_empty(),
            _ => false,
        };
        if allowed && !misplaced { Ok(()) } else { Err(ApiError::method_not_allowed()) }
    }

    async fn dispatch(self, resource: &Arc<Resource>) -> Result<Response<Body>, ApiError> {
        let kind = match resource.subresource(&self.attributes.subresource) {
            Some(subresource) => &subresource.gvk,
            None => &resource.gvk(),
        };
        let protobuf = resource.custom.is_none() && schema::builtin().of(kind).is_some();
        let wanted = self.accept.choose(protobuf)?;
        let include =
            if matches!(wanted.transform, Transform::Table(_)) { self.include()? } else { Include::Metadata };
        let writer = Writer { resource, wanted, include, now: self.core.now() };
        let call = self.call(resource)?;
        match self.attributes.verb.as_str() {
            "get" if call.subresource == "log" => self.log(&call).await,
            "get" if is_connection(&call.subresource) => Err(no_processes(self.core, &call).await),
            "get" => {
                self.check_version()?;
                let object = verbs::read_subresource(self.core, &call).await?;
                writer.object(200, object, &[])
            }
            "list" => {
                let page = verbs::list(self.core, &call, &self.list_options(resource)?).await?;
                writer.page(page)
            }
            "watch" => self.watch(&call, wanted, writer.include).await,
            "create" => self.write(&writer, self.create(&call).await?).await,
            "update" => self.write(&writer, self.update(&call).await?).await,
            "patch" => {
                let patch = input::patch(&self.parts.headers, &self.body)?;
                check_patch_options(&patch, self.query)?;
                self.write(&writer, verbs::patch(self.core, &call, &patch).await?).await
            }
            "delete" => {
                let options = self.delete_options()?;
                let answer = verbs::delete(self.core, &call, &options).await?;
                let mut response = self.write(&writer, answer).await?;
                if resource.gvk() == Gvk::new("batch", "v1", "Job") && options.is_undecided() {
                    output::warn(&mut response, KEPT_PODS);
                }
                Ok(response)
            }
            "deletecollection" => {
                let (options, listing) = (self.delete_options()?, self.list_options(resource)?);
                let deleted = verbs::delete_collection(self.core, &call, &options, &listing).await?;
                self.write(&writer, Answer::ok(deleted)).await
            }
            _ => Err(ApiError::method_not_allowed()),
        }
    }

    /// Sends what a write answered, once it is on the disk.
    async fn write(&self, writer: &Writer<'_>, answer: Answer) -> Result<Response<Body>, ApiError> {
        let store = &self.core.store;
        store.durable(store.revision()).await.map_err(|error| crate::core::storage_error(&error))?;
        // Tables are for reading; a list of deleted objects is sent as it is.
        let plain = Writer { wanted: Wanted { transform: Transform::None, ..writer.wanted }, ..*writer };
        let writer = if answer.object.kind().ends_with("List") { &plain } else { writer };
        writer.object(answer.code, answer.object, &answer.warnings)
    }

    fn call(&self, resource: &Arc<Resource>) -> Result<Call, ApiError> {
        let wanted = &self.attributes;
        let own_namespace = resource.is("", "namespaces");
        Ok(Call {
            user: Arc::new(self.user.clone()),
            resource: Arc::clone(resource),
            namespace: if own_namespace { Str::new() } else { wanted.namespace.clone() },
            name: wanted.name.clone(),
            subresource: wanted.subresource.clone(),
            options: self.write_options()?,
        })
    }

    fn write_options(&self) -> Result<WriteOptions, ApiError> {
        let (kind, checked) = match self.attributes.verb.as_str() {
            "create" => ("CreateOptions", true),
            "update" => ("UpdateOptions", true),
            "patch" => ("PatchOptions", true),
            _ => ("", false),
        };
        let mut errors = Vec::new();
        let dry_runs: Vec<&str> = self.query.all("dryRun").filter(|word| !word.is_empty()).collect();
        if dry_runs.iter().any(|word| *word != "All") {
            let shown = json::to_string(&dry_runs.iter().copied().collect::<Value>());
            errors.push(FieldError::not_supported("dryRun", shown, &["All"]));
        }
        let validation = match self.query.get("fieldValidation").unwrap_or_default() {
            "" | "Warn" => Validation::Warn,
            "Strict" => Validation::Strict,
            "Ignore" => Validation::Ignore,
            other => {
                let known = ["", "Ignore", "Strict", "Warn"];
                errors.push(FieldError::not_supported("fieldValidation", format!("{other:?}"), &known));
                Validation::Warn
            }
        };
        let manager = self.query.get("fieldManager").unwrap_or_default();
        if manager.len() > 128 {
            errors.push(FieldError::invalid(
                "fieldManager",
                format!("{manager:?}"),
                "may not be more than 128 bytes",
            ));
        }
        if let Some((at, odd)) = manager.char_indices().find(|(_, letter)| letter.is_control()) {
            let detail = format!("invalid character U+{:04X} (at position {at})", u32::from(odd));
            errors.push(FieldError::invalid("fieldManager", kinds::gofmt::quoted(manager), detail));
        }
        if checked && !errors.is_empty() {
            return Err(ApiError::invalid("meta.k8s.io", kind, "", &errors));
        }
        let agent = self.parts.headers.get(http::header::USER_AGENT).and_then(|agent| agent.to_str().ok());
        let agent = agent.unwrap_or("unknown").split('/').next().unwrap_or_default();
        Ok(WriteOptions {
            dry_run: !dry_runs.is_empty(),
            manager: if manager.is_empty() { agent.into() } else { manager.into() },
            validation,
            force: self.query.flag("force") == Some(true),
        })
    }

    async fn create(&self, call: &Call) -> Result<Answer, ApiError> {
        let kind = match call.resource.subresource(&call.subresource) {
            Some(subresource) => subresource.gvk.kind.clone(),
            None => call.resource.kind.clone(),
        };
        if is_connection(&call.subresource) {
            return Err(no_processes(self.core, call).await);
        }
        let sent = input::object(&self.parts.headers, &self.body, &kind)?;
        if !call.subresource.is_empty() {
            return verbs::create_subresource(self.core, call, sent).await;
        }
        if is_review(&call.resource) {
            return verbs::review(self.core, call, sent);
        }
        if call.resource.is("", "bindings") {
            let mut call = call.clone();
            call.name = sent.object.name().into();
            call.subresource = "binding".into();
            let registry = self.core.registry();
            call.resource = registry.find("", "v1", "pods").cloned().unwrap_or_else(|| call.resource.clone());
            return verbs::create_subresource(self.core, &call, sent).await;
        }
        verbs::create(self.core, call, sent).await
    }

    async fn update(&self, call: &Call) -> Result<Answer, ApiError> {
        let kind =
            call.resource.subresource(&call.subresource).map(|subresource| subresource.gvk.kind.clone());
        let kind = kind.unwrap_or_else(|| call.resource.kind.clone());
        let sent = input::object(&self.parts.headers, &self.body, &kind)?;
        match call.subresource.as_str() {
            "scale" => verbs::replace_scale(self.core, call, sent).await,
            _ => verbs::replace(self.core, call, sent).await,
        }
    }

    fn delete_options(&self) -> Result<DeleteOptions, ApiError> {
        if !self.body.is_empty() {
            let options = input::options(&self.parts.headers, &self.body)?;
            let mut options = DeleteOptions::from_value(&options)?;
            options.dry_run |= self.query.all("dryRun").any(|word| word == "All");
            return Ok(options);
        }
        let mut options = value!({});
        if let Some(seconds) = self.query.number("gracePeriodSeconds")? {
            options.set(&["gracePeriodSeconds"], seconds);
        }
        if let Some(policy) = self.query.get("propagationPolicy").filter(|policy| !policy.is_empty()) {
            options.set(&["propagationPolicy"], policy);
        }
        if let Some(orphan) = self.query.flag("orphanDependents") {
            options.set(&["orphanDependents"], orphan);
        }
        let dry_runs: Value = self.query.all("dryRun").filter(|word| !word.is_empty()).collect();
        options.set(&["dryRun"], dry_runs);
        DeleteOptions::from_value(&options)
    }

    fn selection(&self, resource: &Resource) -> Result<Selection, ApiError> {
        let selection =
            Selection::new(resource, &self.query.text("labelSelector"), &self.query.text("fieldSelector"))?;
        let name = &self.attributes.name;
        Ok(if name.is_empty() { selection } else { selection.named(name) })
    }

    /// A version that one object is asked for at does not matter here, but it has to be one.
    fn check_version(&self) -> Result<(), ApiError> {
        let version = self.query.text("resourceVersion");
        if version.is_empty() || version.parse::<u64>().is_ok() {
            return Ok(());
        }
        let detail = format!("strconv.ParseUint: parsing {version:?}: invalid syntax");
        let error = FieldError::invalid("resourceVersion", format!("{version:?}"), detail);
        Err(ApiError::new(500, "", error.to_string()))
    }

    fn list_options(&self, resource: &Resource) -> Result<ListOptions, ApiError> {
        if self.query.get("sendInitialEvents").is_some() {
            let error = FieldError::forbidden("sendInitialEvents", "sendInitialEvents is forbidden for list");
            return Err(ApiError::invalid("meta.k8s.io", "ListOptions", "", &[error]));
        }
        Ok(ListOptions {
            selection: self.selection(resource)?,
            limit: self.query.number("limit")?.and_then(|limit| usize::try_from(limit).ok()).unwrap_or(0),
            continue_: self.query.text("continue"),
            resource_version: self.query.text("resourceVersion"),
            resource_version_match: self.query.text("resourceVersionMatch"),
        })
    }

    async fn watch(&self, call: &Call, wanted: Wanted, include: Include) -> Result<Response<Body>, ApiError> {
        let options = WatchOptions {
            selection: self.selection(&call.resource)?,
            resource_version: self.query.text("resourceVersion"),
            resource_version_match: self.query.text("resourceVersionMatch"),
            bookmarks: self.query.flag("allowWatchBookmarks") == Some(true),
            send_initial_events: self.query.flag("sendInitialEvents"),
            timeout_seconds: self.query.number("timeoutSeconds")?,
        };
        if wanted.format == Format::Yaml {
            let message = "only the following media types are accepted: application/json;stream=watch, \
                           application/vnd.kubernetes.protobuf;stream=watch";
            return Err(ApiError::new(406, "NotAcceptable", message));
        }
        self.check_version()?;
        let watcher = verbs::watch(self.core, call, options).await?;
        Ok(watch::response(self.core, watcher, wanted, include))
    }

    fn include(&self) -> Result<Include, ApiError> {
        match self.query.get("includeObject").unwrap_or_default() {
            "" | "Metadata" => Ok(Include::Metadata),
            "None" => Ok(Include::None),
            "Object" => Ok(Include::Object),
            other => {
                let detail = "must be 'Metadata', 'Object', 'None', or empty";
                let error = FieldError::invalid("includeObject", format!("{other:?}"), detail);
                Err(ApiError::bad_request(format!("Unable to convert to Table as requested: {error}")))
            }
        }
    }

    /// What a container wrote.
    async fn log(&self, call: &Call) -> Result<Response<Body>, ApiError> {
        let pod = verbs::get(self.core, call).await?;
        let container = self.query.text("container");
        let names: Vec<&str> = ["containers", "initContainers"]
            .iter()
            .flat_map(|list| pod.value().items_at(&["spec", list]))
            .filter_map(|container| container.str_at(&["name"]))
            .collect();
        let regular = pod.value().items_at(&["spec", "containers"]).len();
        if container.is_empty() && regular > 1 {
            return Err(ApiError::bad_request(format!(
                "a container name must be specified for pod {}, choose one of: [{}]",
                pod.name(),
                names.join(" ")
            )));
        }
        if !container.is_empty() && !names.contains(&container.as_str()) {
            return Err(ApiError::bad_request(format!(
                "container {container} is not valid for pod {}",
                pod.name()
            )));
        }
        let first = names.first().copied().unwrap_or_default();
        let container = if container.is_empty() { first } else { container.as_str() };
        Ok(plain(200, "text/plain", log::text(self.core, &pod, container, self.query)?))
    }
}

/// Of a Job's deletion that does not say what becomes of its pods.
const KEPT_PODS: &str = "child pods are preserved by default when jobs are deleted; set propagationPolicy=Background to \
                         remove them or set propagationPolicy=Orphan to suppress this warning";

fn is_connection(subresource: &str) -> bool {
    matches!(subresource, "exec" | "attach" | "portforward" | "proxy")
}

async fn no_processes(core: &Core, call: &Call) -> ApiError {
    if let Err(error) = verbs::get(core, call).await {
        return error;
    }
    ApiError::bad_request(format!(
        "{}/{} is not supported: the pods of this cluster run no processes",
        call.resource.plural, call.subresource
    ))
}

/// Kinds that are answered and not stored.
fn is_review(resource: &Resource) -> bool {
    matches!(resource.group.as_str(), "authentication.k8s.io" | "authorization.k8s.io")
}

fn check_patch_options(patch: &verbs::Patch, query: &Query) -> Result<(), ApiError> {
    let mut errors = Vec::new();
    if patch.kind == verbs::PatchKind::Apply {
        if query.get("fieldManager").unwrap_or_default().is_empty() {
            errors.push(FieldError::required("fieldManager", "is required for apply patch"));
        }
    } else if query.get("force").is_some() {
        errors.push(FieldError::forbidden("force", "may not be specified for non-apply patch"));
    }
    if errors.is_empty() {
        return Ok(());
    }
    Err(ApiError::invalid("meta.k8s.io", "PatchOptions", "", &errors))
}
