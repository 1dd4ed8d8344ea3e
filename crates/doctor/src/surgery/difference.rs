//! Changed files as a patch that `git apply` takes.

use std::fmt::Write as _;

use lynceus_files::FilePath;
use similar::{Algorithm, DiffOp, DiffTag};

/// How many lines around a change are shown.
const CONTEXT: usize = 3;

/// A unified diff of changed, new and deleted files: each with its text before and after. A file that is the same is left
/// out.
pub fn unified(changes: &[(FilePath, Option<&str>, Option<&str>)]) -> String {
    let mut out = String::new();
    for (file, before, after) in changes {
        if before != after {
            write_file(&mut out, file, *before, *after);
        }
    }
    out
}

fn write_file(out: &mut String, file: &FilePath, before: Option<&str>, after: Option<&str>) {
    let (old, new) = (quoted("a", file), quoted("b", file));
    // Writing to a string cannot fail.
    let _ = writeln!(out, "diff --git {old} {new}");
    match (before, after) {
        (None, _) => out.push_str("new file mode 100644\n"),
        (_, None) => out.push_str("deleted file mode 100644\n"),
        _ => {}
    }
    let old_lines: Vec<&str> = before.unwrap_or_default().split_inclusive('\n').collect();
    let new_lines: Vec<&str> = after.unwrap_or_default().split_inclusive('\n').collect();
    let operations = similar::capture_diff_slices(Algorithm::Myers, &old_lines, &new_lines);
    let hunks = similar::group_diff_ops(operations, CONTEXT);
    let hunks: Vec<_> = hunks.into_iter().filter(|hunk| !hunk.is_empty()).collect();
    if hunks.is_empty() {
        return;
    }
    // A tab ends a name with blanks in it.
    let end = if file.as_str().contains(' ') { "\t" } else { "" };
    let name = |side: Option<&str>, name: &str| match side {
        Some(_) => format!("{name}{end}"),
        None => "/dev/null".to_owned(),
    };
    let _ = writeln!(out, "--- {}\n+++ {}", name(before, &old), name(after, &new));
    for hunk in hunks {
        write_hunk(out, &hunk, &old_lines, &new_lines);
    }
}

fn write_hunk(out: &mut String, hunk: &[DiffOp], old: &[&str], new: &[&str]) {
    let (Some(first), Some(last)) = (hunk.first(), hunk.last()) else { return };
    let old_range = range(first.old_range().start, last.old_range().end);
    let new_range = range(first.new_range().start, last.new_range().end);
    let _ = writeln!(out, "@@ -{old_range} +{new_range} @@");
    for operation in hunk {
        let (tag, old_range, new_range) = operation.as_tag_tuple();
        if tag == DiffTag::Equal {
            write_lines(out, ' ', &old[old_range]);
        } else {
            write_lines(out, '-', &old[old_range]);
            write_lines(out, '+', &new[new_range]);
        }
    }
}

fn write_lines(out: &mut String, sign: char, lines: &[&str]) {
    for line in lines {
        out.push(sign);
        out.push_str(line);
        if !line.ends_with('\n') {
            out.push_str("\n\\ No newline at end of file\n");
        }
    }
}

/// Lines as Git counts them: one is not counted, and none begin before the first.
fn range(from: usize, to: usize) -> String {
    match to - from {
        0 => format!("{from},0"),
        1 => format!("{}", from + 1),
        len => format!("{},{len}", from + 1),
    }
}

/// A name as Git writes it: in quotes if it has signs that would end a line or a name.
fn quoted(side: &str, file: &FilePath) -> String {
    let is_odd = |letter: char| letter.is_control() || matches!(letter, '"' | '\\');
    let name = file.as_str();
    if !name.contains(is_odd) {
        return format!("{side}/{name}");
    }
    let mut out = format!("\"{side}/");
    for byte in name.bytes() {
        match byte {
            b'"' | b'\\' => out.extend(['\\', char::from(byte)]),
            0x20..=0x7e => out.push(char::from(byte)),
            _ => {
                let _ = write!(out, "\\{byte:03o}");
            }
        }
    }
    out.push('"');
    out
}
