//! A service waits for the pods behind it, and whoever names it in its settings waits for the service.

use std::cell::OnceCell;
use std::collections::{BTreeSet, HashMap};

use lynceus_object::{FieldPath, Object, ObjectKey, Selector, Value};

use crate::case::{Case, Pods};
use crate::graph::Graph;
use crate::limits;
use crate::node::Node;

pub(super) fn link(case: &Case<'_>, server: &str, graph: &mut Graph) {
    let owners = case.pod_owners(server).chain(without_pods(case, server));
    let unwell: Vec<&Object> = owners.filter(|owner| is_short(case, server, owner)).collect();
    let services = Services::new(case, server);
    let mut own: HashMap<ObjectKey, Vec<ObjectKey>> = HashMap::new();
    let mut silent: BTreeSet<ObjectKey> = BTreeSet::new();
    for owner in &unwell {
        let near = services.near(case, server, owner).into_iter();
        for service in near.filter(|service| is_behind(case, server, service, owner)) {
            graph.link(Node::object(server, service.key()), Node::object(server, owner.key()));
            own.entry(owner.key()).or_default().push(service.key());
            silent.insert(service.key());
        }
    }
    let labelled = OnceCell::new();
    let is_idle = |key: &ObjectKey| {
        let service = case.live(server, key);
        service.is_some_and(|service| labelled.get_or_init(|| Labelled::new(case, server)).is_idle(service))
    };
    for owner in &unwell {
        let Some(pods) = Pods::of(owner) else { continue };
        let is_own = |key: &ObjectKey| own.get(&owner.key()).is_some_and(|own| own.contains(key));
        let waits = |key: &ObjectKey| silent.contains(key) || case.is_absent(server, key) || is_idle(key);
        let named = named_services(case, server, &pods).into_iter().filter(waits);
        let mentioned =
            mentioned_services(case, server, &pods).into_iter().filter(|key| silent.contains(key));
        for key in named.chain(mentioned).filter(|key| !is_own(key)) {
            graph.link(Node::object(server, owner.key()), Node::object(server, key));
        }
    }
}

/// The pods of a cluster by namespace and each of their labels: a cluster may have very many, and many services may be asked for.
struct Labelled<'a>(HashMap<(&'a str, &'a str, &'a str), Vec<&'a Object>>);

impl<'a> Labelled<'a> {
    fn new(case: &Case<'a>, server: &str) -> Self {
        let mut labelled: HashMap<(&'a str, &'a str, &'a str), Vec<&'a Object>> = HashMap::new();
        for pod in case.of_kind(server, "", "Pod").iter().copied() {
            let labels = pod.at(&["metadata", "labels"]).and_then(Value::as_map);
            for (key, value) in labels.into_iter().flat_map(|map| map.iter()) {
                let place = (pod.namespace(), key.as_str(), value.as_str().unwrap_or_default());
                labelled.entry(place).or_default().push(pod);
            }
        }
        Labelled(labelled)
    }

    /// Whether a service selects pods and there are none that it fits. Those with the rarest of its labels are all that can.
    fn is_idle(&self, service: &Object) -> bool {
        let wanted = service.at(&["spec", "selector"]).and_then(Value::as_map);
        let wanted: Vec<(&str, &str)> = wanted
            .into_iter()
            .flat_map(|map| map.iter())
            .filter_map(|(key, value)| Some((key.as_str(), value.as_str()?)))
            .collect();
        let lists = wanted.iter().map(|&(key, value)| {
            self.0.get(&(service.namespace(), key, value)).map_or(&[][..], Vec::as_slice)
        });
        let rarest = lists.min_by_key(|pods| pods.len());
        let fits = |pod: &&Object| wanted.iter().all(|(key, value)| pod.label(key) == Some(*value));
        rarest.is_some_and(|pods| !pods.iter().any(fits))
    }
}

/// The services of a cluster by namespace and the first label that they select by: a namespace may have thousands.
struct Services<'a>(HashMap<(&'a str, &'a str, &'a str), Vec<&'a Object>>);

