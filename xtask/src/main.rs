//! The project's chores: `cargo xtask tidy`, and what else stands in `USAGE`.
#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a command line tool for the project's own people"
)]

mod argocd;
mod bench;
mod cases;
mod compat;
mod e2e;
mod fuzz;
mod helm;
mod kubectl;
mod kustomize;
mod rig;
mod run;
mod tidy;
mod ui;

use std::process::ExitCode;

const USAGE: &str = "\
usage: cargo xtask <chore> [arguments]

  tidy              check the house rules: crate edges, file lengths, purity, leftovers
  compat [--quick] [--cases DIR]
                    compare with recorded answers of the real programs, write docs/compatibility.md
  compat requests [FILE]...
                    send the same requests to a real API server and to the embedded one, and compare
  compat kubectl [--rig] [FUNCTION]...
                    run Kubernetes' own tests of kubectl against the embedded cluster, or against a real one
  compat argocd [shapes|server|core]...
                    hold REST answers against the shapes that Argo CD publishes, and drive the server over gRPC and a
                    cluster that Lynceus is installed in with Argo CD's own command line
  compat doctor [SCRIPT]...
                    have the doctor look at a cluster that Argo CD itself delivers to
  compat plugin [CASE]...
                    have Argo CD's own server for config-management plugins answer
  compat rbac [COUNT]
                    have random policies and requests answered by the casbin that Argo CD asks, and by Lynceus
  compat helm [--templates N] [DIR]...
                    render charts and random templates with Helm and with Lynceus, and compare to the byte
  compat kustomize [--mutations N] [DIR]...
                    build kustomizations, changed ones too, with Kustomize and with Lynceus, and compare to the byte
  rig up|down|status|restart|build
                    a real control plane on loopback, built once from its public sources
  e2e [sim|rig|faults] [ARGUMENT]...
                    a real kubectl on the embedded cluster and on a real one, the scenarios, and the fault run
  bench [--quick]   run every benchmark; with --quick a short run of each
  bench cluster|helm|kustomize|monorepo [--quick]
                    what watching a cluster costs; charts and kustomizations by the real programs and by Lynceus;
                    what a commit to a repository of many applications costs
  bench order       find the functions that rendering runs, and have the linker put them together (needs valgrind)
  fuzz [NAME]... [--seconds N]
                    random input for parsers and evaluators, ten minutes for each
  ui-test [--page URL]
                    use the page of a demo in a browser, and look for what some people cannot use (needs Node)
";

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let chore = arguments.next().unwrap_or_default();
    let rest: Vec<String> = arguments.collect();
    let result = match chore.as_str() {
        "tidy" => tidy::main(),
        "compat" => compat::main(&rest),
        "e2e" => e2e::main(&rest),
        "rig" => rig::main(&rest),
        "bench" => bench::main(&rest),
        "fuzz" => fuzz::main(&rest),
        "ui-test" => ui::main(&rest),
        "help" | "--help" | "-h" | "" => {
            println!("{USAGE}");
            return if chore.is_empty() { ExitCode::FAILURE } else { ExitCode::SUCCESS };
        }
        other => Err(format!("there is no chore named {other:?}\n\n{USAGE}")),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("error: {message}");
            ExitCode::FAILURE
        }
    }
}
