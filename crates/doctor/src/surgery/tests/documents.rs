//! Files of several documents.

use super::{check, file, refuses};
use crate::surgery::remove_document;

#[test]
fn only_the_document_that_is_meant_is_changed() {
    let text = "# one\na: 1\n---\n# two\na: 1\n...\n---\na: 1\n";
    check(text, "0:set a 2", "# one\na: 2\n---\n# two\na: 1\n...\n---\na: 1\n");
    check(text, "1:set b 2", "# one\na: 1\n---\n# two\na: 1\nb: 2\n...\n---\na: 1\n");
    check(text, "2:set a 2\n0:remove a", "# one\n{}\n---\n# two\na: 1\n...\n---\na: 2\n");
}

#[test]
fn a_separator_at_the_start_belongs_to_the_first() {
    check("---\na: 1\n--- # next\na: 2\n", "1:set a 3", "---\na: 1\n--- # next\na: 3\n");
}

#[test]
fn empty_files_and_documents_are_filled() {
    check("", "set a.b 1", "a:\n  b: 1\n");
    check("# only a comment\n", "set a 1", "# only a comment\na: 1\n");
    check("# only a comment", "append l 1", "# only a comment\nl:\n- 1\n");
    check("---\n", "set a 1", "---\na: 1\n");
    check("---", "set a 1", "---\na: 1\n");
    check("a: 1\n---\n# nothing\n---\nb: 1\n", "1:set x 1", "a: 1\n---\n# nothing\nx: 1\n---\nb: 1\n");
    check("--- # c\n...\n", "set a 1", "--- # c\na: 1\n...\n");
}

#[test]
fn a_document_is_set_as_a_whole() {
    check("# c\na: 1\n", "set . {\"a\": 2, \"b\": 3}", "# c\na: 2\nb: 3\n");
    check("# c\n- 1\n", "set . {\"a\": 2}", "# c\na: 2\n");
    check("{}\n", "set a 1", "{\"a\": 1}\n");
    check("# c\n{}\n", "set a 1", "# c\na: 1\n");
    check("[] # c\n", "append . 1", "- 1 # c\n");
}

#[test]
fn a_broken_document_is_refused_and_does_not_hinder_the_others() {
    let text = "a: 1\n---\nb: [\n---\nc: 1\n";
    check(text, "2:set c 2", "a: 1\n---\nb: [\n---\nc: 2\n");
    refuses(
        text,
        "1:set b 2",
        "b cannot be changed in app.yaml:3: document 2 cannot be read: did not find expected node content",
    );
}

#[track_caller]
fn removes(text: &str, document: usize, expected: &str) {
    assert_eq!(remove_document(&file(), text, document).unwrap(), expected);
}

#[test]
fn a_document_goes_with_its_separator() {
    let text = "# one\na: 1\n---\n# two\nb: 1\n---\nc: 1\n";
    removes(text, 0, "# two\nb: 1\n---\nc: 1\n");
    removes(text, 1, "# one\na: 1\n---\nc: 1\n");
    removes(text, 2, "# one\na: 1\n---\n# two\nb: 1\n");
    removes("---\na: 1\n---\nb: 1\n", 0, "---\nb: 1\n");
    removes("---\na: 1\n---\nb: 1", 1, "---\na: 1\n");
    removes("a: 1\r\n---\r\nb: 1\r\n", 0, "b: 1\r\n");
}

#[test]
fn the_only_document_leaves_nothing() {
    removes("# c\na: 1\n", 0, "");
    removes("{\"a\": 1}\n", 0, "\n");
}

#[test]
fn json_documents_go_too() {
    removes("{\"a\": 1}\n{\"b\": 1}\n{\"c\": 1}\n", 1, "{\"a\": 1}\n{\"c\": 1}\n");
    removes("{\"a\": 1}\n{\"b\": 1}\n", 0, "{\"b\": 1}\n");
}

#[test]
fn a_document_that_is_not_there_is_not_removed() {
    let error = remove_document(&file(), "a: 1\n", 3).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the document cannot be changed in app.yaml: there is no document 4; the file has 1"
    );
}
