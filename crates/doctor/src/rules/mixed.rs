//! Several troubles at once: each is found once, and what comes from another is not found beside it.

use crate::tests::roots;

/// Databases whose pods are kept off their nodes, a store that asks one of them, what waits for that, and an image that was not
/// pushed.
const MIXED: &str = "
@app vault Synced Progressing
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: vault, namespace: dev}
spec: {template: {metadata: {labels: {app: vault}}, spec: {tolerations: [], containers: [{name: vault, image: vault}]}}, volumeClaimTemplates: [{metadata: {name: data}}]}
---
apiVersion: v1
kind: Service
metadata: {name: vault, namespace: dev}
spec: {selector: {app: vault}, ports: [{port: 8200}]}
@app store Synced Degraded
apiVersion: external-secrets.io/v1
kind: SecretStore
metadata: {name: vault, namespace: dev}
@app minio Synced Degraded
apiVersion: external-secrets.io/v1
kind: ExternalSecret
metadata: {name: minio, namespace: dev}
spec: {secretStoreRef: {name: vault, kind: SecretStore}, target: {name: minio-root}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: minio, namespace: dev}
spec: {template: {spec: {containers: [{name: minio, image: minio, envFrom: [{secretRef: {name: minio-root}}]}]}}}
@app web Synced Degraded
apiVersion: external-secrets.io/v1
kind: ExternalSecret
metadata: {name: pull, namespace: dev}
spec: {secretStoreRef: {name: vault, kind: SecretStore}, target: {name: ghcr-pull}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: dev}
spec: {template: {spec: {imagePullSecrets: [{name: ghcr-pull}], containers: [{name: web, image: 'ghcr.io/web:dev'}]}}}
@app seed Synced Degraded
apiVersion: apps/v1
kind: Deployment
metadata: {name: seed, namespace: dev}
spec: {template: {spec: {containers: [{name: seed, image: 'ghcr.io/seed:main'}]}}}
@app fine Synced Healthy
@live
apiVersion: v1
kind: Namespace
metadata: {name: dev}
---
apiVersion: v1
kind: Node
metadata: {name: dev-1, labels: {pool: dev}}
spec: {taints: [{key: env, value: dev, effect: NoSchedule}]}
---
apiVersion: v1
kind: Node
metadata: {name: sys-1, labels: {pool: system}}
spec: {taints: [{key: CriticalAddonsOnly, value: 'true', effect: NoSchedule}]}
---
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: vault, namespace: dev, uid: s1, generation: 1}
spec: {replicas: 1, template: {metadata: {labels: {app: vault}}, spec: {containers: [{name: vault, image: vault}]}}, volumeClaimTemplates: [{metadata: {name: data}}]}
status: {observedGeneration: 1, replicas: 1, readyReplicas: 0}
---
apiVersion: v1
kind: Pod
metadata: {name: vault-0, namespace: dev, labels: {app: vault}, ownerReferences: [{apiVersion: apps/v1, kind: StatefulSet, name: vault, uid: s1, controller: true}]}
spec: {containers: [{name: vault, image: vault}], volumes: [{name: data, persistentVolumeClaim: {claimName: data-vault-0}}]}
status:
  phase: Pending
  conditions:
  - {type: PodScheduled, status: 'False', reason: Unschedulable, message: '0/2 nodes are available: 1 node(s) had untolerated taint {CriticalAddonsOnly: true}, 1 node(s) had untolerated taint {env: dev}. preemption: 0/2 nodes are available: 2 Preemption is not helpful for scheduling.'}
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: data-vault-0, namespace: dev}
spec: {storageClassName: disk}
status: {phase: Pending}
---
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: disk}
provisioner: disk.example.org
volumeBindingMode: WaitForFirstConsumer
---
apiVersion: v1
kind: Service
metadata: {name: vault, namespace: dev}
spec: {selector: {app: vault}, ports: [{port: 8200}]}
---
apiVersion: external-secrets.io/v1
kind: SecretStore
metadata: {name: vault, namespace: dev}
spec: {provider: {vault: {server: 'http://vault.dev.svc.cluster.local:8200'}}}
status: {conditions: [{type: Ready, status: 'False', reason: InvalidProviderConfig, message: unable to create client}]}
---
apiVersion: external-secrets.io/v1
kind: ExternalSecret
metadata: {name: minio, namespace: dev}
spec: {secretStoreRef: {name: vault, kind: SecretStore}, target: {name: minio-root}}
status: {conditions: [{type: Ready, status: 'False', reason: SecretSyncedError, message: could not get provider client}]}
---
apiVersion: external-secrets.io/v1
kind: ExternalSecret
metadata: {name: pull, namespace: dev}
spec: {secretStoreRef: {name: vault, kind: SecretStore}, target: {name: ghcr-pull}}
status: {conditions: [{type: Ready, status: 'False', reason: SecretSyncedError, message: could not get provider client}]}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: minio, namespace: dev, uid: d1, generation: 1}
spec: {replicas: 1, template: {spec: {containers: [{name: minio, image: minio, envFrom: [{secretRef: {name: minio-root}}]}]}}}
status: {observedGeneration: 1, replicas: 1, updatedReplicas: 1}
---
apiVersion: v1
kind: Pod
metadata: {name: minio-1, namespace: dev, ownerReferences: [{apiVersion: apps/v1, kind: Deployment, name: minio, uid: d1, controller: true}]}
spec: {nodeName: dev-1, restartPolicy: Always, containers: [{name: minio, image: minio, envFrom: [{secretRef: {name: minio-root}}]}]}
status: {phase: Pending, containerStatuses: [{name: minio, state: {waiting: {reason: CreateContainerConfigError, message: 'secret \"minio-root\" not found'}}}]}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: dev, uid: d2, generation: 1}
spec: {replicas: 1, template: {spec: {imagePullSecrets: [{name: ghcr-pull}], containers: [{name: web, image: 'ghcr.io/web:dev'}]}}}
status: {observedGeneration: 1, replicas: 1, updatedReplicas: 1}
---
apiVersion: v1
kind: Pod
metadata: {name: web-1, namespace: dev, ownerReferences: [{apiVersion: apps/v1, kind: Deployment, name: web, uid: d2, controller: true}]}
spec: {nodeName: dev-1, restartPolicy: Always, imagePullSecrets: [{name: ghcr-pull}], containers: [{name: web, image: 'ghcr.io/web:dev'}]}
status: {phase: Pending, containerStatuses: [{name: web, state: {waiting: {reason: ErrImagePull, message: 'failed to authorize: failed to fetch anonymous token: 401 Unauthorized'}}}]}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: seed, namespace: dev, uid: d3, generation: 1}
spec: {replicas: 1, template: {spec: {containers: [{name: seed, image: 'ghcr.io/seed:main'}]}}}
status: {observedGeneration: 1, replicas: 1, updatedReplicas: 1}
---
apiVersion: v1
kind: Pod
metadata: {name: seed-1, namespace: dev, ownerReferences: [{apiVersion: apps/v1, kind: Deployment, name: seed, uid: d3, controller: true}]}
spec: {nodeName: dev-1, restartPolicy: Always, containers: [{name: seed, image: 'ghcr.io/seed:main'}]}
status: {phase: Pending, containerStatuses: [{name: seed, state: {waiting: {reason: ImagePullBackOff, message: 'Back-off pulling image: ErrImagePull: ghcr.io/seed:main: not found'}}}]}
";

