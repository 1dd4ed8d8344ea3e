//! Several troubles at once: each is found once, and nothing else is.

use crate::tests::roots;

/// Pods of a Deployment that cannot start for want of a Secret which an ExternalSecret would make.
fn reader(namespace: &str) -> String {
    format!(
        "
@app web-{namespace} Synced Degraded
apiVersion: apps/v1
kind: Deployment
metadata: {{name: web, namespace: {namespace}}}
---
apiVersion: external-secrets.io/v1
kind: ExternalSecret
metadata: {{name: login, namespace: {namespace}}}
spec: {{secretStoreRef: {{name: store}}, target: {{name: login}}}}
@live
apiVersion: apps/v1
kind: Deployment
metadata: {{name: web, namespace: {namespace}, uid: d-{namespace}}}
spec: {{replicas: 1, template: {{spec: {{containers: [{{name: web, image: web, envFrom: [{{secretRef: {{name: login}}}}]}}]}}}}}}
---
apiVersion: v1
kind: Pod
metadata: {{name: web-1, namespace: {namespace}, ownerReferences: [{{kind: Deployment, name: web, uid: d-{namespace}, controller: true}}]}}
spec: {{containers: [{{name: web, image: web, envFrom: [{{secretRef: {{name: login}}}}]}}]}}
status: {{phase: Pending, containerStatuses: [{{name: web, ready: false, state: {{waiting: {{reason: CreateContainerConfigError, message: 'secret \"login\" not found'}}}}}}]}}
---
apiVersion: external-secrets.io/v1
kind: ExternalSecret
metadata: {{name: login, namespace: {namespace}}}
spec: {{secretStoreRef: {{name: store}}, target: {{name: login}}}}
status: {{conditions: [{{type: Ready, status: 'False', reason: SecretSyncedError, message: could not get secret data from provider}}]}}
---
apiVersion: v1
kind: Event
metadata: {{name: e-{namespace}, namespace: {namespace}}}
involvedObject: {{kind: ExternalSecret, namespace: {namespace}, name: login}}
type: Warning
reason: UpdateFailed
message: 'error processing spec.data[0] (key: db), err: SecretStore \"store\" is not ready'
"
    )
}

/// A store that asks the Vault of its namespace, and what it is told.
fn store(namespace: &str, told: &str) -> String {
    format!(
        "
---
apiVersion: external-secrets.io/v1
kind: SecretStore
metadata: {{name: store, namespace: {namespace}}}
spec: {{provider: {{vault: {{server: 'http://vault.{namespace}.svc:8200', auth: {{kubernetes: {{role: reader}}}}}}}}}}
status: {{conditions: [{{type: Ready, status: 'False', reason: InvalidProviderConfig, message: unable to validate store}}]}}
---
apiVersion: v1
kind: Event
metadata: {{name: s-{namespace}, namespace: {namespace}}}
involvedObject: {{kind: SecretStore, namespace: {namespace}, name: store}}
type: Warning
reason: InvalidProviderConfig
message: '{told}'
"
    )
}

/// A Vault, with the status of its one pod.
fn vault(namespace: &str, status: &str) -> String {
    format!(
        "
@app vault-{namespace} Synced Progressing
apiVersion: apps/v1
kind: StatefulSet
metadata: {{name: vault, namespace: {namespace}}}
@live
apiVersion: v1
kind: Service
metadata: {{name: vault, namespace: {namespace}}}
spec: {{selector: {{app: vault}}}}
---
apiVersion: apps/v1
kind: StatefulSet
metadata: {{name: vault, namespace: {namespace}, uid: v-{namespace}}}
spec: {{replicas: 1, template: {{metadata: {{labels: {{app: vault}}}}, spec: {{containers: [{{name: vault, image: vault}}]}}}}}}
---
apiVersion: v1
kind: Pod
metadata: {{name: vault-0, namespace: {namespace}, labels: {{app: vault}}, ownerReferences: [{{kind: StatefulSet, name: vault, uid: v-{namespace}, controller: true}}]}}
spec: {{containers: [{{name: vault, image: vault}}]}}
status: {status}
"
    )
}

const PENDING: &str = "{phase: Pending, conditions: [{type: PodScheduled, status: 'False', reason: Unschedulable, message: '0/1 nodes \
                       are available: 1 node(s) had untolerated taint {env: dev}.'}]}";
const UNREADY: &str = "{phase: Running, conditions: [{type: Ready, status: 'False'}], containerStatuses: [{name: vault, ready: false, \
                       state: {running: {startedAt: '2026-01-01T10:00:00Z'}}}]}";
const NODE: &str = "---\napiVersion: v1\nkind: Node\nmetadata: {name: dev-1}\nspec: {taints: [{key: env, value: dev, effect: NoSchedule}]}\n";

