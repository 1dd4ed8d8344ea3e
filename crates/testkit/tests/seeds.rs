//! Trouble that people had, each told from its cause to its end: what the cluster is like, what Git says, what the
//! application is told about it, and what mends it.
//!
//! Most of it is about images, programs and operators, which no real control plane of the rig has: these are about the
//! embedded cluster alone.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has to stop")]

use lynceus_api::Reason;
use lynceus_object::value;
use lynceus_sim::Stage;
use lynceus_testkit::fixture::{FINE, automated, deployment, once};
use lynceus_testkit::world::{Setting, World};

/// A world on a stage, with what was there before.
async fn on(stage: &str, given: &str) -> World {
    let text = format!("apiVersion: sim.lynceus.dev/v1alpha1\nkind: Stage\n{stage}");
    let stage = Some(Stage::read("stage.yaml", &text).unwrap());
    World::open(Setting { stage, given: given.into(), ..Setting::default() }).await
}

/// Why the application is as it is, a line for each reason.
fn told(world: &World) -> String {
    Reason::of(&world.application("shop").metadata).iter().map(ToString::to_string).collect()
}

/// Waits until the application is told all of this.
async fn until_told(world: &World, words: &[&str]) {
    world.until(&format!("{words:?}"), |world| words.iter().all(|word| told(world).contains(word))).await;
}

async fn until_fine(world: &World) {
    world.until("peace", |world| world.state("shop") == FINE && told(world).is_empty()).await;
}

/// A StatefulSet of one pod, with more in its pods.
fn vault(pod: &str) -> String {
    format!(
        "apiVersion: v1\nkind: Service\nmetadata: {{name: vault}}\nspec: {{selector: {{app: vault}}, ports: [{{port: \
         8200}}]}}\n---\napiVersion: apps/v1\nkind: StatefulSet\nmetadata: {{name: vault}}\nspec:\n  serviceName: vault\n  \
         selector: {{matchLabels: {{app: vault}}}}\n  template:\n    metadata: {{labels: {{app: vault}}}}\n    spec:\n      \
         containers: [{{name: vault, image: 'hashicorp/vault:1.20'}}]\n{pod}"
    )
}

/// A Deployment of one pod with an image.
fn web(image: &str, pod: &str) -> String {
    format!(
        "apiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: web}}\nspec:\n  selector: {{matchLabels: {{app: \
         web}}}}\n  template:\n    metadata: {{labels: {{app: web}}}}\n    spec:\n      containers: [{{name: web, image: \
         '{image}'}}]\n{pod}"
    )
}

/// A revision that the status of the StatefulSet names.
fn revision(world: &World, which: &str) -> Option<String> {
    let set = world.object("apps", "StatefulSet", "default", "vault")?;
    set.value().str_at(&["status", which]).map(ToOwned::to_owned)
}

#[tokio::test]
async fn vault_pods_are_unschedulable_for_a_missing_toleration() {
    let stage = "nodePools: [{name: dev, count: 2, taints: [{key: env, value: dev, effect: NoSchedule}]}]";
    let world = on(stage, "").await;
    world.commit(&[("app/vault.yaml", &vault(""))]);
    world.deliver("shop", "app", &automated()).await;
    until_told(&world, &["Pod vault-0", "2 node(s) had untolerated taint", "[Unschedulable]"]).await;
    let tolerating =
        vault("      tolerations: [{key: env, operator: Equal, value: dev, effect: NoSchedule}]\n");
    world.commit(&[("app/vault.yaml", &tolerating)]);
    // A StatefulSet does not replace a pod that was never ready: the one of the old revision has to be deleted by hand.
    world
        .until("the new revision", |world| {
            revision(world, "updateRevision") != revision(world, "currentRevision")
        })
        .await;
    world.delete("v1", "Pod", "default", "vault-0").await;
    until_fine(&world).await;
    world.end().await;
}

const DISKS: &str = "
apiVersion: storage.k8s.io/v1
kind: CSIDriver
metadata: {name: disk.example.org}
---
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: disks}
provisioner: disk.example.org
volumeBindingMode: WaitForFirstConsumer
";

