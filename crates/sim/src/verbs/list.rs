//! Reading many objects, all at once or page by page.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use lynceus_object::{Object, Str, Value, json, value};

use super::{Call, Selection};
use crate::core::{Core, place};
use crate::kinds::Resource;
use crate::store::HistoryError;
use crate::{ApiError, FieldError, conversion, strategy};

/// How a list is asked for.
#[derive(Clone, Debug, Default)]
pub(crate) struct ListOptions {
    pub(crate) selection: Selection,
    /// At most so many; 0 for all.
    pub(crate) limit: usize,
    /// Where an earlier page ended.
    pub(crate) continue_: Str,
    pub(crate) resource_version: Str,
    pub(crate) resource_version_match: Str,
}

/// One page of a list.
#[derive(Clone, Debug)]
pub(crate) struct Page {
    pub(crate) items: Vec<Object>,
    revision: u64,
    continue_: Str,
    remaining: Option<usize>,
}

impl Page {
    pub(crate) fn with_items(self, items: Vec<Object>) -> Self {
        Page { items, ..self }
    }

    /// The list's metadata.
    pub(crate) fn metadata(&self) -> Value {
        let mut metadata = value!({"resourceVersion": self.revision.to_string()});
        if !self.continue_.is_empty() {
            metadata.set(&["continue"], self.continue_.clone());
        }
        if let Some(remaining) = self.remaining {
            metadata.set(&["remainingItemCount"], remaining);
        }
        metadata
    }

    /// The list as an object.
    pub(crate) fn into_object(self, resource: &Resource) -> Object {
        let mut metadata = self.metadata();
        if resource.custom.is_some() && self.continue_.is_empty() {
            metadata.set(&["continue"], "");
        }
        let mut list =
            value!({"kind": resource.list_kind.as_str(), "apiVersion": resource.api_version().as_str()});
        list.set(&["metadata"], metadata);
        // Items of a typed list do not repeat their kind; those of custom resources do.
        let items = self.items.into_iter().map(|mut item| {
            if resource.custom.is_none() {
                item.remove(&["kind"]);
                item.remove(&["apiVersion"]);
            }
            item.into_value()
        });
        list.set(&["items"], items.collect::<Value>());
        Object::new(list).unwrap_or_default()
    }
}

/// Lists objects.
pub(crate) async fn list(core: &Core, call: &Call, options: &ListOptions) -> Result<Page, ApiError> {
    check_options(options)?;
    if let Some(measured) = core.measured(&call.resource, &call.namespace) {
        return Ok(page(call, options, measured.into_iter(), core.store.revision()));
    }
    let place = place(&call.resource);
    let namespace = Some(call.namespace.as_str()).filter(|namespace| !namespace.is_empty());
    let token = Token::read(&options.continue_, &call.namespace, call.resource.namespaced)?;
    let (stored, revision) = match (&token, asked_revision(options)?) {
        (Some(token), _) => {
            let then = core.store.read_all_at(&place, namespace, token.revision);
            (then.map_err(|_| expired())?, token.revision)
        }
        (None, Some(revision)) if options.resource_version_match == "Exact" => {
            let then = core.store.read_all_at(&place, namespace, revision);
            (then.map_err(|error| history_error(error, revision))?, revision)
        }
        (None, asked) => {
            let (stored, revision) = core.store.read_all(&place, namespace);
            if let Some(asked) = asked.filter(|asked| *asked > revision) {
                return Err(too_large(asked, revision));
            }
            (stored, revision)
        }
    };
    let after = token.as_ref().map(|token| (token.namespace.as_str(), token.name.as_str()));
    let stored = stored.into_iter().skip_while(|object| {
        after.is_some_and(|(namespace, name)| (object.namespace(), object.name()) <= (namespace, name))
    });
    if conversion::webhook(&call.resource).is_some() {
        let converted = conversion::serve(core, stored.collect(), &call.resource).await?;
        return Ok(page(call, options, converted.into_iter(), revision));
    }
    Ok(page(call, options, stored, revision))
}

fn page(call: &Call, options: &ListOptions, mut stored: impl Iterator<Item = Object>, revision: u64) -> Page {
    let mut page = Page { items: Vec::new(), revision, continue_: Str::new(), remaining: None };
    for object in stored.by_ref() {
        let object = strategy::serve(object, &call.resource);
        if !options.selection.matches(&call.resource, &object) {
            continue;
        }
        page.items.push(object);
        if page.items.len() == options.limit {
            break;
        }
    }
    if options.limit > 0 && page.items.len() == options.limit {
        let remaining = stored.count();
        if remaining > 0
            && let Some(last) = page.items.last()
        {
            page.continue_ = Token::after(last, revision).write(&call.namespace);
            page.remaining = options.selection.is_everything().then_some(remaining);
        }
    }
    page
}

/// Where the next page starts.
struct Token {
    revision: u64,
    namespace: Str,
    name: Str,
}

