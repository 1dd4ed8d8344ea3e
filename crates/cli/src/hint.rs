//! What to do about an error, chosen in this one place.

use std::error::Error;

use lynceus_cluster::ClusterError;
use lynceus_engine::ResourceActionError;
use lynceus_health::action::ActionError;
use lynceus_sim::StageError;
use lynceus_sim::store::OpenError;

use crate::api::{self, ApiError};
use crate::exit::Code;

/// The exit code and the hints for an error, by what it or one of its causes is.
pub(crate) fn choose(error: &(dyn Error + 'static)) -> (Code, Vec<String>) {
    let mut next = Some(error);
    while let Some(error) = next {
        if let Some(error) = error.downcast_ref::<ClusterError>() {
            return cluster(error);
        }
        if let Some(refusal) = api::refusal(error) {
            return refused(refusal);
        }
        if let Some(error) = error.downcast_ref::<ApiError>() {
            let code = match error {
                ApiError::NotInstalled { .. } => Code::NotFound,
                _ => Code::Connection,
            };
            return (code, vec![server(error)]);
        }
        if let Some(error) = error.downcast_ref::<OpenError>() {
            return (Code::Other, vec![data_directory(error).to_owned()]);
        }
        if let Some(error) = error.downcast_ref::<StageError>() {
            return (Code::Other, vec![error.hint.clone()]);
        }
        if let Some(error) = error.downcast_ref::<std::io::Error>() {
            return (Code::Other, io(error));
        }
        if let Some(hint) = error.downcast_ref::<ActionError>().and_then(action) {
            return (Code::Other, vec![hint]);
        }
        if let Some(hint) = error.downcast_ref::<ResourceActionError>().and_then(resource_action) {
            return (Code::Refused, vec![hint]);
        }
        next = error.source();
    }
    (Code::Other, Vec::new())
}

fn refused(refusal: &lynceus_server::Refusal) -> (Code, Vec<String>) {
    use lynceus_server::Code as Sort;
    match refusal.code {
        Sort::Unauthenticated => (
            Code::Refused,
            vec!["log in, or log in again if the session has ended:\nlynceus login SERVER\nlynceus relogin".to_owned()],
        ),
        Sort::PermissionDenied => (
            Code::Denied,
            vec!["rights are given in the ConfigMap argocd-rbac-cm and by roles of projects; it may also not exist".to_owned()],
        ),
        Sort::AlreadyExists => (Code::Refused, vec!["--upsert replaces it, where the command has it".to_owned()]),
        Sort::NotFound => (Code::NotFound, Vec::new()),
        Sort::Unavailable | Sort::DeadlineExceeded => (Code::Connection, Vec::new()),
        _ => (Code::Refused, Vec::new()),
    }
}

fn server(error: &ApiError) -> String {
    match error {
        ApiError::NotInstalled { namespace } => {
            return format!(
                "install it there, or name the namespace of an installation with --argocd-namespace:\n\
                 lynceus install --namespace {namespace} | kubectl apply -f -"
            );
        }
        ApiError::Plain { .. } => "--plaintext talks to it without TLS",
        ApiError::Untrusted { .. } => {
            "--server-crt FILE trusts the certificates of a file, --insecure trusts any"
        }
        ApiError::Unreachable { .. } => {
            "is the server running, and is its address right? --core goes to the cluster instead"
        }
        ApiError::Strange { .. } => {
            "is there a proxy in between? --grpc-web-root-path says under which path it is found"
        }
        ApiError::Refused(_) | ApiError::Unusable(_) => "see `lynceus login --help`",
    }
    .to_owned()
}

fn resource_action(error: &ResourceActionError) -> Option<String> {
    match error {
        ResourceActionError::Unknown { .. } => Some(
            "see which there are, and which can be run now:\nlynceus app actions list APPNAME".to_owned(),
        ),
        ResourceActionError::Forbidden { .. } => Some(
            "the AppProject says what its applications may have: spec.namespaceResourceWhitelist,\n\
             spec.clusterResourceWhitelist, their blacklists, and spec.destinations"
                .to_owned(),
        ),
        ResourceActionError::Elsewhere { .. } => {
            Some("have it create objects with operation = \"create\", or change none but obj".to_owned())
        }
        _ => None,
    }
}

fn action(error: &ActionError) -> Option<String> {
    match error {
        ActionError::Parameter { name, .. } => Some(format!("give it with --param {name}=VALUE")),
        ActionError::Script(_) => {
            Some("it is under resource.customizations in the ConfigMap argocd-cm".to_owned())
        }
        ActionError::Unknown { .. } | ActionError::State(_) => None,
    }
}

fn cluster(error: &ClusterError) -> (Code, Vec<String>) {
    match error {
        ClusterError::Configure(_) => (
            Code::Connection,
            vec![
                "name a kubeconfig with --kubeconfig FILE, or start an embedded cluster:\nlynceus up --demo"
                    .to_owned(),
            ],
        ),
        ClusterError::Send { .. } | ClusterError::Timeout { .. } => {
            (Code::Connection, vec!["is the cluster running? `lynceus up` starts an embedded one".to_owned()])
        }
        ClusterError::UnknownKind { api_version, .. } if api_version.starts_with(lynceus_api::GROUP) => (
            Code::Refused,
            vec!["install the definitions first:\nlynceus crds | kubectl apply -f -".to_owned()],
        ),
        ClusterError::Refused(refusal) if refusal.code == 404 => (Code::NotFound, Vec::new()),
        ClusterError::Refused(refusal) if refusal.code == 401 => (
            Code::Refused,
            vec!["the token or certificate in the kubeconfig is not accepted any more".to_owned()],
        ),
        ClusterError::Refused(_)
        | ClusterError::TooLarge { .. }
        | ClusterError::ForcedServerSide
        | ClusterError::UnknownKind { .. } => (Code::Refused, Vec::new()),
        ClusterError::ReadOnly { .. } => {
            (Code::Refused, vec!["it was started with --observe, which changes nothing".to_owned()])
        }
        ClusterError::NotHolder { .. } | ClusterError::Decode { .. } | ClusterError::Patch { .. } => {
            (Code::Other, Vec::new())
        }
    }
}

fn data_directory(error: &OpenError) -> &'static str {
    match error {
        OpenError::Locked { .. } => "stop the other one, or choose another directory with --data-dir DIR",
        OpenError::File { source, .. } if source.kind() == std::io::ErrorKind::StorageFull => {
            "the disk is full; make room, nothing has been lost"
        }
        OpenError::File { .. } => "choose a directory of your own with --data-dir DIR",
        OpenError::Damaged { .. } | OpenError::Missing { .. } => {
            "start with an empty directory: --data-dir DIR; the applications come back from Git"
        }
    }
}

fn io(error: &std::io::Error) -> Vec<String> {
    match error.kind() {
        std::io::ErrorKind::AddrInUse => {
            vec!["another program has the port".to_owned()]
        }
        std::io::ErrorKind::StorageFull => {
            vec!["the disk is full; make room, nothing has been lost".to_owned()]
        }
        std::io::ErrorKind::PermissionDenied => {
            vec!["choose a directory of your own with --data-dir DIR".to_owned()]
        }
        _ => Vec::new(),
    }
}
