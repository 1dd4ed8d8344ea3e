//! `spec` and `status` of a definition, apart from schemas.

use lynceus_object::{Object, Str, Value};

use super::names::kind_names;
use super::{Form, go_form, openapi};
use crate::crd::field_path;
use crate::crd::limits::SELECTABLE_FIELDS;
use crate::crd::schema::{Schema, Type};
use crate::crd::shown::{json, quoted, shown};
use crate::error::{FieldError, FieldErrorKind};
use crate::kinds::validation::names::{dns_1035_label, dns_subdomain};

pub(super) fn validate(form: &Form<'_>, old: Option<&Object>, errors: &mut Vec<FieldError>) {
    let spec = &form.spec;
    let word = |path: &[&str]| spec.str_at(path).unwrap_or_default();
    group(word(&["group"]), errors);
    one_of("spec.scope", word(&["scope"]), &["Cluster", "Namespaced"], errors);
    if form.shared("schema").is_none() {
        for (at, version) in form.versions.iter().enumerate() {
            if version.at(&["schema", "openAPIV3Schema"]).is_none_or(Value::is_null) {
                let field = format!("spec.versions[{at}].schema.openAPIV3Schema");
                errors.push(FieldError::required(field, ""));
            }
        }
    }
    for (at, version) in form.versions.iter().enumerate() {
        version_errors(form, version, at, errors);
    }
    version_set(form, errors);
    for field in ["plural", "singular", "kind", "listKind"] {
        if word(&["names", field]).is_empty() {
            errors.push(FieldError::required(format!("spec.names.{field}"), ""));
        }
    }
    if let Some(names) = spec.get("names") {
        kind_names(names, "spec.names", errors);
    }
    if let Some(schema) = form.shared("schema") {
        let has_status =
            form.versions.iter().any(|version| version.at(&["subresources", "status"]).is_some());
        openapi::validate(schema, has_status, "spec.validation", errors);
    }
    if let Some(parts) = form.shared("subresources") {
        subresources(parts, "spec.subresources", errors);
    }
    if let Some(list) = form.shared("additionalPrinterColumns") {
        columns(list, "spec.additionalPrinterColumns", errors);
    }
    if let Some(fields) = form.shared("selectableFields") {
        match form.shared("schema").or_else(|| form.versions.first()?.get("schema")) {
            Some(schema) => selectable(fields, schema, "spec.selectableFields", errors),
            None => errors.push(FieldError::invalid(
                "spec.selectableFields",
                quoted(""),
                "may only be set when validations.schema is included",
            )),
        }
    }
    conversion(spec, errors);
    if let Some(old) = old {
        immutable(spec, old, errors);
    }
}

fn group(group: &str, errors: &mut Vec<FieldError>) {
    let problems = dns_subdomain(group);
    if group.is_empty() {
        errors.push(FieldError::required("spec.group", ""));
    } else if !problems.is_empty() {
        errors.push(FieldError::invalid("spec.group", quoted(group), problems.join(",")));
    } else if !group.contains('.') {
        let detail = "should be a domain with at least one dot";
        errors.push(FieldError::invalid("spec.group", quoted(group), detail));
    }
}

fn one_of(field: &str, value: &str, accepted: &[&str], errors: &mut Vec<FieldError>) {
    if value.is_empty() {
        errors.push(FieldError::required(field, ""));
    } else if !accepted.contains(&value) {
        errors.push(FieldError::not_supported(field, quoted(value), accepted));
    }
}

fn version_errors(form: &Form<'_>, version: &Value, at: usize, errors: &mut Vec<FieldError>) {
    let path = format!("spec.versions[{at}]");
    let name = version.str_at(&["name"]).unwrap_or_default();
    let problems = dns_1035_label(name);
    if !problems.is_empty() {
        errors.push(FieldError::invalid(format!("{path}.name"), quoted(name), problems.join(",")));
    }
    deprecation(version, &path, errors);
    if let Some(schema) = form.own(version, "schema") {
        let has_status = version.at(&["subresources", "status"]).is_some();
        openapi::validate(schema, has_status, &format!("{path}.schema"), errors);
    }
    if let Some(parts) = form.own(version, "subresources") {
        subresources(parts, &format!("{path}.subresources"), errors);
    }
    if let Some(list) = form.own(version, "additionalPrinterColumns") {
        columns(list, &format!("{path}.additionalPrinterColumns"), errors);
    }
    if let (Some(fields), Some(schema)) = (form.own(version, "selectableFields"), version.get("schema")) {
        selectable(fields, schema, &format!("{path}.selectableFields"), errors);
    }
}

