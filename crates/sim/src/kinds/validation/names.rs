//! The shapes of names, keys and other words, and what is said about those that lack them.

use std::net::IpAddr;
use std::sync::LazyLock;

use regex::Regex;

const LABEL: &str = "[a-z0-9]([-a-z0-9]*[a-z0-9])?";
const SUBDOMAIN: &str = r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*";
const RFC1035: &str = "[a-z]([-a-z0-9]*[a-z0-9])?";
const KEY: &str = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]";
const KEY_WORDS: &str = "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character";

/// Says whether a text has a shape, compiling it on first use.
macro_rules! matches_whole {
    ($pattern:expr, $text:expr) => {{
        // A constant pattern that does not compile matches nothing, and every test of it fails.
        static SHAPE: LazyLock<Option<Regex>> =
            LazyLock::new(|| Regex::new(&format!("^(?:{})$", $pattern)).ok());
        SHAPE.as_ref().is_some_and(|shape| shape.is_match($text))
    }};
}

fn too_long(most: usize) -> String {
    format!("must be no more than {most} characters")
}

/// The original counts bytes in labels and says so there.
fn too_many_bytes(most: usize) -> String {
    format!("must be no more than {most} bytes")
}

/// The words about a shape, with examples.
fn shape_words(words: &str, pattern: &str, examples: &[&str]) -> String {
    let mut out = words.to_owned();
    out.push_str(" (");
    for (at, example) in examples.iter().enumerate() {
        out.push_str(if at == 0 { "e.g. " } else { " or " });
        out.push_str(&format!("'{example}', "));
    }
    out.push_str(&format!("regex used for validation is '{pattern}')"));
    out
}

/// What is wrong with a lower-case DNS label.
pub(crate) fn dns_label(text: &str) -> Vec<String> {
    let mut out = Vec::new();
    if text.len() > 63 {
        out.push(too_long(63));
    }
    if !matches_whole!(LABEL, text) {
        if matches_whole!(SUBDOMAIN, text) {
            out.push("must not contain dots".to_owned());
        } else {
            let words = "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character";
            out.push(shape_words(words, LABEL, &["my-name", "123-abc"]));
        }
    }
    out
}

/// The same as [`dns_subdomain`], for the kinds whose checks count bytes.
pub(crate) fn dns_subdomain_in_bytes(text: &str) -> Vec<String> {
    let problems = dns_subdomain(text).into_iter();
    problems.map(|problem| if problem == too_long(253) { too_many_bytes(253) } else { problem }).collect()
}

/// What is wrong with a lower-case DNS name.
pub(crate) fn dns_subdomain(text: &str) -> Vec<String> {
    let mut out = Vec::new();
    if text.len() > 253 {
        out.push(too_long(253));
    }
    if !matches_whole!(SUBDOMAIN, text) {
        let words = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character";
        out.push(shape_words(words, SUBDOMAIN, &["example.com"]));
    }
    out
}

/// What is wrong with a name that others are looked up in, which may have underscores.
pub(crate) fn dns_search(text: &str) -> Vec<String> {
    const SEARCH: &str = "_?[a-z0-9]([-_a-z0-9]*[a-z0-9])?(\\._?[a-z0-9]([-_a-z0-9]*[a-z0-9])?)*";
    let mut out = Vec::new();
    if text.len() > 253 {
        out.push(too_long(253));
    }
    if !matches_whole!(SEARCH, text) {
        let words = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '_', '-' or '.', and must start and end with an alphanumeric character";
        out.push(shape_words(words, SEARCH, &["example.com"]));
    }
    out
}

/// What is wrong with a DNS label of the older sort, which starts with a letter.
pub(crate) fn dns_1035_label(text: &str) -> Vec<String> {
    let mut out = Vec::new();
    if text.len() > 63 {
        out.push(too_long(63));
    }
    if !matches_whole!(RFC1035, text) {
        let words = "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character";
        out.push(shape_words(words, RFC1035, &["my-name", "abc-123"]));
    }
    out
}