#[test]
fn what_waits_through_stores_and_secrets_comes_down_to_what_keeps_the_pods_off() {
    assert_eq!(
        roots(MIXED),
        "P0 LYN0402/vault/StatefulSet/vault explains minio store vault web\nP1 LYN0501/seed/Image/ghcr.io/seed:main explains seed\n"
    );
}

#[test]
fn what_nothing_makes_is_a_cause_of_its_own() {
    let text = MIXED.replace("target: {name: minio-root}", "target: {name: minio-rooot}");
    let found = roots(&text);
    assert!(found.contains("P1 LYN0301/minio/Secret/minio-root explains minio"), "{found}");
}

#[test]
fn a_driver_that_is_kept_off_its_nodes_explains_volumes_that_are_not_made() {
    let text = "
@app db Synced Progressing
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: data, namespace: shop}
@app driver Synced Progressing
apiVersion: apps/v1
kind: Deployment
metadata: {name: disks, namespace: sys}
@live
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: data, namespace: shop, creationTimestamp: '2026-01-01T10:00:00Z'}
spec: {storageClassName: fast}
status: {phase: Pending}
---
apiVersion: v1
kind: Event
metadata: {name: e, namespace: shop}
involvedObject: {kind: PersistentVolumeClaim, namespace: shop, name: data}
reason: ExternalProvisioning
message: Waiting for a volume to be created either by the external provisioner 'disk.example.org' or manually
---
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: fast}
provisioner: disk.example.org
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: disks, namespace: sys, uid: d1, generation: 1}
spec: {replicas: 1, template: {spec: {containers: [{name: d, image: d, args: [--driver-name=disk.example.org]}]}}}
status: {observedGeneration: 1, replicas: 1, updatedReplicas: 1}
---
apiVersion: v1
kind: Pod
metadata: {name: disks-1, namespace: sys, ownerReferences: [{apiVersion: apps/v1, kind: Deployment, name: disks, uid: d1, controller: true}]}
spec: {containers: [{name: d, image: d, args: [--driver-name=disk.example.org]}]}
status:
  phase: Pending
  conditions:
  - {type: PodScheduled, status: 'False', reason: Unschedulable, message: '0/1 nodes are available: 1 node(s) had untolerated taint {env: dev}.'}
