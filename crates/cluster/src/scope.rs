//! Which kinds are watched: `resource.exclusions` and `resource.inclusions`.

use std::collections::BTreeMap;

use lynceus_api::Glob;
use lynceus_object::{GroupKind, Str, Value, yaml};

/// What Argo CD never watches, whatever is set.
const ALWAYS: &str = "
- {apiGroups: [events.k8s.io, metrics.k8s.io]}
- {apiGroups: [''], kinds: [Event]}
- {apiGroups: [coordination.k8s.io], kinds: [Lease]}
";

/// What Argo CD installs as `resource.exclusions`: kinds that change all the time and that nobody delivers from Git.
const INSTALLED: &str = "
- {apiGroups: ['', discovery.k8s.io], kinds: [Endpoints, EndpointSlice]}
- apiGroups: [authentication.k8s.io, authorization.k8s.io]
  kinds:
  - SelfSubjectReview
  - TokenReview
  - LocalSubjectAccessReview
  - SelfSubjectAccessReview
  - SelfSubjectRulesReview
  - SubjectAccessReview
- {apiGroups: [certificates.k8s.io], kinds: [CertificateSigningRequest]}
- {apiGroups: [cert-manager.io], kinds: [CertificateRequest]}
- {apiGroups: [cilium.io], kinds: [CiliumIdentity, CiliumEndpoint, CiliumEndpointSlice]}
- apiGroups: [kyverno.io, reports.kyverno.io, wgpolicyk8s.io]
  kinds:
  - PolicyReport
  - ClusterPolicyReport
  - EphemeralReport
  - ClusterEphemeralReport
  - AdmissionReport
  - ClusterAdmissionReport
  - BackgroundScanReport
  - ClusterBackgroundScanReport
  - UpdateRequest
";

/// The kinds that are looked at, by what the operator excluded and included.
#[derive(Clone, Debug)]
pub struct Scope {
    exclusions: Vec<Filter>,
    inclusions: Vec<Filter>,
}

/// A setting that cannot be followed as it is written; the rest of it is.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("argocd-cm has {setting} that cannot be read: {reason}")]
pub struct ScopeError {
    /// `resource.exclusions` or `resource.inclusions`.
    pub setting: &'static str,
    /// What is wrong with it.
    pub reason: String,
}

impl Default for Scope {
    fn default() -> Self {
        Scope::read(None, None).0
    }
}

impl PartialEq for Scope {
    fn eq(&self, other: &Self) -> bool {
        let text = |scope: &Scope| {
            let texts =
                |filters: &[Filter]| filters.iter().map(|filter| filter.text.clone()).collect::<Vec<_>>();
            (texts(&scope.exclusions), texts(&scope.inclusions))
        };
        text(self) == text(other)
    }
}

impl Scope {
    /// Reads the two settings. Without exclusions those that Argo CD installs hold; without inclusions everything is
    /// included.
    pub fn read(exclusions: Option<&str>, inclusions: Option<&str>) -> (Self, Vec<ScopeError>) {
        let mut errors = Vec::new();
        let mut excluded = filters("resource.exclusions", ALWAYS, &mut errors);
        excluded.extend(filters("resource.exclusions", exclusions.unwrap_or(INSTALLED), &mut errors));
        let included = filters("resource.inclusions", inclusions.unwrap_or_default(), &mut errors);
        (Scope { exclusions: excluded, inclusions: included }, errors)
    }

    /// Whether a kind is left out of the cluster that has this address.
    pub fn excludes(&self, kind: &GroupKind, server: &str) -> bool {
        let any = |filters: &[Filter]| filters.iter().any(|filter| filter.matches(kind, server));
        if any(&self.exclusions) {
            return true;
        }
        // An inclusion for a cluster shuts out all that none includes there; other clusters do not notice.
        !any(&self.inclusions) && self.inclusions.iter().any(|filter| filter.concerns(server))
    }
}

/// One item of either list. An empty field matches everything.
#[derive(Clone, Debug)]
struct Filter {
    groups: Vec<Glob>,
    kinds: Vec<Str>,
    clusters: Vec<Glob>,
    /// What it was read from, to compare by.
    text: BTreeMap<&'static str, Vec<Str>>,
}

impl Filter {
    fn matches(&self, kind: &GroupKind, server: &str) -> bool {
        let group = self.groups.is_empty() || self.groups.iter().any(|glob| glob.matches(&kind.group));
        let name = self.kinds.is_empty() || self.kinds.iter().any(|name| name == "*" || *name == kind.kind);
        group && name && self.concerns(server)
    }

    fn concerns(&self, server: &str) -> bool {
        self.clusters.is_empty() || self.clusters.iter().any(|glob| glob.matches(server))
    }
}

