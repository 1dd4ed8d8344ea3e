//! What is told when something is wrong.

use std::sync::Arc;

use lynceus_appset::{Answer, Cluster, Destinations, Need, limits, validate};
use lynceus_files::{FilePath, MemoryTree};

use crate::{check, generated, listed, nothing, set};

const TEMPLATE: &str =
    "template: {metadata: {name: '{{name}}'}, spec: {project: default, destination: {name: in-cluster}}}";

fn told(spec: &str) -> String {
    let generation = generated(&set(&format!("{spec}\n{TEMPLATE}")), nothing);
    generation.faults.iter().map(|fault| format!("{fault}\n")).collect()
}

#[test]
fn a_fault_names_the_generator_and_the_element() {
    check(
        &told(
            "generators: [{list: {elements: [{name: a}]}}, {list: {elements: [{name: a}, {name: b, count: 1}]}}]",
        ),
        "spec.generators[1].list, element 1: count is a number and not a string; quote it, or set spec.goTemplate to true",
    );
    check(
        &told(
            "generators: [{matrix: {generators: [{list: {elements: [{a: b}]}}, {matrix: {generators: [{list: {}}]}}]}}]",
        ),
        "spec.generators[0].matrix.generators[1].matrix: a matrix has exactly two generators, and this one has 1",
    );
}

#[test]
fn a_fault_of_a_template_names_the_field_and_its_line() {
    let set = set(
        "goTemplate: true\ngoTemplateOptions: [missingkey=error]\ngenerators: [{list: {elements: [{name: a}]}}]\n\
         template: {metadata: {name: x}, spec: {project: default, source: {repoURL: r, helm: {values: \"a: 1\\nb: {{.b}}\\n\"}}, destination: {name: in-cluster}}}",
    );
    let generation = generated(&set, nothing);
    assert!(!generation.is_complete() && generation.applications.is_empty());
    let fault = &generation.faults[0];
    assert_eq!(fault.kind.reason(), "RenderTemplateParamsError");
    assert_eq!(
        fault.to_string(),
        "spec.generators[0].list, element 0, spec.source.helm.values line 2: template: base:2:5: executing \"base\" at <.b>: map has no entry for key \"b\""
    );
}

#[test]
fn an_unknown_generator_is_named() {
    check(
        &told("generators: [{lists: {elements: []}}]"),
        "spec.generators[0]: lists is no generator that is known here",
    );
    assert!(told("generators: []").contains("there is no generator"));
}

#[test]
fn what_cannot_be_had_stops_everything() {
    let told = told(
        "generators: [{list: {elements: [{name: a}]}}, {git: {repoURL: r, revision: main, directories: [{path: '*'}]}}]",
    );
    check(&told, "spec.generators[1].git: r at main cannot be had: r at main is not there in this test");
}

#[test]
fn a_file_is_named_that_cannot_be_read() {
    let set = set(&format!(
        "generators: [{{git: {{repoURL: r, revision: main, files: [{{path: '*.yaml'}}]}}}}]\n{TEMPLATE}"
    ));
    let generation = generated(&set, |need| {
        assert!(matches!(need, Need::Tree { .. }));
        let mut tree = MemoryTree::new();
        tree.insert(FilePath::new("a/ok.yaml").expect("a path"), b"name: ok".to_vec());
        tree.insert(FilePath::new("b/bad.yaml").expect("a path"), b"text".to_vec());
        Answer::Tree(Arc::new(tree))
    });
    let told = generation.faults[0].to_string();
    assert_eq!(
        told,
        "spec.generators[0].git, element 1 (file b/bad.yaml): it holds a string: it has to be a map, or a list of maps"
    );
}

#[test]
fn a_pull_request_of_a_repository_that_is_gone_can_be_none() {
    let spec = |rest: &str| {
        set(&format!("generators: [{{pullRequest: {{github: {{owner: o, repo: r}}{rest}}}}}]\n{TEMPLATE}"))
    };
    let gone = |_: &Need| Answer::NotFound("o/r".to_owned());
    assert!(generated(&spec(", continueOnRepoNotFoundError: true"), gone).is_complete());
    assert!(generated(&spec(""), gone).faults[0].message.contains("continueOnRepoNotFoundError"));
}

#[test]
fn too_many_elements_are_refused() {
    let many: Vec<String> = (0..300).map(|at| format!("{{name: n{at}}}")).collect();
    let list = format!("{{list: {{elements: [{}]}}}}", many.join(", "));
    let other = list.replace("name:", "other:");
    let told = told(&format!("generators: [{{matrix: {{generators: [{list}, {other}]}}}}]"));
    assert!(told.contains(&limits::ELEMENTS.to_string()), "{told}");
}

struct Known(Vec<Cluster>);

impl Destinations for Known {
    fn has_project(&self, name: &str) -> bool {
        name == "default"
    }

    fn clusters(&self) -> &[Cluster] {
        &self.0
    }
}

fn invalid(template: &str, names: &[&str]) -> String {
    let mut set = listed(names, "");
    set.spec.template = crate::read(template);
    let generation = generated(&set, nothing);
    let known = Known(vec![Cluster { name: "eu".into(), server: "https://eu".into(), ..Cluster::default() }]);
    validate(&generation, &known).iter().map(|one| format!("{}: {}\n", one.at, one.fault.message)).collect()
}

#[test]
fn names_projects_and_destinations_are_checked() {
    let app = |name: &str, project: &str, to: &str| {
        format!("{{metadata: {{name: '{name}'}}, spec: {{project: {project}, destination: {to}}}}}")
    };
    let local = "{name: in-cluster}";
    check(&invalid(&app("{{name}}", "default", local), &["a", "b"]), "");
    check(
        &invalid(&app("x", "default", local), &["a", "b"]),
        "1: there is already an Application named x, from spec.generators[0].list, element 0",
    );
    check(
        &invalid(&app("A_b", "default", local), &["a"]),
        "0: \"A_b\" cannot be the name of an Application: only small letters, digits, '-' and '.' may stand in it",
    );
    check(
        &invalid(&app("x", "other", local), &["a"]),
        "0: application references project other which does not exist",
    );
    check(
        &invalid(&app("x", "''", local), &["a"]),
        "0: its project is empty; write default for the project that is always there",
    );
    for (to, told) in [
        ("{}", "it has neither a name nor a server"),
        ("{name: us}", "there is no cluster with the name us"),
        ("{server: https://us}", "there is no cluster with the server https://us"),
        ("{name: eu, server: https://eu}", "it has both a name, eu, and a server, https://eu; use one"),
    ] {
        let expected = format!("0: application destination spec is invalid: {told}");
        check(&invalid(&app("x", "default", to), &["a"]), &expected);
    }
    check(&invalid(&app("x", "default", "{server: https://eu/}"), &["a"]), "");
}
