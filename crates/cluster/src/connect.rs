//! From a kubeconfig to a client.

use std::path::Path;

use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Client, Config};

use crate::error::ClusterError;
use crate::proxy;

/// A client for the cluster that a kubeconfig names; without a file, as kubectl would choose one, or the account of
/// the pod that we run in.
///
/// An exec credential provider in the user's own kubeconfig is run by `kube`: clouds require it, and it is the one
/// program that Lynceus ever starts.
pub async fn client(kubeconfig: Option<&Path>, context: Option<&str>) -> Result<Client, ClusterError> {
    Client::try_from(config(kubeconfig, context).await?).map_err(configure)
}

/// How the cluster of a kubeconfig is reached, chosen in the same way.
pub async fn config(kubeconfig: Option<&Path>, context: Option<&str>) -> Result<Config, ClusterError> {
    let options = KubeConfigOptions { context: context.map(str::to_owned), ..KubeConfigOptions::default() };
    let mut config = match kubeconfig {
        Some(path) => {
            let file = Kubeconfig::read_from(path).map_err(configure)?;
            Config::from_custom_kubeconfig(file, &options).await.map_err(configure)?
        }
        None if context.is_some() => Config::from_kubeconfig(&options).await.map_err(configure)?,
        None => Config::infer().await.map_err(configure)?,
    };
    mend_proxy(&mut config);
    // The door asks again by itself, and knows when it must not any more.
    config.default_retry = false;
    Ok(config)
}

/// kube takes the environment's proxy for every server, this machine's own included, which nobody means.
fn mend_proxy(config: &mut Config) {
    let variable = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    let environment = variable("HTTPS_PROXY").or_else(|| variable("https_proxy"));
    if config.proxy_url.is_some() && config.proxy_url == environment.and_then(|url| url.parse().ok()) {
        config.proxy_url = proxy::choose(None, &config.cluster_url, variable);
    }
}

fn configure(error: impl std::error::Error + Send + Sync + 'static) -> ClusterError {
    ClusterError::Configure(Box::new(error))
}
