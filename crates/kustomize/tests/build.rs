//! Whole builds: a tree of files in, manifests or what is wrong out.
#![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]

use std::sync::Arc;
use std::time::Duration;

use lynceus_files::{FilePath, MemoryTree};
use lynceus_helm::World;
use lynceus_kustomize::{
    BuildError, Fetched, Got, HelmOptions, LoadRestriction, Need, Options, Reorder, build,
};

struct Still;

impl World for Still {
    fn now(&self) -> Duration {
        Duration::ZERO
    }

    fn random(&mut self, bytes: &mut [u8]) {
        bytes.fill(0);
    }
}

/// A tree of files that begin with lines of `-- path`; `-- path -> target` is a link.
fn tree(text: &str) -> MemoryTree {
    let mut tree = MemoryTree::new();
    for file in text.split("-- ").skip(1) {
        let (path, content) = file.split_once('\n').unwrap();
        match path.split_once(" -> ") {
            Some((path, target)) => tree.insert_link(FilePath::new(path).unwrap(), target),
            None => tree.insert(FilePath::new(path).unwrap(), content.as_bytes()),
        }
    }
    tree
}

fn options() -> Options {
    Options { reorder: Reorder::None, helm: Some(HelmOptions::default()), ..Options::default() }
}

fn run(files: &str, root: &str, options: &Options, fetched: &Fetched) -> Result<String, BuildError> {
    let built = build(&tree(files), &FilePath::new(root).unwrap(), options, fetched, &mut Still)?;
    Ok(built.to_yaml())
}

/// The kinds and names of what is built.
fn names(files: &str, root: &str) -> Result<Vec<String>, String> {
    names_with(files, root, &options(), &Fetched::new())
}

fn names_with(files: &str, root: &str, options: &Options, fetched: &Fetched) -> Result<Vec<String>, String> {
    let text = run(files, root, options, fetched).map_err(|error| error.to_string())?;
    Ok(text.lines().filter_map(|line| line.strip_prefix("  name: ")).map(str::to_owned).collect())
}

fn config_map(name: &str) -> String {
    format!("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {name}\n")
}

#[test]
fn resources_come_in_the_order_in_which_they_are_named() {
    let files = format!(
        "-- kustomization.yaml\nresources: [base, b.yaml]\ncomponents: [comp]\nconfigMapGenerator:\n- {{name: g, literals: \
         [x=1]}}\n-- b.yaml\n{}-- base/kustomization.yml\nresources: [z.yaml, a.yaml]\n-- base/z.yaml\n{}-- \
         base/a.yaml\n{}-- comp/Kustomization\nkind: Component\nresources: [c.yaml]\n-- comp/c.yaml\n{}",
        config_map("b"),
        config_map("z"),
        config_map("a"),
        config_map("c")
    );
    assert_eq!(names(&files, "").unwrap(), ["z", "a", "b", "g-hmg6f82fh6", "c"]);
}

#[test]
fn a_directory_holds_one_kustomization() {
    let found = names("-- a/x\n-- kustomization.yaml\nresources: [a]\n", "");
    assert!(found.unwrap_err().contains(
        "unable to find one of 'kustomization.yaml', 'kustomization.yml' or 'Kustomization' in directory '/a'"
    ));
    let found = names("-- kustomization.yaml\nresources: []\n-- Kustomization\nresources: []\n", "");
    assert!(found.unwrap_err().contains("Found multiple kustomization files"));
}

#[test]
fn an_error_names_the_kustomization_the_field_and_the_line() {
    let files =
        "-- kustomization.yaml\nresources:\n- base\n-- base/kustomization.yaml\nresources:\n- gone.yaml\n";
    let error = names(files, "").unwrap_err();
    assert!(error.starts_with("base/kustomization.yaml: resources[0]: "), "{error}");
    assert!(error.ends_with("(base/kustomization.yaml:2:3)"), "{error}");
}

