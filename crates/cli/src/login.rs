//! `lynceus login`, `logout`, `relogin`, `context` and `configure`: where somebody has logged in. The file is that of
//! `argocd`, so a login of either counts for both.

mod callback;
mod sso;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use lynceus_object::{Value, json, value};

use crate::api::{Api, ApiError, Destination, ServerFlags, misuse};
use crate::exit::{Code, Doing as _, Failure, Outcome};
use crate::logins::Logins;
use crate::table::Table;
use crate::terminal;

/// Log in to a server.
///
/// Asks for name and password, or sends you to the issuer that the server names (--sso). The session is kept in the file
/// that `argocd` keeps it in. With --core nobody is asked: commands then go straight to the cluster of the kubeconfig.
#[derive(clap::Args)]
pub(crate) struct LoginArguments {
    #[command(flatten)]
    flags: ServerFlags,
    /// The server, as HOST:PORT.
    #[arg(value_name = "SERVER", required_unless_present = "core")]
    address: Option<String>,
    /// The name of the context; without it, the address.
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    /// The account.
    #[arg(long, value_name = "NAME")]
    username: Option<String>,
    /// Its password; without it, it is asked for, or read from standard input.
    #[arg(long, value_name = "PASSWORD")]
    password: Option<String>,
    /// Do not try first whether the server speaks TLS.
    #[arg(long)]
    skip_test_tls: bool,
    #[command(flatten)]
    sso: sso::Flags,
    /// Log in with the issuer that the server names.
    #[arg(long = "sso")]
    by_issuer: bool,
}

/// Forget a login, and end its session.
#[derive(clap::Args)]
pub(crate) struct LogoutArguments {
    #[command(flatten)]
    flags: ServerFlags,
    /// The context.
    context: String,
}

/// Log in again where the session has ended.
#[derive(clap::Args)]
pub(crate) struct ReloginArguments {
    #[command(flatten)]
    flags: ServerFlags,
    /// The password; without it, it is asked for, or read from standard input.
    #[arg(long, value_name = "PASSWORD")]
    password: Option<String>,
    #[command(flatten)]
    sso: sso::Flags,
}

/// List logins, or choose the one that counts.
#[derive(clap::Args)]
pub(crate) struct ContextArguments {
    #[command(flatten)]
    flags: ServerFlags,
    /// The context; without it, all are listed.
    context: Option<String>,
    /// Take it out of the file instead.
    #[arg(long)]
    delete: bool,
}

/// Set what holds for every command.
#[derive(clap::Args)]
pub(crate) struct ConfigureArguments {
    #[command(flatten)]
    flags: ServerFlags,
}

/// Logs in.
pub(crate) async fn login(arguments: &LoginArguments) -> Outcome {
    let flags = &arguments.flags;
    let mut logins = Logins::read_or_new(&flags.file())?;
    let mut entry = value!({"server": "kubernetes", "core": true});
    let mut tokens = sso::Tokens::default();
    if let (false, Some(address)) = (flags.core, &arguments.address) {
        let destination = reachable(flags, address, arguments.skip_test_tls).await?;
        let api = Api::remote(&destination)?;
        tokens = match arguments.by_issuer {
            true => sso::login(&api, &destination, &arguments.sso).await?,
            false => {
                let name = match &arguments.username {
                    Some(name) => name.clone(),
                    None => terminal::asked("Username: ")?,
                };
                sso::Tokens {
                    token: by_password(&api, &name, arguments.password.as_deref()).await?,
                    ..tokens
                }
            }
        };
        println!("'{}' logged in successfully", owner(&tokens.token));
        entry = value!({"server": destination.address, "core": false, "plain-text": destination.plain});
        entry.set(&["insecure"], destination.insecure);
        entry.set(&["grpc-web-root-path"], destination.root_path);
    }
    let server = entry.str_at(&["server"]).unwrap_or_default().to_owned();
    let name = arguments.name.clone().unwrap_or_else(|| named(&entry));
    logins.put("servers", "server", &entry);
    logins.keep(&name, &tokens.token, &tokens.refresh);
    logins.put("contexts", "name", &value!({"name": name.as_str(), "server": server, "user": name.as_str()}));
    logins.switch(&name);
    logins.write()?;
    println!("Context '{name}' updated");
    if !flags.core && std::path::Path::new(crate::place::DATA_DIR).join("kubeconfig").exists() {
        eprintln!(
            "note: in this folder commands go to the cluster of ./{}; add --argocd-context {name} for the server",
            crate::place::DATA_DIR
        );
    }
    Ok(())
}

/// The name of a context that nobody has named.
fn named(entry: &Value) -> String {
    let (server, path) = (entry.str_at(&["server"]), entry.str_at(&["grpc-web-root-path"]));
    let (server, path) = (server.unwrap_or_default(), path.unwrap_or_default().trim_matches('/'));
    if path.is_empty() { server.to_owned() } else { format!("{server}/{path}") }
}

/// A server as it can be talked to. Whoever sits at the terminal is asked whether to go on where it is not safe.
async fn reachable(flags: &ServerFlags, address: &str, untried: bool) -> Outcome<Destination> {
    let mut destination = flags.over(address, Destination::default())?;
    // A session that is being opened needs no other.
    destination.token = String::new().into();
    for _ in 0..2 {
        if untried {
            break;
        }
        let question = match Api::remote(&destination)?.try_call("VersionService.Version", value!({})).await {
            Err(ApiError::Plain { .. }) => {
                destination.plain = true;
                "WARNING: server is not configured with TLS. Proceed (y/n)? ".to_owned()
            }
            Err(ApiError::Untrusted { reason, .. }) => {
                destination.insecure = true;
                format!("WARNING: server certificate had error: {reason}. Proceed insecurely (y/n)? ")
            }
            Err(ApiError::Refused(_)) | Ok(_) => break,
            Err(error) => return Err(error).doing("cannot log in"),
        };
        if !terminal::confirmed(&question)? {
            return Err(Failure::new(Code::Answer, "not logged in").hint(
                "--plaintext talks without TLS, --server-crt FILE trusts a certificate, --insecure any",
            ));
        }
    }
    Ok(destination)
}

