//! The columns of each kind.

use std::collections::HashMap;
use std::sync::LazyLock;

use lynceus_object::{Str, Value, value};

use crate::kinds::Resource;

/// A column of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    /// The title.
    pub name: Str,
    /// `string`, `integer`, `boolean`, `date`, …
    pub kind: Str,
    /// A hint for clients: `name` marks the primary column.
    pub format: Str,
    /// What the column means.
    pub description: Str,
    /// 0 is always shown; higher ones only when more is asked for.
    pub priority: i64,
}

impl Column {
    /// The definition that is sent.
    pub(super) fn definition(&self) -> Value {
        value!({
            "name": self.name, "type": self.kind, "format": self.format,
            "description": self.description, "priority": self.priority,
        })
    }

    /// `Title`, `Title:type`, `Title~format`, with one `!` per level of priority.
    fn parse(text: &str) -> Column {
        let priority = text.len() - text.trim_end_matches('!').len();
        let text = text.trim_end_matches('!');
        let (text, format) = text.split_once('~').unwrap_or((text, ""));
        let (name, kind) = text.split_once(':').unwrap_or((text, "string"));
        let description = match name {
            "Name" => "The name of the object, unique in its namespace.",
            "Age" => "How long ago the object was created.",
            "Created At" => "When the object was created.",
            _ => "",
        };
        Column {
            name: name.into(),
            kind: kind.into(),
            format: format.into(),
            description: description.into(),
            priority: priority as i64,
        }
    }
}

/// The columns of a kind: its own, or name and creation time.
pub fn columns(resource: &Resource) -> Vec<Column> {
    static KNOWN: LazyLock<HashMap<&str, &str>> =
        LazyLock::new(|| TABLE.lines().filter_map(|line| line.split_once(' ')).collect());
    let custom = resource.group.contains('.') && !resource.group.ends_with(".k8s.io");
    let known = if custom { None } else { KNOWN.get(resource.kind.as_str()) };
    let text = known.map_or("Name~name|Created At:date", |text| text.trim_start());
    text.split('|').map(Column::parse).collect()
}

/// Kind and columns.
const TABLE: &str = "
APIService Name~name|Service|Available|Age
CSIDriver Name~name|AttachRequired:boolean|PodInfoOnMount:boolean|StorageCapacity:boolean|TokenRequests|RequiresRepublish:boolean|Modes|Age
CSINode Name~name|Drivers:integer|Age
CertificateSigningRequest Name~name|Age|SignerName|Requestor|RequestedDuration|Condition
ClusterRoleBinding Name~name|Role|Age|Users!|Groups!|ServiceAccounts!
ComponentStatus Name~name|Status|Message|Error
ConfigMap Name~name|Data|Age
ControllerRevision Name~name|Controller|Revision|Age
CronJob Name~name|Schedule|Timezone|Suspend:boolean|Active:integer|Last Schedule|Age|Containers!|Images!|Selector!
DaemonSet Name~name|Desired:integer|Current:integer|Ready:integer|Up-to-date:integer|Available:integer|Node Selector|Age|Containers!|Images!|Selector!
Deployment Name~name|Ready|Up-to-date|Available|Age|Containers!|Images!|Selector!
DeviceClass Name~name|Age
EndpointSlice Name~name|AddressType|Ports|Endpoints|Age
Endpoints Name~name|Endpoints|Age
Event Last Seen|Type|Reason|Object|Subobject!|Source!|Message|First Seen!|Count!|Name~name!
FlowSchema Name~name|PriorityLevel|MatchingPrecedence|DistinguisherMethod|Age|MissingPL
HorizontalPodAutoscaler Name~name|Reference|Targets|MinPods|MaxPods|Replicas|Age
IPAddress Name~name|ParentRef
Ingress Name~name|Class|Hosts|Address|Ports|Age
IngressClass Name~name|Controller|Parameters|Age
Job Name~name|Status|Completions|Duration|Age|Containers!|Images!|Selector!
Lease Name~name|Holder|Age
MutatingAdmissionPolicy Name~name|Mutations:integer|ParamKind|Age
MutatingAdmissionPolicyBinding Name~name|PolicyName|ParamRef|Age
MutatingWebhookConfiguration Name~name|Webhooks:integer|Age
Namespace Name~name|Status|Age
NetworkPolicy Name~name|Pod-Selector|Age
Node Name~name|Status|Roles|Age|Version|Internal-IP!|External-IP!|OS-Image!|Kernel-Version!|Container-Runtime!
PersistentVolume Name~name|Capacity|Access Modes|Reclaim Policy|Status|Claim|StorageClass|VolumeAttributesClass|Reason|Age|VolumeMode!
PersistentVolumeClaim Name~name|Status|Volume|Capacity|Access Modes|StorageClass|VolumeAttributesClass|Age|VolumeMode!
Pod Name~name|Ready|Status|Restarts|Age|IP!|Node!|Nominated Node!|Readiness Gates!
PodDisruptionBudget Name~name|Min Available|Max Unavailable|Allowed Disruptions:integer|Age
PodTemplate Name~name|Containers|Images|Pod Labels
PriorityClass Name~name|Value:integer|Global-Default:boolean|Age|PreemptionPolicy
PriorityLevelConfiguration Name~name|Type|NominalConcurrencyShares|Queues|HandSize|QueueLengthLimit|Age
ReplicaSet Name~name|Desired:integer|Current:integer|Ready:integer|Age|Containers!|Images!|Selector!
ReplicationController Name~name|Desired:integer|Current:integer|Ready:integer|Age|Containers!|Images!|Selector!
ResourceClaim Name~name|State|Age
ResourceClaimTemplate Name~name|Age
ResourceQuota Name~name|Request|Limit|Age
ResourceSlice Name~name|Node|Driver|Pool|Age
RoleBinding Name~name|Role|Age|Users!|Groups!|ServiceAccounts!
RuntimeClass Name~name|Handler|Age
Secret Name~name|Type|Data|Age
Service Name~name|Type|Cluster-IP|External-IP|Port(s)|Age|Selector!
ServiceAccount Name~name|Age
ServiceCIDR Name~name|CIDRs|Age
StatefulSet Name~name|Ready|Age|Containers!|Images!
StorageClass Name~name|Provisioner|ReclaimPolicy|VolumeBindingMode|AllowVolumeExpansion|Age
ValidatingAdmissionPolicy Name~name|Validations:integer|ParamKind|Age
ValidatingAdmissionPolicyBinding Name~name|PolicyName|ParamRef|Age
ValidatingWebhookConfiguration Name~name|Webhooks:integer|Age
VolumeAttachment Name~name|Attacher~name|PV|Node|Attached:boolean|Age
VolumeAttributesClass Name~name|DriverName|Age
";
