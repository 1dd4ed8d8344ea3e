//! `lynceus account`: local accounts, their passwords and keys, and what one may do.

use clap::Subcommand;
use lynceus_object::{Value, value};

use crate::api::{Api, Connection, misuse};
use crate::exit::{Doing as _, Outcome};
use crate::format::{self, Output, number, text, texts};
use crate::logins::Logins;
use crate::table::Table;
use crate::{login, terminal};

/// Work with accounts, as `argocd account` does.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    connection: Connection,
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
#[command(defer = true)]
enum Command {
    /// Print the bcrypt hash of a password, for argocd-secret.
    Bcrypt {
        /// The password; without it, it is asked for, or read from standard input.
        #[arg(long)]
        password: Option<String>,
    },
    /// Say whether you may do something: `lynceus account can-i sync applications '*'`.
    CanI {
        /// get, create, update, delete, sync, override, action or invoke.
        action: String,
        /// applications, projects, clusters, repositories, logs and others.
        resource: String,
        /// The object as policies name it: PROJECT/NAME, or '*'.
        subresource: String,
    },
    /// Take a key of an account back.
    DeleteToken {
        /// The key.
        id: String,
        /// The account; without it, your own.
        #[arg(short, long)]
        account: Option<String>,
    },
    /// Print a new key for an account, for programs.
    GenerateToken {
        /// The account; without it, your own.
        #[arg(short, long)]
        account: Option<String>,
        /// For how long it counts: 12h, 7d; without it, for ever.
        #[arg(short, long, value_name = "DURATION", default_value = "0s")]
        expires_in: String,
        /// What the key is called; without it, anything.
        #[arg(long)]
        id: Option<String>,
    },
    /// Say who you are.
    #[command(visible_alias = "whoami")]
    GetUserInfo {
        /// How to print it.
        #[arg(short, long, value_enum, default_value_t)]
        output: Output,
    },
    /// Show an account and its keys.
    Get {
        /// The account; without it, your own.
        #[arg(short, long)]
        account: Option<String>,
        /// How to print it.
        #[arg(short, long, value_enum, default_value_t)]
        output: Output,
    },
    /// List the accounts.
    List {
        /// How to print them.
        #[arg(short, long, value_enum, default_value_t)]
        output: Output,
    },
    /// Print the token of the session, for other programs.
    SessionToken {
        /// How to print it.
        #[arg(short, long, value_enum, default_value_t)]
        output: Output,
    },
    /// Change a password.
    UpdatePassword {
        /// The account; without it, your own.
        #[arg(long)]
        account: Option<String>,
        /// Your own password; without it, it is asked for.
        #[arg(long, value_name = "PASSWORD")]
        current_password: Option<String>,
        /// The new one; without it, it is asked for.
        #[arg(long, value_name = "PASSWORD")]
        new_password: Option<String>,
    },
}

pub(crate) async fn run(arguments: Arguments) -> Outcome {
    let connection = &arguments.connection;
    match arguments.command {
        Command::Bcrypt { password } => return bcrypt(password),
        Command::SessionToken { output } => return session_token(connection, output),
        _ => {}
    }
    let api = Api::open(connection).await?;
    match arguments.command {
        Command::Bcrypt { .. } | Command::SessionToken { .. } => Ok(()),
        Command::CanI { action, resource, subresource } => {
            let message = value!({"action": action, "resource": resource, "subresource": subresource});
            let answer = api.call("cannot say whether you may", "AccountService.CanI", message).await?;
            println!("{}", text(&answer, &["value"]));
            Ok(())
        }
        Command::DeleteToken { id, account } => delete_token(connection, &api, &id, account).await,
        Command::GenerateToken { account, expires_in, id } => {
            let seconds = format::span(&expires_in).ok_or_else(|| {
                misuse(format!("--expires-in {expires_in:?} is no duration such as 12h or 7d"))
            })?;
            let name = meant(&api, account).await?;
            let message = value!({"name": name, "expiresIn": seconds, "id": id.unwrap_or_default()});
            let answer = api.call("cannot make a key", "AccountService.CreateToken", message).await?;
            println!("{}", text(&answer, &["token"]));
            Ok(())
        }
        Command::GetUserInfo { output } => user_info(&api, output).await,
        Command::Get { account, output } => {
            let name = meant(&api, account).await?;
            let failed = format!("cannot read account {name}");
            let account =
                api.call(&failed, "AccountService.GetAccount", value!({"name": name.as_str()})).await?;
            format::print(output, &account, [name], || shown(&account))
        }
        Command::List { output } => list(&api, output).await,
        Command::UpdatePassword { account, current_password, new_password } => {
            update_password(connection, &api, account, current_password, new_password).await
        }
    }
}

/// The account that is meant: the one that is named, or one's own.
async fn meant(api: &Api, account: Option<String>) -> Outcome<String> {
    if let Some(account) = account.filter(|account| !account.is_empty()) {
        return Ok(account);
    }
    let info = who(api).await?;
    match text(&info, &["username"]) {
        "" => Err(misuse("no account is named").hint("name one: --account NAME")),
        name => Ok(name.to_owned()),
    }
}

