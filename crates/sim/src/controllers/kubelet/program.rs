//! What a container does: how long it runs, and how it ends.
//!
//! Nothing is executed. A long-running pod runs for ever and a Job's pod succeeds after a moment, unless the
//! pod says otherwise: by annotations, or by a command so plain that its end can be read off it.

use jiff::SignedDuration;
use lynceus_object::{Object, Value};

/// How a pod's containers end: their exit code.
pub(crate) const EXIT_CODE: &str = "sim.lynceus.dev/exit-code";
/// How long a pod's containers run, such as `5s`.
pub(crate) const RUN_FOR: &str = "sim.lynceus.dev/run-for";

/// How long a container runs that is meant to end but does not say when.
const DEFAULT_RUN: SignedDuration = SignedDuration::from_secs(1);

/// A container that fails within this time was never of use.
const SOON: SignedDuration = SignedDuration::from_secs(10);

/// The life of a container that was started once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Program {
    /// How long it runs; for ever if none.
    pub(crate) run_for: Option<SignedDuration>,
    /// What it ends with.
    pub(crate) exit_code: i64,
}

impl Program {
    const FOREVER: Program = Program { run_for: None, exit_code: 0 };

    /// Whether it fails so soon that it never serves anybody. Without this a crashing service would count as
    /// ready for a moment, and its rollout as done.
    pub(crate) fn crashes_at_once(&self) -> bool {
        self.exit_code != 0 && self.run_for.is_some_and(|time| time < SOON)
    }

    /// What a pod's container does.
    pub(crate) fn of(pod: &Object, container: &Value) -> Self {
        let exit_code = pod.annotation(EXIT_CODE).and_then(|code| code.trim().parse::<i64>().ok());
        let run_for = pod.annotation(RUN_FOR).and_then(|text| lynceus_api::parse_duration(text).ok());
        if exit_code.is_some() || run_for.is_some() {
            return Program {
                run_for: Some(run_for.unwrap_or(DEFAULT_RUN)),
                exit_code: exit_code.unwrap_or(0),
            };
        }
        if let Some(program) = Program::of_command(container) {
            return program;
        }
        let always = pod.value().str_at(&["spec", "restartPolicy"]).unwrap_or("Always") == "Always";
        if always { Program::FOREVER } else { Program { run_for: Some(DEFAULT_RUN), exit_code: 0 } }
    }

    /// What an init container does: end at once, unless its command says otherwise.
    pub(crate) fn of_init(container: &Value) -> Self {
        Program::of_command(container)
            .unwrap_or(Program { run_for: Some(SignedDuration::ZERO), exit_code: 0 })
    }

    /// Reads a command that a shell would need no file system for.
    fn of_command(container: &Value) -> Option<Self> {
        let words: Vec<&str> = container
            .items_at(&["command"])
            .iter()
            .chain(container.items_at(&["args"]))
            .map(|word| word.as_str().unwrap_or_default())
            .collect();
        match words.as_slice() {
            [shell, flag, script, ..] if is_shell(shell) && matches!(*flag, "-c" | "-ec" | "-exc") => {
                of_script(script)
            }
            [] => None,
            words => of_words(words).map(|step| step.program()),
        }
    }
}

fn is_shell(word: &str) -> bool {
    matches!(word.rsplit('/').next(), Some("sh" | "bash" | "ash"))
}

/// One command of a script.
enum Command {
    Sleep(Option<SignedDuration>),
    Exit(i64),
    Done(i64),
}

impl Command {
    fn program(self) -> Program {
        match self {
            Command::Sleep(run_for) => Program { run_for, exit_code: 0 },
            Command::Exit(exit_code) | Command::Done(exit_code) => {
                Program { run_for: Some(SignedDuration::ZERO), exit_code }
            }
        }
    }
}

fn of_script(script: &str) -> Option<Program> {
    let mut total = SignedDuration::ZERO;
    let mut last = 0;
    let commands = script.split([';', '\n']).flat_map(|line| line.split("&&")).map(str::trim);
    for command in commands.filter(|command| !command.is_empty()) {
        let words: Vec<&str> = command.split_whitespace().collect();
        match of_words(&words)? {
            Command::Sleep(None) => return Some(Program::FOREVER),
            Command::Sleep(Some(time)) => total = total.saturating_add(time),
            Command::Exit(code) => return Some(Program { run_for: Some(total), exit_code: code }),
            Command::Done(code) => last = code,
        }
    }
    Some(Program { run_for: Some(total), exit_code: last })
}

fn of_words(words: &[&str]) -> Option<Command> {
    match words {
        ["true" | "/bin/true", ..] | ["echo" | "/bin/echo", ..] => Some(Command::Done(0)),
        ["false" | "/bin/false", ..] => Some(Command::Done(1)),
        ["exit"] => Some(Command::Exit(0)),
        ["exit", code] => code.parse().ok().map(Command::Exit),
        ["sleep" | "/bin/sleep", "inf" | "infinity"] => Some(Command::Sleep(None)),
        ["sleep" | "/bin/sleep", time] => {
            lynceus_api::parse_duration(time).ok().map(|time| Command::Sleep(Some(time)))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::controllers::kind::POD;
    use lynceus_object::value;

    fn program(restart: &str, container: Value) -> (Option<i64>, i64) {
        let mut pod = POD.named("shop", "web");
        pod.set(&["spec", "restartPolicy"], restart);
        let program = Program::of(&pod, &container);
        (program.run_for.map(|time| time.as_secs()), program.exit_code)
    }

    #[test]
    fn a_service_runs_for_ever_and_a_task_ends() {
        assert_eq!(program("Always", value!({})), (None, 0));
        assert_eq!(program("Never", value!({})), (Some(1), 0));
        assert_eq!(program("Always", value!({"command": ["nginx", "-g", "daemon off;"]})), (None, 0));
    }

    #[test]
    fn plain_commands_are_understood() {
        assert_eq!(program("Never", value!({"command": ["sh", "-c", "exit 3"]})), (Some(0), 3));
        assert_eq!(program("Never", value!({"command": ["false"]})), (Some(0), 1));
        assert_eq!(program("Never", value!({"command": ["sleep"], "args": ["10"]})), (Some(10), 0));
        assert_eq!(
            program("Always", value!({"command": ["/bin/sh", "-c", "echo hi; sleep 2m && false"]})),
            (Some(120), 1)
        );
        assert_eq!(program("Never", value!({"command": ["sleep", "infinity"]})), (None, 0));
        assert_eq!(program("Never", value!({"command": ["sh", "-c", "make all"]})), (Some(1), 0));
    }

    #[test]
    fn annotations_win() {
        let mut pod = POD.named("shop", "web");
        pod.set_annotation(EXIT_CODE, "2");
        pod.set_annotation(RUN_FOR, "5s");
        let program = Program::of(&pod, &value!({"command": ["true"]}));
        assert_eq!((program.run_for, program.exit_code), (Some(SignedDuration::from_secs(5)), 2));
    }
}
