//! Whether the name of an object is one that Kubernetes takes.

/// The rule for names of most kinds.
const SUBDOMAIN: &str = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', \
    and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is \
    '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";

const LABEL: &str = "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must \
    start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is \
    '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";

const OLD_LABEL: &str = "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an \
    alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for \
    validation is '[a-z]([-a-z0-9]*[a-z0-9])?')";

/// What is wrong with the name of an object of a kind.
pub(super) fn problems(kind: &str, name: &str) -> Vec<String> {
    match kind.to_lowercase().as_str() {
        "service" => limited(63, name, OLD_LABEL, |name| {
            is_label(name) && name.starts_with(|char: char| char.is_ascii_lowercase())
        }),
        "namespace" => limited(63, name, LABEL, is_label),
        "certificatesigningrequest" => Vec::new(),
        "role" | "clusterrole" | "rolebinding" | "clusterrolebinding" => path_segment(name),
        _ => limited(253, name, SUBDOMAIN, |name| name.split('.').all(is_label)),
    }
}

fn limited(most: usize, name: &str, rule: &str, fits: impl Fn(&str) -> bool) -> Vec<String> {
    let mut problems = Vec::new();
    if name.len() > most {
        problems.push(format!("must be no more than {most} characters"));
    }
    if !fits(name) {
        problems.push(rule.to_owned());
    }
    problems
}

fn is_label(label: &str) -> bool {
    let is_edge = |byte: &u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let bytes = label.as_bytes();
    bytes.iter().all(|byte| is_edge(byte) || *byte == b'-')
        && bytes.first().is_some_and(is_edge)
        && bytes.last().is_some_and(is_edge)
}

fn path_segment(name: &str) -> Vec<String> {
    if name == "." || name == ".." {
        return vec![format!("may not be '{name}'")];
    }
    ["/", "%"]
        .iter()
        .filter(|part| name.contains(**part))
        .map(|part| format!("may not contain '{part}'"))
        .collect()
}
