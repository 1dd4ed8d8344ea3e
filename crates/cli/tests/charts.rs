//! `lynceus helm lint` and `template` as a user types them. What is expected is what Helm 4.2.4 says to the same.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has to stop")]

#[allow(dead_code, reason = "not every test needs everything")]
#[path = "support/folder.rs"]
mod folder;

use folder::Folder;

/// A `Chart.yaml` that nothing can be said about.
fn chart(name: &str) -> String {
    format!("apiVersion: v2\nname: {name}\nversion: 1.0.0\nicon: https://example.com/icon.png\n")
}

/// What is printed, the errors below, and the exit code if it is not 0.
fn says(folder: &Folder, line: &str) -> String {
    let words: Vec<&str> = line.split(' ').collect();
    let (code, out, error) = folder.run(&words);
    let code = if code == 0 { String::new() } else { format!("[{code}]\n") };
    let home = folder.0.canonicalize().unwrap();
    format!("{out}{error}{code}").replace(home.to_str().unwrap(), "HOME")
}

#[test]
fn a_value_that_is_no_table_is_a_warning_once() {
    let folder = Folder::new(&[
        ("c/Chart.yaml", &chart("c")),
        ("c/values.yaml", "u: text\n"),
        ("c/templates/a.yaml", "kind: A\n"),
        ("v.yaml", "u: {a: 1}\n"),
    ]);
    assert_eq!(
        says(&folder, "helm template r c -f v.yaml"),
        "---\n# Source: c/templates/a.yaml\nkind: A\n\
         level=INFO msg=\"warning: skipped value for c.u: Not a table.\"\n"
    );
}

#[test]
fn warnings_are_not_lost_with_the_manifests() {
    let folder = Folder::new(&[
        ("c/Chart.yaml", &format!("{}deprecated: true\n", chart("c"))),
        ("c/requirements.yaml", ""),
        ("c/values.yaml", "u: text\n"),
        ("c/templates/a.yaml", "{{ fail \"no\" }}\n"),
        ("v.yaml", "u: {a: 1}\n"),
    ]);
    let before = "level=INFO msg=\"Warning: Dependencies are handled in Chart.yaml since apiVersion \\\"v2\\\". We \
                  recommend migrating dependencies to Chart.yaml.\"\nlevel=WARN msg=\"this chart is deprecated\"\n";
    assert_eq!(
        says(&folder, "helm template r c -f v.yaml"),
        format!(
            "{before}level=INFO msg=\"warning: skipped value for c.u: Not a table.\"\n\
             Error: execution error at (c/templates/a.yaml:1:3): no\n\n\
             Use --debug flag to render out invalid YAML\n[1]\n"
        )
    );
    let refused = says(&folder, "helm template R c");
    let error = refused.strip_prefix(before).unwrap().lines().next().unwrap();
    let begin =
        "level=ERROR msg=\"release name check failed\" error=\"release name \\\"R\\\": invalid release name";
    assert!(error.starts_with(begin), "{error}");
}

#[test]
fn what_is_no_chart_is_told_in_one_line() {
    let folder =
        Folder::new(&[("empty/README.md", ""), ("c/Chart.yaml", &chart("c")), ("c/values.yaml", "")]);
    assert_eq!(
        says(&folder, "helm lint ./empty nowhere c empty/README.md"),
        "==> Linting ./empty
Error unable to check Chart.yaml file in chart: stat empty/Chart.yaml: no such file or directory

==> Linting nowhere
Error unable to check Chart.yaml file in chart: stat nowhere/Chart.yaml: no such file or directory

==> Linting c
[WARNING] templates/: directory does not exist

==> Linting empty/README.md
Error unable to check Chart.yaml file in chart: stat empty/README.md/Chart.yaml: not a directory

Error: 4 chart(s) linted, 3 chart(s) failed
[1]
"
    );
}

#[test]
fn lint_wants_to_know_of_which_chart() {
    let folder = Folder::new(&[("Chart.yaml", &chart("c"))]);
    let usage = "Usage:  lynceus helm lint PATH [flags]";
    assert_eq!(
        says(&folder, "helm lint"),
        format!("Error: \"lynceus helm lint\" requires at least 1 argument\n\n{usage}\n[1]\n")
    );
}

