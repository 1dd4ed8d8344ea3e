//! Numbers for a monitoring system, under Argo CD's names where they mean the same.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use lynceus_api::{Application, ApplicationSet, ApplicationSetConditionType, ConditionStatus};
use lynceus_object::Str;

/// A text in the format of Prometheus, built family by family.
#[derive(Default)]
pub struct Metrics {
    text: String,
}

impl Metrics {
    /// Begins a family of gauges.
    pub fn gauge(&mut self, name: &str, help: &str) {
        self.family(name, help, "gauge");
    }

    /// Begins a family of a kind: `gauge`, `counter` or `histogram`.
    pub fn family(&mut self, name: &str, help: &str, kind: &str) {
        let help = help.replace('\\', "\\\\").replace('\n', "\\n");
        // Writing to a text cannot fail.
        let _ = write!(self.text, "# HELP {name} {help}\n# TYPE {name} {kind}\n");
    }

    /// One line of the family that was begun last.
    pub fn value(&mut self, name: &str, labels: &[(&str, &str)], value: u64) {
        self.line(name, labels, value);
    }

    /// The same with a number that need not be whole.
    pub fn number(&mut self, name: &str, labels: &[(&str, &str)], value: f64) {
        self.line(name, labels, value);
    }

    fn line(&mut self, name: &str, labels: &[(&str, &str)], value: impl std::fmt::Display) {
        self.text.push_str(name);
        let mut open = '{';
        for (label, text) in labels {
            let _ = write!(self.text, "{open}{label}=\"{}\"", escaped(text));
            open = ',';
        }
        if !labels.is_empty() {
            self.text.push('}');
        }
        let _ = writeln!(self.text, " {value}");
    }

    /// `argocd_app_info`: one line per application with how it is.
    pub fn applications<'a>(&mut self, applications: impl IntoIterator<Item = &'a Application>) {
        const NAME: &str = "argocd_app_info";
        self.gauge(NAME, "Information about application.");
        for application in applications {
            let (spec, status) = (&application.spec, &application.status);
            let automated = spec.sync_policy.as_ref().and_then(|policy| policy.automated.as_ref());
            let autosync = automated.is_some_and(|automated| automated.enabled != Some(false));
            let source = spec.all_sources().into_iter().next().unwrap_or_default();
            let operation = match &application.operation {
                Some(operation) if operation.sync.is_some() => "sync",
                _ => "",
            };
            let labels = [
                ("autosync_enabled", if autosync { "true" } else { "false" }),
                ("dest_namespace", spec.destination.namespace.as_str()),
                ("dest_server", spec.destination.server.as_str()),
                ("health_status", or_unknown(status.health.status.as_str())),
                ("name", application.metadata.name.as_str()),
                ("namespace", application.metadata.namespace.as_str()),
                ("operation", operation),
                ("project", if spec.project.is_empty() { "default" } else { spec.project.as_str() }),
                ("repo", &repository(&source.repo_url)),
                ("sync_status", or_unknown(status.sync.status.as_str())),
            ];
            self.value(NAME, &labels, 1);
        }
    }

    /// A family of one line for each of some things, with those of its labels that somebody wants to see: `argocd_app_labels`
    /// and its like. `common` tells the thing from others. Where nobody wants any there is no family.
    pub fn labels<'a>(
        &mut self,
        (name, help): (&str, &str),
        wanted: &[String],
        things: impl IntoIterator<Item = (Vec<(&'a str, String)>, &'a BTreeMap<Str, Str>)>,
    ) {
        if wanted.is_empty() {
            return;
        }
        self.gauge(name, help);
        let wanted: BTreeMap<String, &str> =
            wanted.iter().map(|label| (label_name(label), label.as_str())).collect();
        for (common, has) in things {
            let value = |label: &str| has.get(label).map(Str::as_str).unwrap_or_default();
            let own = common.iter().map(|(name, text)| (*name, text.as_str()));
            let all: Vec<(&str, &str)> =
                own.chain(wanted.iter().map(|(name, label)| (name.as_str(), value(label)))).collect();
            self.value(name, &all, 1);
        }
    }

    /// `argocd_app_condition`: how many conditions of each sort an application has; of some sorts only, if any are named.
    pub fn conditions<'a>(
        &mut self,
        applications: impl IntoIterator<Item = &'a Application>,
        wanted: &[String],
    ) {
        const NAME: &str = "argocd_app_condition";
        self.gauge(NAME, "Report application conditions.");
        for application in applications {
            let mut counts: BTreeMap<String, u64> = BTreeMap::new();
            for condition in &application.status.conditions {
                let sort = condition.type_.to_string();
                if wanted.is_empty() || wanted.contains(&sort) {
                    *counts.entry(sort).or_default() += 1;
                }
            }
            let project = &application.spec.project;
            for (condition, count) in counts {
                let labels = [
                    ("namespace", application.metadata.namespace.as_str()),
                    ("name", application.metadata.name.as_str()),
                    ("project", if project.is_empty() { "default" } else { project.as_str() }),
                    ("condition", &condition),
                ];
                self.value(NAME, &labels, count);
            }
        }
    }

    /// `argocd_appset_info` and `argocd_appset_owned_applications`: one line per ApplicationSet.
    pub fn sets<'a>(&mut self, sets: impl IntoIterator<Item = &'a ApplicationSet> + Clone) {
        const INFO: &str = "argocd_appset_info";
        self.gauge(INFO, "Information about ApplicationSet.");
        for set in sets.clone() {
            let is_up = set.status.conditions.iter().any(|condition| {
                condition.type_ == ApplicationSetConditionType::ResourcesUpToDate
                    && condition.status == ConditionStatus::True
            });
            let labels = [
                ("name", set.metadata.name.as_str()),
                ("namespace", set.metadata.namespace.as_str()),
                (
                    "resource_update_status",
                    if is_up { "ApplicationSetUpToDate" } else { "ApplicationSetError" },
                ),
            ];
            self.value(INFO, &labels, 1);
        }
        const OWNED: &str = "argocd_appset_owned_applications";
        self.gauge(OWNED, "Number of applications owned by the ApplicationSet.");
        for set in sets {
            let labels =
                [("name", set.metadata.name.as_str()), ("namespace", set.metadata.namespace.as_str())];
            self.value(OWNED, &labels, u64::try_from(set.status.resources_count).unwrap_or_default());
        }
    }

    /// What this process has counted: see the families of Argo CD in docs/metrics.md.
    pub fn counted(&mut self) {
        crate::telemetry::counted(self);
        const HOOKS: &str = "argocd_webhook_handlers_in_flight";
        self.gauge(HOOKS, "Number of webhook handlers currently processing events.");
        self.value(HOOKS, &[], crate::webhook::in_flight());
    }

    /// The whole text.
    pub fn into_text(self) -> String {
        self.text
    }
}

