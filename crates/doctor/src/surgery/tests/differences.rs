//! Patches.

use super::FilePath;
use crate::surgery::unified;

fn diff(name: &str, before: Option<&str>, after: Option<&str>) -> String {
    unified(&[(FilePath::new(name).unwrap(), before, after)])
}

#[test]
fn a_changed_file_shows_three_lines_around() {
    assert_eq!(
        diff("a/b.yaml", Some("1\n2\n3\n4\n5\n6\n7\n8\n"), Some("1\n2\n3\n4\nfive\n6\n7\n8\n")),
        "diff --git a/a/b.yaml b/a/b.yaml\n--- a/a/b.yaml\n+++ b/a/b.yaml\n@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n"
    );
}

#[test]
fn new_and_deleted_files_have_their_mode() {
    assert_eq!(
        diff("x", None, Some("1\n2\n")),
        "diff --git a/x b/x\nnew file mode 100644\n--- /dev/null\n+++ b/x\n@@ -0,0 +1,2 @@\n+1\n+2\n"
    );
    assert_eq!(
        diff("x", Some("1\n"), None),
        "diff --git a/x b/x\ndeleted file mode 100644\n--- a/x\n+++ /dev/null\n@@ -1 +0,0 @@\n-1\n"
    );
    assert_eq!(diff("x", None, Some("")), "diff --git a/x b/x\nnew file mode 100644\n");
}

#[test]
fn the_end_of_a_file_is_told() {
    assert_eq!(
        diff("x", Some("1"), Some("1\n")),
        "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-1\n\\ No newline at end of file\n+1\n"
    );
}

#[test]
fn names_with_odd_signs_are_written_as_git_does() {
    let told = diff("a b/c.yaml", Some("1\n"), Some("2\n"));
    assert!(
        told.starts_with("diff --git a/a b/c.yaml b/a b/c.yaml\n--- a/a b/c.yaml\t\n+++ b/a b/c.yaml\t\n"),
        "{told}"
    );
    let told = diff("q\"\u{1}é", Some("1\n"), Some("2\n"));
    assert!(told.starts_with("diff --git \"a/q\\\"\\001\\303\\251\""), "{told}");
}

#[test]
fn a_file_that_is_the_same_is_left_out() {
    assert_eq!(diff("x", Some("1\n"), Some("1\n")) + &diff("x", None, None), "");
}

#[test]
fn windows_line_breaks_are_part_of_lines() {
    let told = diff("x", Some("1\r\n2\r\n"), Some("1\r\n3\r\n"));
    assert!(told.ends_with("@@ -1,2 +1,2 @@\n 1\r\n-2\r\n+3\r\n"), "{told:?}");
}
