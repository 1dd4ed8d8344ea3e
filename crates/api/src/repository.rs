//! Repositories and their credentials.

use lynceus_object::Str;

use crate::cluster::ConnectionState;
use crate::metadata::ListMeta;
use crate::scalar::{Bytes, Secret};
use crate::wire::wire;

wire! {
    /// A repository and how to reach it.
    pub struct Repository {
        /// The repository.
        required repo: Str = "repo",
        /// The user.
        optional username: Str = "username",
        /// The password.
        optional password: Secret = "password",
        /// The ssh key.
        optional ssh_private_key: Secret = "sshPrivateKey",
        /// Whether it could be reached.
        always connection_state: ConnectionState = "connectionState",
        /// No longer has a meaning: use `insecure`.
        optional insecure_ignore_host_key: bool = "insecureIgnoreHostKey",
        /// Whether the server's certificate is not checked.
        optional insecure: bool = "insecure",
        /// Whether large files are fetched.
        optional enable_lfs: bool = "enableLfs",
        /// The client's certificate.
        optional tls_client_cert_data: Str = "tlsClientCertData",
        /// The client's key.
        optional tls_client_cert_key: Secret = "tlsClientCertKey",
        /// `git`, `helm` or `oci`.
        optional type_: Str = "type",
        /// Its name.
        optional name: Str = "name",
        /// Whether its credentials come from a template.
        optional inherited_creds: bool = "inheritedCreds",
        /// Whether a Helm repository is an OCI registry.
        optional enable_oci: bool = "enableOCI",
        /// The key of a GitHub App.
        optional github_app_private_key: Secret = "githubAppPrivateKey",
        /// The id of a GitHub App.
        optional github_app_id: i64 = "githubAppID",
        /// The installation of a GitHub App.
        optional github_app_installation_id: i64 = "githubAppInstallationID",
        /// The address of GitHub Enterprise's API.
        optional github_app_enterprise_base_url: Str = "githubAppEnterpriseBaseUrl",
        /// A proxy to go through.
        optional proxy: Str = "proxy",
        /// The project.
        optional project: Str = "project",
        /// The key of a Google service account.
        optional gcp_service_account_key: Secret = "gcpServiceAccountKey",
        /// Whether credentials are sent before they are asked for.
        optional force_http_basic_auth: bool = "forceHttpBasicAuth",
        /// Hosts that are reached without the proxy.
        optional no_proxy: Str = "noProxy",
        /// Whether to log in by Azure's workload identity.
        optional use_azure_workload_identity: bool = "useAzureWorkloadIdentity",
        /// A token.
        optional bearer_token: Secret = "bearerToken",
        /// Whether an OCI registry is spoken to without TLS.
        optional insecure_oci_force_http: bool = "insecureOCIForceHttp",
        /// How many commits to fetch; all if 0.
        optional depth: i64 = "depth",
        /// Whether a webhook does not render manifests ahead.
        optional webhook_manifest_cache_warm_disabled: bool = "webhookManifestCacheWarmDisabled",
        /// The id of an Azure service principal.
        optional azure_service_principal_client_id: Str = "azureServicePrincipalClientId",
        /// The secret of an Azure service principal.
        optional azure_service_principal_client_secret: Secret = "azureServicePrincipalClientSecret",
        /// The tenant of an Azure service principal.
        optional azure_service_principal_tenant_id: Str = "azureServicePrincipalTenantId",
        /// The address to log in to Azure at.
        optional azure_active_directory_endpoint: Str = "azureActiveDirectoryEndpoint",
    }
}

wire! {
    /// Several repositories.
    pub struct RepositoryList {
        /// The version of the list.
        always metadata: ListMeta = "metadata",
        /// The repositories.
        required items: Vec<Repository> = "items",
    }
}