#[test]
fn three_environments_have_three_causes() {
    let refused = "dial tcp 10.0.0.9:8200: connect: connection refused";
    let sealed = "Error making API request. Code: 503. Errors: * Vault is sealed";
    let denied = "Error making API request. Code: 403. Errors: * permission denied";
    let ready = "{phase: Running, conditions: [{type: Ready, status: 'True'}], containerStatuses: [{name: vault, ready: true}]}";
    let text = [
        reader("dev"),
        store("dev", refused),
        vault("dev", PENDING),
        NODE.to_owned(),
        reader("staging"),
        store("staging", sealed),
        vault("staging", UNREADY),
        reader("prod"),
        store("prod", denied),
        vault("prod", ready)
            .replace("Synced Progressing", "Synced Healthy")
            .replace("spec: {replicas: 1,", "status: {observedGeneration: 1, replicas: 1, readyReplicas: 1, updatedReplicas: 1, currentReplicas: 1}\nspec: {replicas: 1,"),
    ];
    assert_eq!(
        roots(&text.concat()),
        "P0 LYN0401/vault-dev/StatefulSet/vault explains vault-dev web-dev\nP0 LYN0702/vault-staging/StatefulSet/vault explains vault-staging web-staging\nP1 LYN0703/prod/SecretStore/store explains web-prod\n"
    );
}

#[test]
fn a_cluster_wide_store_that_points_nowhere_explains_all_environments() {
    let wide = |namespace: &str| {
        reader(namespace)
            .replace("secretStoreRef: {name: store}", "secretStoreRef: {kind: ClusterSecretStore, name: all}")
    };
    let all = store("x", "dial tcp: lookup vault.x.svc: no such host")
        .replace("kind: SecretStore", "kind: ClusterSecretStore")
        .replace("name: store, namespace: x", "name: all")
        .replace("namespace: x, name: store", "name: all");
    let text = [wide("dev"), wide("prod"), all];
    assert_eq!(roots(&text.concat()), "P0 LYN0701/-/ClusterSecretStore/all explains web-dev web-prod\n");
}

#[test]
fn a_hook_that_may_not_look_holds_its_sync_and_all_that_comes_after() {
    let text = "
@app ci OutOfSync Progressing
@status {operationState: {phase: Running, message: waiting for completion of hook batch/Job/wait, operation: {}, startedAt: '2026-01-01T09:00:00Z'}}
apiVersion: batch/v1
kind: Job
metadata: {name: wait, namespace: ci, annotations: {argocd.argoproj.io/hook: Sync, argocd.argoproj.io/sync-wave: '-3'}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: notebook, namespace: ci}
@live
apiVersion: batch/v1
kind: Job
metadata: {name: wait, namespace: ci, uid: j1, annotations: {argocd.argoproj.io/hook: Sync}}
spec: {template: {spec: {serviceAccountName: waiter, containers: [{name: w, image: cli, args: ['while ! oc get imagestreamtag web:latest; do sleep 30; done']}]}}}
status: {active: 1, startTime: '2026-01-01T09:00:00Z'}
---
apiVersion: v1
kind: Pod
metadata: {name: wait-1, namespace: ci, ownerReferences: [{kind: Job, name: wait, uid: j1, controller: true}]}
spec: {containers: [{name: w, image: cli}]}
status: {phase: Running, containerStatuses: [{name: w, ready: true, state: {running: {startedAt: '2026-01-01T09:00:00Z'}}}]}
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: waiter, namespace: ci}
---
apiVersion: image.openshift.io/v1
kind: ImageStreamTag
metadata: {name: 'web:latest', namespace: ci}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: other, namespace: ci}
";
    assert_eq!(roots(text), "P1 LYN0803/ci/ServiceAccount/waiter explains ci\n");
}

#[test]
fn a_webhook_without_pods_leads_to_why_it_has_none() {
    let text = "
@app policies Synced Degraded
apiVersion: apps/v1
kind: Deployment
metadata: {name: checker, namespace: tools}
@app shop OutOfSync Missing
@status {operationState: {phase: Failed, operation: {}, startedAt: null, syncResult: {revision: a, resources: [{group: '', version: v1, kind: ConfigMap, namespace: shop, name: c, status: SyncFailed, message: 'Internal error occurred: failed calling webhook \"check.example.com\": failed to call webhook: Post \"https://checker.tools.svc:443/v?timeout=10s\": no endpoints available for service \"checker\"'}]}}}
apiVersion: v1
kind: ConfigMap
metadata: {name: c, namespace: shop}
@live
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: checker}
webhooks: [{name: check.example.com}]
---
apiVersion: v1
kind: Service
metadata: {name: checker, namespace: tools}
spec: {selector: {app: checker}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: checker, namespace: tools, uid: d1}
spec: {replicas: 1, template: {metadata: {labels: {app: checker}}, spec: {containers: [{name: c, image: c, resources: {limits: {memory: 64Mi}}}]}}}
---
apiVersion: v1
kind: Pod
metadata: {name: checker-1, namespace: tools, ownerReferences: [{kind: Deployment, name: checker, uid: d1, controller: true}]}
spec: {containers: [{name: c, image: c}]}
status: {phase: Running, containerStatuses: [{name: c, ready: false, restartCount: 7, state: {waiting: {reason: CrashLoopBackOff}}, lastState: {terminated: {exitCode: 137, reason: OOMKilled}}}]}
";
    assert_eq!(roots(text), "P0 LYN0902/policies/Deployment/checker explains policies shop\n");
}

