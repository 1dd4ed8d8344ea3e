//! What autoscalers do with the metrics that a stage and annotations declare, and who serves Ingresses, on a clock that is moved by hand.

#![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use jiff::SignedDuration;
use lynceus_object::{Object, Value, value, yaml};
use lynceus_sim::attributes::User;
use lynceus_sim::view::View;
use lynceus_sim::{Local, Options, Sim, Stage, Target};
use tower::ServiceExt;

struct Cluster {
    sim: Sim,
    local: Local,
}

impl Cluster {
    async fn start(stage: &str) -> Self {
        let options = Options::by_hand(Stage::of_keys(stage).unwrap());
        let sim = Sim::start_at_rest(options).await.unwrap();
        Cluster { local: sim.local(), sim }
    }

    async fn create(&self, group: &str, resource: &str, text: &str) {
        let value: Value = yaml::parse(text.as_bytes()).unwrap();
        let mut object = Object::new(value).unwrap();
        object.set(&["metadata", "namespace"], "default");
        self.local.create(group, resource, object).await.unwrap();
    }

    /// A Deployment of the image `web` whose containers ask for `requests`, and an autoscaler with these fields.
    async fn autoscaled(&self, replicas: i64, requests: &str, scaler: &str) {
        let deployment = format!(
            "metadata: {{name: web}}\nspec: {{replicas: {replicas}, selector: {{matchLabels: {{app: web}}}}, template: \
             {{metadata: {{labels: {{app: web}}}}, spec: {{containers: [{{name: main, image: web, resources: \
             {{requests: {requests}}}}}]}}}}}}"
        );
        self.create("apps", "deployments", &deployment).await;
        self.advance(60).await;
        let scaler = format!(
            "metadata: {{name: web}}\nspec: {{scaleTargetRef: {{apiVersion: apps/v1, kind: Deployment, name: web}}, {scaler}}}"
        );
        self.create("autoscaling", "horizontalpodautoscalers", &scaler).await;
    }

    async fn advance(&self, seconds: i64) {
        self.sim.advance(SignedDuration::from_secs(seconds)).await;
    }

    fn scaler(&self) -> Object {
        self.local.get("autoscaling", "horizontalpodautoscalers", "default", "web").unwrap()
    }

    fn size(&self) -> i64 {
        let web = self.local.get("apps", "deployments", "default", "web").unwrap();
        web.value().int_at(&["spec", "replicas"]).unwrap()
    }

    /// The autoscaler's conditions: status, type, reason, message.
    fn conditions(&self) -> Vec<String> {
        let scaler = self.scaler();
        let conditions = scaler.value().items_at(&["status", "conditions"]);
        let word = |condition: &Value, field: &str| condition.str_at(&[field]).unwrap_or_default().to_owned();
        conditions
            .iter()
            .map(|condition| {
                let [status, type_, reason, message] =
                    ["status", "type", "reason", "message"].map(|field| word(condition, field));
                format!("{status} {type_} {reason}: {message}")
            })
            .collect()
    }

    fn events(&self) -> Vec<String> {
        let mut events = self.local.list("", "events", Some("default"));
        let kind = |event: &Object| event.value().str_at(&["involvedObject", "kind"]).map(str::to_owned);
        events.retain(|event| kind(event).as_deref() == Some("HorizontalPodAutoscaler"));
        events.sort_by_key(|event| event.name().to_owned());
        let text =
            |event: &Object, field: &str| event.value().str_at(&[field]).unwrap_or_default().to_owned();
        events.iter().map(|event| format!("{}: {}", text(event, "reason"), text(event, "message"))).collect()
    }

    async fn annotate(&self, resource: &str, name: &str, key: &str, text: &str) {
        let group = if resource == "horizontalpodautoscalers" { "autoscaling" } else { "" };
        let target = Target { group, resource, namespace: "default", name };
        self.local.edit(target, "", |object| object.set_annotation(key, text)).await.unwrap();
    }
}

const CPU: &str =
    "metrics: [{type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 80}}}]";

