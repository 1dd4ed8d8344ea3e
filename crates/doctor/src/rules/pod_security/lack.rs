//! What a spec of pods lacks for a Pod Security standard, of what a refusal speaks of.

use lynceus_object::{FieldPath, Value, value};

use crate::case::Pods;

/// One thing that has to be otherwise.
#[derive(Clone, Debug)]
pub(super) struct Lack {
    /// In words: `container web lacks securityContext.allowPrivilegeEscalation=false`.
    pub(super) text: String,
    /// The field.
    pub(super) path: FieldPath,
    /// What has to stand there; nothing if the field has to go.
    pub(super) value: Option<Value>,
    /// Whether setting the field is enough. A host path needs another sort of volume.
    pub(super) can_be_set: bool,
}

/// Whether pods set a field that others lack: the pod as a whole, or the container of the same name and sort.
pub(super) fn sets(pods: &Pods<'_>, lack: &Lack) -> bool {
    let in_context = |holder: &Value, base: &FieldPath| {
        let rest = lack.path.segments().iter().skip(base.segments().len());
        rest.cloned().collect::<FieldPath>().get(holder).is_some()
    };
    let containers = pods.containers();
    let own = containers
        .iter()
        .find(|(path, container)| lack.text.starts_with(&format!("{} ", who(path, container))));
    match own {
        Some((path, container)) => in_context(container, path),
        // What is missing from the pod may stand in each of its containers.
        None if lack.text.starts_with(THE_POD) => {
            let in_container = |container: &Value| {
                let rest = lack.path.segments().iter().skip(pods.path.segments().len());
                rest.cloned().collect::<FieldPath>().get(container).is_some()
            };
            in_context(pods.spec, &pods.path)
                || containers.iter().all(|(_, container)| in_container(container))
        }
        None => false,
    }
}

/// How it begins what is said of the pod as a whole.
const THE_POD: &str = "the pod ";

/// What is lacking, of what the text of a refusal speaks of.
pub(super) fn lacks(pods: &Pods<'_>, text: &str) -> Vec<Lack> {
    let mut found = Vec::new();
    for (path, container) in pods.containers() {
        let who = who(&path, container);
        let at = |field: &[&str]| container.at(&[&["securityContext"], field].concat());
        let context = path.field("securityContext");
        if text.contains("allowPrivilegeEscalation != false")
            && at(&["allowPrivilegeEscalation"]) != Some(&value!(false))
        {
            found.push(set(
                &who,
                "allowPrivilegeEscalation=false",
                context.field("allowPrivilegeEscalation"),
                value!(false),
            ));
        }
        if text.contains("capabilities (") {
            capabilities(&who, container, &context, text, &mut found);
        }
        if text.contains("privileged (") && at(&["privileged"]) == Some(&value!(true)) {
            found.push(out(&format!("{who} is privileged"), context.field("privileged")));
        }
        if text.contains("runAsNonRoot != true") && at(&["runAsNonRoot"]) == Some(&value!(false)) {
            found.push(set(&who, "runAsNonRoot=true", context.field("runAsNonRoot"), value!(true)));
        }
        if text.contains("runAsUser=0") && at(&["runAsUser"]) == Some(&value!(0)) {
            found.push(out(&format!("{who} runs as user 0"), context.field("runAsUser")));
        }
        if text.contains("seccompProfile (") && at(&["seccompProfile", "type"]) == Some(&value!("Unconfined"))
        {
            let path = context.field("seccompProfile").field("type");
            found.push(set(&who, "seccompProfile.type=RuntimeDefault", path, value!("RuntimeDefault")));
        }
        if text.contains("hostPort (") {
            for (place, _) in container
                .items_at(&["ports"])
                .iter()
                .enumerate()
                .filter(|(_, port)| port.int_at(&["hostPort"]).unwrap_or_default() != 0)
            {
                found.push(out(
                    &format!("{who} uses a host port"),
                    path.field("ports").index(place).field("hostPort"),
                ));
            }
        }
    }
    whole(pods, text, &mut found);
    found
}

