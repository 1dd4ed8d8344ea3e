//! A version of a kind that the cluster does not serve, or no longer.

use std::collections::{BTreeMap, HashMap};

use lynceus_api::ResultCode;
use lynceus_object::{FieldPath, GroupKind, ObjectKey, Str, Value, join_api_version, split_api_version};

use crate::case::{App, Case};
use crate::finding::{Evidence, Finding, Findings};
use crate::fix::{Fix, Place, Risk};
use crate::limits;
use crate::links::kind::{self, DEFINITION, DEFINITIONS};
use crate::node::Node;
use crate::rules::Rule;
use crate::words;

pub(super) const RULE: Rule = Rule {
    code: "LYN0206",
    title: "The cluster does not serve this version of the kind",
    explanation: "\
An object names an API version that the cluster does not serve, while it serves the kind in another. Kubernetes removes old
versions with its releases, and operators with theirs.

## Why
The cluster or the operator was upgraded and the manifests were not; or a chart chose the version for another cluster.

## Example
```
no matches for kind \"PodDisruptionBudget\" in version \"policy/v1beta1\"
```

## What to do
Set apiVersion to one that is served, and look whether fields were renamed between the two.
",
    check,
};

/// Versions that Kubernetes has removed: group and version, kinds (none for all), the minor release that went without, and what
/// took its place.
const REMOVED: &[(&str, &[&str], u32, &str)] = &[
    ("extensions/v1beta1", &["Ingress"], 22, "networking.k8s.io/v1"),
    ("extensions/v1beta1", &["NetworkPolicy"], 16, "networking.k8s.io/v1"),
    ("extensions/v1beta1", &["Deployment", "DaemonSet", "ReplicaSet"], 16, "apps/v1"),
    ("extensions/v1beta1", &["PodSecurityPolicy"], 16, ""),
    ("apps/v1beta1", &[], 16, "apps/v1"),
    ("apps/v1beta2", &[], 16, "apps/v1"),
    ("networking.k8s.io/v1beta1", &["Ingress", "IngressClass"], 22, "networking.k8s.io/v1"),
    ("rbac.authorization.k8s.io/v1alpha1", &[], 22, "rbac.authorization.k8s.io/v1"),
    ("rbac.authorization.k8s.io/v1beta1", &[], 22, "rbac.authorization.k8s.io/v1"),
    ("apiextensions.k8s.io/v1beta1", &[], 22, "apiextensions.k8s.io/v1"),
    (
        "admissionregistration.k8s.io/v1beta1",
        &["MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"],
        22,
        "admissionregistration.k8s.io/v1",
    ),
    ("apiregistration.k8s.io/v1beta1", &["APIService"], 22, "apiregistration.k8s.io/v1"),
    ("certificates.k8s.io/v1beta1", &["CertificateSigningRequest"], 22, "certificates.k8s.io/v1"),
    ("coordination.k8s.io/v1beta1", &["Lease"], 22, "coordination.k8s.io/v1"),
    ("scheduling.k8s.io/v1beta1", &["PriorityClass"], 22, "scheduling.k8s.io/v1"),
    (
        "storage.k8s.io/v1beta1",
        &["CSIDriver", "CSINode", "StorageClass", "VolumeAttachment"],
        22,
        "storage.k8s.io/v1",
    ),
    ("storage.k8s.io/v1beta1", &["CSIStorageCapacity"], 27, "storage.k8s.io/v1"),
    ("batch/v1beta1", &["CronJob"], 25, "batch/v1"),
    ("discovery.k8s.io/v1beta1", &["EndpointSlice"], 25, "discovery.k8s.io/v1"),
    ("autoscaling/v2beta1", &["HorizontalPodAutoscaler"], 25, "autoscaling/v2"),
    ("autoscaling/v2beta2", &["HorizontalPodAutoscaler"], 26, "autoscaling/v2"),
    ("policy/v1beta1", &["PodDisruptionBudget"], 25, "policy/v1"),
    ("policy/v1beta1", &["PodSecurityPolicy"], 25, ""),
    ("node.k8s.io/v1beta1", &["RuntimeClass"], 25, "node.k8s.io/v1"),
    ("flowcontrol.apiserver.k8s.io/v1beta1", &[], 26, "flowcontrol.apiserver.k8s.io/v1"),
    ("flowcontrol.apiserver.k8s.io/v1beta2", &[], 29, "flowcontrol.apiserver.k8s.io/v1"),
    ("flowcontrol.apiserver.k8s.io/v1beta3", &[], 32, "flowcontrol.apiserver.k8s.io/v1"),
];

/// Whether a kind is one that Kubernetes once had under this group, and has elsewhere or not at all now.
pub(super) fn is_removed(kind: &GroupKind) -> bool {
    REMOVED.iter().any(|(version, kinds, ..)| {
        split_api_version(version).0 == kind.group && kinds.contains(&kind.kind.as_str())
    })
}

/// Something that names a version which is not served.
struct Use<'c, 'a> {
    app: &'c App<'a>,
    key: ObjectKey,
    told: Option<&'a str>,
}