impl<'a> Services<'a> {
    fn new(case: &Case<'a>, server: &str) -> Self {
        let mut services: HashMap<(&'a str, &'a str, &'a str), Vec<&'a Object>> = HashMap::new();
        for service in case.of_kind(server, "", "Service") {
            let selector = service.at(&["spec", "selector"]).and_then(Value::as_map);
            let first =
                selector.and_then(|map| map.iter().find_map(|(key, value)| Some((key, value.as_str()?))));
            if let Some((key, value)) = first {
                services.entry((service.namespace(), key, value)).or_default().push(service);
            }
        }
        Services(services)
    }

    /// Those that may select the pods of a workload, in the order of their names.
    fn near(&self, case: &Case<'a>, server: &str, owner: &'a Object) -> Vec<&'a Object> {
        let made = case.children(server, owner).iter().copied().chain(case.pods(server, owner));
        let mut found = Vec::new();
        for pods in made.chain([owner]).filter_map(Pods::of) {
            let labels = pods.metadata.and_then(|metadata| metadata.get("labels")).and_then(Value::as_map);
            for (key, value) in labels.into_iter().flat_map(|map| map.iter()) {
                let place = (owner.namespace(), key.as_str(), value.as_str().unwrap_or_default());
                found.extend(self.0.get(&place).into_iter().flatten().copied());
            }
        }
        found.sort_by_key(|service: &&Object| service.name());
        found.dedup_by_key(|service| service.name());
        found
    }
}

/// Whether a workload has fewer pods than it should, or pods that are not ready.
fn is_short<'a>(case: &Case<'a>, server: &str, owner: &'a Object) -> bool {
    case.is_unwell(owner)
        || case.pods(server, owner).iter().any(|pod| {
            let conditions = pod.value().items_at(&["status", "conditions"]);
            let ready = conditions.iter().find(|one| one.str_at(&["type"]) == Some("Ready"));
            ready.is_none_or(|one| one.str_at(&["status"]) != Some("True"))
                && pod.value().str_at(&["status", "phase"]) != Some("Succeeded")
        })
}

/// What owns workloads that should have pods and have none: a custom resource whose StatefulSet cannot make any.
fn without_pods<'a>(case: &Case<'a>, server: &str) -> Vec<&'a Object> {
    let is_maker = |object: &&Object| {
        let kind = (object.group(), object.kind());
        kind == ("apps", "StatefulSet") || kind == ("apps", "Deployment") || kind == ("apps", "DaemonSet")
    };
    let owned = case.objects(server).iter().filter(is_maker).filter(|object| object.controller().is_some());
    let idle = owned.filter(|object| case.pods(server, object).is_empty() && case.is_unwell(object));
    idle.map(|object| case.top(server, object)).collect()
}

/// Whether the pods of a workload are behind a service. What has no template itself has pods, or workloads that have one.
pub(crate) fn is_behind<'a>(case: &Case<'a>, server: &str, service: &Object, owner: &'a Object) -> bool {
    let Some(wanted) = service.at(&["spec", "selector"]).filter(|selector| !selector.is_empty()) else {
        return false;
    };
    let pairs = wanted.as_map().into_iter().flat_map(|map| map.iter());
    let selector =
        Selector::from_labels(pairs.filter_map(|(key, value)| Some((key.as_str(), value.as_str()?))));
    let labels = |object: &Object| Pods::of(object).and_then(|pods| pods.metadata?.get("labels").cloned());
    let fits = |object: &Object| labels(object).is_some_and(|labels| selector.matches_labels(Some(&labels)));
    service.namespace() == owner.namespace()
        && match Pods::of(owner) {
            Some(_) => fits(owner),
            None => {
                case.children(server, owner).iter().any(|child| fits(child))
                    || case.pods(server, owner).iter().any(|pod| fits(pod))
            }
        }
}

/// The services that the settings of pods name as hosts: `db.data.svc`, `http://db.data:80`, `DB_HOST: db`.
pub(crate) fn named_services(case: &Case<'_>, server: &str, pods: &Pods<'_>) -> BTreeSet<ObjectKey> {
    let settings = settings(case, server, pods);
    let hosts = settings.iter().flat_map(Setting::hosts);
    hosts.filter_map(|host| named(&host, pods.holder.namespace())).collect()
}

/// The services that the files name which are mounted into pods. Not all of them are asked: a file may list what it watches.
fn mentioned_services(case: &Case<'_>, server: &str, pods: &Pods<'_>) -> BTreeSet<ObjectKey> {
    let hosts = files(case, server, pods).into_iter().flat_map(hosts_in);
    hosts.filter_map(|host| named(&host, pods.holder.namespace())).collect()
}

