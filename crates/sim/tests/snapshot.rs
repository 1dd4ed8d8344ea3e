//! A cluster that begins as another one was.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has to stop")]

use jiff::SignedDuration;
use lynceus_object::{Object, Value, value, yaml};
use lynceus_sim::stage::Snapshot;
use lynceus_sim::view::View;
use lynceus_sim::{Local, Options, Sim, Stage};

struct Cluster {
    sim: Sim,
    local: Local,
}

impl Cluster {
    /// A cluster that begins where there is a snapshot later than one that begins by itself.
    async fn on(stage: Stage) -> Self {
        let later = SignedDuration::from_hours(if stage.snapshot.is_some() { 1 } else { 0 });
        let options = Options::by_hand(stage);
        options.clock.as_ref().unwrap().advance(later);
        let sim = Sim::start_at_rest(options).await.unwrap();
        Cluster { local: sim.local(), sim }
    }

    async fn pass(&self, seconds: i64) {
        self.sim.advance(SignedDuration::from_secs(seconds)).await;
    }

    async fn create(&self, text: &str) -> Result<(), String> {
        for document in text.split("---\n") {
            let object = Object::new(yaml::parse_str(document).unwrap()).unwrap();
            let registry = self.local.registry();
            let resource = registry.of_kind(&object.gvk()).unwrap();
            let (group, plural) = (resource.group.clone(), resource.plural.clone());
            self.local.create(&group, &plural, object).await.map_err(|error| error.to_string())?;
        }
        self.sim.settle().await;
        Ok(())
    }

    /// Everything but what only happened, by what it is.
    fn objects(&self) -> Vec<(String, Object)> {
        let registry = self.local.registry();
        let mut objects = Vec::new();
        for resource in registry.resources() {
            if resource.gvk() != resource.storage || matches!(resource.plural.as_str(), "events" | "leases") {
                continue;
            }
            for object in self.local.list(&resource.group, &resource.plural, None) {
                let name = format!("{} {}/{}", resource.plural, object.namespace(), object.name());
                objects.push((name, object));
            }
        }
        objects
    }

    fn snapshot(&self) -> Snapshot {
        let mut snapshot =
            Snapshot { version: value!({"gitVersion": "v1.33.4", "minor": "33"}), ..Snapshot::default() };
        for resource in self.local.registry().resources() {
            let served = (resource.group.clone(), resource.version.clone(), resource.plural.clone());
            snapshot.serves.insert(served);
        }
        self.objects().into_iter().for_each(|(_, object)| snapshot.add(object));
        snapshot
    }
}

/// What counts of an object: not its version, nor who wrote which field, nor what a snapshot has no right to.
fn essence(object: &Object) -> Value {
    let mut object = object.clone();
    for field in ["resourceVersion", "managedFields"] {
        object.remove(&["metadata", field]);
    }
    object.remove(&["metadata", "annotations", "sim.lynceus.dev/from-snapshot"]);
    if object.at(&["metadata", "annotations"]).is_some_and(Value::is_empty) {
        object.remove(&["metadata", "annotations"]);
    }
    object.into_value()
}

const STAGE: &str = "nodePools:\n- {name: general, count: 2, capacity: {cpu: \
                     \"4\"}}\n- {name: gpu, taints: [{key: dedicated, value: gpu, effect: NoSchedule}]}\n";

const OBJECTS: &str = "apiVersion: v1
kind: Namespace
metadata: {name: shop, labels: {pod-security.kubernetes.io/enforce: restricted}}
---
apiVersion: v1
kind: ResourceQuota
metadata: {name: small, namespace: default}
spec: {hard: {configmaps: \"3\"}}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: one, namespace: default}
data: {key: value}
---
apiVersion: v1
kind: Secret
metadata: {name: database, namespace: default, annotations: {hint: 'ask for correct-horse'}}
stringData: {password: correct-horse}
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: things.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {kind: Thing, plural: things}
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}]
---
apiVersion: example.com/v1
kind: Thing
metadata: {name: first, namespace: default}
spec: {size: 3}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: default}
spec:
  replicas: 3
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: main, image: app, env: [{name: PASSWORD, valueFrom: {secretKeyRef: {name: database, key: password}}}]}]}
---
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: db, namespace: default}
spec:
  serviceName: db
  replicas: 2
  selector: {matchLabels: {app: db}}
  template:
    metadata: {labels: {app: db}}
    spec: {containers: [{name: main, image: postgres}]}
  volumeClaimTemplates: [{metadata: {name: data}, spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}]