fn deprecation(version: &Value, path: &str, errors: &mut Vec<FieldError>) {
    let Some(warning) = version.str_at(&["deprecationWarning"]) else { return };
    let mut refuse = |detail: String| {
        errors.push(FieldError::invalid(format!("{path}.deprecationWarning"), quoted(warning), detail));
    };
    if !version.bool_at(&["deprecated"]).unwrap_or(false) {
        return refuse("can only be set for deprecated versions".into());
    }
    if warning.len() > 256 {
        refuse("must be <= 256 characters long".into());
    }
    if warning.is_empty() {
        refuse("must not be an empty string".into());
    }
    if let Some((at, _)) = warning.char_indices().find(|(_, c)| c.is_control()) {
        refuse(format!(
            "must only contain printable UTF-8 characters; non-printable character found at index {at}"
        ));
    }
}

fn version_set(form: &Form<'_>, errors: &mut Vec<FieldError>) {
    let shown_versions = || go_form::versions(form.versions, |part| form.shared(part).is_some());
    let names: Vec<&str> = form.versions.iter().filter_map(|version| version.str_at(&["name"])).collect();
    let unique = names.iter().enumerate().all(|(at, name)| !names[..at].contains(name));
    if !unique {
        let detail = "must contain unique version names";
        errors.push(FieldError::invalid("spec.versions", shown_versions(), detail));
    }
    let stored =
        form.versions.iter().filter(|version| version.bool_at(&["storage"]).unwrap_or(false)).count();
    if stored != 1 {
        let detail = "must have exactly one version marked as storage version";
        errors.push(FieldError::invalid("spec.versions", shown_versions(), detail));
    }
    if let Some(first) = names.first() {
        let problems = dns_1035_label(first);
        if !problems.is_empty() {
            errors.push(FieldError::invalid("spec.version", quoted(first), problems.join(",")));
        }
    }
}

fn subresources(parts: &Value, path: &str, errors: &mut Vec<FieldError>) {
    let Some(scale) = parts.get("scale").filter(|scale| !scale.is_null()) else { return };
    let mut check = |field: &str, roots: &[&str], required: bool, detail: &str| {
        let text = scale.str_at(&[field]).unwrap_or_default();
        let field = format!("{path}.scale.{field}");
        if text.is_empty() {
            if required {
                errors.push(FieldError::required(field, ""));
            }
        } else if !text.starts_with('.') {
            errors.push(FieldError::invalid(
                field,
                quoted(text),
                "must be a simple json path starting with .",
            ));
        } else if !roots.iter().any(|root| text.starts_with(root)) {
            errors.push(FieldError::invalid(field, quoted(text), detail));
        }
    };
    check("specReplicasPath", &[".spec."], true, "should be a json path under .spec");
    check("statusReplicasPath", &[".status."], true, "should be a json path under .status");
    let detail = "should be a json path under either .spec or .status";
    check("labelSelectorPath", &[".spec.", ".status."], false, detail);
}

fn columns(columns: &Value, path: &str, errors: &mut Vec<FieldError>) {
    const TYPES: [&str; 5] = ["boolean", "date", "integer", "number", "string"];
    const FORMATS: [&str; 8] = ["byte", "date", "date-time", "double", "float", "int32", "int64", "password"];
    for (at, column) in columns.as_seq().unwrap_or_default().iter().enumerate() {
        let path = format!("{path}[{at}]");
        let word = |field: &str| column.str_at(&[field]).unwrap_or_default();
        if word("name").is_empty() {
            errors.push(FieldError::required(format!("{path}.name"), ""));
        }
        let detail = format!("must be one of {}", TYPES.join(","));
        if word("type").is_empty() {
            errors.push(FieldError::required(format!("{path}.type"), detail));
        } else if !TYPES.contains(&word("type")) {
            errors.push(FieldError::invalid(format!("{path}.type"), quoted(word("type")), detail));
        }
        if !word("format").is_empty() && !FORMATS.contains(&word("format")) {
            let detail = format!("must be one of {}", FORMATS.join(","));
            errors.push(FieldError::invalid(format!("{path}.format"), quoted(word("format")), detail));
        }
        let json_path = word("jsonPath");
        if json_path.is_empty() {
            errors.push(FieldError::required(format!("{path}.JSONPath"), ""));
        } else if !json_path.starts_with('.') {
            let detail = "must be a simple json path starting with .";
            errors.push(FieldError::invalid(format!("{path}.JSONPath"), quoted(json_path), detail));
        }
    }
}

