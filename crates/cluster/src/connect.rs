//! From a kubeconfig to a client.

use std::path::Path;

use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Client, Config};

use crate::error::ClusterError;

/// A client for the cluster that a kubeconfig names; without a file, as kubectl would choose one, or the account of
/// the pod that we run in.
///
/// An exec credential provider in the user's own kubeconfig is run by `kube`: clouds require it, and it is the one
/// program that Lynceus ever starts.
pub async fn client(kubeconfig: Option<&Path>, context: Option<&str>) -> Result<Client, ClusterError> {
    let options = KubeConfigOptions { context: context.map(str::to_owned), ..KubeConfigOptions::default() };
    let config = match kubeconfig {
        Some(path) => {
            let file = Kubeconfig::read_from(path).map_err(configure)?;
            Config::from_custom_kubeconfig(file, &options).await.map_err(configure)?
        }
        None if context.is_some() => Config::from_kubeconfig(&options).await.map_err(configure)?,
        None => Config::infer().await.map_err(configure)?,
    };
    Client::try_from(config).map_err(configure)
}

fn configure(error: impl std::error::Error + Send + Sync + 'static) -> ClusterError {
    ClusterError::Configure(Box::new(error))
}
