//! Which of the generated Applications cannot be.

use std::collections::BTreeMap;

use lynceus_object::Str;

use crate::generate::Generation;
use crate::name;
use crate::need::{Cluster, IN_CLUSTER_NAME, IN_CLUSTER_SERVER};
use crate::place::{Fault, FaultKind, Place};

/// An Application that cannot be, by its position among the generated ones.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Invalid {
    /// The position.
    pub at: usize,
    /// What is wrong with it.
    pub fault: Fault,
}

/// What an Application may point to.
pub trait Destinations {
    /// Whether there is a project of this name.
    fn has_project(&self, name: &str) -> bool;
    /// The registered clusters.
    fn clusters(&self) -> &[Cluster];
}

/// Finds the Applications that cannot be: of two with one name the later, and those without a project or a cluster.
/// The others are not held up by them.
pub fn validate(generation: &Generation, destinations: &dyn Destinations) -> Vec<Invalid> {
    let mut names: BTreeMap<&Str, &Place> = BTreeMap::new();
    let mut found = Vec::new();
    for (at, generated) in generation.applications.iter().enumerate() {
        let app = &generated.application;
        let problem = match names.insert(&app.metadata.name, &generated.place) {
            Some(first) => {
                names.insert(&app.metadata.name, first);
                Some(format!("there is already an Application named {}, from {first}", app.metadata.name))
            }
            None => problem_of_name(&app.metadata.name)
                .or_else(|| problem_of_project(&app.spec.project, destinations))
                .or_else(|| problem_of_destination(&app.spec.destination, destinations.clusters())),
        };
        if let Some(message) = problem {
            let fault = Fault { kind: FaultKind::Validation, place: generated.place.clone(), message };
            found.push(Invalid { at, fault });
        }
    }
    found
}

fn problem_of_name(name: &str) -> Option<String> {
    name::problem(name).map(|problem| format!("{name:?} cannot be the name of an Application: {problem}"))
}

fn problem_of_project(project: &str, destinations: &dyn Destinations) -> Option<String> {
    // An Application without a project is one of the default project, which permits everything as it comes: not what a parameter
    // that came out empty was meant to say.
    if project.is_empty() {
        return Some("its project is empty; write default for the project that is always there".to_owned());
    }
    (!destinations.has_project(project))
        .then(|| format!("application references project {project} which does not exist"))
}

fn problem_of_destination(to: &lynceus_api::ApplicationDestination, clusters: &[Cluster]) -> Option<String> {
    let is_local = to.name == IN_CLUSTER_NAME || to.server == IN_CLUSTER_SERVER;
    let problem = match (to.server.is_empty(), to.name.is_empty()) {
        (true, true) => "it has neither a name nor a server".to_owned(),
        (false, false) => format!("it has both a name, {}, and a server, {}; use one", to.name, to.server),
        _ if is_local => return None,
        (false, true) if clusters.iter().any(|one| same_server(&one.server, &to.server)) => return None,
        (false, true) => format!("there is no cluster with the server {}", to.server),
        (true, false) => match clusters.iter().filter(|one| one.name == to.name).count() {
            1 => return None,
            0 => format!("there is no cluster with the name {}", to.name),
            _ => format!("there is more than one cluster with the name {}", to.name),
        },
    };
    Some(format!("application destination spec is invalid: {problem}"))
}

fn same_server(one: &str, other: &str) -> bool {
    one.trim_end_matches('/') == other.trim_end_matches('/')
}
