//! Strategic merge: patches in, objects out, and the patches that `kubectl apply` makes.

#![allow(clippy::expect_used, reason = "a test may panic")]

use lynceus_object::patch::{self, create};
use lynceus_object::schema::{TypeRef, builtin};
use lynceus_object::{Value, yaml};

fn parse(text: &str) -> Value {
    yaml::parse(text.as_bytes()).expect("yaml")
}

fn ty(kind: &str) -> TypeRef<'static> {
    let (version, kind) = kind.rsplit_once(' ').expect("apiVersion and kind");
    builtin().of_manifest(version, kind).expect("kind")
}

#[track_caller]
fn check(kind: &str, original: &str, patch: &str, expected: &str) {
    let done = patch::strategic(&parse(original), &parse(patch), ty(kind)).expect("patch");
    assert_eq!(yaml::to_string(&done), yaml::to_string(&parse(expected)));
}

#[track_caller]
fn check_error(kind: &str, original: &str, patch: &str, message: &str) {
    let error = patch::strategic(&parse(original), &parse(patch), ty(kind)).expect_err("patch");
    assert_eq!(error.to_string(), message);
}

#[track_caller]
fn check_three_way(kind: &str, [original, modified, current]: [&str; 3], patch: &str, result: &str) {
    let made =
        create::three_way(&parse(original), &parse(modified), &parse(current), ty(kind)).expect("three-way");
    assert_eq!(yaml::to_string(&made), yaml::to_string(&parse(patch)));
    check(kind, current, patch, result);
}

#[test]
fn lists_with_a_merge_key_are_merged_by_it() {
    check(
        "v1 Pod",
        "spec: {containers: [{name: a, image: one}, {name: b, image: two}]}",
        "spec: {containers: [{name: b, image: three}, {name: c, image: four}]}",
        "spec: {containers: [{name: a, image: one}, {name: b, image: three}, {name: c, image: four}]}",
    );
}

#[test]
fn lists_without_one_are_replaced() {
    check(
        "v1 Pod",
        "spec: {containers: [{name: a, args: [x, y]}]}",
        "spec: {containers: [{name: a, args: [z]}]}",
        "spec: {containers: [{name: a, args: [z]}]}",
    );
}

#[test]
fn scalars_with_merge_strategy_are_a_set() {
    check(
        "v1 Pod",
        "metadata: {finalizers: [a, b]}",
        "metadata: {finalizers: [c, a]}",
        "metadata: {finalizers: [c, a, b]}",
    );
    check(
        "v1 Pod",
        "metadata: {finalizers: [a, b, c]}",
        "metadata: {$deleteFromPrimitiveList/finalizers: [a, c]}",
        "metadata: {finalizers: [b]}",
    );
}

#[test]
fn null_removes_a_field() {
    check(
        "apps/v1 Deployment",
        "spec: {replicas: 3, paused: true}",
        "spec: {paused: null, minReadySeconds: null}",
        "spec: {replicas: 3}",
    );
}

#[test]
fn patch_delete_removes_an_item_or_empties_a_map() {
    check(
        "v1 Pod",
        "spec: {containers: [{name: a}, {name: b}]}",
        "spec: {containers: [{name: a, $patch: delete}]}",
        "spec: {containers: [{name: b}]}",
    );
    check(
        "v1 Pod",
        "spec: {securityContext: {runAsUser: 1}}",
        "spec: {securityContext: {$patch: delete}}",
        "spec: {securityContext: {}}",
    );
}

#[test]
fn patch_replace_takes_the_patch_as_it_is() {
    check(
        "v1 Pod",
        "spec: {securityContext: {runAsUser: 1, fsGroup: 2}, containers: [{name: a}, {name: b}]}",
        "spec: {securityContext: {$patch: replace, fsGroup: 3}, containers: [{name: c}, {$patch: replace}]}",
        "spec: {securityContext: {fsGroup: 3}, containers: [{name: c}]}",
    );
}

#[test]
fn retain_keys_drops_what_it_does_not_name() {
    check(
        "apps/v1 Deployment",
        "spec: {strategy: {type: RollingUpdate, rollingUpdate: {maxSurge: 1}}}",
        "spec: {strategy: {$retainKeys: [type], type: Recreate}}",
        "spec: {strategy: {type: Recreate}}",
    );
    check_error(
        "apps/v1 Deployment",
        "spec: {strategy: {type: RollingUpdate}}",
        "spec: {strategy: {$retainKeys: [rollingUpdate], type: Recreate}}",
        "invalid patch format of retainKeys",
    );
}