---
apiVersion: v1
kind: Service
metadata: {name: web, namespace: default}
spec: {selector: {app: web}, ports: [{port: 80}]}
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: strict}
webhooks:
- {name: strict.example.com, clientConfig: {service: {namespace: gone, name: strict}}, sideEffects: None, admissionReviewVersions: [v1], failurePolicy: Fail, rules: [{apiGroups: [batch], apiVersions: ['*'], operations: [CREATE], resources: [jobs]}]}
";

#[tokio::test]
async fn a_cluster_begins_as_another_was() {
    let there = Cluster::on(Stage::of_keys(STAGE).unwrap()).await;
    there.create(OBJECTS).await.unwrap();
    there.pass(30).await;
    for file in ["snapshot.yaml", "snapshot.json", "snapshot.yaml.gz"] {
        let bytes = there.snapshot().to_bytes(file).unwrap();
        let stage = Stage::open(file, &bytes).unwrap();
        let here = Cluster::on(stage).await;
        here.pass(60).await;
        let (before, after) = (there.objects(), here.objects());
        for (name, object) in &before {
            let same = after.iter().find(|(other, _)| other == name);
            let (_, same) = same.unwrap_or_else(|| panic!("{file}: {name} is missing"));
            if name.starts_with("secrets") || name.contains("webhook") || name.contains("kube-root-ca.crt") {
                continue;
            }
            assert_eq!(object.uid(), same.uid(), "{name}");
            if name.starts_with("nodes") {
                assert_eq!(object.at(&["status", "capacity"]), same.at(&["status", "capacity"]));
                assert_eq!(object.at(&["spec"]), same.at(&["spec"]));
                continue;
            }
            assert_eq!(essence(object), essence(same), "{file}: {name}");
        }
        let names = |objects: &[(String, Object)]| -> Vec<String> {
            objects.iter().map(|(name, _)| name.clone()).collect()
        };
        assert_eq!(names(&before), names(&after), "nothing is made again");
    }
}

#[tokio::test]
async fn a_cluster_that_begins_as_another_refuses_what_that_one_refused() {
    let there = Cluster::on(Stage::of_keys(STAGE).unwrap()).await;
    there.create(OBJECTS).await.unwrap();
    there.pass(30).await;
    let stage = Stage::open("snapshot.yaml", &there.snapshot().to_bytes("snapshot.yaml").unwrap()).unwrap();
    let here = Cluster::on(stage).await;
    for (text, wanted) in [
        (
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: two, namespace: default}\n",
            "configmaps \"two\" is forbidden: exceeded quota: small",
        ),
        (
            "apiVersion: v1\nkind: Pod\nmetadata: {name: root, namespace: shop}\nspec: {containers: [{name: a, image: a, \
             securityContext: {privileged: true}}]}\n",
            "violates PodSecurity \"restricted:latest\"",
        ),
    ] {
        let mut errors = Vec::new();
        for cluster in [&there, &here] {
            // The quota has room for one more.
            let _ = cluster
                .create("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: more, namespace: default}\n")
                .await;
            errors.push(cluster.create(text).await.unwrap_err());
        }
        assert!(errors[0].contains(wanted), "{}", errors[0]);
        assert_eq!(errors[0], errors[1]);
    }
    // A webhook whose program does not run here does not stop everything.
    let job = "apiVersion: batch/v1\nkind: Job\nmetadata: {name: a, namespace: default}\nspec: {template: {spec: \
               {restartPolicy: Never, containers: [{name: a, image: a}]}}}\n";
    assert!(there.create(job).await.is_err());
    here.create(job).await.unwrap();
    let told = here.sim.told().join("\n");
    let wanted =
        "webhook strict.example.com of ValidatingWebhookConfiguration strict is behind Service gone/strict";
    assert!(told.contains(wanted), "{told}");
}

