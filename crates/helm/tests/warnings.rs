//! What Helm says beside its output: the lines that Helm 4.2.4 writes, those of one step in the order of the keys.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::sync::Arc;
use std::time::Duration;

use lynceus_files::{FilePath, MemoryTree};
use lynceus_helm::{
    Capabilities, Chart, LintOptions, Options, Release, UserValues, ValueOptions, ValuesFile, Warning, World,
    lint, render,
};

/// A world that writes down what is said.
#[derive(Default)]
struct Heard(Vec<String>);

impl World for Heard {
    fn now(&self) -> Duration {
        Duration::ZERO
    }

    fn random(&mut self, bytes: &mut [u8]) {
        bytes.fill(7);
    }

    fn tell(&mut self, warning: &Warning) {
        self.0.push(warning.line());
    }
}

const CHART: [(&str, &str); 9] = [
    (
        "Chart.yaml",
        "apiVersion: v2\nname: a\nversion: 1.0.0\nicon: https://example.com/a.png\ndependencies:\n\
         - {name: sub, version: 1.0.0, condition: \"sub.when,some.where\", tags: [t],\n   \
            import-values: [nope, {child: missing, parent: p}, {child: data, parent: imp}]}\n\
         - {name: glob, version: 1.0.0}\n",
    ),
    (
        "values.yaml",
        "t1: {a: {b: 1}, c: {d: [1, {x: text}]}}\nt2: 5\nsub: {when: \"yes\", deep: {m: {q: x}}}\n\
         tags: {t: \"on\"}\nimp: 5\n",
    ),
    ("requirements.yaml", ""),
    ("templates/t.yaml", "# {{ required \"too little\" .Values.nothing }}\n"),
    ("charts/sub/Chart.yaml", "apiVersion: v2\nname: sub\nversion: 1.0.0\n"),
    ("charts/sub/values.yaml", "deep: {m: 5}\ndata: {z: 1}\nglobal: {g: {h: 1}, s: 3}\n"),
    ("charts/sub/templates/t.yaml", ""),
    ("charts/glob/Chart.yaml", "apiVersion: v2\nname: glob\nversion: 1.0.0\n"),
    ("charts/glob/values.yaml", "global: {g: 7}\n"),
];

fn tree() -> MemoryTree {
    let mut tree = MemoryTree::new();
    for (name, text) in CHART {
        tree.insert(FilePath::new(name).unwrap(), text.as_bytes().to_vec());
    }
    tree
}

fn values(text: &str) -> UserValues {
    let file = ValuesFile { name: "v.yaml".to_owned(), data: text.as_bytes().to_vec().into() };
    let options = ValueOptions { files: vec![file], ..ValueOptions::default() };
    options.merge(&mut |name| Err(format!("there is no {name}"))).unwrap()
}

const GIVEN: &str = "t1: {a: 5, c: {d: {e: 1}}}\nt2: {k: v}\nglobal: {g: {h: {i: 1}}, s: {t: 1}}\n";

#[test]
fn what_is_said_is_heard_though_the_chart_cannot_be_rendered() {
    let chart = Arc::new(Chart::from_tree(&tree(), &FilePath::root()).unwrap());
    let mut heard = Heard::default();
    let release = Release::new("r", "default");
    let failed =
        render(&chart, &values(GIVEN), &release, &Capabilities::default(), &Options::default(), &mut heard);
    assert!(failed.unwrap_err().to_string().contains("too little"));
    let own: Vec<String> = chart.warnings().iter().map(Warning::line).collect();
    assert_eq!(own.join("\n"), OWN);
    assert_eq!(heard.0.join("\n"), RENDERED);
}

#[test]
fn whoever_looks_for_mistakes_hears_it_too() {
    let mut heard = Heard::default();
    let options = LintOptions {
        directory: "a".to_owned(),
        namespace: "default".to_owned(),
        kube_version: None,
        skip_schema_validation: false,
    };
    let findings = lint(&tree(), &FilePath::root(), &values(GIVEN), &options, &mut heard);
    assert_eq!(findings, []);
    let required = "level=WARN msg=\"missing required value\" message=\"too little\"";
    assert_eq!(heard.0.join("\n"), format!("{FILE}\n{OWN}\n{RENDERED}\n{AGAIN}\n{required}\n{OWN}"));
}

const OWN: &str = r#"level=INFO msg="Warning: Dependencies are handled in Chart.yaml since apiVersion \"v2\". We recommend migrating dependencies to Chart.yaml.""#;

const FILE: &str = r#"level=INFO msg="warning: cannot overwrite table with non table for t1.a (map[b:1])"
level=INFO msg="warning: destination for t1.c.d is a table. Ignoring non-table value ([1 map[x:text]])"
level=INFO msg="warning: destination for t2 is a table. Ignoring non-table value (5)""#;

const RENDERED: &str = r#"level=INFO msg="warning: cannot overwrite table with non table for a.t1.a (map[b:1])"
level=INFO msg="warning: destination for a.t1.c.d is a table. Ignoring non-table value ([1 map[x:text]])"
level=INFO msg="warning: skipped value for a.t2: Not a table."
level=INFO msg="warning: destination for a.sub.deep.m is a table. Ignoring non-table value (5)"
level=INFO msg="warning: destination for a.sub.global.g.h is a table. Ignoring non-table value (1)"
level=INFO msg="warning: destination for a.sub.global.s is a table. Ignoring non-table value (3)"
level=INFO msg="warning: destination for a.glob.global.g is a table. Ignoring non-table value (7)"
level=WARN msg="returned non-bool value" tag=t chart=sub
level=WARN msg="returned non-bool value" path=sub.when chart=sub
level=INFO msg="warning: destination for a.sub.deep.m is a table. Ignoring non-table value (5)"
level=WARN msg="ImportValues missing table" error="\"exports\" is not a table"
level=WARN msg="ImportValues missing table from chart" chart=sub error="\"missing\" is not a table"
level=INFO msg="warning: cannot overwrite table with non table for imp (map[z:1])"
level=INFO msg="warning: cannot overwrite table with non table for a.t1.a (map[b:1])"
level=INFO msg="warning: destination for a.t1.c.d is a table. Ignoring non-table value ([1 map[x:text]])"
level=INFO msg="warning: skipped value for a.t2: Not a table."
level=INFO msg="warning: destination for a.g.h is a table. Ignoring non-table value (1)"
level=INFO msg="Conflict: cannot merge map onto non-map for \"s\". Skipping."
level=INFO msg="warning: destination for a.sub.deep.m is a table. Ignoring non-table value (5)"
level=INFO msg="warning: destination for a.sub.global.g.h is a table. Ignoring non-table value (1)"
level=INFO msg="Conflict: cannot merge map onto non-map for \"g\". Skipping.""#;

/// What is said when the values are merged once more.
const AGAIN: &str = r#"level=INFO msg="warning: destination for a.sub.global.g.h is a table. Ignoring non-table value (1)"
level=INFO msg="warning: cannot overwrite table with non table for a.t1.a (map[b:1])"
level=INFO msg="warning: destination for a.t1.c.d is a table. Ignoring non-table value ([1 map[x:text]])"
level=INFO msg="warning: skipped value for a.t2: Not a table."
level=INFO msg="Conflict: cannot merge map onto non-map for \"s\". Skipping."
level=INFO msg="warning: destination for a.sub.deep.m is a table. Ignoring non-table value (5)"
level=INFO msg="warning: destination for a.sub.global.g.h is a table. Ignoring non-table value (1)"
level=INFO msg="Conflict: cannot merge map onto non-map for \"g\". Skipping.""#;
