//! From a cluster's registration to a client for it.

use std::time::Duration;

use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Client, Config};
use lynceus_api::IN_CLUSTER_SERVER;
use serde_json::{Value, json};

use crate::error::ClusterError;
use crate::proxy;
use crate::secret::{Access, Aws, Exec, Registration};

/// What Argo CD runs for `awsAuthConfig`.
const AWS: &str = "argocd-k8s-auth";

/// How long a credential program may take at first.
const EXEC: Duration = Duration::from_secs(30);

/// Variables with which a Secret could make an allowed name run another program.
const REFUSED_VARIABLES: [&str; 4] = ["PATH", "LD_PRELOAD", "LD_LIBRARY_PATH", "LD_AUDIT"];

/// Why a client for a registered cluster cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum CredentialError {
    /// The Secret names a program that nobody has allowed.
    #[error(
        "Secret {secret} asks to run {command:?}, which is not allowed; \
         allow it with --allow-exec {command} (or LYNCEUS_ALLOW_EXEC)"
    )]
    ExecNotAllowed {
        /// The Secret.
        secret: String,
        /// The program.
        command: String,
    },
    /// The Secret asks for Amazon's token, for which Argo CD runs a program of its own.
    #[error(
        "Secret {secret} has awsAuthConfig, for which {AWS} has to be installed and allowed with --allow-exec {AWS}; \
         or use execProviderConfig with `aws eks get-token` and --allow-exec aws"
    )]
    Aws {
        /// The Secret.
        secret: String,
    },
    /// The Secret sets a variable that would decide which program runs.
    #[error("Secret {secret} sets {variable} for its credential program, which is not allowed")]
    Variable {
        /// The Secret.
        secret: String,
        /// The variable.
        variable: String,
    },
    /// The credential program did not end.
    #[error("the credential program {command:?} of Secret {secret} took longer than {} s", EXEC.as_secs())]
    Slow {
        /// The Secret.
        secret: String,
        /// The program.
        command: String,
    },
}

/// A client for a registered cluster. `home` is how the home cluster is reached, for a Secret that only gives it other
/// credentials; `allowed` are the programs that Secrets may name.
pub(crate) async fn client(
    registration: &Registration,
    home: Option<&Config>,
    allowed: &[String],
) -> Result<Client, ClusterError> {
    let exec = exec(registration, allowed).map_err(configure)?;
    let command = exec.as_ref().map(|exec| exec.command.clone()).unwrap_or_default();
    let config = match home {
        Some(home) if registration.server == IN_CLUSTER_SERVER => {
            at_home(&registration.access, exec.as_ref(), home)?
        }
        _ => {
            let file = kubeconfig(registration, exec.as_ref());
            let file: Kubeconfig = serde_json::from_value(file).map_err(configure)?;
            let mut config = Config::from_custom_kubeconfig(file, &KubeConfigOptions::default())
                .await
                .map_err(configure)?;
            let named = Some(registration.access.proxy_url.as_str());
            config.default_retry = false;
            config.proxy_url = proxy::choose(named, &config.cluster_url, |name| std::env::var(name).ok());
            config
        }
    };
    // kube runs the program at once and waits for it; not here, where others wait too.
    let made = tokio::task::spawn_blocking(move || Client::try_from(config));
    let slow = || CredentialError::Slow { secret: registration.secret.to_string(), command };
    match tokio::time::timeout(EXEC, made).await {
        Err(_) => Err(configure(slow())),
        Ok(Err(error)) => Err(configure(error)),
        Ok(Ok(client)) => client.map_err(configure),
    }
}

/// The home cluster, with other credentials if the Secret has any.
fn at_home(access: &Access, exec: Option<&Exec>, home: &Config) -> Result<Config, ClusterError> {
    let mut config = home.clone();
    if !access.is_anonymous() {
        config.auth_info = serde_json::from_value(user(access, exec)).map_err(configure)?;
    }
    Ok(config)
}

fn kubeconfig(registration: &Registration, exec: Option<&Exec>) -> Value {
    let access = &registration.access;
    let tls = &access.tls_client_config;
    let mut cluster = json!({"server": registration.server.as_str()});
    let parts = [
        ("certificate-authority-data", &tls.ca_data),
        ("tls-server-name", &tls.server_name),
        ("proxy-url", &access.proxy_url),
    ];
    for (field, text) in parts.into_iter().filter(|(_, text)| !text.is_empty()) {
        cluster[field] = json!(text);
    }
    cluster["insecure-skip-tls-verify"] = json!(tls.insecure);
    cluster["disable-compression"] = json!(access.disable_compression);
    json!({
        "current-context": "it",
        "contexts": [{"name": "it", "context": {"cluster": "it", "user": "it"}}],
        "clusters": [{"name": "it", "cluster": cluster}],
        "users": [{"name": "it", "user": user(access, exec)}],
    })
}

fn user(access: &Access, exec: Option<&Exec>) -> Value {
    let tls = &access.tls_client_config;
    let mut user = json!({});
    let parts = [
        ("username", &access.username),
        ("password", &access.password),
        ("token", &access.bearer_token),
        ("client-certificate-data", &tls.cert_data),
        ("client-key-data", &tls.key_data),
    ];
    for (field, text) in parts.into_iter().filter(|(_, text)| !text.is_empty()) {
        user[field] = json!(text);
    }
    if let Some(exec) = exec {
        let env: Vec<Value> =
            exec.env.iter().map(|(name, value)| json!({"name": name, "value": value})).collect();
        user["exec"] = json!({
            "apiVersion": exec.api_version, "command": exec.command, "args": exec.args, "env": env,
            "installHint": exec.install_hint, "interactiveMode": "Never",
            "provideClusterInfo": exec.provide_cluster_info,
        });
    }
    user
}

