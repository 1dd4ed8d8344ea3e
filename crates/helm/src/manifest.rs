//! What templates gave: cut into documents, told apart into manifests and hooks, and sorted.

use std::collections::BTreeMap;

use lynceus_object::{Map, Value};

use crate::go::decode::{self, Shape, Struct};
use crate::go::{path, text};

/// A manifest, as a template gave it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Manifest {
    /// The template.
    pub source: String,
    /// Which document of the template's output this is, from 0; those without content do not count.
    pub index: usize,
    /// The kind that it says it is.
    pub kind: String,
    /// The text.
    pub content: String,
}

/// A manifest that is applied at certain times only.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hook {
    /// The manifest.
    pub manifest: Manifest,
    /// The object's name.
    pub name: String,
    /// When it is applied: `pre-install` and so on; `test-success` is told as `test`.
    pub events: Vec<String>,
    /// Hooks with less weight go first.
    pub weight: i64,
    /// When it is deleted.
    pub delete_policies: Vec<String>,
    /// When its log is shown.
    pub output_log_policies: Vec<String>,
}

/// Why the output of a template is not a list of manifests.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("YAML parse error on {source_name}: {reason}")]
pub struct ManifestError {
    /// The template.
    pub source_name: String,
    /// What is wrong with its output.
    pub reason: String,
    /// The outputs of all templates, for whoever wants to see what is wrong.
    pub output: String,
}

/// The kinds in the order in which Helm installs them. Others come after them.
const INSTALL_ORDER: [&str; 38] = [
    "PriorityClass",
    "Namespace",
    "NetworkPolicy",
    "ResourceQuota",
    "LimitRange",
    "PodSecurityPolicy",
    "PodDisruptionBudget",
    "ServiceAccount",
    "Secret",
    "SecretList",
    "ConfigMap",
    "StorageClass",
    "PersistentVolume",
    "PersistentVolumeClaim",
    "CustomResourceDefinition",
    "ClusterRole",
    "ClusterRoleList",
    "ClusterRoleBinding",
    "ClusterRoleBindingList",
    "Role",
    "RoleList",
    "RoleBinding",
    "RoleBindingList",
    "Service",
    "DaemonSet",
    "Pod",
    "ReplicationController",
    "ReplicaSet",
    "Deployment",
    "HorizontalPodAutoscaler",
    "StatefulSet",
    "Job",
    "CronJob",
    "IngressClass",
    "Ingress",
    "APIService",
    "MutatingWebhookConfiguration",
    "ValidatingWebhookConfiguration",
];

const EVENTS: [&str; 9] = [
    "pre-install",
    "post-install",
    "pre-delete",
    "post-delete",
    "pre-upgrade",
    "post-upgrade",
    "pre-rollback",
    "post-rollback",
    "test",
];

static META: Struct = Struct {
    name: "",
    full_name: r#"struct { Name string "json:\"name\""; Annotations map[string]string "json:\"annotations\"" }"#,
    fields: &[("name", Shape::Str), ("annotations", Shape::Map(&Shape::Str))],
};

static HEAD: Struct = Struct {
    name: "SimpleHead",
    full_name: "util.SimpleHead",
    fields: &[("apiVersion", Shape::Str), ("kind", Shape::Str), ("metadata", Shape::Pointer(&META))],
};

/// Sorts the outputs of templates into hooks and manifests, each in the order of installing.
pub(crate) fn sort(outputs: &BTreeMap<String, String>) -> Result<(Vec<Hook>, Vec<Manifest>), ManifestError> {
    let (mut hooks, mut manifests) = (Vec::new(), Vec::new());
    for (source, output) in outputs {
        if path::base(source).starts_with('_') {
            continue;
        }
        for (index, content) in split(output).into_iter().enumerate() {
            let head = decode::document(&lynceus_gotmpl::bytes_of(content), &HEAD).map_err(|reason| {
                ManifestError { source_name: source.clone(), reason, output: together(outputs) }
            })?;
            let manifest = Manifest {
                source: source.clone(),
                index,
                kind: string(&head, "kind"),
                content: content.to_owned(),
            };
            let annotations = head.get("metadata").and_then(|metadata| metadata.get("annotations"));
            match annotations.and_then(Value::as_map).filter(|map| map.contains("helm.sh/hook")) {
                None => manifests.push(manifest),
                Some(annotations) => hooks.extend(hook(manifest, &head, annotations)),
            }
        }
    }
    hooks.sort_by_cached_key(|hook: &Hook| rank(&hook.manifest.kind));
    manifests.sort_by_cached_key(|manifest: &Manifest| rank(&manifest.kind));
    Ok((hooks, manifests))
}

/// All outputs that have anything in them, each with the name of its template.
fn together(outputs: &BTreeMap<String, String>) -> String {
    let told = outputs.iter().filter(|(_, output)| !text::trim(output).is_empty());
    told.map(|(source, output)| format!("---\n# Source: {source}\n{output}\n")).collect()
}