#[tokio::test]
async fn a_snapshot_has_no_values_of_secrets_in_it() {
    let there = Cluster::on(Stage::default()).await;
    there.create(OBJECTS).await.unwrap();
    there.pass(5).await;
    let text = String::from_utf8(there.snapshot().to_bytes("snapshot.yaml").unwrap()).unwrap();
    for secret in ["correct-horse", "Y29ycmVjdC1ob3JzZQ"] {
        assert!(!text.contains(secret), "{secret}");
    }
    assert!(text.contains("password: \"\""));
}

#[tokio::test]
async fn a_secret_with_a_token_stays_and_gets_one_of_this_cluster() {
    let there = Cluster::on(Stage::default()).await;
    let token = "apiVersion: v1\nkind: Secret\nmetadata:\n  name: token\n  namespace: default\n  annotations: \
                 {kubernetes.io/service-account.name: default}\ntype: kubernetes.io/service-account-token\n";
    there.create(token).await.unwrap();
    there.pass(5).await;
    let stage = Stage::open("s.json", &there.snapshot().to_bytes("s.json").unwrap()).unwrap();
    let here = Cluster::on(stage).await;
    here.pass(5).await;
    let read = |cluster: &Cluster| {
        let secret = cluster.local.get("", "secrets", "default", "token").unwrap();
        secret.value().str_at(&["data", "token"]).unwrap_or_default().to_owned()
    };
    assert!(!read(&here).is_empty() && read(&here) != read(&there));
}

#[tokio::test]
async fn what_the_other_cluster_did_not_serve_is_not_served_and_what_only_it_serves_is_told() {
    let there = Cluster::on(Stage::default()).await;
    let mut snapshot = there.snapshot();
    snapshot.serves.retain(|(group, _, plural)| {
        group != "admissionregistration.k8s.io" || !plural.starts_with("mutatingadmission")
    });
    snapshot.serves.insert(("flowcontrol.apiserver.k8s.io".into(), "v1beta3".into(), "flowschemas".into()));
    snapshot.serves.insert(("".into(), "v1".into(), "oddities".into()));
    snapshot.left_out.push("secrets: secrets is forbidden".into());
    let strange = value!({"apiVersion": "example.org/v1", "kind": "Strange", "metadata": {"name": "one"}});
    snapshot.add(Object::new(strange).unwrap());
    let stage = Stage::open("snapshot.json", &snapshot.to_bytes("snapshot.json").unwrap()).unwrap();
    let here = Cluster::on(stage).await;
    let registry = here.local.registry();
    assert!(registry.find("admissionregistration.k8s.io", "v1", "mutatingadmissionpolicies").is_none());
    assert!(registry.find("admissionregistration.k8s.io", "v1", "validatingadmissionpolicies").is_some());
    let told = here.sim.told();
    assert_eq!(
        told,
        [
            "the snapshot has no secrets: secrets is forbidden",
            "the embedded cluster does not serve Strange of example.org/v1: 1 of them are left out",
            "the embedded cluster does not serve flowschemas of flowcontrol.apiserver.k8s.io/v1beta3",
            "the embedded cluster does not serve oddities of v1",
        ]
    );
}

#[test]
fn a_snapshot_that_cannot_be_read_is_refused_with_its_line() {
    let head = "apiVersion: sim.lynceus.dev/v1alpha1\nkind: Snapshot\n";
    for (text, wanted) in [
        ("thing: 1\n", "snapshot.yaml:3: thing is no key of a snapshot"),
        ("serves: [pods]\n", "snapshot.yaml:3: serves[0] is no resource"),
        ("objects:\n- {kind: Pod}\n", "snapshot.yaml:4: objects[0] is no object with a kind and a name"),
    ] {
        let error = Stage::read("snapshot.yaml", &format!("{head}{text}")).unwrap_err();
        assert_eq!(error.to_string(), wanted);
    }
    let error = Stage::open("snapshot.yaml.gz", b"no gzip").unwrap_err();
    assert!(error.to_string().starts_with("snapshot.yaml.gz:1: cannot be unpacked"), "{error}");
}

