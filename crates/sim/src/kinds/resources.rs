//! The resources that a stock server of the followed version serves, as one table.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock, OnceLock};

use lynceus_object::schema::{self, TypeRef};
use lynceus_object::{Gvk, Gvr, Str, join_api_version};

use crate::crd::Compiled;

/// What a client may do with an ordinary resource, in discovery's order.
pub const ALL_VERBS: &[&str] =
    &["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"];
const NAMESPACE_VERBS: &[&str] = &["create", "delete", "get", "list", "patch", "update", "watch"];
const CREATE: &[&str] = &["create"];
const GET: &[&str] = &["get"];
const READ: &[&str] = &["get", "list"];
const UPDATE: &[&str] = &["update"];
const CONNECT: &[&str] = &["create", "get"];
const PROXY: &[&str] = &["create", "delete", "get", "patch", "update"];
/// What a client may do with `status`, `scale` and the like.
pub const PART_VERBS: &[&str] = &["get", "patch", "update"];

/// One resource in one served version: what routing, discovery and printing know about a kind.
///
/// Custom resources use the same type, so that nothing downstream asks where a kind comes from.
#[derive(Clone, Debug)]
pub struct Resource {
    /// The API group; empty for the core group.
    pub group: Str,
    /// The served version.
    pub version: Str,
    /// The kind of one object.
    pub kind: Str,
    /// The kind of a list of them.
    pub list_kind: Str,
    /// The name in URLs.
    pub plural: Str,
    /// The name that people type for one.
    pub singular: Str,
    /// Abbreviations that people type.
    pub short_names: Vec<Str>,
    /// Groups of kinds that people type, such as `all`.
    pub categories: Vec<Str>,
    /// Whether objects live in a namespace.
    pub namespaced: bool,
    /// What may be done, in discovery's order.
    pub verbs: &'static [&'static str],
    /// The parts with an address of their own, by name.
    pub subresources: Vec<Subresource>,
    /// The kind and version that objects are kept as. Two resources with the same storage kind are two
    /// views of the same objects (events have this, and both versions of autoscalers).
    pub storage: Gvk,
    /// The compiled definition of a custom resource; built-in ones have none.
    pub custom: Option<Arc<Compiled>>,
    /// What to warn of when this version is used, if it is deprecated.
    pub deprecation: Option<Str>,
    /// The type of a built-in kind, once somebody asked for it; see [`Resource::built_in_type`].
    pub(crate) ty: OnceLock<Option<TypeRef<'static>>>,
}

/// A part of a resource with an address of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subresource {
    /// The last segment of the URL.
    pub name: Str,
    /// The kind that is sent and answered there.
    pub gvk: Gvk,
    /// Whether discovery names group and version of the kind because they are not the resource's own.
    pub foreign: bool,
    /// What may be done, in discovery's order.
    pub verbs: &'static [&'static str],
}

impl Resource {
    /// Group, version and kind.
    pub fn gvk(&self) -> Gvk {
        Gvk::new(self.group.clone(), self.version.clone(), self.kind.clone())
    }

    /// Group, version and plural name.
    pub fn gvr(&self) -> Gvr {
        Gvr::new(self.group.clone(), self.version.clone(), self.plural.clone())
    }

    /// The type of a built-in kind. Every write asks for it several times.
    pub fn built_in_type(&self) -> Option<TypeRef<'static>> {
        *self.ty.get_or_init(|| schema::builtin().of(&self.gvk()))
    }

    /// `apps/v1`, or `v1` for the core group.
    pub fn api_version(&self) -> Str {
        join_api_version(&self.group, &self.version)
    }

    /// `deployments.apps`, or `pods` for the core group: how messages name a resource.
    pub fn qualified(&self) -> String {
        if self.group.is_empty() {
            self.plural.to_string()
        } else {
            format!("{}.{}", self.plural, self.group)
        }
    }

    /// Whether this is the resource of that group and plural name, in whatever version.
    pub fn is(&self, group: &str, plural: &str) -> bool {
        self.group == group && self.plural == plural
    }

    /// The part called `name`.
    pub fn subresource(&self, name: &str) -> Option<&Subresource> {
        self.subresources.iter().find(|part| part.name == name)
    }

    /// Whether `verb` may be used on the resource itself.
    pub fn allows(&self, verb: &str) -> bool {
        self.verbs.contains(&verb)
    }
}

