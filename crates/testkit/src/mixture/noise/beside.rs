//! What stands beside workloads in any namespace, and says nothing.

use crate::mixture::scene::Scene;

/// Objects that go with a workload of this name, or none.
pub(in crate::mixture) fn company(scene: &mut Scene, work: &str) -> Vec<String> {
    let makes: [fn(&str) -> String; 7] =
        [quota, limits, network_policy, disruption_budget, role, priority, monitor];
    let makes = makes.into_iter().filter(|_| scene.random.below(5) == 0);
    makes.map(|make| make(work)).collect()
}

fn quota(work: &str) -> String {
    format!(
        "apiVersion: v1\nkind: ResourceQuota\nmetadata: {{name: {work}-usual}}\nspec: {{hard: {{pods: \"200\", count/secrets: \"100\"}}}}\n"
    )
}

fn limits(work: &str) -> String {
    format!(
        "apiVersion: v1\nkind: LimitRange\nmetadata: {{name: {work}-usual}}\nspec: {{limits: [{{type: Container, defaultRequest: {{cpu: 10m, \
         memory: 16Mi}}}}]}}\n"
    )
}

fn network_policy(work: &str) -> String {
    format!(
        "apiVersion: networking.k8s.io/v1\nkind: NetworkPolicy\nmetadata: {{name: {work}-usual}}\nspec: {{podSelector: {{matchLabels: {{app: \
         {work}}}}}, policyTypes: [Ingress], ingress: [{{from: [{{podSelector: {{matchLabels: {{role: entry}}}}}}]}}]}}\n"
    )
}

fn disruption_budget(work: &str) -> String {
    format!(
        "apiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {{name: {work}-usual}}\nspec: {{minAvailable: 1, selector: {{matchLabels: \
         {{app: {work}}}}}}}\n"
    )
}

fn role(work: &str) -> String {
    format!(
        "apiVersion: rbac.authorization.k8s.io/v1\nkind: Role\nmetadata: {{name: {work}-usual}}\nrules: [{{apiGroups: [''], resources: \
         [configmaps], verbs: [get]}}]\n---\napiVersion: rbac.authorization.k8s.io/v1\nkind: RoleBinding\nmetadata: {{name: {work}-usual}}\nroleRef: \
         {{apiGroup: rbac.authorization.k8s.io, kind: Role, name: {work}-usual}}\nsubjects: [{{kind: ServiceAccount, name: default}}]\n"
    )
}

fn priority(work: &str) -> String {
    format!(
        "apiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\nmetadata: {{name: {work}-usual}}\nvalue: 1000\ndescription: For {work}.\n"
    )
}

/// A service that nothing asks, whose pods are elsewhere.
fn monitor(work: &str) -> String {
    format!(
        "apiVersion: v1\nkind: Service\nmetadata: {{name: {work}-outside}}\nspec: {{type: ExternalName, externalName: {work}.example.com}}\n"
    )
}
