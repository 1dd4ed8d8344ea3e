//! What a stock server's own admission adds to new objects: it depends on the cluster, and can be
//! turned off, unlike defaults.

use lynceus_object::{Map, Object, Value, value};

use super::edit::{each, has, part_or_new};
use super::resources::Resource;
use crate::ApiError;
use crate::attributes::User;
use crate::context::Context;

const TOKEN_PATH: &str = "/var/run/secrets/kubernetes.io/serviceaccount";
const TOKEN_VOLUME: &str = "kube-api-access-";
/// How long a token for pods is asked to be valid, in seconds. The odd number marks it as the default.
const TOKEN_SECONDS: i64 = 3607;
/// How long a pod stays on a node that fails, in seconds.
const TOLERATION_SECONDS: i64 = 300;

/// Which of the server's own additions are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Additions {
    /// The service account of a pod, with its token.
    pub service_account: bool,
    /// The tolerations for nodes that fail.
    pub tolerations: bool,
    /// The finalizers that keep storage that is in use.
    pub protection: bool,
}

impl Default for Additions {
    fn default() -> Self {
        Additions { service_account: true, tolerations: true, protection: true }
    }
}

/// Adds to a new object what the cluster says it should have.
///
/// Whether the service account that a pod names exists is for admission to check.
pub fn admit_create(
    resource: &Resource,
    object: &mut Object,
    user: &User,
    context: &Context<'_>,
    additions: Additions,
) -> Result<(), ApiError> {
    match (resource.group.as_str(), resource.kind.as_str()) {
        ("", "Pod") if object.annotation("kubernetes.io/config.mirror").is_none() => {
            if additions.service_account {
                service_account(object, context)?;
            }
            priority(object, context)?;
            if additions.tolerations {
                tolerations(object.value_mut());
            }
            super::runtime::admit(object, context.view)?;
        }
        ("", "PersistentVolumeClaim") => storage_class(object, context),
        ("certificates.k8s.io", "CertificateSigningRequest") => requestor(object, user),
        ("", "Node") => not_ready(object.value_mut()),
        ("networking.k8s.io", "Ingress") => ingress_class(object, context),
        _ => {}
    }
    if additions.protection {
        protect(resource, object);
    }
    Ok(())
}

/// Keeps what was added to an object when it was new, where a change leaves it out.
pub fn admit_update(resource: &Resource, object: &mut Object, old: &Object, additions: Additions) {
    let is_pod = resource.is("", "pods") && object.annotation("kubernetes.io/config.mirror").is_none();
    if !is_pod {
        return;
    }
    for field in ["priority", "preemptionPolicy"] {
        if let Some(value) = old.at(&["spec", field]).filter(|_| object.at(&["spec", field]).is_none()) {
            object.set(&["spec", field], value.clone());
        }
    }
    if additions.tolerations {
        tolerations(object.value_mut());
    }
}

fn service_account(pod: &mut Object, context: &Context<'_>) -> Result<(), ApiError> {
    let name = pod.value().str_at(&["spec", "serviceAccountName"]).unwrap_or_default().to_owned();
    let name = if name.is_empty() { "default".to_owned() } else { name };
    for field in ["serviceAccountName", "serviceAccount"] {
        pod.set(&["spec", field], name.as_str());
    }
    crate::admission::check_account(context.view, pod, pod.namespace())?;
    let account = context.view.get("", "serviceaccounts", pod.namespace(), &name).unwrap_or_default();
    let wish = pod.value().bool_at(&["spec", "automountServiceAccountToken"]);
    if wish.or(account.value().bool_at(&["automountServiceAccountToken"])) != Some(false) {
        mount_token(pod.value_mut(), context);
    }
    let pull = account.value().items_at(&["imagePullSecrets"]);
    if pod.value().items_at(&["spec", "imagePullSecrets"]).is_empty() && !pull.is_empty() {
        pod.set(&["spec", "imagePullSecrets"], pull.to_vec());
    }
    Ok(())
}