#[test]
fn files_are_read_in_the_own_directory_only_wherever_links_lead() {
    let files = format!(
        "-- o/kustomization.yaml\nresources: [../r.yaml]\n-- r.yaml\n{}-- l/kustomization.yaml\nresources: \
         [link.yaml]\n-- l/link.yaml -> ../r.yaml\n-- k/kustomization.yaml\nresources: [link.yaml]\n-- k/real.yaml\n{}-- \
         k/link.yaml -> real.yaml\n",
        config_map("r"),
        config_map("k")
    );
    for root in ["o", "l"] {
        let error = names(&files, root).unwrap_err();
        assert!(error.contains("security; file") && error.contains("is not in or below"), "{error}");
        let open = Options { load_restriction: LoadRestriction::None, ..options() };
        assert_eq!(names_with(&files, root, &open, &Fetched::new()).unwrap(), ["r"]);
    }
    assert_eq!(names(&files, "k").unwrap(), ["k"]);
}

#[test]
fn a_kustomization_does_not_build_on_itself() {
    let files = "-- a/kustomization.yaml\nresources: [../b]\n-- b/kustomization.yaml\nresources: [../a]\n";
    assert!(
        names(files, "a")
            .unwrap_err()
            .contains("cycle detected: candidate root '/a' contains visited root '/a'")
    );
    let files = "-- kustomization.yaml\nresources: [a]\n-- a/kustomization.yaml\nresources: [..]\n";
    assert!(names(files, "a").unwrap_err().contains("cycle detected"));
}

#[test]
fn components_and_kustomizations_have_their_own_fields() {
    let files = "-- kustomization.yaml\nresources: [c]\n-- c/kustomization.yaml\nkind: Component\nresources: []\n-- \
                 k/kustomization.yaml\ncomponents: [../b]\n-- b/kustomization.yaml\nresources: []\n";
    assert!(names(files, "").unwrap_err().contains("expected kind != 'Component' for path '/c'"));
    assert!(
        names(files, "k")
            .unwrap_err()
            .contains("expected kind 'Component' for path '/b' but got 'Kustomization'")
    );
}

#[test]
fn everything_from_elsewhere_is_asked_for_at_once() {
    let files = "-- kustomization.yaml\nresources:\n- https://example.com/a.yaml\n- github.com/o/r//base?ref=v1\n- \
                 https://github.com/o/s//x?ref=main\nhelmCharts:\n- {name: web, repo: https://charts.example.com, version: \
                 1.0.0}\n";
    let error = run(files, "", &options(), &Fetched::new()).unwrap_err();
    let repository = |url: &str, reference: &str| Need::Repository {
        url: url.into(),
        reference: reference.into(),
        submodules: true,
    };
    let expected = vec![
        Need::File { url: "https://example.com/a.yaml".into() },
        repository("https://github.com/o/r", "v1"),
        repository("https://github.com/o/s", "main"),
        Need::Chart {
            repository: "https://charts.example.com".into(),
            name: "web".into(),
            version: "1.0.0".into(),
        },
    ];
    assert_eq!(error, BuildError::Needs(expected));
}

#[test]
fn what_was_got_is_built() {
    let files =
        "-- kustomization.yaml\nresources:\n- https://example.com/a.yaml\n- github.com/o/r//base?ref=v1\n";
    let inner = format!(
        "-- base/kustomization.yaml\nresources: [../other, r.yaml]\n-- base/r.yaml\n{}-- \
         other/kustomization.yaml\nresources: [o.yaml]\n-- other/o.yaml\n{}",
        config_map("r"),
        config_map("o")
    );
    let fetched = Fetched::from([
        (
            Need::File { url: "https://example.com/a.yaml".into() },
            Got::Bytes(config_map("a").into_bytes().into()),
        ),
        (
            Need::Repository {
                url: "https://github.com/o/r".into(),
                reference: "v1".into(),
                submodules: true,
            },
            Got::Tree(Arc::new(tree(&inner))),
        ),
    ]);
    assert_eq!(names_with(files, "", &options(), &fetched).unwrap(), ["a", "o", "r"]);
}

