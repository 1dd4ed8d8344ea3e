//! `lynceus gpg`: the keys with which commits have to be signed.

use std::path::PathBuf;

use clap::Subcommand;
use lynceus_object::{Value, value};

use crate::api::{Api, Connection};
use crate::exit::Outcome;
use crate::format::{self, Output, text};
use crate::table::Table;
use crate::terminal;

/// Work with the keys that commits are signed with, as `argocd gpg` does.
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
    /// Add the public keys of a file.
    Add {
        /// The file, as `gpg --export --armor` writes it; `-` is standard input.
        #[arg(short, long, value_name = "FILE")]
        from: PathBuf,
    },
    /// Show a key.
    Get {
        /// The key.
        key_id: String,
        /// How to print it.
        #[arg(short, long, value_enum, default_value_t)]
        output: Output,
    },
    /// List the keys.
    List {
        /// How to print them.
        #[arg(short, long, value_enum, default_value_t)]
        output: Output,
    },
    /// Take a key away.
    Rm {
        /// The key.
        key_id: String,
    },
}

pub(crate) async fn run(arguments: Arguments) -> Outcome {
    let connection = &arguments.connection;
    let api = Api::open(connection).await?;
    match arguments.command {
        Command::Add { from } => {
            let key = terminal::file(Some(&from))?;
            let message = value!({"publickey": {"keyData": key}});
            let answer = api.call("cannot add the keys", "GPGKeyService.Create", message).await?;
            let skipped = answer.items_at(&["skipped"]).len();
            let made = answer.items_at(&["created", "items"]).len();
            let known = if skipped > 0 {
                format!(", and {skipped} key(s) were skipped because they exist already")
            } else {
                String::new()
            };
            println!("Created {made} key(s) from input file{known}.");
            Ok(())
        }
        Command::Get { key_id, output } => {
            let failed = format!("cannot read key {key_id}");
            let key = api.call(&failed, "GPGKeyService.Get", value!({"keyID": key_id.as_str()})).await?;
            format::print(output, &key, [key_id], || shown(&key))
        }
        Command::List { output } => {
            let answer = api.call("cannot list the keys", "GPGKeyService.List", value!({})).await?;
            let items = answer.get("items").cloned().unwrap_or_else(|| value!([]));
            let keys = items.as_seq().unwrap_or_default();
            let id = |key: &Value| text(key, &["keyID"]).to_owned();
            format::print(output, &items, keys.iter().map(id), || {
                let mut table = Table::new(&["KEYID", "TYPE", "IDENTITY"]);
                for key in keys {
                    table.row([
                        id(key),
                        text(key, &["subType"]).to_uppercase(),
                        text(key, &["owner"]).to_owned(),
                    ]);
                }
                table.to_string()
            })
        }
        Command::Rm { key_id } => {
            let question = format!("Are you sure you want to remove '{key_id}'? [y/n] ");
            if !connection.confirmed(&question)? {
                println!("The command to delete key with key ID '{key_id}' was cancelled.");
                return Ok(());
            }
            let failed = format!("cannot delete key {key_id}");
            api.call(&failed, "GPGKeyService.Delete", value!({"keyID": key_id.as_str()})).await?;
            println!("Deleted key with key ID {key_id}");
            Ok(())
        }
    }
}

fn shown(key: &Value) -> String {
    format!(
        "Key ID:          {}\nKey fingerprint: {}\nKey subtype:     {}\nKey owner:       {}\nKey data follows until EOF:\n{}\n",
        text(key, &["keyID"]),
        text(key, &["fingerprint"]),
        text(key, &["subType"]).to_uppercase(),
        text(key, &["owner"]),
        text(key, &["keyData"])
    )
}
