//! Objects in, reasons out.

use lynceus_files::FilePath;
use lynceus_object::{manifest, yaml};

use super::*;

/// A cluster of a few objects, and what the application still has to bring.
struct World {
    objects: Vec<Object>,
    planned: Vec<Planned>,
}

impl Surroundings for World {
    fn children(&self, owner: &Object) -> Vec<Object> {
        let owned = |object: &&Object| object.owners().any(|one| one.uid == owner.uid());
        self.objects.iter().filter(owned).cloned().collect()
    }

    fn find(&self, key: &ObjectKey) -> Found {
        self.objects.iter().find(|object| object.key() == *key).cloned().map_or(Found::Gone, Found::There)
    }

    fn planned(&self) -> &[Planned] {
        &self.planned
    }
}

fn read(text: &str) -> Vec<Object> {
    let read = manifest::read(&FilePath::root(), text.as_bytes(), &yaml::Options::default());
    assert!(read.diagnostics.is_empty(), "{:?}", read.diagnostics);
    read.objects.into_iter().map(|placed| placed.object).collect()
}

/// Why the first object is not well, given the others, and given what is planned in wave 3.
#[track_caller]
fn check(cluster: &str, planned: &str, expected: &str) {
    let objects = read(cluster);
    let planned =
        read(planned).into_iter().map(|object| Planned { object, wave: 3, is_live: false }).collect();
    let world = World { planned, objects };
    let reasons = why(&world.objects[0], &world);
    let told: String = reasons.iter().map(ToString::to_string).collect();
    assert_eq!(told.trim_end(), expected.trim());
}

const DEPLOYMENT: &str = "
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop, uid: d}
spec: {replicas: 2}
---
apiVersion: apps/v1
kind: ReplicaSet
metadata: {name: web-1, namespace: shop, uid: r, ownerReferences: [{uid: d, kind: Deployment, name: web}]}
";

fn pod(name: &str, rest: &str) -> String {
    format!(
        "---\napiVersion: v1\nkind: Pod\nmetadata: {{name: {name}, namespace: shop, uid: {name}, ownerReferences: [{{uid: r, kind: \
         ReplicaSet, name: web-1}}]}}\n{rest}"
    )
}

#[test]
fn pods_with_one_trouble_are_told_once() {
    let waits = "spec: {restartPolicy: Always}\nstatus:\n  phase: Pending\n  containerStatuses:\n  - {name: web, image: \"shop/web:2\", ready: false, \
                 state: {waiting: {reason: ImagePullBackOff, message: not found}}}\n";
    check(
        &format!("{DEPLOYMENT}{}{}", pod("web-1-a", waits), pod("web-1-b", waits)),
        "",
        "ReplicaSet web-1 is not ready [Unhealthy]
└─ Pod web-1-a is Degraded, and so are 1 more [Unhealthy]
   └─ container web: image shop/web:2 cannot be pulled: ImagePullBackOff: not found [ImageNotPulled]",
    );
}

#[test]
fn a_container_that_cannot_be_set_up_names_what_is_missing() {
    let rest = "spec:\n  restartPolicy: Always\n  containers:\n  - {name: web, envFrom: [{secretRef: {name: login}}, {configMapRef: {name: extra, optional: true}}]}\n\
                status:\n  phase: Pending\n  containerStatuses:\n  - {name: web, ready: false, state: {waiting: {reason: CreateContainerConfigError, message: 'secret \"login\" not found'}}}\n";
    check(
        &pod("web", rest),
        "",
        "container web cannot be started: CreateContainerConfigError: secret \"login\" not found [ContainerNotConfigured]
└─ there is no Secret login in namespace shop [Missing]",
    );
}

#[test]
fn an_image_that_cannot_be_pulled_names_the_pull_secret_that_is_missing() {
    let rest = "spec:\n  restartPolicy: Always\n  imagePullSecrets: [{name: registry}]\n\
                status:\n  phase: Pending\n  containerStatuses:\n  - {name: web, image: \"shop/web:2\", ready: false, \
                state: {waiting: {reason: ErrImagePull, message: no basic auth credentials}}}\n";
    check(
        &pod("web", rest),
        "",
        "container web: image shop/web:2 cannot be pulled: ErrImagePull: no basic auth credentials [ImageNotPulled]
└─ there is no Secret registry in namespace shop [Missing]",
    );
}

#[test]
fn a_container_that_crashes_says_how_it_ended() {
    let rest = "spec: {restartPolicy: Always}\nstatus:\n  phase: Running\n  containerStatuses:\n  - {name: web, ready: false, restartCount: 7, \
                state: {waiting: {reason: CrashLoopBackOff}}, lastState: {terminated: {exitCode: 137, reason: OOMKilled}}}\n";
    check(
        &pod("web", rest),
        "",
        "container web ends again and again [ContainerCrashes]
└─ container web was stopped because it used more memory than its limit allows [OutOfMemory]",
    );
}

