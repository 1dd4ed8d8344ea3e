//! The scripts: out of the module of Kubernetes, which the Go module proxy has.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::rig::{self, Programs, cache};
use crate::run;

/// What the scripts need of Kubernetes' tree.
const PARTS: [&str; 5] =
    ["hack", "test/cmd", "test/fixtures", "test/e2e/testing-manifests", "third_party/forked/shell2junit"];

/// Where the scripts fetch a file of their own tree from. It is the same file as the one that is here, and a machine
/// without a way out has it too.
const ELSEWHERE: &str = "https://raw.githubusercontent.com/kubernetes/kubernetes/master/";

/// The case that is no function: what stands between the calls of the functions.
const INLINE: &str = "inline";

/// The part of Kubernetes' tree that the scripts are, in the cache.
pub(super) struct Scripts {
    directory: PathBuf,
}

impl Scripts {
    /// Copies them out of the module, once for each release, with the programs where they look for them.
    pub(super) fn ready(programs: &Programs) -> Result<Self, String> {
        let directory = cache()?.join("kubectl").join(rig::KUBERNETES);
        if !directory.is_dir() {
            let module = rig::kubernetes_sources()?;
            let unfinished = directory.with_file_name(format!("{}.new", rig::KUBERNETES));
            let _ = std::fs::remove_dir_all(&unfinished);
            for part in PARTS {
                copy(&module.join(part), &unfinished.join(part))?;
            }
            mend(&unfinished)?;
            let programs_of_tree = unfinished.join("_output/bin");
            std::fs::create_dir_all(&programs_of_tree)
                .map_err(|error| format!("cannot make {}: {error}", programs_of_tree.display()))?;
            for name in ["kubectl", "kubectl-convert"] {
                std::os::unix::fs::symlink(programs.path(name), programs_of_tree.join(name))
                    .map_err(|error| format!("cannot link {name}: {error}"))?;
            }
            std::fs::rename(&unfinished, &directory)
                .map_err(|error| format!("cannot move {}: {error}", unfinished.display()))?;
        }
        Ok(Scripts { directory })
    }

    /// A file of the tree.
    pub(super) fn path(&self, file: &str) -> PathBuf {
        self.directory.join(file)
    }

    /// Copies the tree to where a function may write into it.
    pub(super) fn copy_to(&self, directory: &Path) -> Result<(), String> {
        copy(&self.directory, directory)
    }

    /// The functions in the order in which the scripts call them, then those that they do not call.
    pub(super) fn functions(&self) -> Result<Vec<String>, String> {
        let directory = self.directory.join("test/cmd");
        let mut files: Vec<PathBuf> = std::fs::read_dir(&directory)
            .map_err(|error| format!("cannot read {}: {error}", directory.display()))?
            .filter_map(|entry| Some(entry.ok()?.path()))
            .filter(|path| path.extension().is_some_and(|extension| extension == "sh"))
            .collect();
        files.sort();
        let mut texts = Vec::new();
        for file in &files {
            let text = std::fs::read_to_string(file)
                .map_err(|error| format!("cannot read {}: {error}", file.display()))?;
            texts.push(text);
        }
        Ok(functions(&texts))
    }
}

/// Puts right what a tree has lost on its way here, and what of it is meant to be fetched from elsewhere.
fn mend(tree: &Path) -> Result<(), String> {
    // The module cache cannot be written to, and its files cannot be run.
    run::passes(Command::new("chmod").args(["-R", "u+w"]).arg(tree))?;
    run::passes(
        Command::new("chmod").args(["-R", "u+x"]).arg(tree.join("test/fixtures/pkg/kubectl/plugins")),
    )?;
    let file = tree.join("test/cmd/generic-resources.sh");
    let text =
        std::fs::read_to_string(&file).map_err(|error| format!("cannot read {}: {error}", file.display()))?;
    std::fs::write(&file, text.replace(ELSEWHERE, ""))
        .map_err(|error| format!("cannot write {}: {error}", file.display()))
}

/// The names of the functions in scripts, without those that others of them call.
fn functions(texts: &[String]) -> Vec<String> {
    let lines = || texts.iter().flat_map(|text| text.lines().map(str::trim_end));
    let helps = |name: &str| lines().any(|line| line.starts_with(' ') && line.trim_start() == name);
    let defined: Vec<&str> = lines().filter_map(definition).filter(|name| !helps(name)).collect();
    let called = lines().filter_map(|line| line.trim().strip_prefix("record_command "));
    let mut names: Vec<String> = Vec::new();
    for name in called.filter(|name| defined.contains(name)).chain(defined.iter().copied()) {
        if !names.iter().any(|known| known == name) {
            names.push(name.to_owned());
        }
    }
    names.push(INLINE.to_owned());
    names
}

/// The test that a line begins to define. One that is called by another for each version of something is none.
fn definition(line: &str) -> Option<&str> {
    let line = line.strip_prefix("function ").unwrap_or(line);
    let (name, _) = line.split_once("()")?;
    let name = name.trim_end();
    (name.starts_with("run_") && !name.ends_with("_version") && !name.contains(' ')).then_some(name)
}

fn copy(from: &Path, to: &Path) -> Result<(), String> {
    std::fs::create_dir_all(to).map_err(|error| format!("cannot make {}: {error}", to.display()))?;
    run::passes(Command::new("cp").arg("-a").arg(from.join(".")).arg(to))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_are_found_in_the_order_of_their_calls() {
        let calls = "  if x; then\n    record_command run_b_tests\n  fi\n  record_command run_a_test\n\
                     record_command run_b_tests\nrecord_command run_missing_tests\n";
        let definitions = "run_a_test() {\n  foo\n  run_part_tests\n}\nfunction run_c_tests() {\n}\n\
                           run_b_tests() {\nrun_x_tests_version() {\nrun_part_tests() {\n";
        let names = functions(&[calls.to_owned(), definitions.to_owned()]);
        assert_eq!(names, ["run_b_tests", "run_a_test", "run_c_tests", "inline"]);
    }
}
