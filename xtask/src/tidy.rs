//! The house rules, checked. Each rule is a function from the tree to what is wrong; the same rules run as a test.

mod edges;
mod text;

use std::path::PathBuf;

use crate::run;

/// A file of the repository, as Git tracks it.
struct Source {
    path: String,
    text: String,
}

pub(crate) fn main() -> Result<(), String> {
    let report = check()?;
    for remark in &report.remarks {
        println!("note: {remark}");
    }
    if report.problems.is_empty() {
        println!("tidy: {} files, no problem", report.files);
        return Ok(());
    }
    for problem in &report.problems {
        println!("problem: {problem}");
    }
    Err(format!("{} house rules are broken", report.problems.len()))
}

/// What a check found: problems fail it, remarks do not.
#[derive(Default)]
struct Report {
    files: usize,
    problems: Vec<String>,
    remarks: Vec<String>,
}

fn check() -> Result<Report, String> {
    let sources = sources()?;
    let mut report = Report { files: sources.len(), ..Report::default() };
    text::check(&sources, &mut report);
    edges::check(&sources, &mut report)?;
    Ok(report)
}

/// Every tracked or new file that is text.
fn sources() -> Result<Vec<Source>, String> {
    let list =
        run::output(run::command("git").args(["ls-files", "--cached", "--others", "--exclude-standard"]))?;
    let root = run::root();
    let mut sources = Vec::new();
    for path in list.lines() {
        let full: PathBuf = root.join(path);
        // A file that is deleted and not yet committed is still listed.
        if let Ok(bytes) = std::fs::read(&full)
            && let Ok(text) = String::from_utf8(bytes)
        {
            sources.push(Source { path: path.to_owned(), text });
        }
    }
    Ok(sources)
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_repository_keeps_the_house_rules() {
        // An export without Git has no list of files to check.
        let Ok(report) = super::check() else { return };
        assert!(report.problems.is_empty(), "{}", report.problems.join("\n"));
    }
}
