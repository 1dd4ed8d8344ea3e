//! Pods that will be refused as soon as a sync comes to them.

use lynceus_object::{FieldPath, Object, ObjectKey, Str, Value};

use super::Refused;
use super::lack::lacks;
use crate::case::{Case, Pods};
use crate::finding::Evidence;

const ENFORCED: &str = "pod-security.kubernetes.io/enforce";

/// What a refusal by the standard `baseline` can speak of and can be told of any pod: which capabilities and profiles it lets pass
/// is left to the API server.
const BASELINE: &str = "privileged (), host namespaces (), hostPath volumes (), hostPort ()";
/// What one by `restricted` can speak of besides.
const RESTRICTED: &str = "allowPrivilegeEscalation != false, unrestricted capabilities (), capabilities.add, runAsNonRoot != true, \
                          runAsUser=0, seccompProfile ()";

/// The workloads that nobody has made yet and whose pods do not keep the standard of their namespace.
pub(super) fn refused<'a>(case: &Case<'a>, server: &'a str) -> Vec<Refused<'a>> {
    let mut refused = Vec::new();
    if is_changed(case, server) {
        return refused;
    }
    for (object, pods) in case.pods_to_come(server).filter(|(_, pods)| is_plain(pods)) {
        let Some((namespace, standard)) = enforced(case, server, object.namespace()) else { continue };
        let Some(words) = violated(&pods, &standard) else { continue };
        let text = format!("violates PodSecurity \"{standard}:latest\": {words}");
        let path = FieldPath::fields(["metadata", "labels"]).field(ENFORCED);
        let seen = vec![Evidence::Field { object: namespace, path, value: standard.to_string() }];
        refused.push(Refused { server, key: object.key(), text, seen, told: "will be refused" });
    }
    refused
}

/// What about pods a refusal would speak of.
fn violated(pods: &Pods<'_>, standard: &str) -> Option<String> {
    let is_violated = |words: &str| !lacks(pods, words).is_empty();
    let parts = [(BASELINE, true), (RESTRICTED, standard == "restricted")];
    let words: Vec<&str> = parts
        .into_iter()
        .filter(|(words, counts)| *counts && is_violated(words))
        .map(|(words, _)| words)
        .collect();
    (!words.is_empty()).then(|| words.join(", "))
}

/// Whether the standards mean the same for pods as for most: those of Windows and those whose users are their own may do more.
fn is_plain(pods: &Pods<'_>) -> bool {
    pods.spec.str_at(&["os", "name"]) != Some("windows") && pods.spec.bool_at(&["hostUsers"]) != Some(false)
}

/// The standard that a namespace enforces, or will. Where the cluster and Git differ it is not known which will hold.
fn enforced(case: &Case<'_>, server: &str, name: &str) -> Option<(ObjectKey, Str)> {
    let key = ObjectKey::new("", "Namespace", "", name);
    let label = |object: &Object| object.label(ENFORCED).map(Str::from);
    let wanted = case.wanted(server, &key).first().map(|(_, wanted)| label(&wanted.object));
    let standard = match (case.live(server, &key).map(label), wanted) {
        (Some(live), Some(wanted)) if live != wanted => None,
        (Some(live), _) => live,
        (None, wanted) => wanted.flatten(),
    }?;
    matches!(standard.as_str(), "baseline" | "restricted").then_some((key, standard))
}

/// Whether something changes pods on their way in: it may well add what they lack.
fn is_changed(case: &Case<'_>, server: &str) -> bool {
    let mut all = case.due(server, "admissionregistration.k8s.io", "MutatingWebhookConfiguration");
    all.any(|object| {
        let hooks = object.value().items_at(&["webhooks"]).iter();
        let resources =
            hooks.flat_map(|hook| hook.items_at(&["rules"])).flat_map(|rule| rule.items_at(&["resources"]));
        resources.filter_map(Value::as_str).any(|one| matches!(one, "pods" | "*" | "*/*"))
    })
}