#[tokio::test]
async fn a_load_that_pods_share_is_met_step_by_step() {
    let cluster =
        Cluster::start("programs: [{image: '*web*', shares: {cpu: 800m}, uses: {memory: 100Mi}}]").await;
    cluster.autoscaled(2, "{cpu: 100m}", &format!("minReplicas: 1, maxReplicas: 30, {CPU}")).await;
    cluster.advance(15).await;
    assert_eq!(cluster.size(), 4);
    cluster.advance(300).await;
    assert_eq!(cluster.size(), 10);
    assert_eq!(
        cluster.events(),
        [
            "SuccessfulRescale: New size: 4; reason: cpu resource utilization (percentage of request) above target",
            "SuccessfulRescale: New size: 8; reason: cpu resource utilization (percentage of request) above target",
            // What was asked for before counts while new pods are not measured yet, and nobody asks for it now.
            "SuccessfulRescale: New size: 10; reason: ",
        ]
    );
    assert_eq!(
        cluster.conditions(),
        [
            "True AbleToScale ReadyForNewScale: recommended size matches current size",
            "True ScalingActive ValidMetricFound: the HPA was able to successfully calculate a replica count from cpu \
             resource utilization (percentage of request)",
            "False ScalingLimited DesiredWithinRange: the desired count is within the acceptable range",
        ]
    );
    let status = cluster.scaler().value().get("status").cloned().unwrap();
    assert_eq!(
        status.get("currentMetrics"),
        Some(&value!([{
            "type": "Resource",
            "resource": {"name": "cpu", "current": {"averageUtilization": 80, "averageValue": "80m"}},
        }]))
    );
    assert_eq!(
        (status.int_at(&["currentReplicas"]), status.int_at(&["desiredReplicas"])),
        (Some(10), Some(10))
    );
}

#[tokio::test]
async fn a_quiet_workload_shrinks_after_five_minutes() {
    let cluster = Cluster::start("programs: [{image: '*web*', uses: {cpu: 80m}}]").await;
    cluster.autoscaled(6, "{cpu: 100m}", &format!("minReplicas: 2, maxReplicas: 10, {CPU}")).await;
    cluster.advance(30).await;
    assert_eq!(cluster.size(), 6);
    for pod in cluster.local.list("", "pods", Some("default")) {
        cluster.annotate("pods", pod.name(), "metrics.sim.lynceus.dev/cpu", "10m").await;
    }
    cluster.advance(60).await;
    assert_eq!(cluster.size(), 6);
    assert_eq!(
        cluster.conditions()[0],
        "True AbleToScale ScaleDownStabilized: recent recommendations were higher than current one, applying the highest \
         recent recommendation"
    );
    cluster.advance(300).await;
    assert_eq!(cluster.size(), 2);
    assert_eq!(cluster.events(), ["SuccessfulRescale: New size: 2; reason: All metrics below target"]);
    assert_eq!(
        cluster.conditions()[2],
        "True ScalingLimited TooFewReplicas: the desired replica count is less than the minimum replica count"
    );
}