#[test]
fn set_element_order_orders_the_patch_and_keeps_the_servers_items_in_place() {
    check(
        "v1 Pod",
        "spec: {containers: [{name: a}, {name: server}, {name: b}]}",
        "spec: {$setElementOrder/containers: [{name: b}, {name: a}], containers: [{name: b, image: x}]}",
        "spec: {containers: [{name: server}, {name: b, image: x}, {name: a}]}",
    );
    check_error(
        "v1 Pod",
        "spec: {containers: [{name: a}]}",
        "spec: {$setElementOrder/containers: [{name: b}], containers: [{name: a, image: x}]}",
        "The order in patch list:\n[map[image:x name:a]]\n doesn't match $setElementOrder list:\n[map[name:b]]\n",
    );
}

#[test]
fn what_cannot_be_merged_is_told_in_known_words() {
    check_error(
        "v1 Pod",
        "spec: {containers: [{name: a}]}",
        "spec: {containers: [{image: x}]}",
        "map: map[image:x] does not contain declared merge key: name",
    );
    check_error(
        "v1 Pod",
        "spec: {nope: {a: 1}}",
        "spec: {nope: {a: 2}}",
        "unable to find api field in struct PodSpec for the json field \"nope\"",
    );
    check_error(
        "v1 Pod",
        "spec: {securityContext: {runAsUser: 1}}",
        "spec: {securityContext: {$patch: frob}}",
        "unknown patch type: frob in map: map[$patch:frob]",
    );
}

#[test]
fn a_two_way_patch_says_what_changed() {
    let original =
        parse("spec: {replicas: 1, template: {spec: {containers: [{name: a, image: x}, {name: b}]}}}");
    let modified = parse("spec: {template: {spec: {containers: [{name: a, image: y}]}}}");
    let made = create::two_way(&original, &modified, ty("apps/v1 Deployment")).expect("patch");
    assert_eq!(
        made,
        parse(
            "spec: {replicas: null, template: {spec: {
               $setElementOrder/containers: [{name: a}],
               containers: [{name: a, image: y}, {name: b, $patch: delete}]}}}"
        )
    );
}

#[test]
fn a_three_way_patch_keeps_what_others_set_and_removes_what_was_applied_before() {
    check_three_way(
        "apps/v1 Deployment",
        [
            "spec: {replicas: 1, paused: true, template: {spec: {containers: [{name: a}, {name: old}]}}}",
            "spec: {replicas: 2, template: {spec: {containers: [{name: a, image: x}]}}}",
            "spec: {replicas: 1, paused: true, minReadySeconds: 5,
                template: {spec: {containers: [{name: a}, {name: old}, {name: injected}]}}}",
        ],
        "spec: {replicas: 2, paused: null, template: {spec: {
            $setElementOrder/containers: [{name: a}],
            containers: [{name: a, image: x}, {name: old, $patch: delete}]}}}",
        "spec: {replicas: 2, minReadySeconds: 5,
            template: {spec: {containers: [{name: a, image: x}, {name: injected}]}}}",
    );
}

#[test]
fn a_three_way_patch_retains_keys_of_a_strategy() {
    check_three_way(
        "apps/v1 Deployment",
        [
            "spec: {strategy: {type: RollingUpdate}}",
            "spec: {strategy: {type: Recreate}}",
            "spec: {strategy: {type: RollingUpdate, rollingUpdate: {maxSurge: 25%}}}",
        ],
        "spec: {strategy: {$retainKeys: [type], type: Recreate}}",
        "spec: {strategy: {type: Recreate}}",
    );
}

#[test]
fn a_three_way_merge_patch_is_for_kinds_without_a_type() {
    let made = create::merge_three_way(
        &parse("spec: {a: 1, gone: {x: 1}, list: [1]}"),
        &parse("spec: {a: 2, list: [1, 2]}"),
        &parse("spec: {a: 1, gone: {x: 1}, list: [1], theirs: 3}"),
    );
    assert_eq!(made, Ok(parse("spec: {a: 2, gone: null, list: [1, 2]}")));
}

#[test]
fn nothing_to_change_is_an_empty_patch() {
    let object = parse(
        "spec: {replicas: 1, template: {spec: {containers: [{name: a, ports: [{containerPort: 1}]}]}}}",
    );
    let made = create::three_way(&object, &object, &object, ty("apps/v1 Deployment")).expect("patch");
    assert_eq!(made, parse("{}"));
}
