//! Compares with recorded answers of the real programs, keeps the ratchet, and writes `docs/compatibility.md`.
//!
//! Run it with `cargo xtask compat [--quick] [--cases DIR]`. Without recorded answers nothing is compared, and it says so.
#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a command line tool for the project's own people"
)]

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use lynceus_testkit::conformance::{self, Report};
use lynceus_testkit::ledger::Ledger;

/// What core mode asks others for, whoever the controller is.
const ARGOCD: &str = "\
    Core mode starts Argo CD's API server inside the command line, and that server wants parts of Argo CD which are not \
    there. It opens a way to a pod of the repository server before anything else: the label \
    `app.kubernetes.io/component: repo-server` on the Service of `lynceus install` leads it to ours. What it then really \
    asks the repository server for fails with `error resolving repo revision` or `connection refused`: `app sync`, `app \
    manifests`, `app create`, `app set` and `app edit` unless `--validate=false`, `repo add`. A sync is started by writing \
    `operation` into the Application, or by `lynceus app sync`. What it reads from Argo CD's Redis fails with `error \
    getting cached …`: `app resources`, `app diff`, `app get --output tree`, `app logs`, `app actions`, `app \
    patch-resource`, `app delete-resource`; `lynceus app resources`, `tree` and `diff` answer these.";

/// A set: its name, what it is, and how it is replayed.
struct Set {
    name: &'static str,
    what: &'static str,
    run: fn(&Path) -> std::io::Result<Report>,
}

const SETS: [Set; 5] = [
    Set {
        name: "apiserver",
        what: "what a real kube-apiserver 1.33 answered to kubectl, replayed on the embedded one",
        run: |dir| conformance::apiserver::run(dir, None),
    },
    Set {
        name: "diff",
        what: "comparisons by Argo CD's own engine, with its ignore rules",
        run: conformance::diff::run,
    },
    Set {
        name: "health",
        what: "objects with the health that Argo CD's own checks give them, by status and message",
        run: conformance::health::run,
    },
    Set {
        name: "kustomize",
        what: "kustomizations with what Kustomize 5.8.1 prints for them, to the byte, or that it refuses",
        run: conformance::kustomize::run,
    },
    Set {
        name: "sync",
        what: "runs of Argo CD's own sync engine, pass by pass",
        run: conformance::sync::run,
    },
];

fn main() -> ExitCode {
    match run() {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Replays one file of an API server's answers, and lists what does not agree.
fn only(file: &str, cases: Option<PathBuf>) -> Result<bool, String> {
    let cases = cases.ok_or("--only comes after --cases, or with LYNCEUS_CASES")?;
    let report = conformance::apiserver::run(&cases, Some(file)).map_err(|error| error.to_string())?;
    for failure in &report.failures {
        println!("  {}: {} ({})", failure.case, failure.detail, failure.reason.unwrap_or("no known reason"));
    }
    println!("{file}: {} of {} agree", report.passed, report.ran);
    Ok(report.unexplained().next().is_none())
}

fn run() -> Result<bool, String> {
    let mut arguments = std::env::args().skip(1);
    let mut cases: Option<PathBuf> = std::env::var_os("LYNCEUS_CASES").map(PathBuf::from);
    let mut verbose = false;
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--cases" => cases = Some(arguments.next().ok_or("--cases needs a directory")?.into()),
            "--verbose" => verbose = true,
            "--count" => match (arguments.next(), arguments.next(), arguments.next()) {
                (Some(set), Some(passed), Some(ran)) => {
                    return count(&set, &passed, &ran, &arguments.collect::<Vec<_>>());
                }
                _ => return Err("--count needs a set and two numbers".to_owned()),
            },
            "--only" => return only(&arguments.next().ok_or("--only needs a file of answers")?, cases),
            // Every set is quick: none needs a program to be built.
            "--quick" => {}
            other => return Err(format!("there is no argument {other:?}")),
        }
    }
    let Some(cases) = cases else {
        println!("compat: skipped (no recorded answers: name them with --cases DIR or LYNCEUS_CASES)");
        return Ok(true);
    };
    let mut ledger = Ledger::read()?;
    let mut fine = true;
    for set in &SETS {
        let report = (set.run)(&cases).map_err(|error| format!("{}: {error}", set.name))?;
        fine &= ledger.enter(set.name, set.what, &report, "");
        let shown = if verbose { usize::MAX } else { 5 };
        for failure in report.unexplained().take(shown) {
            println!("  {}: {}", failure.case, first_lines(&failure.detail));
        }
    }
    ledger.write()?;
    Ok(fine)
}

