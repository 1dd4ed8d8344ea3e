//! What metrics tell beyond what they always tell, by Argo CD's flags and variables.

use std::collections::BTreeMap;

use lynceus_api::{Application, ApplicationSet};
use lynceus_cluster::Registration;
use lynceus_engine::{Engine, MetricWishes};
use lynceus_object::{GroupKind, Object, Str};
use lynceus_server::Metrics;

// What somebody wants to see.
#[derive(clap::Args, Clone, Default)]
pub(crate) struct Exposed {
    /// Labels of Applications that `argocd_app_labels` has, with commas between.
    #[arg(
        long,
        value_name = "LABELS",
        value_delimiter = ',',
        env = "ARGOCD_APPLICATION_CONTROLLER_METRICS_APPLICATION_LABELS",
        help_heading = "Metrics"
    )]
    pub(crate) metrics_application_labels: Vec<String>,
    /// Conditions of Applications that `argocd_app_condition` has, with commas between; without it, all.
    #[arg(
        long,
        value_name = "CONDITIONS",
        value_delimiter = ',',
        env = "ARGOCD_APPLICATION_CONTROLLER_METRICS_APPLICATION_CONDITIONS",
        help_heading = "Metrics"
    )]
    pub(crate) metrics_application_conditions: Vec<String>,
    /// Labels of cluster Secrets that `argocd_cluster_labels` has, with commas between.
    #[arg(
        long,
        value_name = "LABELS",
        value_delimiter = ',',
        env = "ARGOCD_APPLICATION_CONTROLLER_METRICS_CLUSTER_LABELS",
        help_heading = "Metrics"
    )]
    pub(crate) metrics_cluster_labels: Vec<String>,
    /// Labels of ApplicationSets that `argocd_appset_labels` has, with commas between.
    #[arg(long, value_name = "LABELS", value_delimiter = ',', help_heading = "Metrics")]
    pub(crate) metrics_applicationset_labels: Vec<String>,
    /// Count the requests to GitHub that ApplicationSets need, by each of its paths.
    #[arg(
        long,
        env = "ARGOCD_APPLICATIONSET_CONTROLLER_ENABLE_GITHUB_API_METRICS",
        value_parser = clap::builder::FalseyValueParser::new(),
        help_heading = "Metrics"
    )]
    pub(crate) enable_github_api_metrics: bool,
}

impl Exposed {
    /// The same with what the settings say where no flag does.
    pub(crate) fn or(&self, wishes: &MetricWishes) -> Self {
        let or = |flags: &[String], set: &[Str]| match flags {
            [] => set.iter().map(ToString::to_string).collect(),
            flags => flags.to_vec(),
        };
        Exposed {
            metrics_application_labels: or(&self.metrics_application_labels, &wishes.application_labels),
            metrics_application_conditions: or(
                &self.metrics_application_conditions,
                &wishes.application_conditions,
            ),
            metrics_cluster_labels: or(&self.metrics_cluster_labels, &wishes.cluster_labels),
            ..self.clone()
        }
    }

    /// The labels of applications.
    pub(crate) fn of_applications(&self, metrics: &mut Metrics, applications: &[Application]) {
        let family = ("argocd_app_labels", "Argo Application labels converted to Prometheus labels");
        let things = applications.iter().map(|application| {
            let (metadata, project) = (&application.metadata, &application.spec.project);
            let project = if project.is_empty() { "default" } else { project.as_str() };
            let common = vec![
                ("namespace", metadata.namespace.to_string()),
                ("name", metadata.name.to_string()),
                ("project", project.to_owned()),
            ];
            (common, &metadata.labels)
        });
        metrics.labels(family, &self.metrics_application_labels, things);
    }

    /// The labels of ApplicationSets.
    pub(crate) fn of_sets(&self, metrics: &mut Metrics, sets: &[ApplicationSet]) {
        let family = ("argocd_appset_labels", "Applicationset labels translated to Prometheus labels");
        let things = sets.iter().map(|set| {
            let common = vec![
                ("namespace", set.metadata.namespace.to_string()),
                ("name", set.metadata.name.to_string()),
            ];
            (common, &set.metadata.labels)
        });
        metrics.labels(family, &self.metrics_applicationset_labels, things);
    }

    /// The labels of the Secrets of clusters.
    pub(crate) fn of_clusters(&self, metrics: &mut Metrics, engine: &Engine) {
        let family = ("argocd_cluster_labels", "Argo Cluster labels converted to Prometheus labels");
        let home = engine.options().namespace.as_str();
        let secrets = engine.home().cache().of_kind(&GroupKind::new("", "Secret"));
        let known =
            secrets.iter().filter(|secret| secret.namespace() == home && Registration::is_one(secret));
        // What is wrong with a Secret is told where the cluster is.
        let read = known.filter_map(|secret| Some((Registration::read(secret).ok()?, labels(secret))));
        let all: Vec<(Registration, BTreeMap<Str, Str>)> = read.collect();
        let things = all.iter().map(|(cluster, labels)| {
            (vec![("server", cluster.server.to_string()), ("name", cluster.name.to_string())], labels)
        });
        metrics.labels(family, &self.metrics_cluster_labels, things);
    }
}

fn labels(secret: &Object) -> BTreeMap<Str, Str> {
    secret.labels().map(|(name, text)| (name.into(), text.into())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Parser)]
    struct Program {
        #[command(flatten)]
        exposed: Exposed,
    }

    #[test]
    fn labels_are_given_one_by_one_or_with_commas() {
        let read = Program::parse_from([
            "x",
            "--metrics-application-labels",
            "team,unit",
            "--metrics-application-labels",
            "env",
            "--enable-github-api-metrics",
        ]);
        assert_eq!(read.exposed.metrics_application_labels, ["team", "unit", "env"]);
        assert!(read.exposed.enable_github_api_metrics && read.exposed.metrics_cluster_labels.is_empty());
    }

    #[test]
    fn a_flag_goes_before_a_setting() {
        let wishes = MetricWishes {
            application_labels: vec!["set".into()],
            cluster_labels: vec!["set".into()],
            ..MetricWishes::default()
        };
        let flags = Exposed { metrics_cluster_labels: vec!["flag".to_owned()], ..Exposed::default() };
        let both = flags.or(&wishes);
        assert_eq!(both.metrics_application_labels, ["set"]);
        assert_eq!(both.metrics_cluster_labels, ["flag"]);
        assert!(both.metrics_application_conditions.is_empty());
    }

    #[test]
    fn an_application_without_a_project_is_of_the_default_one() {
        let mut application = Application::default();
        application.metadata.name = "shop".into();
        application.metadata.namespace = "argocd".into();
        application.metadata.labels.insert("team".into(), "a".into());
        let exposed = Exposed { metrics_application_labels: vec!["team".to_owned()], ..Exposed::default() };
        let mut metrics = Metrics::default();
        exposed.of_applications(&mut metrics, &[application]);
        let line =
            "argocd_app_labels{namespace=\"argocd\",name=\"shop\",project=\"default\",label_team=\"a\"} 1\n";
        assert!(metrics.into_text().ends_with(line));
    }
}
