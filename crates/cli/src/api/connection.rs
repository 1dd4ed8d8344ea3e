//! Which server a command goes to, or whether it goes to the cluster itself.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use lynceus_source::Secret;

use crate::exit::{Doing as _, Outcome};
use crate::logins::{Login, Logins};
use crate::{place, terminal};

// Which server, and how. The names are those of `argocd`.
#[derive(clap::Args, Clone, Default)]
#[command(next_help_heading = "Connection")]
pub(crate) struct ServerFlags {
    /// The address of a server, as HOST:PORT, instead of the one that was logged in to.
    #[arg(long, global = true, env = "ARGOCD_SERVER", value_name = "ADDRESS")]
    pub(crate) server: Option<String>,
    /// A token for the server, instead of the one that a login left.
    #[arg(long, global = true, env = "ARGOCD_AUTH_TOKEN", hide_env_values = true, value_name = "TOKEN")]
    pub(crate) auth_token: Option<String>,
    /// Go straight to the cluster of the kubeconfig, without a server.
    #[arg(long, global = true)]
    pub(crate) core: bool,
    /// The login to use, by the name of its context.
    #[arg(long, global = true, value_name = "NAME")]
    pub(crate) argocd_context: Option<String>,
    /// The file in which logins are kept, which is also that of `argocd`.
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// Talk without TLS.
    #[arg(long, global = true)]
    pub(crate) plaintext: bool,
    /// Do not check the certificate of the server.
    #[arg(long, global = true)]
    pub(crate) insecure: bool,
    /// Trust the certificates in this file instead of the system's.
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) server_crt: Option<PathBuf>,
    /// Show the server the certificate in this file.
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) client_crt: Option<PathBuf>,
    /// The key of that certificate.
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) client_crt_key: Option<PathBuf>,
    /// Send this header with every request, as 'Name: value'; may be given several times.
    #[arg(short = 'H', long, global = true, value_delimiter = ',', value_name = "HEADER")]
    pub(crate) header: Vec<String>,
    /// The path under which the server is found behind its proxy.
    #[arg(long, global = true, value_name = "PATH")]
    pub(crate) grpc_web_root_path: Option<String>,
    /// How often to try again if the server cannot be reached.
    #[arg(long, global = true, value_name = "N", default_value_t)]
    pub(crate) http_retry_max: u32,
    /// Whether to ask before something is deleted; `lynceus configure` sets it for good.
    #[arg(long, global = true, num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    pub(crate) prompts_enabled: Option<bool>,
    /// Accepted for scripts; requests are plain HTTP, which every proxy lets through.
    #[arg(long, global = true, hide = true)]
    grpc_web: bool,
}

// Where a command goes: to a server or to a cluster.
#[derive(clap::Args, Clone, Default)]
pub(crate) struct Connection {
    #[command(flatten)]
    pub(crate) flags: ServerFlags,
    /// The kubeconfig of the cluster, for going there without a server.
    #[arg(long, global = true, value_name = "FILE", help_heading = "Connection")]
    pub(crate) kubeconfig: Option<PathBuf>,
    /// The context of the kubeconfig.
    #[arg(long, global = true, value_name = "NAME", help_heading = "Connection")]
    pub(crate) kube_context: Option<String>,
    /// The namespace of projects and settings, for going there without a server.
    #[arg(
        long,
        global = true,
        value_name = "NAMESPACE",
        env = "ARGOCD_NAMESPACE",
        default_value = "argocd",
        help_heading = "Connection"
    )]
    pub(crate) argocd_namespace: String,
}

/// A server, and everything that is needed to talk to it.
#[derive(Clone, Default)]
pub(crate) struct Destination {
    /// Host and port.
    pub(crate) address: String,
    /// The path before every other.
    pub(crate) root_path: String,
    /// Without TLS.
    pub(crate) plain: bool,
    /// Without looking at the certificate.
    pub(crate) insecure: bool,
    /// Certificates to trust, in PEM.
    pub(crate) authority: String,
    /// Our own certificate, in PEM.
    pub(crate) certificate: String,
    /// Its key.
    pub(crate) key: Secret,
    /// Who we are.
    pub(crate) token: Secret,
    /// More headers.
    pub(crate) headers: Vec<String>,
    /// How often to try again.
    pub(crate) retries: u32,
}