#[tokio::test]
async fn what_is_missing_is_said_in_the_words_of_the_original() {
    let used = "programs: [{image: '*web*', uses: {cpu: 80m}}]";
    let other = "programs: [{image: other, uses: {cpu: 80m}}]";
    for (stage, requests, metrics, reason, why) in [
        (
            "",
            "{cpu: 100m}",
            CPU,
            "FailedGetResourceMetric",
            "failed to get cpu utilization: unable to get metrics for resource cpu: unable to fetch metrics from resource \
             metrics API: the server could not find the requested resource (get pods.metrics.k8s.io)",
        ),
        (
            other,
            "{cpu: 100m}",
            CPU,
            "FailedGetResourceMetric",
            "failed to get cpu utilization: unable to get metrics for resource cpu: no metrics returned from resource \
             metrics API",
        ),
        (
            used,
            "{memory: 1Mi}",
            CPU,
            "FailedGetResourceMetric",
            "failed to get cpu utilization: missing request for cpu in container main of Pod POD",
        ),
        (
            used,
            "{cpu: 1}",
            "metrics: [{type: ContainerResource, containerResource: {name: cpu, container: side, target: {type: \
             Utilization, averageUtilization: 80}}}]",
            "FailedGetContainerResourceMetric",
            "failed to get cpu utilization: did not receive metrics for targeted pods (pods might be unready)",
        ),
        (
            used,
            "{cpu: 1}",
            "metrics: [{type: Pods, pods: {metric: {name: hits}, target: {type: AverageValue, averageValue: 5}}}]",
            "FailedGetPodsMetric",
            "unable to get metric hits: unable to fetch metrics from custom metrics API: no custom metrics API \
             (custom.metrics.k8s.io) registered",
        ),
        (
            "metrics: [{name: other, of: Pod/*, value: 1}]",
            "{cpu: 1}",
            "metrics: [{type: Object, object: {metric: {name: hits}, describedObject: {apiVersion: v1, kind: Service, name: \
             web}, target: {type: Value, value: 5}}}]",
            "FailedGetObjectMetric",
            "unable to get metric hits: Service on default web/unable to fetch metrics from custom metrics API: the server \
             could not find the metric hits for services web",
        ),
        (
            "",
            "{cpu: 1}",
            "metrics: [{type: External, external: {metric: {name: jobs, selector: {matchLabels: {q: a}}}, target: {type: \
             AverageValue, averageValue: 5}}}]",
            "FailedGetExternalMetric",
            "unable to get external metric default/jobs/&LabelSelector{MatchLabels:map[string]string{q: \
             a,},MatchExpressions:[]LabelSelectorRequirement{},}: unable to fetch metrics from external metrics API: the \
             server could not find the requested resource (get jobs.external.metrics.k8s.io)",
        ),
    ] {
        let cluster = Cluster::start(stage).await;
        cluster.autoscaled(1, requests, &format!("maxReplicas: 10, {metrics}")).await;
        cluster.advance(15).await;
        let pods = cluster.local.list("", "pods", Some("default"));
        let why = why.replace("POD", pods[0].name());
        let active =
            format!("False ScalingActive {reason}: the HPA was unable to compute the replica count: {why}");
        assert_eq!(cluster.conditions()[1], active, "{metrics}");
        let events = cluster.events();
        assert_eq!(events[0], format!("{reason}: {why}"));
        let summary = "FailedComputeMetricsReplicas: invalid metrics (1 invalid out of 1), first error is: failed to get ";
        assert!(events[1].starts_with(summary) && events[1].ends_with(&why), "{events:?}");
        assert_eq!(cluster.scaler().at(&["status", "currentMetrics"]), Some(&value!([{"type": ""}])));
    }
}

#[tokio::test]
async fn metrics_of_pods_of_objects_and_from_outside_are_followed() {
    let stage = "metrics:\n- {name: hits, of: Pod/web-*, value: 20}\n- {name: hits, of: Service/web, value: 60}\n\
                 - {name: jobs, labels: {q: a}, value: 30}\n- {name: jobs, labels: {q: b}, value: 500}\n";
    for (metric, wanted, shown) in [
        (
            "{type: Pods, pods: {metric: {name: hits}, target: {type: AverageValue, averageValue: 10}}}",
            4,
            "pods metric hits",
        ),
        (
            "{type: Object, object: {metric: {name: hits}, describedObject: {apiVersion: v1, kind: Service, name: web}, \
             target: {type: Value, value: 40}}}",
            3,
            "Service metric hits",
        ),
        (
            "{type: Object, object: {metric: {name: hits}, describedObject: {apiVersion: v1, kind: Service, name: web}, \
             target: {type: AverageValue, averageValue: 20}}}",
            3,
            "external metric hits(nil)",
        ),
        (
            "{type: External, external: {metric: {name: jobs, selector: {matchLabels: {q: a}}}, target: {type: \
             AverageValue, averageValue: 10}}}",
            3,
            "external metric jobs(&LabelSelector{MatchLabels:map[string]string{q: \
             a,},MatchExpressions:[]LabelSelectorRequirement{},})",
        ),
    ] {
        let cluster = Cluster::start(stage).await;
        cluster.create("", "services", "metadata: {name: web}\nspec: {ports: [{port: 80}]}").await;
        cluster.autoscaled(2, "{cpu: 1}", &format!("maxReplicas: 10, metrics: [{metric}]")).await;
        cluster.advance(15).await;
        assert_eq!(cluster.size(), wanted, "{metric}");
        let expected = format!("SuccessfulRescale: New size: {wanted}; reason: {shown} above target");
        assert_eq!(cluster.events(), [expected]);
    }
}

