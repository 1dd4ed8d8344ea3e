//! The names of images, as container runtimes read them.

use lynceus_object::Str;

/// The host of names that have none.
const HUB: &str = "docker.io";

/// A name for an image, in its full form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reference {
    /// The registry.
    pub host: Str,
    /// The repository in it.
    pub path: Str,
    /// The tag.
    pub tag: Option<Str>,
    /// The digest, which counts where both are given.
    pub digest: Option<Str>,
}

impl Reference {
    /// Reads a name; says what is wrong with it in the words of the kubelet.
    pub fn parse(image: &str) -> Result<Self, String> {
        let failed = |what: &str| format!("couldn't parse image name {image:?}: {what}");
        let (rest, digest) = match image.split_once('@') {
            Some((rest, digest)) => (rest, Some(digest)),
            None => (image, None),
        };
        let (name, tag) = match rest.rsplit_once(':').filter(|(_, tag)| !tag.contains('/')) {
            Some((name, tag)) => (name, Some(tag)),
            None => (rest, None),
        };
        let full = with_host(name);
        let (host, path) = full.split_once('/').unwrap_or_default();
        if path.chars().any(|c| c.is_ascii_uppercase()) {
            let what = format!("invalid reference format: repository name ({path}) must be lowercase");
            return Err(failed(&what));
        }
        let fits = is_host(host)
            && path.split('/').all(is_component)
            && tag.is_none_or(is_tag)
            && digest.is_none_or(is_digest);
        if !fits {
            return Err(failed("invalid reference format"));
        }
        Ok(Reference {
            host: host.into(),
            path: path.into(),
            tag: tag.map(Str::from),
            digest: digest.map(Str::from),
        })
    }

    /// The name without tag and digest.
    pub fn repository(&self) -> String {
        format!("{}/{}", self.host, self.path)
    }

    /// The name under which a registry is asked.
    pub fn full(&self) -> String {
        match (&self.digest, &self.tag) {
            (Some(digest), _) => format!("{}@{digest}", self.repository()),
            (None, tag) => format!("{}:{}", self.repository(), tag.as_deref().unwrap_or("latest")),
        }
    }

    /// Whether it is in the registry that names without a host mean.
    pub fn is_on_hub(&self) -> bool {
        self.host == HUB
    }
}

/// A name with the host that it means.
pub(super) fn with_host(name: &str) -> String {
    let is_host = |first: &str| {
        first.contains(['.', ':', '*'])
            || first == "localhost"
            || first.chars().any(|c| c.is_ascii_uppercase())
    };
    match name.split_once('/') {
        Some(("index.docker.io", path)) => format!("{HUB}/{path}"),
        Some((HUB, path)) if !path.contains('/') => format!("{HUB}/library/{path}"),
        Some((first, _)) if is_host(first) => name.to_owned(),
        Some(_) => format!("{HUB}/{name}"),
        None if name.contains('*') => name.to_owned(),
        None => format!("{HUB}/library/{name}"),
    }
}

/// Whether a text is a digest.
pub(super) fn is_digest(text: &str) -> bool {
    text.split_once(':').is_some_and(|(algorithm, hex)| {
        let plain = !algorithm.is_empty() && algorithm.chars().all(|c| c.is_ascii_alphanumeric());
        let long = if algorithm == "sha256" { hex.len() == 64 } else { hex.len() >= 32 };
        plain && long && hex.chars().all(|c| c.is_ascii_hexdigit())
    })
}

fn is_host(text: &str) -> bool {
    let (name, port) = text.rsplit_once(':').unwrap_or((text, "0"));
    let label = |label: &str| {
        let end = |c: Option<char>| c.is_some_and(|c| c.is_ascii_alphanumeric());
        end(label.chars().next())
            && end(label.chars().last())
            && label.chars().all(|c| c.is_ascii_alphanumeric() || c == '-')
    };
    name.split('.').all(label) && !port.is_empty() && port.chars().all(|c| c.is_ascii_digit())
}

/// Lower-case words with single dots, one or two underscores or any number of dashes between.
fn is_component(text: &str) -> bool {
    let is_word = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    let separators = text.split(is_word).filter(|part| !part.is_empty());
    let fit = |part: &str| matches!(part, "." | "_" | "__") || part.chars().all(|c| c == '-');
    text.starts_with(is_word) && text.ends_with(is_word) && separators.into_iter().all(fit)
}

fn is_tag(text: &str) -> bool {
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    text.len() <= 128
        && text.starts_with(is_word)
        && text.chars().all(|c| is_word(c) || matches!(c, '.' | '-'))
}