impl Connection {
    /// The server to go to; none for the cluster itself. Whoever names a server or a login means it; whoever names a
    /// kubeconfig, or stands where `lynceus up` runs, means that cluster; otherwise the last login counts.
    pub(crate) fn destination(&self) -> Outcome<Option<Destination>> {
        let flags = &self.flags;
        if flags.core {
            return Ok(None);
        }
        let named = flags.server.is_some() || flags.argocd_context.is_some();
        let has_cluster = self.kubeconfig.is_some() || Path::new(place::DATA_DIR).join("kubeconfig").exists();
        if !named && has_cluster {
            return Ok(None);
        }
        let logins = flags.logins()?;
        let login = match (&flags.server, &logins) {
            (Some(server), Some(logins)) => logins.of_server(&host(server), flags.argocd_context.as_deref()),
            (_, Some(logins)) => logins.chosen(flags.argocd_context.as_deref())?,
            (_, None) => None,
        };
        match (&flags.server, login) {
            (None, None) => Ok(None),
            (None, Some(login)) if login.is_core => Ok(None),
            (Some(server), None) => flags.over(server, Destination::default()).map(Some),
            (server, Some(login)) => {
                let address = server.clone().unwrap_or_else(|| login.server.clone());
                flags.over(&address, known(&login)?).map(Some)
            }
        }
    }

    /// Whether something is to be done that cannot be undone. Asks only those who want to be asked.
    pub(crate) fn confirmed(&self, question: &str) -> Outcome<bool> {
        match self.flags.wants_prompts()? {
            true => terminal::confirmed(question),
            false => Ok(true),
        }
    }
}

impl ServerFlags {
    /// The file of logins, if there is one.
    pub(crate) fn logins(&self) -> Outcome<Option<Logins>> {
        Logins::read(&self.file())
    }

    /// Where the file of logins is.
    pub(crate) fn file(&self) -> PathBuf {
        self.config.clone().unwrap_or_else(crate::logins::usual_place)
    }

    /// A server with what the flags say about it.
    pub(crate) fn over(&self, address: &str, mut known: Destination) -> Outcome<Destination> {
        let text = |path: &PathBuf| terminal::file(Some(path));
        known.address = host(address);
        known.plain |= self.plaintext || address.starts_with("http://");
        known.insecure |= self.insecure;
        known.headers = self.header.clone();
        known.retries = self.http_retry_max;
        if let Some(path) = &self.grpc_web_root_path {
            known.root_path = path.clone();
        }
        if let Some(path) = &self.server_crt {
            known.authority = text(path)?;
        }
        if let (Some(certificate), Some(key)) = (&self.client_crt, &self.client_crt_key) {
            known.certificate = text(certificate)?;
            known.key = text(key)?.into();
        }
        if let Some(token) = &self.auth_token {
            known.token = token.trim().to_owned().into();
        }
        Ok(known)
    }

    fn wants_prompts(&self) -> Outcome<bool> {
        match self.prompts_enabled {
            Some(wanted) => Ok(wanted),
            None => Ok(self.logins()?.is_some_and(|logins| logins.prompts())),
        }
    }
}

/// An address without what some write before and behind it.
fn host(address: &str) -> String {
    let bare = address.trim_start_matches("https://").trim_start_matches("http://");
    bare.trim_end_matches('/').to_owned()
}

/// What a login has written down.
pub(crate) fn known(login: &Login) -> Outcome<Destination> {
    let decoded = |what: &str, text: &str| -> Outcome<String> {
        let bytes = STANDARD.decode(text).doing(format!("cannot read {what} of context {}", login.name))?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    };
    Ok(Destination {
        address: host(&login.server),
        root_path: login.root_path.clone(),
        plain: login.is_plain,
        insecure: login.is_insecure,
        authority: decoded("certificate-authority-data", &login.authority)?,
        certificate: decoded("client-certificate-data", &login.certificate)?,
        key: decoded("client-certificate-key-data", &login.key)?.into(),
        token: login.token.clone(),
        ..Destination::default()
    })
}