#[tokio::test]
async fn an_annotation_on_the_autoscaler_is_a_metric_from_outside() {
    let cluster = Cluster::start("").await;
    let metric =
        "{type: External, external: {metric: {name: jobs}, target: {type: AverageValue, averageValue: 10}}}";
    cluster.autoscaled(1, "{cpu: 1}", &format!("maxReplicas: 10, metrics: [{metric}]")).await;
    cluster.annotate("horizontalpodautoscalers", "web", "metrics.sim.lynceus.dev/jobs", "35").await;
    cluster.advance(15).await;
    assert_eq!(cluster.size(), 4);
}

#[tokio::test]
async fn one_metric_that_fails_keeps_the_workload_from_shrinking_only() {
    for (used, wanted) in [("10m", 4), ("160m", 8)] {
        let stage = format!("programs: [{{image: '*web*', uses: {{cpu: {used}}}}}]");
        let cluster = Cluster::start(&stage).await;
        let metrics = "metrics: [{type: Pods, pods: {metric: {name: hits}, target: {type: AverageValue, averageValue: 5}}}, \
                       {type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 80}}}]";
        cluster.autoscaled(4, "{cpu: 100m}", &format!("maxReplicas: 8, {metrics}")).await;
        cluster.advance(400).await;
        assert_eq!(cluster.size(), wanted, "{used}");
    }
}

#[tokio::test]
async fn bounds_count_before_metrics_and_a_workload_of_none_is_left_alone() {
    for (replicas, wanted, event) in [
        (1, 3, "SuccessfulRescale: New size: 3; reason: Current number of replicas below Spec.MinReplicas"),
        (9, 5, "SuccessfulRescale: New size: 5; reason: Current number of replicas above Spec.MaxReplicas"),
        (0, 0, ""),
    ] {
        let cluster = Cluster::start("").await;
        cluster.autoscaled(replicas, "{cpu: 1}", &format!("minReplicas: 3, maxReplicas: 5, {CPU}")).await;
        cluster.advance(15).await;
        assert_eq!(cluster.size(), wanted);
        assert_eq!(cluster.events().join(""), event);
    }
}

#[tokio::test]
async fn a_missing_workload_and_two_autoscalers_for_one_are_told() {
    let cluster = Cluster::start("").await;
    let scaler = |name: &str, target: &str| {
        format!(
            "metadata: {{name: {name}}}\nspec: {{maxReplicas: 3, scaleTargetRef: {{apiVersion: apps/v1, kind: Deployment, name: {target}}}}}"
        )
    };
    cluster.create("autoscaling", "horizontalpodautoscalers", &scaler("lost", "nowhere")).await;
    cluster.advance(15).await;
    assert_eq!(cluster.events(), ["FailedGetScale: deployments.apps \"nowhere\" not found"]);
    cluster.autoscaled(1, "{cpu: 1}", "maxReplicas: 3").await;
    cluster.create("autoscaling", "horizontalpodautoscalers", &scaler("second", "web")).await;
    cluster.advance(45).await;
    assert_eq!(
        cluster.conditions()[1],
        "False ScalingActive AmbiguousSelector: pods by selector app=web are controlled by multiple HPAs: [default/second \
         default/web]"
    );
}

