//! The named formats of expressions, with what they say of a text that does not have them.

use super::format::{is_uri, is_valid};
use super::shown::quoted;
use crate::kinds::validation::names::{dns_1035_label, dns_label, dns_subdomain, label_key, label_value};

/// What is wrong with a text for a named format.
pub(crate) fn format_problems(name: &str, text: &str) -> Vec<String> {
    // A prefix may end in a dash, because more will follow.
    let masked = || match text.strip_suffix('-') {
        Some(front) if !front.is_empty() => format!("{front}a"),
        _ => text.to_owned(),
    };
    let unless = |fits: bool, problem: &str| if fits { Vec::new() } else { vec![problem.to_owned()] };
    match name {
        "dns1123Label" => dns_label(text),
        "dns1123LabelPrefix" => dns_label(&masked()),
        "dns1123Subdomain" => dns_subdomain(text),
        "dns1123SubdomainPrefix" => dns_subdomain(&masked()),
        "dns1035Label" => dns_1035_label(text),
        "dns1035LabelPrefix" => dns_1035_label(&masked()),
        "qualifiedName" => label_key(text),
        "labelValue" => label_value(text),
        "uri" => unless(is_uri(text), &format!("parse {}: invalid URI for request", quoted(text))),
        "uuid" => unless(is_valid("uuid", text), "does not match the UUID format"),
        "byte" => unless(is_valid("byte", text), "invalid base64"),
        "date" => unless(is_valid("date", text), "invalid date"),
        "datetime" => unless(is_valid("date-time", text), "invalid datetime"),
        _ => Vec::new(),
    }
}
