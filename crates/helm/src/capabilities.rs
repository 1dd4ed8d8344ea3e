//! What a chart may know about the cluster and about Helm.

use std::sync::Arc;

use crate::go::text;

/// What the cluster can do, as `.Capabilities` shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Capabilities {
    /// The version of Kubernetes.
    pub kube_version: KubeVersion,
    /// The API versions that the cluster serves, and kinds as `group/version/Kind` where they are known.
    pub api_versions: Arc<[String]>,
    /// What Helm says about itself.
    pub helm_version: HelmVersion,
}

/// A version of Kubernetes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KubeVersion {
    /// The version as it was given, with a `v`.
    pub version: String,
    /// The version without anything after the numbers, which ranges are compared with.
    pub normalized: String,
    /// The first number.
    pub major: String,
    /// The second number.
    pub minor: String,
}

/// What Helm says about itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HelmVersion {
    /// Its version.
    pub version: String,
    /// The commit that it was built from.
    pub git_commit: String,
    /// Whether that commit was all that it was built from.
    pub git_tree_state: String,
    /// The Go that it was built with.
    pub go_version: String,
    /// The Kubernetes that its client knows.
    pub kube_client_version: String,
}

/// The API versions that Helm takes for granted when it has no cluster, in its order.
const API_VERSIONS: [&str; 55] = [
    "v1",
    "admissionregistration.k8s.io/v1",
    "admissionregistration.k8s.io/v1alpha1",
    "admissionregistration.k8s.io/v1beta1",
    "internal.apiserver.k8s.io/v1alpha1",
    "apps/v1",
    "apps/v1beta1",
    "apps/v1beta2",
    "authentication.k8s.io/v1",
    "authentication.k8s.io/v1alpha1",
    "authentication.k8s.io/v1beta1",
    "authorization.k8s.io/v1",
    "authorization.k8s.io/v1beta1",
    "autoscaling/v1",
    "autoscaling/v2",
    "batch/v1",
    "batch/v1beta1",
    "certificates.k8s.io/v1",
    "certificates.k8s.io/v1beta1",
    "certificates.k8s.io/v1alpha1",
    "coordination.k8s.io/v1alpha2",
    "coordination.k8s.io/v1beta1",
    "coordination.k8s.io/v1",
    "discovery.k8s.io/v1",
    "discovery.k8s.io/v1beta1",
    "events.k8s.io/v1",
    "events.k8s.io/v1beta1",
    "extensions/v1beta1",
    "flowcontrol.apiserver.k8s.io/v1",
    "flowcontrol.apiserver.k8s.io/v1beta1",
    "flowcontrol.apiserver.k8s.io/v1beta2",
    "flowcontrol.apiserver.k8s.io/v1beta3",
    "networking.k8s.io/v1",
    "networking.k8s.io/v1beta1",
    "node.k8s.io/v1",
    "node.k8s.io/v1alpha1",
    "node.k8s.io/v1beta1",
    "policy/v1",
    "policy/v1beta1",
    "rbac.authorization.k8s.io/v1",
    "rbac.authorization.k8s.io/v1beta1",
    "rbac.authorization.k8s.io/v1alpha1",
    "resource.k8s.io/v1",
    "resource.k8s.io/v1beta2",
    "resource.k8s.io/v1beta1",
    "resource.k8s.io/v1alpha3",
    "scheduling.k8s.io/v1alpha2",
    "scheduling.k8s.io/v1beta1",
    "scheduling.k8s.io/v1",
    "storage.k8s.io/v1beta1",
    "storage.k8s.io/v1",
    "storage.k8s.io/v1alpha1",
    "storagemigration.k8s.io/v1beta1",
    "apiextensions.k8s.io/v1beta1",
    "apiextensions.k8s.io/v1",
];

/// What Helm 4.2.4 shows without a cluster.
impl Default for Capabilities {
    fn default() -> Self {
        Capabilities {
            kube_version: KubeVersion {
                version: "v1.36.0".to_owned(),
                normalized: "v1.36.0".to_owned(),
                major: "1".to_owned(),
                minor: "36".to_owned(),
            },
            api_versions: API_VERSIONS.iter().map(|version| (*version).to_owned()).collect(),
            helm_version: HelmVersion {
                version: "v4.2.4".to_owned(),
                git_commit: String::new(),
                git_tree_state: String::new(),
                go_version: "go1.26.8".to_owned(),
                kube_client_version: "v1.36".to_owned(),
            },
        }
    }
}

impl Capabilities {
    /// The default with another version of Kubernetes and further API versions, as the flags of Helm have it.
    #[must_use]
    pub fn with(mut self, kube_version: Option<KubeVersion>, api_versions: &[String]) -> Self {
        if let Some(version) = kube_version {
            self.kube_version = version;
        }
        if !api_versions.is_empty() {
            self.api_versions = self.api_versions.iter().chain(api_versions).cloned().collect();
        }
        self
    }
}

impl KubeVersion {
    /// Reads a version: at least two numbers, with anything after them.
    pub fn parse(given: &str) -> Result<Self, String> {
        let start = given.trim_start_matches(|char: char| char.is_ascii_whitespace());
        let start = start.strip_prefix('v').unwrap_or(start);
        let numbers = numbers(start);
        if numbers.is_empty() {
            return Err(format!("could not parse {} as version", text::quote(given)));
        }
        if numbers.len() < 2 {
            return Err(format!("illegal version string {}", text::quote(given)));
        }
        if numbers[0].starts_with('0') && numbers[0] != "0" {
            let (number, given) = (text::quote(numbers[0]), text::quote(given));
            return Err(format!("illegal zero-prefixed version component {number} in {given}"));
        }
        let mut parsed: Vec<u64> = Vec::new();
        for number in numbers {
            parsed.push(number.parse().map_err(|_| {
                let number = text::quote(number);
                format!(
                    "illegal non-numeric version component {number} in {}: strconv.ParseUint: parsing {number}: \
                     value out of range",
                    text::quote(given)
                )
            })?);
        }
        let texts: Vec<String> = parsed.iter().map(u64::to_string).collect();
        Ok(KubeVersion {
            version: if given.starts_with('v') { given.to_owned() } else { format!("v{given}") },
            normalized: format!("v{}", texts.join(".")),
            major: texts[0].clone(),
            minor: texts[1].clone(),
        })
    }
}

/// The numbers with dots between them that a text begins with.
fn numbers(text: &str) -> Vec<&str> {
    let mut numbers = Vec::new();
    let mut rest = text;
    loop {
        let len = rest.bytes().take_while(u8::is_ascii_digit).count();
        if len == 0 {
            return numbers;
        }
        numbers.push(&rest[..len]);
        match rest[len..].strip_prefix('.') {
            Some(after) => rest = after,
            None => return numbers,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_of_kubernetes_may_have_anything_after_its_numbers() {
        let version = KubeVersion::parse("1.33.4-gke.1245000").unwrap();
        assert_eq!(
            (version.version.as_str(), version.normalized.as_str()),
            ("v1.33.4-gke.1245000", "v1.33.4")
        );
        assert_eq!((version.major.as_str(), version.minor.as_str()), ("1", "33"));
        assert_eq!(KubeVersion::parse("v1.20+").unwrap().normalized, "v1.20");
        assert_eq!(KubeVersion::parse("1.20.").unwrap().normalized, "v1.20");
        assert_eq!(KubeVersion::parse("abc").unwrap_err(), "could not parse \"abc\" as version");
        assert_eq!(KubeVersion::parse("1").unwrap_err(), "illegal version string \"1\"");
    }
}
