//! Workloads that fail or do not get ready, and whose settings name a service that is not there.

use std::collections::{BTreeMap, BTreeSet};

use lynceus_object::{Object, ObjectKey, Value};

use super::asking::{Asked, Asking};
use super::near;
use crate::case::Case;
use crate::finding::{Evidence, Finding, Findings};
use crate::fix::{Fix, Place, Risk};
use crate::links::service::{self, Setting};
use crate::node::Node;
use crate::words;

/// A workload that fails, and the setting in which it names a service that is not there.
#[derive(Clone)]
struct Use<'u, 'a> {
    owner: &'a Object,
    fails: bool,
    setting: &'u Setting<'a>,
    /// The host as it is written.
    host: String,
}

/// Looks for services that are named in the settings of pods that start and fail or do not get ready, and that are not there.
pub(super) fn find(case: &Case<'_>, server: &str, all: &[Asking<'_>], findings: &mut Findings) {
    let names = Names::new(case, server);
    let mut missing: BTreeMap<ObjectKey, Vec<Use<'_, '_>>> = BTreeMap::new();
    for asking in all {
        let mut known = BTreeSet::new();
        for asked in asking.asked() {
            let setting = &asking.settings[asked.setting];
            if is_meant(case, server, asking, &asked, &names)
                && is_gone(case, server, &asked.key)
                && known.insert(asked.setting)
            {
                let (owner, fails, host) = (asking.owner, asking.fails, asked.host);
                missing.entry(asked.key).or_default().push(Use { owner, fails, setting, host });
            }
        }
    }
    if missing.is_empty() {
        return;
    }
    let origins = case.origins();
    let server = case.servers().find(|one| *one == server).unwrap_or_default();
    for (key, users) in missing {
        if origins.of(server, &key).is_empty() && !origins.is_listed(server, &key) {
            let meant =
                |users: &[Use<'_, '_>]| names.meant(&key, users.iter().all(|one| !one.host.contains('.')));
            let places = by_place(&users);
            if places.len() < 2 || meant(&users).is_none() {
                findings.add(found(case, server, &key, &users, meant(&users)));
                continue;
            }
            // A slip is mended where it was made: each of several has its own place.
            for (object, users) in places {
                let mut finding = found(case, server, &key, &users, meant(&users));
                finding.subject = Node::object(server, object);
                findings.add(finding);
            }
        }
    }
}

/// Those who name a service, by the object that it is written in.
fn by_place<'u, 'a>(users: &[Use<'u, 'a>]) -> BTreeMap<ObjectKey, Vec<Use<'u, 'a>>> {
    let mut places: BTreeMap<ObjectKey, Vec<Use<'u, 'a>>> = BTreeMap::new();
    for one in users {
        places.entry(one.setting.object.clone()).or_default().push(one.clone());
    }
    places
}

/// Whether a service is not there and nobody wants it.
fn is_gone(case: &Case<'_>, server: &str, key: &ObjectKey) -> bool {
    case.is_absent(server, key) && case.wanted(server, key).is_empty()
}

/// Whether a service is meant and nothing else: the setting says that it is of the cluster, the pods complain of it, or the setting is
/// for a host and there is a service that is called almost so.
fn is_meant(case: &Case<'_>, server: &str, asking: &Asking<'_>, asked: &Asked, names: &Names<'_>) -> bool {
    let said = &asking.said;
    let is_resolved = said.contains("no such host")
        || said.contains("could not translate host")
        || said.contains("Name or service not known");
    let is_blamed = is_resolved && said.contains(asked.key.name.as_str());
    let name = asking.settings[asked.setting].name;
    let is_near = || match names.meant(&asked.key, !asked.host.contains('.')) {
        Some(meant) => service::is_of_host(name) || has_port(case, server, &meant, asked),
        None => false,
    };
    asked.is_sure || is_blamed || is_inside(case, server, asking, asked) || is_near()
}