/// What is wrong with a host name that starts with `*.`.
pub(crate) fn wildcard_subdomain(text: &str) -> Vec<String> {
    const WILDCARD: &str = r"\*\.[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*";
    let mut out = Vec::new();
    if text.len() > 253 {
        out.push(too_long(253));
    }
    if !matches_whole!(WILDCARD, text) {
        let words = "a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, which must consist of lower case alphanumeric characters, '-' or '.' and end with an alphanumeric character";
        out.push(shape_words(words, WILDCARD, &["*.example.com"]));
    }
    out
}

/// What is wrong with a key of labels, annotations, finalizers and resources: a name with an optional
/// domain in front.
pub(crate) fn label_key(text: &str) -> Vec<String> {
    let mut out = Vec::new();
    let examples = ["MyName", "my.name", "123-abc"];
    let mut parts = text.split('/');
    let name = match (parts.next(), parts.next(), parts.next()) {
        (Some(name), None, _) => name,
        (Some(prefix), Some(name), None) => {
            if prefix.is_empty() {
                out.push("prefix part must be non-empty".to_owned());
            } else {
                let problems = dns_subdomain_in_bytes(prefix);
                out.extend(problems.into_iter().map(|problem| format!("prefix part {problem}")));
            }
            name
        }
        _ => {
            let words = shape_words(KEY_WORDS, KEY, &examples);
            let rest = "with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')";
            return vec![format!("a valid label key {words} {rest}")];
        }
    };
    if name.is_empty() {
        out.push("name part must be non-empty".to_owned());
    } else if name.len() > 63 {
        out.push(format!("name part {}", too_many_bytes(63)));
    }
    if !matches_whole!(KEY, name) {
        out.push(format!("name part {}", shape_words(KEY_WORDS, KEY, &examples)));
    }
    out
}

/// What is wrong with the value of a label.
pub(crate) fn label_value(text: &str) -> Vec<String> {
    const VALUE: &str = "(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?";
    let mut out = Vec::new();
    if text.len() > 63 {
        out.push(too_many_bytes(63));
    }
    if !matches_whole!(VALUE, text) {
        let words = format!("a valid label must be an empty string or {}", &KEY_WORDS["must ".len()..]);
        out.push(shape_words(&words, VALUE, &["MyValue", "my_value", "12345"]));
    }
    out
}

/// What is wrong with the name of an environment variable.
pub(crate) fn env_name(text: &str) -> Vec<String> {
    if text.is_empty() {
        return vec!["environment variable name must be non-empty".to_owned()];
    }
    let printable = |c: char| c.is_ascii() && !c.is_ascii_control() && c != '=';
    if text.chars().all(printable) {
        Vec::new()
    } else {
        vec!["a valid environment variable name must consist only of printable ASCII characters other than '='".to_owned()]
    }
}

/// What is wrong with a key in a ConfigMap or Secret.
pub(crate) fn config_key(text: &str) -> Vec<String> {
    const CONFIG: &str = "[-._a-zA-Z0-9]+";
    let mut out = Vec::new();
    if text.len() > 253 {
        out.push(too_long(253));
    }
    if !matches_whole!(CONFIG, text) {
        let words = "a valid config key must consist of alphanumeric characters, '-', '_' or '.'";
        out.push(shape_words(words, CONFIG, &["key.name", "KEY_NAME", "key-name"]));
    }
    match text {
        "." => out.push("must not be '.'".to_owned()),
        ".." => out.push("must not be '..'".to_owned()),
        _ if text.starts_with("..") => out.push("must not start with '..'".to_owned()),
        _ => {}
    }
    out
}

/// What is wrong with the name of a port.
pub(crate) fn port_name(text: &str) -> Vec<String> {
    let mut out = Vec::new();
    if text.len() > 15 {
        out.push(too_long(15));
    }
    if text.is_empty() || !text.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-') {
        out.push("must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)".to_owned());
    }
    if !text.contains(|c: char| c.is_ascii_lowercase()) {
        out.push("must contain at least one letter (a-z)".to_owned());
    }
    if text.contains("--") {
        out.push("must not contain consecutive hyphens".to_owned());
    }
    if text.starts_with('-') || text.ends_with('-') {
        out.push("must not begin or end with a hyphen".to_owned());
    }
    out
}

/// What is wrong with the number of a port.
pub(crate) fn port_number(port: i64) -> Vec<String> {
    in_range(port, 1, 65_535)
}

