//! What a container does: how long it runs, how it ends, and when it answers.
//!
//! Nothing is executed. A long-running pod runs for ever and a Job's pod succeeds after a moment, unless somebody says
//! otherwise: the pod by annotations, the stage, or a command so plain that its end can be read off it.

use jiff::SignedDuration;
use lynceus_object::{Object, Str, Value, value};

use crate::stage::{Need, Right, Script, Stage};

/// How a pod's containers end: their exit code.
pub(crate) const EXIT_CODE: &str = "sim.lynceus.dev/exit-code";
/// How long a pod's containers run, such as `5s`.
pub(crate) const RUN_FOR: &str = "sim.lynceus.dev/run-for";

/// How long a container runs that is meant to end but does not say when.
const DEFAULT_RUN: SignedDuration = SignedDuration::from_secs(1);
/// A container that fails within this time was never of use.
const SOON: SignedDuration = SignedDuration::from_secs(10);
/// What a container ends with that took too much memory.
const KILLED: i64 = 137;

/// What a container is to its pod.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// What the pod is for.
    Main,
    /// What has to succeed before.
    Init,
    /// What is started before, and goes on beside.
    Sidecar,
    /// What was added to the running pod, for somebody to look around with.
    Guest,
}

/// The life of a container that was started once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Program {
    /// How long it runs; for ever if none.
    pub(crate) run_for: Option<SignedDuration>,
    /// What it ends with.
    pub(crate) exit_code: i64,
    /// Whether it ends because it took too much memory.
    pub(crate) oom: bool,
    /// Its last words.
    pub(crate) message: Str,
    /// How long it takes until it answers.
    pub(crate) ready_after: SignedDuration,
    /// What it cannot serve without.
    pub(crate) needs: Option<Need>,
    /// How long it lives without what it needs, and what it ends with then, if it ends.
    pub(crate) despair: Option<(SignedDuration, i64)>,
    /// What its service account has to be allowed.
    pub(crate) may: Option<Right>,
}

impl Program {
    fn new(run_for: Option<SignedDuration>, exit_code: i64) -> Self {
        Program {
            run_for,
            exit_code,
            oom: false,
            message: Str::new(),
            ready_after: SignedDuration::ZERO,
            needs: None,
            despair: None,
            may: None,
        }
    }

    /// Whether it fails so soon that it never serves anybody. Without this a crashing service would count as
    /// ready for a moment, and its rollout as done.
    pub(crate) fn crashes_at_once(&self) -> bool {
        self.exit_code != 0 && self.run_for.is_some_and(|time| time < SOON)
    }

    /// What a pod's container does.
    pub(crate) fn of(pod: &Object, container: &Value, role: Role, stage: &Stage) -> Self {
        let text = |field| container.str_at(&[field]).unwrap_or_default();
        let script = stage.script(text("image"), text("name"));
        let mut program = Program::of_annotations(pod, role)
            .or_else(|| script.and_then(Program::of_script))
            .or_else(|| Program::of_command(container))
            .unwrap_or_else(|| Program::usual(pod, container, role));
        if let Some(script) = script {
            program.follow(script);
        }
        program
    }

    fn of_annotations(pod: &Object, role: Role) -> Option<Self> {
        let exit_code = pod.annotation(EXIT_CODE).and_then(|code| code.trim().parse::<i64>().ok());
        let run_for = pod.annotation(RUN_FOR).and_then(|text| lynceus_api::parse_duration(text).ok());
        let said = role == Role::Main && (exit_code.is_some() || run_for.is_some());
        said.then(|| Program::new(Some(run_for.unwrap_or(DEFAULT_RUN)), exit_code.unwrap_or(0)))
    }

    fn of_script(script: &Script) -> Option<Self> {
        // What ends only without a service goes on like any other as long as the service is there.
        let ends = script.ends() && !script.needs.as_ref().is_some_and(|need| need.crash);
        let default = if script.oom { KILLED } else { 0 };
        ends.then(|| {
            Program::new(Some(script.after.unwrap_or(DEFAULT_RUN)), script.exit_code.unwrap_or(default))
        })
    }

    /// What a container does that nobody says anything about.
    fn usual(pod: &Object, container: &Value, role: Role) -> Self {
        let own = container.str_at(&["restartPolicy"]);
        let always =
            own.or_else(|| pod.value().str_at(&["spec", "restartPolicy"])).unwrap_or("Always") == "Always";
        match role {
            Role::Init => Program::new(Some(SignedDuration::ZERO), 0),
            Role::Main if !always => Program::new(Some(DEFAULT_RUN), 0),
            Role::Main | Role::Sidecar | Role::Guest => Program::new(None, 0),
        }
    }

