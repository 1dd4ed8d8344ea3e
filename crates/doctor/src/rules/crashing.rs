//! Workloads that fail or do not get ready, and whose settings name a service that is not there.

use std::collections::{BTreeMap, BTreeSet};

use lynceus_object::{Object, ObjectKey, Value};

use super::container::Container;
use super::{near, probe};
use crate::case::{Case, Pods};
use crate::finding::{Evidence, Finding, Findings};
use crate::fix::{Fix, Place, Risk};
use crate::links::service::{self, Setting};
use crate::node::Node;
use crate::words;

/// A workload that fails, and the setting in which it names a service that is not there.
type Use<'a> = (&'a Object, Setting<'a>);

/// Looks for services that are named in the settings of pods that start and fail or do not get ready, and that are not there.
pub(super) fn find(case: &Case<'_>, server: &str, findings: &mut Findings) {
    let names = Names::new(case, server);
    let mut missing: BTreeMap<ObjectKey, Vec<Use<'_>>> = BTreeMap::new();
    for owner in case.pod_owners(server) {
        let pods = case.pods(server, owner);
        let is_ill = pods.iter().any(|pod| fails(pod) || waits(case, server, pod));
        let Some(spec) = Pods::of(owner).filter(|_| is_ill) else { continue };
        let said: String = pods.iter().map(|pod| last_words(pod)).collect();
        for setting in service::settings(case, server, &spec) {
            let Some(key) = asked(&setting, owner.namespace(), &said, &names) else { continue };
            if is_gone(case, server, &key) {
                missing.entry(key).or_default().push((owner, setting));
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
            let meant = names.meant(&key);
            findings.add(found(case, server, key, &users, meant));
        }
    }
}

/// Whether a service is not there and nobody wants it.
fn is_gone(case: &Case<'_>, server: &str, key: &ObjectKey) -> bool {
    key.name != "localhost" && case.is_absent(server, key) && case.wanted(server, key).is_empty()
}

/// The service that a setting names, if that cannot be meant otherwise: it says that it is of the cluster, the pods complain of it,
/// or the setting is for a host and there is a service that is called almost so.
fn asked(setting: &Setting<'_>, namespace: &str, said: &str, names: &Names<'_>) -> Option<ObjectKey> {
    let is_resolved = said.contains("no such host")
        || said.contains("could not translate host")
        || said.contains("Name or service not known");
    let mut hosts = service::hosts_in(setting.text);
    if hosts.is_empty() && is_of_host(setting.name) && is_name(setting.text) {
        hosts.push(setting.text.to_owned());
    }
    hosts.into_iter().find_map(|host| {
        let key = service::named(&host, namespace)?;
        let whole = format!("{}.{}.svc", key.name, key.namespace);
        let is_blamed = is_resolved && said.contains(key.name.as_str());
        let is_near = is_of_host(setting.name) && names.meant(&key).is_some();
        (setting.text.contains(&whole) || is_blamed || is_near).then_some(key)
    })
}

/// Whether a variable is for a host that is asked. `HOST` alone is mostly where a program listens.
fn is_of_host(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    let ends =
        ["_HOST", "_HOSTNAME", "_ADDR", "_ADDRESS", "_SERVER", "_SERVERS", "_URL", "_URI", "_ENDPOINT"];
    ends.iter().any(|end| name.ends_with(end)) && !name.contains("LISTEN") && !name.contains("BIND")
}

/// Whether a text can be the name of a host and nothing else.
fn is_name(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'-' | b'.'))
        && text.bytes().any(|byte| byte.is_ascii_lowercase())
}

/// The services of a cluster, and the namespaces that have them.
struct Names<'a>(BTreeSet<(&'a str, &'a str)>);

impl<'a> Names<'a> {
    fn new(case: &Case<'a>, server: &str) -> Self {
        let services = case.of_kind(server, "", "Service").iter();
        Names(services.map(|service| (service.namespace(), service.name())).collect())
    }

