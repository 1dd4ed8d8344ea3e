//! From what was rendered to what is wanted in the cluster: namespace, tracking mark, permission, doubles.

use std::collections::{BTreeMap, BTreeSet};

use lynceus_api::{AppProject, ApplicationConditionType, ApplicationDestination, Tracking};
use lynceus_cluster::{Kinds, Scope};
use lynceus_files::{Severity, Span};
use lynceus_object::{Object, ObjectKey, Str};
use lynceus_render::{Manifest, Rendered};

use crate::condition::Condition;
use crate::{oddities, project};

/// Everything that an application wants, ready to be compared.
#[derive(Clone, Debug, Default)]
pub struct Desired {
    /// Objects and hooks in the order of the source, each once.
    pub objects: Vec<Object>,
    /// Where each comes from in Git.
    pub spans: BTreeMap<ObjectKey, Span>,
    /// What is wrong with them.
    pub conditions: Vec<Condition>,
    /// Whether something is missing because it could not be read: then nothing may be pruned.
    pub incomplete: bool,
}

impl Desired {
    /// Leaves out what the settings exclude from a cluster, and says so.
    pub(crate) fn leave_out(&mut self, scope: &Scope, server: &str) {
        let conditions = &mut self.conditions;
        self.objects.retain(|object| {
            let excluded = scope.excludes(&object.group_kind(), server);
            if excluded {
                let (group, kind, name) = (object.group(), object.kind(), object.name());
                conditions.push(Condition::new(
                    ApplicationConditionType::ExcludedResourceWarning,
                    format!("Resource {group}/{kind} {name} is excluded in the settings"),
                ));
            }
            !excluded
        });
    }
}

/// Who wants it, and where.
pub(crate) struct Wanting<'a> {
    /// The application as it stands in tracking marks.
    pub(crate) application: &'a str,
    /// Where the objects go.
    pub(crate) destination: &'a ApplicationDestination,
    /// What it may have.
    pub(crate) project: &'a AppProject,
    /// How objects are marked.
    pub(crate) tracking: &'a Tracking,
    /// What the cluster serves.
    pub(crate) kinds: &'a Kinds,
}

/// Makes rendered sources into what is wanted. Of two objects with one key the later counts.
pub(crate) fn desire(rendered: &[Rendered], wanting: &Wanting<'_>) -> Desired {
    let mut desired = Desired::default();
    for source in rendered {
        for diagnostic in &source.diagnostics {
            desired.conditions.push(match diagnostic.severity {
                Severity::Error => {
                    desired.incomplete = true;
                    Condition::comparison(diagnostic.to_text())
                }
                _ => Condition::new(ApplicationConditionType::ManifestWarning, diagnostic.to_text()),
            });
        }
    }
    let manifests: Vec<&Manifest> = rendered.iter().flat_map(|source| &source.manifests).collect();
    let mut places: BTreeMap<ObjectKey, usize> = BTreeMap::new();
    let mut repeated: BTreeMap<ObjectKey, usize> = BTreeMap::new();
    let mut missing_namespace = BTreeSet::new();
    for manifest in manifests {
        let mut object = manifest.object.clone();
        let namespaced = wanting.kinds.is_namespaced(&object.group_kind());
        if !house(&mut object, namespaced, &wanting.destination.namespace) {
            let gvk = object.gvk();
            missing_namespace.insert(format!("Namespace for {} {gvk} is missing.", object.name()));
            continue;
        }
        // A definition is never marked: pruning one would take every object of its kind with it.
        if object.kind() != "CustomResourceDefinition" {
            wanting.tracking.mark(&mut object, wanting.application, &wanting.destination.namespace);
        }
        let key = object.key();
        desired.spans.insert(key.clone(), manifest.span.clone());
        // Objects that get their names from the server are never the same.
        if !object.name().is_empty()
            && let Some(place) = places.get(&key)
        {
            *repeated.entry(key).or_insert(1) += 1;
            desired.objects[*place] = object;
            continue;
        }
        places.insert(key, desired.objects.len());
        desired.objects.push(object);
    }
    desired.conditions.extend(
        missing_namespace
            .into_iter()
            .map(|message| Condition::new(ApplicationConditionType::InvalidSpecError, message)),
    );
    desired.conditions.extend(oddities::of_objects(&desired.objects));
    desired.conditions.extend(repeated.into_iter().map(|(key, times)| {
        let ObjectKey { group, kind, namespace, name } = key;
        let message = format!(
            "Resource {group}/{kind}/{namespace}/{name} appeared {times} times among application resources."
        );
        Condition::new(ApplicationConditionType::RepeatedResourceWarning, message)
    }));
    desired
}