#[tokio::test]
async fn a_size_that_is_refused_is_told_and_tried_again() {
    let cluster = Cluster::start("").await;
    let object = |text: &str| Object::new(yaml::parse(text.as_bytes()).unwrap()).unwrap();
    let group = "admissionregistration.k8s.io";
    let policy = "metadata: {name: frozen}\nspec: {matchConstraints: {resourceRules: [{operations: [UPDATE], apiGroups: [apps], \
                  apiVersions: [v1], resources: [deployments/scale]}]}, validations: [{expression: 'false', message: frozen}]}";
    let binding = "metadata: {name: frozen}\nspec: {policyName: frozen, validationActions: [Deny]}";
    cluster.local.create(group, "validatingadmissionpolicies", object(policy)).await.unwrap();
    cluster.local.create(group, "validatingadmissionpolicybindings", object(binding)).await.unwrap();
    cluster.autoscaled(1, "{cpu: 1}", "minReplicas: 3, maxReplicas: 5").await;
    cluster.advance(15).await;
    let refused = "deployments.apps \"web\" is forbidden: ValidatingAdmissionPolicy 'frozen' with binding 'frozen' denied \
                   request: frozen";
    assert_eq!(
        cluster.conditions(),
        [format!(
            "False AbleToScale FailedUpdateScale: the HPA controller was unable to update the target scale: {refused}"
        )]
    );
    let reason = "Current number of replicas below Spec.MinReplicas";
    assert_eq!(cluster.events(), [format!("FailedRescale: New size: 3; reason: {reason}; error: {refused}")]);
    let target =
        Target { group, resource: "validatingadmissionpolicybindings", namespace: "", name: "frozen" };
    cluster.local.delete(target, &Default::default()).await.unwrap();
    cluster.advance(15).await;
    assert_eq!(cluster.size(), 3);
}

#[tokio::test]
async fn a_custom_resource_with_a_scale_is_given_its_size() {
    let cluster = Cluster::start("metrics: [{name: jobs, value: 40}]").await;
    let counted = "{type: object, properties: {replicas: {type: integer}, selector: {type: string}}}";
    let definition = format!(
        "metadata: {{name: crews.e.com}}\nspec: {{group: e.com, scope: Namespaced, names: {{plural: crews, kind: Crew}}, versions: \
         [{{name: v1, served: true, storage: true, subresources: {{status: {{}}, scale: {{specReplicasPath: .spec.replicas, \
         statusReplicasPath: .status.replicas, labelSelectorPath: .status.selector}}}}, schema: {{openAPIV3Schema: {{type: object, \
         properties: {{spec: {counted}, status: {counted}}}}}}}}}]}}"
    );
    let definition = Object::new(yaml::parse(definition.as_bytes()).unwrap()).unwrap();
    cluster.local.create("apiextensions.k8s.io", "customresourcedefinitions", definition).await.unwrap();
    cluster
        .create(
            "e.com",
            "crews",
            "apiVersion: e.com/v1\nkind: Crew\nmetadata: {name: crew}\nspec: {replicas: 2}",
        )
        .await;
    let target = Target { group: "e.com", resource: "crews", namespace: "default", name: "crew" };
    let counted = |crew: &mut Object| crew.set(&["status"], value!({"replicas": 2, "selector": "app=crew"}));
    cluster.local.edit(target, "status", counted).await.unwrap();
    let scaler = "metadata: {name: web}\nspec: {maxReplicas: 9, scaleTargetRef: {apiVersion: e.com/v1, kind: Crew, name: crew}, \
                  metrics: [{type: External, external: {metric: {name: jobs}, target: {type: AverageValue, averageValue: 10}}}]}";
    cluster.create("autoscaling", "horizontalpodautoscalers", scaler).await;
    cluster.advance(15).await;
    let crew = cluster.local.get("e.com", "crews", "default", "crew").unwrap();
    assert_eq!(crew.value().int_at(&["spec", "replicas"]), Some(4), "{:?}", cluster.events());
}

async fn get(cluster: &Cluster, path: &str) -> Value {
    let request = http::Request::get(path).body(Full::new(Bytes::new())).unwrap();
    let answer = cluster.sim.service(User::admin()).oneshot(request).await.unwrap();
    let bytes = answer.into_body().collect().await.unwrap().to_bytes();
    lynceus_object::json::parse(&bytes).unwrap_or_default()
}