#[test]
fn a_url_that_is_no_file_may_be_a_repository() {
    let page = "-- kustomization.yaml\nresources: [\"https://o.github.io/r/a.yaml\"]\n";
    let error = run(page, "", &options(), &Fetched::new()).unwrap_err();
    assert_eq!(error, BuildError::Needs(vec![Need::File { url: "https://o.github.io/r/a.yaml".into() }]));
    let url = "https://github.com/o/r/base";
    let files = format!("-- kustomization.yaml\nresources: [\"{url}\"]\n");
    let mut fetched = Fetched::from([(Need::File { url: url.into() }, Got::Failed("404".into()))]);
    let need =
        Need::Repository { url: "https://github.com/o/r".into(), reference: "".into(), submodules: true };
    let error = run(&files, "", &options(), &fetched).unwrap_err();
    assert_eq!(error, BuildError::Needs(vec![need.clone()]));
    let inner =
        format!("-- base/kustomization.yaml\nresources: [r.yaml]\n-- base/r.yaml\n{}", config_map("r"));
    fetched.insert(need, Got::Tree(Arc::new(tree(&inner))));
    assert_eq!(names_with(&files, "", &options(), &fetched).unwrap(), ["r"]);
}

#[test]
fn a_file_that_cannot_be_got_is_an_error() {
    let url = "https://example.com/a.yaml";
    let files = format!("-- kustomization.yaml\nresources: [\"{url}\"]\n");
    let fetched = Fetched::from([(Need::File { url: url.into() }, Got::Failed("status code 404".into()))]);
    let error = names_with(&files, "", &options(), &fetched).unwrap_err();
    assert!(error.contains("HTTP Error: status code 404"), "{error}");
}

#[test]
fn a_repository_keeps_to_itself() {
    let files = "-- kustomization.yaml\nresources: [\"github.com/o/r//base\"]\n";
    let need =
        Need::Repository { url: "https://github.com/o/r".into(), reference: "".into(), submodules: true };
    for (inner, expected) in [
        ("resources: [../../outside]", "must be within the repo"),
        ("resources: [\"github.com/o/r//base\"]", "cycle detected: URI"),
        ("resources: [../r.yaml]", "is not in or below"),
    ] {
        let inner = format!("-- base/kustomization.yaml\n{inner}\n-- r.yaml\n{}", config_map("r"));
        let fetched = Fetched::from([(need.clone(), Got::Tree(Arc::new(tree(&inner))))]);
        let open = Options { load_restriction: LoadRestriction::None, ..options() };
        let error = names_with(files, "", &open, &fetched).unwrap_err();
        assert!(error.contains(expected), "{error}");
    }
}

#[test]
fn only_built_in_plugins_are_known() {
    let files = "-- kustomization.yaml\ngenerators:\n- |-\n  apiVersion: example.com/v1\n  kind: Magic\n  metadata:\n    \
                 name: x\n";
    let error = names(files, "").unwrap_err();
    assert!(error.contains("external plugins disabled; unable to load external plugin 'Magic'"), "{error}");
}

#[test]
fn where_a_resource_came_from_is_told_to_who_asks() {
    let files = format!(
        "-- o/kustomization.yaml\nresources: [../base]\nbuildMetadata: [originAnnotations]\n-- \
         base/kustomization.yaml\nresources: [r.yaml]\nconfigMapGenerator:\n- {{name: g, literals: [x=1]}}\n-- base/r.yaml\n{}",
        config_map("r")
    );
    let text = run(&files, "o", &options(), &Fetched::new()).unwrap();
    assert!(text.contains("config.kubernetes.io/origin: |\n      path: ../base/r.yaml\n"), "{text}");
    let generated = "config.kubernetes.io/origin: |\n      configuredIn: ../base/kustomization.yaml\n      \
                     configuredBy:\n        apiVersion: builtin\n        kind: ConfigMapGenerator\n";
    assert!(text.contains(generated), "{text}");
}