async fn who(api: &Api) -> Outcome<Value> {
    api.call("cannot say who you are", "SessionService.GetUserInfo", value!({})).await
}

fn bcrypt(password: Option<String>) -> Outcome {
    let password = match password {
        Some(password) => password,
        None => terminal::new_secret("Password: ")?,
    };
    println!("{}", lynceus_server::hash(&password).doing("cannot hash the password")?);
    Ok(())
}

fn session_token(connection: &Connection, output: Output) -> Outcome {
    let token = match connection.destination()? {
        Some(destination) if !destination.token.is_empty() => destination.token,
        _ => return Err(misuse("there is no session").hint("lynceus login SERVER")),
    };
    let token = token.reveal();
    format::print(output, &value!({"token": token}), [token.to_owned()], || format!("{token}\n"))
}

async fn delete_token(connection: &Connection, api: &Api, id: &str, account: Option<String>) -> Outcome {
    let name = meant(api, account).await?;
    if !connection.confirmed(&format!("Are you sure you want to delete '{id}' token? [y/n] "))? {
        println!("The command to delete '{id}' was cancelled.");
        return Ok(());
    }
    let message = value!({"name": name, "id": id});
    api.call("cannot delete the key", "AccountService.DeleteToken", message).await.map(drop)
}

async fn user_info(api: &Api, output: Output) -> Outcome {
    let info = who(api).await?;
    let name = text(&info, &["username"]).to_owned();
    format::print(output, &info, [name.clone()], || match info.bool_at(&["loggedIn"]) {
        Some(true) => format!(
            "Logged In: true\nUsername: {name}\nIssuer: {}\nGroups: {}\n",
            text(&info, &["iss"]),
            texts(&info, &["groups"]).join(",")
        ),
        _ => "Logged In: false\n".to_owned(),
    })
}

async fn list(api: &Api, output: Output) -> Outcome {
    let answer = api.call("cannot list the accounts", "AccountService.ListAccounts", value!({})).await?;
    let items = answer.get("items").cloned().unwrap_or_else(|| value!([]));
    let accounts = items.as_seq().unwrap_or_default();
    let name = |account: &Value| text(account, &["name"]).to_owned();
    format::print(output, &items, accounts.iter().map(name), || {
        let mut table = Table::new(&["NAME", "ENABLED", "CAPABILITIES"]);
        for account in accounts {
            let enabled = account.bool_at(&["enabled"]).unwrap_or_default();
            table.row([name(account), enabled.to_string(), texts(account, &["capabilities"]).join(", ")]);
        }
        table.to_string()
    })
}

fn shown(account: &Value) -> String {
    let mut out = String::new();
    let enabled = account.bool_at(&["enabled"]).unwrap_or_default().to_string();
    let abilities = texts(account, &["capabilities"]).join(", ");
    for (name, value) in [
        ("Name:", text(account, &["name"])),
        ("Enabled:", enabled.as_str()),
        ("Capabilities:", abilities.as_str()),
    ] {
        out.push_str(&format!("{name:<20}{value}\n"));
    }
    out.push_str("\nTokens:\n");
    let tokens = account.items_at(&["tokens"]);
    if tokens.is_empty() {
        out.push_str("NONE\n");
        return out;
    }
    let mut table = Table::new(&["ID", "ISSUED AT", "EXPIRING AT"]);
    for token in tokens {
        let expires = match number(token, &["expiresAt"]) {
            0 => "never".to_owned(),
            at => format::seconds(at),
        };
        table.row([text(token, &["id"]).to_owned(), format::seconds(number(token, &["issuedAt"])), expires]);
    }
    out.push_str(&table.to_string());
    out
}

async fn update_password(
    connection: &Connection,
    api: &Api,
    account: Option<String>,
    current: Option<String>,
    new: Option<String>,
) -> Outcome {
    let info = who(api).await?;
    let own = text(&info, &["username"]);
    // Who has logged in elsewhere has no password here.
    let has_password = text(&info, &["iss"]) == "argocd";
    let current = match current {
        Some(current) => current,
        None if !has_password => String::new(),
        None => terminal::secret(&format!("*** Enter password of currently logged in user ({own}): "))?,
    };
    let account = account.unwrap_or_default();
    let named = if account.is_empty() { own } else { &account };
    let new = match new {
        Some(new) => new,
        None => terminal::new_secret(&format!("*** Enter new password for user {named}: "))?,
    };
    let message = value!({"name": account.as_str(), "currentPassword": current, "newPassword": new.as_str()});
    api.call("cannot change the password", "AccountService.UpdatePassword", message).await?;
    println!("Password updated");
    // The session has ended with the password; a login that is kept in the file goes on with a new one.
    let flags = &connection.flags;
    let kept = Logins::read_or_new(&flags.file())?.chosen(flags.argocd_context.as_deref())?;
    if let (true, true, Some(kept)) = (named == own, has_password && flags.auth_token.is_none(), kept) {
        let token = login::by_password(api, own, Some(&new)).await?;
        let mut logins = Logins::read_or_new(&flags.file())?;
        logins.keep(&kept.user, &token, "");
        logins.write()?;
        println!("Context '{}' updated", kept.name);
    }
    Ok(())
}
