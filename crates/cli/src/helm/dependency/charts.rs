//! The `charts/` directory, which is changed only when everything has arrived.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::helm::chart;

/// Archives on their way into `charts/`. Until they are there, they lie in a directory beside it, which goes away
/// whatever happens.
pub(super) struct Arrivals {
    charts: PathBuf,
    waiting: PathBuf,
    names: BTreeSet<String>,
    places: BTreeSet<String>,
}

impl Arrivals {
    /// Makes room.
    pub(super) fn prepare(chart: &str) -> Result<Self, String> {
        let charts = Path::new(chart).join("charts");
        match charts.metadata() {
            Ok(about) if !about.is_dir() => {
                return Err(format!("{:?} is not a directory", charts.display().to_string()));
            }
            Ok(_) => {}
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => make(&charts)?,
            Err(error) => return Err(chart::not_there("stat", &charts.display().to_string(), &error)),
        }
        let waiting = Path::new(chart).join(format!("tmpcharts-{}", std::process::id()));
        make(&waiting)?;
        Ok(Arrivals { charts, waiting, names: BTreeSet::new(), places: BTreeSet::new() })
    }

    /// Tells that a chart is being fetched from a place; false if it was already.
    pub(super) fn announce(&mut self, name: &str, repository: &str, place: &str) -> bool {
        let repository = lynceus_source::redact(repository);
        let is_new = self.places.insert(place.to_owned());
        let what = if is_new { "Downloading" } else { "Already downloaded" };
        println!("{what} {name} from repo {repository}");
        is_new
    }

    /// Takes an archive. Its name may be made of what a chart says, and must not lead anywhere.
    pub(super) fn take(&mut self, name: &str, bytes: &[u8]) -> Result<(), String> {
        let name = name.rsplit('/').next().unwrap_or_default();
        let path = self.waiting.join(name);
        std::fs::write(&path, bytes).map_err(|error| format!("cannot write {}: {error}", path.display()))?;
        self.names.insert(name.to_owned());
        Ok(())
    }

    /// Moves everything into `charts/`, and removes the archives there that are not wanted any more. Charts that belong
    /// there by themselves stay.
    pub(super) fn settle(self, included: &[&str]) -> Result<(), String> {
        let before = archives(&self.charts)?;
        for name in &self.names {
            let (from, to) = (self.waiting.join(name), self.charts.join(name));
            if let Err(problem) = chart::load(&from.display().to_string()) {
                println!("Could not verify {} for moving: {problem} (Skipping)", from.display());
            } else if let Err(error) = std::fs::rename(&from, &to) {
                println!("Unable to move {} to charts dir {error} (Skipping)", from.display());
            }
        }
        println!("Deleting outdated charts");
        for name in before.iter().filter(|name| !self.names.contains(*name)) {
            remove(&self.charts.join(name), included);
        }
        Ok(())
    }
}

impl Drop for Arrivals {
    fn drop(&mut self) {
        if let Err(error) = std::fs::remove_dir_all(&self.waiting) {
            eprintln!("warning: cannot remove {}: {error}", self.waiting.display());
        }
    }
}

fn make(directory: &Path) -> Result<(), String> {
    std::fs::create_dir_all(directory)
        .map_err(|error| format!("cannot make the directory {}: {error}", directory.display()))
}

/// The files in a directory, in order.
fn archives(directory: &Path) -> Result<BTreeSet<String>, String> {
    let failed = |error: std::io::Error| chart::not_there("open", &directory.display().to_string(), &error);
    let mut names = BTreeSet::new();
    for entry in std::fs::read_dir(directory).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        if !entry.file_type().map_err(failed)?.is_dir() {
            names.insert(entry.file_name().to_string_lossy().into_owned());
        }
    }
    Ok(names)
}

/// Removes an archive, unless it is none, or of a chart that belongs here by itself.
fn remove(path: &Path, included: &[&str]) {
    let shown = path.display().to_string();
    match chart::load(&shown) {
        Err(problem) => println!("Could not verify {shown} for deletion: {problem} (Skipping)"),
        Ok(chart) if included.contains(&chart.name()) => {}
        Ok(_) => {
            if let Err(error) = std::fs::remove_file(path) {
                println!("Could not delete {shown}: {error} (Skipping)");
            }
        }
    }
}
