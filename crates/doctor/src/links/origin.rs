//! Secrets and the like wait for what may make them besides the kinds that say so themselves: operators, copiers, scripts.

use std::collections::{HashMap, HashSet};

use lynceus_object::{Object, ObjectKey, Str, Value};

use super::{produced, reference};
use crate::case::{App, Case, Pods};

/// Groups whose objects make nothing that others name: what is called after one of these was not made by it.
const BARREN: [&str; 23] = [
    "",
    "apps",
    "batch",
    "autoscaling",
    "policy",
    "networking.k8s.io",
    "rbac.authorization.k8s.io",
    "storage.k8s.io",
    "apiextensions.k8s.io",
    "apiregistration.k8s.io",
    "admissionregistration.k8s.io",
    "discovery.k8s.io",
    "coordination.k8s.io",
    "scheduling.k8s.io",
    "node.k8s.io",
    "events.k8s.io",
    "gateway.networking.k8s.io",
    "networking.istio.io",
    "security.istio.io",
    "argoproj.io",
    "traefik.io",
    "keda.sh",
    "autoscaling.k8s.io",
];
/// Kinds of other groups that make nothing that others name.
const BARREN_KINDS: [&str; 11] = [
    "ServiceMonitor",
    "PodMonitor",
    "PrometheusRule",
    "Probe",
    "SecretStore",
    "ClusterSecretStore",
    "Issuer",
    "ClusterIssuer",
    "Route",
    "BuildConfig",
    "ImageStream",
];
/// Annotations of those who copy Secrets and ConfigMaps into other namespaces.
const COPIED: [&str; 3] =
    ["reflector.v1.k8s.emberstack.com/", "replicator.v1.mittwald.de/", "kubed.appscode.com/sync"];
/// Fields that say where a controller is to put what it makes, whatever its kind.
const TARGETS: [&str; 8] = [
    "writeConnectionSecretToRef",
    "publishConnectionDetailsTo",
    "connInfoSecretTarget",
    "managedSecretReference",
    "managedSecret",
    "privateKeySecretRef",
    "secretTarget",
    "secretObjects",
];