    /// The service that is probably meant: one of the same namespace that is called almost so, or one of the same name in a
    /// namespace that is called almost so.
    fn meant(&self, key: &ObjectKey) -> Option<ObjectKey> {
        let beside = self.0.iter().filter(|(namespace, _)| *namespace == key.namespace.as_str());
        let near =
            near::likely(&key.name, beside.map(|(_, name)| *name)).map(|name| (key.namespace.as_str(), name));
        let same = self.0.iter().filter(|(_, name)| *name == key.name.as_str());
        let moved = || near::likely(&key.namespace, same.map(|(namespace, _)| *namespace));
        let (namespace, name) = near.or_else(|| moved().map(|namespace| (namespace, key.name.as_str())))?;
        Some(ObjectKey::new("", "Service", namespace, name))
    }
}

/// Whether a pod was started and ended badly; one that ran out of memory blames nobody.
fn fails(pod: &Object) -> bool {
    ended(pod).any(|end| {
        end.int_at(&["exitCode"]).is_some_and(|code| code != 0)
            && end.str_at(&["reason"]) != Some("OOMKilled")
    })
}

/// Whether a pod runs and does not get on.
fn waits(case: &Case<'_>, server: &str, pod: &Object) -> bool {
    let containers = Container::all(pod);
    containers.iter().any(|one| probe::is_stuck(case, server, one) || probe::holds_up(case, one))
}

fn ended(pod: &Object) -> impl Iterator<Item = &Value> {
    let statuses = ["initContainerStatuses", "containerStatuses"].iter();
    let statuses = statuses.flat_map(|field| pod.value().items_at(&["status", field]));
    statuses.flat_map(|status| {
        ["state", "lastState"].iter().filter_map(|state| status.at(&[state, "terminated"]))
    })
}

fn last_words(pod: &Object) -> String {
    ended(pod).filter_map(|end| end.str_at(&["message"])).collect::<Vec<_>>().join("\n")
}

fn found(
    case: &Case<'_>,
    server: &str,
    key: ObjectKey,
    users: &[Use<'_>],
    meant: Option<ObjectKey>,
) -> Finding {
    let owners: BTreeSet<String> =
        users.iter().map(|(owner, _)| format!("{} {}", owner.kind(), owner.name())).collect();
    let are_failing = users.iter().any(|(owner, _)| case.pods(server, owner).iter().any(|pod| fails(pod)));
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
    let seen = users.iter().map(|(_, setting)| Evidence::Field {
        object: setting.object.clone(),
        path: setting.path.clone(),
        // Of an address only the host, since there may be a password in it.
        value: if is_name(setting.text) {
            setting.text.to_owned()
        } else {
            format!("{}.{}", key.name, key.namespace)
        },
    });
    Finding::new("LYN0303", Node::object(server, key.clone()), cause)
        .of(users.iter().find_map(|(owner, _)| case.owner(server, &owner.key())))
        .seen(seen.take(crate::limits::NAMED))
        .affects(users.iter().map(|(owner, _)| Node::object(server, owner.key())))
        .unless_deeper()
        .fix(meant.and_then(|meant| rename(case, server, &key, &meant, users)))
        .fix([Fix::new("Name a service that is there, or have this one made")
            .person(format!("look for what is meant: kubectl get services -A | grep {}", key.name))])
}

/// Has all who name a service name another.
fn rename(
    case: &Case<'_>,
    server: &str,
    key: &ObjectKey,
    meant: &ObjectKey,
    users: &[Use<'_>],
) -> Option<Fix> {
    let mut fix = Fix::new(format!("Ask Service {}.{}", meant.name, meant.namespace));
    let mut known = BTreeSet::new();
    for (_, setting) in users {
        let Some(app) = case.owner(server, &setting.object) else { continue };
        let (whole, new) =
            (format!("{}.{}", key.name, key.namespace), format!("{}.{}", meant.name, meant.namespace));
        let text = match setting.text.contains(&whole) {
            true => setting.text.replacen(&whole, &new, 1),
            false if key.namespace == meant.namespace => {
                setting.text.replacen(key.name.as_str(), &meant.name, 1)
            }
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