/// Every built-in resource: core first, then the groups in the order in which discovery lists them,
/// the preferred version of a group before the others, resources by plural name.
pub fn resources() -> &'static [Resource] {
    static RESOURCES: LazyLock<Vec<Resource>> = LazyLock::new(|| TABLE.lines().fold(Vec::new(), read_line));
    &RESOURCES
}

/// The built-in resource of a kind, if a stock server serves it.
pub fn resource_of(gvk: &Gvk) -> Option<&'static Resource> {
    static BY_KIND: LazyLock<HashMap<Gvk, &'static Resource>> =
        LazyLock::new(|| resources().iter().map(|resource| (resource.gvk(), resource)).collect());
    BY_KIND.get(gvk).copied()
}

/// Reads a line of the table: kind with its version, plural name, scope (n or c), short names, categories,
/// verbs, parts.
fn read_line(mut out: Vec<Resource>, line: &str) -> Vec<Resource> {
    let mut words = line.split_whitespace();
    let (Some(kind), Some(plural), Some(scope), Some(short), Some(categories), Some(verbs)) =
        (words.next(), words.next(), words.next(), words.next(), words.next(), words.next())
    else {
        return out;
    };
    let (api_version, kind) = kind.rsplit_once('.').unwrap_or(("v1", kind));
    let gvk = Gvk::from_manifest(api_version, kind);
    let list = |text: &str| text.split(',').filter(|word| *word != "-").map(Str::from).collect();
    out.push(Resource {
        list_kind: ecow::eco_format!("{kind}List"),
        plural: plural.into(),
        singular: kind.to_lowercase().into(),
        short_names: list(short),
        categories: list(categories),
        namespaced: scope == "n",
        verbs: match verbs {
            "create" => CREATE,
            "read" => READ,
            "namespace" => NAMESPACE_VERBS,
            _ => ALL_VERBS,
        },
        subresources: words.map(|name| part(name, plural, &gvk)).collect(),
        storage: storage_of(&gvk),
        custom: None,
        deprecation: deprecation(&gvk),
        group: gvk.group,
        version: gvk.version,
        kind: gvk.kind,
        ty: OnceLock::new(),
    });
    out
}

fn part(name: &str, plural: &str, owner: &Gvk) -> Subresource {
    let foreign = |group, version, kind, verbs| (Gvk::new(group, version, kind), true, verbs);
    let own = |kind: &str, verbs| (Gvk::new("", "v1", kind), false, verbs);
    let (gvk, foreign, verbs) = match (plural, name) {
        (_, "scale") => foreign("autoscaling", "v1", "Scale", PART_VERBS),
        (_, "eviction") => foreign("policy", "v1", "Eviction", CREATE),
        (_, "token") => foreign("authentication.k8s.io", "v1", "TokenRequest", CREATE),
        (_, "binding") => own("Binding", CREATE),
        (_, "attach") => own("PodAttachOptions", CONNECT),
        (_, "exec") => own("PodExecOptions", CONNECT),
        (_, "portforward") => own("PodPortForwardOptions", CONNECT),
        ("pods", "proxy") => own("PodProxyOptions", PROXY),
        ("nodes", "proxy") => own("NodeProxyOptions", PROXY),
        ("services", "proxy") => own("ServiceProxyOptions", PROXY),
        (_, "log") => (owner.clone(), false, GET),
        (_, "finalize") => (owner.clone(), false, UPDATE),
        _ => (owner.clone(), false, PART_VERBS),
    };
    Subresource { name: name.into(), gvk, foreign, verbs }
}

/// What a client of a kind that is on its way out should hear.
fn deprecation(gvk: &Gvk) -> Option<Str> {
    match (gvk.group.as_str(), gvk.kind.as_str()) {
        ("", "ComponentStatus") => Some("v1 ComponentStatus is deprecated in v1.19+".into()),
        ("", "Endpoints") => {
            Some("v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice".into())
        }
        _ => None,
    }
}