/// A hook, unless it names an event that does not exist.
fn hook(manifest: Manifest, head: &Map, annotations: &Map) -> Option<Hook> {
    let words = |name: &str| -> Vec<String> {
        let listed = annotations.get(name).map(|value| value.as_str().unwrap_or_default());
        let words = listed.into_iter().flat_map(|listed| listed.split(','));
        words.map(|word| text::trim(word).to_lowercase()).collect()
    };
    let events: Option<Vec<String>> = words("helm.sh/hook")
        .into_iter()
        .map(|event| match event.as_str() {
            "test-success" => Some("test".to_owned()),
            known if EVENTS.contains(&known) => Some(event),
            _ => None,
        })
        .collect();
    Some(Hook {
        name: head
            .get("metadata")
            .and_then(Value::as_map)
            .map(|meta| string(meta, "name"))
            .unwrap_or_default(),
        events: events?,
        weight: string(annotations, "helm.sh/hook-weight").parse().unwrap_or(0),
        delete_policies: words("helm.sh/hook-delete-policy"),
        output_log_policies: words("helm.sh/hook-output-log-policy"),
        manifest,
    })
}

impl Hook {
    /// Whether the hook is a test.
    pub fn is_test(&self) -> bool {
        self.events.iter().any(|event| event == "test")
    }
}

/// Known kinds by their place, the others by their name after them.
fn rank(kind: &str) -> (usize, String) {
    match INSTALL_ORDER.iter().position(|known| *known == kind) {
        Some(place) => (place, String::new()),
        None => (INSTALL_ORDER.len(), kind.to_owned()),
    }
}

fn string(map: &Map, name: &str) -> String {
    map.get(name).and_then(Value::as_str).unwrap_or_default().to_owned()
}

/// Cuts a text at lines that begin with `---`, whatever follows on them. Documents without content are left out.
pub(crate) fn split(stream: &str) -> Vec<&str> {
    let mut rest = text::trim_start(stream);
    let mut documents = Vec::new();
    let mut at_line_start = true;
    loop {
        let (document, after) = match separator(rest, at_line_start) {
            Some((start, end)) => (&rest[..start], Some(&rest[end..])),
            None => (rest, None),
        };
        if !text::trim(document).is_empty() {
            documents.push(text::trim_start(document));
        }
        match after {
            Some(after) => rest = after,
            None => return documents,
        }
        at_line_start = false;
    }
}

/// Where the next separator begins and ends. What follows a separator on its line is not at the start of one.
fn separator(rest: &str, at_line_start: bool) -> Option<(usize, usize)> {
    const LATER: &str = "\n---";
    let start = if at_line_start && rest.starts_with("---") {
        0
    } else if rest.contains(LATER) {
        // Whether there is one, which there mostly is not, is known much sooner than where it is.
        rest.find(LATER)? + 1
    } else {
        return None;
    };
    let end = start + 3;
    let blanks = rest[end..].bytes().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
    Some((start, end + blanks))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_are_cut_wherever_a_line_begins_with_dashes() {
        assert_eq!(split("\n\n---\na: 1\n---  \nb: 2\n---c: 3\n---\n\n"), ["a: 1\n", "b: 2\n", "c: 3\n"]);
        assert_eq!(split("------\na: 1"), ["---\na: 1"]);
        assert_eq!(split("a: |\n  ---\nb: 1"), ["a: |\n  ---\nb: 1"]);
        assert_eq!(split("  \n "), [""; 0]);
    }

    fn sorted(outputs: &[(&str, &str)]) -> Result<String, ManifestError> {
        let outputs = outputs.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect();
        let (hooks, manifests) = sort(&outputs)?;
        let manifests: Vec<String> = manifests.iter().map(|m| format!("{}:{}", m.source, m.kind)).collect();
        let hooks: Vec<String> = hooks
            .iter()
            .map(|h| format!("{}:{}:{}:{}", h.manifest.kind, h.name, h.events.join("+"), h.weight))
            .collect();
        Ok(format!("{} | {}", manifests.join(" "), hooks.join(" ")))
    }

    #[test]
    fn manifests_are_sorted_by_kind_and_stay_in_order_otherwise() {
        assert_eq!(
            sorted(&[
                ("b", "kind: Deployment\n---\nkind: Zebra\n---\nkind: Apple\n"),
                ("a", "kind: Service\n---\nkind: Deployment\n"),
                ("_p", "kind: Secret\n"),
                ("c", "# only a comment\n"),
            ])
            .unwrap(),
            "a:Service a:Deployment b:Deployment c: b:Apple b:Zebra | "
        );
    }

    #[test]
    fn hooks_are_told_by_their_annotations() {
        let hook = |kind: &str, events: &str| {
            format!(
                "kind: {kind}\nmetadata: {{name: x, annotations: {{helm.sh/hook: '{events}', helm.sh/hook-weight: -5}}}}"
            )
        };
        assert_eq!(
            sorted(&[
                ("a", &hook("Job", "pre-install, Post-Upgrade")),
                ("b", &hook("ConfigMap", "test-success")),
                ("c", &hook("Job", "crd-install")),
            ])
            .unwrap(),
            " | ConfigMap:x:test:-5 Job:x:pre-install+post-upgrade:-5"
        );
    }

    #[test]
    fn what_is_no_object_is_told_in_gos_words() {
        assert_eq!(
            sorted(&[("t", "metadata: 1")]).unwrap_err().to_string(),
            "YAML parse error on t: error unmarshaling JSON: while decoding JSON: json: cannot unmarshal number into \
             Go struct field SimpleHead.metadata of type struct { Name string \"json:\\\"name\\\"\"; Annotations \
             map[string]string \"json:\\\"annotations\\\"\" }"
        );
    }
}
