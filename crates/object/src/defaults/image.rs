//! When an image is pulled, by its name.

/// `Always` for an image that means "the newest", `IfNotPresent` for every other.
///
/// A name that cannot be read names no tag, and so not the newest either.
pub(crate) fn pull_policy(image: &str) -> &'static str {
    if tag(image) == Some("latest") { "Always" } else { "IfNotPresent" }
}

/// The tag, `latest` if the name has neither tag nor digest, nothing if the name is malformed.
fn tag(image: &str) -> Option<&str> {
    let (name, digest) = match image.split_once('@') {
        Some((name, digest)) => (name, Some(digest)),
        None => (image, None),
    };
    let last = name.rfind('/').map_or(0, |slash| slash + 1);
    let (name, tag) = match name[last..].find(':') {
        Some(colon) => (&name[..last + colon], Some(&name[last + colon + 1..])),
        None => (name, None),
    };
    let good = is_repository(name) && tag.is_none_or(is_tag) && digest.is_none_or(is_digest);
    match (good, tag, digest) {
        (false, ..) | (true, None, Some(_)) => None,
        (true, Some(tag), _) => Some(tag),
        (true, None, None) => Some("latest"),
    }
}

fn is_tag(tag: &str) -> bool {
    let first = tag.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_');
    first && tag.len() <= 128 && tag.chars().all(|c| c.is_ascii_alphanumeric() || "_.-".contains(c))
}

fn is_digest(digest: &str) -> bool {
    digest.split_once(':').is_some_and(|(algorithm, hex)| {
        let long_enough = if algorithm == "sha256" { hex.len() == 64 } else { hex.len() >= 32 };
        long_enough && !algorithm.is_empty() && hex.chars().all(|c| c.is_ascii_hexdigit())
    })
}

/// The longest name that a registry takes.
const NAME_LENGTH: usize = 255;

fn is_repository(name: &str) -> bool {
    if name.len() > NAME_LENGTH {
        return false;
    }
    let (domain, path) = match name.split_once('/') {
        Some((first, rest))
            if first.contains(['.', ':']) || first == "localhost" || first.to_lowercase() != first =>
        {
            (Some(first), rest)
        }
        _ => (None, name),
    };
    domain.is_none_or(is_domain) && path.split('/').all(is_path_component)
}

fn is_domain(domain: &str) -> bool {
    let (host, port) = match domain.rsplit_once(':') {
        Some((host, port)) if !host.is_empty() => (host, Some(port)),
        _ => (domain, None),
    };
    let label = |label: &str| {
        !label.is_empty()
            && !label.starts_with('-')
            && !label.ends_with('-')
            && label.chars().all(|c| c.is_ascii_alphanumeric() || c == '-')
    };
    let address = host.starts_with('[') && host.ends_with(']');
    (address || host.split('.').all(label))
        && port.is_none_or(|port| !port.is_empty() && port.chars().all(|c| c.is_ascii_digit()))
}

/// Lower-case words joined by one dot, one or two underscores, or dashes.
fn is_path_component(part: &str) -> bool {
    let word = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    let separators = part.split(word).filter(|run| !run.is_empty());
    part.starts_with(word)
        && part.ends_with(word)
        && separators.into_iter().all(|run| matches!(run, "." | "_" | "__") || run.bytes().all(|b| b == b'-'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_newest_image_is_always_pulled() {
        let digest = format!("nginx@sha256:{}", "0".repeat(64));
        for (image, policy) in [
            ("nginx", "Always"),
            ("nginx:latest", "Always"),
            ("nginx:1.27", "IfNotPresent"),
            ("registry.example:5000/team/app", "Always"),
            ("registry.example:5000/team/app:v1", "IfNotPresent"),
            (digest.as_str(), "IfNotPresent"),
            ("Not/A/Name", "IfNotPresent"),
            ("", "IfNotPresent"),
        ] {
            assert_eq!(pull_policy(image), policy, "{image}");
        }
    }
}