fn database(replicas: usize) -> String {
    format!(
        "apiVersion: apps/v1\nkind: StatefulSet\nmetadata: {{name: db}}\nspec:\n  serviceName: db\n  replicas: {replicas}\n  \
         selector: {{matchLabels: {{app: db}}}}\n  template:\n    metadata: {{labels: {{app: db}}}}\n    spec:\n      \
         containers: [{{name: db, image: example/db}}]\n  volumeClaimTemplates:\n  - metadata: {{name: data}}\n    spec: \
         {{storageClassName: disks, accessModes: [ReadWriteOnce], resources: {{requests: {{storage: 1Gi}}}}}}\n"
    )
}

#[tokio::test]
async fn a_node_is_at_its_volume_limit() {
    let world = on("nodePools: [{name: dev, volumeLimit: 2}]", DISKS).await;
    world.commit(&[("app/db.yaml", &database(3))]);
    world.deliver("shop", "app", &automated()).await;
    until_told(&world, &["Pod db-2", "1 node(s) exceed max volume count", "[Unschedulable]"]).await;
    world.commit(&[("app/db.yaml", &database(2))]);
    until_fine(&world).await;
    world.end().await;
}

#[tokio::test]
async fn a_claim_is_pending_until_its_pod_is_scheduled() {
    let stage = "storage: [{class: lazy, binding: WaitForFirstConsumer}]";
    let world = on(stage, "").await;
    let claim = "apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: data}\nspec: {storageClassName: lazy, \
                 accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}\n";
    world.commit(&[("app/claim.yaml", claim)]);
    world.deliver("shop", "app", &automated()).await;
    until_told(&world, &["PersistentVolumeClaim data", "class lazy binds it", "[BindsOnFirstConsumer]"])
        .await;
    let using = "      volumes: [{name: data, persistentVolumeClaim: {claimName: data}}]\n";
    world.commit(&[("app/web.yaml", &web("example/web:1", using))]);
    until_fine(&world).await;
    world.end().await;
}

const OPERATOR: &str = "
apiVersion: v1
kind: Namespace
metadata: {name: external-secrets}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: external-secrets, namespace: external-secrets}
spec:
  selector: {matchLabels: {app: external-secrets}}
  template:
    metadata: {labels: {app: external-secrets}}
    spec:
      containers: [{name: main, image: 'ghcr.io/external-secrets/external-secrets:v1.0.0'}]
---
";
const STORE: &str = "
apiVersion: external-secrets.io/v1
kind: SecretStore
metadata: {name: vault}
spec: {provider: {vault: {server: 'http://vault.default.svc:8200', auth: {kubernetes: {role: shop}}}}}
---
apiVersion: external-secrets.io/v1
kind: ExternalSecret
metadata: {name: db}
spec:
  secretStoreRef: {name: vault}
  target: {name: db-password}
  data: [{secretKey: password, remoteRef: {key: db}}]
";

/// The definition of a kind that takes any fields.
fn definition(group: &str, version: &str, kind: &str) -> String {
    let singular = kind.to_lowercase();
    format!(
        "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {{name: {singular}s.{group}}}\n\
         spec:\n  group: {group}\n  scope: Namespaced\n  names: {{kind: {kind}, plural: {singular}s, singular: \
         {singular}}}\n  versions:\n  - name: {version}\n    served: true\n    storage: true\n    subresources: {{status: \
         {{}}}}\n    schema: {{openAPIV3Schema: {{type: object, x-kubernetes-preserve-unknown-fields: true}}}}\n"
    )
}

