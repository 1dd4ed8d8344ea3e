//! What is needed and brought by nobody: what has to be known of the sources before it can be said why.

use std::collections::BTreeSet;

use super::{missing_service, nowhere, unserved_version};
use crate::case::Case;
use crate::finding::Evidence;
use crate::links::kind::{self, Providers};
use crate::node::AppName;
use crate::snapshot::{Lack, Lacking, Snapshot, Withheld};

/// What is lacking in a snapshot. Whoever can render the sources otherwise may look for what withholds it, and say so in the snapshot.
pub fn lacking(snapshot: &Snapshot) -> Vec<Lack> {
    let case = Case::new(snapshot);
    let mut all = Vec::new();
    let mut add = |server: &str, what: Lacking, users: BTreeSet<AppName>| {
        all.push(Lack { what, server: server.into(), users: users.into_iter().collect() });
    };
    for one in nowhere::nowhere(&case) {
        let users = one.users.iter().filter_map(|user| case.owner(user.server, &user.holder.key()));
        add(one.server, Lacking::Object(one.key.clone()), users.collect());
    }
    for ((server, key), users) in missing_service::missing(&case) {
        let users = users.iter().filter_map(|user| case.owner(server, &user.holder.key()));
        add(server, Lacking::Object(key), users.collect());
    }
    let providers = Providers::new(&case);
    for ((server, kind), users) in kind::unserved(&case) {
        if providers.of(server, &kind).is_empty() && !unserved_version::is_removed(&kind) {
            let users = users.iter().map(|user| user.app.name.clone());
            add(server, Lacking::Definition(kind), users.collect());
        }
    }
    all
}

/// What withholds something, if that was found.
pub(super) fn withheld<'a>(case: &Case<'a>, server: &str, what: &Lacking) -> Option<&'a Withheld> {
    case.snapshot.withheld.iter().find(|one| one.server == server && one.what == *what)
}

/// Where it can be seen what withholds something.
pub(super) fn evidence(case: &Case<'_>, held: &Withheld) -> Evidence {
    held.evidence(case.app(&held.application).and_then(|app| app.delivery.file.as_ref()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::snapshot;

    #[test]
    fn what_is_lacking_is_told_with_who_needs_it() {
        let text = "
@app web Synced Degraded
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec: {template: {spec: {containers: [{name: web, image: web, envFrom: [{secretRef: {name: credentials}}]}]}}}
---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: web, namespace: shop}
spec: {defaultBackend: {service: {name: front, port: {number: 80}}}}
---
apiVersion: example.org/v1
kind: Gadget
metadata: {name: g, namespace: shop}
";
        let told: Vec<String> = lacking(&snapshot(text))
            .iter()
            .map(|one| format!("{:?} for {}", one.what, one.users[0]))
            .collect();
        assert_eq!(told.len(), 3, "{told:?}");
        assert!(told[0].contains("credentials") && told[1].contains("front"), "{told:?}");
        assert!(told[2].contains("Gadget") && told.iter().all(|one| one.ends_with(" for web")), "{told:?}");
        assert!(lacking(&snapshot("\n@app shop Synced Healthy\n")).is_empty());
    }
}