/// What is wrong with a number that has bounds.
pub(crate) fn in_range(number: i64, least: i64, most: i64) -> Vec<String> {
    if (least..=most).contains(&number) {
        Vec::new()
    } else {
        vec![format!("must be between {least} and {most}, inclusive")]
    }
}

/// What is wrong with a percentage.
pub(crate) fn percent(text: &str) -> Vec<String> {
    const PERCENT: &str = "[0-9]+%";
    if matches_whole!(PERCENT, text) {
        return Vec::new();
    }
    let words = "a valid percent string must be a numeric string followed by an ending '%'";
    vec![shape_words(words, PERCENT, &["1%", "93%"])]
}

/// What is wrong with the name of an HTTP header.
pub(crate) fn header_name(text: &str) -> Vec<String> {
    const HEADER: &str = "[-A-Za-z0-9]+";
    if matches_whole!(HEADER, text) {
        return Vec::new();
    }
    let words = "a valid HTTP header must consist of alphanumeric characters or '-'";
    vec![shape_words(words, HEADER, &["X-Header-Name"])]
}

/// Whether a text is an IP address in its usual form.
pub(crate) fn ip(text: &str) -> Option<IpAddr> {
    text.parse().ok()
}

/// What is wrong with an IP address.
pub(crate) fn ip_problems(text: &str) -> Vec<String> {
    match ip(text) {
        Some(_) => Vec::new(),
        None => vec!["must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)".to_owned()],
    }
}

/// An address range: the address and how many of its bits count.
pub(crate) fn cidr(text: &str) -> Option<(IpAddr, u8)> {
    let (address, bits) = text.split_once('/')?;
    let address = ip(address)?;
    let most = if address.is_ipv4() { 32 } else { 128 };
    let bits: u8 = bits.parse().ok().filter(|bits| *bits <= most)?;
    Some((address, bits))
}

/// What is wrong with an address range.
pub(crate) fn cidr_problems(text: &str) -> Vec<String> {
    match cidr(text) {
        Some(_) => Vec::new(),
        None => vec!["must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)".to_owned()],
    }
}

/// The checks of names that end in a dash when they are the start of a generated name.
pub(crate) type NameCheck = fn(&str) -> Vec<String>;

/// A name that is also a part of a path in a URL.
pub(crate) fn path_segment(text: &str) -> Vec<String> {
    let mut out = Vec::new();
    match text {
        "." => return vec!["may not be '.'".to_owned()],
        ".." => return vec!["may not be '..'".to_owned()],
        _ => {}
    }
    for character in ['/', '%'] {
        if text.contains(character) {
            out.push(format!("may not contain '{character}'"));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn good_names_are_let_through() {
        for (check, text) in [
            (dns_label as NameCheck, "my-name"),
            (dns_subdomain, "a.b-c.d"),
            (dns_1035_label, "a1"),
            (label_key, "example.com/My_Key"),
            (label_key, "plain"),
            (label_value, ""),
            (env_name, "1A b"),
            (config_key, ".hidden"),
            (port_name, "http-2"),
            (percent, "25%"),
            (ip_problems, "10.0.0.1"),
            (cidr_problems, "10.0.0.0/8"),
        ] {
            assert_eq!(check(text), Vec::<String>::new(), "{text}");
        }
    }

    #[test]
    fn bad_names_say_what_is_wrong() {
        for (check, text, start) in [
            (dns_label as NameCheck, "a.b", "must not contain dots"),
            (dns_label, "A", "a lowercase RFC 1123 label must consist of"),
            (dns_1035_label, "1a", "a DNS-1035 label must consist of"),
            (label_key, "a/b/c", "a valid label key must consist of"),
            (label_key, "/b", "prefix part must be non-empty"),
            (label_value, "a b", "a valid label must be an empty string or consist of"),
            (env_name, "a=b", "a valid environment variable name"),
            (config_key, "..a", "must not start with '..'"),
            (port_name, "123", "must contain at least one letter (a-z)"),
            (percent, "a%", "a valid percent string"),
            (ip_problems, "10.0.0", "must be a valid IP address"),
        ] {
            assert!(
                check(text).iter().any(|problem| problem.starts_with(start)),
                "{text}: {:?}",
                check(text)
            );
        }
        assert_eq!(
            dns_subdomain("POD-B"),
            [
                r"a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
            ]
        );
    }
}
