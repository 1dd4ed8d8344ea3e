//! Scripts: a command after `$`, then what it has to print. Text in, text out.
//!
//! ```text
//! # a remark
//! $ kubectl create namespace shop
//! namespace/shop created
//! $ kubectl get nothing
//! ? 1
//! error: the server doesn't have a resource type "nothing"
//! ```
//!
//! In an expected line `[..]` stands for any text, and a line `...` for any lines. `? N` is the exit code; 0 if it is
//! not there. Lines after `<<` in a command are its standard input, up to a line `EOF`.

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

/// What a file says.
pub(crate) struct Script {
    steps: Vec<Step>,
}

struct Step {
    line: usize,
    command: String,
    input: String,
    code: i32,
    expected: Vec<String>,
}

impl Script {
    pub(crate) fn read(path: &Path) -> Result<Self, String> {
        let text = std::fs::read_to_string(path).map_err(|error| format!("cannot read {path:?}: {error}"))?;
        Ok(Script { steps: parse(&text) })
    }

    pub(crate) fn len(&self) -> usize {
        self.steps.len()
    }

    /// Runs every step and tells of those that went otherwise. `programs` are those that a step may call by name.
    pub(crate) fn run(&self, programs: &[(&str, &Path)], directory: &Path, kubeconfig: &Path) -> Vec<String> {
        self.steps.iter().filter_map(|step| step.run(programs, directory, kubeconfig).err()).collect()
    }
}

fn parse(text: &str) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    let mut lines = text.lines().enumerate();
    while let Some((index, line)) = lines.next() {
        if let Some(command) = line.strip_prefix("$ ") {
            let mut input = String::new();
            let command = match command.strip_suffix(" <<EOF") {
                Some(command) => {
                    for (_, line) in lines.by_ref().take_while(|(_, line)| *line != "EOF") {
                        input.push_str(line);
                        input.push('\n');
                    }
                    command
                }
                None => command,
            };
            steps.push(Step {
                line: index + 1,
                command: command.into(),
                input,
                code: 0,
                expected: Vec::new(),
            });
        } else if let Some(step) = steps.last_mut() {
            match line.strip_prefix("? ") {
                Some(code) => step.code = code.trim().parse().unwrap_or(-1),
                None if line.starts_with("# ") || line.is_empty() => {}
                None => step.expected.push(line.to_owned()),
            }
        }
    }
    steps
}

impl Step {
    fn run(&self, programs: &[(&str, &Path)], directory: &Path, kubeconfig: &Path) -> Result<(), String> {
        let function = |(name, path): &(&str, &Path)| format!("{name}() {{ command {path:?} \"$@\"; }}; ");
        let functions: String = programs.iter().map(function).collect();
        let mut child = Command::new("bash")
            .arg("-c")
            .arg(format!("{functions}{{ {} ; }} 2>&1", self.command))
            .current_dir(directory)
            .env("KUBECONFIG", kubeconfig)
            .env("HOME", directory)
            .env("TERM", "dumb")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| format!("line {}: cannot run bash: {error}", self.line))?;
        if let Some(mut stdin) = child.stdin.take() {
            // A command that does not read its input closes it early.
            let _ = stdin.write_all(self.input.as_bytes());
        }
        let output = child.wait_with_output().map_err(|error| format!("line {}: {error}", self.line))?;
        let printed = String::from_utf8_lossy(&output.stdout);
        let lines: Vec<&str> = printed.lines().map(str::trim_end).filter(|line| !line.is_empty()).collect();
        let code = output.status.code().unwrap_or(-1);
        if code == self.code && matches(&self.expected, &lines) {
            return Ok(());
        }
        Err(format!(
            "line {}: $ {}\n  expected (exit code {}):\n{}\n  printed (exit code {code}):\n{}",
            self.line,
            self.command,
            self.code,
            indented(self.expected.iter().map(String::as_str)),
            indented(lines.iter().copied()),
        ))
    }
}

fn indented<'a>(lines: impl Iterator<Item = &'a str>) -> String {
    lines.map(|line| format!("    {line}\n")).collect::<String>().trim_end().to_owned()
}

/// Whether the lines are as expected; `...` stands for any number of them.
fn matches(expected: &[String], lines: &[&str]) -> bool {
    match expected.split_first() {
        None => lines.is_empty(),
        Some((first, rest)) if first == "..." => {
            (0..=lines.len()).any(|skipped| matches(rest, &lines[skipped..]))
        }
        Some((first, rest)) => lines
            .split_first()
            .is_some_and(|(line, others)| line_matches(first, line) && matches(rest, others)),
    }
}

/// Whether a line is as expected; `[..]` stands for any text. Runs of blanks count as one, because columns are as wide
/// as what stands in them.
fn line_matches(expected: &str, line: &str) -> bool {
    let squeeze = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let (expected, line) = (squeeze(expected), squeeze(line));
    let mut parts = expected.split("[..]");
    let Some(mut rest) = parts.next().and_then(|first| line.strip_prefix(first)) else { return false };
    let mut parts = parts.peekable();
    if parts.peek().is_none() {
        return rest.is_empty();
    }
    while let Some(part) = parts.next() {
        if parts.peek().is_none() {
            return rest.ends_with(part);
        }
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_may_leave_text_open() {
        assert!(line_matches("pod/web-[..] created", "pod/web-x7k created"));
        assert!(line_matches("web   1/1  [..]", "web    1/1     Running   3s"));
        assert!(!line_matches("pod/web-[..] created", "pod/api created"));
    }

    #[test]
    fn three_dots_stand_for_any_lines() {
        let expected = ["...".to_owned(), "last".to_owned()];
        assert!(matches(&expected, &["a", "b", "last"]));
        assert!(!matches(&expected, &["last", "b"]));
    }

    #[test]
    fn a_step_has_a_command_input_code_and_lines() {
        let steps = parse("# remark\n$ kubectl apply -f - <<EOF\na: 1\nEOF\n? 1\nerror: no\n$ true\n");
        assert_eq!(steps.len(), 2);
        assert_eq!((steps[0].command.as_str(), steps[0].input.as_str()), ("kubectl apply -f -", "a: 1\n"));
        assert_eq!((steps[0].code, steps[0].expected.as_slice()), (1, &["error: no".to_owned()][..]));
    }
}