/// By application, kind and version, with what is served instead.
type Uses<'c, 'a> = BTreeMap<(Str, GroupKind, Str), (String, Vec<Use<'c, 'a>>)>;

fn check(case: &Case<'_>, findings: &mut Findings) {
    let served = Served::new(case);
    for app in case.apps() {
        let mut uses: Uses<'_, '_> = BTreeMap::new();
        for one in app.wanted() {
            let (key, version) = (one.object.key(), split_api_version(one.object.api_version()).1);
            if let Some(instead) = served.instead(app.server(), &key.group_kind(), version, false) {
                note(&mut uses, version, instead, Use { app, key, told: None });
            }
        }
        for (key, version, text) in refused(app) {
            if let Some(instead) = served.instead(app.server(), &key.group_kind(), &version, true) {
                note(&mut uses, &version, instead, Use { app, key, told: Some(text) });
            }
        }
        uses.into_iter().for_each(|((_, kind, version), (instead, uses))| {
            findings.add(found(case, &kind, &version, &instead, &uses));
        });
    }
}

/// What a sync could not apply because the server did not know it: the object, its version, and what was said.
fn refused<'a>(app: &App<'a>) -> Vec<(ObjectKey, Str, &'a str)> {
    let result = app.operation().and_then(|state| state.sync_result.as_ref());
    let failed = result.into_iter().flat_map(|result| &result.resources);
    let failed = failed.filter(|one| one.status == ResultCode::SyncFailed);
    failed
        .filter_map(|one| {
            let (group, kind) = (one.group.clone(), one.kind.clone());
            let key = ObjectKey::new(group, kind, one.namespace.clone(), one.name.clone());
            let (_, version) = kind::told(&one.message, Some(&key))
                .into_iter()
                .find(|(kind, _)| *kind == key.group_kind())?;
            Some((key, version.unwrap_or_else(|| one.version.clone()), one.message.as_str()))
        })
        .collect()
}

fn note<'c, 'a>(uses: &mut Uses<'c, 'a>, version: &str, instead: String, one: Use<'c, 'a>) {
    let name = (one.app.name.name.clone(), one.key.group_kind(), Str::from(version));
    let uses = &mut uses.entry(name).or_insert_with(|| (instead, Vec::new())).1;
    match uses.iter_mut().find(|known| known.key == one.key) {
        Some(known) => known.told = known.told.or(one.told),
        None => uses.push(one),
    }
}

/// Which versions clusters serve, as far as that can be told.
struct Served<'a> {
    custom: HashMap<(&'a str, GroupKind), Vec<&'a str>>,
    minor: HashMap<&'a str, u32>,
}

impl<'a> Served<'a> {
    fn new(case: &Case<'a>) -> Self {
        let mut served = Served { custom: HashMap::new(), minor: HashMap::new() };
        for server in case.servers() {
            for definition in case.of_kind(server, DEFINITIONS, DEFINITION) {
                let versions = definition.value().items_at(&["spec", "versions"]).iter();
                let versions: Vec<&str> = versions
                    .filter(|one| one.bool_at(&["served"]) == Some(true))
                    .filter_map(|one| one.str_at(&["name"]))
                    .collect();
                if let Some(kind) = kind::defined(definition).filter(|_| !versions.is_empty()) {
                    served.custom.insert((server, kind), versions);
                }
            }
            let version = case.cluster(server).map(|view| view.version.as_str()).unwrap_or_default();
            served.minor.extend(minor(version).map(|minor| (server, minor)));
        }
        served
    }

    /// What is served in place of a version that is not; empty if nothing is. `told` if the server itself says that it is not.
    fn instead(&self, server: &str, kind: &GroupKind, version: &str, told: bool) -> Option<String> {
        if let Some(versions) = self.custom.get(&(server, kind.clone())) {
            let newest = versions.last()?;
            return (!versions.contains(&version)).then(|| join_api_version(&kind.group, newest).to_string());
        }
        let api = join_api_version(&kind.group, version);
        let is_old = |minor: u32| told || self.minor.get(server).is_some_and(|now| *now >= minor);
        let removed = REMOVED.iter().find(|(version, kinds, minor, _)| {
            *version == api && (kinds.is_empty() || kinds.contains(&kind.kind.as_str())) && is_old(*minor)
        });
        removed.map(|(.., instead)| (*instead).to_owned())
    }
}

/// The minor release in `v1.36.3`.
fn minor(version: &str) -> Option<u32> {
    let rest = version.trim_start_matches('v').strip_prefix("1.")?;
    rest.split(|sign: char| !sign.is_ascii_digit()).next()?.parse().ok()
}

