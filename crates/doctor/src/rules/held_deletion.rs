//! An object that is being deleted and does not go.

use lynceus_api::GROUP;
use lynceus_object::{FieldPath, Object};

use crate::case::Case;
use crate::finding::{Evidence, Finding, Findings};
use crate::fix::{Fix, Risk};
use crate::rules::Rule;
use crate::rules::container::{age, long};
use crate::words;

pub(super) const RULE: Rule = Rule {
    code: "LYN0907",
    title: "An object is held in deletion by a finalizer",
    explanation: "\
Somebody deleted the object, and it stays: a finalizer says that a controller has to clear up first, and that controller does not.
Nothing of the same name can be made meanwhile, and a namespace with such an object in it does not go either.

## Why
The controller that set the finalizer was removed before the object, cannot reach what it has to clear up, or the webhook of its kind
does not answer.

## Example
```
Kafka events: metadata.deletionTimestamp is 3 days old; metadata.finalizers: [strimzi.io/cleanup]
```

## What to do
Bring the controller back so that it can clear up. Only if that is impossible, clear up by hand and take the finalizer off.
",
    check,
};

/// How long clearing up may take, in seconds.
const PATIENCE: i64 = 600;

fn check(case: &Case<'_>, findings: &mut Findings) {
    for server in case.servers() {
        for object in case.objects(server).iter().filter(|object| object.is_deleting()) {
            if let Some(finding) = find(case, server, object) {
                findings.add(finding);
            }
        }
    }
}

fn find(case: &Case<'_>, server: &str, object: &Object) -> Option<Finding> {
    let age = age(case, object.meta_str("deletionTimestamp")).filter(|age| *age > PATIENCE)?;
    let finalizers = holders(object);
    if finalizers.is_empty() {
        return None;
    }
    let key = object.key();
    let cause = format!(
        "{} {} is being deleted for {}, and {} holds it",
        key.kind,
        key.name,
        long(age),
        words::list(&finalizers)
    );
    let seen = Evidence::Field {
        object: key.clone(),
        path: FieldPath::fields(["metadata", "finalizers"]),
        value: finalizers.join(", "),
    };
    let fix = Fix::new("Bring back who clears it up")
        .person(format!(
            "Have the controller that set {} run again. If it is gone for good, clear up what it would have, and then take the \
             finalizer off: kubectl{} edit {} {}",
            finalizers.join(", "),
            if key.namespace.is_empty() { String::new() } else { format!(" -n {}", key.namespace) },
            key.kind.to_lowercase(),
            key.name
        ))
        .risk(Risk::High, "what the finalizer protects may be left behind or lost")
        .why("only a person can tell whether there is still something to clear up");
    Some(
        Finding::new(RULE.code, case.node(server, &key), cause)
            .of(case.owner(server, &key))
            .seen([seen])
            .unless_deeper()
            .fix([fix]),
    )
}

/// What holds an object: a namespace has its finalizers elsewhere, and what waits for its parts is not held by itself.
fn holders(object: &Object) -> Vec<&str> {
    let own = object.finalizers().filter(|one| !matches!(*one, "foregroundDeletion" | "orphan"));
    // How an Application is deleted is told where Applications are.
    let is_application = (object.group(), object.kind()) == (GROUP, "Application");
    let mut all: Vec<&str> = own.filter(|_| !is_application).collect();
    if (object.group(), object.kind()) == ("", "Namespace") {
        let of_spec = object.value().items_at(&["spec", "finalizers"]).iter();
        all.extend(of_spec.filter_map(lynceus_object::Value::as_str));
    }
    all
}

#[cfg(test)]
mod tests {
    use crate::tests::{check, roots};

    const HELD: &str = "
@live
apiVersion: kafka.strimzi.io/v1
kind: Kafka
metadata: {name: events, namespace: data, deletionTimestamp: '2025-12-29T12:00:00Z', finalizers: [strimzi.io/cleanup]}
";

    #[test]
    fn an_object_that_a_finalizer_holds_is_found() {
        assert_eq!(
            check("LYN0907", HELD),
            "P1 LYN0907/data/Kafka/events: Kafka events is being deleted for 3 days, and strimzi.io/cleanup holds it\n  Kafka data/events: metadata.finalizers: strimzi.io/cleanup\n  fix: Bring back who clears it up\n"
        );
    }

    #[test]
    fn what_is_deleted_just_now_gets_its_time() {
        assert_eq!(check("LYN0907", &HELD.replace("2025-12-29T12:00:00Z", "2026-01-01T11:58:00Z")), "");
    }

    #[test]
    fn a_namespace_waits_for_what_is_held_in_it() {
        let namespace = "---\napiVersion: v1\nkind: Namespace\nmetadata: {name: data, deletionTimestamp: '2025-12-29T12:00:00Z'}\nspec: \
                         {finalizers: [kubernetes]}\n";
        assert_eq!(roots(&format!("{HELD}{namespace}")), "P1 LYN0907/data/Kafka/events explains \n");
    }
}
