//! Clusters and how to reach them.

use std::collections::BTreeMap;

use lynceus_object::Str;

use crate::codes::ConnectionStatus;
use crate::metadata::ListMeta;
use crate::scalar::{Bytes, RawObject, Secret, SecretBytes, Time};
use crate::wire::wire;
use crate::word::Open;

wire! {
    /// A cluster and how to reach it.
    pub struct Cluster {
        /// The address of its API server.
        required server: Str = "server",
        /// Its name.
        required name: Str = "name",
        /// How to log in.
        required config: ClusterConfig = "config",
        /// Whether it could be reached.
        always connection_state: ConnectionState = "connectionState",
        /// Its Kubernetes version.
        optional server_version: Str = "serverVersion",
        /// The namespaces that may be used; all if empty.
        optional namespaces: Vec<Str> = "namespaces",
        /// When somebody asked for its cache to be built anew.
        optional refresh_requested_at: Option<Time> = "refreshRequestedAt",
        /// What is known about it.
        always info: ClusterInfo = "info",
        /// The shard that looks after it.
        optional shard: Option<i64> = "shard",
        /// Whether cluster-scoped objects may be used although namespaces are named.
        optional cluster_resources: bool = "clusterResources",
        /// The project that it belongs to.
        optional project: Str = "project",
        /// Labels of its Secret.
        optional labels: BTreeMap<Str, Str> = "labels",
        /// Annotations of its Secret.
        optional annotations: BTreeMap<Str, Str> = "annotations",
    }
}

wire! {
    /// Several clusters.
    pub struct ClusterList {
        /// The version of the list.
        always metadata: ListMeta = "metadata",
        /// The clusters.
        required items: Vec<Cluster> = "items",
    }
}

wire! {
    /// What is known about a cluster.
    pub struct ClusterInfo {
        /// Whether it could be reached.
        always connection_state: ConnectionState = "connectionState",
        /// Its Kubernetes version.
        optional server_version: Str = "serverVersion",
        /// What is cached of it.
        always cache_info: ClusterCacheInfo = "cacheInfo",
        /// How many applications it has.
        required applications_count: i64 = "applicationsCount",
        /// The API versions that it serves.
        optional api_versions: Vec<Str> = "apiVersions",
    }
}

wire! {
    /// What is cached of a cluster.
    pub struct ClusterCacheInfo {
        /// How many objects.
        optional resources_count: i64 = "resourcesCount",
        /// How many kinds.
        optional apis_count: i64 = "apisCount",
        /// When the cache was last built.
        optional last_cache_sync_time: Option<Time> = "lastCacheSyncTime",
    }
}

wire! {
    /// How to log in to a cluster.
    pub struct ClusterConfig {
        /// The user, for basic authentication.
        optional username: Str = "username",
        /// The password, for basic authentication.
        optional password: Secret = "password",
        /// The token.
        optional bearer_token: Secret = "bearerToken",
        /// Certificates.
        required tls_client_config: TlsClientConfig = "tlsClientConfig",
        /// How to log in to EKS.
        optional aws_auth_config: Option<AwsAuthConfig> = "awsAuthConfig",
        /// A program that gives credentials.
        optional exec_provider_config: Option<ExecProviderConfig> = "execProviderConfig",
        /// Whether answers are not compressed.
        optional disable_compression: bool = "disableCompression",
        /// A proxy to go through.
        optional proxy_url: Str = "proxyUrl",
    }
}

wire! {
    /// Certificates for a connection.
    pub struct TlsClientConfig {
        /// Whether the server's certificate is not checked.
        required insecure: bool = "insecure",
        /// The name that the server's certificate has to have.
        optional server_name: Str = "serverName",
        /// The client's certificate.
        optional cert_data: Bytes = "certData",
        /// The client's key.
        optional key_data: SecretBytes = "keyData",
        /// The authorities that are trusted.
        optional ca_data: Bytes = "caData",
    }
}

wire! {
    /// How to log in to EKS.
    pub struct AwsAuthConfig {
        /// The cluster.
        optional cluster_name: Str = "clusterName",
        /// A role to assume.
        optional role_arn: Str = "roleARN",
        /// A profile of the AWS configuration.
        optional profile: Str = "profile",
    }
}

wire! {
    /// A program that gives credentials.
    pub struct ExecProviderConfig {
        /// The program.
        optional command: Str = "command",
        /// Its arguments.
        optional args: Vec<Str> = "args",
        /// Its environment variables.
        optional env: BTreeMap<Str, Str> = "env",
        /// The version of its protocol.
        optional api_version: Str = "apiVersion",
        /// What to do when it is missing.
        optional install_hint: Str = "installHint",
        /// Whether it is told about the cluster.
        optional provide_cluster_info: bool = "provideClusterInfo",
        /// What else it is told.
        optional config: Option<RawObject> = "config",
    }
}

wire! {
    /// Whether something could be reached.
    pub struct ConnectionState {
        /// The verdict.
        required status: Open<ConnectionStatus> = "status",
        /// What went wrong.
        required message: Str = "message",
        /// When it was last tried.
        required attempted_at: Option<Time> = "attemptedAt",
    }
}
