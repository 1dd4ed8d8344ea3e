//! Charts as text, each with what Helm prints for it.
//!
//! A file in `tests/cases` has a section for each file of a chart, `==> name`, and one for each command,
//! `==> $ arguments`, with what Helm prints. A file in an archive is `==> charts/x-1.0.0.tgz!x/Chart.yaml`.
//! Commands are `helm template` unless they begin with `lint` or `show`.
//! With `LYNCEUS_HELM` naming a Helm, its answers are written into the files instead. With `LYNCEUS_CASE`, only files
//! with that in their names are looked at.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use lynceus_files::{FilePath, MemoryTree};
use lynceus_helm::{Chart, LintOptions, Severity, Show, lint, show};

mod flags;

struct Case {
    files: Vec<(String, String)>,
    commands: Vec<(String, String)>,
}

impl Case {
    fn read(text: &str) -> Self {
        let mut case = Case { files: Vec::new(), commands: Vec::new() };
        let text = format!("\n{}", text.strip_suffix('\n').unwrap_or(text));
        for section in text.split("\n==> ").skip(1) {
            let (name, body) = match section.split_once('\n') {
                Some((name, body)) => (name, format!("{body}\n")),
                None => (section, String::new()),
            };
            match name.strip_prefix("$ ") {
                Some(command) => case.commands.push((command.to_owned(), body)),
                None => case.files.push((name.to_owned(), body)),
            }
        }
        case
    }

    fn write(&self) -> String {
        let files = self.files.iter().map(|(name, body)| format!("==> {name}\n{body}"));
        let commands = self.commands.iter().map(|(command, body)| format!("==> $ {command}\n{body}"));
        files.chain(commands).collect()
    }

    /// The files as they are on disk, archives packed.
    fn contents(&self) -> BTreeMap<String, Vec<u8>> {
        let mut contents = BTreeMap::new();
        let mut archives: BTreeMap<&str, Vec<(&str, &str)>> = BTreeMap::new();
        for (name, body) in &self.files {
            match name.split_once('!') {
                Some((archive, member)) => archives.entry(archive).or_default().push((member, body)),
                None => {
                    contents.insert(name.clone(), body.clone().into_bytes());
                }
            }
        }
        for (name, members) in archives {
            contents.insert(name.to_owned(), pack(&members));
        }
        contents
    }
}

/// A `.tgz` of some files.
fn pack(members: &[(&str, &str)]) -> Vec<u8> {
    let packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    let mut archive = tar::Builder::new(packed);
    for (name, body) in members {
        let mut header = tar::Header::new_ustar();
        header.set_mode(0o644);
        header.set_size(body.len() as u64);
        archive.append_data(&mut header, name, body.as_bytes()).unwrap();
    }
    archive.into_inner().unwrap().finish().unwrap()
}

/// The words of a command line; quotes keep words together.
fn words(line: &str) -> Vec<String> {
    let (mut words, mut word, mut quote, mut begun) = (Vec::new(), String::new(), None, false);
    for char in line.chars() {
        match (quote, char) {
            (Some(open), char) if open == char => quote = None,
            (None, '\'' | '"') => (quote, begun) = (Some(char), true),
            (None, ' ') => {
                if begun || !word.is_empty() {
                    words.push(std::mem::take(&mut word));
                }
                begun = false;
            }
            (_, char) => word.push(char),
        }
    }
    if begun || !word.is_empty() {
        words.push(word);
    }
    words
}

fn ours(contents: &BTreeMap<String, Vec<u8>>, command: &str) -> String {
    let mut tree = MemoryTree::new();
    for (name, data) in contents {
        tree.insert(FilePath::new(name).unwrap(), data.clone());
    }
    let mut read = |name: &str| {
        contents.get(name).cloned().ok_or_else(|| format!("open {name}: no such file or directory"))
    };
    let load = |path: &str| match contents.get(path) {
        Some(archive) => Ok(Chart::from_archive(archive)?),
        None => Ok(Chart::from_tree(&tree, &FilePath::new(path).unwrap())?),
    };
    let words = words(command);
    match words.first().map(String::as_str) {
        Some("lint") => return linted(&tree, &words[1..], &mut read),
        Some("show") => {
            let chart = Chart::from_tree(&tree, &FilePath::new(&words[2]).unwrap()).unwrap();
            let what = match words[1].as_str() {
                "all" => Show::All,
                "chart" => Show::Chart,
                "values" => Show::Values,
                "readme" => Show::Readme,
                _ => Show::Crds,
            };
            let jsonpath = words.get(3).and_then(|word| word.strip_prefix("--jsonpath="));
            return match show(&chart, what, jsonpath) {
                Ok(out) => String::from_utf8_lossy(&out).into_owned(),
                Err(error) => format!("Error: {error}\n"),
            };
        }
        _ => {}
    }
    match flags::Flags::parse(words).and_then(|flags| flags.run(load, &mut read)) {
        Ok(out) => String::from_utf8_lossy(&out).into_owned(),
        Err(error) => format!("Error: {error}\n"),
    }
}