fn mount_token(pod: &mut Value, context: &Context<'_>) {
    let names = pod.items_at(&["spec", "volumes"]).iter().filter_map(|volume| volume.str_at(&["name"]));
    let known = names.into_iter().find(|name| name.starts_with(TOKEN_VOLUME)).map(ToOwned::to_owned);
    let name = known.clone().unwrap_or_else(|| format!("{TOKEN_VOLUME}{}", context.random.suffix(5)));
    let mut needed = false;
    for list in ["initContainers", "containers"] {
        for container in each(pod, &["spec", list]) {
            let mounts = container.items_at(&["volumeMounts"]);
            if mounts.iter().any(|mount| mount.str_at(&["mountPath"]) == Some(TOKEN_PATH)) {
                continue;
            }
            needed = true;
            let mount = value!({"name": name, "readOnly": true, "mountPath": TOKEN_PATH});
            container.as_map_or_insert().entry("volumeMounts").as_seq_or_insert().push(mount);
        }
    }
    if needed && known.is_none() {
        let volumes = part_or_new(pod, "spec").as_map_or_insert().entry("volumes").as_seq_or_insert();
        volumes.push(token_volume(&name));
    }
}

fn token_volume(name: &str) -> Value {
    value!({"name": name, "projected": {"defaultMode": 0o644, "sources": [
        {"serviceAccountToken": {"expirationSeconds": TOKEN_SECONDS, "path": "token"}},
        {"configMap": {"name": "kube-root-ca.crt", "items": [{"key": "ca.crt", "path": "ca.crt"}]}},
        {"downwardAPI": {"items": [
            {"path": "namespace", "fieldRef": {"apiVersion": "v1", "fieldPath": "metadata.namespace"}},
        ]}},
    ]}})
}

/// A pod's priority follows from its class: the one it names, else the cluster's default, else none.
fn priority(pod: &mut Object, context: &Context<'_>) -> Result<(), ApiError> {
    let named = pod.value().str_at(&["spec", "priorityClassName"]).unwrap_or_default().to_owned();
    let class = if named.is_empty() {
        let classes = context.view.list("scheduling.k8s.io", "priorityclasses", None);
        let default = |class: &Object| class.value().bool_at(&["globalDefault"]).unwrap_or(false);
        classes.into_iter().filter(default).min_by_key(|class| class.value().int_at(&["value"]))
    } else {
        let found = context.view.get("scheduling.k8s.io", "priorityclasses", "", &named);
        if found.is_none() {
            let why = format!("no PriorityClass with name {named} was found");
            return Err(ApiError::forbidden("", "pods", pod.name(), &why));
        }
        found
    };
    let value = class.as_ref().and_then(|class| class.value().int_at(&["value"])).unwrap_or(0);
    let policy = class.as_ref().and_then(|class| class.value().str_at(&["preemptionPolicy"]));
    let policy = policy.unwrap_or("PreemptLowerPriority").to_owned();
    let computed = "must not be provided in pod spec; priority admission controller computed";
    let refuse = |what: String| Err(ApiError::forbidden("", "pods", pod.name(), &what));
    if let Some(own) = pod.value().int_at(&["spec", "priority"]).filter(|own| *own != value) {
        let what = format!("the integer value of priority ({own}) {computed} {value}");
        return refuse(format!("{what} from the given PriorityClass name"));
    }
    if let Some(own) = pod.value().str_at(&["spec", "preemptionPolicy"]).filter(|own| *own != policy) {
        let what = format!("the string value of PreemptionPolicy ({own}) {computed} {policy}");
        return refuse(format!("{what} from the given PriorityClass name"));
    }
    let spec = part_or_new(pod.value_mut(), "spec");
    if let Some(class) = &class {
        spec.set(&["priorityClassName"], class.name().to_owned());
    }
    spec.set(&["priority"], value);
    spec.set(&["preemptionPolicy"], policy);
    Ok(())
}

/// A request for a certificate says who made it, whatever the client says.
fn requestor(request: &mut Object, user: &User) {
    for field in ["username", "uid", "groups", "extra"] {
        request.remove(&["spec", field]);
    }
    for (field, said) in user.info().as_map().into_iter().flat_map(Map::iter) {
        request.set(&["spec", field], said.clone());
    }
}

