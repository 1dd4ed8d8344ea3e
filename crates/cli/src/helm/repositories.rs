//! Helm's `repositories.yaml`: the chart repositories that the user knows by names.

use std::path::Path;

use lynceus_object::{Value, yaml};
use lynceus_source::{Access, Repository, Secret};

use super::access::pem;

/// The most bytes that the file may have.
const MAX_BYTES: u64 = 4 << 20;

/// The repositories, in the order of the file.
#[derive(Default)]
pub(super) struct Repositories(Vec<Entry>);

/// One repository.
#[derive(Clone, Default)]
pub(super) struct Entry {
    pub(super) name: String,
    pub(super) url: String,
    username: String,
    password: Secret,
    certificate: String,
    key: String,
    authority: String,
    insecure: bool,
    pass_credentials: bool,
}

impl Repositories {
    /// Reads the file; that there is none is no error.
    pub(super) fn read(path: &Path) -> Result<Self, String> {
        let failed =
            |reason: String| format!("couldn't load repositories file ({}): {reason}", path.display());
        match path.metadata() {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Repositories::default()),
            Err(error) => return Err(failed(error.to_string())),
            Ok(about) if about.len() > MAX_BYTES => {
                return Err(failed(format!("it has more than {MAX_BYTES} bytes")));
            }
            Ok(_) => {}
        }
        let text = std::fs::read(path).map_err(|error| failed(error.to_string()))?;
        Repositories::parse(&text).map_err(failed)
    }

    fn parse(text: &[u8]) -> Result<Self, String> {
        let file = yaml::parse(text).map_err(|error| error.to_string())?;
        let list = file.items_at(&["repositories"]);
        list.iter()
            .enumerate()
            .map(|(at, entry)| Entry::read(entry, at))
            .collect::<Result<_, _>>()
            .map(Repositories)
    }

    /// All of them.
    pub(super) fn all(&self) -> &[Entry] {
        &self.0
    }

    /// The repository with a name.
    pub(super) fn named(&self, name: &str) -> Option<&Entry> {
        self.0.iter().find(|entry| entry.name == name)
    }

    /// The repository at a URL.
    pub(super) fn at(&self, url: &str) -> Option<&Entry> {
        self.0.iter().find(|entry| same_url(&entry.url, url))
    }

    /// The repository that the file at a URL is below of.
    pub(super) fn above(&self, url: &str) -> Option<&Entry> {
        self.0.iter().find(|entry| {
            let rest = url.strip_prefix(entry.url.trim_end_matches('/'));
            rest.is_some_and(|rest| rest.starts_with('/')) && entry.url.contains("://")
        })
    }
}

impl Entry {
    fn read(value: &Value, at: usize) -> Result<Self, String> {
        let text = |name: &str| match value.get(name) {
            None | Some(Value::Null) => Ok(String::new()),
            Some(Value::Str(text)) => Ok(text.to_string()),
            Some(_) => Err(format!("repositories[{at}].{name} is not a text")),
        };
        let is = |name: &str| value.get(name).and_then(Value::as_bool).unwrap_or_default();
        Ok(Entry {
            name: text("name")?,
            url: text("url")?,
            username: text("username")?,
            password: Secret::from(text("password")?),
            certificate: text("certFile")?,
            key: text("keyFile")?,
            authority: text("caFile")?,
            insecure: is("insecure_skip_tls_verify"),
            pass_credentials: is("pass_credentials_all"),
        })
    }

    /// How to get in.
    pub(super) fn access(&self) -> Result<Access, String> {
        let file = |path: &str| {
            pem(Some(Path::new(path))).map_err(|problem| format!("repository {}: {problem}", self.name))
        };
        Ok(Access {
            username: self.username.clone(),
            password: self.password.clone(),
            client_certificate: file(&self.certificate)?,
            client_key: Secret::from(file(&self.key)?),
            certificate_authority: file(&self.authority)?,
            insecure: self.insecure,
            pass_credentials: self.pass_credentials,
            ..Access::default()
        })
    }

    /// The repository, to be asked.
    pub(super) fn repository(&self) -> Result<Repository, String> {
        Ok(Repository::charts(&self.url).with_access(self.access()?))
    }
}

/// Whether two URLs are one but for slashes at the end of their paths.
pub(super) fn same_url(left: &str, right: &str) -> bool {
    left.trim_end_matches('/') == right.trim_end_matches('/')
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "apiVersion: ''\nrepositories:\n- name: shelf\n  url: https://h/charts\n  username: me\n  \
                        password: hush\n  pass_credentials_all: true\n- name: other\n  url: https://h/other/\n";

    #[test]
    fn repositories_are_found_by_name_and_by_url() {
        let known = Repositories::parse(FILE.as_bytes()).unwrap();
        let name = |entry: Option<&Entry>| entry.map(|entry| entry.name.clone()).unwrap_or_default();
        assert_eq!(name(known.named("other")), "other");
        assert_eq!(name(known.at("https://h/charts/")), "shelf");
        assert_eq!(name(known.above("https://h/other/x-1.0.0.tgz")), "other");
        assert_eq!(name(known.above("https://h/chartsX/x.tgz")), "");
        let access = known.named("shelf").unwrap().access().unwrap();
        assert!(access.pass_credentials && access.username == "me" && access.password.reveal() == "hush");
    }

    #[test]
    fn what_is_wrong_is_told_with_its_field() {
        let wrong = Repositories::parse(b"repositories: [{name: a, url: {b: c}}]").err();
        assert_eq!(wrong.unwrap(), "repositories[0].url is not a text");
        assert!(Repositories::parse(b"repositories: {").is_err());
        assert!(Repositories::parse(b"").unwrap().all().is_empty());
    }
}
