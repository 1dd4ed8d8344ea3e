//! Names in a definition, in the words that Kubernetes has for them.

use lynceus_object::{Object, Value};

use crate::crd::shown::quoted;
use crate::error::FieldError;
use crate::kinds::validation::names::{dns_1035_label, dns_subdomain};

/// The name of a definition is made of its plural name and its group.
pub(super) fn definition_name(definition: &Object, errors: &mut Vec<FieldError>) {
    let name = definition.name();
    if name.is_empty() {
        return;
    }
    let word = |path: &[&str]| definition.at(path).and_then(Value::as_str).unwrap_or_default();
    let wanted = format!("{}.{}", word(&["spec", "names", "plural"]), word(&["spec", "group"]));
    let mut problems = dns_subdomain(name);
    if name != wanted {
        problems.push("must be spec.names.plural+\".\"+spec.group".into());
    }
    for problem in problems {
        errors.push(FieldError::invalid("metadata.name", quoted(name), problem));
    }
}

/// The names of the kind, in `spec.names` or `status.acceptedNames`.
pub(super) fn kind_names(names: &Value, path: &str, errors: &mut Vec<FieldError>) {
    let word = |field: &str| names.str_at(&[field]).unwrap_or_default();
    let mut check = |field: String, text: &str, lower: bool| {
        let problems = dns_1035_label(&if lower { text.to_lowercase() } else { text.to_owned() });
        if !text.is_empty() && !problems.is_empty() {
            let lead = if lower { "may have mixed case, but should otherwise match: " } else { "" };
            let detail = format!("{lead}{}", problems.join(","));
            errors.push(FieldError::invalid(field, quoted(text), detail));
        }
    };
    check(format!("{path}.plural"), word("plural"), false);
    check(format!("{path}.singular"), word("singular"), false);
    check(format!("{path}.kind"), word("kind"), true);
    check(format!("{path}.listKind"), word("listKind"), true);
    for (at, short) in names.items_at(&["shortNames"]).iter().enumerate() {
        check(format!("{path}.shortNames[{at}]"), short.as_str().unwrap_or_default(), false);
    }
    let categories: Vec<&str> = names.items_at(&["categories"]).iter().filter_map(Value::as_str).collect();
    if !word("kind").is_empty() && word("kind") == word("listKind") {
        let detail = "kind and listKind may not be the same";
        errors.push(FieldError::invalid(format!("{path}.listKind"), quoted(word("listKind")), detail));
    }
    for (at, category) in categories.into_iter().enumerate() {
        let problems = dns_1035_label(category);
        if !problems.is_empty() {
            let field = format!("{path}.categories[{at}]");
            errors.push(FieldError::invalid(field, quoted(category), problems.join(",")));
        }
    }
}
