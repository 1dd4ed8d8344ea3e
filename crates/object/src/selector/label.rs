//! Which texts can be the key or the value of a label.

const NAME: &str = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]";
const DNS_LABEL: &str = "[a-z0-9]([-a-z0-9]*[a-z0-9])?";
const MAX_NAME: usize = 63;
const MAX_PREFIX: usize = 253;

/// What is wrong with the key of a label or annotation, in Kubernetes' words; empty if nothing is.
pub fn key_problems(key: &str) -> Vec<String> {
    let rule = format!(
        "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric \
         character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '{NAME}')"
    );
    let mut problems = Vec::new();
    let mut parts = key.split('/');
    let name = match (parts.next(), parts.next(), parts.next()) {
        (Some(name), None, _) => name,
        (Some(prefix), Some(name), None) => {
            problems.extend(prefix_problems(prefix));
            name
        }
        _ => {
            let hint = "with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')";
            return vec![format!("a valid label key {rule} {hint}")];
        }
    };
    if name.is_empty() {
        problems.push("name part must be non-empty".to_owned());
    } else if name.len() > MAX_NAME {
        problems.push(format!("name part must be no more than {MAX_NAME} bytes"));
    }
    if !is_name(name) {
        problems.push(format!("name part {rule}"));
    }
    problems
}

fn prefix_problems(prefix: &str) -> Vec<String> {
    if prefix.is_empty() {
        return vec!["prefix part must be non-empty".to_owned()];
    }
    let mut problems = Vec::new();
    if prefix.len() > MAX_PREFIX {
        problems.push(format!("prefix part must be no more than {MAX_PREFIX} bytes"));
    }
    if !prefix.split('.').all(is_dns_label) {
        problems.push(format!(
            "prefix part a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or \
             '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for \
             validation is '{DNS_LABEL}(\\.{DNS_LABEL})*')"
        ));
    }
    problems
}

/// What is wrong with the value of a label, in Kubernetes' words; empty if nothing is.
pub fn value_problems(value: &str) -> Vec<String> {
    let mut problems = Vec::new();
    if value.len() > MAX_NAME {
        problems.push(format!("must be no more than {MAX_NAME} bytes"));
    }
    if !value.is_empty() && !is_name(value) {
        problems.push(format!(
            "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must \
             start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used \
             for validation is '({NAME})?')"
        ));
    }
    problems
}

/// The problems as one text, if there are any.
pub(super) fn joined(problems: Vec<String>) -> Option<String> {
    (!problems.is_empty()).then(|| problems.join("; "))
}

fn is_name(text: &str) -> bool {
    let ends_well = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_alphanumeric);
    let bytes = text.as_bytes();
    ends_well(bytes.first())
        && ends_well(bytes.last())
        && bytes.iter().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(byte))
}

fn is_dns_label(text: &str) -> bool {
    let is_alphanumeric = |byte: &u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let bytes = text.as_bytes();
    bytes.first().is_some_and(is_alphanumeric)
        && bytes.last().is_some_and(is_alphanumeric)
        && bytes.iter().all(|byte| is_alphanumeric(byte) || *byte == b'-')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_have_a_name_and_maybe_a_domain() {
        for good in ["a", "app.kubernetes.io/name", "A_b-c.9", "1"] {
            assert!(key_problems(good).is_empty(), "{good}");
        }
        for bad in ["", "/a", "a/", "A.b/c", "a/b/c", "-a", "a b", &"x".repeat(64)] {
            assert!(!key_problems(bad).is_empty(), "{bad}");
        }
    }

    #[test]
    fn values_may_be_empty_but_not_long() {
        assert!(value_problems("").is_empty());
        assert!(value_problems("v1.2_x-3").is_empty());
        assert_eq!(value_problems(&"x".repeat(64)), ["must be no more than 63 bytes"]);
        assert!(!value_problems("a/b").is_empty());
    }
}