#[test]
fn the_directory_of_a_chart_that_did_not_ask_for_another_is_told_from_the_root_on() {
    let folder = Folder::new(&[
        ("c/Chart.yaml", &chart("c")),
        ("c/values.yaml", ""),
        ("c/templates/a.yaml", ""),
        ("c/charts/d/Chart.yaml", &chart("d")),
    ]);
    assert_eq!(
        says(&folder, "helm lint ./c/../c"),
        "==> Linting ./c/../c
[ERROR] HOME/c: chart metadata is missing these dependencies: d

Error: 1 chart(s) linted, 1 chart(s) failed
[1]
"
    );
}

#[cfg(unix)]
#[test]
fn what_is_missing_is_told_from_the_root_on() {
    let folder = Folder::new(&[
        ("empty/README.md", ""),
        ("c/Chart.yaml", &chart("c")),
        ("c/values.yaml", ""),
        ("c/templates/a.yaml", ""),
    ]);
    std::os::unix::fs::symlink("../nowhere/crds", folder.0.join("c/crds")).unwrap();
    let missing = "HOME/empty/Chart.yaml";
    assert_eq!(
        says(&folder, "helm template r empty"),
        format!(
            "Error: unable to detect chart at {missing}: open {missing}: no such file or directory\n[1]\n"
        )
    );
    let why = "error evaluating symlink HOME/c/crds: lstat HOME/nowhere: no such file or directory";
    assert_eq!(says(&folder, "helm template r c"), format!("Error: {why}\n[1]\n"));
    assert_eq!(
        says(&folder, "helm lint c"),
        format!(
            "==> Linting c
[ERROR] templates/: {why}
[ERROR] : unable to load chart\n\t{why}

Error: 1 chart(s) linted, 1 chart(s) failed
[1]
"
        )
    );
}

/// A `.tgz` of some files.
fn packed(files: &[(&str, &str)]) -> Vec<u8> {
    let packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    let mut archive = tar::Builder::new(packed);
    for (name, text) in files {
        let mut header = tar::Header::new_ustar();
        header.set_mode(0o644);
        header.set_size(text.len() as u64);
        archive.append_data(&mut header, name, text.as_bytes()).unwrap();
    }
    archive.into_inner().unwrap().finish().unwrap()
}

#[test]
fn an_archive_is_looked_into() {
    let folder = Folder::new(&[("broken.tgz", "this is no archive")]);
    folder.write("c.tgz", &packed(&[("c/Chart.yaml", &chart("c")), ("c/templates/a.json", "{}")]));
    folder.write("none.tar.gz", &packed(&[("c/README.md", "")]));
    assert_eq!(
        says(&folder, "helm lint c.tgz none.tar.gz nowhere.tgz broken.tgz"),
        "==> Linting c.tgz
[INFO] values.yaml: file does not exist
[ERROR] templates/a.json: file extension '.json' not valid. Valid extensions are .yaml, .yml, .tpl, or .txt

==> Linting none.tar.gz
Error unable to extract tarball: chart name not specified

==> Linting nowhere.tgz
Error unable to open tarball: open nowhere.tgz: no such file or directory

==> Linting broken.tgz
Error unable to extract tarball: gzip: invalid header

Error: 4 chart(s) linted, 4 chart(s) failed
[1]
"
    );
}

#[test]
fn charts_inside_of_a_chart_are_found_however_deep() {
    let folder = Folder::new(&[("c/Chart.yaml", &chart("c")), ("c/values.yaml", "")]);
    for inner in ["a", "a/charts/b", "a/examples/some/e", "a-z"] {
        folder.write(&format!("c/charts/{inner}/Chart.yaml"), chart("c").as_bytes());
        folder.write(&format!("c/charts/{inner}/values.yaml"), b"");
    }
    folder.write("c/charts/p.tgz", &packed(&[("p/Chart.yaml", &chart("p")), ("p/values.yaml", "a: 1")]));
    let said = says(&folder, "helm lint --with-subcharts ./c");
    let charts: Vec<&str> = said.lines().filter_map(|line| line.strip_prefix("==> Linting ")).collect();
    assert_eq!(
        charts,
        [
            "./c",
            "c/charts/a",
            "c/charts/a/charts/b",
            "c/charts/a/examples/some/e",
            "c/charts/a-z",
            "c/charts/p.tgz"
        ],
        "{said}"
    );
}