fn storage_of(gvk: &Gvk) -> Gvk {
    match (gvk.group.as_str(), gvk.kind.as_str()) {
        ("events.k8s.io", "Event") => Gvk::new("", "v1", "Event"),
        ("autoscaling", "HorizontalPodAutoscaler") => {
            Gvk::new("autoscaling", "v2", "HorizontalPodAutoscaler")
        }
        _ => gvk.clone(),
    }
}

const TABLE: &str = "
Binding                  bindings                n -      -   create
ComponentStatus          componentstatuses       c cs     -   read
ConfigMap                configmaps              n cm     -   all
Endpoints                endpoints               n ep     -   all
Event                    events                  n ev     -   all
LimitRange               limitranges             n limits -   all
Namespace                namespaces              c ns     -   namespace finalize status
Node                     nodes                   c no     -   all proxy status
PersistentVolumeClaim    persistentvolumeclaims  n pvc    -   all status
PersistentVolume         persistentvolumes       c pv     -   all status
Pod                      pods                    n po     all all attach binding ephemeralcontainers eviction exec log portforward proxy resize status
PodTemplate              podtemplates            n -      -   all
ReplicationController    replicationcontrollers  n rc     all all scale status
ResourceQuota            resourcequotas          n quota  -   all status
Secret                   secrets                 n -      -   all
ServiceAccount           serviceaccounts         n sa     -   all token
Service                  services                n svc    all all proxy status
apiregistration.k8s.io/v1.APIService                 apiservices                      c -    api-extensions all status
apps/v1.ControllerRevision                           controllerrevisions              n -    -   all
apps/v1.DaemonSet                                    daemonsets                       n ds   all all status
apps/v1.Deployment                                   deployments                      n deploy all all scale status
apps/v1.ReplicaSet                                   replicasets                      n rs   all all scale status
apps/v1.StatefulSet                                  statefulsets                     n sts  all all scale status
events.k8s.io/v1.Event                               events                           n ev   -   all
authentication.k8s.io/v1.SelfSubjectReview           selfsubjectreviews               c -    -   create
authentication.k8s.io/v1.TokenReview                 tokenreviews                     c -    -   create
authorization.k8s.io/v1.LocalSubjectAccessReview     localsubjectaccessreviews        n -    -   create
authorization.k8s.io/v1.SelfSubjectAccessReview      selfsubjectaccessreviews         c -    -   create
authorization.k8s.io/v1.SelfSubjectRulesReview       selfsubjectrulesreviews          c -    -   create
authorization.k8s.io/v1.SubjectAccessReview          subjectaccessreviews             c -    -   create
autoscaling/v2.HorizontalPodAutoscaler               horizontalpodautoscalers         n hpa  all all status
autoscaling/v1.HorizontalPodAutoscaler               horizontalpodautoscalers         n hpa  all all status
batch/v1.CronJob                                     cronjobs                         n cj   all all status
batch/v1.Job                                         jobs                             n -    all all status
certificates.k8s.io/v1.CertificateSigningRequest     certificatesigningrequests       c csr  -   all approval status
networking.k8s.io/v1.IngressClass                    ingressclasses                   c -    -   all
networking.k8s.io/v1.Ingress                         ingresses                        n ing  -   all status
networking.k8s.io/v1.IPAddress                       ipaddresses                      c ip   -   all
networking.k8s.io/v1.NetworkPolicy                   networkpolicies                  n netpol - all
networking.k8s.io/v1.ServiceCIDR                     servicecidrs                     c -    -   all status
policy/v1.PodDisruptionBudget                        poddisruptionbudgets             n pdb  -   all status
rbac.authorization.k8s.io/v1.ClusterRoleBinding      clusterrolebindings              c -    -   all
rbac.authorization.k8s.io/v1.ClusterRole             clusterroles                     c -    -   all
rbac.authorization.k8s.io/v1.RoleBinding             rolebindings                     n -    -   all
rbac.authorization.k8s.io/v1.Role                    roles                            n -    -   all
storage.k8s.io/v1.CSIDriver                          csidrivers                       c -    -   all
storage.k8s.io/v1.CSINode                            csinodes                         c -    -   all
storage.k8s.io/v1.CSIStorageCapacity                 csistoragecapacities             n -    -   all
storage.k8s.io/v1.StorageClass                       storageclasses                   c sc   -   all
storage.k8s.io/v1.VolumeAttachment                   volumeattachments                c -    -   all status
storage.k8s.io/v1.VolumeAttributesClass              volumeattributesclasses          c vac  -   all
admissionregistration.k8s.io/v1.MutatingAdmissionPolicy          mutatingadmissionpolicies         c - api-extensions all
admissionregistration.k8s.io/v1.MutatingAdmissionPolicyBinding   mutatingadmissionpolicybindings   c - api-extensions all
admissionregistration.k8s.io/v1.MutatingWebhookConfiguration     mutatingwebhookconfigurations     c - api-extensions all
admissionregistration.k8s.io/v1.ValidatingAdmissionPolicy        validatingadmissionpolicies       c - api-extensions all status
admissionregistration.k8s.io/v1.ValidatingAdmissionPolicyBinding validatingadmissionpolicybindings c - api-extensions all
admissionregistration.k8s.io/v1.ValidatingWebhookConfiguration   validatingwebhookconfigurations   c - api-extensions all
apiextensions.k8s.io/v1.CustomResourceDefinition     customresourcedefinitions        c crd,crds api-extensions all status
scheduling.k8s.io/v1.PriorityClass                   priorityclasses                  c pc   -   all
coordination.k8s.io/v1.Lease                         leases                           n -    -   all
node.k8s.io/v1.RuntimeClass                          runtimeclasses                   c -    -   all
discovery.k8s.io/v1.EndpointSlice                    endpointslices                   n -    -   all
resource.k8s.io/v1.DeviceClass                       deviceclasses                    c -    -   all
resource.k8s.io/v1.ResourceClaim                     resourceclaims                   n -    -   all status
resource.k8s.io/v1.ResourceClaimTemplate             resourceclaimtemplates           n -    -   all
resource.k8s.io/v1.ResourceSlice                     resourceslices                   c -    -   all
flowcontrol.apiserver.k8s.io/v1.FlowSchema                 flowschemas                 c - - all status
flowcontrol.apiserver.k8s.io/v1.PriorityLevelConfiguration prioritylevelconfigurations c - - all status
";