#[test]
fn a_chart_of_the_tree_is_rendered() {
    let files = "-- kustomization.yaml\nhelmCharts:\n- name: web\n  releaseName: r\n  valuesInline: {b: {d: 4}}\n-- \
                 charts/web/Chart.yaml\napiVersion: v2\nname: web\nversion: 1.0.0\n-- charts/web/values.yaml\na: 1\nb: {c: \
                 2, d: 3}\n-- charts/web/templates/a.yaml\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {{ \
                 .Release.Name }}-web\ndata:\n  values: {{ toJson .Values | quote }}\n";
    let text = run(files, "", &options(), &Fetched::new()).unwrap();
    assert!(text.contains("name: r-web"), "{text}");
    assert!(text.contains(r#"{"a":1,"b":{"c":2,"d":4}}"#), "{text}");
    let error = run(files, "", &Options::default(), &Fetched::new()).unwrap_err();
    assert!(error.to_string().contains("must specify --enable-helm"));
}

#[test]
fn what_may_be_secret_is_not_told_in_errors() {
    let secret = "-- r.yaml\napiVersion: v1\nkind: Secret\nmetadata: {name: s}\nstringData: {p: hunter2}\n";
    let replacement = |more: &str| {
        format!(
            "-- kustomization.yaml\nresources: [r.yaml]\nreplacements:\n- source: {{kind: Secret, {more}}}\n  \
             targets: [{{select: {{kind: Secret}}, fieldPaths: [metadata.generation]}}]\n{secret}"
        )
    };
    for files in [
        "-- kustomization.yaml\nsecretGenerator: [{name: s, literals: [a=hunter2, hunter2]}]\n".to_owned(),
        replacement("fieldPath: stringData.p.x"),
        replacement("fieldPath: stringData.p, options: {delimiter: '-', index: 9}"),
        format!("-- kustomization.yaml\nresources: [r.yaml]\npatches: [{{patch: '{{{{ hunter2'}}]\n{secret}"),
        format!(
            "-- kustomization.yaml\nresources: [r.yaml]\npatches:\n- patch: |-\n    apiVersion: v1\n    kind: Secret\n    \
             metadata: {{name: s}}\n    stringData: {{p: {{x: hunter2}}}}\n{secret}"
        ),
    ] {
        let built = build(&tree(&files), &FilePath::root(), &options(), &Fetched::new(), &mut Still);
        let BuildError::Failed(error) = built.unwrap_err() else { panic!("{files}") };
        assert!(!format!("{error} {:?}", error.hint).contains("hunter2"), "{error}\n{files}");
    }
}

fn hint(files: &str) -> String {
    match run(files, "", &options(), &Fetched::new()) {
        Err(BuildError::Failed(error)) => error.hint.map(String::from).unwrap_or_default(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn of_two_resources_with_one_id_both_places_are_told() {
    let (one, two) = (config_map("a"), config_map("a"));
    let files =
        format!("-- kustomization.yaml\nresources: [x.yaml, y.yaml]\n-- x.yaml\n{one}-- y.yaml\n{two}");
    assert_eq!(hint(&files), "the other one is at x.yaml:1:1");
    let generator = "configMapGenerator: [{name: a, literals: [x=1]}]";
    let files = format!("-- kustomization.yaml\nresources: [x.yaml]\n{generator}\n-- x.yaml\n{one}");
    assert_eq!(hint(&files), "the other one is at x.yaml:1:1");
}

#[test]
fn the_operation_that_fails_and_the_target_that_lacks_a_field_are_told() {
    let one = config_map("a");
    let patch = "patches:\n- target: {kind: ConfigMap}\n  patch: |-\n    - {op: add, path: /data, value: {}}\n    - {op: remove, path: \
                 /spec/z}\n";
    let files = format!("-- kustomization.yaml\nresources: [x.yaml]\n{patch}-- x.yaml\n{one}");
    assert!(hint(&files).starts_with("operation 2 of the patch fails: remove /spec/z"), "{}", hint(&files));
    let copy = "replacements:\n- source: {kind: ConfigMap}\n  targets: [{select: {kind: ConfigMap}, fieldPaths: [data.z]}]\n";
    let files = format!("-- kustomization.yaml\nresources: [x.yaml]\n{copy}-- x.yaml\n{one}");
    assert_eq!(hint(&files), "the target is data.z of ConfigMap.v1.[noGrp]/a.[noNs]");
}
