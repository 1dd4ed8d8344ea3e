//! What an object of a kind that nobody knows says of itself.

use lynceus_api::GROUP;
use lynceus_object::{FieldPath, Object};

use crate::case::Case;
use crate::finding::{Evidence, Finding, Findings};
use crate::rules::Rule;
use crate::words;

pub(super) const RULE: Rule = Rule {
    code: "LYN1901",
    title: "An object says that it is not well",
    explanation: "\
An object's own status says that something is wrong, and nothing better is known about it. What its controller wrote is repeated here as
it is.

## Why
Its kind is one that has no rule of its own, or its controller says something that no rule recognises.

## Example
```
Kafka events: Ready is False: CreationTimeout: Exceeded timeout of 300000ms while waiting for Pods resource events-0
```

## What to do
Follow what it says, and look at the log of the controller that wrote it.
",
    check,
};

/// Kinds that are told of elsewhere, and better.
const OTHERS: [&str; 10] = [
    "Pod",
    "ReplicaSet",
    "Deployment",
    "StatefulSet",
    "DaemonSet",
    "Job",
    "PersistentVolumeClaim",
    "Namespace",
    "Node",
    "Event",
];

fn check(case: &Case<'_>, findings: &mut Findings) {
    for server in case.servers() {
        for object in case.objects(server) {
            let is_other =
                OTHERS.contains(&object.kind()) || (object.group(), object.kind()) == (GROUP, "Application");
            if !is_other
                && object.controller().is_none()
                && !object.is_deleting()
                && case.is_unwell(object)
                && !is_in_peace(case, server, object)
            {
                findings.add(found(case, server, object));
            }
        }
    }
}

/// Whether the application of an object is fine: then whoever looks after it does not mind.
pub(super) fn is_in_peace(case: &Case<'_>, server: &str, object: &Object) -> bool {
    case.app_of(server, &object.key()).is_some_and(crate::case::App::is_fine)
}

fn found(case: &Case<'_>, server: &str, object: &Object) -> Finding {
    let key = object.key();
    let health = case.health(object).or_else(|| lynceus_health::generic(object));
    let status = health.as_ref().map(|health| health.status.to_string()).unwrap_or_default();
    let conditions = object.value().items_at(&["status", "conditions"]).iter();
    let wrong = conditions.filter(|one| one.str_at(&["status"]).is_some_and(|status| status != "True"));
    let said =
        wrong.filter_map(|one| one.str_at(&["message"])).find(|text| !text.is_empty()).map(ToOwned::to_owned);
    let said = said.or(health.map(|health| health.message)).filter(|text| !text.is_empty());
    let why = said.as_ref().map(|text| format!(": {}", words::quote(text))).unwrap_or_default();
    let cause = format!("{} {} is {status}{why}", key.kind, key.name);
    let seen = said.map(|text| Evidence::Field {
        object: key.clone(),
        path: FieldPath::fields(["status", "conditions"]),
        value: words::quote(&text),
    });
    Finding::new(RULE.code, case.node(server, &key), cause).of(case.owner(server, &key)).seen(seen).weak()
}

#[cfg(test)]
mod tests {
    use crate::tests::{check, roots};

    const KAFKA: &str = "
@app data Synced Degraded
apiVersion: example.com/v1
kind: Widget
metadata: {name: events, namespace: data}
@live
apiVersion: example.com/v1
kind: Widget
metadata: {name: events, namespace: data}
status: {conditions: [{type: Ready, status: 'False', reason: CreationTimeout, message: Exceeded timeout of 300000ms}]}
";

    #[test]
    fn what_an_object_says_of_itself_is_repeated() {
        assert_eq!(
            check("LYN1901", KAFKA),
            "P1 LYN1901/data/Widget/events: Widget events is Progressing: Exceeded timeout of 300000ms\n  Widget data/events: status.conditions: Exceeded timeout of 300000ms\n"
        );
        assert_eq!(roots(KAFKA), "P1 LYN1901/data/Widget/events explains data\n");
    }

    #[test]
    fn an_object_that_is_ready_says_nothing() {
        assert_eq!(check("LYN1901", &KAFKA.replace("'False'", "'True'")), "");
    }
}