#[test]
fn an_unready_kafka_and_a_program_that_waits_for_it() {
    let text = "
@app data Synced Degraded
apiVersion: kafka.strimzi.io/v1beta2
kind: Kafka
metadata: {name: events, namespace: data}
@app shop Synced Degraded
apiVersion: apps/v1
kind: Deployment
metadata: {name: api, namespace: shop}
@live
apiVersion: kafka.strimzi.io/v1beta2
kind: Kafka
metadata: {name: events, namespace: data, uid: k1}
status: {conditions: [{type: NotReady, status: 'True', reason: CreationTimeout, message: Exceeded timeout}]}
---
apiVersion: v1
kind: Service
metadata: {name: events, namespace: data}
spec: {selector: {app: events}}
---
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: events, namespace: data, uid: s1, ownerReferences: [{kind: Kafka, apiVersion: kafka.strimzi.io/v1beta2, name: events, uid: k1, controller: true}]}
spec: {replicas: 1, template: {metadata: {labels: {app: events}}, spec: {containers: [{name: k, image: k}]}}}
---
apiVersion: v1
kind: Event
metadata: {name: a, namespace: data}
involvedObject: {kind: StatefulSet, namespace: data, name: events}
type: Warning
reason: FailedCreate
message: 'create Pod events-0 in StatefulSet events failed error: pods \"events-0\" is forbidden: exceeded quota: team, requested: cpu=2, used: cpu=7, limited: cpu=8'
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: api, namespace: shop, uid: d1}
spec: {replicas: 1, template: {spec: {containers: [{name: api, image: api, env: [{name: KAFKA, value: 'events.data:9092'}]}]}}}
---
apiVersion: v1
kind: Pod
metadata: {name: api-1, namespace: shop, ownerReferences: [{kind: Deployment, name: api, uid: d1, controller: true}]}
spec: {containers: [{name: api, image: api, env: [{name: KAFKA, value: 'events.data:9092'}]}]}
status: {phase: Running, containerStatuses: [{name: api, ready: false, restartCount: 4, state: {waiting: {reason: CrashLoopBackOff}}, lastState: {terminated: {exitCode: 1, message: no broker}}}]}
";
    assert_eq!(roots(text), "P0 LYN0802/data/ResourceQuota/team explains data shop\n");
}

#[test]
fn what_is_nobodys_and_stops_nothing_is_no_cause() {
    let noise = "
---
apiVersion: v1
kind: Pod
metadata: {name: toy, namespace: sandbox}
spec: {containers: [{name: toy, image: toy}]}
status: {phase: Running, containerStatuses: [{name: toy, ready: false, restartCount: 40, state: {waiting: {reason: CrashLoopBackOff}}, lastState: {terminated: {exitCode: 1}}}]}
---
apiVersion: example.com/v1
kind: Toy
metadata: {name: toy, namespace: sandbox}
status: {conditions: [{type: Ready, status: 'False', message: broken}]}
---
apiVersion: batch/v1
kind: Job
metadata: {name: toy, namespace: sandbox}
status: {conditions: [{type: Failed, status: 'True', reason: BackoffLimitExceeded}]}
";
    let gone = "@app shop Unknown Healthy\n@condition ComparisonError unable to resolve 'x' to a commit SHA\n@live\n";
    assert_eq!(
        roots(&format!("{gone}{noise}")),
        "P1 LYN1001/shop/Application/shop explains shop\nP3 LYN0901/sandbox/Pod/toy explains \n"
    );
}

#[test]
fn a_status_alone_tells_which_object_is_at_fault() {
    let text = "
@app shop Synced Degraded
@status {resources: [{group: apps, version: v1, kind: Deployment, namespace: shop, name: api, status: Synced}]}
@live
apiVersion: apps/v1
kind: Deployment
metadata: {name: api, namespace: shop, uid: d1}
spec: {replicas: 1, template: {spec: {containers: [{name: api, image: api}]}}}
---
apiVersion: v1
kind: Pod
metadata: {name: api-1, namespace: shop, ownerReferences: [{kind: Deployment, name: api, uid: d1, controller: true}]}
spec: {containers: [{name: api, image: api}]}
status: {phase: Running, containerStatuses: [{name: api, ready: false, restartCount: 4, state: {waiting: {reason: CrashLoopBackOff}}, lastState: {terminated: {exitCode: 1, message: 'password authentication failed for user shop'}}}]}
";
    assert_eq!(roots(text), "P1 LYN0705/shop/Deployment/api explains shop\n");
}
