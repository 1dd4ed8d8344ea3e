//! What an Application says that cannot be followed, or that its project does not permit.

use lynceus_api::{AppProject, Application, ApplicationDestination, ApplicationSource};

use crate::condition::Condition;
use crate::project;

/// What is wrong with an application's sources, in Argo CD's words. One that is not whole is told of alone.
pub(crate) fn sources(project: &AppProject, sources: &[ApplicationSource], many: bool) -> Vec<Condition> {
    if sources.is_empty() {
        return vec![Condition::invalid_spec(ONE)];
    }
    let mut found = Vec::new();
    for source in sources {
        if let Some(message) = incomplete(source, many) {
            return vec![Condition::invalid_spec(message)];
        }
        if !project::permits_source(project, &source.repo_url) {
            let (repository, name) = (lynceus_source::redact(&source.repo_url), &project.metadata.name);
            let message = format!("application repo {repository} is not permitted in project '{name}'");
            found.push(Condition::invalid_spec(message));
        }
    }
    found
}

/// Whether a project permits a destination, where only clusters of the project may count.
pub(crate) fn destination(
    project: &AppProject,
    application: &Application,
    destination: &ApplicationDestination,
    is_in_scope: bool,
) -> Option<Condition> {
    if project::permits_destination(project, destination) && is_in_scope {
        return None;
    }
    let named = !application.spec.destination.name.is_empty();
    let server = if named { &destination.name } else { &destination.server };
    let (namespace, name) = (&destination.namespace, &project.metadata.name);
    Some(Condition::invalid_spec(format!(
        "application destination server '{server}' and namespace '{namespace}' do not match any of the allowed destinations \
         in project '{name}'"
    )))
}

const ONE: &str = "spec.source.repoURL and either spec.source.path or spec.source.chart are required";

fn incomplete(source: &ApplicationSource, many: bool) -> Option<String> {
    let empty = source.path.is_empty() && source.chart.is_empty();
    if many && (source.repo_url.is_empty() || empty && source.ref_.is_empty()) {
        let name = if source.name.is_empty() {
            lynceus_source::redact(&source.repo_url)
        } else {
            source.name.to_string()
        };
        return Some(format!(
            "spec.source.repoURL and either source.path, source.chart, or source.ref are required for source {name}"
        ));
    }
    if !many && (source.repo_url.is_empty() || empty) {
        return Some(ONE.to_owned());
    }
    (!source.chart.is_empty() && source.target_revision.is_empty())
        .then(|| "spec.source.targetRevision is required if the manifest source is a helm chart".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(list: &[(&str, &str, &str)], many: bool) -> Vec<String> {
        let mut project = AppProject::default();
        project.metadata.name = "shop".into();
        project.spec.source_repos = vec!["https://a/*".into()];
        let list: Vec<ApplicationSource> = list
            .iter()
            .map(|(url, path, chart)| ApplicationSource {
                repo_url: (*url).into(),
                path: (*path).into(),
                chart: (*chart).into(),
                ..ApplicationSource::default()
            })
            .collect();
        sources(&project, &list, many).into_iter().map(|condition| condition.message).collect()
    }

    #[test]
    fn every_source_that_is_not_permitted_is_told_of() {
        assert_eq!(check(&[("https://a/x", "p", "")], false), [""; 0]);
        assert_eq!(
            check(&[("https://b/x", "p", ""), ("https://a/x", "p", ""), ("https://c/x", "p", "")], true),
            [
                "application repo https://b/x is not permitted in project 'shop'",
                "application repo https://c/x is not permitted in project 'shop'",
            ]
        );
    }

    #[test]
    fn a_source_that_is_not_whole_is_told_of_alone() {
        assert_eq!(check(&[("", "p", "")], false), [ONE]);
        assert_eq!(check(&[("https://b/x", "", "")], false), [ONE]);
        assert_eq!(check(&[], false), [ONE]);
        assert_eq!(
            check(&[("https://b/x", "p", ""), ("https://a/x", "", "")], true),
            [
                "spec.source.repoURL and either source.path, source.chart, or source.ref are required for source https://a/x"
            ]
        );
        assert_eq!(
            check(&[("https://a/x", "", "web")], false),
            ["spec.source.targetRevision is required if the manifest source is a helm chart"]
        );
    }
}
