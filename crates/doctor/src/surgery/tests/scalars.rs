//! Values that are not maps or lists.

use super::{check, refuses};

#[test]
fn a_number_is_changed_and_its_comment_stays() {
    check(
        "# top\nspec:\n  replicas: 3   # three\n\n  paused: no\n",
        "set spec.replicas 5",
        "# top\nspec:\n  replicas: 5   # three\n\n  paused: no\n",
    );
}

#[test]
fn quotes_are_kept() {
    check("a: \"x\"\nb: 'y'\nc: z\n", "set a \"1\"\nset b \"2\"\nset c \"w\"", "a: \"1\"\nb: '2'\nc: w\n");
    check("a: 'x'\n", "set a \"it's\"", "a: 'it''s'\n");
    check("a: \"x\"\n", "set a \"say \\\"hi\\\" \\\\ there\"", "a: \"say \\\"hi\\\" \\\\ there\"\n");
}

#[test]
fn quotes_go_when_the_value_is_no_string() {
    check("a: \"3\"\n", "set a 3", "a: 3\n");
    check("a: 'yes'\n", "set a true", "a: true\n");
    check("a: \"x\" # c\n", "set a null", "a: null # c\n");
    check("a: 1\n", "set a 1.5", "a: 1.5\n");
}

#[test]
fn quotes_come_where_a_string_needs_them() {
    check("a: x\n", "set a \"yes\"", "a: \"yes\"\n");
    check("a: 80\n", "set a \"80\"", "a: \"80\"\n");
    check("a: x\n", "set a \"\"", "a: \"\"\n");
    check("a: x\n", "set a \"k: v\"", "a: \"k: v\"\n");
    check("a: x\n", "set a \"#x\"", "a: \"#x\"\n");
    check("a: x\n", "set a \"- x\"", "a: \"- x\"\n");
    check("a: x\n", "set a \"2020-01-02\"", "a: \"2020-01-02\"\n");
}

#[test]
fn a_string_that_only_newer_readers_take_for_a_number_is_quoted() {
    check("a: x\n", "set a \"0o17\"", "a: \"0o17\"\n");
}

#[test]
fn the_author_decides_which_quotes() {
    check("a: 'p'\nb: 'q'\nc: \"r\"\nd: s\n", "set d \"80\"", "a: 'p'\nb: 'q'\nc: \"r\"\nd: '80'\n");
}

#[test]
fn single_quotes_become_double_where_they_cannot_hold_the_string() {
    check("a: 'x'\n", "set a \"1\\n2\\t\"", "a: \"1\\n2\\t\"\n");
}

#[test]
fn a_plain_scalar_of_several_lines_is_one() {
    check("a: one\n  two\n  three # c\nb: 1\n", "set a \"four\"", "a: four # c\nb: 1\n");
}

#[test]
fn quoted_scalars_of_several_lines_are_one() {
    check("a: \"one\n  two\"\nb: 1\n", "set a \"four\"", "a: \"four\"\nb: 1\n");
    check("a: 'one\n  two'  # c\nb: 1\n", "set a \"four\"", "a: 'four'  # c\nb: 1\n");
}

#[test]
fn a_literal_block_stays_one() {
    check(
        "data:\n    conf: |\n        one\n        two\n    next: 1\n",
        "set data.conf \"one\\n\\n  three\\n\"",
        "data:\n    conf: |\n        one\n\n          three\n    next: 1\n",
    );
    check("a: |\n  x\nb: 1\n", "set a \"y\"", "a: |-\n  y\nb: 1\n");
    check("a: |-\n  x\nb: 1\n", "set a \"y\\n\"", "a: |\n  y\nb: 1\n");
}

#[test]
fn a_literal_block_whose_text_begins_with_blanks_says_how_far_in_it_is() {
    check("a:\n  b: |\n    x\n", "set a.b \"  y\\nz\\n\"", "a:\n  b: |2\n      y\n    z\n");
}

#[test]
fn a_literal_block_that_keeps_its_blank_lines_is_followed_by_what_follows() {
    check("a: |+\n  x\n\n\nb: 1\n", "set b 2", "a: |+\n  x\n\n\nb: 2\n");
    check("a: |+\n  x\n\n", "set b 2", "a: |+\n  x\n\nb: 2\n");
    check("a: |+\n  x\n\nb: 1\n", "set a \"y\\n\"", "a: |\n  y\nb: 1\n");
}

#[test]
fn a_folded_block_stays_one_if_it_can() {
    check("a: >\n  one\n  two\nb: 1\n", "set a \"three four\\n\"", "a: >\n  three four\nb: 1\n");
    check("a: >-\n  one\n  two\nb: 1\n", "set a \"p\\nq\"", "a: >-\n  p\n\n  q\nb: 1\n");
    check("a: >\n  one\nb: 1\n", "set a \" p\\nq\\n\"", "a: |2\n   p\n  q\nb: 1\n");
}

#[test]
fn a_block_becomes_a_number() {
    check("a: |\n  one\n  two\nb: 1\n", "set a 4", "a: 4\nb: 1\n");
}

#[test]
fn a_string_of_several_lines_becomes_a_block() {
    check("a: x # c\nb: 1\n", "set a \"one\\ntwo\\n\"", "a: | # c\n  one\n  two\nb: 1\n");
    check("a: [x]\n", "set a[0] \"one\\ntwo\\n\"", "a: [\"one\\ntwo\\n\"]\n");
    check("l:\n- x\n", "set l[0] \"one\\ntwo\"", "l:\n- |-\n  one\n  two\n");
}

#[test]
fn what_was_left_out_is_filled_in() {
    check("a:\nb: 1\n", "set a 2", "a: 2\nb: 1\n");
    check("a: # c\nb: 1\n", "set a 2", "a: 2 # c\nb: 1\n");
    check("l:\n-\n- x\n", "set l[0] 2", "l:\n- 2\n- x\n");
}

#[test]
fn letters_of_all_kinds_stay() {
    check("ключ: значение # 注\nb: 😀\n", "set ключ \"ü😀\"", "ключ: \"ü😀\" # 注\nb: 😀\n");
    check("a: \"x\"\n", "set a \"\\u0007\\u2028\"", "a: \"\\u0007\\u2028\"\n");
}

#[test]
fn the_same_value_changes_nothing() {
    check("a:   0x10 # c\n", "set a 16", "a:   0x10 # c\n");
}

#[test]
fn what_only_some_readers_take_for_the_value_is_written_out() {
    check("a: yes\nb: on\n", "set a true\nset b \"on\"", "a: true\nb: \"on\"\n");
}

#[test]
fn a_tag_goes_with_the_value_that_it_was_for() {
    check("a: !!str 5\n", "set a 6", "a: 6\n");
}

#[test]
fn a_number_that_no_text_has_is_refused() {
    let change = super::Cut {
        document: 0,
        path: super::FieldPath::fields(["a"]),
        change: super::Change::Set(f64::NAN.into()),
    };
    assert!(super::operate(&super::file(), "a: 1\n", &[change]).is_err());
    refuses(
        "a: 1\n",
        "set a.b 1",
        "a.b cannot be changed in app.yaml:1: a is of type integer, where a map is needed",
    );
}
