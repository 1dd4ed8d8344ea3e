//! Workloads that fail and whose settings name a service that is not there.

use std::collections::BTreeMap;

use lynceus_object::{Object, ObjectKey, Value};

use crate::case::{Case, Pods};
use crate::finding::{Evidence, Finding, Findings};
use crate::fix::Fix;
use crate::links::service;
use crate::node::Node;
use crate::words;

/// Looks for services that are named in the settings of pods that start and fail, and that are not there.
pub(super) fn find(case: &Case<'_>, server: &str, findings: &mut Findings) {
    let mut missing: BTreeMap<ObjectKey, Vec<&Object>> = BTreeMap::new();
    for owner in case.pod_owners(server) {
        let pods = case.pods(server, owner);
        let Some(spec) = Pods::of(owner).filter(|_| pods.iter().any(|pod| fails(pod))) else { continue };
        let said: String = pods.iter().map(|pod| last_words(pod)).collect();
        for key in service::named_services(&spec, owner.namespace()) {
            if is_gone(case, server, &key) && is_blamed(&spec, &said, &key) {
                missing.entry(key).or_default().push(owner);
            }
        }
    }
    if missing.is_empty() {
        return;
    }
    let origins = case.origins();
    let server = case.servers().find(|one| *one == server).unwrap_or_default();
    for (key, owners) in missing {
        if origins.of(server, &key).is_empty() && !origins.is_listed(server, &key) {
            findings.add(found(case, server, key, &owners));
        }
    }
}

/// Whether a service is not there and nobody wants it.
fn is_gone(case: &Case<'_>, server: &str, key: &ObjectKey) -> bool {
    key.name != "localhost" && case.is_absent(server, key) && case.wanted(server, key).is_empty()
}

/// Whether the name cannot be meant otherwise, or the pods complain of it.
fn is_blamed(pods: &Pods<'_>, said: &str, key: &ObjectKey) -> bool {
    let whole = format!("{}.{}.svc", key.name, key.namespace);
    let texts = pods.containers().into_iter().flat_map(|(_, container)| {
        let env = container.items_at(&["env"]).iter().filter_map(|one| one.str_at(&["value"]));
        let words = ["args", "command"]
            .iter()
            .flat_map(|field| container.items_at(&[field]))
            .filter_map(Value::as_str);
        env.chain(words).collect::<Vec<_>>()
    });
    let is_resolved = said.contains("no such host")
        || said.contains("could not translate host")
        || said.contains("Name or service not known");
    texts.into_iter().any(|text| text.contains(&whole)) || (is_resolved && said.contains(key.name.as_str()))
}

/// Whether a pod was started and ended badly; one that ran out of memory blames nobody.
fn fails(pod: &Object) -> bool {
    ended(pod).any(|end| {
        end.int_at(&["exitCode"]).is_some_and(|code| code != 0)
            && end.str_at(&["reason"]) != Some("OOMKilled")
    })
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

fn found(case: &Case<'_>, server: &str, key: ObjectKey, owners: &[&Object]) -> Finding {
    let names = words::list(owners.iter().map(|owner| format!("{} {}", owner.kind(), owner.name())));
    let has_space = case.live(server, &ObjectKey::new("", "Namespace", "", key.namespace.clone())).is_some();
    let knows_spaces = !case.of_kind(server, "", "Namespace").is_empty();
    let place = match knows_spaces && !has_space {
        true => format!("there is not even a namespace {}", key.namespace),
        false => format!("namespace {} has none of that name", key.namespace),
    };
    let cause = format!(
        "{names} fails and is set to ask Service {}.{}, which is defined nowhere: {place}",
        key.name, key.namespace
    );
    let seen = owners.iter().map(|owner| {
        Evidence::seen(format!(
            "the settings of {} {} name {}.{}",
            owner.kind(),
            owner.name(),
            key.name,
            key.namespace
        ))
    });
    Finding::new("LYN0303", Node::object(server, key.clone()), cause)
        .of(owners.iter().find_map(|owner| case.owner(server, &owner.key())))
        .seen(seen.take(crate::limits::NAMED))
        .affects(owners.iter().map(|owner| Node::object(server, owner.key())))
        .unless_deeper()
        .fix([Fix::new("Name a service that is there, or have this one made")
            .person(format!("look for what is meant: kubectl get services -A | grep {}", key.name))])
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
             data has none of that name\n  the settings of Pod web name db.data\n  fix: Name a service that is there, or have \
             this one made\n"
        );
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
