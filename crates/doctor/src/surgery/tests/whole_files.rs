//! How files end, break lines and begin; and where in them a field is.

use super::check;
use crate::surgery::path_at;

#[test]
fn windows_line_breaks_stay() {
    check(
        "a: 1 # c\r\nl:\r\n  - x\r\n",
        "set b.c 2\nappend l \"z\"\nset a 3",
        "a: 3 # c\r\nl:\r\n  - x\r\n  - z\r\nb:\r\n  c: 2\r\n",
    );
    check("a: |\r\n  x\r\nb: 1\r\n", "set a \"y\\nz\\n\"", "a: |\r\n  y\r\n  z\r\nb: 1\r\n");
    check("a:\r\n  b: 1\r\n  c: 2\r\nd: 3\r\n", "remove a.b\nremove a.c", "a: {}\r\nd: 3\r\n");
}

#[test]
fn a_file_without_a_line_break_at_its_end_gets_none() {
    check("a: 1", "set a 2", "a: 2");
    check("a: 1", "set b 2", "a: 1\nb: 2");
    check("a: 1\nb: 2", "remove b", "a: 1");
    check("l:\n- 1\n- 2", "remove l[1]", "l:\n- 1");
    check("l:\n- 1", "append l 2", "l:\n- 1\n- 2");
    check("a: 1\r\nb: 2", "remove b", "a: 1");
}

#[test]
fn a_block_at_the_end_of_a_file_gets_the_line_break_that_is_part_of_it() {
    check("a: 1", "set a \"x\\ny\\n\"", "a: |\n  x\n  y\n");
    check("a: 1", "set b \"x\\ny\"", "a: 1\nb: |-\n  x\n  y");
}

#[test]
fn a_byte_order_mark_stays() {
    check("\u{feff}a: 1\nb: 2\n", "set a 3\nset c 4", "\u{feff}a: 3\nb: 2\nc: 4\n");
    check("\u{feff}a:\n  b: 1\n", "remove a.b", "\u{feff}a: {}\n");
}

#[test]
fn tabs_before_comments_and_behind_values_stay() {
    check("a: 1\t# c\nb:\t2\n", "set a 3\nset b 4", "a: 3\t# c\nb: 4\n");
}

#[test]
fn blank_lines_stay() {
    check("\n\na: 1\n\n\nb: 2\n\n", "set a 2\nset c 3", "\n\na: 2\n\n\nb: 2\nc: 3\n\n");
}

#[track_caller]
fn found(text: &str, line: u32, column: u32, expected: &str) {
    let mut told = String::new();
    let mut here = path_at(text, line, column);
    while let Some(found) = here {
        told.push_str(&format!("{}:{} ", found.document, found.path));
        here = found.inside.map(|inside| *inside);
    }
    assert_eq!(told.trim_end(), expected);
}

#[test]
fn a_place_leads_back_to_its_field() {
    let text = "a: 1\n---\nspec:\n  l:\n  - name: x\n    v: {p: 1}\n  - y\n  é: {q: 2}\n";
    found(text, 1, 1, "0:a");
    found(text, 3, 1, "1:spec");
    found(text, 4, 3, "1:spec.l");
    found(text, 5, 5, "1:spec.l[0].name");
    found(text, 6, 5, "1:spec.l[0].v");
    found(text, 6, 9, "1:spec.l[0].v.p");
    found(text, 7, 5, "1:spec.l[1]");
    found(text, 8, 7, "1:spec.é.q");
    found(text, 8, 0, "1:spec.é");
}

#[test]
fn a_place_in_a_block_leads_to_the_field_of_its_text() {
    let text = "patches:\n- patch: |-\n    kind: A\n    spec:\n      x: 1\n  target: {}\n";
    found(text, 5, 7, "0:patches[0].patch 0:spec.x");
    found(text, 2, 3, "0:patches[0].patch");
}