/// The program that the Secret asks for, if it may be run.
fn exec(registration: &Registration, allowed: &[String]) -> Result<Option<Exec>, CredentialError> {
    let secret = registration.secret.to_string();
    let access = &registration.access;
    let may = |command: &str| allowed.iter().any(|one| one == command);
    if let Some(aws) = &access.aws_auth_config {
        return if may(AWS) { Ok(Some(amazon(aws))) } else { Err(CredentialError::Aws { secret }) };
    }
    let Some(exec) = &access.exec_provider_config else { return Ok(None) };
    if !may(&exec.command) {
        return Err(CredentialError::ExecNotAllowed { secret, command: exec.command.clone() });
    }
    match exec.env.keys().find(|name| REFUSED_VARIABLES.contains(&name.as_str())) {
        Some(variable) => Err(CredentialError::Variable { secret, variable: variable.clone() }),
        None => Ok(Some(exec.clone())),
    }
}

fn amazon(aws: &Aws) -> Exec {
    let mut args = vec!["aws".to_owned(), "--cluster-name".to_owned(), aws.cluster_name.clone()];
    for (flag, value) in [("--role-arn", &aws.role_arn), ("--profile", &aws.profile)] {
        if !value.is_empty() {
            args.extend([flag.to_owned(), value.clone()]);
        }
    }
    let api_version = "client.authentication.k8s.io/v1beta1".to_owned();
    Exec { command: AWS.to_owned(), args, api_version, ..Exec::default() }
}

fn configure(error: impl std::error::Error + Send + Sync + 'static) -> ClusterError {
    ClusterError::Configure(Box::new(error))
}

#[cfg(test)]
mod ways;

#[cfg(test)]
mod tests {
    use super::*;
    use base64::Engine as _;
    use base64::engine::general_purpose::STANDARD;
    use lynceus_object::{Object, value};

    fn registration(config: &str) -> Registration {
        let secret = Object::new(value!({
            "apiVersion": "v1", "kind": "Secret", "metadata": {"name": "prod"},
            "data": {"server": STANDARD.encode("https://prod:6443"), "config": STANDARD.encode(config)},
        }));
        Registration::read(&secret.unwrap()).unwrap()
    }

    fn refused(config: &str, allowed: &[&str]) -> String {
        let allowed: Vec<String> = allowed.iter().map(|name| (*name).to_owned()).collect();
        exec(&registration(config), &allowed).err().map(|error| error.to_string()).unwrap_or_default()
    }

    #[test]
    fn a_program_is_run_only_if_it_is_allowed() {
        let config = r#"{"execProviderConfig": {"command": "gke-auth", "args": ["token"]}}"#;
        assert_eq!(
            refused(config, &["other"]),
            "Secret prod asks to run \"gke-auth\", which is not allowed; allow it with --allow-exec gke-auth (or \
             LYNCEUS_ALLOW_EXEC)"
        );
        assert_eq!(refused(config, &["gke-auth"]), "");
    }

    #[test]
    fn a_secret_cannot_choose_where_an_allowed_name_is_found() {
        let config = r#"{"execProviderConfig": {"command": "gke-auth", "env": {"PATH": "/mine"}}}"#;
        assert_eq!(
            refused(config, &["gke-auth"]),
            "Secret prod sets PATH for its credential program, which is not allowed"
        );
    }

    #[test]
    fn amazons_clusters_need_the_program_that_argo_cd_runs() {
        let config = r#"{"awsAuthConfig": {"clusterName": "eu", "roleARN": "arn:x"}}"#;
        assert!(refused(config, &[]).contains("--allow-exec argocd-k8s-auth"));
        let found = exec(&registration(config), &["argocd-k8s-auth".to_owned()]).unwrap().unwrap();
        assert_eq!(found.args, ["aws", "--cluster-name", "eu", "--role-arn", "arn:x"]);
    }

    #[test]
    fn a_secret_for_the_home_cluster_changes_who_we_are_whatever_the_way_in() {
        let home = Config::new("https://home".parse().unwrap());
        let certificate = r#"{"tlsClientConfig": {"certData": "Yw==", "keyData": "aw=="}}"#;
        let program = r#"{"execProviderConfig": {"command": "auth", "apiVersion": "v1"}}"#;
        let whom = |config: &str| {
            let access = registration(config).access;
            let found = at_home(&access, access.exec_provider_config.as_ref(), &home).unwrap().auth_info;
            (found.token.is_some(), found.client_certificate_data.is_some(), found.exec.is_some())
        };
        assert_eq!(whom(""), (false, false, false));
        assert_eq!(whom(r#"{"bearerToken": "t"}"#), (true, false, false));
        assert_eq!(whom(certificate), (false, true, false));
        assert_eq!(whom(program), (false, false, true));
    }

    #[tokio::test]
    async fn every_way_in_makes_a_client() {
        let proxies = r#"{"username": "u", "password": "p", "proxyUrl": "socks5://127.0.0.1:1080"}"#;
        let named = r#"{"bearerToken": "t", "tlsClientConfig": {"insecure": true, "serverName": "api"},
                        "proxyUrl": "http://127.0.0.1:3128"}"#;
        for config in ["", r#"{"bearerToken": "t"}"#, proxies, named] {
            client(&registration(config), None, &[]).await.unwrap();
        }
    }

    #[tokio::test]
    async fn a_program_that_is_not_there_is_told_of() {
        let config =
            r#"{"execProviderConfig": {"command": "no-such-program-here", "installHint": "get it"}}"#;
        let error = client(&registration(config), None, &["no-such-program-here".to_owned()]).await;
        assert!(matches!(error, Err(ClusterError::Configure(_))));
    }
}