/// The name that a label of Kubernetes has as one of Prometheus.
fn label_name(label: &str) -> String {
    let letters = label.chars().map(|letter| if letter.is_ascii_alphanumeric() { letter } else { '_' });
    std::iter::once("label_".to_owned()).chain(letters.map(String::from)).collect()
}

fn or_unknown(status: &str) -> &str {
    if status.is_empty() { "Unknown" } else { status }
}

/// An address without what somebody may have written before its `@`.
fn repository(url: &str) -> String {
    match (url.split_once("://"), url.rsplit_once('@')) {
        (Some((scheme, _)), Some((_, rest))) => format!("{scheme}://{rest}"),
        _ => url.to_owned(),
    }
}

fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wanted_labels_become_labels_and_nobody_is_told_of_others() {
        let has = BTreeMap::from([("team-name".into(), "a \"b\"".into()), ("other".into(), "hidden".into())]);
        let none = BTreeMap::new();
        let family = ("argocd_app_labels", "Argo Application labels converted to Prometheus labels.");
        let things =
            || [(vec![("name", "shop".to_owned())], &has), (vec![("name", "web".to_owned())], &none)];
        let mut metrics = Metrics::default();
        metrics.labels(family, &[], things());
        assert_eq!(metrics.into_text(), "");
        let mut metrics = Metrics::default();
        metrics.labels(family, &["team-name".to_owned(), "example.com/unit".to_owned()], things());
        assert_eq!(
            metrics.into_text(),
            "# HELP argocd_app_labels Argo Application labels converted to Prometheus labels.\n\
             # TYPE argocd_app_labels gauge\n\
             argocd_app_labels{name=\"shop\",label_example_com_unit=\"\",label_team_name=\"a \\\"b\\\"\"} 1\n\
             argocd_app_labels{name=\"web\",label_example_com_unit=\"\",label_team_name=\"\"} 1\n"
        );
    }

    #[test]
    fn conditions_of_some_sorts_may_be_asked_for_alone() {
        let mut application = Application::default();
        use lynceus_api::ApplicationConditionType::{OrphanedResourceWarning, SyncError};
        for sort in [SyncError, OrphanedResourceWarning, SyncError] {
            application.status.conditions.push(lynceus_api::ApplicationCondition {
                type_: sort.into(),
                ..lynceus_api::ApplicationCondition::default()
            });
        }
        let lines = |wanted: &[String]| {
            let mut metrics = Metrics::default();
            metrics.conditions([&application], wanted);
            metrics.into_text().lines().filter(|line| !line.starts_with('#')).count()
        };
        assert_eq!(lines(&[]), 2);
        assert_eq!(lines(&["SyncError".to_owned()]), 1);
    }

    #[test]
    fn an_application_is_one_line_and_its_password_none() {
        let mut application = Application::default();
        application.metadata.name = "sh\"op".into();
        application.metadata.namespace = "argocd".into();
        let source = lynceus_api::ApplicationSource {
            repo_url: "https://me:hidden@example.com/a.git".into(),
            ..lynceus_api::ApplicationSource::default()
        };
        application.spec.source = Some(source);
        let mut metrics = Metrics::default();
        metrics.applications([&application]);
        assert_eq!(
            metrics.into_text(),
            "# HELP argocd_app_info Information about application.\n# TYPE argocd_app_info gauge\n\
             argocd_app_info{autosync_enabled=\"false\",dest_namespace=\"\",dest_server=\"\",health_status=\"Unknown\",\
             name=\"sh\\\"op\",namespace=\"argocd\",operation=\"\",project=\"default\",\
             repo=\"https://example.com/a.git\",sync_status=\"Unknown\"} 1\n"
        );
    }
}
