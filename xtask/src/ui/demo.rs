//! `lynceus up --demo` in a folder of its own, for as long as it is needed.

use std::io::{BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

/// How long the demo may take until everything that is to be well is: minutes, where the machine is shared.
const PATIENCE: Duration = Duration::from_secs(600);

/// A demo that runs.
pub(crate) struct Demo {
    folder: PathBuf,
    child: Child,
    /// Where its page is.
    pub(crate) page: String,
    /// The administrator's password.
    pub(crate) password: String,
}

impl Demo {
    /// Starts it and waits until it says that it is there.
    pub(crate) fn start(program: &Path) -> Result<Self, String> {
        let folder = std::env::temp_dir().join(format!("lynceus-ui-test-{}", std::process::id()));
        std::fs::create_dir_all(&folder)
            .map_err(|error| format!("cannot make {}: {error}", folder.display()))?;
        let mut command = Command::new(program);
        command.args(["up", "--demo", "--port", "0", "--listen", "127.0.0.1:0"]).current_dir(&folder);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::inherit());
        let child = command.spawn().map_err(|error| format!("cannot run {}: {error}", program.display()))?;
        let mut demo = Demo { folder, child, page: String::new(), password: String::new() };
        let said = demo.wait()?;
        demo.page =
            after(&said, "page").ok_or(format!("the demo does not say where its page is:\n{said}"))?;
        let file = demo.folder.join(".lynceus/password");
        demo.password = std::fs::read_to_string(&file)
            .map_err(|error| format!("cannot read {}: {error}", file.display()))?
            .trim()
            .to_owned();
        Ok(demo)
    }

    /// The working tree that it delivers.
    pub(crate) fn tree(&self) -> PathBuf {
        self.folder.join(".lynceus/demo")
    }

    /// The way to its cluster.
    pub(crate) fn kubeconfig(&self) -> PathBuf {
        self.folder.join(".lynceus/kubeconfig")
    }

    /// Reads what it prints until it says how to stop it, which comes last.
    fn wait(&mut self) -> Result<String, String> {
        let output = self.child.stdout.take().ok_or("the demo has no output")?;
        let (lines, heard) = mpsc::channel();
        std::thread::spawn(move || {
            let mut reader = BufReader::new(output);
            let mut line = String::new();
            while reader.read_line(&mut line).is_ok_and(|length| length > 0) {
                if lines.send(std::mem::take(&mut line)).is_err() {
                    break;
                }
            }
            // What comes later is read and dropped, so that the demo is not held up by a full pipe.
            let _ = reader.read_to_end(&mut Vec::new());
        });
        let began = Instant::now();
        let mut said = String::new();
        while !said.contains("Ctrl-C stops it") {
            let left = PATIENCE.saturating_sub(began.elapsed());
            match heard.recv_timeout(left) {
                Ok(line) => said.push_str(&line),
                Err(_) => return Err(format!("the demo does not come up:\n{said}")),
            }
        }
        Ok(said)
    }
}

impl Drop for Demo {
    fn drop(&mut self) {
        // It has no state that anybody wants to keep.
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// What stands behind a word at the start of a line.
fn after(said: &str, word: &str) -> Option<String> {
    said.lines().find_map(|line| {
        let rest = line.strip_prefix(word)?;
        rest.starts_with(' ').then(|| rest.trim().to_owned())
    })
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_page_is_read_from_what_the_demo_prints() {
        let said = "cluster      https://127.0.0.1:1, kubeconfig x\npage         http://127.0.0.1:2\n";
        assert_eq!(super::after(said, "page").as_deref(), Some("http://127.0.0.1:2"));
        assert_eq!(super::after(said, "pages"), None);
    }
}