/// Whether an address is a name and a namespace that is there: `http://web.shop`, where nothing else is looked up first.
fn is_inside(case: &Case<'_>, server: &str, asking: &Asking<'_>, asked: &Asked) -> bool {
    let Asked { host, key, .. } = asked;
    let setting = &asking.settings[asked.setting];
    let is_address =
        setting.text.contains("://") || asked.port.is_some() || service::is_of_host(setting.name);
    // `db-0.db` is a pod of Service db.
    let is_pod = key.name.rsplit_once('-').is_some_and(|(_, number)| number.parse::<u32>().is_ok());
    let space = ObjectKey::new("", "Namespace", "", key.namespace.clone());
    is_address
        && !is_pod
        && *host == format!("{}.{}", key.name, key.namespace)
        && case.live(server, &space).is_some()
}

/// Whether a service has the port that is asked at: `redis:7` may be an image, `web:8080` beside a service with that port is none.
fn has_port(case: &Case<'_>, server: &str, service: &ObjectKey, asked: &Asked) -> bool {
    let ports = case.live(server, service).map(|one| one.value().items_at(&["spec", "ports"]));
    let mut ports = ports.unwrap_or_default().iter();
    asked.port.is_some_and(|asked| ports.any(|one| one.int_at(&["port"]) == Some(asked.number)))
}

/// The services of a cluster, and the namespaces that have them.
struct Names<'a>(BTreeSet<(&'a str, &'a str)>);

impl<'a> Names<'a> {
    fn new(case: &Case<'a>, server: &str) -> Self {
        let services = case.of_kind(server, "", "Service").iter();
        Names(services.map(|service| (service.namespace(), service.name())).collect())
    }

    /// The service that is probably meant: one of the same namespace that is called almost so, one of the same name in a namespace
    /// that is called almost so; or, where no namespace is said, the only one of that name.
    fn meant(&self, key: &ObjectKey, is_bare: bool) -> Option<ObjectKey> {
        let beside = self.0.iter().filter(|(namespace, _)| *namespace == key.namespace.as_str());
        let near =
            near::likely(&key.name, beside.map(|(_, name)| *name)).map(|name| (key.namespace.as_str(), name));
        let same: Vec<&str> = self
            .0
            .iter()
            .filter(|(_, name)| *name == key.name.as_str())
            .map(|(namespace, _)| *namespace)
            .collect();
        let only = same.first().copied().filter(|_| is_bare && same.len() == 1);
        let moved = || only.or_else(|| near::likely(&key.namespace, same.iter().copied()));
        let (namespace, name) = near.or_else(|| moved().map(|namespace| (namespace, key.name.as_str())))?;
        Some(ObjectKey::new("", "Service", namespace, name))
    }
}

fn found(
    case: &Case<'_>,
    server: &str,
    key: &ObjectKey,
    users: &[Use<'_, '_>],
    meant: Option<ObjectKey>,
) -> Finding {
    let owners: BTreeSet<String> =
        users.iter().map(|one| format!("{} {}", one.owner.kind(), one.owner.name())).collect();
    let are_failing = users.iter().any(|one| one.fails);
    let verbs = match (owners.len(), are_failing) {
        (1, true) => "fails and is",
        (_, true) => "fail and are",
        (1, false) => "does not get ready and is",
        (_, false) => "do not get ready and are",
    };
    let names = words::list(owners);
    let has_space = case.live(server, &ObjectKey::new("", "Namespace", "", key.namespace.clone())).is_some();
    let knows_spaces = !case.of_kind(server, "", "Namespace").is_empty();
    let place = match knows_spaces && !has_space {
        true => format!("there is not even a namespace {}", key.namespace),
        false => format!("namespace {} has none of that name", key.namespace),
    };
    let hint = meant
        .as_ref()
        .map(|meant| format!("; there is Service {}.{}", meant.name, meant.namespace))
        .unwrap_or_default();
    let cause = format!(
        "{names} {verbs} set to ask Service {}.{}, which is defined nowhere: {place}{hint}",
        key.name, key.namespace
    );
    let seen = users.iter().map(|Use { setting, .. }| Evidence::Field {
        object: setting.object.clone(),
        path: setting.path.clone(),
        // Of an address only the host, since there may be a password in it.
        value: if service::is_name(setting.text) {
            setting.text.to_owned()
        } else {
            format!("{}.{}", key.name, key.namespace)
        },
    });
    Finding::new("LYN0303", Node::object(server, key.clone()), cause)
        .of(users.iter().find_map(|one| case.owner(server, &one.owner.key())))
        .seen(seen.take(crate::limits::NAMED))
        .affects(users.iter().map(|one| Node::object(server, one.owner.key())))
        .unless_deeper()
        .fix(meant.and_then(|meant| rename(case, server, key, &meant, users)))
        .fix([Fix::new("Name a service that is there, or have this one made")
            .person(format!("look for what is meant: kubectl get services -A | grep {}", key.name))])
}