/// What is set once for all containers of a pod.
fn whole(pods: &Pods<'_>, text: &str, found: &mut Vec<Lack>) {
    let context = pods.path.field("securityContext");
    let at = |field: &[&str]| pods.spec.at(&[&["securityContext"], field].concat());
    // The pod's word counts for the containers that say nothing themselves.
    let silent = |field: &[&str]| {
        pods.containers()
            .iter()
            .any(|(_, container)| container.at(&[&["securityContext"], field].concat()).is_none())
    };
    if text.contains("runAsNonRoot != true")
        && at(&["runAsNonRoot"]) != Some(&value!(true))
        && silent(&["runAsNonRoot"])
    {
        found.push(set("the pod", "runAsNonRoot=true", context.field("runAsNonRoot"), value!(true)));
    }
    let profile = at(&["seccompProfile", "type"]).and_then(Value::as_str).unwrap_or_default();
    let is_good = matches!(profile, "RuntimeDefault" | "Localhost");
    if text.contains("seccompProfile (") && !is_good && silent(&["seccompProfile", "type"]) {
        let path = context.field("seccompProfile");
        found.push(set(
            "the pod",
            "seccompProfile.type=RuntimeDefault",
            path,
            value!({"type": "RuntimeDefault"}),
        ));
    }
    if text.contains("runAsUser=0") && at(&["runAsUser"]) == Some(&value!(0)) {
        found.push(out("the pod runs as user 0", context.field("runAsUser")));
    }
    for field in ["hostNetwork", "hostPID", "hostIPC"] {
        if text.contains("host namespaces (") && pods.spec.bool_at(&[field]) == Some(true) {
            found.push(out(&format!("the pod has {field}"), pods.path.field(field)));
        }
    }
    if text.contains("volume types (") || text.contains("hostPath volumes (") {
        let volumes = pods.spec.items_at(&["volumes"]).iter().enumerate();
        for (place, volume) in volumes.filter(|(_, volume)| volume.at(&["hostPath"]).is_some()) {
            let text =
                format!("volume {} is a path of the host", volume.str_at(&["name"]).unwrap_or_default());
            found.push(Lack {
                text,
                path: pods.path.field("volumes").index(place),
                value: None,
                can_be_set: false,
            });
        }
    }
}

fn capabilities(who: &str, container: &Value, context: &FieldPath, text: &str, found: &mut Vec<Lack>) {
    let list = |field| container.items_at(&["securityContext", "capabilities", field]);
    let drops_all = list("drop").iter().any(|one| one.as_str() == Some("ALL"));
    let path = context.field("capabilities");
    if text.contains("unrestricted capabilities (") && !drops_all {
        found.push(set(who, "capabilities.drop=[\"ALL\"]", path.field("drop"), value!(["ALL"])));
    }
    let (kept, forbidden): (Vec<&Value>, Vec<&Value>) =
        list("add").iter().partition(|one| one.as_str() == Some("NET_BIND_SERVICE"));
    if !forbidden.is_empty() && text.contains("capabilities.add") {
        let value = (!kept.is_empty()).then(|| Value::Seq(kept.into_iter().cloned().collect()));
        found.push(Lack {
            text: format!("{who} adds capabilities"),
            path: path.field("add"),
            value,
            can_be_set: true,
        });
    }
}

fn who(path: &FieldPath, container: &Value) -> String {
    let name = container.str_at(&["name"]).unwrap_or_default();
    let is_early = path.to_string().contains("initContainers");
    if is_early { format!("init container {name}") } else { format!("container {name}") }
}

fn set(who: &str, what: &str, path: FieldPath, value: Value) -> Lack {
    Lack { text: format!("{who} lacks securityContext.{what}"), path, value: Some(value), can_be_set: true }
}

fn out(text: &str, path: FieldPath) -> Lack {
    Lack { text: text.to_owned(), path, value: None, can_be_set: true }
}
