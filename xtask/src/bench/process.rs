//! How long a program takes, and how much memory.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// A program with what it is asked.
pub(super) struct Program {
    pub(super) path: PathBuf,
    pub(super) arguments: Vec<String>,
}

impl Program {
    pub(super) fn new(path: &Path, arguments: &[&str]) -> Self {
        let arguments = arguments.iter().map(|argument| (*argument).to_owned()).collect();
        Program { path: path.to_path_buf(), arguments }
    }

    /// What it prints.
    pub(super) fn output(&self) -> Result<Vec<u8>, String> {
        let output = self.command().stderr(Stdio::piped()).output().map_err(|error| self.failed(error))?;
        if !output.status.success() {
            return Err(self.failed(String::from_utf8_lossy(&output.stderr)));
        }
        Ok(output.stdout)
    }

    /// How long it takes from its start to its end, its output going nowhere.
    pub(super) fn time(&self) -> Result<Duration, String> {
        let mut command = self.command();
        command.stdout(Stdio::null()).stderr(Stdio::null());
        let begun = Instant::now();
        let status = command.status().map_err(|error| self.failed(error))?;
        let taken = begun.elapsed();
        if status.success() { Ok(taken) } else { Err(self.failed(status)) }
    }

    /// The most memory that it has held at any time, in KB: what the kernel says of it, asked until it has ended. It may
    /// take a little more in the moment between the last question and the end.
    pub(super) fn memory(&self) -> Result<u64, String> {
        let mut command = self.command();
        command.stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = command.spawn().map_err(|error| self.failed(error))?;
        let status = PathBuf::from(format!("/proc/{}/status", child.id()));
        let mut most = 0;
        loop {
            let text = std::fs::read_to_string(&status).unwrap_or_default();
            most = most.max(high_water(&text).unwrap_or_default());
            if child.try_wait().map_err(|error| self.failed(error))?.is_some() {
                return Ok(most);
            }
        }
    }

    fn command(&self) -> Command {
        let mut command = Command::new(&self.path);
        command.args(&self.arguments).stdin(Stdio::null());
        command
    }

    fn failed(&self, why: impl std::fmt::Display) -> String {
        format!("{} {}: {why}", self.path.display(), self.arguments.join(" "))
    }
}

/// The greatest resident size in a process's status. Before a program is loaded it is that of who starts it.
fn high_water(status: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().trim_end_matches("kB").trim().parse().ok()
}

/// The one in the middle.
pub(super) fn median<T: Ord + Copy + Default>(mut values: Vec<T>) -> T {
    values.sort_unstable();
    values.get(values.len() / 2).copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_most_memory_is_read_from_the_status() {
        assert_eq!(high_water("Name:\thelm\nVmPeak:\t 1 kB\nVmHWM:\t   70656 kB\n"), Some(70_656));
        assert_eq!(high_water("Name:\thelm\nState:\tZ (zombie)\n"), None);
    }

    #[test]
    fn the_median_is_the_one_in_the_middle() {
        assert_eq!(median(vec![5, 1, 3]), 3);
        assert_eq!(median(Vec::<u64>::new()), 0);
    }
}
