//! The kinds that controllers read and write.

use lynceus_object::{Gvk, Object};

use crate::store::Place;

/// A kind, with what stands in a manifest and in a URL.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Kind {
    /// The API group; empty for the core group.
    pub(crate) group: &'static str,
    /// The version that controllers speak.
    pub(crate) version: &'static str,
    /// The kind, as in a manifest.
    pub(crate) kind: &'static str,
    /// The plural name, as in a URL.
    pub(crate) resource: &'static str,
}

impl Kind {
    /// Where objects of the kind are kept.
    pub(crate) fn place(&self) -> Place {
        Place::new(self.group, self.resource)
    }

    /// Whether a place is this kind's.
    pub(crate) fn is(&self, place: &Place) -> bool {
        self.resource == place.resource && self.group == place.group
    }

    /// A new object of the kind, with a name.
    pub(crate) fn named(&self, namespace: &str, name: &str) -> Object {
        Object::named(&Gvk::new(self.group, self.version, self.kind), namespace, name)
    }

    /// A new object of the kind, whose name is generated from a prefix.
    pub(crate) fn generated(&self, namespace: &str, prefix: &str) -> Object {
        let mut object = self.named(namespace, "");
        object.remove(&["metadata", "name"]);
        object.set(&["metadata", "generateName"], prefix);
        object
    }
}

/// Whether a place is that of one of some kinds.
pub(crate) fn is_among(kinds: &[&Kind], place: &Place) -> bool {
    kinds.iter().any(|kind| kind.is(place))
}

macro_rules! kinds {
    ($($name:ident = $group:literal $version:literal $kind:literal $resource:literal;)+) => {
        $(pub(crate) const $name: &Kind =
            &Kind { group: $group, version: $version, kind: $kind, resource: $resource };)+
    };
}

kinds! {
    NAMESPACE = "" "v1" "Namespace" "namespaces";
    NODE = "" "v1" "Node" "nodes";
    POD = "" "v1" "Pod" "pods";
    SERVICE = "" "v1" "Service" "services";
    ENDPOINTS = "" "v1" "Endpoints" "endpoints";
    EVENT = "" "v1" "Event" "events";
    CONFIG_MAP = "" "v1" "ConfigMap" "configmaps";
    SECRET = "" "v1" "Secret" "secrets";
    SERVICE_ACCOUNT = "" "v1" "ServiceAccount" "serviceaccounts";
    RESOURCE_QUOTA = "" "v1" "ResourceQuota" "resourcequotas";
    REPLICATION_CONTROLLER = "" "v1" "ReplicationController" "replicationcontrollers";
    VOLUME = "" "v1" "PersistentVolume" "persistentvolumes";
    CLAIM = "" "v1" "PersistentVolumeClaim" "persistentvolumeclaims";
    DEPLOYMENT = "apps" "v1" "Deployment" "deployments";
    REPLICA_SET = "apps" "v1" "ReplicaSet" "replicasets";
    STATEFUL_SET = "apps" "v1" "StatefulSet" "statefulsets";
    DAEMON_SET = "apps" "v1" "DaemonSet" "daemonsets";
    CONTROLLER_REVISION = "apps" "v1" "ControllerRevision" "controllerrevisions";
    JOB = "batch" "v1" "Job" "jobs";
    CRON_JOB = "batch" "v1" "CronJob" "cronjobs";
    ENDPOINT_SLICE = "discovery.k8s.io" "v1" "EndpointSlice" "endpointslices";
    INGRESS = "networking.k8s.io" "v1" "Ingress" "ingresses";
    INGRESS_CLASS = "networking.k8s.io" "v1" "IngressClass" "ingressclasses";
    DISRUPTION_BUDGET = "policy" "v1" "PodDisruptionBudget" "poddisruptionbudgets";
    AUTOSCALER = "autoscaling" "v2" "HorizontalPodAutoscaler" "horizontalpodautoscalers";
    CSI_DRIVER = "storage.k8s.io" "v1" "CSIDriver" "csidrivers";
    CSI_NODE = "storage.k8s.io" "v1" "CSINode" "csinodes";
    FAULT = "sim.lynceus.dev" "v1alpha1" "Fault" "faults";
    DEFINITION = "apiextensions.k8s.io" "v1" "CustomResourceDefinition" "customresourcedefinitions";
    API_SERVICE = "apiregistration.k8s.io" "v1" "APIService" "apiservices";
    VALIDATING_POLICY = "admissionregistration.k8s.io" "v1" "ValidatingAdmissionPolicy" "validatingadmissionpolicies";
    STORAGE_CLASS = "storage.k8s.io" "v1" "StorageClass" "storageclasses";
}