/// Sets that another program has counted: their names, what they are, and what else there is to say of them.
const COUNTED: [(&str, &str, &str); 12] = [
    (
        "appset",
        "ApplicationSets, documented and made up, as Argo CD's own packages generate them, or refuse them",
        "",
    ),
    ("argocd", "steps of a script for Argo CD's own command line in core mode", ARGOCD),
    ("argocd-server", "steps of a script for Argo CD's own command line, unchanged, over gRPC", ""),
    (
        "doctor",
        "steps of a script in which the doctor looks at what Argo CD itself delivers, and its fixes heal",
        DOCTOR,
    ),
    ("helm", "commands on charts of our own, printed to the byte as by Helm 4.2.4", ""),
    ("helm3", "the same commands by Helm 3.22.0: what both Helms print, and so do we", HELM_3),
    (
        "kubectl",
        "functions of the scripts with which Kubernetes 1.36 tests kubectl (test/cmd), on the embedded cluster",
        KUBECTL,
    ),
    ("kustomizations", "kustomizations of our own, printed to the byte as by Kustomize 5.8.1", ""),
    (
        "kustomize-changed",
        "kustomizations with a line or two changed at random: the same print, or both refuse",
        CHANGED,
    ),
    ("rights", "requests under random policies, answered as by the casbin that Argo CD asks", ""),
    ("shapes", "answers over REST, and paths, as Argo CD publishes their shapes", ""),
    ("templates", "random templates, evaluated as by Go's text/template with sprig", ""),
];

const DOCTOR: &str = "Argo CD's own controller and repository server deliver to a real control plane whose kubelets are played, so that \
    what only a kubelet says is not seen here.";

const KUBECTL: &str = "Every function has a cluster of its own, set up as the scripts set up theirs: without nodes, without what admission adds \
    to pods, with their tokens and their root for clients, and with all rights for everybody. `inline` is what they do between two functions. \
    Their server and `kubectl` are of one commit, which is not asked for here (`ALLOW_SKEW`).";

const CHANGED: &str = "What is changed are our own cases and the recorded ones, always in the same way, so that a difference can be \
    seen again. Words of errors are not compared.";

const HELM_3: &str = "Lynceus prints what Helm 4 does. These are differences between the two Helms, on charts that look for \
    corners of Helm 4; they say nothing about how often an everyday chart meets one.";

/// Why cases of counted sets differ, by the words that those who count use; cases in files say the whole sentence.
const REASONS: [(&str, &str); 18] = [
    ("words", "both refuse, in other words"),
    ("documents", "Helm 3 cuts blank lines off the ends of documents, and has others for `--show-only`"),
    ("functions", "functions that only Helm 4 has"),
    ("chart", "`.Chart` as a whole has the names of Chart.yaml in Helm 3, and refuses others"),
    ("values", "values that are null, or of several documents, are merged otherwise"),
    ("types", "Go types have other names"),
    ("strict", "only one of them refuses"),
    (
        "twice",
        "a key that a map has twice is refused when it is read, also where Kustomize happens to drop one of the two",
    ),
    ("second", "a second JSON value in a file is refused; Kustomize forgets it without a word"),
    (
        "selector",
        "a number as a name in a plugin's selector or field is taken as text, as everywhere else in a plugin",
    ),
    ("panic", "Kustomize ends with a panic of Go"),
    (
        "null",
        "a variable that stands for a null leaves nothing in a text; Kustomize leaves it as it was written",
    ),
    ("key", "a list item whose key is itself a list or a map is merged once; Kustomize repeats it"),
    ("lint", "`lint` looks at other things"),
    (
        "merged",
        "Argo CD stops with a panic at values of a list that are put over values of clusters, because Go's types differ",
    ),
    (
        "nothing",
        "Argo CD writes a line to its log and generates nothing, and would delete every Application that there is",
    ),
    ("unread", "a policy that cannot be read takes no rights from the administrator"),
    (
        "root",
        "it counts on namespaces without a root certificate; the scripts never call it, and on their own control plane it fails too",
    ),
];

/// Enters what another program has counted. Cases that differ for a reason are given as `reason=case`.
fn count(set: &str, passed: &str, ran: &str, differing: &[String]) -> Result<bool, String> {
    let number = |text: &str| text.parse::<usize>().map_err(|error| format!("{text}: {error}"));
    let (passed, ran) = (number(passed)?, number(ran)?);
    let known = COUNTED.iter().find(|(name, ..)| *name == set);
    let (set, what, remark) = known.ok_or_else(|| format!("there is no set {set:?}"))?;
    let mut report = Report::default();
    for case in 0..ran.saturating_sub(differing.len()) {
        let went = if case < passed { Ok(()) } else { Err("it went otherwise".to_owned()) };
        report.count(&format!("case {case}"), went);
    }
    for case in differing {
        let (word, case) = case.split_once('=').unwrap_or(("", case));
        let known = |(name, reason): &&(&str, &str)| [*name, *reason].contains(&word);
        let reason = REASONS.iter().find(known).map(|(_, reason)| *reason);
        report.count_with(case, Err("it went otherwise".to_owned()), reason);
    }
    let mut ledger = Ledger::read()?;
    let fine = ledger.enter(set, what, &report, remark);
    ledger.write()?;
    Ok(fine)
}

fn first_lines(text: &str) -> String {
    text.lines().take(4).collect::<Vec<_>>().join("\n    ").chars().take(800).collect()
}