fn linted(tree: &MemoryTree, words: &[String], read: &mut flags::Read<'_>) -> String {
    let flags = flags::Flags::parse(words.iter().cloned()).unwrap();
    let (directory, kube_version) = (flags.names[0].clone(), flags.kube_version());
    let values = flags.values(read).unwrap();
    let options = LintOptions {
        directory: directory.clone(),
        namespace: "default".to_owned(),
        kube_version: kube_version.unwrap(),
        skip_schema_validation: false,
    };
    let directory = FilePath::new(&directory).unwrap();
    let findings = lint(tree, &directory, &values, &options, &mut flags::Still(1));
    let mut told: String = findings.iter().map(|finding| format!("{finding}\n")).collect();
    if findings.iter().any(|finding| finding.severity == Severity::Error) {
        told.push_str("\nError: 1 chart(s) linted, 1 chart(s) failed\n");
    } else {
        told.push_str("\n1 chart(s) linted, 0 chart(s) failed\n");
    }
    told
}

fn helms(helm: &str, contents: &BTreeMap<String, Vec<u8>>, command: &str, directory: &Path) -> String {
    for (name, data) in contents {
        let path = directory.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, data).unwrap();
    }
    let words = words(command);
    let verb = (!matches!(words[0].as_str(), "lint" | "show")).then_some("template");
    let output =
        std::process::Command::new(helm).args(verb).args(&words).current_dir(directory).output().unwrap();
    let home = format!("{}/", directory.display());
    if words[0] == "lint" {
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        let said = said.lines().skip(1).collect::<Vec<_>>().join("\n") + "\n";
        let error = error.find("Error: ").map(|at| error[at..].to_owned()).unwrap_or_default();
        return (said + &error).replace(&home, "");
    }
    if output.status.success() {
        return String::from_utf8_lossy(&output.stdout).into_owned();
    }
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    said.find("Error: ").map_or(said.clone(), |at| said[at..].to_owned())
}

fn cases() -> Vec<PathBuf> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases");
    let mut paths: Vec<PathBuf> =
        std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()).collect();
    let wanted = std::env::var("LYNCEUS_CASE").unwrap_or_default();
    paths.retain(|path| path.to_string_lossy().contains(&wanted));
    paths.sort();
    paths
}

#[test]
fn charts_give_what_helm_prints() {
    let helm = std::env::var("LYNCEUS_HELM").ok();
    let mut failures = Vec::new();
    let mut count = 0;
    for path in cases() {
        let mut case = Case::read(&std::fs::read_to_string(&path).unwrap());
        let contents = case.contents();
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        if let Some(helm) = &helm {
            let directory = std::env::temp_dir().join(format!("lynceus-helm-case-{name}"));
            let _ = std::fs::remove_dir_all(&directory);
            std::fs::create_dir_all(&directory).unwrap();
            for (command, answer) in &mut case.commands {
                *answer = helms(helm, &contents, command, &directory);
                if !answer.is_empty() && !answer.ends_with('\n') {
                    answer.push('\n');
                }
            }
            let _ = std::fs::remove_dir_all(&directory);
            std::fs::write(&path, case.write()).unwrap();
        }
        for (command, expected) in &case.commands {
            count += 1;
            let mut found = ours(&contents, command);
            if !found.is_empty() && !found.ends_with('\n') {
                found.push('\n');
            }
            if found != *expected {
                failures.push(format!("{name}: {command}\n--- helm\n{expected}--- ours\n{found}"));
            }
        }
    }
    assert!(failures.is_empty(), "{} of {count} differ\n{}", failures.len(), failures.join("\n"));
}
