//! What is in order, between everything that is not.

mod beside;
mod history;

use super::scene::{App, Pods, Scene, all, config_map, definition, in_wave, service};
use super::workload::Spot;

pub(super) use beside::company;
use history::past;

/// Makes the manifests of something that is well, under a name.
type Make = fn(&mut Scene, &str) -> String;

const HEALTHY: [Make; 18] = [
    with_service,
    with_settings,
    with_hook,
    with_secret,
    with_claim,
    with_cron_job,
    with_agents,
    with_finished_jobs,
    late_for_its_database,
    with_optional_parts,
    with_own_kind,
    with_pull_secret_of_nobody,
    switched_to_nothing,
    with_own_pool,
    with_entry,
    with_reader,
    with_many_containers,
    in_two_namespaces,
];

/// A healthy application of some sort.
pub(super) fn healthy(scene: &mut Scene) {
    let (name, namespace, work) = (scene.name(), scene.name(), scene.name());
    let manifests = scene.random.pick(&HEALTHY)(scene, &work);
    past(scene, &namespace, &work);
    scene.deliver(&name, &namespace, &manifests);
}

fn with_service(_: &mut Scene, work: &str) -> String {
    all(&[Pods { replicas: 2, ..Pods::new(work) }.deployment(), service(work, 80)])
}

fn with_settings(scene: &mut Scene, work: &str) -> String {
    let container = format!("envFrom: [{{configMapRef: {{name: {work}}}}}]\n");
    all(&[config_map(work, ""), Pods { container, ..Pods::new(work) }.either(&mut scene.random)])
}

fn with_hook(scene: &mut Scene, work: &str) -> String {
    let when = scene.random.pick(&["PreSync", "PostSync", "Sync"]);
    let hook = format!("argocd.argoproj.io/hook: {when}");
    all(&[Pods::new(&format!("{work}-prepare")).job(&hook), Pods::new(work).deployment()])
}

fn with_secret(scene: &mut Scene, work: &str) -> String {
    let secret =
        format!("apiVersion: v1\nkind: Secret\nmetadata: {{name: {work}}}\nstringData: {{token: abc}}\n");
    let container =
        format!("env: [{{name: TOKEN, valueFrom: {{secretKeyRef: {{name: {work}, key: token}}}}}}]\n");
    all(&[secret, Pods { container, ..Pods::new(work) }.any(&mut scene.random)])
}

fn with_claim(_: &mut Scene, work: &str) -> String {
    let claim = format!(
        "apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {{name: {work}}}\nspec: {{accessModes: [ReadWriteOnce], resources: \
         {{requests: {{storage: 1Gi}}}}}}\n"
    );
    let pod = format!("volumes: [{{name: data, persistentVolumeClaim: {{claimName: {work}}}}}]\n");
    all(&[claim, Pods { pod, ..Pods::new(work) }.deployment()])
}

fn with_cron_job(_: &mut Scene, work: &str) -> String {
    all(&[Pods::new(&format!("{work}-tidy")).cron_job(), Pods::new(work).deployment()])
}

/// Pods on every node, also on those that are closed.
fn with_agents(_: &mut Scene, work: &str) -> String {
    let pod = "hostNetwork: true\ntolerations: [{operator: Exists}]\n".to_owned();
    Pods { pod, ..Pods::new(work) }.daemon_set()
}

/// Jobs that have ended, one of them after it failed once.
fn with_finished_jobs(scene: &mut Scene, work: &str) -> String {
    let two = scene.name();
    all(&[Pods::new(work).job(""), in_wave(&config_map(&two, ""), 1), Pods::new(&two).deployment()])
}

/// A program that ends while its database is not ready yet, and runs when it is.
fn late_for_its_database(scene: &mut Scene, work: &str) -> String {
    let base = format!("{work}-db");
    scene.staged("programs", format!("{{image: \"*/acme/{base}:*\", readyAfter: 40s}}"));
    scene.staged(
        "programs",
        format!("{{image: \"*/acme/{work}:*\", needs: {{service: {base}, crashWithout: true}}}}"),
    );
    let (base_image, image) = (format!("ghcr.io/acme/{base}:v1"), format!("ghcr.io/acme/{work}:v1"));
    let probe = "readinessProbe: {tcpSocket: {port: 5432}}\n".to_owned();
    let set = Pods { image: &base_image, container: probe, ..Pods::new(&base) }.stateful_set();
    let container = format!("env: [{{name: DATABASE, value: \"{base}:5432\"}}]\n");
    all(&[service(&base, 5432), set, Pods { image: &image, container, ..Pods::new(work) }.deployment()])
}

/// What may be missing is missing.
fn with_optional_parts(scene: &mut Scene, work: &str) -> String {
    let (one, two) = (scene.name(), scene.name());
    let container = format!("envFrom: [{{secretRef: {{name: {one}, optional: true}}}}]\n");
    let pod = format!("volumes: [{{name: more, configMap: {{name: {two}, optional: true}}}}]\n");
    Pods { container, pod, ..Pods::new(work) }.either(&mut scene.random)
}