/// The files of ConfigMaps that are mounted into pods, but for the largest.
fn files<'a>(case: &Case<'a>, server: &str, pods: &Pods<'a>) -> Vec<&'a str> {
    let volumes = pods.spec.items_at(&["volumes"]).iter();
    let sources = volumes.flat_map(|volume| {
        let projected = volume.items_at(&["projected", "sources"]).iter();
        projected.filter_map(|source| source.at(&["configMap"])).chain(volume.at(&["configMap"]))
    });
    let maps = sources.filter_map(|source| config_map(case, server, pods, source.str_at(&["name"])));
    let data = maps.filter_map(|(_, map)| map.at(&["data"])?.as_map());
    let texts = data.flat_map(|map| map.values().filter_map(Value::as_str));
    texts.filter(|text| text.len() <= limits::SETTINGS).collect()
}

/// A ConfigMap that pods name, as it is or is to be.
fn config_map<'a>(
    case: &Case<'a>,
    server: &str,
    pods: &Pods<'a>,
    name: Option<&str>,
) -> Option<(ObjectKey, &'a Object)> {
    let key = ObjectKey::new("", "ConfigMap", pods.holder.namespace(), name?);
    case.live(server, &key)
        .or_else(|| case.wanted(server, &key).first().map(|(_, wanted)| &wanted.object))
        .map(|map| (key, map))
}

/// A setting that the containers of pods are started with, and where it stands.
pub(crate) struct Setting<'a> {
    /// The variable; empty for words of a command.
    pub(crate) name: &'a str,
    /// What it is.
    pub(crate) text: &'a str,
    /// What it stands in: the workload, or a ConfigMap.
    pub(crate) object: ObjectKey,
    /// Where in it.
    pub(crate) path: FieldPath,
}

impl Setting<'_> {
    /// The hosts that it names; a mere name is one where the variable is for a host.
    fn hosts(&self) -> Vec<String> {
        match hosts_in(self.text) {
            found if !found.is_empty() => found,
            _ if is_of_host(self.name) && is_name(self.text) => vec![self.text.to_owned()],
            _ => Vec::new(),
        }
    }
}

/// Whether a variable is for a host that is asked. `HOST` alone is mostly where a program listens.
pub(crate) fn is_of_host(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    let ends =
        ["_HOST", "_HOSTNAME", "_ADDR", "_ADDRESS", "_SERVER", "_SERVERS", "_URL", "_URI", "_ENDPOINT"];
    ends.iter().any(|end| name.ends_with(end)) && !name.contains("LISTEN") && !name.contains("BIND")
}

/// Whether a text can be the name of a host and nothing else.
pub(crate) fn is_name(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'-' | b'.'))
        && text.bytes().any(|byte| byte.is_ascii_lowercase())
}

/// The settings of pods: variables, those out of ConfigMaps too, and the words of commands.
pub(crate) fn settings<'a>(case: &Case<'a>, server: &str, pods: &Pods<'a>) -> Vec<Setting<'a>> {
    let mut all = Vec::new();
    let key = pods.holder.key();
    let map = |name: Option<&str>| config_map(case, server, pods, name);
    for (path, container) in pods.containers() {
        for source in container.items_at(&["envFrom"]) {
            let Some((key, map)) = map(source.str_at(&["configMapRef", "name"])) else { continue };
            for (name, value) in
                map.at(&["data"]).and_then(Value::as_map).into_iter().flat_map(|map| map.iter())
            {
                let path = FieldPath::fields(["data", name]);
                let text = value.as_str().unwrap_or_default();
                all.push(Setting { name, text, object: key.clone(), path });
            }
        }
        for (place, one) in container.items_at(&["env"]).iter().enumerate() {
            let name = one.str_at(&["name"]).unwrap_or_default();
            if let Some(text) = one.str_at(&["value"]) {
                let path = path.field("env").index(place).field("value");
                all.push(Setting { name, text, object: key.clone(), path });
            }
            let source = one.at(&["valueFrom", "configMapKeyRef"]);
            let Some(part) = source.and_then(|source| source.str_at(&["key"])) else { continue };
            let Some((key, map)) = map(source.and_then(|source| source.str_at(&["name"]))) else { continue };
            if let Some(text) = map.value().str_at(&["data", part]) {
                all.push(Setting { name, text, object: key, path: FieldPath::fields(["data", part]) });
            }
        }
        for field in ["args", "command"] {
            for (place, word) in container.items_at(&[field]).iter().enumerate() {
                let text = word.as_str().unwrap_or_default();
                let path = path.field(field).index(place);
                all.push(Setting { name: "", text, object: key.clone(), path });
            }
        }
    }
    all
}

