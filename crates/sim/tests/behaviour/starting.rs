//! What keeps containers from being made.

use super::cluster::Cluster;

#[tokio::test]
async fn a_container_that_cannot_be_made_as_it_says_waits_and_says_why() {
    let root = "container's runAsUser breaks non-root policy (pod: \"p_default(UID)\", container: c)";
    let mount = |path: &str, env: &str| {
        format!(
            "volumes: [{{name: v, emptyDir: {{}}}}], containers: [{{name: c, image: app, env: [{env}], \
             volumeMounts: [{{name: v, mountPath: /v, subPathExpr: {path}}}]}}]"
        )
    };
    let name = "{name: NAME, valueFrom: {fieldRef: {fieldPath: metadata.name}}}";
    for (spec, wanted) in [
        ("securityContext: {runAsNonRoot: true, runAsUser: 0}, containers: [{name: c, image: app}]".to_owned(), root),
        ("securityContext: {runAsNonRoot: true}, containers: [{name: c, image: app, securityContext: {runAsUser: 0}}]".to_owned(), root),
        ("securityContext: {runAsNonRoot: true, runAsUser: 0}, containers: [{name: c, image: app, securityContext: {runAsUser: 7}}]".to_owned(), ""),
        ("securityContext: {runAsNonRoot: true}, containers: [{name: c, image: app}]".to_owned(), ""),
        (mount("$(NAME)/$(WHERE)", name), "missing value for WHERE"),
        (mount("$(NAME)/$$(WHERE)", name), ""),
        (mount("$(B)-$(A)", ""), "missing value for A, B"),
        (mount("$(A)", "{name: A, value: ''}"), "missing value for A"),
        (mount("$(A)", "{name: A, valueFrom: {fieldRef: {fieldPath: \"metadata.labels['app']\"}}}"), "missing value for A"),
    ] {
        let cluster = Cluster::start().await;
        cluster.apply(&format!("apiVersion: v1\nkind: Pod\nmetadata: {{name: p}}\nspec: {{{spec}}}\n")).await;
        cluster.pass(5).await;
        let pod = cluster.get("pods", "p");
        let waiting = &pod.value().items_at(&["status", "containerStatuses"])[0];
        let text = |field: &str| waiting.str_at(&["state", "waiting", field]).unwrap_or_default();
        let reason = if wanted.is_empty() { "" } else { "CreateContainerConfigError" };
        let message = text("message").replace(pod.uid(), "UID");
        assert_eq!((text("reason"), message.as_str()), (reason, wanted), "{spec}");
        let told: Vec<String> =
            cluster.told("p", "Failed").iter().map(|line| line.replace(pod.uid(), "UID")).collect();
        let events = if wanted.is_empty() { Vec::new() } else { vec![format!("Error: {wanted}")] };
        assert_eq!(told, events, "{spec}");
    }
}