    /// What the stage says beside how it ends.
    fn follow(&mut self, script: &Script) {
        self.oom = script.oom;
        self.message.clone_from(&script.message);
        self.ready_after = script.ready_after;
        self.needs.clone_from(&script.needs);
        self.may.clone_from(&script.may);
        if script.needs.as_ref().is_some_and(|need| need.crash) {
            self.despair = Some((script.after.unwrap_or(DEFAULT_RUN), script.exit_code.unwrap_or(1)));
        }
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
                of_shell(script)
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
            Command::Sleep(run_for) => Program::new(run_for, 0),
            Command::Exit(exit_code) | Command::Done(exit_code) => {
                Program::new(Some(SignedDuration::ZERO), exit_code)
            }
        }
    }
}

/// For how long a pod's container goes on to work after it was told to stop: as long as its `preStop` sleeps.
pub(super) fn pre_stop(container: &Value) -> SignedDuration {
    let Some(hook) = container.at(&["lifecycle", "preStop"]) else { return SignedDuration::ZERO };
    if let Some(seconds) = hook.int_at(&["sleep", "seconds"]) {
        return SignedDuration::from_secs(seconds.max(0));
    }
    let command = value!({"command": hook.items_at(&["exec", "command"]).iter().cloned().collect::<Value>()});
    match Program::of_command(&command) {
        Some(Program { run_for: Some(time), .. }) => time,
        // It ends when the pod's patience does.
        Some(Program { run_for: None, .. }) => SignedDuration::MAX,
        None => SignedDuration::ZERO,
    }
}

fn of_shell(script: &str) -> Option<Program> {
    let mut total = SignedDuration::ZERO;
    let mut last = 0;
    let commands = script.split([';', '\n']).flat_map(|line| line.split("&&")).map(str::trim);
    for command in commands.filter(|command| !command.is_empty()) {
        let words: Vec<&str> = command.split_whitespace().collect();
        match of_words(&words)? {
            Command::Sleep(None) => return Some(Program::new(None, 0)),
            Command::Sleep(Some(time)) => total = total.saturating_add(time),
            Command::Exit(code) => return Some(Program::new(Some(total), code)),
            Command::Done(code) => last = code,
        }
    }
    Some(Program::new(Some(total), last))
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

    fn program(restart: &str, container: Value) -> (Option<i64>, i64) {
        let mut pod = POD.named("shop", "web");
        pod.set(&["spec", "restartPolicy"], restart);
        let program = Program::of(&pod, &container, Role::Main, &Stage::default());
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
        let program = Program::of(&pod, &value!({"command": ["true"]}), Role::Main, &Stage::default());
        assert_eq!((program.run_for, program.exit_code), (Some(SignedDuration::from_secs(5)), 2));
    }

    #[test]
    fn the_stage_says_what_images_do() {
        let stage = concat!(
            "apiVersion: sim.lynceus.dev/v1alpha1\nkind: Stage\nprograms:\n",
            "- {image: 'migrate:*', exitCode: 3}\n- {image: 'hungry:*', oom: true, after: 20s}\n",
            "- {image: 'slow:*', readyAfter: 7s}\n- {image: 'needy:*', needs: {service: db, crashWithout: true}}\n",
        );
        let stage = Stage::read("stage.yaml", stage).unwrap();
        let told = |image: &str| {
            let pod = POD.named("shop", "web");
            let container = value!({"name": "main", "image": image});
            let program = Program::of(&pod, &container, Role::Main, &stage);
            let seconds = |time: SignedDuration| time.as_secs();
            let end = program.run_for.map(seconds);
            format!(
                "ends {end:?} with {} oom {} ready {} despairs {:?}",
                program.exit_code,
                program.oom,
                seconds(program.ready_after),
                program.despair.map(|(time, code)| (seconds(time), code))
            )
        };
        for (image, wanted) in [
            ("migrate:v1", "ends Some(1) with 3 oom false ready 0 despairs None"),
            ("hungry:v1", "ends Some(20) with 137 oom true ready 0 despairs None"),
            ("slow:v1", "ends None with 0 oom false ready 7 despairs None"),
            ("needy:v1", "ends None with 0 oom false ready 0 despairs Some((1, 1))"),
            ("other:v1", "ends None with 0 oom false ready 0 despairs None"),
        ] {
            assert_eq!(told(image), wanted, "{image}");
        }
    }
}
