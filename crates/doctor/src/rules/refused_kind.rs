//! Which list of a project refuses a kind.

use lynceus_api::{AppProject, ClusterResourceRestrictionItem, Glob, GroupKind as Listed, Kind as _};
use lynceus_object::{FieldPath, GroupKind, ObjectKey};

use crate::case::{Case, Said};
use crate::finding::Evidence;
use crate::node::AppName;

/// The lists of a project that refuse a kind. A whitelist that is not there refuses no namespaced kind, and to add one would refuse all
/// others.
pub(super) struct Refused {
    project: ObjectKey,
    /// The kind, as the refusal names it.
    kind: String,
    /// The rule of a blacklist that is for it, and what it says.
    black: Option<(FieldPath, String)>,
    /// Whether that rule is for other kinds too.
    is_wide: bool,
    /// The whitelist that leaves it out.
    white: Option<FieldPath>,
    /// The application that has the project in its files.
    app: Option<AppName>,
}

/// Which lists of a project refuse what is told as `kind group:Kind`; nothing if no list does, or the project is not known.
pub(super) fn refused(
    case: &Case<'_>,
    said: Option<&Said<'_>>,
    project: &ObjectKey,
    what: &str,
) -> Option<Refused> {
    let told = what.strip_prefix("kind ")?;
    let (group, word) = told.split_once(':').unwrap_or(("", told));
    let kind = GroupKind::new(group, word);
    let server = said.map(|said| said.server).unwrap_or_default();
    let scope = case.cluster(server).and_then(|view| view.kinds.get(&kind)).copied();
    let wanted = case.servers().find_map(|server| case.wanted(server, project).into_iter().next());
    let app = wanted.as_ref().map(|(app, _)| app.name.clone());
    let own = wanted.and_then(|(_, one)| AppProject::from_object(&one.object).ok());
    let live = case.snapshot.projects.iter().find(|one| one.metadata.name == project.name);
    // What Git says is to be changed, unless the cluster has another project.
    let mut found = own.as_ref().into_iter().chain(live);
    found.find_map(|one| {
        let scopes = scope.map_or_else(|| vec![true, false], |scope| vec![scope]);
        let (black, white) = scopes
            .into_iter()
            .map(|scope| lists(one, &kind, scope))
            .find(|(black, white)| black.is_some() || white.is_some())?;
        let is_wide = black.as_ref().is_some_and(|(_, rule)| rule != &rule_of(group, word));
        let kind = told.to_owned();
        Some(Refused { project: project.clone(), kind, black, is_wide, white, app: app.clone() })
    })
}

/// A rule of a list as it is told.
fn rule_of(group: &str, kind: &str) -> String {
    format!("{group}:{kind}")
}

/// The rule of a blacklist that is for a kind, and the whitelist that leaves it out.
fn lists(
    project: &AppProject,
    kind: &GroupKind,
    is_namespaced: bool,
) -> (Option<(FieldPath, String)>, Option<FieldPath>) {
    let spec = &project.spec;
    let fits = |pattern: &str, text: &str| {
        pattern == text || Glob::new(pattern).is_ok_and(|glob| glob.matches(text))
    };
    let is_for = |group: &str, word: &str| fits(group, &kind.group) && fits(word, &kind.kind);
    let of = |one: &Listed| (one.group.to_string(), one.kind.to_string());
    let of_cluster = |one: &ClusterResourceRestrictionItem| (one.group.to_string(), one.kind.to_string());
    let (black, white, names): (Vec<_>, Option<Vec<_>>, _) = match is_namespaced {
        true => (
            spec.namespace_resource_blacklist.iter().map(of).collect(),
            spec.namespace_resource_whitelist.as_ref().map(|all| all.iter().map(of).collect()),
            ["namespaceResourceBlacklist", "namespaceResourceWhitelist"],
        ),
        false => (
            spec.cluster_resource_blacklist.iter().map(of_cluster).collect(),
            Some(spec.cluster_resource_whitelist.iter().map(of_cluster).collect()),
            ["clusterResourceBlacklist", "clusterResourceWhitelist"],
        ),
    };
    let path = |name: &str| FieldPath::fields(["spec", name]);
    let place = black.iter().position(|(group, word)| is_for(group, word));
    let rule = place.map(|place| (path(names[0]).index(place), rule_of(&black[place].0, &black[place].1)));
    let is_left_out = white.is_some_and(|white| !white.iter().any(|(group, word)| is_for(group, word)));
    (rule, is_left_out.then(|| path(names[1])))
}

impl Refused {
    /// What to do to the project, in words.
    pub(super) fn step(&self, project: &str) -> String {
        let Refused { kind, black, white, .. } = self;
        match (black, white) {
            (Some((black, _)), white) => {
                let add = white.as_ref().map(|white| format!(" and add it to {white}")).unwrap_or_default();
                match self.is_wide {
                    true => format!("Have the rule in {black} of AppProject {project} leave {kind} out{add}"),
                    false => format!("Take {kind} out of {black}{add} of AppProject {project}"),
                }
            }
            (None, Some(white)) => format!("Add {kind} to {white} of AppProject {project}"),
            (None, None) => format!("Have AppProject {project} permit {kind}"),
        }
    }

    /// The rule that is for it.
    pub(super) fn seen(&self) -> Option<Evidence> {
        let (path, value) = self.black.clone()?;
        Some(Evidence::Field { object: self.project.clone(), path, value })
    }

    /// Where in Git the rule is written, or the project whose list leaves the kind out.
    pub(super) fn fields(&self) -> Option<(AppName, ObjectKey, FieldPath)> {
        let path = self.black.as_ref().map(|(path, _)| path).or(self.white.as_ref())?;
        Some((self.app.clone()?, self.project.clone(), path.clone()))
    }
}