#[tokio::test]
async fn a_secret_is_missing_because_its_store_is_unreachable_because_vault_is_sealed() {
    let kinds = ["SecretStore", "ExternalSecret"].map(|kind| definition("external-secrets.io", "v1", kind));
    let given = format!("{OPERATOR}{}", kinds.join("---\n"));
    let world = on("", &given).await;
    let sealed = vault("").replace(
        "metadata: {labels: {app: vault}}",
        "metadata: {labels: {app: vault}, annotations: {sim.lynceus.dev/sealed: 'true'}}",
    );
    let reading = web("example/web:1", "")
        .replace("'example/web:1'", "'example/web:1', envFrom: [{secretRef: {name: db-password}}]");
    world.commit(&[("app/vault.yaml", &sealed), ("app/store.yaml", STORE), ("app/web.yaml", &reading)]);
    world.deliver("shop", "app", &automated()).await;
    until_told(&world, &["SecretStore vault", "unable to validate store"]).await;
    until_told(&world, &["secret \"db-password\" not found", "[ContainerNotConfigured]"]).await;
    world.commit(&[("app/vault.yaml", &vault(""))]);
    until_fine(&world).await;
    world.end().await;
}

#[tokio::test]
async fn a_pull_secret_is_missing() {
    let stage = "images: {list: [{image: ghcr.io/team/web, pullSecret: true}]}";
    let world = on(stage, "").await;
    let pull = "      imagePullSecrets: [{name: ghcr-pull}]\n";
    world.commit(&[("app/web.yaml", &web("ghcr.io/team/web:1", pull))]);
    world.deliver("shop", "app", &automated()).await;
    until_told(&world, &["ghcr.io/team/web:1", "[ImageNotPulled]", "there is no Secret ghcr-pull"]).await;
    let login = "apiVersion: v1\nkind: Secret\nmetadata: {name: ghcr-pull, namespace: default}\ntype: \
                 kubernetes.io/dockerconfigjson\nstringData: {.dockerconfigjson: '{\"auths\":{\"ghcr.io\":{\"auth\":\
                 \"dGVhbTpub25l\"}}}'}\n";
    world.apply(login).await;
    until_fine(&world).await;
    world.end().await;
}

#[tokio::test]
async fn a_tag_was_not_pushed() {
    let stage = "images: {list: [{image: ghcr.io/team/web, tags: [dev]}]}";
    let world = on(stage, "").await;
    world.commit(&[("app/web.yaml", &web("ghcr.io/team/web:main", ""))]);
    world.deliver("shop", "app", &automated()).await;
    until_told(&world, &["ghcr.io/team/web:main", "not found", "[ImageNotPulled]"]).await;
    world.commit(&[("app/web.yaml", &web("ghcr.io/team/web:dev", ""))]);
    until_fine(&world).await;
    world.end().await;
}

#[tokio::test]
async fn an_image_was_built_for_arm64_only() {
    let stage = "images: {list: [{image: docker.io/someone/web, platforms: [linux/arm64]}]}";
    let world = on(stage, "").await;
    world.commit(&[("app/web.yaml", &web("someone/web:latest", ""))]);
    world.deliver("shop", "app", &automated()).await;
    until_told(&world, &["someone/web:latest", "no match for platform in manifest", "[ImageNotPulled]"])
        .await;
    world.end().await;
}

#[tokio::test]
async fn pod_security_forbids_the_pods() {
    let given = "apiVersion: v1\nkind: Namespace\nmetadata: {name: strict, labels: \
                 {pod-security.kubernetes.io/enforce: restricted}}\n";
    let world = on("", given).await;
    let strict = |text: String| text.replace("{name: web}\nspec", "{name: web, namespace: strict}\nspec");
    world.commit(&[("app/web.yaml", &strict(web("example/web:1", "")))]);
    world.deliver("shop", "app", &automated()).await;
    until_told(&world, &["violates PodSecurity \"restricted:latest\"", "[PodsRefused]"]).await;
    let safe = strict(web("example/web:1", "")).replace(
        "'example/web:1'",
        "'example/web:1', securityContext: {allowPrivilegeEscalation: false, runAsNonRoot: true, capabilities: {drop: \
         [ALL]}, seccompProfile: {type: RuntimeDefault}}",
    );
    world.commit(&[("app/web.yaml", &safe)]);
    until_fine(&world).await;
    world.end().await;
}

