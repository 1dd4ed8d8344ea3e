//! Replays of what the real programs answered.
//!
//! The answers are not part of this repository: every function takes the directory that holds them.

pub mod apiserver;
pub mod diff;
pub mod health;
pub mod kustomize;
pub mod sync;

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::Path;

use flate2::read::GzDecoder;
use lynceus_object::{Object, Value};

/// How a replay went.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// How many cases were replayed.
    pub ran: usize,
    /// How many of them agreed.
    pub passed: usize,
    /// The others, in the order of the cases.
    pub failures: Vec<Failure>,
    /// How many could not be replayed, by the reason.
    pub skipped: BTreeMap<&'static str, usize>,
}

/// A case that did not agree.
#[derive(Clone, Debug)]
pub struct Failure {
    /// The name of the case.
    pub case: String,
    /// What differed.
    pub detail: String,
    /// Why it has to, where that is known.
    pub reason: Option<&'static str>,
}

impl Report {
    /// Counts one case.
    pub fn count(&mut self, case: &str, outcome: Result<(), String>) {
        self.ran += 1;
        match outcome {
            Ok(()) => self.passed += 1,
            Err(detail) => self.failures.push(Failure { case: case.to_owned(), detail, reason: None }),
        }
    }

    /// Counts one case, and says why it has to differ if it does.
    pub fn count_with(&mut self, case: &str, outcome: Result<(), String>, reason: Option<&'static str>) {
        self.count(case, outcome.clone());
        if let (Err(_), Some(failure)) = (outcome, self.failures.last_mut()) {
            failure.reason = reason;
        }
    }

    /// The failures that nothing explains.
    pub fn unexplained(&self) -> impl Iterator<Item = &Failure> {
        self.failures.iter().filter(|failure| failure.reason.is_none())
    }
}

/// Reads a file of one compressed JSON value per line, one case at a time.
fn cases(file: &Path) -> io::Result<impl Iterator<Item = io::Result<Value>>> {
    let lines = BufReader::new(GzDecoder::new(File::open(file)?)).lines();
    Ok(lines.map(|line| serde_json::from_str(&line?).map_err(io::Error::from)))
}

/// The objects of a list in a case.
fn objects(case: &Value, field: &str) -> Vec<Object> {
    case.items_at(&[field]).iter().filter_map(|value| Object::new(value.clone()).ok()).collect()
}
