//! Replays recorded builds of the real Kustomize.

use std::io;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use lynceus_engine::Ambience;
use lynceus_files::{FilePath, MemoryTree};
use lynceus_kustomize::{Fetched, LoadRestriction, Options};
use lynceus_object::json;

use super::Report;

/// Builds every recorded kustomization in `dir/kustomize`.
pub fn run(dir: &Path) -> io::Result<Report> {
    let mut report = Report::default();
    for set in ["krusty", "plugins"] {
        let mut cases: Vec<PathBuf> = std::fs::read_dir(dir.join("kustomize").join(set))?
            .map(|entry| entry.map(|entry| entry.path()))
            .collect::<Result<_, _>>()?;
        cases.sort();
        for case in cases {
            let name = case.file_name().unwrap_or_default().to_string_lossy().into_owned();
            report.count(&name, compare(&case)?);
        }
    }
    Ok(report)
}

fn compare(case: &Path) -> io::Result<Result<(), String>> {
    let told = json::parse(&std::fs::read(case.join("case.json"))?).map_err(io::Error::other)?;
    let mut tree = MemoryTree::new();
    fill(&mut tree, &case.join("in"), &FilePath::default())?;
    let root = FilePath::new(told.str_at(&["root"]).unwrap_or_default()).map_err(io::Error::other)?;
    let mut options = Options::default();
    let flags: Vec<&str> = told.items_at(&["flags"]).iter().filter_map(|flag| flag.as_str()).collect();
    if flags.contains(&"LoadRestrictionsNone") {
        options.load_restriction = LoadRestriction::None;
    }
    let built = lynceus_kustomize::build(
        &tree,
        &root,
        &options,
        &Fetched::new(),
        &mut Ambience::at(Timestamp::UNIX_EPOCH),
    );
    let expected = case.join("expected.yaml");
    Ok(match (built, expected.is_file()) {
        (Ok(build), true) => {
            let (ours, theirs) = (build.to_yaml(), std::fs::read_to_string(expected)?);
            if ours == theirs { Ok(()) } else { Err(difference(&theirs, &ours)) }
        }
        (Err(_), false) => Ok(()),
        (Err(error), true) => Err(format!("refused: {error}")),
        (Ok(_), false) => {
            Err(format!("not refused: {}", std::fs::read_to_string(case.join("expected_error.txt"))?))
        }
    })
}

fn fill(tree: &mut MemoryTree, directory: &Path, below: &FilePath) -> io::Result<()> {
    for entry in std::fs::read_dir(directory)? {
        let entry = entry?;
        let path = below.join(&entry.file_name().to_string_lossy()).map_err(io::Error::other)?;
        let kind = entry.file_type()?;
        if kind.is_symlink() {
            tree.insert_link(path, std::fs::read_link(entry.path())?.to_string_lossy());
        } else if kind.is_dir() {
            fill(tree, &entry.path(), &path)?;
        } else {
            tree.insert(path, std::fs::read(entry.path())?);
        }
    }
    Ok(())
}

fn difference(theirs: &str, ours: &str) -> String {
    let at = theirs.lines().zip(ours.lines()).position(|(theirs, ours)| theirs != ours);
    match at {
        Some(at) => {
            let line = |text: &str| text.lines().nth(at).unwrap_or_default().to_owned();
            format!("line {}: {:?} instead of {:?}", at + 1, line(ours), line(theirs))
        }
        None => format!("{} lines instead of {}", ours.lines().count(), theirs.lines().count()),
    }
}
