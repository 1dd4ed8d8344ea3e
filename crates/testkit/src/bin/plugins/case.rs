//! A case as text: parts after `=== WORD`, of which some have a name.
//!
//! `plugin` is the configuration of a plugin, of which there may be several; `source` the Application's source; `file NAME`,
//! `program NAME`, `link NAME` and `noise NAME`, so many bytes of it, what is in the repository; `secret` the data of the repository's Secret; `seconds` how long
//! plugins may take. What has to come of it is `manifests`, or `error`; and `parameters`, if there are to be any.

use std::collections::BTreeMap;

use lynceus_files::FilePath;
use lynceus_source::compose::Change;

#[derive(Default)]
pub(crate) struct Case {
    pub(crate) plugins: Vec<String>,
    pub(crate) source: String,
    pub(crate) files: Vec<(FilePath, Change)>,
    /// Every other part, by its word.
    others: BTreeMap<String, String>,
}

impl Case {
    pub(crate) fn read(text: &str) -> Result<Self, String> {
        let mut case = Case::default();
        // What comes before the first part says what the case is about.
        for part in format!("\n{text}").split("\n=== ").skip(1) {
            let (head, body) = part.split_once('\n').unwrap_or((part, ""));
            let body = body.trim_end();
            case.take(head.trim(), if body.is_empty() { String::new() } else { format!("{body}\n") })?;
        }
        Ok(case)
    }

    fn take(&mut self, head: &str, body: String) -> Result<(), String> {
        let (word, name) = head.split_once(' ').unwrap_or((head, ""));
        let path = || FilePath::new(name).map_err(|error| format!("{name}: {error}"));
        match word {
            "plugin" => self.plugins.push(body),
            "source" => self.source = body,
            "file" => self.files.push((path()?, Change::Write(body.into_bytes()))),
            "program" => self.files.push((path()?, Change::WriteProgram(body.into_bytes()))),
            "link" => self.files.push((path()?, Change::Link(body.trim().to_owned()))),
            "noise" => {
                let count: usize = body.trim().parse().map_err(|error| format!("{name}: {error}"))?;
                self.files.push((path()?, Change::Write(noise(count))));
            }
            "secret" | "seconds" | "manifests" | "error" | "parameters" => {
                self.others.insert(word.to_owned(), body);
            }
            _ => return Err(format!("there is no part {word:?}")),
        }
        Ok(())
    }

    pub(crate) fn part(&self, word: &str) -> Option<&str> {
        self.others.get(word).map(String::as_str)
    }
}

/// Bytes that cannot be packed, the same every time.
fn noise(count: usize) -> Vec<u8> {
    let mut state = 1_u64;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 56) as u8
    };
    (0..count).map(|_| next()).collect()
}
