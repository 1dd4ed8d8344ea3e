//! Pods, and what makes them.

use std::iter::Copied;
use std::slice::Iter;

use lynceus_object::{FieldPath, Object, ObjectKey, Str, Value};

use super::Case;

/// A spec of pods, wherever it stands: in a pod, a workload, a Job or a CronJob.
#[derive(Clone, Debug)]
pub struct Pods<'a> {
    /// The object that it stands in.
    pub holder: &'a Object,
    /// Where in it.
    pub path: FieldPath,
    /// The spec.
    pub spec: &'a Value,
    /// The metadata of the pods.
    pub metadata: Option<&'a Value>,
}

/// Where pod specs stand: after `spec` in a pod, and in templates.
const PLACES: [&[&str]; 3] =
    [&["spec", "template"], &["spec", "jobTemplate", "spec", "template"], &["spec", "podTemplate"]];

impl<'a> Pods<'a> {
    /// The spec of the pods that an object is or makes, if it does.
    pub fn of(object: &'a Object) -> Option<Self> {
        if (object.group(), object.kind()) == ("", "Pod") {
            let spec = object.at(&["spec"])?;
            return Some(Pods {
                holder: object,
                path: FieldPath::fields(["spec"]),
                spec,
                metadata: object.at(&["metadata"]),
            });
        }
        PLACES.iter().find_map(|place| {
            let template = object.at(place)?;
            let spec = template.at(&["spec"])?;
            // Custom resources have templates that hold something else.
            if spec.items_at(&["containers"]).is_empty() {
                return None;
            }
            let path = FieldPath::fields(place.iter().copied()).field("spec");
            Some(Pods { holder: object, path, spec, metadata: template.at(&["metadata"]) })
        })
    }

    /// All containers with their paths, those that come first in a pod's life first.
    pub fn containers(&self) -> Vec<(FieldPath, &'a Value)> {
        let mut all = Vec::new();
        for field in ["initContainers", "containers"] {
            for (place, container) in self.spec.items_at(&[field]).iter().enumerate() {
                all.push((self.path.field(field).index(place), container));
            }
        }
        all
    }

    /// The name of the service account, which is `default` where none is said.
    pub fn service_account(&self) -> &'a str {
        let said = |field| self.spec.str_at(&[field]).filter(|name: &&str| !name.is_empty());
        said("serviceAccountName").or_else(|| said("serviceAccount")).unwrap_or("default")
    }

    /// What the pods cannot start without: Secrets, ConfigMaps and claims by name, each with the field that names it and the
    /// key that is read from it, if one is. What is optional is left out.
    pub fn needs(&self) -> Vec<(ObjectKey, FieldPath, Option<Str>)> {
        let mut needs = Vec::new();
        for (place, volume) in self.spec.items_at(&["volumes"]).iter().enumerate() {
            let path = self.path.field("volumes").index(place);
            self.volume(&mut needs, volume, &path);
            for (number, source) in volume.items_at(&["projected", "sources"]).iter().enumerate() {
                self.volume(&mut needs, source, &path.field("projected").field("sources").index(number));
            }
        }
        for (path, container) in self.containers() {
            for (place, source) in container.items_at(&["envFrom"]).iter().enumerate() {
                let path = path.field("envFrom").index(place);
                self.need(&mut needs, source, &path, ("secretRef", "Secret", "name"));
                self.need(&mut needs, source, &path, ("configMapRef", "ConfigMap", "name"));
            }
            for (place, variable) in container.items_at(&["env"]).iter().enumerate() {
                let path = path.field("env").index(place).field("valueFrom");
                let Some(source) = variable.at(&["valueFrom"]) else { continue };
                self.need(&mut needs, source, &path, ("secretKeyRef", "Secret", "name"));
                self.need(&mut needs, source, &path, ("configMapKeyRef", "ConfigMap", "name"));
            }
        }
        needs
    }

    /// The pull secrets that are named.
    pub fn pull_secrets(&self) -> impl Iterator<Item = &'a str> {
        self.spec.items_at(&["imagePullSecrets"]).iter().filter_map(|one| one.str_at(&["name"]))
    }

    fn volume(
        &self,
        needs: &mut Vec<(ObjectKey, FieldPath, Option<Str>)>,
        source: &'a Value,
        path: &FieldPath,
    ) {
        self.need(needs, source, path, ("secret", "Secret", "secretName"));
        self.need(needs, source, path, ("secret", "Secret", "name"));
        self.need(needs, source, path, ("configMap", "ConfigMap", "name"));
        self.need(needs, source, path, ("persistentVolumeClaim", "PersistentVolumeClaim", "claimName"));
    }

    fn need(
        &self,
        needs: &mut Vec<(ObjectKey, FieldPath, Option<Str>)>,
        holder: &'a Value,
        path: &FieldPath,
        (field, kind, name): (&str, &str, &str),
    ) {
        let Some(source) = holder.at(&[field]) else { return };
        let Some(named) = source.str_at(&[name]).filter(|name| !name.is_empty()) else { return };
        if source.bool_at(&["optional"]) == Some(true) {
            return;
        }
        let key = ObjectKey::new("", kind, self.holder.namespace(), named);
        needs.push((key, path.field(field).field(name), source.str_at(&["key"]).map(Str::from)));
        for item in source.items_at(&["items"]) {
            if let Some(wanted) = item.str_at(&["key"]) {
                let key = ObjectKey::new("", kind, self.holder.namespace(), named);
                needs.push((key, path.field(field).field("items"), Some(wanted.into())));
            }
        }
    }
}

impl<'a> Case<'a> {
    /// The pods that an object has in the end, through whatever it owns.
    pub fn pods(&self, server: &str, owner: &'a Object) -> Vec<&'a Object> {
        if (owner.group(), owner.kind()) == ("", "Pod") {
            return vec![owner];
        }
        let mut pods = Vec::new();
        let mut ways: Vec<(&'a Object, usize)> = vec![(owner, 0)];
        while let Some((object, depth)) = ways.pop() {
            for child in self.children(server, object) {
                match (child.group(), child.kind()) {
                    ("", "Pod") => pods.push(*child),
                    _ if depth < crate::limits::OWNERS => ways.push((child, depth + 1)),
                    _ => {}
                }
            }
        }
        pods.sort_by_key(|pod| pod.name());
        pods
    }

    /// What has pods and no owner of its own, of a cluster: Deployments, StatefulSets, Jobs, custom resources, bare pods.
    pub fn pod_owners(&self, server: &str) -> Copied<Iter<'_, &'a Object>> {
        self.pod_owners.get(server).map_or(&[][..], Vec::as_slice).iter().copied()
    }

    pub(super) fn find_pod_owners(&self, server: &str) -> Vec<&'a Object> {
        let mut owners: Vec<&'a Object> = Vec::new();
        let mut known = std::collections::HashSet::new();
        for pod in self.of_kind(server, "", "Pod") {
            let top = self.top(server, pod);
            if known.insert(top.key()) {
                owners.push(top);
            }
        }
        // What should have pods and has none is of interest most of all.
        for object in self.objects(server) {
            let is_top = object.controller().is_none() && Pods::of(object).is_some();
            if is_top && known.insert(object.key()) {
                owners.push(object);
            }
        }
        owners
    }
}
