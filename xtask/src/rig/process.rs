//! A process that outlives us: known by its number and the time it began, so that nobody else's is ever killed.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

/// How long a process may take to end by itself before it is made to.
const GENTLE: Duration = Duration::from_secs(10);
/// How long the system may take to clear a killed process away.
const FORCED: Duration = Duration::from_secs(10);
const LOOK: Duration = Duration::from_millis(20);

/// A process, told apart from a later one with the same number.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Process {
    pub(crate) pid: u32,
    /// When it began, in the words of the system.
    began: String,
}

impl Process {
    /// Starts a program in a process group of its own, with what it says going to a file.
    pub(crate) fn start(command: &mut Command, log: &Path) -> Result<Self, String> {
        use std::os::unix::process::CommandExt as _;
        let file = std::fs::OpenOptions::new()
            .create(true)
            .append(true)
            .open(log)
            .map_err(|error| format!("cannot write {}: {error}", log.display()))?;
        let errors = file.try_clone().map_err(|error| format!("cannot write {}: {error}", log.display()))?;
        let child = command
            .process_group(0)
            .stdin(Stdio::null())
            .stdout(file)
            .stderr(errors)
            .spawn()
            .map_err(|error| format!("cannot start {command:?}: {error}"))?;
        let pid = child.id();
        // While we live it stays our child; somebody has to notice its end, or its number stays taken.
        std::thread::spawn(move || {
            let mut child = child;
            child.wait()
        });
        let began = began(pid).ok_or_else(|| format!("{command:?} ended at once; see {}", log.display()))?;
        Ok(Process { pid, began })
    }

    pub(crate) fn is_alive(&self) -> bool {
        began(self.pid).is_some_and(|began| began == self.began)
    }

    /// Asks it to end, makes it end if it does not, and waits until it is gone.
    pub(crate) fn stop(&self) -> Result<(), String> {
        self.signal("TERM");
        if self.is_gone_within(GENTLE) { Ok(()) } else { self.kill() }
    }

    /// Ends it at once, as a crash would, and waits until it is gone.
    pub(crate) fn kill(&self) -> Result<(), String> {
        self.signal("KILL");
        if self.is_gone_within(FORCED) { Ok(()) } else { Err(format!("process {} does not end", self.pid)) }
    }

    fn signal(&self, name: &str) {
        if self.is_alive() {
            // A process that has just ended is as good as told.
            let _ = Command::new("kill").args(["-s", name, &self.pid.to_string()]).output();
        }
    }

    fn is_gone_within(&self, time: Duration) -> bool {
        let begun = Instant::now();
        while self.is_alive() {
            if begun.elapsed() > time {
                return false;
            }
            std::thread::sleep(LOOK);
        }
        true
    }
}

/// When a process began; nothing if there is none, or only its remains.
fn began(pid: u32) -> Option<String> {
    match std::fs::read_to_string(format!("/proc/{pid}/stat")) {
        Ok(text) => began_in(&text),
        Err(_) if Path::new("/proc/self").exists() => None,
        Err(_) => {
            let asked = Command::new("ps").args(["-o", "lstart=", "-p", &pid.to_string()]).output().ok()?;
            let text = String::from_utf8_lossy(&asked.stdout).trim().to_owned();
            (!text.is_empty()).then_some(text)
        }
    }
}

/// Reads Linux' line about a process. Its second field is a name in brackets that may hold anything.
fn began_in(stat: &str) -> Option<String> {
    let (_, rest) = stat.rsplit_once(") ")?;
    let mut fields = rest.split(' ');
    let state = fields.next()?;
    if matches!(state, "Z" | "X") {
        return None;
    }
    // The state is the third field, the time of the beginning the twenty-second.
    fields.nth(18).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_beginning_is_found_behind_an_odd_name() {
        let stat = "7 (a) b ( c) S 1 7 7 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 4711 0 0";
        assert_eq!(began_in(stat).as_deref(), Some("4711"));
        assert_eq!(began_in(&stat.replace(" S ", " Z ")), None);
    }

    #[test]
    fn a_process_with_our_number_that_began_at_another_time_is_not_ours() {
        let mine = Process { pid: std::process::id(), began: began(std::process::id()).unwrap() };
        assert!(mine.is_alive());
        assert!(!Process { began: "0".to_owned(), ..mine }.is_alive());
    }
}
