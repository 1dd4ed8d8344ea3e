//! Ways into a repository, and `lynceus repocreds`: credentials for all repositories below an address.

use std::path::{Path, PathBuf};

use clap::Subcommand;
use lynceus_object::{Value, value};

use crate::api::{Api, Connection, misuse};
use crate::exit::Outcome;
use crate::format::{self, Output, text};
use crate::table::Table;
use crate::terminal;

// What lets one into a repository.
#[derive(clap::Args)]
#[command(next_help_heading = "Credentials")]
pub(crate) struct Credentials {
    /// The user.
    #[arg(long, default_value = "")]
    username: String,
    /// The password, or a token; `-` reads it from the terminal or from standard input.
    #[arg(long, default_value = "")]
    password: String,
    /// A token for Bitbucket Data Center.
    #[arg(long, value_name = "TOKEN", default_value = "")]
    bearer_token: String,
    /// A private key for SSH.
    #[arg(long, value_name = "FILE")]
    ssh_private_key_path: Option<PathBuf>,
    /// A client certificate, in PEM.
    #[arg(long, value_name = "FILE", requires = "tls_client_cert_key_path")]
    tls_client_cert_path: Option<PathBuf>,
    /// The key of the client certificate.
    #[arg(long, value_name = "FILE", requires = "tls_client_cert_path")]
    tls_client_cert_key_path: Option<PathBuf>,
    /// The id of a GitHub App.
    #[arg(long, value_name = "ID")]
    github_app_id: Option<i64>,
    /// The id of its installation.
    #[arg(long, value_name = "ID")]
    github_app_installation_id: Option<i64>,
    /// The private key of the GitHub App.
    #[arg(long, value_name = "FILE")]
    github_app_private_key_path: Option<PathBuf>,
    /// The address of GitHub Enterprise.
    #[arg(long, value_name = "URL", default_value = "")]
    github_app_enterprise_base_url: String,
    /// A key of a Google service account.
    #[arg(long, value_name = "FILE")]
    gcp_service_account_key_path: Option<PathBuf>,
    /// Send user and password with the first request.
    #[arg(long)]
    force_http_basic_auth: bool,
    /// Use the workload identity of Azure.
    #[arg(long)]
    use_azure_workload_identity: bool,
    /// The client of an Azure service principal.
    #[arg(long, value_name = "ID", default_value = "")]
    azure_service_principal_client_id: String,
    /// Its secret.
    #[arg(long, value_name = "SECRET", default_value = "")]
    azure_service_principal_client_secret: String,
    /// Its tenant.
    #[arg(long, value_name = "ID", default_value = "")]
    azure_service_principal_tenant_id: String,
    /// Where Azure is asked.
    #[arg(long, value_name = "URL", default_value = "")]
    azure_active_directory_endpoint: String,
    /// It is a registry of charts.
    #[arg(long)]
    enable_oci: bool,
    /// Talk to the registry without TLS.
    #[arg(long)]
    insecure_oci_force_http: bool,
}

impl Credentials {
    /// Writes them into a repository, as the API names them.
    pub(crate) fn fill(&self, url: &str, into: &mut Value) -> Outcome {
        let password = match (self.password.as_str(), self.username.as_str()) {
            ("-", _) => terminal::secret("Password: ")?,
            // Who names a user and no password is asked for it, as with `argocd`.
            ("", name) if !name.is_empty() && !has_https_key(self) => terminal::secret("Password: ")?,
            (password, _) => password.to_owned(),
        };
        let is_ssh =
            !url.starts_with("http://") && !url.starts_with("https://") && !url.starts_with("oci://");
        if self.ssh_private_key_path.is_some() && !is_ssh {
            return Err(misuse("--ssh-private-key-path is only for addresses of SSH")
                .hint("write the address as git@HOST:PATH or ssh://git@HOST/PATH"));
        }
        if is_ssh && has_https_key(self) {
            return Err(misuse("certificates and keys of apps are only for addresses of HTTPS"));
        }
        for (field, path) in [
            ("sshPrivateKey", &self.ssh_private_key_path),
            ("tlsClientCertData", &self.tls_client_cert_path),
            ("tlsClientCertKey", &self.tls_client_cert_key_path),
            ("githubAppPrivateKey", &self.github_app_private_key_path),
            ("gcpServiceAccountKey", &self.gcp_service_account_key_path),
        ] {
            if let Some(path) = path {
                into.set(&[field], terminal::file(Some(expanded(path).as_path()))?);
            }
        }
        for (field, text) in [
            ("username", &self.username),
            ("password", &password),
            ("bearerToken", &self.bearer_token),
            ("githubAppEnterpriseBaseUrl", &self.github_app_enterprise_base_url),
            ("azureServicePrincipalClientId", &self.azure_service_principal_client_id),
            ("azureServicePrincipalClientSecret", &self.azure_service_principal_client_secret),
            ("azureServicePrincipalTenantId", &self.azure_service_principal_tenant_id),
            ("azureActiveDirectoryEndpoint", &self.azure_active_directory_endpoint),
        ] {
            if !text.is_empty() {
                into.set(&[field], text.as_str());
            }
        }
        for (field, id) in [
            ("githubAppID", self.github_app_id),
            ("githubAppInstallationID", self.github_app_installation_id),
        ] {
            if let Some(id) = id {
                into.set(&[field], id);
            }
        }
        for (field, wanted) in [
            ("forceHttpBasicAuth", self.force_http_basic_auth),
            ("useAzureWorkloadIdentity", self.use_azure_workload_identity),
            ("enableOCI", self.enable_oci),
            ("insecureOCIForceHttp", self.insecure_oci_force_http),
        ] {
            if wanted {
                into.set(&[field], true);
            }
        }
        Ok(())
    }
}

