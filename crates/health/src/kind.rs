//! Which check is for which kind.

mod api_service;
mod autoscaler;
mod canary;
mod ceph_cluster;
mod claim;
mod cluster_api;
mod collector;
mod compliance;
mod daemon_set;
mod deployment;
mod elasticsearch;
mod external_secret;
mod flux;
mod gateway;
mod grafana;
mod iam_role;
mod ingress;
mod job;
mod kafka_cluster;
mod keycloak;
mod knative;
mod kruise;
mod pod;
mod promoter;
mod replica_set;
mod rollout;
mod route;
mod service;
mod spark;
mod spin_app;
mod stateful_set;
mod subscription;
mod workflow;

use lynceus_object::Object;

use crate::Health;

/// A check: from a live object to its health.
pub(crate) type Check = fn(&Object) -> Health;

/// The check for a kind that Argo CD has built in, if there is one.
pub(crate) fn built_in(group: &str, kind: &str) -> Option<Check> {
    Some(match (group, kind) {
        ("apps", "Deployment") => deployment::check,
        ("apps", "StatefulSet") => stateful_set::check,
        ("apps", "ReplicaSet") => replica_set::check,
        ("apps", "DaemonSet") => daemon_set::check,
        ("extensions" | "networking.k8s.io", "Ingress") => ingress::check,
        ("argoproj.io", "Workflow") => workflow::check,
        ("apiregistration.k8s.io", "APIService") => api_service::check,
        ("", "Service") => service::check,
        ("", "PersistentVolumeClaim") => claim::check,
        ("", "Pod") => pod::check,
        ("batch", "Job") => job::check,
        ("autoscaling", "HorizontalPodAutoscaler") => autoscaler::check,
        _ => return None,
    })
}

/// The check for a kind that a few lines of data cannot describe, if it is such a one.
pub(crate) fn special(group: &str, kind: &str) -> Option<Check> {
    Some(match (group, kind) {
        ("apps.kruise.io", "DaemonSet") => kruise::daemon_set,
        ("apps.kruise.io", "StatefulSet") => kruise::stateful_set,
        ("argoproj.io", "Rollout") => rollout::check,
        ("ceph.rook.io", "CephCluster") => ceph_cluster::check,
        ("cluster.x-k8s.io", "MachinePool") => cluster_api::machine_pool,
        ("controlplane.cluster.x-k8s.io", "AWSManagedControlPlane") => cluster_api::aws_control_plane,
        ("core.spinkube.dev", "SpinApp") => spin_app::check,
        ("elasticsearch.k8s.elastic.co", "Elasticsearch") => elasticsearch::check,
        ("flagger.app", "Canary") => canary::check,
        ("game.kruise.io", "GameServerSet") => kruise::game_server_set,
        ("gateway.networking.k8s.io", "BackendTLSPolicy") => gateway::backend_tls_policy,
        ("gateway.networking.k8s.io", "GRPCRoute") => gateway::grpc_route,
        ("gateway.networking.k8s.io", "Gateway") => gateway::gateway,
        ("gateway.networking.k8s.io", "HTTPRoute") => gateway::http_route,
        ("grafana.integreatly.org", "GrafanaDashboard" | "GrafanaFolder") => grafana::check,
        ("helm.toolkit.fluxcd.io", "HelmRelease") => flux::helm_release,
        ("iammanager.keikoproj.io", "Iamrole") => iam_role::check,
        ("image.toolkit.fluxcd.io", "ImagePolicy") => flux::image_policy,
        ("image.toolkit.fluxcd.io", "ImageRepository") => flux::image_repository,
        ("image.toolkit.fluxcd.io", "ImageUpdateAutomation") => flux::kustomization,
        ("k8s.keycloak.org", "Keycloak") => keycloak::check,
        ("kafka.banzaicloud.io", "KafkaCluster") => kafka_cluster::check,
        ("kubernetes-client.io", "ExternalSecret") => external_secret::check,
        ("kustomize.toolkit.fluxcd.io", "Kustomization") => flux::kustomization,
        ("microgateway.airlock.com", _) => gateway::airlock,
        ("notification.toolkit.fluxcd.io", "Receiver") => flux::receiver,
        ("opentelemetry.io", "OpenTelemetryCollector") => collector::check,
        ("operator.knative.dev", "KnativeEventing") => knative::eventing,
        ("operator.knative.dev", "KnativeServing") => knative::serving,
        ("operators.coreos.com", "Subscription") => subscription::check,
        ("policy.open-cluster-management.io", "ConfigurationPolicy") => compliance::configuration,
        ("policy.open-cluster-management.io", "Policy") => compliance::policy,
        ("promoter.argoproj.io", kind) => return promoted(kind),
        ("route.openshift.io", "Route") => route::check,
        ("serving.knative.dev", "Service") => knative::service,
        ("serving.kserve.io", "InferenceService") => knative::inference_service,
        ("source.toolkit.fluxcd.io", "HelmRepository") => flux::helm_repository,
        ("source.toolkit.fluxcd.io", "Bucket" | "GitRepository" | "HelmChart" | "OCIRepository") => {
            flux::source
        }
        ("sparkoperator.k8s.io", "SparkApplication") => spark::check,
        _ => return None,
    })
}

fn promoted(kind: &str) -> Option<Check> {
    Some(match kind {
        "ArgoCDCommitStatus" => promoter::argocd_commit_status,
        "ChangeTransferPolicy" => promoter::change_transfer_policy,
        "ClusterScmProvider" => promoter::cluster_scm_provider,
        "CommitStatus" => promoter::commit_status,
        "GitCommitStatus" => promoter::git,
        "GitRepository" => promoter::git_repository,
        "PromotionStrategy" => promoter::promotion_strategy,
        "PullRequest" => promoter::pull_request,
        "ScmProvider" => promoter::scm_provider,
        "TimedCommitStatus" => promoter::timed,
        "WebRequestCommitStatus" => promoter::web_request,
        _ => return None,
    })
}