/// A session for a name and a password.
pub(crate) async fn by_password(api: &Api, name: &str, password: Option<&str>) -> Outcome<String> {
    let password = match password {
        Some(password) => password.to_owned(),
        None => terminal::secret("Password: ")?,
    };
    let message = value!({"username": name, "password": password});
    let answer = api.call("cannot log in", "SessionService.Create", message).await?;
    match answer.str_at(&["token"]).unwrap_or_default() {
        "" => Err(misuse("cannot log in: the server gave no session")),
        token => Ok(token.to_owned()),
    }
}

/// Ends a session.
pub(crate) async fn logout(arguments: &LogoutArguments) -> Outcome {
    let name = arguments.context.as_str();
    let mut logins = Logins::read_or_new(&arguments.flags.file())?;
    let Some(login) = logins.login(name) else { return Err(no_context(name)) };
    if !login.token.is_empty() {
        let destination = arguments.flags.over(&login.server, crate::api::known(&login)?)?;
        let ended = Api::remote(&destination)?.try_call("SessionService.Delete", value!({})).await;
        if let Err(error) = ended {
            // The session is forgotten anyway; that it may still be good elsewhere is worth a word.
            eprintln!("note: the server was not told: {error}");
        }
    }
    if !logins.forget(&login.user) {
        println!("Already logged out from '{name}'");
        return Ok(());
    }
    logins.write()?;
    println!("Logged out from '{name}'");
    Ok(())
}

/// Logs in again.
pub(crate) async fn relogin(arguments: &ReloginArguments) -> Outcome {
    let flags = &arguments.flags;
    let mut logins = Logins::read_or_new(&flags.file())?;
    let Some(login) = logins.chosen(flags.argocd_context.as_deref())? else {
        return Err(misuse("nobody has logged in yet").hint("lynceus login SERVER"));
    };
    if login.is_core {
        return Err(misuse(format!("context {} is the cluster itself, which needs no login", login.name)));
    }
    let mut destination = flags.over(&login.server, crate::api::known(&login)?)?;
    let issuer = claims(login.token.reveal()).str_at(&["iss"]).unwrap_or_default().to_owned();
    destination.token = String::new().into();
    let api = Api::remote(&destination)?;
    let tokens = if issuer == "argocd" {
        let name = owner(login.token.reveal());
        println!("Relogging in as '{name}'");
        sso::Tokens {
            token: by_password(&api, &name, arguments.password.as_deref()).await?,
            ..sso::Tokens::default()
        }
    } else {
        println!("Reinitiating SSO login");
        sso::login(&api, &destination, &arguments.sso).await?
    };
    logins.keep(&login.user, &tokens.token, &tokens.refresh);
    logins.write()?;
    println!("Context '{}' updated", login.name);
    Ok(())
}

/// Lists contexts, or has another one count.
pub(crate) fn context(arguments: &ContextArguments) -> Outcome {
    let Some(mut logins) = arguments.flags.logins()? else {
        println!("No local configuration found");
        return Err(Failure::new(Code::Answer, ""));
    };
    let Some(name) = arguments.context.as_deref() else {
        print!("{}", contexts(&logins));
        return Ok(());
    };
    if logins.login(name).is_none() {
        return Err(no_context(name));
    }
    if arguments.delete {
        logins.remove(name);
        logins.write()?;
        println!("Context '{name}' deleted");
    } else if logins.current() == name {
        println!("Already at context '{name}'");
    } else {
        logins.switch(name);
        logins.write()?;
        println!("Switched to context '{name}'");
    }
    Ok(())
}

fn contexts(logins: &Logins) -> Table {
    let mut table = Table::new(&["CURRENT", "NAME", "SERVER"]);
    for (name, server) in logins.contexts() {
        let mark = if name == logins.current() { "*" } else { "" };
        table.row([mark.to_owned(), name, server]);
    }
    table
}

/// Sets what holds for every command.
pub(crate) fn configure(arguments: &ConfigureArguments) -> Outcome {
    let Some(mut logins) = arguments.flags.logins()? else {
        println!("No local configuration found");
        return Err(Failure::new(Code::Answer, ""));
    };
    let wanted = arguments.flags.prompts_enabled.unwrap_or_default();
    logins.set_prompts(wanted);
    logins.write()?;
    println!("Successfully updated the following configuration settings:\nprompts-enabled: {wanted}");
    Ok(())
}

fn no_context(name: &str) -> Failure {
    Failure::new(Code::NotFound, format!("context {name} does not exist"))
        .hint("see which there are:\nlynceus context")
}

/// What a token says, unchecked: only to be shown to whoever has it.
pub(crate) fn claims(token: &str) -> Value {
    let part = token.split('.').nth(1).unwrap_or_default();
    let bytes = URL_SAFE_NO_PAD.decode(part.trim_end_matches('=')).unwrap_or_default();
    json::parse(&bytes).unwrap_or_default()
}

/// Whose token it is.
pub(crate) fn owner(token: &str) -> String {
    let claims = claims(token);
    let said = |name: &str| claims.str_at(&[name]).filter(|text| !text.is_empty());
    // The session of a local account says for what it is good, too.
    let subject = said("sub").map(|subject| subject.split(':').next().unwrap_or(subject));
    said("email").or_else(|| said("name")).or(subject).unwrap_or("somebody").to_owned()
}