const CLAIM: &str = "
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: data-db-0, namespace: shop}
spec: {storageClassName: standard}
status: {phase: Pending}
---
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: standard}
provisioner: example.com/disks
volumeBindingMode: WaitForFirstConsumer
";

const SET: &str = "
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: db, namespace: shop}
spec: {volumeClaimTemplates: [{metadata: {name: data}}]}
";

#[test]
fn a_claim_that_binds_on_first_consumer_names_the_consumer_and_its_wave() {
    check(
        CLAIM,
        SET,
        "class standard binds it when what uses it is scheduled [BindsOnFirstConsumer]
└─ it is used by StatefulSet db, which comes in wave 3 [ConsumerComesLater]",
    );
    check(
        CLAIM,
        "",
        "class standard binds it when what uses it is scheduled [BindsOnFirstConsumer]
└─ nothing in the application uses it [NoConsumer]",
    );
}

#[test]
fn a_claim_of_a_class_that_is_not_there_says_so() {
    check(
        "apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: data, namespace: shop}\nspec: {storageClassName: fast}\nstatus: {phase: Pending}\n",
        "",
        "there is no StorageClass fast [Missing]",
    );
}

#[test]
fn only_a_claim_whose_consumer_is_still_to_come_waits_for_later() {
    let waits = |planned: &str, is_live: bool| {
        let objects = read(CLAIM);
        let planned = read(planned).into_iter().map(|object| Planned { object, wave: 3, is_live }).collect();
        let world = World { planned, objects };
        waits_for_later(&world.objects[0], &world)
    };
    assert!(waits(SET, false));
    assert!(!waits(SET, true), "its consumer is there and should be scheduled");
    assert!(!waits("", false), "nothing will come");
}

#[test]
fn a_pod_that_no_node_takes_names_its_claim_and_does_not_go_in_circles() {
    let rest = "spec:\n  volumes: [{name: data, persistentVolumeClaim: {claimName: data-db-0}}]\nstatus:\n  phase: Pending\n  conditions:\n  - {type: PodScheduled, status: \"False\", \
                reason: Unschedulable, message: pod has unbound immediate PersistentVolumeClaims}\n";
    let claim = "---\napiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: data-db-0, namespace: shop}\nspec: {storageClassName: \"\"}\nstatus: {phase: Pending}\n";
    check(
        &format!("{}{claim}", pod("db-0", rest)),
        "",
        "no node takes it: pod has unbound immediate PersistentVolumeClaims [Unschedulable]
└─ PersistentVolumeClaim data-db-0 is Progressing [Unhealthy]
   └─ it wants no storage class, and no volume fits it [ClaimPending]",
    );
}

#[test]
fn pods_that_are_refused_and_a_rollout_that_stalls_are_told() {
    let text = "
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop, uid: d, generation: 2}
spec: {replicas: 2}
status:
  observedGeneration: 2
  conditions:
  - {type: Progressing, status: \"False\", reason: ProgressDeadlineExceeded, message: timed out}
---
apiVersion: apps/v1
kind: ReplicaSet
metadata: {name: web-1, namespace: shop, uid: r, ownerReferences: [{uid: d, kind: Deployment, name: web}]}
status:
  conditions:
  - {type: ReplicaFailure, status: \"True\", reason: FailedCreate, message: exceeded quota}
";
    check(
        text,
        "",
        "its rollout makes no progress: timed out [RolloutStalled]
└─ ReplicaSet web-1 is Degraded [Unhealthy]
   └─ its pods are refused: exceeded quota [PodsRefused]",
    );
}

#[test]
fn a_kind_that_nobody_knows_is_explained_by_its_conditions() {
    check(
        "apiVersion: example.com/v1\nkind: Database\nmetadata: {name: main, namespace: shop, generation: 3}\nstatus:\n  observedGeneration: 2\n  conditions:\n  \
         - {type: Ready, status: \"False\", reason: NoLicence, message: the licence has expired}\n  - {type: Stalled, status: \"False\"}\n  - {type: Scheduled, status: \"True\"}\n",
        "",
        "its controller has not seen its last change yet [NotObserved]
its condition Ready is False: NoLicence: the licence has expired [Condition]",
    );
}

#[test]
fn what_holds_a_deletion_is_named() {
    check(
        "apiVersion: v1\nkind: Namespace\nmetadata: {name: shop, deletionTimestamp: 2026-01-02T03:04:05Z, finalizers: [example.com/guard]}\nstatus:\n  conditions:\n  \
         - {type: NamespaceContentRemaining, status: \"True\", message: \"Some resources are remaining: pods. has 1 resource instances\"}\n",
        "",
        "it is being deleted and held by example.com/guard [HeldByFinalizer]
└─ its condition NamespaceContentRemaining is True: Some resources are remaining: pods. has 1 resource instances [Condition]",
    );
}

#[test]
fn a_service_without_an_address_waits_for_one() {
    check(
        "apiVersion: v1\nkind: Service\nmetadata: {name: web, namespace: shop}\nspec: {type: LoadBalancer}\n",
        "",
        "it has no address yet; a load balancer of the cluster has to give it one [AddressPending]",
    );
}