fn filters(setting: &'static str, text: &str, errors: &mut Vec<ScopeError>) -> Vec<Filter> {
    let mut failed = |reason: String| errors.push(ScopeError { setting, reason });
    let list = match yaml::parse_str(text) {
        Ok(Value::Null) => return Vec::new(),
        Ok(list) => list,
        Err(error) => {
            failed(error.to_string());
            return Vec::new();
        }
    };
    let Some(items) = list.as_seq() else {
        failed(format!("it is {} and not a list", list.type_name()));
        return Vec::new();
    };
    let mut filters = Vec::with_capacity(items.len());
    for item in items {
        match filter(item) {
            Ok(filter) => filters.push(filter),
            Err(reason) => failed(reason),
        }
    }
    filters
}

fn filter(item: &Value) -> Result<Filter, String> {
    let Some(fields) = item.as_map() else {
        return Err(format!("an item is {} and not a map", item.type_name()));
    };
    let mut text = BTreeMap::new();
    for name in ["apiGroups", "kinds", "clusters"] {
        let value = fields.get(name).cloned().unwrap_or_default();
        let Some(words) = words(&value) else { return Err(format!("{name} is not a list of texts")) };
        text.insert(name, words);
    }
    // An item that matches everything by mistake would make every object seem gone.
    if let Some(other) = fields.keys().find(|key| !text.contains_key(key.as_str())) {
        return Err(format!("an item has the field {other:?}; it may have apiGroups, kinds and clusters"));
    }
    let globs = |name| -> Result<Vec<Glob>, String> {
        text.get(name)
            .into_iter()
            .flatten()
            .map(|word| Glob::new(word).map_err(|error| error.to_string()))
            .collect()
    };
    Ok(Filter {
        groups: globs("apiGroups")?,
        clusters: globs("clusters")?,
        kinds: text.get("kinds").cloned().unwrap_or_default(),
        text,
    })
}

fn words(value: &Value) -> Option<Vec<Str>> {
    match value {
        Value::Null => Some(Vec::new()),
        other => other.as_seq()?.iter().map(|item| item.as_str().map(Str::from)).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SERVER: &str = "https://kubernetes.default.svc";

    fn excluded(scope: &Scope, kinds: &[(&str, &str)]) -> Vec<bool> {
        kinds.iter().map(|(group, kind)| scope.excludes(&GroupKind::new(*group, *kind), SERVER)).collect()
    }

    #[test]
    fn without_settings_what_argo_cd_installs_holds() {
        let kinds = [
            ("", "Endpoints"),
            ("", "Event"),
            ("metrics.k8s.io", "PodMetrics"),
            ("coordination.k8s.io", "Lease"),
            ("cert-manager.io", "CertificateRequest"),
            ("cert-manager.io", "Certificate"),
            ("", "Pod"),
        ];
        assert_eq!(excluded(&Scope::default(), &kinds), [true, true, true, true, true, false, false]);
    }

    #[test]
    fn own_exclusions_take_the_place_of_the_installed_ones_but_for_what_is_never_watched() {
        let (scope, errors) = Scope::read(Some("- {apiGroups: ['*.example.com'], kinds: ['*']}"), None);
        assert_eq!(errors, []);
        let kinds = [("", "Endpoints"), ("", "Event"), ("a.example.com", "Any"), ("example.com", "Any")];
        assert_eq!(excluded(&scope, &kinds), [false, true, true, false]);
    }

    #[test]
    fn a_kind_is_matched_whole_and_a_group_by_pattern() {
        let (scope, _) = Scope::read(Some("- {apiGroups: ['ap*'], kinds: ['Dep*', Job]}"), None);
        assert_eq!(excluded(&scope, &[("apps", "Deployment"), ("apps", "Job")]), [false, true]);
    }

    #[test]
    fn inclusions_shut_out_everything_else_on_their_clusters_and_exclusions_win() {
        let (scope, _) = Scope::read(
            Some("- {apiGroups: [apps], kinds: [ReplicaSet]}"),
            Some("- {apiGroups: [apps], clusters: ['https://kubernetes.*']}"),
        );
        let kinds = [("apps", "Deployment"), ("apps", "ReplicaSet"), ("", "Pod")];
        assert_eq!(excluded(&scope, &kinds), [false, true, true]);
        assert!(!scope.excludes(&GroupKind::new("", "Pod"), "https://other"));
    }

    #[test]
    fn an_item_that_cannot_be_read_loses_that_item_only() {
        let (scope, errors) = Scope::read(Some("- {apigroups: [apps]}\n- {kinds: [Pod]}\n- 1"), None);
        let texts: Vec<String> = errors.iter().map(ToString::to_string).collect();
        assert_eq!(
            texts,
            [
                "argocd-cm has resource.exclusions that cannot be read: an item has the field \"apigroups\"; \
                 it may have apiGroups, kinds and clusters",
                "argocd-cm has resource.exclusions that cannot be read: an item is integer and not a map",
            ]
        );
        assert_eq!(excluded(&scope, &[("", "Pod"), ("apps", "Deployment")]), [true, false]);
    }

    #[test]
    fn scopes_are_equal_when_they_say_the_same() {
        let read = |text| Scope::read(Some(text), None).0;
        assert_eq!(read("- {kinds: [Pod]}"), read("- kinds:\n  - Pod\n"));
        assert_ne!(read("- {kinds: [Pod]}"), read("- {kinds: [Job]}"));
    }
}
