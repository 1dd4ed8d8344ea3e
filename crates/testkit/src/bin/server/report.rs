//! What was measured, and what it should have been.

use std::time::Duration;

use crate::door::Door;
use crate::{Outcome, process};

/// Prints rows, and remembers what missed its target.
pub(crate) struct Report {
    missed: Vec<String>,
}

impl Report {
    pub(crate) fn new(applications: usize) -> Self {
        println!("\n| {applications} applications | measured | target |\n|---|---|---|");
        Report { missed: Vec::new() }
    }

    /// Says something that is no number of ours.
    pub(crate) fn told(&self, what: &str) {
        println!("| {what} | | |");
    }

    /// A number without a target.
    pub(crate) fn number(&self, what: &str, measured: &str) {
        println!("| {what} | {measured} | |");
    }

    /// A number, and what it has to stay under.
    pub(crate) fn bounded<T: PartialOrd>(
        &mut self,
        what: &str,
        measured: T,
        bound: T,
        show: impl Fn(&T) -> String,
    ) {
        let (is, should) = (show(&measured), show(&bound));
        println!("| {what} | {is} | under {should} |");
        if measured >= bound {
            self.missed.push(format!("{what}: {is} instead of less than {should}"));
        }
    }

    /// How much memory the server holds.
    pub(crate) fn memory(&self, when: &str, door: &Door) -> Outcome<u64> {
        let bytes = process::memory(door.pid())?;
        self.number(&format!("memory of the server {when}"), &megabytes(&bytes));
        Ok(bytes)
    }

    /// What others say of Argo CD, and what was missed.
    pub(crate) fn end(self) -> Outcome {
        println!("\n| Argo CD with 6,000 applications, as its users report | |\n|---|---|");
        println!("| the list | 2.5 to 4.3 s |");
        println!("| of that on the wire | 187 MB, 2.6 MB with gzip |");
        println!("| the server | killed for its memory |");
        match self.missed.is_empty() {
            true => Ok(()),
            false => Err(format!("missed: {}", self.missed.join("; ")).into()),
        }
    }
}

pub(crate) fn megabytes(bytes: &u64) -> String {
    format!("{:.2} MB", *bytes as f64 / 1e6)
}

pub(crate) fn milliseconds(time: &Duration) -> String {
    format!("{:.1} ms", time.as_secs_f64() * 1e3)
}

pub(crate) fn median(times: &mut [Duration]) -> Duration {
    times.sort();
    times.get(times.len() / 2).copied().unwrap_or_default()
}
