//! The file in which `argocd` keeps where somebody has logged in: contexts, servers and users. Both programs read and write
//! it, so what is not known here stays as it is.

use std::path::{Path, PathBuf};

use lynceus_object::{Value, value, yaml};
use lynceus_source::Secret;

use crate::exit::{Code, Doing as _, Failure, Outcome};
use crate::place;

/// The file, read.
pub(crate) struct Logins {
    path: PathBuf,
    value: Value,
}

/// One context, with its server and its user.
pub(crate) struct Login {
    /// The context's name.
    pub(crate) name: String,
    /// The server's address.
    pub(crate) server: String,
    /// The user's name in the file.
    pub(crate) user: String,
    /// Whether it is the cluster itself.
    pub(crate) is_core: bool,
    /// Without TLS.
    pub(crate) is_plain: bool,
    /// Without looking at the certificate.
    pub(crate) is_insecure: bool,
    /// The path before every other.
    pub(crate) root_path: String,
    /// Certificates to trust, in base64.
    pub(crate) authority: String,
    /// Our own certificate, in base64.
    pub(crate) certificate: String,
    /// Its key, in base64.
    pub(crate) key: String,
    /// Who we are there.
    pub(crate) token: Secret,
}

/// Where the file is, if nobody says otherwise.
pub(crate) fn usual_place() -> PathBuf {
    let named = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    if let Some(directory) = named("ARGOCD_CONFIG_DIR") {
        return directory.join("config");
    }
    let home = named("HOME").unwrap_or_default();
    let old = home.join(".argocd/config");
    if old.exists() {
        return old;
    }
    named("XDG_CONFIG_HOME").unwrap_or_else(|| home.join(".config")).join("argocd/config")
}