#[tokio::test]
async fn what_pods_and_nodes_use_can_be_read_where_somebody_measures() {
    let none = Cluster::start("").await;
    assert_eq!(get(&none, "/apis/metrics.k8s.io/v1beta1/nodes").await.get("items"), None);
    let cluster = Cluster::start("programs: [{image: '*web*', uses: {cpu: 80m, memory: 100Mi}}]").await;
    let pod = "metadata: {name: web, labels: {app: web}}\nspec: {containers: [{name: a, image: web}, {name: b, image: other}]}";
    cluster.create("", "pods", pod).await;
    cluster.advance(5).await;
    let listed = get(&cluster, "/apis/metrics.k8s.io/v1beta1").await;
    let names: Vec<&str> =
        listed.items_at(&["resources"]).iter().filter_map(|one| one.str_at(&["name"])).collect();
    assert_eq!(names, ["nodes", "pods"]);
    let measured = get(&cluster, "/apis/metrics.k8s.io/v1beta1/namespaces/default/pods/web").await;
    assert_eq!(
        measured,
        value!({
            "kind": "PodMetrics", "apiVersion": "metrics.k8s.io/v1beta1",
            "metadata": {"name": "web", "namespace": "default", "labels": {"app": "web"}, "creationTimestamp": "2026-01-01T00:00:05Z"},
            "timestamp": "2026-01-01T00:00:05Z", "window": "15s",
            "containers": [
                {"name": "a", "usage": {"cpu": "80m", "memory": "100Mi"}}, {"name": "b", "usage": {"cpu": "0", "memory": "0"}},
            ],
        })
    );
    let pods = get(&cluster, "/apis/metrics.k8s.io/v1beta1/pods?labelSelector=app%3Dother").await;
    assert_eq!((pods.str_at(&["kind"]), pods.items_at(&["items"]).len()), (Some("PodMetricsList"), 0));
    let nodes = get(&cluster, "/apis/metrics.k8s.io/v1beta1/nodes").await;
    let used: Vec<&str> =
        nodes.items_at(&["items"]).iter().filter_map(|node| node.str_at(&["usage", "cpu"])).collect();
    assert_eq!(used.iter().filter(|cpu| **cpu == "80m").count(), 1, "{used:?}");
    assert_eq!(used.len(), 3);
}

const INGRESS: &str = "metadata: {name: web}\nspec: {ingressClassName: CLASS, defaultBackend: {service: {name: web, port: {number: 80}}}}";

impl Cluster {
    async fn class(&self, name: &str, controller: &str) {
        let value: Value =
            yaml::parse(format!("metadata: {{name: {name}}}\nspec: {{controller: {controller}}}").as_bytes())
                .unwrap();
        self.local.create("networking.k8s.io", "ingressclasses", Object::new(value).unwrap()).await.unwrap();
    }

    fn addresses(&self) -> Value {
        let web = self.local.get("networking.k8s.io", "ingresses", "default", "web").unwrap();
        web.value().at(&["status", "loadBalancer", "ingress"]).cloned().unwrap_or(Value::Null)
    }
}

#[tokio::test]
async fn nobody_serves_an_ingress_without_a_controller_for_its_class() {
    let cluster =
        Cluster::start("ingress: [{controller: example.com/front, address: front.example.com}]").await;
    cluster.create("networking.k8s.io", "ingresses", &INGRESS.replace("CLASS", "front")).await;
    cluster.class("other", "example.com/other").await;
    cluster.advance(60).await;
    assert_eq!(cluster.addresses(), Value::Null);
    cluster.class("front", "example.com/front").await;
    cluster.advance(1).await;
    assert_eq!(cluster.addresses(), value!([{"hostname": "front.example.com"}]));
}

#[tokio::test]
async fn a_well_known_controller_gives_the_address_of_its_service() {
    let cluster = Cluster::start("").await;
    cluster.class("nginx", "k8s.io/ingress-nginx").await;
    cluster.create("networking.k8s.io", "ingresses", &INGRESS.replace("CLASS", "nginx")).await;
    let service =
        "metadata: {name: front}\nspec: {type: LoadBalancer, selector: {app: nginx}, ports: [{port: 80}]}";
    cluster.create("", "services", service).await;
    cluster.advance(5).await;
    assert_eq!(cluster.addresses(), Value::Null);
    let pod = "metadata: {name: nginx, labels: {app: nginx}}\nspec: {containers: [{name: a, image: registry.k8s.io/ingress-nginx/controller:v1}]}";
    cluster.create("", "pods", pod).await;
    cluster.advance(5).await;
    assert_eq!(cluster.addresses(), value!([{"ip": "198.18.0.1"}]));
}