fn selectable(fields: &Value, schema: &Value, path: &str, errors: &mut Vec<FieldError>) {
    let root = Schema::compile(&schema.get("openAPIV3Schema").cloned().unwrap_or_default());
    let mut seen: Vec<String> = Vec::new();
    for (at, field) in fields.as_seq().unwrap_or_default().iter().enumerate() {
        let path = format!("{path}[{at}].jsonPath");
        let text = field.str_at(&["jsonPath"]).unwrap_or_default();
        if text.is_empty() {
            errors.push(FieldError::required(path, ""));
            continue;
        }
        let found = match text.contains('[') {
            true => Err("array notation is not allowed".to_owned()),
            false => field_path::resolve(text, &root),
        };
        let (name, schema) = match found {
            Ok(found) => found,
            Err(problem) => {
                errors.push(FieldError::invalid(
                    path,
                    quoted(text),
                    format!("is an invalid path: {problem}"),
                ));
                continue;
            }
        };
        if text.starts_with(".metadata") {
            errors.push(FieldError::invalid(
                path.clone(),
                quoted(text),
                "must not point to fields in metadata",
            ));
        }
        if !matches!(schema.ty, Type::String | Type::Boolean | Type::Integer) {
            let detail = "must point to a field of type string, boolean or integer. Enum string fields and strings with formats are allowed.";
            errors.push(FieldError::invalid(path.clone(), quoted(text), detail));
        }
        if seen.contains(&name) {
            errors.push(FieldError::duplicate(path, quoted(text)));
        } else {
            seen.push(name);
        }
    }
    if seen.len() > SELECTABLE_FIELDS {
        errors.push(FieldError {
            kind: FieldErrorKind::TooMany,
            field: path.into(),
            value: seen.len().to_string(),
            detail: format!("must have at most {SELECTABLE_FIELDS} items"),
        });
    }
}

fn conversion(spec: &Value, errors: &mut Vec<FieldError>) {
    let Some(conversion) = spec.get("conversion").filter(|conversion| !conversion.is_null()) else { return };
    let strategy = conversion.str_at(&["strategy"]).unwrap_or_default();
    one_of("spec.conversion.strategy", strategy, &["None", "Webhook"], errors);
    let webhook = conversion.get("webhook").filter(|webhook| !webhook.is_null());
    let versions = webhook.map(|webhook| webhook.items_at(&["conversionReviewVersions"])).unwrap_or_default();
    let config = webhook.and_then(|webhook| webhook.get("clientConfig")).filter(|config| !config.is_null());
    let field = "spec.conversion.webhookClientConfig";
    if strategy != "Webhook" {
        let detail = "should not be set when strategy is not set to Webhook";
        if config.is_some() {
            errors.push(FieldError::forbidden(field, detail));
        }
        if !versions.is_empty() {
            errors.push(FieldError::forbidden("spec.conversion.conversionReviewVersions", detail));
        }
        return;
    }
    match config {
        None => errors.push(FieldError::required(field, "required when strategy is set to Webhook")),
        Some(config) if config.get("url").is_some() == config.get("service").is_some() => {
            errors.push(FieldError::required(field, "exactly one of url or service is required"));
        }
        Some(config) => {
            if let Some(url) = config.str_at(&["url"]) {
                webhook_url(&format!("{field}.url"), url, errors);
            }
        }
    }
    review_versions(versions, errors);
}

/// The URL of a webhook: https, a host, and nothing that could name a person.
pub(crate) fn webhook_url(field: &str, url: &str, errors: &mut Vec<FieldError>) {
    let form = "; desired format: https://host[/path]";
    let Some((scheme, rest)) = url.split_once("://") else {
        let detail = format!("url must be a valid URL: invalid URI for request{form}");
        errors.push(FieldError::required(field, detail));
        return;
    };
    let mut refuse =
        |value: &str, detail: String| errors.push(FieldError::invalid(field, quoted(value), detail));
    if scheme != "https" {
        refuse(scheme, format!("'https' is the only allowed URL scheme{form}"));
    }
    let (rest, fragment) = rest.split_once('#').unwrap_or((rest, ""));
    let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
    let authority = rest.split('/').next().unwrap_or_default();
    let (user, host) = authority.rsplit_once('@').unwrap_or(("", authority));
    if host.is_empty() {
        refuse(host, format!("host must be specified{form}"));
    }
    if !user.is_empty() {
        refuse(user, "user information is not permitted in the URL".into());
    }
    if !fragment.is_empty() {
        refuse(fragment, "fragments are not permitted in the URL".into());
    }
    if !query.is_empty() {
        refuse(query, "query parameters are not permitted in the URL".into());
    }
}