fn found(case: &Case<'_>, kind: &GroupKind, version: &str, instead: &str, uses: &[Use<'_, '_>]) -> Finding {
    let app = uses[0].app;
    let old = join_api_version(&kind.group, version);
    let shares = |one: &Use<'_, '_>| uses.iter().filter(|other| other.key.name == one.key.name).count() > 1;
    let names = words::list(uses.iter().map(|one| match shares(one) {
        true => format!("{} {}/{}", kind.kind, one.key.namespace, one.key.name),
        false => format!("{} {}", kind.kind, one.key.name),
    }));
    let verb = if uses.len() == 1 { "asks" } else { "ask" };
    let serves = match instead {
        "" => "no longer has".to_owned(),
        instead => format!("does not serve; it serves {instead}"),
    };
    let cause = format!("{names} {verb} for {old}, which the cluster {serves}");
    let evidence = uses.iter().flat_map(|one| {
        let file = app.wants(&one.key).and_then(|wanted| app.file(wanted, format!("apiVersion: {old}")));
        file.into_iter().chain(one.told.map(|text| app.status(text)))
    });
    let nodes = uses.iter().map(|one| case.node(app.server(), &one.key));
    Finding::new(RULE.code, Node::object(app.server(), uses[0].key.clone()), cause)
        .of(Some(app.name.clone()))
        .seen(evidence.take(limits::NAMED).collect::<Vec<Evidence>>())
        .affects(nodes.chain([app.node()]))
        .fix([fix(app, instead, uses)])
}

fn fix(app: &App<'_>, instead: &str, uses: &[Use<'_, '_>]) -> Fix {
    if instead.is_empty() {
        let fix = Fix::new("Remove what the cluster no longer has")
            .risk(Risk::Medium, "what the objects did is done by nothing else");
        return uses
            .iter()
            .fold(fix, |fix, one| fix.git(&app.name, Place::Remove { object: one.key.clone() }));
    }
    let fix = Fix::new(format!("Set apiVersion to {instead}"))
        .risk(Risk::Low, "the objects as they are; fields may have been renamed between the versions")
        .verify(format!("lynceus app diff {}", app.name));
    uses.iter().fold(fix, |fix, one| {
        let path = FieldPath::fields(["apiVersion"]);
        fix.git(&app.name, Place::Field { object: one.key.clone(), path, value: Some(Value::from(instead)) })
    })
}

#[cfg(test)]
mod tests {
    use crate::tests::check;

    const CUSTOM: &str = "
@app shop OutOfSync Missing
apiVersion: example.org/v1alpha1
kind: Gadget
metadata: {name: a, namespace: shop}
@live
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: gadgets.example.org}
spec:
  group: example.org
  names: {kind: Gadget}
  versions: [{name: v1alpha1, served: false}, {name: v1, served: true}]
";

    #[test]
    fn a_version_that_a_definition_does_not_serve_is_found() {
        assert_eq!(
            check("LYN0206", CUSTOM),
            "P1 LYN0206/shop/Gadget/a: Gadget a asks for example.org/v1alpha1, which the cluster does not serve; it serves \
             example.org/v1\n  shop.yaml:1: apiVersion: example.org/v1alpha1\n  fix: Set apiVersion to example.org/v1\n"
        );
    }

    #[test]
    fn a_version_that_the_server_says_it_does_not_know_is_found() {
        let text = "
@app shop OutOfSync Missing
@unrendered
@status {operationState: {phase: Failed, operation: {}, startedAt: '2026-01-01T10:00:00Z', syncResult: {revision: a, resources: [{group: policy, version: v1beta1, kind: PodDisruptionBudget, namespace: shop, name: a, status: SyncFailed, message: 'no matches for kind \"PodDisruptionBudget\" in version \"policy/v1beta1\"'}]}}}
";
        assert!(check("LYN0206", text).contains("which the cluster does not serve; it serves policy/v1\n"));
        assert_eq!(check("LYN0201", text), "");
    }

    #[test]
    fn an_object_that_is_wanted_and_refused_is_named_once_and_namesakes_with_their_namespaces() {
        let status = "@status {operationState: {phase: Failed, operation: {}, startedAt: '2026-01-01T10:00:00Z', syncResult: {revision: a, \
                      resources: [{group: example.org, version: v1alpha1, kind: Gadget, namespace: shop, name: a, status: SyncFailed, \
                      message: 'no matches for kind \"Gadget\" in version \"example.org/v1alpha1\"'}]}}}\n";
        let text = CUSTOM.replace("Missing\n", &format!("Missing\n{status}"));
        assert!(check("LYN0206", &text).contains(": Gadget a asks for example.org/v1alpha1"));
        let two = text.replace(
            "@live",
            "---\napiVersion: example.org/v1alpha1\nkind: Gadget\nmetadata: {name: a, namespace: core}\n@live",
        );
        assert!(
            check("LYN0206", &two).contains(": Gadget shop/a and Gadget core/a ask for example.org/v1alpha1")
        );
    }

    #[test]
    fn versions_that_are_served_are_not() {
        assert_eq!(check("LYN0206", &CUSTOM.replace("example.org/v1alpha1", "example.org/v1")), "");
        let young = "@app shop Synced Healthy\napiVersion: policy/v1beta1\nkind: PodDisruptionBudget\nmetadata: {name: a, namespace: shop}\n";
        assert_eq!(check("LYN0206", young), "");
    }
}
