//! Kustomizations with something changed at random: most break, and break for both, or give something new for both.

use std::path::{Path, PathBuf};

use crate::cases::{Case, KUSTOMIZATIONS, words};

use super::Rivals;

/// How many differences are shown.
const SHOWN: usize = 20;

/// Values that are put in the place of others.
const VALUES: [&str; 22] = [
    "null",
    "~",
    "\"\"",
    "true",
    "\"true\"",
    "yes",
    "0",
    "8080",
    "\"8080\"",
    "1.50",
    "1e3",
    "0o17",
    "a",
    "a-b",
    "a/b:c@d",
    "{}",
    "[]",
    "{a: b}",
    "[a]",
    "[{name: a}]",
    "$(A)",
    "2001-01-01",
];

/// A tree of files and the directory in it that is built.
struct Tree {
    name: String,
    files: Vec<(String, Vec<u8>)>,
    root: String,
    flags: Vec<String>,
}

/// Numbers that look random and are the same every time, so that a difference can be seen again.
struct Dice(u64);

impl Dice {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % u64::try_from(end.max(1)).unwrap_or(1)).unwrap_or(0)
    }
}

/// What became of all the changed trees.
pub(super) struct Outcome {
    pub(super) agreed: usize,
    /// Those that differ for a reason: the word that the page knows it by, and the change.
    pub(super) explained: Vec<(&'static str, String)>,
}

/// Why a difference has to be, in a word that the page explains; none if nobody has looked into it yet.
fn reason(told: &str, difference: &str) -> Option<&'static str> {
    let refuses = |words: &str| difference.contains("only lynceus refuses") && difference.contains(words);
    if refuses("already defined at line") {
        Some("twice")
    } else if refuses("did not find expected <document start>") {
        Some("second")
    } else if difference.contains("only kustomize refuses") && difference.contains("panic: ") {
        Some("panic")
    } else if difference.contains("only kustomize refuses")
        && ["Selector.", "FieldSpec."].iter().any(|of| difference.contains(&format!("Go struct field {of}")))
    {
        Some("selector")
    } else if is_written_null(difference) {
        Some("null")
    } else if told.contains("name: [") || told.contains("name: {") {
        Some("key")
    } else {
        None
    }
}

/// Whether all that differs is the word null inside of a text.
fn is_written_null(difference: &str) -> bool {
    let line =
        |who: &str| difference.lines().find_map(|line| Some(line.trim_start().strip_prefix(who)?.trim()));
    match (line("kustomize:"), line("lynceus:")) {
        (Some(theirs), Some(ours)) => theirs != ours && theirs.replace("null", "") == ours,
        _ => false,
    }
}

/// Changes `count` trees and compares what becomes of them.
pub(super) fn compare(rivals: &Rivals, count: usize) -> Result<Outcome, String> {
    let trees = trees()?;
    let mut dice = Dice(0x9E37_79B9_7F4A_7C15);
    let scratch = std::env::temp_dir().join(format!("lynceus-mutations-{}", std::process::id()));
    let (mut agreed, mut shown, mut explained) = (0, 0, Vec::new());
    for number in 0..count {
        let tree = trees.get(dice.below(trees.len())).ok_or("there are no kustomizations to change")?;
        let directory = scratch.join("tree");
        let _ = std::fs::remove_dir_all(&directory);
        let told = write_changed(tree, &directory, &mut dice)?;
        match rivals.difference(&directory.join(&tree.root), &tree.flags)? {
            None => agreed += 1,
            Some(difference) => {
                if let Some(reason) = reason(&told, &difference) {
                    explained.push((reason, format!("change-{number}")));
                    continue;
                }
                shown += 1;
                if shown <= SHOWN {
                    println!("change {number} of {}: {told}\n{difference}", tree.name);
                    let kept = scratch.join(number.to_string());
                    std::fs::rename(&directory, &kept)
                        .map_err(|error| format!("{}: {error}", kept.display()))?;
                    println!("  kept in {}", kept.join(&tree.root).display());
                }
            }
        }
    }
    if shown == 0 {
        let _ = std::fs::remove_dir_all(&scratch);
    }
    Ok(Outcome { agreed, explained })
}