#[tokio::test]
async fn a_definition_is_missing() {
    let world = on("", "").await;
    let route = "apiVersion: networking.istio.io/v1\nkind: VirtualService\nmetadata: {name: web}\nspec: {hosts: [web]}\n";
    world.commit(&[("app/route.yaml", route)]);
    let patient = value!({"syncPolicy": {"automated": {}, "retry": {"limit": -1}}});
    world.deliver("shop", "app", &patient).await;
    until_told(
        &world,
        &[
            "The Kubernetes API could not find networking.istio.io/VirtualService",
            "Make sure the \"VirtualService\" CRD",
        ],
    )
    .await;
    world.apply(&definition("networking.istio.io", "v1", "VirtualService")).await;
    until_fine(&world).await;
    world.end().await;
}

const WAITER: &str = "
apiVersion: batch/v1
kind: Job
metadata: {name: wait-for-image}
spec:
  backoffLimit: 1
  template:
    spec:
      serviceAccountName: waiter
      restartPolicy: Never
      containers: [{name: wait, image: 'registry.example.com/oc:4'}]
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: waiter}
";
const RIGHTS: &str = "
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: waiter}
rules: [{apiGroups: [image.openshift.io], resources: [imagestreamtags], verbs: [get]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: waiter}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: waiter}
subjects: [{kind: ServiceAccount, name: waiter, namespace: default}]
";

#[tokio::test]
async fn a_service_account_lacks_a_permission() {
    let stage = "programs: [{image: '*/oc:*', may: get imagestreamtags.image.openshift.io}]";
    let world = on(stage, "").await;
    world.commit(&[("app/wait.yaml", WAITER)]);
    world.deliver("shop", "app", &automated()).await;
    until_told(
        &world,
        &[
            "Job wait-for-image",
            "User \"system:serviceaccount:default:waiter\" cannot get resource \"imagestreamtags\" in API group \
             \"image.openshift.io\" in the namespace \"default\"",
        ],
    )
    .await;
    world.delete("batch/v1", "Job", "default", "wait-for-image").await;
    world.commit(&[("app/rights.yaml", RIGHTS)]);
    until_fine(&world).await;
    world.end().await;
}

#[tokio::test]
async fn an_operator_writes_the_host_of_a_route() {
    let given = definition("route.openshift.io", "v1", "Route");
    let world = on("", &given).await;
    let route = "apiVersion: route.openshift.io/v1\nkind: Route\nmetadata: {name: minio}\nspec: {host: '', to: {kind: \
                 Service, name: minio}}\n";
    world.commit(&[("app/route.yaml", route)]);
    world.deliver("shop", "app", &value!({"syncPolicy": {"automated": {}}})).await;
    until_told(&world, &["Route minio", "spec.host", "openshift-router", "[WrittenByOther]"]).await;
    let ignoring = value!({"spec": {"ignoreDifferences": [
        {"group": "route.openshift.io", "kind": "Route", "jsonPointers": ["/spec/host"]},
    ]}});
    world.patch("argoproj.io/v1alpha1", "Application", "argocd", "shop", &ignoring).await;
    until_fine(&world).await;
    world.end().await;
}

#[tokio::test]
async fn a_selector_cannot_be_changed() {
    let world = on("", "").await;
    world.commit(&[("app/web.yaml", &deployment("web", 0))]);
    world.deliver("shop", "app", &once()).await;
    until_fine(&world).await;
    world.commit(&[("app/web.yaml", &deployment("web", 0).replace("{app: web}", "{app: other}"))]);
    until_told(&world, &["Deployment web", "spec.selector", "[ImmutableField]", "[SyncFailed]"]).await;
    let anew = deployment("web", 0).replace("{app: web}", "{app: other}").replace(
        "  annotations:\n",
        "  annotations:\n    argocd.argoproj.io/sync-options: Force=true,Replace=true\n",
    );
    world.commit(&[("app/web.yaml", &anew)]);
    until_fine(&world).await;
    world.end().await;
}