impl Token {
    fn after(object: &Object, revision: u64) -> Self {
        Token { revision, namespace: object.namespace().into(), name: object.name().into() }
    }

    /// Names the last object relative to what is listed: all namespaces, or the one called `listed`.
    fn write(&self, listed: &str) -> Str {
        let start = if self.namespace == listed {
            format!("{}\0", self.name)
        } else {
            format!("{}/{}\0", self.namespace, self.name)
        };
        let token = value!({"v": "meta.k8s.io/v1", "rv": self.revision, "start": start});
        URL_SAFE_NO_PAD.encode(serde_json::to_vec(&token).unwrap_or_default()).into()
    }

    fn read(text: &str, listed: &str, namespaced: bool) -> Result<Option<Self>, ApiError> {
        if text.is_empty() {
            return Ok(None);
        }
        let bad = |why: &str| {
            ApiError::bad_request(format!("invalid continue token: continue key is not valid: {why}"))
        };
        let bytes = URL_SAFE_NO_PAD.decode(text).map_err(|error| bad(&error.to_string()))?;
        let token: Value = json::parse(&bytes).map_err(|error| bad(&error.problem))?;
        if token.str_at(&["v"]) != Some("meta.k8s.io/v1") {
            return Err(bad("server does not recognize this encoded version"));
        }
        let start = token.str_at(&["start"]).unwrap_or_default().trim_end_matches('\0');
        let (namespace, name) = match start.split_once('/') {
            Some(parts) if namespaced && listed.is_empty() => parts,
            _ if !start.is_empty() => (listed, start),
            _ => return Err(bad("encoded start key empty")),
        };
        let revision = token.int_at(&["rv"]).and_then(|revision| u64::try_from(revision).ok());
        let revision = revision.ok_or_else(|| bad("incorrect encoded start resourceVersion"))?;
        Ok(Some(Token { revision, namespace: namespace.into(), name: name.into() }))
    }
}

/// The revision that a list has to be at least, or exactly, as new as.
fn asked_revision(options: &ListOptions) -> Result<Option<u64>, ApiError> {
    match options.resource_version.as_str() {
        "" | "0" => Ok(None),
        version => parse_version(version).map(Some),
    }
}

/// Reads a resourceVersion.
pub(super) fn parse_version(version: &str) -> Result<u64, ApiError> {
    version.parse().map_err(|_| {
        let detail = format!("strconv.ParseUint: parsing {version:?}: invalid syntax");
        let error = FieldError::invalid("resourceVersion", format!("{version:?}"), detail);
        ApiError::bad_request(format!("invalid resource version: {error}"))
    })
}

fn check_options(options: &ListOptions) -> Result<(), ApiError> {
    let field = "resourceVersionMatch";
    let version_match = options.resource_version_match.as_str();
    let mut errors = Vec::new();
    if !version_match.is_empty() {
        if options.resource_version.is_empty() {
            errors.push(FieldError::forbidden(
                field,
                "resourceVersionMatch is forbidden unless resourceVersion is provided",
            ));
        }
        if !options.continue_.is_empty() {
            errors.push(FieldError::forbidden(
                field,
                "resourceVersionMatch is forbidden when continue is provided",
            ));
        }
        if !["Exact", "NotOlderThan"].contains(&version_match) {
            let known = ["Exact", "NotOlderThan", ""];
            errors.push(FieldError::not_supported(field, format!("{version_match:?}"), &known));
        }
        if version_match == "Exact" && options.resource_version == "0" {
            errors.push(FieldError::forbidden(
                field,
                "resourceVersionMatch \"exact\" is forbidden for resourceVersion \"0\"",
            ));
        }
    }
    if !errors.is_empty() {
        return Err(ApiError::invalid("meta.k8s.io", "ListOptions", "", &errors));
    }
    if !options.continue_.is_empty() && !matches!(options.resource_version.as_str(), "" | "0") {
        return Err(ApiError::bad_request("specifying resource version is not allowed when using continue"));
    }
    Ok(())
}

/// The answer to reading history that is not there.
pub(super) fn history_error(error: HistoryError, revision: u64) -> ApiError {
    match error {
        HistoryError::TooOld { oldest } => {
            ApiError::expired(format!("too old resource version: {revision} ({oldest})"))
        }
        HistoryError::Future { current } => too_large(revision, current),
    }
}

fn too_large(asked: u64, current: u64) -> ApiError {
    let message = format!("Too large resource version: {asked}, current: {current}");
    ApiError::new(504, "Timeout", format!("Timeout: {message}")).with_details(value!({
        "causes": [{"reason": "ResourceVersionTooLarge", "message": "Too large resource version"}],
        "retryAfterSeconds": 1,
    }))
}

fn expired() -> ApiError {
    ApiError::expired(
        "The provided continue parameter is too old to display a consistent list result. You can start a new \
         list without the continue parameter.",
    )
}
