//! A service account for Google's cloud, as the `IAMPolicyGenerator` makes it.

use lynceus_object::{Str, value};

use crate::error::KustomizeError;
use crate::record::record;
use crate::resource::Resource;
use crate::scalar::meaning;

record! {
    /// What the account is for.
    pub(crate) struct IamPolicy {
        cloud: Str = "cloud",
        kubernetes: KubernetesService = "kubernetesService",
        account: ServiceAccount = "serviceAccount",
    }
}

record! {
    /// The account in the cluster.
    pub(crate) struct KubernetesService {
        name: Str = "name",
        namespace: Str = "namespace",
    }
}

record! {
    /// The account in the cloud.
    pub(crate) struct ServiceAccount {
        name: Str = "name",
        project: Str = "projectId",
    }
}

impl IamPolicy {
    /// Makes the service account.
    pub(crate) fn generate(&self) -> Result<Resource, KustomizeError> {
        if self.cloud != "gke" {
            return Err(KustomizeError::new(format!("cloud provider {} not supported yet", self.cloud)));
        }
        let account = format!("{}@{}.iam.gserviceaccount.com", self.account.name, self.account.project);
        let mut value = value!({
            "apiVersion": "v1",
            "kind": "ServiceAccount",
            "metadata": {
                "annotations": {"iam.gke.io/gcp-service-account": account},
            },
        });
        // Kustomize writes the account as YAML without quotes, and reads it again.
        value.set(&["metadata", "name"], meaning(&self.kubernetes.name));
        if !self.kubernetes.namespace.is_empty() {
            value.set(&["metadata", "namespace"], meaning(&self.kubernetes.namespace));
        }
        Ok(Resource::new(value))
    }
}