/// The service that a host name means, if it means one of the cluster.
pub(crate) fn named(host: &str, namespace: &str) -> Option<ObjectKey> {
    let mut parts = host.split('.');
    let name = parts.next().filter(|name| !name.is_empty())?;
    let rest: Vec<&str> = parts.collect();
    // `db-0.db.data.svc` is a pod of Service db.
    let is_pod = name.rsplit_once('-').is_some_and(|(_, number)| number.parse::<u32>().is_ok());
    if let ([service, namespace, "svc"] | [service, namespace, "svc", "cluster", "local"], true) =
        (rest.as_slice(), is_pod)
    {
        return Some(ObjectKey::new("", "Service", *namespace, *service));
    }
    let namespace = match rest.as_slice() {
        [] => namespace,
        [namespace] | [namespace, "svc"] | [namespace, "svc", "cluster", "local"] => namespace,
        _ => return None,
    };
    Some(ObjectKey::new("", "Service", namespace, name))
}

/// The hosts of all addresses that stand anywhere in a value.
pub(crate) fn hosts(value: Option<&Value>) -> Vec<String> {
    match value {
        Some(Value::Map(map)) => map.values().flat_map(|one| hosts(Some(one))).collect(),
        Some(Value::Seq(items)) => items.iter().flat_map(|one| hosts(Some(one))).collect(),
        Some(value) => value.as_str().map(hosts_in).unwrap_or_default(),
        None => Vec::new(),
    }
}

/// An address that a text names.
pub(crate) struct Address<'t> {
    /// The name of the host.
    pub(crate) host: &'t str,
    /// The port, where one is said.
    pub(crate) port: Option<i64>,
    /// What comes before `://`, where it is a URL.
    pub(crate) scheme: Option<&'t str>,
}

/// The hosts in a text: of URLs, of `host:port`, and of names that end in `.svc` or `.svc.cluster.local`.
pub(crate) fn hosts_in(text: &str) -> Vec<String> {
    addresses_in(text).into_iter().map(|address| address.host.to_owned()).collect()
}

/// The addresses in a text, as [`hosts_in`] finds them.
pub(crate) fn addresses_in(text: &str) -> Vec<Address<'_>> {
    let is_end = |sign: char| sign.is_whitespace() || matches!(sign, ',' | ';' | '"' | '\'' | '(' | ')');
    text.split(is_end).filter_map(address).collect()
}