/// A kind of its own, defined a wave before it is used.
fn with_own_kind(scene: &mut Scene, work: &str) -> String {
    let name = scene.name();
    let group = format!("{name}.example.net");
    let object =
        format!("apiVersion: {group}/v1\nkind: Recipe\nmetadata: {{name: {work}}}\nspec: {{size: 3}}\n");
    all(&[in_wave(&definition(&group, "v1", "Recipe"), -1), object, Pods::new(work).deployment()])
}

/// A pull secret that is not there, for an image that anyone may have.
fn with_pull_secret_of_nobody(scene: &mut Scene, work: &str) -> String {
    let pod = format!("imagePullSecrets: [{{name: {}}}]\n", scene.name());
    Pods { pod, ..Pods::new(work) }.deployment()
}

/// A workload without pods, which names what is not there.
fn switched_to_nothing(scene: &mut Scene, work: &str) -> String {
    let container = format!("envFrom: [{{secretRef: {{name: {}}}}}]\n", scene.name());
    all(&[Pods { replicas: 0, container, ..Pods::new(work) }.deployment(), config_map(work, "")])
}

/// Nodes that are closed to others and open to these.
fn with_own_pool(scene: &mut Scene, work: &str) -> String {
    let pool = scene.name();
    scene.staged(
        "nodePools",
        format!(
            "{{name: {pool}, count: 1, capacity: {{cpu: \"8\", memory: 32Gi, pods: \"50\"}}, labels: {{pool: {pool}}}, taints: [{{key: dedicated, value: {pool}, effect: NoSchedule}}]}}"
        ),
    );
    let pod = format!(
        "nodeSelector: {{pool: {pool}}}\ntolerations: [{{key: dedicated, operator: Equal, value: {pool}, effect: NoSchedule}}]\n"
    );
    Pods { pod, ..Pods::new(work) }.either(&mut scene.random)
}

/// An Ingress to a port that the Service has.
fn with_entry(_: &mut Scene, work: &str) -> String {
    let entry = format!(
        "apiVersion: networking.k8s.io/v1\nkind: Ingress\nmetadata: {{name: {work}}}\nspec:\n  ingressClassName: web\n  rules:\n  - host: {work}.example.com\n    \
         http: {{paths: [{{path: /, pathType: Prefix, backend: {{service: {{name: {work}, port: {{number: 80}}}}}}}}]}}\n"
    );
    all(&[Pods::new(work).deployment(), service(work, 80), entry])
}

/// A store of secrets outside of the cluster, with pods of another application that read from it.
fn with_reader(scene: &mut Scene, work: &str) -> String {
    scene.secrets_operator();
    let store = scene.name();
    let texts = [
        format!(
            "apiVersion: external-secrets.io/v1\nkind: SecretStore\nmetadata: {{name: {store}}}\nspec: {{provider: {{vault: {{server: \
             'https://{store}.example.com:8200', auth: {{kubernetes: {{role: reader}}}}}}}}}}\n"
        ),
        format!(
            "apiVersion: external-secrets.io/v1\nkind: ExternalSecret\nmetadata: {{name: {work}}}\nspec:\n  secretStoreRef: {{name: \
             {store}}}\n  target: {{name: {work}-login}}\n  data: [{{secretKey: password, remoteRef: {{key: {work}}}}}]\n"
        ),
        Pods { container: format!("envFrom: [{{secretRef: {{name: {work}-login}}}}]\n"), ..Pods::new(work) }
            .either(&mut scene.random),
    ];
    all(&texts)
}

fn with_many_containers(_: &mut Scene, work: &str) -> String {
    let pods = |name| Pods { replicas: 2, ..Pods::new(name) };
    let (one, two) = (format!("{work}-one"), format!("{work}-two"));
    all(&[
        Pods { spot: Spot::Init, ..pods(work) }.deployment(),
        Pods { spot: Spot::Sidecar, ..pods(&one) }.stateful_set(),
        Pods { spot: Spot::Second, ..pods(&two) }.deployment(),
    ])
}

/// Objects in a namespace beside the application's own, which it brings itself.
fn in_two_namespaces(scene: &mut Scene, work: &str) -> String {
    let other = scene.name();
    let level = scene.random.pick(&["warn", "audit"]);
    let text = format!(
        "apiVersion: v1\nkind: Namespace\nmetadata: {{name: {other}, labels: {{pod-security.kubernetes.io/{level}: restricted}}}}\n"
    );
    let there = Pods { container: "securityContext: {privileged: true}\n".to_owned(), ..Pods::new(work) };
    let there = there.deployment().replacen("metadata: {", &format!("metadata: {{namespace: {other}, "), 1);
    let here = format!("{work}-here");
    all(&[in_wave(&text, -2), there, Pods::new(&here).deployment()])
}

/// A healthy application that others may wait for in waves, with a parent of its own.
pub(super) fn in_order(scene: &mut Scene) {
    let parent = scene.name();
    for wave in 1..3 {
        let (name, namespace, work) = (scene.name(), scene.name(), scene.name());
        scene.deliver_as(&App { wave, ..App::new(&name, &namespace) }, &Pods::new(&work).deployment());
        if let Some((name, text)) = scene.applications.pop() {
            scene.file(format!("{parent}/{name}.yaml"), text);
        }
    }
    scene.application(&App::new(&parent, "argocd"));
}
