//! Kustomizations of others, each built for itself.

use std::path::{Path, PathBuf};

use super::Rivals;

/// How many differences are shown.
const SHOWN: usize = 40;

const NAMES: [&str; 3] = ["kustomization.yaml", "kustomization.yml", "Kustomization"];

/// Compares every kustomization below some directories.
pub(super) fn compare(rivals: &Rivals, directories: &[PathBuf]) -> Result<(), String> {
    let mut found = Vec::new();
    for directory in directories {
        find(directory, &mut found).map_err(|error| format!("{}: {error}", directory.display()))?;
    }
    found.sort();
    let mut differing = 0;
    for directory in &found {
        if let Some(difference) = rivals.difference(directory, &[])? {
            differing += 1;
            if differing <= SHOWN {
                println!("{}\n{difference}", directory.display());
            }
        }
    }
    println!("kustomizations of others: {} of {} agree", found.len() - differing, found.len());
    if differing == 0 { Ok(()) } else { Err(format!("{differing} kustomizations differ")) }
}

/// Links are not followed: they may lead back up.
fn find(directory: &Path, found: &mut Vec<PathBuf>) -> std::io::Result<()> {
    if NAMES.iter().any(|name| directory.join(name).is_file()) {
        found.push(directory.to_path_buf());
    }
    for entry in std::fs::read_dir(directory)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            find(&entry.path(), found)?;
        }
    }
    Ok(())
}