fn address(word: &str) -> Option<Address<'_>> {
    // `--upstream=http://web`, but not `http://web?x=1`.
    let word = match word.split_once('=') {
        Some((name, value)) if !name.contains(['/', ':']) => value,
        _ => word,
    };
    let (scheme, rest) = match word.split_once("://") {
        Some((scheme, rest)) => (Some(scheme), rest),
        None => (None, word),
    };
    let authority = rest.split(['/', '?']).next().unwrap_or_default();
    let authority = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    let (host, port) = match authority.split_once(':') {
        Some((host, port)) => (host, port.parse::<i64>().ok().filter(|port| *port >= 0)),
        None => (authority, None),
    };
    let is_name = !host.is_empty()
        && host.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.'))
        && host.bytes().any(|byte| byte.is_ascii_alphabetic());
    let is_meant = scheme.is_some() || port.is_some() || host.ends_with(".svc") || host.contains(".svc.");
    (is_name && is_meant).then(|| Address { host: host.trim_end_matches('.'), port, scheme })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_are_found_in_settings() {
        let hosts = |text| hosts_in(text).join(" ");
        assert_eq!(hosts("postgres://user:pass@db.data.svc:5432/shop?x=1"), "db.data.svc");
        assert_eq!(hosts("--upstream=http://web:8080 kafka:9092"), "web kafka");
        assert_eq!(hosts("vault.core.svc.cluster.local"), "vault.core.svc.cluster.local");
        assert_eq!(hosts("12:30 true example 1.2.3.4:80"), "");
    }

    #[test]
    fn addresses_have_their_port_and_their_scheme() {
        let told = |text| {
            let told = |one: &Address<'_>| format!("{:?} {} {:?}", one.scheme, one.host, one.port);
            addresses_in(text).iter().map(told).collect::<Vec<_>>().join(", ")
        };
        assert_eq!(told("http://web:8080/x, db:5432"), "Some(\"http\") web Some(8080), None db Some(5432)");
        assert_eq!(told("https://web/x"), "Some(\"https\") web None");
    }

    #[test]
    fn a_service_is_idle_if_no_pod_has_all_of_its_labels() {
        let pod = |name: &str, labels: &str| {
            format!(
                "---\napiVersion: v1\nkind: Pod\nmetadata: {{name: {name}, namespace: shop, labels: {{{labels}}}}}\n"
            )
        };
        let text = format!(
            "@live\napiVersion: v1\nkind: Service\nmetadata: {{name: web, namespace: shop}}\nspec: {{selector: {{app: web, part: front}}}}\n{}{}",
            pod("a", "app: web, part: back"),
            pod("b", "app: api, part: front")
        );
        let is_idle = |text: &str| {
            let snapshot = crate::tests::snapshot(text);
            let case = Case::new(&snapshot);
            let key = ObjectKey::new("", "Service", "shop", "web");
            Labelled::new(&case, crate::tests::SERVER).is_idle(case.live(crate::tests::SERVER, &key).unwrap())
        };
        assert!(is_idle(&text));
        assert!(!is_idle(&format!("{text}{}", pod("c", "app: web, part: front, more: x"))));
        let open = text.replace("selector: {app: web, part: front}", "ports: []");
        assert!(!is_idle(&open), "what selects nothing has its endpoints from elsewhere");
    }

    /// A database whose pods do not start, and an api that ends without it.
    fn chain(api: &str, map: &str) -> String {
        let workload = |name: &str, pod: &str| {
            format!(
                "---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: {name}, namespace: shop, uid: {name}-d, generation: \
                 1}}\nspec: {{replicas: 1, template: {{metadata: {{labels: {{app: {name}}}}}, spec: {pod}}}}}\nstatus: \
                 {{observedGeneration: 1, replicas: 1, updatedReplicas: 1, unavailableReplicas: 1}}\n"
            )
        };
        let pod = |name: &str, state: &str| {
            format!(
                "---\napiVersion: v1\nkind: Pod\nmetadata: {{name: {name}-1, namespace: shop, labels: {{app: {name}}}, \
                 ownerReferences: [{{kind: Deployment, name: {name}, uid: {name}-d, controller: true}}]}}\nspec: {{containers: \
                 [{{name: main, image: {name}}}]}}\nstatus: {{phase: Running, containerStatuses: [{{name: main, image: {name}, \
                 state: {{waiting: {state}}}}}]}}\n"
            )
        };
        let lost = "{reason: ImagePullBackOff, message: 'Back-off pulling image: not found'}";
        let ends = "{reason: CrashLoopBackOff}, lastState: {terminated: {exitCode: 1}}, restartCount: 9, ready: false, x: {}";
        let db = workload("db", "{containers: [{name: main, image: db}]}");
        format!(
            "@app db Synced Degraded\n{}@app api Synced Degraded\n{}@live\n{}{}{}{}---\napiVersion: v1\nkind: Service\nmetadata: \
             {{name: db, namespace: shop}}\nspec: {{clusterIP: 10.0.0.1, selector: {{app: db}}, ports: [{{port: 5432}}]}}\n{map}",
            db.trim_start_matches("---\n"),
            workload("api", api).trim_start_matches("---\n"),
            db,
            workload("api", api),
            pod("db", lost),
            pod("api", ends),
        )
    }

    #[test]
    fn a_host_without_a_port_and_one_in_a_mounted_file_are_waited_for() {
        let roots = |api: &str, map: &str| crate::tests::roots(&chain(api, map));
        let expected = "P0 LYN0501/db/Image/db explains api db\n";
        let by_name = "{containers: [{name: main, image: api, env: [{name: DB_HOST, value: db}]}]}";
        assert_eq!(roots(by_name, ""), expected);
        let by_file =
            "{volumes: [{name: c, configMap: {name: settings}}], containers: [{name: main, image: api}]}";
        let map = "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings, namespace: shop}\ndata: {app.properties: \
                   'url=jdbc:postgresql://db:5432/shop'}\n";
        assert_eq!(roots(by_file, map), expected);
        let other = map.replace("db:5432", "elsewhere.example.org:5432");
        assert!(roots(by_file, &other).contains("LYN0901/api"), "{}", roots(by_file, &other));
    }

    #[test]
    fn a_host_of_the_cluster_means_a_service() {
        let service = |host| named(host, "own").map(|key| format!("{}/{}", key.namespace, key.name));
        assert_eq!(service("db").as_deref(), Some("own/db"));
        assert_eq!(service("db.data.svc.cluster.local").as_deref(), Some("data/db"));
        assert_eq!(service("www.example.com.org"), None);
    }
}
