//! The named formats of expressions, with what they say of a text that does not have them.

use super::definition::{dns_1035_label, dns_1123_label, dns_1123_subdomain};
use super::format::{is_uri, is_valid};
use super::shown::quoted;

/// What is wrong with a text for a named format.
pub(crate) fn format_problems(name: &str, text: &str) -> Vec<String> {
    // A prefix may end in a dash, because more will follow.
    let masked = || match text.strip_suffix('-') {
        Some(front) if !front.is_empty() => format!("{front}a"),
        _ => text.to_owned(),
    };
    let unless = |fits: bool, problem: &str| if fits { Vec::new() } else { vec![problem.to_owned()] };
    match name {
        "dns1123Label" => dns_1123_label(text),
        "dns1123LabelPrefix" => dns_1123_label(&masked()),
        "dns1123Subdomain" => dns_1123_subdomain(text),
        "dns1123SubdomainPrefix" => dns_1123_subdomain(&masked()),
        "dns1035Label" => dns_1035_label(text),
        "dns1035LabelPrefix" => dns_1035_label(&masked()),
        "qualifiedName" => qualified_name(text),
        "labelValue" => label_value(text),
        "uri" => unless(is_uri(text), &format!("parse {}: invalid URI for request", quoted(text))),
        "uuid" => unless(is_valid("uuid", text), "does not match the UUID format"),
        "byte" => unless(is_valid("byte", text), "invalid base64"),
        "date" => unless(is_valid("date", text), "invalid date"),
        "datetime" => unless(is_valid("date-time", text), "invalid datetime"),
        _ => Vec::new(),
    }
}

fn is_name(text: &str) -> bool {
    let edge = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_alphanumeric);
    let bytes = text.as_bytes();
    edge(bytes.first())
        && edge(bytes.last())
        && bytes.iter().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(byte))
}

fn qualified_name(text: &str) -> Vec<String> {
    const FORM: &str = "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an \
                        alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for \
                        validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
    let parts: Vec<&str> = text.split('/').collect();
    let (prefix, name) = match parts.as_slice() {
        [name] => (None, *name),
        [prefix, name] => (Some(*prefix), *name),
        _ => return vec![format!("a qualified name {FORM} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')")],
    };
    let mut out = Vec::new();
    match prefix {
        Some("") => out.push("prefix part must be non-empty".into()),
        Some(prefix) => out.extend(dns_1123_subdomain(prefix).into_iter().map(|problem| format!("prefix part {problem}"))),
        None => {}
    }
    if name.is_empty() {
        out.push("name part must be non-empty".into());
    } else if name.len() > 63 {
        out.push("name part must be no more than 63 bytes".into());
    }
    if !is_name(name) {
        out.push(format!("name part {FORM}"));
    }
    out
}

fn label_value(text: &str) -> Vec<String> {
    let mut out = Vec::new();
    if text.len() > 63 {
        out.push("must be no more than 63 bytes".into());
    }
    if !text.is_empty() && !is_name(text) {
        out.push(
            "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must \
             start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used \
             for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"
                .into(),
        );
    }
    out
}