/// The project's own cases, and the recorded ones if the environment says where they are.
fn trees() -> Result<Vec<Tree>, String> {
    let mut trees = Vec::new();
    for case in Case::all(KUSTOMIZATIONS)? {
        let files: Vec<_> = case.files().map(|(name, body)| (name.to_owned(), body.into_bytes())).collect();
        for (command, _) in case.commands() {
            let mut words = words(command).into_iter();
            let root = words.next().unwrap_or_default();
            trees.push(Tree { name: case.name.clone(), files: files.clone(), root, flags: words.collect() });
        }
    }
    let Some(recorded) = std::env::var_os("LYNCEUS_CASES").map(PathBuf::from) else { return Ok(trees) };
    for set in ["krusty", "plugins"] {
        let set = recorded.join("kustomize").join(set);
        let mut cases: Vec<PathBuf> = children(&set)?;
        cases.sort();
        for case in cases {
            trees.push(recorded_tree(&case)?);
        }
    }
    Ok(trees)
}

fn recorded_tree(case: &Path) -> Result<Tree, String> {
    let told = std::fs::read_to_string(case.join("case.json"))
        .map_err(|error| format!("{}: {error}", case.display()))?;
    let told: serde_json::Value =
        serde_json::from_str(&told).map_err(|error| format!("{}: {error}", case.display()))?;
    let mut files = Vec::new();
    gather(&case.join("in"), "", &mut files)?;
    files.sort();
    let flags = told["flags"].as_array().into_iter().flatten().filter_map(|flag| flag.as_str());
    Ok(Tree {
        name: case.file_name().unwrap_or_default().to_string_lossy().into_owned(),
        files,
        root: told["root"].as_str().unwrap_or_default().to_owned(),
        flags: flags.map(str::to_owned).collect(),
    })
}

fn gather(directory: &Path, prefix: &str, files: &mut Vec<(String, Vec<u8>)>) -> Result<(), String> {
    for path in children(directory)? {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let name = if prefix.is_empty() { name } else { format!("{prefix}/{name}") };
        if path.is_dir() {
            gather(&path, &name, files)?;
        } else {
            files.push((name, std::fs::read(&path).map_err(|error| format!("{}: {error}", path.display()))?));
        }
    }
    Ok(())
}

fn children(directory: &Path) -> Result<Vec<PathBuf>, String> {
    let failed = |error: std::io::Error| format!("{}: {error}", directory.display());
    std::fs::read_dir(directory).map_err(failed)?.map(|entry| Ok(entry.map_err(failed)?.path())).collect()
}

/// Writes a tree with one or two lines of it changed, and tells which.
fn write_changed(tree: &Tree, directory: &Path, dice: &mut Dice) -> Result<String, String> {
    let mut files = tree.files.clone();
    let mut told = Vec::new();
    for _ in 0..=dice.below(2) {
        let at = dice.below(files.len());
        let Some((name, body)) = files.get_mut(at) else { continue };
        let Ok(text) = std::str::from_utf8(body) else { continue };
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        if lines.is_empty() {
            continue;
        }
        let line = dice.below(lines.len());
        let before = lines[line].clone();
        change(&mut lines, line, dice);
        let after = lines.get(line).cloned().unwrap_or_default();
        told.push(format!("{name}:{} {before:?} -> {after:?}", line + 1));
        *body = (lines.join("\n") + "\n").into_bytes();
    }
    for (name, body) in files {
        let path = directory.join(name);
        let failed = |error: std::io::Error| format!("{}: {error}", path.display());
        std::fs::create_dir_all(path.parent().unwrap_or(directory)).map_err(failed)?;
        std::fs::write(&path, body).map_err(failed)?;
    }
    Ok(told.join(", "))
}

/// Takes a line away, has it twice, gives a field another value, or has two lines change places.
fn change(lines: &mut Vec<String>, line: usize, dice: &mut Dice) {
    match dice.below(8) {
        0 | 1 => {
            lines.remove(line);
        }
        2 => lines.insert(line, lines[line].clone()),
        3 => {
            let other = dice.below(lines.len());
            lines.swap(line, other);
        }
        _ => {
            let value = VALUES[dice.below(VALUES.len())];
            let changed = match (lines[line].find(": "), lines[line].find("- ")) {
                (Some(at), _) => format!("{}: {value}", &lines[line][..at]),
                (None, Some(at)) => format!("{}- {value}", &lines[line][..at]),
                (None, None) => return,
            };
            lines[line] = changed;
        }
    }
}
