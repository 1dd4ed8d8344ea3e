//! The credentials of registries: Helm's own file, and Docker's.
//!
//! Both may name programs that keep credentials instead of holding them. No program is run here; who needs one of
//! those is told so.

use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use lynceus_source::{Access, Secret};
use serde_json::Value;

use super::settings::user_home;

/// The most bytes that a file of credentials may have.
const MAX_BYTES: u64 = 4 << 20;

/// Credentials of registries, from the file that counts most to the one that counts least.
#[derive(Default)]
pub(super) struct Logins(Vec<(PathBuf, Value)>);

impl Logins {
    /// Reads Helm's file and Docker's, as far as they are there.
    pub(super) fn read(own: &Path) -> Result<Self, String> {
        let docker = std::env::var_os("DOCKER_CONFIG").map(PathBuf::from);
        let docker = docker.unwrap_or_else(|| user_home().join(".docker")).join("config.json");
        let files = [own.to_path_buf(), docker].into_iter().filter_map(|path| read(path).transpose());
        files.collect::<Result<_, _>>().map(Logins)
    }

    /// Puts the credentials for a host in their place, if there are some.
    pub(super) fn fill(&self, host: &str, access: &mut Access) -> Result<(), String> {
        for (path, file) in &self.0 {
            let wrong = |what: &str| format!("{}: the credentials of {host} {what}", path.display());
            let entry = entry(file, host);
            if let Some(login) = entry.map(login).transpose().map_err(wrong)?.flatten() {
                (access.username, access.password, access.bearer_token) = login;
                return Ok(());
            }
            if let Some(program) = helper(file, host, entry.is_some()) {
                eprintln!(
                    "warning: {}: the credentials of {host} are kept by the program docker-credential-{program}, which \
                     is not run; give them with --username and --password",
                    path.display()
                );
            }
        }
        Ok(())
    }
}

fn read(path: PathBuf) -> Result<Option<(PathBuf, Value)>, String> {
    let failed = |reason: String| format!("cannot read the credentials in {}: {reason}", path.display());
    match path.metadata() {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(failed(error.to_string())),
        Ok(about) if about.len() > MAX_BYTES => {
            return Err(failed(format!("it has more than {MAX_BYTES} bytes")));
        }
        Ok(_) => {}
    }
    let text = std::fs::read(&path).map_err(|error| failed(error.to_string()))?;
    // The message of the parser might quote a password.
    let file = serde_json::from_slice(&text)
        .map_err(|error| failed(format!("line {} is not JSON", error.line())))?;
    Ok(Some((path, file)))
}

/// What a file says of a host. Old files have URLs in the place of hosts.
fn entry<'a>(file: &'a Value, host: &str) -> Option<&'a Value> {
    let auths = file.get("auths")?.as_object()?;
    let key = key(host);
    auths
        .get(key)
        .or_else(|| auths.iter().find(|(address, _)| host_of(address) == key).map(|(_, entry)| entry))
}

/// The name by which credentials of a registry are kept.
fn key(host: &str) -> &str {
    match host {
        "docker.io" | "registry-1.docker.io" => "https://index.docker.io/v1/",
        host => host,
    }
}

fn host_of(address: &str) -> &str {
    let rest =
        address.strip_prefix("https://").or_else(|| address.strip_prefix("http://")).unwrap_or(address);
    rest.split('/').next().unwrap_or_default()
}

/// User, password and token of an entry; none if it is empty.
fn login(entry: &Value) -> Result<Option<(String, Secret, Secret)>, &'static str> {
    let text = |name: &str| entry.get(name).and_then(Value::as_str).unwrap_or_default();
    if !text("identitytoken").is_empty() {
        return Err(
            "are an identity token, which is not supported; log in with a password or an access token",
        );
    }
    let token = Secret::from(text("registrytoken"));
    let pair = match text("auth") {
        "" => (text("username").to_owned(), text("password").to_owned()),
        packed => {
            let bytes = STANDARD.decode(packed.trim()).map_err(|_| "are not in base64")?;
            let pair = String::from_utf8(bytes).map_err(|_| "are not text")?;
            let (user, password) = pair.split_once(':').ok_or("have no colon between user and password")?;
            (user.to_owned(), password.trim_end_matches('\0').to_owned())
        }
    };
    let is_empty = pair.0.is_empty() && pair.1.is_empty() && token.is_empty();
    Ok((!is_empty).then(|| (pair.0, Secret::from(pair.1), token)))
}

/// The program that keeps the credentials of a host. One for all hosts counts only if the host is known.
fn helper<'a>(file: &'a Value, host: &str, is_known: bool) -> Option<&'a str> {
    let own = file.get("credHelpers").and_then(|helpers| helpers.get(key(host)));
    let all = file.get("credsStore").filter(|_| is_known);
    own.or(all).and_then(Value::as_str).filter(|program| !program.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, host: &str) -> String {
        let logins = Logins(vec![(PathBuf::from("config.json"), serde_json::from_str(text).unwrap())]);
        let mut access = Access::default();
        match logins.fill(host, &mut access) {
            Ok(()) => {
                format!("{}:{}:{}", access.username, access.password.reveal(), access.bearer_token.reveal())
            }
            Err(problem) => problem,
        }
    }

    #[test]
    fn credentials_are_found_by_host() {
        let file = r#"{"auths": {"r.io:5000": {"auth": "bWU6aHVzaDp4"}, "https://old.io/v2/": {"username": "a", "password": "b"},
                       "https://index.docker.io/v1/": {"auth": "ZG9jazpwdw=="}, "t.io": {"registrytoken": "tok"}}}"#;
        assert_eq!(check(file, "r.io:5000"), "me:hush:x:");
        assert_eq!(check(file, "old.io"), "a:b:");
        assert_eq!(check(file, "docker.io"), "dock:pw:");
        assert_eq!(check(file, "t.io"), "::tok");
        assert_eq!(check(file, "r.io"), "::", "another port is another registry");
    }

    #[test]
    fn what_cannot_be_used_is_told_without_the_secret() {
        let wrong = check(r#"{"auths": {"r.io": {"auth": "%hush%"}}}"#, "r.io");
        assert_eq!(wrong, "config.json: the credentials of r.io are not in base64");
        let token = check(r#"{"auths": {"r.io": {"identitytoken": "hush"}}}"#, "r.io");
        assert!(token.contains("identity token") && !token.contains("hush"), "{token}");
    }

    #[test]
    fn a_program_that_keeps_credentials_is_known_by_its_name() {
        let file = serde_json::json!({"credsStore": "desktop", "credHelpers": {"e.io": "ecr"}});
        assert_eq!(helper(&file, "e.io", false), Some("ecr"));
        assert_eq!(helper(&file, "r.io", true), Some("desktop"));
        assert_eq!(helper(&file, "r.io", false), None);
    }
}