fn has_https_key(credentials: &Credentials) -> bool {
    credentials.tls_client_cert_path.is_some()
        || credentials.github_app_private_key_path.is_some()
        || credentials.gcp_service_account_key_path.is_some()
}

/// A path with the home directory for its tilde, which no shell sees behind an equals sign.
fn expanded(path: &Path) -> PathBuf {
    match (path.strip_prefix("~"), std::env::var_os("HOME")) {
        (Ok(rest), Some(home)) => PathBuf::from(home).join(rest),
        _ => path.to_path_buf(),
    }
}

/// Work with credentials for many repositories, as `argocd repocreds` does.
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
    /// Add credentials for all repositories whose address begins like this.
    Add(Box<Add>),
    /// List the credentials: for which addresses there are some, never what they are.
    List {
        /// How to print them.
        #[arg(short, long, value_enum, default_value_t)]
        output: Output,
    },
    /// Remove credentials.
    Rm {
        /// The beginning of the addresses that they are for.
        url: String,
    },
}

// New credentials.
#[derive(clap::Args)]
struct Add {
    /// The beginning of the addresses that they are for.
    url: String,
    /// git, helm or oci.
    #[arg(long = "type", value_name = "TYPE", value_parser = ["git", "helm", "oci"], default_value = "git")]
    kind: String,
    /// Replace those that are there and different.
    #[arg(long)]
    upsert: bool,
    /// Reach the repositories through this proxy.
    #[arg(long, value_name = "URL", default_value = "")]
    proxy_url: String,
    #[command(flatten)]
    credentials: Credentials,
}

pub(crate) async fn run(arguments: Arguments) -> Outcome {
    let connection = &arguments.connection;
    let api = Api::open(connection).await?;
    match arguments.command {
        Command::Add(add) => {
            let mut creds = value!({"url": add.url.as_str(), "type": add.kind.as_str()});
            if !add.proxy_url.is_empty() {
                creds.set(&["proxy"], add.proxy_url.as_str());
            }
            add.credentials.fill(&add.url, &mut creds)?;
            let message = value!({"creds": creds, "upsert": add.upsert});
            let failed = format!("cannot add credentials for {}", lynceus_source::redact(&add.url));
            let made = api.call(&failed, "RepoCredsService.CreateRepositoryCredentials", message).await?;
            println!("Repository credentials for '{}' added", text(&made, &["url"]));
            Ok(())
        }
        Command::List { output } => {
            let failed = "cannot list the credentials";
            let answer = api.call(failed, "RepoCredsService.ListRepositoryCredentials", value!({})).await?;
            let items = answer.get("items").cloned().unwrap_or_else(|| value!([]));
            let all = items.as_seq().unwrap_or_default();
            let url = |creds: &Value| text(creds, &["url"]).to_owned();
            format::print(output, &items, all.iter().map(url), || {
                let mut table = Table::new(&["URL PATTERN", "USERNAME", "SSH_CREDS", "TLS_CREDS"]);
                for creds in all {
                    let has = |name: &str| (!text(creds, &[name]).is_empty()).to_string();
                    let user = text(creds, &["username"]);
                    let user = if user.is_empty() { "-" } else { user };
                    table.row([url(creds), user.to_owned(), has("sshPrivateKey"), has("tlsClientCertData")]);
                }
                table.to_string()
            })
        }
        Command::Rm { url } => {
            if !connection.confirmed(&format!("Are you sure you want to remove '{url}'? [y/n] "))? {
                println!("The command to remove '{url}' was cancelled.");
                return Ok(());
            }
            let failed = format!("cannot remove credentials for {}", lynceus_source::redact(&url));
            let query = value!({"url": url.as_str()});
            api.call(&failed, "RepoCredsService.DeleteRepositoryCredentials", query).await?;
            println!("Repository credentials for '{url}' removed");
            Ok(())
        }
    }
}