/// Has all who name a service name another.
fn rename(
    case: &Case<'_>,
    server: &str,
    key: &ObjectKey,
    meant: &ObjectKey,
    users: &[Use<'_, '_>],
) -> Option<Fix> {
    let mut fix = Fix::new(format!("Ask Service {}.{}", meant.name, meant.namespace));
    let mut known = BTreeSet::new();
    for Use { setting, host, .. } in users {
        let Some(app) = case.owner(server, &setting.object) else { continue };
        let (whole, new) =
            (format!("{}.{}", key.name, key.namespace), format!("{}.{}", meant.name, meant.namespace));
        let text = match setting.text.contains(&whole) {
            true => setting.text.replacen(&whole, &new, 1),
            false if key.namespace == meant.namespace => {
                setting.text.replacen(key.name.as_str(), &meant.name, 1)
            }
            false if !host.contains('.') => with_host(setting.text, host, &new),
            false => continue,
        };
        if known.insert((setting.object.clone(), setting.path.to_string())) {
            let value = Some(Value::from(text.as_str()));
            fix = fix.git(
                &app,
                Place::Field { object: setting.object.clone(), path: setting.path.clone(), value },
            );
        }
    }
    fix.has_edits()
        .then(|| fix.risk(Risk::Low, "workloads that fail now").why("it is there, and is called almost so"))
}

/// A text with another host where an address begins, not where a user or a password is called as the host is.
fn with_host(text: &str, host: &str, new: &str) -> String {
    let begins = [format!("@{host}"), format!("://{host}")];
    match begins.iter().find_map(|begin| text.find(begin.as_str()).map(|at| at + begin.len() - host.len())) {
        Some(at) => format!("{}{new}{}", &text[..at], &text[at + host.len()..]),
        None => text.replacen(host, new, 1),
    }
}

#[cfg(test)]
mod tests {
    use crate::tests::check;

    const FAILS: &str = "
@live
apiVersion: v1
kind: Pod
metadata: {name: web, namespace: shop}
spec: {containers: [{name: web, image: web, env: [{name: DB, value: 'postgres://db.data.svc:5432/x'}]}]}
status:
  phase: Running
  containerStatuses: [{name: web, state: {waiting: {reason: CrashLoopBackOff}}, lastState: {terminated: {exitCode: 1}}}]
";

    #[test]
    fn a_service_that_a_failing_pod_asks_is_found() {
        assert_eq!(
            check("LYN0303", FAILS),
            "P1 LYN0303/data/Service/db: Pod web fails and is set to ask Service db.data, which is defined nowhere: namespace \
             data has none of that name\n  Pod shop/web: spec.containers[0].env[0].value: db.data\n  fix: Name a service that is there, or have \
             this one made\n"
        );
    }

