//! The API in this process, for those who have a kubeconfig.

use std::sync::Arc;

use lynceus_cluster::Cluster;
use lynceus_engine::{Engine, Options, SystemClock};
use lynceus_object::{Gvk, Value};
use lynceus_server::{Answer, Refusal, Server};
use lynceus_source::{Settings, Sources};

use super::ApiError;
use super::connection::Connection;
use crate::exit::{Doing as _, Outcome};
use crate::{elsewhere, place};

/// A server that nobody else can ask.
pub(crate) async fn server(connection: &Connection) -> Outcome<Arc<Server>> {
    let failed = "cannot connect to the cluster";
    let kubeconfig = place::kubeconfig(connection.kubeconfig.as_deref());
    let client = lynceus_cluster::client(kubeconfig.as_deref(), connection.kube_context.as_deref());
    let namespace = connection.argocd_namespace.as_str();
    let watched = lynceus_cluster::Options {
        home: namespace.into(),
        rate: lynceus_cluster::Rate::read(|name| std::env::var(name).ok()),
        ..lynceus_cluster::Options::default()
    };
    let cluster = Cluster::connect(client.await.doing(failed)?, watched).await.doing(failed)?;
    let sources = Sources::new(elsewhere::cache(), Settings::default());
    let options = Options { namespace: namespace.into(), children: true, ..Options::default() };
    Ok(Server::new(Engine::new(cluster, sources, Arc::new(SystemClock), options)))
}

/// Why a question was refused: where the namespace of the installation is missing, everything else follows from that.
pub(super) async fn refused(server: &Server, refusal: Refusal) -> ApiError {
    let engine = server.engine();
    let namespace = engine.options().namespace.clone();
    match engine.home().get(&Gvk::new("", "v1", "Namespace"), "", &namespace).await {
        Ok(None) => ApiError::NotInstalled { namespace: namespace.to_string() },
        // Whoever may not look is told what they were told.
        Ok(Some(_)) | Err(_) => ApiError::Refused(refusal),
    }
}

/// Hands over the messages of a stream.
pub(super) async fn drain(
    answer: Answer,
    doing: &str,
    mut each: impl FnMut(Value) -> Outcome<bool>,
) -> Outcome {
    let mut messages = match answer {
        Answer::One(value) => return each(value).map(drop),
        Answer::List(list) => return each(list.whole()).map(drop),
        Answer::Many(messages) => messages,
    };
    while let Some(message) = futures::StreamExt::next(&mut messages).await {
        if !each(message.doing(doing)?)? {
            break;
        }
    }
    Ok(())
}