/// The commands that talk to a server.
const COMMANDS: [&str; 14] = [
    "account",
    "admin",
    "app",
    "cert",
    "cluster",
    "configure",
    "context",
    "gpg",
    "login",
    "logout",
    "proj",
    "relogin",
    "repo",
    "repocreds",
];

/// The flags of a connection that have a value behind them.
const VALUED: [&str; 14] = [
    "--server",
    "--auth-token",
    "--argocd-context",
    "--config",
    "--server-crt",
    "--client-crt",
    "--client-crt-key",
    "--header",
    "-H",
    "--grpc-web-root-path",
    "--http-retry-max",
    "--kubeconfig",
    "--kube-context",
    "--argocd-namespace",
];

/// Those that have none.
const BARE: [&str; 6] =
    ["--core", "--plaintext", "--insecure", "--grpc-web", "--prompts-enabled", "--verbose"];

/// Puts the flags of a connection where they are looked for. `argocd` takes them before the command as well, and from
/// `ARGOCD_OPTS`; what is typed counts more than what the variable says.
pub(crate) fn arrange(words: Vec<OsString>, options: &str) -> Vec<OsString> {
    let before = words.iter().skip(1).scan(false, |is_value, word| {
        let was_value = std::mem::take(is_value);
        let text = word.to_string_lossy();
        *is_value = !was_value && VALUED.contains(&text.as_ref());
        (was_value || text.starts_with('-')).then_some(())
    });
    let at = 1 + before.count();
    let is_ours = words.get(at).is_some_and(|word| {
        let word = word.to_string_lossy();
        COMMANDS.contains(&word.as_ref()) || word == "version"
    });
    if !is_ours {
        return words;
    }
    let mut arranged: Vec<OsString> = words.iter().take(1).chain(words.get(at)).cloned().collect();
    arranged.extend(meant(options).into_iter().map(OsString::from));
    arranged.extend(words.iter().take(at).skip(1).chain(words.iter().skip(at + 1)).cloned());
    arranged
}

/// The flags of a connection among words as a shell would split them. Others are for other programs.
fn meant(options: &str) -> Vec<String> {
    let words = split(options);
    let mut meant = Vec::new();
    let mut rest = words.into_iter();
    while let Some(word) = rest.next() {
        let name = word.split('=').next().unwrap_or_default().to_owned();
        if BARE.contains(&name.as_str()) || (VALUED.contains(&name.as_str()) && word.contains('=')) {
            meant.push(word);
        } else if VALUED.contains(&name.as_str())
            && let Some(value) = rest.next()
        {
            meant.extend([word, value]);
        }
    }
    meant
}

/// Words between blanks, where quotes hold blanks together.
fn split(text: &str) -> Vec<String> {
    let (mut words, mut word, mut quote) = (Vec::new(), None::<String>, None);
    for letter in text.chars() {
        match (quote, letter) {
            (Some(open), letter) if letter == open => quote = None,
            (None, '"' | '\'') => {
                quote = Some(letter);
                word.get_or_insert_default();
            }
            (None, letter) if letter.is_whitespace() => words.extend(word.take()),
            (_, letter) => word.get_or_insert_default().push(letter),
        }
    }
    words.extend(word);
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(line: &str, options: &str) -> String {
        let words = line.split(' ').map(OsString::from).collect();
        let words = arrange(words, options);
        words.iter().map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn flags_before_the_command_go_behind_it() {
        assert_eq!(check("lynceus --server a:1 --core app list", ""), "lynceus app --server a:1 --core list");
        assert_eq!(check("lynceus -v helm template x", "--insecure"), "lynceus -v helm template x");
        assert_eq!(check("lynceus --help", "--insecure"), "lynceus --help");
    }

    #[test]
    fn the_variable_counts_less_than_what_is_typed() {
        assert_eq!(
            check("lynceus proj list --server b", "--server a --header 'X: y z' --loglevel debug --insecure"),
            "lynceus proj --server a --header X: y z --insecure list --server b"
        );
    }
}
