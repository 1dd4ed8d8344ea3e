//! Fields of maps on lines of their own.

use super::{check, refuses};

#[test]
fn a_field_is_added_behind_the_last() {
    check("a:\n  b: 1 # c\n\n# about d\nd: 2\n", "set a.x 3", "a:\n  b: 1 # c\n  x: 3\n\n# about d\nd: 2\n");
    check("a: 1\n", "set b \"x\"", "a: 1\nb: x\n");
}

#[test]
fn a_comment_further_in_stays_with_what_it_hangs_on() {
    check(
        "a:\n  b: 1\n  # end of a\nc:\n  d: 1\n    # end of d\n",
        "set c.e 2\nset f 3",
        "a:\n  b: 1\n  # end of a\nc:\n  d: 1\n    # end of d\n  e: 2\nf: 3\n",
    );
}

#[test]
fn missing_parents_are_made_as_the_author_indents() {
    check("a:\n    b: 1\n", "set x.w.z 3", "a:\n    b: 1\nx:\n    w:\n        z: 3\n");
    check("a: 1\n", "set x.w.z 3", "a: 1\nx:\n  w:\n    z: 3\n");
}

#[test]
fn a_list_is_made_in_the_column_that_the_author_likes() {
    check("a:\n- 1\n", "set x[0] 3", "a:\n- 1\nx:\n- 3\n");
    check("a:\n  - 1\n", "set x[0] 3", "a:\n  - 1\nx:\n  - 3\n");
}

#[test]
fn a_map_is_written_with_all_that_is_in_it() {
    check(
        "spec:\n  a: 1\n",
        r#"set spec.b {"list": [{"k": 1, "v": [2, 3]}, [4, 5]], "empty": {}, "none": [], "text": "x\ny\n"}"#,
        "spec:\n  a: 1\n  b:\n    empty: {}\n    list:\n    - k: 1\n      v:\n      - 2\n      - 3\n    - - 4\n      - 5\n    \
         none: []\n    text: |\n      x\n      y\n",
    );
}

#[test]
fn nothing_becomes_a_map() {
    check("a: {}\nb: 1\n", "set a.x 2", "a:\n  x: 2\nb: 1\n");
    check("a: null # c\nb: 1\n", "set a.x 2", "a: # c\n  x: 2\nb: 1\n");
    check("a:\nb: 1\n", "set a.x 2", "a:\n  x: 2\nb: 1\n");
    check("a: ~\n", "set a.x 2", "a:\n  x: 2\n");
    check("l:\n  - {}\n", "set l[0].x 2", "l:\n  - x: 2\n");
    check("l:\n  -\n", "set l[0].x 2", "l:\n  - x: 2\n");
}

#[test]
fn a_scalar_becomes_a_map_and_back() {
    check("a: 1 # c\nb: 2\n", r#"set a {"x": 1, "w": 2}"#, "a: # c\n  w: 2\n  x: 1\nb: 2\n");
    check("a: # c\n  x: 1\n  y: 2 # d\nb: 2\n", "set a 1", "a: 1 # c\nb: 2\n");
    check("a:\n  # why\n  x: 1\nb: 2\n", "set a [1]", "a:\n  # why\n- 1\nb: 2\n");
    check("a:\n  x: 1\nb: 2\n", "set a \"p\\nq\"", "a: |-\n  p\n  q\nb: 2\n");
}

#[test]
fn a_map_that_is_set_keeps_what_is_the_same() {
    check(
        "a:\n  # one\n  x: 1 # first\n  y: 2\n  z: {p: 1}\n",
        r#"set a {"x": 1, "w": 0, "z": {"p": 2}}"#,
        "a:\n  # one\n  x: 1 # first\n  z: {p: 2}\n  w: 0\n",
    );
}

#[test]
fn merging_touches_only_what_it_names() {
    check(
        "a:\n  x: 1 # one\n  m: {p: 1}\n",
        r#"merge a {"w": 2, "m": {"q": 2}}"#,
        "a:\n  x: 1 # one\n  m: {p: 1, q: 2}\n  w: 2\n",
    );
    check("a: 1\n", r#"merge b.c {"x": 1}"#, "a: 1\nb:\n  c:\n    x: 1\n");
    refuses(
        "a: 1\n",
        "merge a {\"x\": 1}",
        "a cannot be changed in app.yaml:1: a is of type integer, where a map is needed",
    );
}

#[test]
fn a_field_is_removed_with_its_lines() {
    check(
        "a: 1\n# about b\nb:\n  - x # c\n  - y\n  # end of b\n\nc: 2\n",
        "remove b",
        "a: 1\n# about b\n\nc: 2\n",
    );
    check("a: 1\nb: 2\n", "remove a", "b: 2\n");
    check("a: 1\nb: |\n  x\n\n  y\nc: 3\n", "remove b", "a: 1\nc: 3\n");
}

#[test]
fn the_last_field_leaves_an_empty_map() {
    check("a:\n  b: 1\nc: 2\n", "remove a.b", "a: {}\nc: 2\n");
    check("a: # why\n  b: 1\n", "remove a.b", "a: {} # why\n");
    check("a: 1\n", "remove a", "{}\n");
    check("l:\n- a: 1\n- 2\n", "remove l[0].a", "l:\n- {}\n- 2\n");
}

#[test]
fn the_first_field_of_an_item_goes_and_the_next_moves_up() {
    check("l:\n  - a: 1 # c\n    b: 2\n", "remove l[0].a", "l:\n  - b: 2\n");
    check("l:\n  - a: 1\n    # about b\n    b: 2\n", "remove l[0].a", "l:\n  -\n    # about b\n    b: 2\n");
}

#[test]
fn keys_need_quotes_where_strings_do() {
    check("a: 1\n", "set on true", "a: 1\n\"on\": true\n");
    check(
        "\"a b\": 1\n'c': 2\n? d\n: 3\n",
        "set c 5\nset d 6\nset e 7",
        "\"a b\": 1\n'c': 5\n? d\n: 6\ne: 7\n",
    );
    check("80: x\ntrue: y\n", "set 80 \"z\"\nset true \"w\"", "80: z\ntrue: w\n");
}

#[test]
fn a_key_that_readers_call_differently_is_found_by_its_first_name() {
    check("on:\n  push: 1\n", "set true.push 2", "on:\n  push: 2\n");
    refuses(
        "on:\n  push: 1\n",
        "set on 2",
        "on cannot be changed in app.yaml:1: the text is written in a way that cannot be changed safely; edit it by hand",
    );
}

#[test]
fn a_key_that_is_there_twice_is_set_where_it_counts_and_not_removed() {
    check("a: 1\nb: 2\na: 3\n", "set a 4", "a: 1\nb: 2\na: 4\n");
    refuses(
        "a: 1\nb: 2\na: 3\n",
        "remove a",
        "a cannot be changed in app.yaml:3: the key is given more than once; remove all but the last by hand",
    );
}

#[test]
fn what_is_not_there_is_not_removed() {
    refuses("a: 1\n", "remove b.c", "b.c cannot be changed in app.yaml:1: there is no such field");
    refuses(
        "a: 1\n",
        "remove .",
        "the document cannot be changed in app.yaml:1: a whole document is removed as one, not as a field",
    );
}

#[test]
fn changes_are_made_one_after_the_other() {
    check("a: 1\n", "set b.c 1\nset b.d 2\nremove b.c\nremove a", "b:\n  d: 2\n");
}