#[test]
fn a_snapshot_that_was_cut_off_is_refused_wherever_that_was() {
    let mut snapshot =
        Snapshot { version: value!({"gitVersion": "v1.36.3", "minor": "36"}), ..Snapshot::default() };
    snapshot.serves.insert(("apps".into(), "v1".into(), "deployments".into()));
    snapshot.serves.insert(("".into(), "v1".into(), "configmaps".into()));
    for name in ["a", "b"] {
        let text =
            format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}}}\ndata: {{x: y, z: z}}\n");
        snapshot.add(Object::new(yaml::parse_str(&text).unwrap()).unwrap());
    }
    for file in ["snapshot.yaml", "snapshot.json"] {
        let whole = String::from_utf8(snapshot.to_bytes(file).unwrap()).unwrap();
        assert!(Stage::read(file, &whole).is_ok(), "{file}");
        // The last thing in a file of YAML is the end of a line.
        let ends: Vec<usize> = match file {
            "snapshot.json" => (whole.len() / 2..whole.trim_end().len()).collect(),
            _ => whole.match_indices('\n').map(|(at, _)| at + 1).filter(|at| *at < whole.len()).collect(),
        };
        for end in ends.into_iter().filter(|end| *end > whole.find("objects").unwrap() + 20) {
            let cut = &whole[..end];
            assert!(Stage::read(file, cut).is_err(), "{file} is taken:\n{cut}");
        }
    }
    let whole = String::from_utf8(snapshot.to_bytes("snapshot.yaml").unwrap()).unwrap();
    let cut = &whole[..whole.find("version:\n").unwrap()];
    let error = Stage::read("snapshot.yaml", cut).unwrap_err();
    let line = cut.lines().count();
    assert_eq!(
        error.to_string(),
        format!("snapshot.yaml:{line}: ends before it is whole: what stands behind this line was cut off")
    );
    assert!(error.hint.contains("make it anew: lynceus snapshot FILE"), "{}", error.hint);
    // What is there can be looked at all the same.
    let (read, problems) = Snapshot::salvage("snapshot.yaml", cut.as_bytes()).unwrap();
    assert_eq!((read.objects.len(), problems.len()), (2, 1));
}

/// What people write themselves has neither defaults nor a uid, which every server would have given it.
#[tokio::test]
async fn a_snapshot_that_was_written_by_hand_comes_to_rest() {
    let deployment = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web, namespace: default}\nspec:\n  selector: \
                      {matchLabels: {app: web}}\n  template:\n    metadata: {labels: {app: web}}\n    spec: {containers: [{name: \
                      main, image: example/web}]}\n";
    let mut snapshot = Snapshot { version: value!({"gitVersion": "v1.36.3"}), ..Snapshot::default() };
    for text in ["apiVersion: v1\nkind: Namespace\nmetadata: {name: default}\n", deployment] {
        snapshot.add(Object::new(yaml::parse_str(text).unwrap()).unwrap());
    }
    let cluster = Cluster::on(Stage { snapshot: Some(snapshot.into()), ..Stage::default() }).await;
    cluster.pass(30).await;
    let sets = cluster.local.list("apps", "replicasets", None);
    assert_eq!(sets.len(), 1, "{}", sets.iter().map(|set| yaml::to_string(set.value())).collect::<String>());
    let deployment = cluster.local.get("apps", "deployments", "default", "web").unwrap();
    assert!(!deployment.uid().is_empty());
    assert_eq!(sets[0].controller().map(|owner| owner.uid), Some(deployment.uid().into()));
}
