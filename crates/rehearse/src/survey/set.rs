//! What ApplicationSets generate, before anything is played.

use std::collections::BTreeSet;

use lynceus_api::{Application, ApplicationSet, Kind as _, LabelSelector};
use lynceus_engine::{AppKey, Foreseen, Outlook, RegisteredCluster, foresee, words};
use lynceus_object::{Object, Value, to_typed};

use super::rendering::Surveyor;
use crate::premises::{Played, Premises};
use crate::report::Place;

/// An ApplicationSet that was found.
pub(crate) struct SurveyedSet {
    pub(crate) object: Object,
    /// Where it stands; nowhere if it was in the cluster before.
    pub(crate) place: Option<Place>,
    /// The Applications that it makes.
    pub(crate) creates: BTreeSet<AppKey>,
    /// Why nobody can tell what it makes, where that is so.
    pub(crate) unanswered: Option<String>,
}

/// What comes of a set.
pub(super) struct MadeBySet {
    pub(super) applications: Vec<Application>,
    pub(super) unanswered: Option<String>,
}

impl MadeBySet {
    fn unanswered(why: impl Into<String>) -> Self {
        MadeBySet { applications: Vec::new(), unanswered: Some(why.into()) }
    }
}

impl Surveyor {
    /// What a set makes of repositories and of the clusters that are known.
    pub(super) async fn make(
        &self,
        premises: &Premises,
        played: &Played,
        object: &Object,
        clusters: &[RegisteredCluster],
    ) -> MadeBySet {
        let set = match ApplicationSet::from_object(object) {
            Ok(set) => set,
            Err(error) => return MadeBySet::unanswered(format!("it cannot be read: {}", words(&error))),
        };
        if clusters.is_empty() && chooses_clusters(object.value()) {
            return MadeBySet::unanswered(
                "it chooses among the registered clusters by their labels, and no file tells of any; a snapshot does",
            );
        }
        let reads = |repo: &str, revision: &str| {
            let is_here = premises.is_meant_by(repo);
            // A branch that cannot be made is told of when it is read.
            is_here && premises.admit(revision, played).is_ok()
        };
        let outlook = Outlook { sources: self.sources(), clusters, now: self.now(), reads: &reads };
        match foresee(&set, &outlook).await {
            Foreseen::Unanswered(why) => MadeBySet::unanswered(why),
            Foreseen::Generated(generation) => MadeBySet {
                applications: generation.applications.into_iter().map(|one| one.application).collect(),
                unanswered: None,
            },
        }
    }
}

/// Whether a generator, or one inside of it, chooses clusters by their labels.
fn chooses_clusters(set: &Value) -> bool {
    let mut found = false;
    crate::assumption::maps(set, &mut |map| {
        let selector = map.at(&["clusters", "selector"]);
        let selector = selector.and_then(|value| to_typed::<LabelSelector>(value).ok()).unwrap_or_default();
        found |= !selector.match_labels.is_empty() || !selector.match_expressions.is_empty();
    });
    found
}

/// The addresses that a set names without a template, each with the folder that it names beside it: those of its Git generators
/// and those of its template.
pub(super) fn addresses(set: &Value) -> Vec<(String, String)> {
    let mut all = Vec::new();
    crate::assumption::maps(set, &mut |map| {
        let Some(url) = map.str_at(&["repoURL"]).filter(|url| !url.contains("{{")) else { return };
        let listed = ["directories", "files"].iter().flat_map(|list| map.items_at(&[list]));
        let paths = listed.filter_map(|one| one.str_at(&["path"])).chain(map.str_at(&["path"]));
        // Only what stands before anything that is filled in later can be looked for.
        let fixed = |path: &str| {
            let end = path.find(['*', '?', '[', '{']).unwrap_or(path.len());
            match path[..end].rsplit_once('/') {
                _ if end == path.len() => path.to_owned(),
                Some((folder, _)) => folder.to_owned(),
                None => String::new(),
            }
        };
        all.extend(paths.map(|path| (url.to_owned(), fixed(path))));
    });
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use lynceus_object::yaml;

    #[test]
    fn addresses_are_told_with_the_folders_that_are_certain() {
        let set = "spec:\n  generators: [{matrix: {generators: [{git: {repoURL: a, files: [{path: 'envs/*/x.yaml'}]}}, {list: {}}]}}]\n  template: {spec: {source: {repoURL: b, path: 'charts/{{.chart}}'}}}\n";
        let found = addresses(&yaml::parse_str(set).unwrap());
        let pair = |url: &str, path: &str| (url.to_owned(), path.to_owned());
        assert_eq!(found, [pair("a", "envs"), pair("b", "charts")]);
        assert_eq!(addresses(&yaml::parse_str("source: {repoURL: '{{url}}', path: x}").unwrap()), []);
    }

    #[test]
    fn only_a_selector_chooses_clusters() {
        let chooses = |text: &str| chooses_clusters(&yaml::parse_str(text).unwrap());
        assert!(!chooses("generators: [{clusters: {}}]"));
        assert!(!chooses("generators: [{clusters: {selector: {}}}]"));
        assert!(chooses(
            "generators: [{matrix: {generators: [{clusters: {selector: {matchLabels: {a: b}}}}]}}]"
        ));
    }
}
