//! Trees of files with commands, as the tests of `helm` and `kustomize` have them in `tests/cases`. The head of
//! `crates/helm/tests/cases.rs` says how they are written.

use std::collections::BTreeMap;
use std::path::Path;

use crate::run;

/// The charts.
pub(crate) const CHARTS: &str = "crates/helm/tests/cases";

/// The kustomizations.
pub(crate) const KUSTOMIZATIONS: &str = "crates/kustomize/tests/cases";

/// Files with commands, and what the real program answers to each.
pub(crate) struct Case {
    pub(crate) name: String,
    pub(crate) text: String,
}

impl Case {
    /// All of a directory, in the order of their names.
    pub(crate) fn all(directory: &str) -> Result<Vec<Case>, String> {
        Ok(files(directory, "txt")?.into_iter().map(|(name, text)| Case { name, text }).collect())
    }

    /// The files, by their names; `archive!member` is one in an archive.
    pub(crate) fn files(&self) -> impl Iterator<Item = (&str, String)> {
        self.sections().filter(|(name, _)| !name.starts_with("$ "))
    }

    /// The commands, each with the answer.
    pub(crate) fn commands(&self) -> impl Iterator<Item = (&str, String)> {
        self.sections().filter_map(|(name, body)| Some((name.strip_prefix("$ ")?, body)))
    }

    fn sections(&self) -> impl Iterator<Item = (&str, String)> {
        let text = self.text.strip_suffix('\n').unwrap_or(&self.text);
        text.strip_prefix("==> ").unwrap_or(text).split("\n==> ").map(|section| {
            match section.split_once('\n') {
                Some((name, body)) => (name, format!("{body}\n")),
                None => (section, String::new()),
            }
        })
    }

    /// Writes the files below a directory, archives packed.
    pub(crate) fn write(&self, directory: &Path) -> Result<(), String> {
        let mut archives: BTreeMap<&str, Vec<(&str, String)>> = BTreeMap::new();
        let mut contents: Vec<(&str, Vec<u8>)> = Vec::new();
        for (name, body) in self.files() {
            match name.split_once('!') {
                Some((archive, member)) => archives.entry(archive).or_default().push((member, body)),
                None => contents.push((name, body.into_bytes())),
            }
        }
        for (name, members) in archives {
            contents.push((name, compressed(&packed(members)?)?));
        }
        for (name, content) in contents {
            let path = directory.join(name);
            let failed = |error: std::io::Error| format!("{}: {error}", path.display());
            std::fs::create_dir_all(path.parent().unwrap_or(directory)).map_err(failed)?;
            std::fs::write(&path, content).map_err(failed)?;
        }
        Ok(())
    }
}

/// An archive of some files, not compressed.
pub(crate) fn packed<'a>(members: impl IntoIterator<Item = (&'a str, String)>) -> Result<Vec<u8>, String> {
    let mut archive = tar::Builder::new(Vec::new());
    for (name, body) in members {
        let mut header = tar::Header::new_ustar();
        header.set_mode(0o644);
        header.set_size(body.len() as u64);
        archive
            .append_data(&mut header, name, body.as_bytes())
            .map_err(|error| format!("{name}: {error}"))?;
    }
    archive.into_inner().map_err(|error| error.to_string())
}

fn compressed(bytes: &[u8]) -> Result<Vec<u8>, String> {
    use std::io::Write as _;
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(bytes).and_then(|()| encoder.finish()).map_err(|error| error.to_string())
}

/// The words of a command line; quotes keep words together.
pub(crate) fn words(line: &str) -> Vec<String> {
    let (mut words, mut quote) = (vec![String::new()], None);
    for letter in line.chars() {
        match (quote, letter) {
            (Some(open), letter) if open == letter => quote = None,
            (None, '\'' | '"') => quote = Some(letter),
            (None, ' ') => words.push(String::new()),
            (_, letter) => words.iter_mut().last().into_iter().for_each(|word| word.push(letter)),
        }
    }
    words
}

/// The files of a directory of the repository that have an ending: their names without it, and what is in them.
pub(crate) fn files(directory: &str, ending: &str) -> Result<Vec<(String, String)>, String> {
    let directory = run::root().join(directory);
    let failed = |error: std::io::Error| format!("{}: {error}", directory.display());
    let mut found = Vec::new();
    for entry in std::fs::read_dir(&directory).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        if path.extension().is_some_and(|own| own == ending) {
            let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            found.push((name, std::fs::read_to_string(&path).map_err(failed)?));
        }
    }
    found.sort();
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_and_commands_are_told_apart() {
        let text = "==> a\nx\n==> empty\n==> t.tgz!c/Chart.yaml\ny\n==> $ r . --set 'a=b c'\nout\n";
        let case = Case { name: "n".to_owned(), text: text.to_owned() };
        let files: Vec<(&str, String)> = case.files().collect();
        let expected = [("a", "x\n"), ("empty", ""), ("t.tgz!c/Chart.yaml", "y\n")];
        assert_eq!(files, expected.map(|(name, body)| (name, body.to_owned())));
        let (command, answer) = case.commands().next().unwrap_or_default();
        assert_eq!((words(command).join("|"), answer.as_str()), ("r|.|--set|a=b c".to_owned(), "out\n"));
    }
}
