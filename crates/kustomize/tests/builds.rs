//! Kustomizations as text, each with what Kustomize prints for it.
//!
//! A file in `tests/cases` has a section for each file of a tree, `==> name`, and one for each build,
//! `==> $ directory [flags]`, with what Kustomize prints. Where it refuses, there is a line with its words after
//! `kustomize:` and one with ours after `lynceus:`; these need not be the same, but both have to refuse.
//! With `LYNCEUS_KUSTOMIZE` naming a Kustomize, its answers are written into the files instead.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::path::{Path, PathBuf};
use std::process::Command;

use lynceus_files::{FilePath, MemoryTree};
use lynceus_helm::World;
use lynceus_kustomize::{Fetched, HelmOptions, LoadRestriction, Options};

/// Neither time nor chance.
struct Still;

impl World for Still {
    fn now(&self) -> std::time::Duration {
        std::time::Duration::ZERO
    }

    fn random(&mut self, bytes: &mut [u8]) {
        bytes.fill(0);
    }
}

struct Case {
    files: Vec<(String, String)>,
    builds: Vec<(String, String)>,
}

impl Case {
    fn read(text: &str) -> Self {
        let mut case = Case { files: Vec::new(), builds: Vec::new() };
        let text = format!("\n{}", text.strip_suffix('\n').unwrap_or(text));
        for section in text.split("\n==> ").skip(1) {
            let (name, body) = match section.split_once('\n') {
                Some((name, body)) => (name, format!("{body}\n")),
                None => (section, String::new()),
            };
            match name.strip_prefix("$ ") {
                Some(command) => case.builds.push((command.to_owned(), body)),
                None => case.files.push((name.to_owned(), body)),
            }
        }
        case
    }

    fn write(&self) -> String {
        let files = self.files.iter().map(|(name, body)| format!("==> {name}\n{body}"));
        let builds = self.builds.iter().map(|(command, body)| format!("==> $ {command}\n{body}"));
        files.chain(builds).collect()
    }

    fn tree(&self) -> MemoryTree {
        let mut tree = MemoryTree::new();
        for (name, body) in &self.files {
            tree.insert(FilePath::new(name).unwrap(), body.as_bytes().to_vec());
        }
        tree
    }
}

/// What we print, or what we say instead.
fn ours(case: &Case, command: &str) -> Result<String, String> {
    let mut words = command.split(' ');
    let root = FilePath::new(words.next().unwrap_or_default()).unwrap();
    let mut options = Options::default();
    for flag in words {
        match flag {
            "--load-restrictor=LoadRestrictionsNone" => options.load_restriction = LoadRestriction::None,
            "--enable-helm" => options.helm = Some(HelmOptions::default()),
            other => panic!("the tests do not know {other}"),
        }
    }
    match lynceus_kustomize::build(&case.tree(), &root, &options, &Fetched::new(), &mut Still) {
        Ok(build) => Ok(build.to_yaml()),
        Err(error) => Err(one_line(&error.to_string())),
    }
}

fn theirs(kustomize: &Path, case: &Case, command: &str) -> Result<String, String> {
    let directory = std::env::temp_dir().join(format!("lynceus-kustomize-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&directory);
    for (name, body) in &case.files {
        let path = directory.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, body).unwrap();
    }
    let output = Command::new(kustomize)
        .arg("build")
        .args(command.split(' '))
        .current_dir(&directory)
        .env("PATH", "")
        .output()
        .unwrap();
    let directory = directory.canonicalize().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).replace(&format!("{}", directory.display()), "");
    if output.status.success() {
        Ok(String::from_utf8(output.stdout).unwrap())
    } else {
        let from = said.find("Error: ").map_or(0, |at| at + "Error: ".len());
        Err(one_line(&said[from..]))
    }
}

/// Addresses in memory are others every time.
fn one_line(text: &str) -> String {
    let words = text.split_whitespace().map(|word| if word.starts_with("&{0x") { "&{0x" } else { word });
    words.collect::<Vec<_>>().join(" ").chars().take(400).collect()
}

fn refused<'a>(body: &'a str, who: &str) -> Option<&'a str> {
    body.lines().find_map(|line| line.strip_prefix(who))
}

#[test]
fn builds_are_kustomizes_to_the_byte() {
    let kustomize = std::env::var_os("LYNCEUS_KUSTOMIZE").map(PathBuf::from);
    let only = std::env::var("LYNCEUS_CASE").unwrap_or_default();
    let cases = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases");
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(cases).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let mut differences = String::new();
    for file in files {
        let name = file.file_stem().unwrap().to_string_lossy().into_owned();
        if !name.contains(&only) {
            continue;
        }
        let mut case = Case::read(&std::fs::read_to_string(&file).unwrap());
        for at in 0..case.builds.len() {
            let (command, body) = case.builds[at].clone();
            let ours = ours(&case, &command);
            if let Some(kustomize) = &kustomize {
                let theirs = theirs(kustomize, &case, &command);
                case.builds[at].1 = match (&theirs, &ours) {
                    (Ok(printed), _) => printed.clone(),
                    (Err(theirs), Err(ours)) => format!("kustomize: {theirs}\nlynceus:   {ours}\n"),
                    (Err(theirs), Ok(_)) => format!("kustomize: {theirs}\n"),
                };
            }
            let body = if kustomize.is_some() { case.builds[at].1.clone() } else { body };
            let expected = match refused(&body, "kustomize: ") {
                Some(_) => Err(refused(&body, "lynceus:   ").unwrap_or_default().to_owned()),
                None => Ok(body),
            };
            if ours != expected {
                let told = |answer: &Result<String, String>| match answer {
                    Ok(printed) => printed.clone(),
                    Err(said) => format!("refused: {said}\n"),
                };
                differences += &format!(
                    "{name} $ {command}\n--- kustomize\n{}--- lynceus\n{}\n",
                    told(&expected),
                    told(&ours)
                );
            }
        }
        if kustomize.is_some() {
            std::fs::write(&file, case.write()).unwrap();
        }
    }
    assert!(differences.is_empty(), "{differences}");
}