impl Logins {
    /// Reads the file; none if there is none.
    pub(crate) fn read(path: &Path) -> Outcome<Option<Self>> {
        let shown = path.display();
        let text = match std::fs::read(path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error).doing(format!("cannot read {shown}")),
        };
        // The message of the parser might quote a token.
        let unreadable = |line: String| {
            Failure::new(Code::Other, format!("cannot read {shown}: it is no file of logins{line}"))
                .hint("mend it or move it away, and log in again:\nlynceus login SERVER")
        };
        let value = yaml::parse(&text).map_err(|error| unreadable(format!(", see line {}", error.line)))?;
        match value {
            Value::Map(_) => Ok(Some(Logins { path: path.to_path_buf(), value })),
            Value::Null => Ok(Some(Logins { path: path.to_path_buf(), value: value!({}) })),
            _ => Err(unreadable(String::new())),
        }
    }

    /// The file, or an empty one that is to be written there.
    pub(crate) fn read_or_new(path: &Path) -> Outcome<Self> {
        Ok(Self::read(path)?.unwrap_or_else(|| Logins { path: path.to_path_buf(), value: value!({}) }))
    }

    /// The name of the context that counts.
    pub(crate) fn current(&self) -> &str {
        self.value.str_at(&["current-context"]).unwrap_or_default()
    }

    /// Has another context count.
    pub(crate) fn switch(&mut self, name: &str) {
        self.value.set(&["current-context"], name);
    }

    /// Whether somebody wants to be asked before something is deleted.
    pub(crate) fn prompts(&self) -> bool {
        self.value.bool_at(&["prompts-enabled"]).unwrap_or_default()
    }

    /// Sets it.
    pub(crate) fn set_prompts(&mut self, wanted: bool) {
        self.value.set(&["prompts-enabled"], wanted);
    }

    /// The names of all contexts, in the order of the file, with their servers.
    pub(crate) fn contexts(&self) -> Vec<(String, String)> {
        let text = |entry: &Value, key: &str| entry.str_at(&[key]).unwrap_or_default().to_owned();
        let entries = self.value.items_at(&["contexts"]).iter();
        entries.map(|entry| (text(entry, "name"), text(entry, "server"))).collect()
    }

    /// The login that is named, or the one that counts; none if none does.
    pub(crate) fn chosen(&self, name: Option<&str>) -> Outcome<Option<Login>> {
        let wanted = name.unwrap_or(self.current());
        if wanted.is_empty() {
            return Ok(None);
        }
        let missing = || {
            Failure::new(Code::NotFound, format!("context {wanted} is not in {}", self.path.display()))
                .hint("see which there are:\nlynceus context")
        };
        self.login(wanted).map(Some).ok_or_else(missing)
    }

    /// A login to a server: the one that is named, or the first.
    pub(crate) fn of_server(&self, server: &str, name: Option<&str>) -> Option<Login> {
        let mut named = self.contexts().into_iter().filter(|(_, own)| own == server);
        let (first, _) = match name {
            Some(name) => named.find(|(own, _)| own == name)?,
            None => named.next()?,
        };
        self.login(&first)
    }

    /// A login by the name of its context.
    pub(crate) fn login(&self, name: &str) -> Option<Login> {
        let context = self.entry("contexts", "name", name)?;
        let address = context.str_at(&["server"]).unwrap_or_default();
        let user = context.str_at(&["user"]).unwrap_or_default();
        let nothing = value!({});
        let server = self.entry("servers", "server", address).unwrap_or(&nothing);
        let account = self.entry("users", "name", user).unwrap_or(&nothing);
        let text = |key: &str| server.str_at(&[key]).unwrap_or_default().to_owned();
        let flag = |key: &str| server.bool_at(&[key]).unwrap_or_default();
        let hidden = |key: &str| account.str_at(&[key]).unwrap_or_default().to_owned().into();
        Some(Login {
            name: name.to_owned(),
            server: address.to_owned(),
            user: user.to_owned(),
            is_core: flag("core"),
            is_plain: flag("plain-text"),
            is_insecure: flag("insecure"),
            root_path: text("grpc-web-root-path"),
            authority: text("certificate-authority-data"),
            certificate: text("client-certificate-data"),
            key: text("client-certificate-key-data"),
            token: hidden("auth-token"),
        })
    }

    fn entry(&self, list: &str, key: &str, name: &str) -> Option<&Value> {
        self.value.items_at(&[list]).iter().find(|entry| entry.str_at(&[key]) == Some(name))
    }

    /// Puts an entry into a list, over what is there under its key.
    pub(crate) fn put(&mut self, list: &str, key: &str, entry: &Value) {
        let mut entries: Vec<Value> = self.value.items_at(&[list]).to_vec();
        let name = entry.str_at(&[key]);
        match entries.iter_mut().find(|old| old.str_at(&[key]) == name) {
            Some(old) => {
                for (key, value) in entry.as_map().into_iter().flat_map(|map| map.iter()) {
                    old.set(&[key], value.clone());
                }
            }
            None => entries.push(entry.clone()),
        }
        self.value.set(&[list], Value::from(entries));
    }

    /// Keeps a token for a user.
    pub(crate) fn keep(&mut self, user: &str, token: &str, refresh: &str) {
        self.put("users", "name", &value!({"name": user, "auth-token": token}));
        if !refresh.is_empty() {
            self.put("users", "name", &value!({"name": user, "refresh-token": refresh}));
        }
    }

    /// Forgets the tokens of a user.
    pub(crate) fn forget(&mut self, user: &str) -> bool {
        let mut entries: Vec<Value> = self.value.items_at(&["users"]).to_vec();
        let found = entries.iter_mut().find(|entry| entry.str_at(&["name"]) == Some(user));
        let had = found.is_some_and(|entry| {
            entry.remove(&["refresh-token"]);
            entry.remove(&["auth-token"]).is_some()
        });
        self.value.set(&["users"], Value::from(entries));
        had
    }

    /// Takes a context away, and its server and user where no other context has them.
    pub(crate) fn remove(&mut self, name: &str) -> bool {
        let Some(login) = self.login(name) else { return false };
        self.strike("contexts", "name", name);
        for (list, key, own, value) in
            [("servers", "server", "server", &login.server), ("users", "name", "user", &login.user)]
        {
            let used = self.value.items_at(&["contexts"]).iter();
            if !used.map(|context| context.str_at(&[own])).any(|used| used == Some(value.as_str())) {
                self.strike(list, key, value);
            }
        }
        if self.current() == name {
            self.switch("");
        }
        true
    }

    fn strike(&mut self, list: &str, key: &str, name: &str) {
        let left = self.value.items_at(&[list]).iter().filter(|entry| entry.str_at(&[key]) != Some(name));
        let left: Vec<Value> = left.cloned().collect();
        self.value.set(&[list], Value::from(left));
    }

    /// Writes the file, for nobody else to read.
    pub(crate) fn write(&self) -> Outcome {
        place::write_private(&self.path, &yaml::to_string(&self.value))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "\
contexts:
- {name: a, server: a:1, user: a}
- {name: b, server: a:1, user: b}
current-context: b
servers: [{server: a:1, plain-text: true, colour: red}]
users: [{name: a, auth-token: t1}, {name: b, auth-token: t2, refresh-token: r2}]
";

    fn logins() -> Logins {
        Logins { path: "config".into(), value: yaml::parse_str(FILE).expect("YAML") }
    }

    #[test]
    fn what_is_not_known_stays_and_tokens_are_kept_and_forgotten() {
        let mut logins = logins();
        logins.put("servers", "server", &value!({"server": "a:1", "insecure": true}));
        logins.keep("a", "new", "");
        assert!(logins.forget("b"));
        assert!(!logins.forget("b"));
        let text = yaml::to_string(&logins.value);
        assert!(text.contains("colour: red"), "{text}");
        assert!(text.contains("auth-token: new"), "{text}");
        assert!(!text.contains("t2") && !text.contains("r2"), "{text}");
    }

    #[test]
    fn a_server_stays_as_long_as_a_context_has_it() {
        let mut logins = logins();
        assert!(logins.remove("b"));
        assert_eq!(logins.current(), "");
        assert!(logins.login("a").is_some_and(|login| login.is_plain && login.token.reveal() == "t1"));
        assert!(logins.remove("a"));
        assert!(!logins.remove("a"));
        assert_eq!(
            yaml::to_string(&logins.value),
            "contexts: []\ncurrent-context: \"\"\nservers: []\nusers: []\n"
        );
    }
}