/// A new node takes no pods until it has been found ready.
fn not_ready(node: &mut Value) {
    const TAINT: &str = "node.kubernetes.io/not-ready";
    let taints = node.items_at(&["spec", "taints"]);
    let known = |taint: &Value| {
        taint.str_at(&["key"]) == Some(TAINT) && taint.str_at(&["effect"]) == Some("NoSchedule")
    };
    if !taints.iter().any(known) {
        let spec = part_or_new(node, "spec");
        let taint = value!({"key": TAINT, "effect": "NoSchedule"});
        spec.as_map_or_insert().entry("taints").as_seq_or_insert().push(taint);
    }
}

fn tolerations(pod: &mut Value) {
    let covered = |pod: &Value, taint: &str| {
        pod.items_at(&["spec", "tolerations"]).iter().any(|toleration| {
            let key = toleration.str_at(&["key"]).unwrap_or_default();
            let effect = toleration.str_at(&["effect"]).unwrap_or_default();
            (key == taint || key.is_empty()) && (effect == "NoExecute" || effect.is_empty())
        })
    };
    for taint in ["node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"] {
        if !covered(pod, taint) {
            let toleration = value!({"key": taint, "operator": "Exists", "effect": "NoExecute",
                "tolerationSeconds": TOLERATION_SECONDS});
            let spec = part_or_new(pod, "spec");
            spec.as_map_or_insert().entry("tolerations").as_seq_or_insert().push(toleration);
        }
    }
}

/// A claim that names no class gets the default one; one that names the empty class wants none.
fn storage_class(claim: &mut Object, context: &Context<'_>) {
    let spec = claim.at(&["spec"]).unwrap_or(&Value::Null);
    let old_name = "volume.beta.kubernetes.io/storage-class";
    if has(spec, "storageClassName") || claim.annotation(old_name).is_some() {
        return;
    }
    if let Some(class) = default_of(
        context,
        "storage.k8s.io",
        "storageclasses",
        &["storageclass.kubernetes.io/is-default-class", "storageclass.beta.kubernetes.io/is-default-class"],
    ) {
        claim.set(&["spec", "storageClassName"], class);
    }
}

fn ingress_class(ingress: &mut Object, context: &Context<'_>) {
    let named = has(ingress.at(&["spec"]).unwrap_or(&Value::Null), "ingressClassName");
    if named || ingress.annotation("kubernetes.io/ingress.class").is_some() {
        return;
    }
    let mark = ["ingressclass.kubernetes.io/is-default-class"];
    if let Some(class) = default_of(context, "networking.k8s.io", "ingressclasses", &mark) {
        ingress.set(&["spec", "ingressClassName"], class);
    }
}

/// The class that is marked as the default: the newest, then the first by name.
fn default_of(context: &Context<'_>, group: &str, resource: &str, marks: &[&str]) -> Option<String> {
    let classes = context.view.list(group, resource, None);
    let marked = |class: &&Object| marks.iter().any(|mark| class.annotation(mark) == Some("true"));
    let mut defaults: Vec<&Object> = classes.iter().filter(marked).collect();
    let created = |class: &Object| {
        class.value().str_at(&["metadata", "creationTimestamp"]).unwrap_or_default().to_owned()
    };
    defaults.sort_by(|a, b| created(b).cmp(&created(a)).then_with(|| a.name().cmp(b.name())));
    defaults.first().map(|class| class.name().to_owned())
}

/// Storage that is in use has to outlive its deletion.
fn protect(resource: &Resource, object: &mut Object) {
    let finalizer = match (resource.group.as_str(), resource.kind.as_str()) {
        ("", "PersistentVolumeClaim") => "kubernetes.io/pvc-protection",
        ("", "PersistentVolume") => "kubernetes.io/pv-protection",
        ("storage.k8s.io", "VolumeAttributesClass") => "kubernetes.io/vac-protection",
        _ => return,
    };
    if object.finalizers().all(|known| known != finalizer) {
        let metadata = part_or_new(object.value_mut(), "metadata");
        metadata.as_map_or_insert().entry("finalizers").as_seq_or_insert().push(finalizer.into());
    }
}