#[cfg(test)]
mod tests {
    use super::*;

    fn find(plural: &str) -> &'static Resource {
        resources().iter().find(|resource| resource.plural == plural).unwrap()
    }

    #[test]
    fn every_line_of_the_table_is_a_resource() {
        assert_eq!(resources().len(), TABLE.lines().filter(|line| !line.is_empty()).count());
    }

    #[test]
    fn a_resource_has_its_names_and_parts() {
        let deployments = find("deployments");
        assert_eq!(deployments.gvk().to_string(), "apps/v1, Kind=Deployment");
        assert_eq!(deployments.singular, "deployment");
        assert_eq!(deployments.list_kind, "DeploymentList");
        assert_eq!(deployments.short_names, ["deploy"]);
        assert_eq!(deployments.categories, ["all"]);
        assert!(deployments.namespaced);
        let scale = deployments.subresource("scale").unwrap();
        assert_eq!((scale.gvk.api_version().as_str(), scale.foreign), ("autoscaling/v1", true));
        assert_eq!(deployments.subresource("status").unwrap().gvk, deployments.gvk());
    }

    #[test]
    fn namespaces_cannot_be_deleted_as_a_collection() {
        assert!(!find("namespaces").allows("deletecollection"));
        assert!(find("pods").allows("deletecollection"));
    }

    #[test]
    fn events_of_both_groups_are_the_same_objects() {
        let kept: Vec<&Gvk> =
            resources().iter().filter(|resource| resource.plural == "events").map(|r| &r.storage).collect();
        assert_eq!(kept.len(), 2);
        assert_eq!(kept[0], kept[1]);
    }

    #[test]
    fn resources_of_one_version_are_in_order() {
        for pair in resources().windows(2) {
            if (&pair[0].group, &pair[0].version) == (&pair[1].group, &pair[1].version) {
                let [a, b] = pair else { continue };
                assert!(a.plural < b.plural, "{} before {}", a.plural, b.plural);
            }
        }
    }
}