wire! {
    /// Credentials for all repositories below a URL.
    pub struct RepoCreds {
        /// The URL that repositories start with.
        required url: Str = "url",
        /// The user.
        optional username: Str = "username",
        /// The password.
        optional password: Secret = "password",
        /// The ssh key.
        optional ssh_private_key: Secret = "sshPrivateKey",
        /// The client's certificate.
        optional tls_client_cert_data: Str = "tlsClientCertData",
        /// The client's key.
        optional tls_client_cert_key: Secret = "tlsClientCertKey",
        /// The key of a GitHub App.
        optional github_app_private_key: Secret = "githubAppPrivateKey",
        /// The id of a GitHub App.
        optional github_app_id: i64 = "githubAppID",
        /// The installation of a GitHub App.
        optional github_app_installation_id: i64 = "githubAppInstallationID",
        /// The address of GitHub Enterprise's API.
        optional github_app_enterprise_base_url: Str = "githubAppEnterpriseBaseUrl",
        /// Whether a Helm repository is an OCI registry.
        optional enable_oci: bool = "enableOCI",
        /// `git`, `helm` or `oci`.
        optional type_: Str = "type",
        /// The key of a Google service account.
        optional gcp_service_account_key: Secret = "gcpServiceAccountKey",
        /// A proxy to go through.
        optional proxy: Str = "proxy",
        /// Whether credentials are sent before they are asked for.
        optional force_http_basic_auth: bool = "forceHttpBasicAuth",
        /// Hosts that are reached without the proxy.
        optional no_proxy: Str = "noProxy",
        /// Whether to log in by Azure's workload identity.
        optional use_azure_workload_identity: bool = "useAzureWorkloadIdentity",
        /// A token.
        optional bearer_token: Secret = "bearerToken",
        /// Whether an OCI registry is spoken to without TLS.
        optional insecure_oci_force_http: bool = "insecureOCIForceHttp",
        /// The id of an Azure service principal.
        optional azure_service_principal_client_id: Str = "azureServicePrincipalClientId",
        /// The secret of an Azure service principal.
        optional azure_service_principal_client_secret: Secret = "azureServicePrincipalClientSecret",
        /// The tenant of an Azure service principal.
        optional azure_service_principal_tenant_id: Str = "azureServicePrincipalTenantId",
        /// The address to log in to Azure at.
        optional azure_active_directory_endpoint: Str = "azureActiveDirectoryEndpoint",
    }
}

wire! {
    /// Several credentials.
    pub struct RepoCredsList {
        /// The version of the list.
        always metadata: ListMeta = "metadata",
        /// The credentials.
        required items: Vec<RepoCreds> = "items",
    }
}

wire! {
    /// A certificate or host key that is trusted.
    pub struct RepositoryCertificate {
        /// The server.
        required server_name: Str = "serverName",
        /// `ssh` or `https`.
        required cert_type: Str = "certType",
        /// The type of an ssh key.
        required cert_sub_type: Str = "certSubType",
        /// The certificate or key.
        required cert_data: Bytes = "certData",
        /// Its fingerprint or subject.
        required cert_info: Str = "certInfo",
    }
}

wire! {
    /// Several certificates.
    pub struct RepositoryCertificateList {
        /// The version of the list.
        always metadata: ListMeta = "metadata",
        /// The certificates.
        required items: Vec<RepositoryCertificate> = "items",
    }
}

wire! {
    /// A key that signatures are checked with.
    pub struct GnuPgPublicKey {
        /// Its id.
        required key_id: Str = "keyID",
        /// Its fingerprint.
        optional fingerprint: Str = "fingerprint",
        /// Whose it is.
        optional owner: Str = "owner",
        /// How far it is trusted.
        optional trust: Str = "trust",
        /// Its algorithm.
        optional sub_type: Str = "subType",
        /// The key, in ASCII armour.
        optional key_data: Str = "keyData",
    }
}

wire! {
    /// Several keys.
    pub struct GnuPgPublicKeyList {
        /// The version of the list.
        always metadata: ListMeta = "metadata",
        /// The keys.
        required items: Vec<GnuPgPublicKey> = "items",
    }
}