---
apiVersion: v1
kind: Node
metadata: {name: dev-1}
spec: {taints: [{key: env, value: dev, effect: NoSchedule}]}
";
    assert_eq!(roots(text), "P0 LYN0401/driver/Deployment/disks explains db driver\n");
}

/// What is found in clusters where all is well: roles that pods get while they run, optional references, claims that wait for
/// nobody, old events, services of others.
const WELL: &str = "
@app web Synced Healthy
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
@live
apiVersion: v1
kind: Node
metadata: {name: a}
spec: {taints: [{key: env, value: dev, effect: NoSchedule}]}
status: {conditions: [{type: Ready, status: 'True'}]}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop, uid: d1, generation: 1}
spec:
  replicas: 1
  template:
    metadata: {labels: {app: web}}
    spec:
      priorityClassName: system-node-critical
      containers: [{name: web, image: 'r.io/web:1', envFrom: [{secretRef: {name: extra, optional: true}}], env: [{name: OTEL, value: 'http://otel.obs.svc:4317'}]}]
      volumes: [{name: ca, configMap: {name: kube-root-ca.crt}}]
status: {observedGeneration: 1, replicas: 1, updatedReplicas: 1, availableReplicas: 1, readyReplicas: 1}
---
apiVersion: v1
kind: Pod
metadata: {name: web-1, namespace: shop, labels: {app: web}, ownerReferences: [{apiVersion: apps/v1, kind: Deployment, name: web, uid: d1, controller: true}]}
spec: {nodeName: a, restartPolicy: Always, tolerations: [{operator: Exists}], containers: [{name: web, image: 'r.io/web:1'}]}
status: {phase: Running, conditions: [{type: Ready, status: 'True'}, {type: PodScheduled, status: 'True'}], containerStatuses: [{name: web, ready: true, restartCount: 2, state: {running: {}}, lastState: {terminated: {exitCode: 0}}}]}
---
apiVersion: v1
kind: Event
metadata: {name: old, namespace: shop}
involvedObject: {kind: Pod, namespace: shop, name: web-1}
reason: FailedScheduling
message: '0/1 nodes are available: 1 Insufficient cpu.'
---
apiVersion: v1
kind: Service
metadata: {name: web, namespace: shop}
spec: {selector: {app: web}, ports: [{name: http, port: 80}]}
---
apiVersion: v1
kind: Service
metadata: {name: web-leader, namespace: shop}
spec: {selector: {app: web, role: leader}, ports: [{name: http, port: 80}]}
---
apiVersion: v1
kind: Service
metadata: {name: outside, namespace: shop}
spec: {type: ExternalName, externalName: example.org}
---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: web, namespace: shop}
spec: {ingressClassName: nginx, rules: [{http: {paths: [{backend: {service: {name: web, port: {name: http}}}}, {backend: {service: {name: outside, port: {number: 443}}}}, {backend: {service: {name: ssl-redirect, port: {name: use-annotation}}}}]}}]}
status: {loadBalancer: {ingress: [{ip: 10.0.0.1}]}}
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: unused, namespace: shop}
spec: {storageClassName: disk}
status: {phase: Pending}
---
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: disk}
provisioner: disk.example.org
volumeBindingMode: WaitForFirstConsumer
---
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: old, namespace: shop, uid: s1, generation: 1}
spec: {replicas: 1, updateStrategy: {type: OnDelete}, template: {spec: {containers: [{name: old, image: 'r.io/old:2'}]}}}
status: {observedGeneration: 1, replicas: 1, readyReplicas: 1, updateRevision: b, currentRevision: a}
---
apiVersion: v1
kind: Pod
metadata: {name: old-0, namespace: shop, labels: {controller-revision-hash: a}, ownerReferences: [{apiVersion: apps/v1, kind: StatefulSet, name: old, uid: s1, controller: true}]}
spec: {nodeName: a, restartPolicy: Always, containers: [{name: old, image: 'r.io/old:1'}]}
status: {phase: Running, conditions: [{type: Ready, status: 'True'}], containerStatuses: [{name: old, ready: true, state: {running: {}}}]}
";

#[test]
fn where_all_is_well_nothing_is_found() {
    assert_eq!(roots(WELL), "");
}
