//! What a command does whose output nobody reads.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has to stop")]

mod support;

use std::process::Stdio;

use support::Home;

/// What a command says on stderr, and its exit code, when its output goes into a pipe that is closed.
fn unread(home: &Home, line: &str) -> (String, Option<i32>) {
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let words: Vec<&str> = line.split(' ').collect();
    let child = home.command(&words).stdout(writer).stderr(Stdio::piped()).spawn().unwrap();
    let output = child.wait_with_output().unwrap();
    (String::from_utf8(output.stderr).unwrap(), output.status.code())
}

#[test]
fn a_command_whose_output_nobody_reads_ends_quietly_as_others_do() {
    let home = Home::new();
    let write = |path: &str, text: &str| {
        let path = home.folder.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    };
    let config = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n";
    write("chart/Chart.yaml", "apiVersion: v2\nname: chart\nversion: 1.0.0\n");
    write("chart/templates/a.yaml", config);
    write("base/kustomization.yaml", "resources: [a.yaml]\n");
    write("base/a.yaml", config);
    for line in [
        "completion bash",
        "completion zsh",
        "completion fish",
        "completion elvish",
        "completion powershell",
        "man",
        "--help",
        "app --help",
        "--version",
        "version --client",
        "crds",
        "install",
        "explain",
        "helm template chart",
        "helm show chart chart",
        "kustomize build base",
        "render base",
    ] {
        assert_eq!(unread(&home, line), (String::new(), Some(141)), "{line}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn output_that_cannot_be_written_is_told_without_a_backtrace() {
    let home = Home::new();
    std::fs::create_dir_all(&home.folder).unwrap();
    for line in ["completion bash", "crds", "man"] {
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let words: Vec<&str> = line.split(' ').collect();
        let child = home.command(&words).stdout(full).stderr(Stdio::piped()).spawn().unwrap();
        let output = child.wait_with_output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(20), "{line}: {said}");
        assert!(
            said.starts_with("error: failed printing to stdout: ") && said.lines().count() == 1,
            "{said}"
        );
    }
}