    #[test]
    fn a_service_that_a_pod_asks_which_does_not_get_ready_is_found() {
        let waits = FAILS
            .replace(
                "state: {waiting: {reason: CrashLoopBackOff}}, lastState: {terminated: {exitCode: 1}}",
                "STATE",
            )
            .replace("STATE", "ready: false, state: {running: {startedAt: '2026-01-01T11:00:00Z'}}");
        assert!(check("LYN0303", &waits).starts_with(
            "P1 LYN0303/data/Service/db: Pod web does not get ready and is set to ask Service db.data, which is defined nowhere"
        ));
        assert_eq!(check("LYN0303", &waits.replace("11:00:00", "11:58:00")), "", "it may still get ready");
        assert_eq!(check("LYN0303", &waits.replace("ready: false", "ready: true")), "", "it does without");
    }

    #[test]
    fn an_init_container_that_waits_for_a_service_is_found() {
        let waits = FAILS
            .replace("containers: [{name: web, image: web,", "initContainers: [{name: web, image: web,")
            .replace("containerStatuses: [{name: web, state: {waiting: {reason: CrashLoopBackOff}}", "STATE")
            .replace("STATE, lastState: {terminated: {exitCode: 1}}", "STATE")
            .replace(
                "STATE",
                "initContainerStatuses: [{name: web, ready: false, state: {running: {startedAt: '2026-01-01T11:00:00Z'}}",
            );
        assert!(check("LYN0303", &waits).starts_with("P1 LYN0303/data/Service/db: "), "{waits}");
    }

    #[test]
    fn a_name_out_of_a_config_map_is_found_with_what_is_called_almost_so() {
        let text = FAILS.replace(
            "env: [{name: DB, value: 'postgres://db.data.svc:5432/x'}]",
            "envFrom: [{configMapRef: {name: cfg}}]",
        );
        let rest = "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: cfg, namespace: shop}\ndata: {SMTP_HOST: smtp.mail-relay, \
                    HOST: web, DB_HOST: geo-db, LOG_URL: logs}\n";
        let service = |name: &str, namespace: &str| {
            format!(
                "---\napiVersion: v1\nkind: Service\nmetadata: {{name: {name}, namespace: {namespace}}}\n"
            )
        };
        let text = format!("{text}{rest}{}{}", service("smtp", "relay"), service("eu-geo-db", "shop"));
        let found = check("LYN0303", &text);
        assert!(found.contains(
            "Pod web fails and is set to ask Service smtp.mail-relay, which is defined nowhere: namespace mail-relay has none of \
             that name; there is Service smtp.relay\n  ConfigMap shop/cfg: data.SMTP_HOST: smtp.mail-relay\n"
        ), "{found}");
        assert!(found.contains("there is Service eu-geo-db.shop\n"), "{found}");
        assert_eq!(found.matches("P1 ").count(), 2, "what nothing is called like may be anything: {found}");
    }

    #[test]
    fn a_host_without_a_dot_is_a_service_of_the_namespace() {
        let waits = FAILS.replace(
            "state: {waiting: {reason: CrashLoopBackOff}}, lastState: {terminated: {exitCode: 1}}",
            "ready: false, state: {running: {startedAt: '2026-01-01T11:00:00Z'}}",
        );
        let asks = |env: &str| {
            check("LYN0303", &waits.replace("{name: DB, value: 'postgres://db.data.svc:5432/x'}", env))
        };
        let found = asks("{name: DB, value: 'postgres://ledger:5432/x'}");
        assert!(
            found.starts_with("P1 LYN0303/shop/Service/ledger: Pod web does not get ready and is set to ask Service ledger.shop"),
            "{found}"
        );
        assert!(
            asks("{name: DB_HOST, value: ledger}, {name: DB_PORT, value: '5432'}").contains("Service/ledger")
        );
        assert_eq!(asks("{name: DB_HOST, value: ledger}"), "", "it may be a name of something else");
        assert_eq!(asks("{name: IMAGE, value: 'redis:7'}"), "", "no address");
        assert_eq!(asks("{name: BUCKET, value: 's3://models/x'}"), "", "no host");
        let aliased = waits.replace("db.data.svc:5432", "ledger:5432").replace(
            "spec: {containers",
            "spec: {hostAliases: [{ip: 10.0.0.1, hostnames: [ledger]}], containers",
        );
        assert_eq!(check("LYN0303", &aliased), "", "the pods know where it is");
    }