/// Objects that did not come from a repository, as if they had been rendered.
pub(crate) fn local(objects: &[Object]) -> Rendered {
    let manifest = |object: &Object| Manifest { object: object.clone(), span: Span::default(), document: 0 };
    Rendered { manifests: objects.iter().map(manifest).collect(), ..Rendered::default() }
}

/// Gives a namespaced object its namespace and takes a claimed one from a cluster-scoped object. `false` if it needs one
/// and there is none.
fn house(object: &mut Object, namespaced: Option<bool>, namespace: &str) -> bool {
    match namespaced {
        Some(false) => {
            object.remove(&["metadata", "namespace"]);
            true
        }
        Some(true) if object.namespace().is_empty() => {
            object.set(&["metadata", "namespace"], namespace);
            !namespace.is_empty()
        }
        // The cluster does not know the kind yet; the sync decides when it does.
        None if object.namespace().is_empty() && !namespace.is_empty() => {
            object.set(&["metadata", "namespace"], namespace);
            true
        }
        _ => true,
    }
}

/// What the project says to an object, for the plan.
pub(crate) fn permitted(object: &Object, wanting: &Wanting<'_>) -> Result<(), Str> {
    let namespaced =
        wanting.kinds.is_namespaced(&object.group_kind()).unwrap_or(!object.namespace().is_empty());
    project::permits_object(wanting.project, object, namespaced, wanting.destination).map_err(Str::from)
}

#[cfg(test)]
mod tests {
    use super::*;
    use lynceus_cluster::Kind;
    use lynceus_object::Gvk;

    fn kinds() -> Kinds {
        let mut kinds = Kinds::default();
        for (kind, plural, namespaced) in
            [("ConfigMap", "configmaps", true), ("Namespace", "namespaces", false)]
        {
            let gvk = Gvk::new("", "v1", kind);
            kinds.insert(Kind { gvk, plural: plural.into(), namespaced, watchable: true });
        }
        kinds
    }

    fn desired(namespace: &str, objects: &[(&str, &str, &str)]) -> Desired {
        let manifests = objects
            .iter()
            .map(|(kind, place, name)| Manifest {
                object: Object::named(&Gvk::new("", "v1", *kind), place, name),
                span: Span::default(),
                document: 0,
            })
            .collect();
        let rendered = [Rendered { manifests, ..Rendered::default() }];
        let destination = ApplicationDestination { namespace: namespace.into(), ..Default::default() };
        let wanting = Wanting {
            application: "shop",
            destination: &destination,
            project: &AppProject::default(),
            tracking: &Tracking::default(),
            kinds: &kinds(),
        };
        desire(&rendered, &wanting)
    }

    #[test]
    fn namespaced_objects_get_the_applications_namespace_and_cluster_scoped_ones_lose_theirs() {
        let desired =
            desired("dev", &[("ConfigMap", "", "a"), ("ConfigMap", "own", "b"), ("Namespace", "x", "n")]);
        let keys: Vec<String> = desired.objects.iter().map(|object| object.key().to_string()).collect();
        assert_eq!(keys, ["/ConfigMap/dev/a", "/ConfigMap/own/b", "/Namespace//n"]);
        let mark = desired.objects[0].annotation("argocd.argoproj.io/tracking-id");
        assert_eq!(mark, Some("shop:/ConfigMap:dev/a"));
    }

    #[test]
    fn of_two_objects_with_one_name_the_later_counts_and_is_told_of() {
        let desired = desired("dev", &[("ConfigMap", "", "a"), ("ConfigMap", "dev", "a")]);
        assert_eq!(desired.objects.len(), 1);
        assert_eq!(
            desired.conditions[0].message,
            "Resource /ConfigMap/dev/a appeared 2 times among application resources."
        );
    }

    #[test]
    fn an_object_that_needs_a_namespace_and_has_none_is_told_of() {
        let desired = desired("", &[("ConfigMap", "", "a")]);
        assert_eq!(desired.conditions[0].message, "Namespace for a /v1, Kind=ConfigMap is missing.");
    }

    #[test]
    fn what_the_settings_exclude_is_left_out_and_told_of() {
        let mut desired = desired("dev", &[("ConfigMap", "", "a"), ("Namespace", "", "n")]);
        desired.leave_out(&Scope::read(Some("- {kinds: [ConfigMap]}"), None).0, "https://any");
        assert_eq!(desired.objects.len(), 1);
        assert_eq!(desired.conditions[0].message, "Resource /ConfigMap a is excluded in the settings");
    }
}
