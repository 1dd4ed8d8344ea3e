//! What is written once and counts more than once.

use super::{check, refuses};

const SHARED: &str = "base: &b\n  x: 1\n  v: {z: 2}\none: *b\ntwo:\n  <<: *b\n  v: 3\nfree: &f\n  q: 1\n";

#[test]
fn what_an_alias_repeats_is_not_changed() {
    refuses(
        SHARED,
        "set base.x 2",
        "base.x cannot be changed in app.yaml:2: it belongs to &b, and *b repeats that elsewhere; change both by hand",
    );
    for change in ["set base.n 1", "set base 1", "remove base", "remove base.v.z", "append base.l 1"] {
        let told = super::done(SHARED, change);
        assert!(told.contains("it belongs to &b"), "{change}: {told}");
    }
}

#[test]
fn what_is_inside_of_an_alias_is_not_changed() {
    refuses(
        SHARED,
        "set one.x 2",
        "one.x cannot be changed in app.yaml:4: it is inside of *b, which stands for what is written at &b; change it \
         there, or write it out here",
    );
    for change in ["set one.n 1", "remove one.x", "set one.v.z 3"] {
        let told = super::done(SHARED, change);
        assert!(told.contains("it is inside of *b"), "{change}: {told}");
    }
}

#[test]
fn an_alias_is_replaced_or_removed_as_a_whole() {
    check(SHARED, "set one {\"x\": 5}", &SHARED.replace("one: *b", "one:\n  x: 5"));
    check(SHARED, "set one 5", &SHARED.replace("one: *b", "one: 5"));
    check(SHARED, "remove one", &SHARED.replace("one: *b\n", ""));
}

#[test]
fn an_anchor_that_nobody_uses_stays() {
    check(SHARED, "set free.q 2", &SHARED.replace("q: 1", "q: 2"));
    check(SHARED, "set free 2", &SHARED.replace("free: &f\n  q: 1", "free: &f 2"));
    check("a: &x 1\n", "set a {\"b\": 2}", "a: &x\n  b: 2\n");
    check("a: &x # c\n  b: 1\n", "set a 2", "a: &x 2 # c\n");
}

#[test]
fn what_is_used_only_inside_of_what_goes_goes_with_it() {
    check("a:\n  b: &x 1\n  c: *x\nd: 2\n", "remove a", "d: 2\n");
}

#[test]
fn a_merged_field_is_written_out_but_not_changed_inside_or_removed() {
    check(SHARED, "set two.x 5", &SHARED.replace("  v: 3\n", "  v: 3\n  x: 5\n"));
    check(SHARED, "set two.v 5", &SHARED.replace("  v: 3\n", "  v: 5\n"));
    refuses(
        SHARED,
        "remove two.x",
        "two.x cannot be changed in app.yaml:6: it comes from another map by the merge key <<; change it there",
    );
    let told = super::done("b: &b {m: {x: 1}}\nt:\n  <<: *b\n  k: 1\n", "set t.m.v 2");
    assert!(told.contains("merge key"), "{told}");
}

#[test]
fn an_anchor_before_a_key_is_the_keys() {
    check("&k a: 1\nb: *k\n", "set a 2", "&k a: 2\nb: *k\n");
}