    #[test]
    fn a_name_with_a_namespace_that_is_there_and_one_with_the_port_of_a_service_are_addresses() {
        let more = "---\napiVersion: v1\nkind: Namespace\nmetadata: {name: data}\n---\napiVersion: v1\nkind: Service\nmetadata: \
                    {name: lookup, namespace: shop}\nspec: {ports: [{port: 80}]}\n";
        let asks = |env: &str| {
            let text = FAILS.replace("{name: DB, value: 'postgres://db.data.svc:5432/x'}", env);
            check("LYN0303", &format!("{text}{more}"))
        };
        assert!(asks("{name: UP, value: 'http://db.data:80/x'}").starts_with("P1 LYN0303/data/Service/db: "));
        assert!(asks("{name: UP, value: 'db.data:80'}").starts_with("P1 LYN0303/data/Service/db: "));
        assert_eq!(asks("{name: UP, value: 'http://db.example:80/x'}"), "", "no namespace of the cluster");
        assert_eq!(asks("{name: UP, value: 'db-0.data:80'}"), "", "a pod of Service data");
        assert!(asks("{name: UP, value: 'look-up:80'}").contains("there is Service lookup.shop\n"));
        assert_eq!(asks("{name: UP, value: 'look-up:7'}"), "", "it may be an image");
        assert_eq!(asks("{name: UP, value: 'other:80'}"), "", "nothing is called so");
    }

    #[test]
    fn two_slips_in_objects_of_their_own_are_two_and_a_service_that_nothing_is_called_like_is_one() {
        let app = |name: &str| {
            format!(
                "@app {name} Synced Degraded\napiVersion: v1\nkind: Pod\nmetadata: {{name: {name}, namespace: shop}}\n"
            )
        };
        let live = |name: &str| {
            FAILS
                .replace("@live\n", "---\n")
                .replace("{name: web, namespace: shop}", &format!("{{name: {name}, namespace: shop}}"))
                .replace("postgres://db.data.svc:5432/x", "http://look-up:80")
        };
        let text = format!(
            "{}{}@live\n{}{}",
            app("a"),
            app("b"),
            live("a").trim_start_matches("\n---\n"),
            live("b")
        );
        let service = "---\napiVersion: v1\nkind: Service\nmetadata: {name: lookup, namespace: shop}\n";
        let two = crate::tests::roots(&format!("{text}{service}"));
        assert_eq!(two, "P1 LYN0303/a/Pod/a explains a\nP1 LYN0303/b/Pod/b explains b\n");
        let one = crate::tests::roots(&text);
        assert_eq!(one, "P0 LYN0303/a/Service/look-up explains a b\n");
    }

    #[test]
    fn a_host_without_its_namespace_means_the_only_service_of_that_name() {
        let text = FAILS.replace("'postgres://db.data.svc:5432/x'", "'postgres://db:db@db:5432/x'");
        let text = text.replace("@live", "@app shop Synced Degraded\napiVersion: v1\nkind: Pod\nmetadata: {name: web, namespace: shop}\n@live");
        let service = "---\napiVersion: v1\nkind: Service\nmetadata: {name: db, namespace: data}\nspec: {ports: [{port: 5432}]}\n";
        let fixes = crate::tests::roots_with_fixes(&format!("{text}{service}"));
        assert!(fixes.contains("to \"postgres://db:db@db.data:5432/x\""), "{fixes}");
    }

    #[test]
    fn pods_that_run_out_of_memory_blame_nobody() {
        assert_eq!(
            check("LYN0303", &FAILS.replace("{exitCode: 1}", "{exitCode: 137, reason: OOMKilled}")),
            ""
        );
    }

    #[test]
    fn a_name_outside_of_the_cluster_is_not_looked_for() {
        assert_eq!(check("LYN0303", &FAILS.replace("db.data.svc:5432", "db.example:5432")), "");
    }
}