/// What may make what.
#[derive(Default)]
pub(crate) struct Origins<'a> {
    exact: HashMap<(&'a str, ObjectKey), Vec<ObjectKey>>,
    prefixes: HashMap<(&'a str, Str, Str), Vec<ObjectKey>>,
    copied: HashSet<(&'a str, Str, Str)>,
    scripts: HashMap<(&'a str, Str), Vec<(ObjectKey, String)>>,
    listed: HashSet<(&'a str, ObjectKey)>,
    borrowed: HashSet<(&'a str, ObjectKey, ObjectKey)>,
}

impl<'a> Origins<'a> {
    /// Looks through all clusters and everything that applications want.
    pub(crate) fn new(case: &Case<'a>) -> Self {
        let mut origins = Origins {
            exact: produced::makers(case),
            prefixes: HashMap::new(),
            copied: HashSet::new(),
            scripts: HashMap::new(),
            listed: HashSet::new(),
            borrowed: HashSet::new(),
        };
        for server in case.servers() {
            for object in case.objects(server) {
                origins.note(case, server, object, true);
            }
        }
        for app in case.apps() {
            for wanted in app.wanted() {
                origins.note(
                    case,
                    app.server(),
                    &wanted.object,
                    case.live(app.server(), &wanted.object.key()).is_some(),
                );
            }
            origins.list(app);
        }
        origins
    }

    /// What may make something that is not there; nothing if nothing is known that could.
    pub(crate) fn of(&self, server: &'a str, key: &ObjectKey) -> Vec<ObjectKey> {
        let mut found = self.exact.get(&(server, key.clone())).cloned().unwrap_or_default();
        for end in ends(&key.name) {
            let place = (server, key.namespace.clone(), Str::from(&key.name[..end]));
            let called = self.prefixes.get(&place).into_iter().flatten();
            // Whoever says by which account its pods run wants one that is there.
            let borrows =
                |maker: &&ObjectKey| self.borrowed.contains(&(server, key.clone(), (*maker).clone()));
            found.extend(called.filter(|maker| !borrows(maker)).cloned());
        }
        let scripts = self.scripts.get(&(server, key.namespace.clone())).into_iter().flatten();
        found.extend(scripts.filter(|(_, text)| mentions(text, &key.name)).map(|(job, _)| job.clone()));
        found.dedup();
        found
    }

    /// Whether something is known to come though it is not there: an application lists it, or it is copied from elsewhere.
    pub(crate) fn is_listed(&self, server: &'a str, key: &ObjectKey) -> bool {
        self.listed.contains(&(server, key.clone()))
            || self.copied.contains(&(server, key.kind.clone(), key.name.clone()))
    }

    /// Applications that were not rendered still list what they want.
    fn list(&mut self, app: &App<'a>) {
        for one in &app.application().status.resources {
            let key =
                ObjectKey::new(one.group.clone(), one.kind.clone(), one.namespace.clone(), one.name.clone());
            self.listed.insert((app.server(), key));
        }
    }

    fn note(&mut self, case: &Case<'a>, server: &'a str, object: &Object, is_live: bool) {
        if matches!(object.kind(), "Secret" | "ConfigMap")
            && object.annotations().any(|(key, _)| COPIED.iter().any(|one| key.starts_with(one)))
        {
            self.copied.insert((server, object.kind().into(), object.name().into()));
        }
        match (object.group(), object.kind()) {
            ("", "Service") => self.serving(server, object),
            ("networking.k8s.io", "Ingress") => self.shim(server, object),
            ("batch", "Job" | "CronJob") => self.script(case, server, object, is_live),
            _ if object.group().is_empty() || !produced::made(object).is_empty() => {}
            _ => self.operator(case, server, object, is_live),
        }
    }

    /// Services that have their certificate made by OpenShift.
    fn serving(&mut self, server: &'a str, service: &Object) {
        let names = [
            "service.beta.openshift.io/serving-cert-secret-name",
            "service.alpha.openshift.io/serving-cert-secret-name",
        ];
        for name in names.iter().filter_map(|key| service.annotation(key)) {
            self.exactly(server, ObjectKey::new("", "Secret", service.namespace(), name), service);
        }
    }

    /// Ingresses that have their certificates made by cert-manager.
    fn shim(&mut self, server: &'a str, ingress: &Object) {
        let is_asked = ingress.annotations().any(|(key, _)| {
            key.starts_with("cert-manager.io/") && key.ends_with("issuer") || key == "kubernetes.io/tls-acme"
        });
        let names =
            ingress.value().items_at(&["spec", "tls"]).iter().filter_map(|tls| tls.str_at(&["secretName"]));
        for name in names.filter(|_| is_asked) {
            self.exactly(server, ObjectKey::new("", "Secret", ingress.namespace(), name), ingress);
        }
    }

    /// Jobs whose script makes something. One that has ended well has made what it makes.
    fn script(&mut self, case: &Case<'a>, server: &'a str, job: &Object, is_live: bool) {
        let is_done = is_live && job.kind() == "Job" && !case.is_unwell(job);
        let text = Pods::of(job).map(|pods| said(case, server, &pods)).unwrap_or_default();
        if !is_done && makes(&text) {
            let place = (server, Str::from(job.namespace()));
            self.scripts.entry(place).or_default().push((job.key(), text));
        }
    }

    /// A custom resource may make what is called after it, or what it names as the place for it. One that is well has done so.
    fn operator(&mut self, case: &Case<'a>, server: &'a str, object: &Object, is_live: bool) {
        if BARREN.contains(&object.group()) || BARREN_KINDS.contains(&object.kind()) {
            return;
        }
        targets(object.at(&["spec"]), &mut |name, namespace| {
            let namespace = namespace.unwrap_or(object.namespace());
            self.exactly(server, ObjectKey::new("", "Secret", namespace, name), object);
        });
        let has_made = is_live && object.at(&["status"]).is_some() && !case.is_unwell(object);
        if !has_made {
            let place = (server, Str::from(object.namespace()), Str::from(object.name()));
            self.prefixes.entry(place).or_default().push(object.key());
            let accounts = reference::named(object).into_iter().filter(|key| key.kind == "ServiceAccount");
            self.borrowed.extend(accounts.map(|key| (server, key, object.key())));
        }
    }

    fn exactly(&mut self, server: &'a str, made: ObjectKey, maker: &Object) {
        let all = self.exact.entry((server, made)).or_default();
        if !all.contains(&maker.key()) {
            all.push(maker.key());
        }
    }
}

/// Whether an object may be what makes a Secret of its namespace, as far as can be told from the two names and its own fields.
pub fn may_make(maker: &Object, secret: &str) -> bool {
    match (maker.group(), maker.kind()) {
        ("batch", "Job" | "CronJob") => {
            let text = Pods::of(maker).map(|pods| told(&pods)).unwrap_or_default();
            makes(&text) && mentions(&text, secret)
        }
        (group, kind) if BARREN.contains(&group) || BARREN_KINDS.contains(&kind) => false,
        _ => {
            let made = produced::made(maker);
            if !made.is_empty() {
                return made.iter().any(|name| name == secret);
            }
            let mut is_target = false;
            targets(maker.at(&["spec"]), &mut |name, namespace| {
                is_target |= name == secret && namespace.is_none_or(|one| one == maker.namespace());
            });
            is_target || ends(secret).any(|end| secret[..end] == *maker.name())
        }
    }
}

/// Whether a script may make something.
fn makes(text: &str) -> bool {
    ["create", "apply", "generate", "patch"].iter().any(|word| text.contains(word))
}

/// Where a name may end that something was called after: at each `-` and `.`, and at its own end.
fn ends(name: &str) -> impl Iterator<Item = usize> {
    name.match_indices(['-', '.']).map(|(place, _)| place).chain([name.len()])
}

/// The names under fields that say where a controller puts what it makes.
fn targets(value: Option<&Value>, take: &mut dyn FnMut(&str, Option<&str>)) {
    match value {
        Some(Value::Map(map)) => {
            for (field, part) in map.iter() {
                match TARGETS.contains(&field.as_str()) {
                    true => names(part, take),
                    false => targets(Some(part), take),
                }
            }
        }
        Some(Value::Seq(items)) => items.iter().for_each(|item| targets(Some(item), take)),
        _ => {}
    }
}

fn names(value: &Value, take: &mut dyn FnMut(&str, Option<&str>)) {
    for item in value.as_seq().unwrap_or(std::slice::from_ref(value)) {
        let name = item.as_str().or_else(|| item.str_at(&["name"])).or_else(|| item.str_at(&["secretName"]));
        let namespace = item.str_at(&["namespace"]).or_else(|| item.str_at(&["secretNamespace"]));
        if let Some(name) = name.filter(|name| !name.is_empty()) {
            take(name, namespace);
        }
    }
}

/// What the containers of a Job are told to do, with the scripts that they mount.
fn said(case: &Case<'_>, server: &str, pods: &Pods<'_>) -> String {
    let mut text = told(pods);
    for (key, ..) in pods.needs().into_iter().filter(|(key, ..)| key.kind == "ConfigMap") {
        let live = case.live(server, &key);
        let wanted = || case.wanted(server, &key).first().map(|(_, wanted)| &wanted.object);
        let data = live.or_else(wanted).and_then(|map| map.at(&["data"])).and_then(Value::as_map);
        data.into_iter()
            .flat_map(|data| data.values())
            .filter_map(Value::as_str)
            .for_each(|part| text.push_str(part));
    }
    text
}

/// What containers are told to do by their own fields.
fn told(pods: &Pods<'_>) -> String {
    let mut text = String::new();
    for (_, container) in pods.containers() {
        let words = ["command", "args"]
            .iter()
            .flat_map(|field| container.items_at(&[field]))
            .filter_map(Value::as_str);
        let settings = container.items_at(&["env"]).iter().filter_map(|one| one.str_at(&["value"]));
        words.chain(settings).for_each(|word| {
            text.push_str(word);
            text.push(' ');
        });
    }
    text
}

/// Whether a text has a name as a word of its own.
fn mentions(text: &str, name: &str) -> bool {
    let is_part = |sign: char| sign.is_ascii_alphanumeric() || matches!(sign, '-' | '.');
    text.match_indices(name).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let after = text[at + name.len()..].chars().next();
        !before.is_some_and(is_part) && !after.is_some_and(|sign| sign.is_ascii_alphanumeric() || sign == '-')
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_as_words() {
        assert!(mentions("create --secret-name=webhook-tls --host=x", "webhook-tls"));
        assert!(mentions("kubectl create secret generic db.", "db"));
        assert!(!mentions("kubectl create secret generic db-main", "db"));
        assert!(!mentions("kubectl create secret generic my-db", "db"));
    }
}