fn review_versions(versions: &[Value], errors: &mut Vec<FieldError>) {
    let field = "spec.conversion.conversionReviewVersions";
    if versions.is_empty() {
        errors.push(FieldError::required(field, ""));
        return;
    }
    let names: Vec<&str> = versions.iter().filter_map(Value::as_str).collect();
    for (at, name) in names.iter().enumerate() {
        if names[..at].contains(name) {
            errors.push(FieldError::invalid(format!("{field}[{at}]"), quoted(name), "duplicate version"));
            continue;
        }
        for problem in dns_1035_label(name) {
            errors.push(FieldError::invalid(format!("{field}[{at}]"), quoted(name), problem));
        }
    }
    if !names.iter().any(|name| matches!(*name, "v1" | "v1beta1")) {
        let list: Value = names.iter().copied().collect();
        errors.push(FieldError::invalid(field, json(&list), "must include at least one of v1, v1beta1"));
    }
}

fn immutable(spec: &Value, old: &Object, errors: &mut Vec<FieldError>) {
    let established = old.value().items_at(&["status", "conditions"]).iter().any(|condition| {
        condition.str_at(&["type"]) == Some("Established") && condition.str_at(&["status"]) == Some("True")
    });
    let mut check = |path: &[&str]| {
        let was = old.at(&["spec"]).and_then(|spec| spec.at(path));
        let is = spec.at(path);
        if is != was {
            let value = is.map(shown).unwrap_or_else(|| quoted(""));
            errors.push(FieldError::invalid(format!("spec.{}", path.join(".")), value, "field is immutable"));
        }
    };
    if established {
        check(&["scope"]);
        check(&["names", "kind"]);
    }
    check(&["group"]);
    check(&["names", "plural"]);
}

pub(super) fn status(definition: &Object, errors: &mut Vec<FieldError>) {
    if let Some(names) = definition.at(&["status", "acceptedNames"]) {
        kind_names(names, "status.acceptedNames", errors);
    }
    let stored: Vec<Str> = definition
        .value()
        .items_at(&["status", "storedVersions"])
        .iter()
        .filter_map(Value::as_str)
        .map(Str::from)
        .collect();
    let field = "status.storedVersions";
    let list: Value = stored.iter().cloned().collect();
    if stored.is_empty() {
        errors.push(FieldError::invalid(field, "null", "must have at least one stored version"));
        return;
    }
    let versions = definition.value().items_at(&["spec", "versions"]);
    let name = |version: &Value| version.str_at(&["name"]).unwrap_or_default().to_owned();
    for version in versions {
        let name = name(version);
        if version.bool_at(&["storage"]).unwrap_or(false) && !stored.iter().any(|known| *known == name) {
            let detail = format!("must have the storage version {name}");
            errors.push(FieldError::invalid(field, json(&list), detail));
        }
    }
    for (at, missing) in stored.iter().enumerate() {
        if !versions.iter().any(|version| name(version) == missing.as_str()) {
            let detail = format!(
                "missing from spec.versions; {missing} was previously a storage version, and must remain in \
                 spec.versions until a storage migration ensures no data remains persisted in {missing} and removes \
                 {missing} from status.storedVersions"
            );
            errors.push(FieldError::invalid(format!("{field}[{at}]"), quoted(missing), detail));
        }
    }
}

/// Groups of Kubernetes itself need an annotation that says who approved them.
pub(super) fn approval(definition: &Object, old: Option<&Object>, errors: &mut Vec<FieldError>) {
    const ANNOTATION: &str = "api-approved.kubernetes.io";
    let group = definition.at(&["spec", "group"]).and_then(Value::as_str).unwrap_or_default();
    let protected = ["k8s.io", "kubernetes.io"]
        .iter()
        .any(|root| group == *root || group.strip_suffix(root).is_some_and(|front| front.ends_with('.')));
    if !protected {
        return;
    }
    let state = |object: &Object| {
        let text = object.annotation(ANNOTATION).unwrap_or_default();
        let url = text.split_once("://").is_some_and(|(scheme, rest)| {
            !scheme.is_empty() && rest.split('/').next().is_some_and(|host| !host.is_empty())
        });
        match text {
            "" => 0,
            text if text.starts_with("unapproved") || url => 1,
            _ => 2,
        }
    };
    let now = state(definition);
    if now == 1 || old.is_some_and(|old| state(old) == now) {
        return;
    }
    let field = format!("metadata.annotations[{ANNOTATION}]");
    let see = "see https://github.com/kubernetes/enhancements/pull/1111";
    if now == 0 {
        let detail = format!("protected groups must have approval annotation \"{ANNOTATION}\", {see}");
        errors.push(FieldError::required(field, detail));
    } else {
        let detail = format!(
            "protected groups must have approval annotation \"{ANNOTATION}\" with either a URL or a reason starting with \"unapproved\", {see}"
        );
        errors.push(FieldError::invalid(
            field,
            quoted(definition.annotation(ANNOTATION).unwrap_or_default()),
            detail,
        ));
    }
}
